//! The text for excerpts in reports, in which the values of Secrets are hidden.
//!
//! A hidden part is always shown as the same mask, so that its length is not known. The text that is shown has other offsets
//! than the file; [`ShownText`] converts them.

use std::sync::Arc;

use crate::k8s::{Object, ObjectData};
use crate::syntax::parameter_references;
use crate::text::Span;
use crate::workspace::File;

/// What is shown in place of the value of a Secret.
pub const SECRET_MASK: &str = "•••";

/// The text of a file for excerpts.
#[derive(Debug)]
pub struct ExcerptText {
    text: Arc<str>,
    /// The parts that are hidden, in text order. None has a line break.
    hidden: Vec<Span>,
}

/// A part of a text as it is shown.
#[derive(Debug)]
pub struct ShownText {
    /// The text, with masks.
    pub text: String,
    span: Span,
    hidden: Vec<Span>,
}

impl ExcerptText {
    /// A text of which everything may be shown.
    pub fn open(text: Arc<str>) -> Self {
        Self { text, hidden: Vec::new() }
    }

    /// The text of a file, with the values of Secrets hidden.
    pub fn redacted(file: &File, text: Arc<str>) -> Self {
        let mut hidden = Vec::new();
        for object in &file.objects {
            let ObjectData::Secret(source) = &object.model.data else { continue };
            for value in source.keys.iter().filter_map(|it| it.value_span).map(|it| object.file_span(it)) {
                hide_lines(&text, value, object.template.is_some(), &mut hidden);
            }
            if let Some(part) = broken_part(file, object, &text) {
                hide_words(&text, part, &mut hidden);
            }
        }
        hidden.sort();
        let mut joined: Vec<Span> = Vec::new();
        for it in hidden {
            match joined.last_mut() {
                Some(last) if it.start <= last.end => last.end = last.end.max(it.end),
                _ => joined.push(it),
            }
        }
        Self { text, hidden: joined }
    }

    /// The text of the file, to find the lines to show.
    pub fn original(&self) -> &str {
        &self.text
    }

    /// A part of the text as it may be shown; `None` if it is not in the text.
    pub fn shown(&self, span: Span) -> Option<ShownText> {
        let first = self.hidden.partition_point(|it| it.end <= span.start);
        let inside = self.hidden[first..].iter().take_while(|it| it.start < span.end);
        let hidden: Vec<Span> = inside.map(|it| Span::new(it.start.max(span.start), it.end.min(span.end))).collect();
        let mut text = String::new();
        let mut at = span.start;
        for it in &hidden {
            text.push_str(self.text.get(at..it.start)?);
            text.push_str(SECRET_MASK);
            at = it.end;
        }
        text.push_str(self.text.get(at..span.end)?);
        Some(ShownText { text, span, hidden })
    }
}

impl ShownText {
    /// The offsets of a part of the file in this text. A part of a hidden value is the whole mask.
    pub fn range(&self, part: Span) -> std::ops::Range<usize> {
        self.offset(part.start, false)..self.offset(part.end, part.end > part.start)
    }

    fn offset(&self, offset: usize, is_end: bool) -> usize {
        let mut shown = offset.clamp(self.span.start, self.span.end) - self.span.start;
        for it in self.hidden.iter().take_while(|it| it.start < offset) {
            let passed = offset.min(it.end) - it.start;
            let is_inside = offset < it.end;
            shown = shown - passed + if is_inside && !is_end { 0 } else { SECRET_MASK.len() };
        }
        shown
    }

    /// Whether a place may have another column than in the file.
    pub fn moves(&self, offset: usize) -> bool {
        let before = &self.text[..self.offset(offset, false)];
        before.rsplit('\n').next().is_some_and(|line| line.contains(SECRET_MASK))
    }
}

/// Hides each line of a value. References to template parameters are shown: they are not secret, and findings are about
/// them.
fn hide_lines(text: &str, value: Span, in_template: bool, hidden: &mut Vec<Span>) {
    let Some(part) = text.get(value.range()) else { return };
    let references = if in_template { parameter_references(part, false) } else { Vec::new() };
    let mut push = |start: usize, end: usize| {
        if start < end {
            hidden.push(Span::new(value.start + start, value.start + end));
        }
    };
    let mut start = 0;
    for line in part.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let mut at = start + (line.len() - line.trim_start().len()).min(line.trim_end().len());
        for it in references.iter().filter(|it| start <= it.range.start && it.range.end <= end) {
            push(at, it.range.start);
            at = it.range.end;
        }
        push(at, end);
        start += line.len();
    }
}

/// Hides everything except white space and punctuation, because an error may be about it.
fn hide_words(text: &str, part: Span, hidden: &mut Vec<Span>) {
    let is_shown = |it: char| it.is_whitespace() || "{}[]:,\"'".contains(it);
    let Some(inside) = text.get(part.range()) else { return };
    for word in inside.split(is_shown).filter(|it| !it.is_empty()) {
        let start = part.start + (word.as_ptr() as usize - inside.as_ptr() as usize);
        hidden.push(Span::new(start, start + word.len()));
    }
}

/// The part of a Secret to hide if it has a syntax error, where keys and values cannot be distinguished, or a duplicate
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

    fn excerpt(source: &str) -> ExcerptText {
        ExcerptText::redacted(&File::read("a.yaml", source), source.into())
    }

    fn shown(source: &str) -> String {
        excerpt(source).shown(Span::new(0, source.len())).expect("a part of it").text
    }

    #[test]
    fn values_of_secrets_are_hidden_with_their_lengths() {
        let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  A: 'pässword'\n  B: |\n    one two\n\n    x\n";
        let redacted =
            secret.replace("'pässword'", "•••").replace("|\n    one two\n\n    x", "•••\n    •••\n\n    •••");
        assert_eq!(shown(secret), redacted);
        assert_eq!(shown(&secret.replace("pässword", "a")), redacted);
        let map = secret.replace("Secret", "ConfigMap").replace("stringData", "data");
        assert_eq!(shown(&map), map);
    }

    #[test]
    fn places_are_those_in_the_shown_text() {
        let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {A: hunter2, B: x, C: y}\n";
        let excerpt = excerpt(secret);
        let line = secret.find("stringData").expect("there");
        let shown = excerpt.shown(Span::new(line, secret.len())).expect("a part of it");
        assert_eq!(shown.text, "stringData: {A: •••, B: •••, C: •••}\n");
        let range = |part: &str| {
            let start = secret[line..].find(part).expect("there") + line;
            &shown.text[shown.range(Span::new(start, start + part.len()))]
        };
        assert_eq!([range("stringData"), range("A"), range("B"), range("C")], ["stringData", "A", "B", "C"]);
        assert_eq!([range("hunter2"), range("unter"), range("hunter2, B")], ["•••", "•••", "•••, B"]);
        let at = |part: &str| secret.rfind(part).expect("there");
        assert_eq!([at("stringData"), at("A"), at("B"), at("C")].map(|it| shown.moves(it)), [false, false, true, true]);
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
        assert!(!shown.contains("hunter2") && shown.contains("\"stringData\": {\"•••\": \"•••\","), "{shown}");
    }

    #[test]
    fn references_to_parameters_are_kept() {
        let template = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\nobjects:\n\
                        - apiVersion: v1\n  kind: Secret\n  metadata: {name: s}\n  stringData: {P: 'x${PASS}y'}\n";
        assert!(shown(template).contains("{P: •••${PASS}•••}"), "{}", shown(template));
    }
}
