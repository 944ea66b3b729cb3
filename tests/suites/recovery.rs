//! `fixtures/recovery`: broken manifests. Labels show the syntax errors, the result shows the containers with the
//! variables of their `env` that are still found.

use std::fmt::Write as _;

use podlens::k8s::read_objects;
use podlens::syntax::{Tree, parse};
use podlens::text::LineIndex;

use crate::fixture::Case;
use crate::labels::{Finding, set_labels};
use crate::runner::Folder;

pub(crate) const FOLDER: Folder =
    Folder { name: "recovery", results: &["text"], has_labels: true, has_cursors: false, check };

fn check(_: &str, case: &Case) -> Result<Case, String> {
    let mut actual = case.clone();
    let (mut findings, mut containers) = (Vec::new(), String::new());
    for file in case.files() {
        let tree = parse(&file.text);
        if tree.errors().is_empty() {
            return Err(format!("`{}` has no syntax error", file.path));
        }
        // Texts of more than 8 KiB are parsed in chunks.
        let lines = LineIndex::new(&file.text);
        let errors = |tree: &Tree| tree.errors().iter().map(|it| (it.span, it.message(&lines))).collect::<Vec<_>>();
        let large: String = (0..700).map(|index| format!("key{index}: value\n")).collect();
        if errors(&parse(&format!("{}---\n{large}", file.text))) != errors(&tree) {
            return Err(format!("another document after `{}` changes its errors", file.path));
        }
        findings.extend(errors(&tree).into_iter().map(|(span, message)| Finding {
            file: file.path.clone(),
            span,
            rule: "syntax-error".into(),
            level: None,
            message,
        }));
        containers.push_str(&found_containers(&tree));
    }
    set_labels(&mut actual, &findings);
    actual.set_result("text", containers);
    Ok(actual)
}

fn found_containers(tree: &Tree) -> String {
    let mut out = String::new();
    for object in read_objects(tree) {
        for container in object.model.pods.iter().flat_map(|pod| &pod.containers) {
            let name = container.name.as_ref().map_or("?", |name| &*name.value);
            let env = container.env.iter().map(|it| it.name.as_ref().map_or("?", |name| &*name.value));
            let line = format!("{:?} {name}: {}", container.role, env.collect::<Vec<_>>().join(" "));
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    out
}
