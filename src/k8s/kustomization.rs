//! Kustomizations: the ConfigMaps and Secrets their generators make, and the objects they patch.

use std::sync::Arc;

use crate::k8s::identity::Identity;
use crate::k8s::model::{DataEntry, DataValue, KeyedData, Kustomization, Model, Object, ObjectData, Text};
use crate::k8s::reader::{Reader, mappings};
use crate::syntax::{self, Node};

/// Kinds that are a Kustomization.
pub(super) const KINDS: [&str; 2] = ["Kustomization", "Component"];

const GENERATORS: [&str; 2] = ["configMapGenerator", "secretGenerator"];

/// Whether this is a Kustomization; its file may leave out what it is.
pub(super) fn is_kustomization(root: Node<'_>, identity: Identity<'_>) -> bool {
    match identity.kind {
        Some(kind) if KINDS.contains(&kind) => identity.group() == "kustomize.config.k8s.io",
        Some(_) => false,
        None => {
            let listed = |key: &str| root.get(key).is_some_and(Node::is_sequence);
            GENERATORS.into_iter().any(listed) || listed("resources") && (listed("patches") || listed("vars"))
        }
    }
}

/// What it says about files and names.
pub(super) fn kustomization(reader: Reader<'_>, root: Node<'_>) -> Kustomization {
    let mut it = Kustomization::default();
    for item in items(root, "patchesStrategicMerge") {
        let text = reader.text(item);
        it.has_inline_patches |= text.as_ref().is_some_and(|text| text.value.contains('\n'));
        it.patches.extend(text.filter(|text| !text.value.contains('\n')));
    }
    for item in items(root, "patches").chain(items(root, "patchesJson6902")) {
        it.patches.extend(reader.text_at(item, "path"));
        it.has_inline_patches |= item.get("patch").is_some();
    }
    for item in items(root, "vars") {
        it.vars.extend(reader.text_at(item, "name"));
    }
    it
}

/// The objects it makes, and its patches of ConfigMaps and Secrets, as objects of their own.
pub(super) fn made(reader: Reader<'_>, root: Node<'_>, found: &mut Vec<Object>) {
    for (list, data) in
        GENERATORS.into_iter().zip([ObjectData::ConfigMap as fn(KeyedData) -> ObjectData, ObjectData::Secret])
    {
        for (_, item) in root.get(list).into_iter().flat_map(mappings) {
            let item = item.resolved();
            let reader = Reader { base: item.span().start, ..reader };
            let model = Model {
                span: reader.span(item),
                name: reader.text_at(item, "name"),
                namespace: reader.text_at(item, "namespace"),
                data: data(generated(reader, item)),
                ..Model::default()
            };
            found.push(Object { offset: reader.base, model: Arc::new(model), parameters: None });
        }
    }
    for item in items(root, "patches").chain(items(root, "patchesJson6902")) {
        let target = item.get("target");
        if let Some(target) = target
            && let Some(name) = target.get("name")
        {
            patch(reader, target.get("kind").and_then(Node::string), name, name.text(), found);
        } else if let Some(inline) = item.get("patch") {
            inline_patch(reader, inline, found);
        }
    }
    for item in items(root, "patchesStrategicMerge") {
        if item.text().is_some_and(|text| text.contains('\n')) {
            inline_patch(reader, item, found);
        }
    }
}

fn generated(reader: Reader<'_>, item: Node<'_>) -> KeyedData {
    let mut source = KeyedData { made_by: Some("a Kustomize generator"), ..KeyedData::default() };
    let add = |source: &mut KeyedData, entry: &Text, key: &str, value: Option<DataValue>| {
        let key = Text { value: key.into(), ..entry.clone() };
        source.keys.push(DataEntry { key, value, value_span: Some(entry.span) });
    };
    for entry in reader.texts_at(item, "literals") {
        if let Some((key, value)) = entry.value.split_once('=') {
            add(&mut source, &entry, key, Some(DataValue::new(unquoted(value))));
        }
    }
    for entry in reader.texts_at(item, "files") {
        let key = match entry.value.split_once('=') {
            Some((key, _)) => key,
            None => entry.value.rsplit('/').next().unwrap_or_default(),
        };
        add(&mut source, &entry, key, None);
    }
    source.may_have_more_keys = item.get("envs").is_some() || item.get("env").is_some();
    if item.get("behavior").and_then(Node::string) == Some("merge") {
        source.may_have_more_keys = true;
        source.is_addition = true;
    }
    source
}

/// Kustomize takes one pair of quotes around a literal's value away.
fn unquoted(value: &str) -> &str {
    ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(value)
}

/// A patch that is written in the Kustomization itself.
fn inline_patch(reader: Reader<'_>, node: Node<'_>, found: &mut Vec<Object>) {
    let Some(text) = node.text() else { return };
    let tree = syntax::parse(text);
    for root in tree.documents().filter_map(|document| document.root()) {
        let identity = Identity::of(root);
        let name = root.at(&["metadata", "name"]).and_then(Node::text);
        patch(reader, identity.kind, node, name, found);
    }
}

/// Adds what a patch of a ConfigMap or Secret lets us know: that there may be more keys than elsewhere.
fn patch(reader: Reader<'_>, kind: Option<&str>, place: Node<'_>, name: Option<&str>, found: &mut Vec<Object>) {
    let source = KeyedData {
        may_have_more_keys: true,
        is_addition: true,
        made_by: Some("a Kustomize patch"),
        ..KeyedData::default()
    };
    let data = match kind {
        Some("ConfigMap") => ObjectData::ConfigMap(source),
        Some("Secret") => ObjectData::Secret(source),
        _ => return,
    };
    let place = place.resolved();
    let reader = Reader { base: place.span().start, ..reader };
    let (Some(name), Some(text)) = (name, reader.text(place)) else { return };
    let name = Text { value: name.into(), ..text };
    let model = Model { span: reader.span(place), name: Some(name), data, ..Model::default() };
    found.push(Object { offset: reader.base, model: Arc::new(model), parameters: None });
}

fn items<'t>(root: Node<'t>, key: &str) -> impl Iterator<Item = Node<'t>> {
    root.get(key).into_iter().flat_map(Node::items)
}
