//! Splits stdin into files: helm and kustomize write a comment that names the file of each document.

use std::sync::Arc;

use crate::syntax;

/// The file name of documents that nothing names.
pub const NAME: &str = "<stdin>";

const MARK: &str = "# Source: ";

/// The texts of a stream by file name, `unnamed` for documents without one. Documents of the same file form one text, in
/// their order.
pub(super) fn split_by_source(text: String, unnamed: &Arc<str>) -> Vec<(Arc<str>, String)> {
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
