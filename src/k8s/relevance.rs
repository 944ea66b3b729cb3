//! Deciding from the text, before parsing, whether a document can hold an object that matters.
//!
//! A document is skipped only if it clearly is an object that has no pods, makes no ConfigMap, Secret or Service, and
//! does not refer to other files.

use memchr::memmem;

use crate::k8s::kustomization;
use crate::k8s::object_data;
use crate::k8s::pod_specs;
use crate::k8s::preset;
use crate::k8s::template;
use crate::k8s::workloads::WorkloadKind;

/// Whether a document may hold an object that matters. If not, it need not be parsed.
pub fn may_hold_objects(document: &str) -> bool {
    let bytes = document.as_bytes();
    let has = |word: &[u8]| memmem::find(bytes, word).is_some();
    match head(document) {
        Head::Object { kind, .. } if is_always_read(kind) => true,
        Head::Object { group, .. } if pod_specs::is_other_language(group) => false,
        // A pod spec has lists of containers.
        Head::Object { .. } => has(b"ontainers") || has_escapes(bytes),
        Head::Unclear => {
            let is_manifest = has(b"kind") || has(b"apiVersion");
            is_manifest || has(b"Generator") || has(b"resources") || has(b"patches") || has_escapes(bytes)
        }
    }
}

/// Whether objects of a kind always matter: they make pods, others refer to them, or they hold further objects.
fn is_always_read(kind: &str) -> bool {
    WorkloadKind::is_workload(kind)
        || kind.ends_with("List")
        || kind == preset::KIND
        || object_data::is_data_kind(kind)
        || template::KINDS.contains(&kind)
        || kustomization::KINDS.contains(&kind)
}

/// The identity of a document as far as its text shows it without parsing.
enum Head<'d> {
    Object { group: &'d str, kind: &'d str },
    Unclear,
}

/// Finds `apiVersion` and `kind` at the start of a line. Both must occur exactly once, with plain values.
fn head(document: &str) -> Head<'_> {
    let bytes = document.as_bytes();
    let first = bytes.split(|byte| *byte == b'\n').find(|line| {
        let content = line.trim_ascii_start();
        !content.is_empty() && content[0] != b'#' && !line.starts_with(b"---")
    });
    // Flow style, directives, a tag or an anchor need the parser.
    if !first.and_then(|line| line.first()).is_some_and(u8::is_ascii_alphabetic) {
        return Head::Unclear;
    }
    match (only(document, "apiVersion:"), only(document, "kind:")) {
        (Some(version), Some(kind)) => {
            let group = version.split_once('/').map_or("", |(group, _)| group);
            Head::Object { group, kind }
        }
        _ => Head::Unclear,
    }
}

/// The plain value of a key that is at the start of exactly one line.
fn only<'d>(document: &'d str, key: &str) -> Option<&'d str> {
    let bytes = document.as_bytes();
    let mut at_line_start = memmem::find_iter(bytes, key.as_bytes()).filter(|at| *at == 0 || bytes[*at - 1] == b'\n');
    let at = at_line_start.next()?;
    if at_line_start.next().is_some() {
        return None;
    }
    let line = document[at + key.len()..].lines().next()?;
    let value = line.strip_prefix(' ')?.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'-');
    (value.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic()) && value.bytes().all(is_plain))
        .then_some(value)
}

/// Whether the text has escapes, which could hide a word from the search.
fn has_escapes(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', bytes)
        .any(|at| bytes.get(at + 1).is_none_or(|next| matches!(next, b'x' | b'u' | b'U' | b'\n' | b'\r')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irrelevant_documents_are_skipped() {
        for text in [
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  containers: []\n",
            "---\n# a comment\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nrules: []\n",
            "kind: Namespace\r\napiVersion: v1\r\nmetadata: {name: a}\r\n",
            "on: push\njobs:\n  a: {steps: [{run: echo $(x)}]}\n",
            "{\"name\": \"package\"}\n",
            "apiVersion: tekton.dev/v1\nkind: Task\nspec: {steps: [], sidecars: [], containers: []}\n",
        ] {
            assert!(!may_hold_objects(text), "{text}");
        }
    }

    #[test]
    fn possibly_relevant_documents_are_parsed() {
        for text in [
            "apiVersion: v1\nkind: Pod\nspec: {containers: []}\n",
            "apiVersion: example.org/v1\nkind: Widget\nspec: {pod: {initContainers: []}}\n",
            "apiVersion: example.org/v1\nkind: Widget\nspec: {\"\\u0063ontainers\": []}\n",
            "apiVersion: v1\nkind: Role\nkind: Service\n",
            "apiVersion: v1\n\"kind\": Pod\n",
            "apiVersion: v1\nkind: &k Role\n",
            "apiVersion: v1\nkind:\n  Service\n",
            "{\"kind\": \"Pod\"}\n",
            "apiVersion: v1\nkind: RoleList\nitems: []\n",
            "configMapGenerator: []\n",
            "resources: []\npatches: []\n",
            "%YAML 1.1\n---\napiVersion: v1\nkind: Role\n",
        ] {
            assert!(may_hold_objects(text), "{text}");
        }
    }
}
