//! The text that excerpts in reports are taken from: a file's own, with the values of its Secrets blotted out.
//!
//! A character is replaced by one of the same length, so offsets, lines and columns mean the same in both.

use std::ops::Range;
use std::sync::Arc;

use crate::k8s::{Object, ObjectData};
use crate::syntax::parameter_references;
use crate::text::Span;
use crate::workspace::File;

/// The text without what is secret in it.
pub fn redacted_text(file: &File, text: &Arc<str>) -> Arc<str> {
    let is_secret = |it: &&Object| matches!(it.model.data, ObjectData::Secret(_));
    let mut blotted: Option<String> = None;
    for object in file.objects.iter().filter(is_secret) {
        let ObjectData::Secret(source) = &object.model.data else { continue };
        let values = source.keys.iter().filter_map(|it| Some((object.file_span(it.value_span?), "")));
        let torn = torn(file, object, text).map(|it| (it, "{}[]:,\"'"));
        for (span, marks) in values.chain(torn) {
            let Some(part) = text.get(span.range()) else { continue };
            let part = blot(part, marks, object.parameters.is_some());
            blotted.get_or_insert_with(|| text.to_string()).replace_range(span.range(), &part);
        }
    }
    blotted.map_or_else(|| Arc::clone(text), Arc::from)
}

/// Other characters in the place of all but blanks and the marks that stay. What a template puts in is not secret yet,
/// and findings are about it.
fn blot(part: &str, marks: &str, in_template: bool) -> String {
    let mut kept: Vec<Range<usize>> = Vec::new();
    if in_template {
        kept.extend(parameter_references(part, false).into_iter().map(|it| it.range));
    }
    let stays =
        |at: usize, it: char| it.is_whitespace() || marks.contains(it) || kept.iter().any(|kept| kept.contains(&at));
    let other = |it: char| match it.len_utf8() {
        1 => '*',
        2 => '·',
        3 => '•',
        _ => '🞄',
    };
    part.char_indices().map(|(at, it)| if stays(at, it) { it } else { other(it) }).collect()
}

/// Where the text of a Secret is broken, keys and values cannot be told apart, and where a key stands twice, only one of
/// its values is known: all that follows the first key that holds values, but for the marks whose lack may be the mistake.
fn torn(file: &File, object: &Object, text: &str) -> Option<Span> {
    let whole = object.file_span(object.model.span);
    let is_inside = |it: Span| whole.start <= it.start && it.start <= whole.end;
    let is_doubled = || file.duplicate_keys.iter().any(|(_, again)| is_inside(*again));
    if !file.errors.iter().any(|it| is_inside(it.span)) && !is_doubled() {
        return None;
    }
    let part = text.get(whole.range())?;
    let is_key = |at: usize, end: usize| {
        let behind = part[end..].trim_start_matches(['"', '\'']).trim_start();
        !part[..at].ends_with(char::is_alphanumeric) && behind.starts_with(':')
    };
    let ends = |key: &'static str| part.match_indices(key).map(move |(at, _)| (at, at + key.len()));
    let keys = ends("data").chain(ends("stringData")).filter(|(at, end)| is_key(*at, *end));
    // Where neither can be found, anything may be a value.
    let first = keys.map(|(_, end)| end).min().unwrap_or(0);
    // What was torn off stands behind the object's end.
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
    fn values_of_secrets_are_blotted_out() {
        let secret =
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  A: 'pässword'\n  B: |\n    one two\n";
        let blotted = secret.replace("'pässword'", "**·*******").replace("|\n    one two", "*\n    *** ***");
        assert_eq!(shown(secret), blotted);
        let map = secret.replace("Secret", "ConfigMap").replace("stringData", "data");
        assert_eq!(shown(&map), map);
    }

    #[test]
    fn a_broken_secret_shows_nothing_either() {
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
    fn a_doubled_key_in_json_shows_nothing_either() {
        let shown = shown(
            "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"s\"},\n\
             \"stringData\": {\"K\": \"hunter2\",\n\"K\": \"hunter2\"}}\n",
        );
        assert!(!shown.contains("hunter2") && shown.contains("\"stringData\": {\"*\": \"*******\","), "{shown}");
    }

    #[test]
    fn parameters_of_a_template_stay() {
        let template = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\nobjects:\n\
                        - apiVersion: v1\n  kind: Secret\n  metadata: {name: s}\n  stringData: {P: 'x${PASS}y'}\n";
        assert!(shown(template).contains("{P: **${PASS}**}"), "{}", shown(template));
    }
}
