//! The layer with objects from two files: a base, two overlays with one patch each, and edits in every file.

use std::sync::Arc;

use super::*;
use crate::k8s::{Model, Object};
use crate::syntax::{Node, OwnedNode, parse};
use crate::workspace::Workspace;

const BASE: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: web
          image: web
          env:
            - name: HOST
              value: db
            - name: URL
              value: http://$(HOST)/$(PATH_OF_APP)
";

fn patch(host: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  template:\n    spec:\n      containers:\n        \
         - name: web\n          env:\n            - {{name: HOST, value: {host}}}\n            - {{name: PATH_OF_APP, value: /app}}\n"
    )
}

/// An overlay that is kept with its base, by the patch that went into it.
struct Overlay {
    patch: Arc<Model>,
    built: Arc<BuiltSource>,
}

/// The tree of the only object of a text, which is where `load` would read it again.
fn tree(text: &str) -> OwnedNode {
    parse(text).documents().next().and_then(|it| it.root()).expect("an object").to_owned_node()
}

/// A minimal strategic merge: mappings are merged, lists by `name`, everything else is replaced.
fn merge(base: &mut BuiltNode, patch: Node<'_>, from: &Arc<SourceObject>) {
    let grafted = |node: Node<'_>| BuiltNode {
        place: Place::Other(Arc::clone(from), crate::k8s::ObjectSpan::relative(node.span())),
        by: BuiltBy::Patch,
        content: BuiltContent::Unchanged(node.to_owned_node()),
    };
    if patch.is_mapping() && base.is_map() {
        for (key, value) in patch.entries() {
            let (Some(name), Some(value)) = (key.key_text(), value) else { continue };
            match base.get_mut(&name) {
                Some(old) => merge(old, value, from),
                None => base.set(grafted(key), grafted(value)),
            }
        }
    } else if patch.is_sequence() && base.items_mut().is_some() {
        for item in patch.items() {
            let name = item.get("name").and_then(Node::text).expect("a name");
            let items = base.items_mut().expect("a list");
            let at = items
                .iter_mut()
                .position(|it| it.get_mut("name").is_some_and(|it| it.text().is_some_and(|it| it == name)));
            match at.map(|at| &mut items[at]) {
                Some(old) => merge(old, item, from),
                None => base.items_mut().expect("a list").insert(0, grafted(item)),
            }
        }
    } else {
        *base = grafted(patch);
    }
}

fn overlay(base: &Object, base_text: &str, patch: &Arc<SourceObject>, patch_text: &str) -> Arc<BuiltSource> {
    let kept = base.model.derived.get_or_insert(
        |it: &Overlay| Arc::ptr_eq(&it.patch, &patch.model),
        || {
            let mut node = BuiltNode::from_source(tree(base_text));
            merge(&mut node, tree(patch_text).node(), patch);
            let mut limits = BuildLimits::strict(base_text.len());
            let built = BuiltSource::read(node, &base.model, &mut limits).expect("built");
            Overlay { patch: Arc::clone(&patch.model), built: Arc::new(built) }
        },
    );
    Arc::clone(&kept.built)
}

/// The values of a view, each with the text at its place, as `file: text`.
fn shown(snapshot: &Snapshot, texts: &[(&str, &str)], built: &BuiltSource) -> Vec<String> {
    let (path, file) = snapshot.entry("base.yaml").expect("the base");
    let plain = BuiltObject::as_written(snapshot, path, &file.objects[0]);
    let object = BuiltObject { model: &built.model, built: Some(built), ..plain };
    let container = &object.model.pods[0].containers[0];
    let values = container.env.iter().filter_map(|it| it.value.as_ref());
    let place = |text: &crate::k8s::Text| {
        let location = object.location(text.span);
        let source = texts.iter().find(|(path, _)| **path == *location.file).expect("a text").1;
        format!("{}: {}", location.file, &source[location.span.range()])
    };
    values.map(place).collect()
}

#[test]
fn a_base_and_a_patch_in_two_views() {
    let mut workspace = Workspace::default();
    let mut texts =
        vec![("base.yaml", BASE.to_owned()), ("dev.yaml", patch("dev-db")), ("prod.yaml", patch("prod-db"))];
    for (path, text) in &texts {
        workspace.set_disk(path, File::read(path, text));
    }
    let mut last: Option<[Arc<BuiltSource>; 2]> = None;
    // Comments above the objects move them, and do not change them.
    for edited in [None, Some(0), Some(1), Some(2)] {
        if let Some(at) = edited {
            let (path, text) = &mut texts[at];
            *text = format!("# a comment\n{text}");
            // The object itself does not change, as in a document that is edited.
            let snapshot = workspace.snapshot();
            let mut file = File::read(path, text);
            file.objects[0].model = Arc::clone(&snapshot.file(path).expect("a file").objects[0].model);
            workspace.set_disk(path, file);
        }
        let snapshot = workspace.snapshot();
        let base = &snapshot.file("base.yaml").expect("the base").objects[0];
        let views = ["dev.yaml", "prod.yaml"].map(|path| {
            let model = Arc::clone(&snapshot.file(path).expect("a patch").objects[0].model);
            let source = Arc::new(SourceObject { file: path.into(), model });
            let text =
                |path: &str| texts.iter().find(|(it, _)| *it == path).expect("a text").1.replace("# a comment\n", "");
            overlay(base, &text("base.yaml"), &source, &text(path))
        });
        let all: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
        for (view, (file, host)) in views.iter().zip([("dev.yaml", "dev-db"), ("prod.yaml", "prod-db")]) {
            let expected = [
                format!("{file}: /app"),
                format!("{file}: {host}"),
                "base.yaml: http://$(HOST)/$(PATH_OF_APP)".to_owned(),
            ];
            assert_eq!(shown(&snapshot, &all, view), expected, "{edited:?}");
        }
        if let Some(last) = last.replace(views.clone()) {
            assert!(last.iter().zip(&views).all(|(one, other)| Arc::ptr_eq(one, other)), "built again: {edited:?}");
        }
    }
    // A real change of one patch builds one view again.
    let (path, text) = (&texts[1].0, patch("other-db"));
    workspace.set_disk(path, File::read(path, &text));
    let snapshot = workspace.snapshot();
    let base = &snapshot.file("base.yaml").expect("the base").objects[0];
    let model = Arc::clone(&snapshot.file(path).expect("a patch").objects[0].model);
    let source = Arc::new(SourceObject { file: (*path).into(), model });
    let built = overlay(base, BASE, &source, &text);
    assert_eq!(shown(&snapshot, &[("base.yaml", &texts[0].1), (path, &text)], &built)[1], "dev.yaml: other-db");
    assert!(!Arc::ptr_eq(&built, &last.expect("views")[0]));
}
