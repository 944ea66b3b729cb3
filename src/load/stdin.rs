//! A stream of documents to files: helm and kustomize say in a comment where each document comes from.

use std::sync::Arc;

use crate::syntax;

/// What the stream is called where nothing names a document.
pub(super) const NAME: &str = "<stdin>";

const MARK: &str = "# Source: ";

/// The texts of a stream by name, `unnamed` where nothing says one. Documents with the same source are one text, in
/// their order.
pub(super) fn named(text: String, unnamed: &Arc<str>) -> Vec<(Arc<str>, String)> {
    if !text.contains(MARK) {
        return vec![(Arc::clone(unnamed), text)];
    }
    let mut files: Vec<(Arc<str>, String)> = Vec::new();
    for document in syntax::parse(&text).documents() {
        let part = &text[document.span().range()];
        let name = source(part).unwrap_or(unnamed);
        if document.root().is_none() && document.errors().is_empty() {
            continue;
        }
        match files.iter_mut().find(|(known, _)| &**known == name) {
            Some((_, text)) => {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(part);
            }
            None => files.push((name.into(), part.to_owned())),
        }
    }
    files
}

/// The name in the comments before a document's content.
fn source(document: &str) -> Option<&str> {
    document
        .lines()
        .take_while(|line| line.starts_with("---") || line.starts_with('#') || line.trim().is_empty())
        .find_map(|line| line.strip_prefix(MARK))
        .map(str::trim)
        .filter(|name| !name.is_empty())
}
