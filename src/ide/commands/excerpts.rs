//! The text for excerpts in reports: the text of a file with the values of its Secrets redacted.
//!
//! A character is replaced by one of the same UTF-8 length, so offsets, lines and columns are the same in both.

use std::ops::Range;
use std::sync::Arc;

use crate::k8s::{Object, ObjectData};
use crate::syntax::parameter_references;
use crate::text::Span;
use crate::workspace::File;

/// The text with the values of Secrets redacted.
pub fn redacted_text(file: &File, text: &Arc<str>) -> Arc<str> {
    let is_secret = |it: &&Object| matches!(it.model.data, ObjectData::Secret(_));
    let mut redacted: Option<String> = None;
    for object in file.objects.iter().filter(is_secret) {
        let ObjectData::Secret(source) = &object.model.data else { continue };
        let values = source.keys.iter().filter_map(|it| Some((object.file_span(it.value_span?), "")));
        let broken = broken_part(file, object, text).map(|it| (it, "{}[]:,\"'"));
        for (span, marks) in values.chain(broken) {
            let Some(part) = text.get(span.range()) else { continue };
            let part = redact(part, marks, object.template.is_some());
            redacted.get_or_insert_with(|| text.to_string()).replace_range(span.range(), &part);
        }
    }
    redacted.map_or_else(|| Arc::clone(text), Arc::from)
}

/// Replaces all characters except white space and `marks`. References to template parameters are kept: they are not
/// secret, and findings are about them.
fn redact(part: &str, marks: &str, in_template: bool) -> String {
    let mut kept: Vec<Range<usize>> = Vec::new();
    if in_template {
        kept.extend(parameter_references(part, false).into_iter().map(|it| it.range));
    }
    let is_kept =
        |at: usize, it: char| it.is_whitespace() || marks.contains(it) || kept.iter().any(|kept| kept.contains(&at));
    let replacement = |it: char| match it.len_utf8() {
        1 => '*',
        2 => '·',
        3 => '•',
        _ => '🞄',
    };
    part.char_indices().map(|(at, it)| if is_kept(at, it) { it } else { replacement(it) }).collect()
}

/// The part of a Secret to redact if it has a syntax error, where keys and values cannot be distinguished, or a duplicate
/// key, of which only one value is known. It starts after the first `data` or `stringData`; punctuation in it is kept,
/// because the error may be about it.
fn broken_part(file: &File, object: &Object, text: &str) -> Option<Span> {
    let whole = object.file_span(object.model.span);
    let is_inside = |it: Span| whole.start <= it.start && it.start <= whole.end;
    let has_duplicate_key = || file.duplicate_keys.iter().any(|(_, again)| is_inside(*again));
    if !file.errors.iter().any(|it| is_inside(it.span)) && !has_duplicate_key() {
        return None;
    }
    let part = text.get(whole.range())?;
    let is_key = |at: usize, end: usize| {
        let after = part[end..].trim_start_matches(['"', '\'']).trim_start();
        !part[..at].ends_with(char::is_alphanumeric) && after.starts_with(':')
    };
    let ends = |key: &'static str| part.match_indices(key).map(move |(at, _)| (at, at + key.len()));
    let keys = ends("data").chain(ends("stringData")).filter(|(at, end)| is_key(*at, *end));
    // Without such a key everything may be a value.
    let first = keys.map(|(_, end)| end).min().unwrap_or(0);
    // After a syntax error a part of the Secret may be outside of the object's span.
    let rest = text.get(whole.end..)?;
    let end = whole.end + rest.find("\n---").unwrap_or(rest.len());
    Some(Span::new(whole.start + first, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> String {
        let source: Arc<str> = source.into();
        let shown = redacted_text(&File::read("a.yaml", &source), &source);
        assert_eq!(shown.len(), source.len());
        shown.to_string()
    }

    #[test]
    fn values_of_secrets_are_redacted() {
        let secret =
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  A: 'pässword'\n  B: |\n    one two\n";
        let redacted = secret.replace("'pässword'", "**·*******").replace("|\n    one two", "*\n    *** ***");
        assert_eq!(shown(secret), redacted);
        let map = secret.replace("Secret", "ConfigMap").replace("stringData", "data");
        assert_eq!(shown(&map), map);
    }

    #[test]
    fn a_broken_secret_is_redacted() {
        for text in [
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  K: hunter2\n  K: hunter2\n---\na: b\n",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  K: hunter2\ndata:\n  K: hunter2\n---\na: b\n",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {K: hunter2, L: [hunter2}\n---\na: b\n",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  K: \"hunter2\n  L: hunter2\n---\na: b\n",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n   K: hunter2\n  L: hunter2\n hunter2\n---\na: b\n",
        ] {
            let shown = shown(text);
            assert!(
                !shown.contains("hunter2")
                    && shown.contains("kind: Secret")
                    && shown.contains("name: s")
                    && shown.ends_with("---\na: b\n"),
                "{shown}"
            );
        }
    }

    #[test]
    fn a_duplicate_key_in_json_is_redacted() {
        let shown = shown(
            "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"s\"},\n\
             \"stringData\": {\"K\": \"hunter2\",\n\"K\": \"hunter2\"}}\n",
        );
        assert!(!shown.contains("hunter2") && shown.contains("\"stringData\": {\"*\": \"*******\","), "{shown}");
    }

    #[test]
    fn references_to_parameters_are_kept() {
        let template = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\nobjects:\n\
                        - apiVersion: v1\n  kind: Secret\n  metadata: {name: s}\n  stringData: {P: 'x${PASS}y'}\n";
        assert!(shown(template).contains("{P: **${PASS}**}"), "{}", shown(template));
    }
}
