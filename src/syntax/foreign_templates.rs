//! Placeholders of template tools that podlens does not know: `%X%`, `@X@`, `<X>`, `__X__`, `$X$`, `{x}-y`, Jinja, ERB and
//! others.
//!
//! Most of them are also valid text, so they count only on a line that cannot be parsed: the file is then what somebody's
//! tool makes a manifest of, and not a broken manifest.

use crate::syntax::syntax_error::SyntaxError;
use crate::syntax::text_slices::{TextSlices, lines_around};
use crate::text::Span;

/// How many errors are looked at.
const MAX_ERRORS: usize = 64;

/// The delimiters of placeholders with a name between them.
const DELIMITERS: &[(&str, &str)] = &[
    ("%", "%"),
    ("@", "@"),
    ("__", "__"),
    ("<<", ">>"),
    ("<", ">"),
    ("((", "))"),
    ("[[", "]]"),
    ("$", "$"),
    ("#{", "}"),
    ("#", "#"),
];

/// Whether a text contains delimiters that only template engines use: those of Jinja and ERB.
pub fn has_template_delimiters(text: &str) -> bool {
    text.contains("{%") || text.contains("<%")
}

/// Whether a line with an error contains a placeholder of a template tool.
pub fn has_foreign_placeholder(text: &(impl TextSlices + ?Sized), errors: &[SyntaxError]) -> bool {
    // Braces of `${X}` are the mistake in an OpenShift template. In any other file a tool replaces them first.
    let has_variable = |error: &SyntaxError| text.slice(error.span).contains("${");
    let is_for_envsubst =
        errors.iter().take(MAX_ERRORS).any(has_variable) && !text.slice(Span::new(0, text.len())).contains("Template");
    is_for_envsubst
        || errors.iter().take(MAX_ERRORS).any(|error| {
            let line = lines_around(text, Span::new(error.span.start, error.span.start));
            is_template_line(&text.slice(line))
        })
}

/// Whether a text contains a placeholder of a template tool.
pub(super) fn has_tool_placeholder(text: &str) -> bool {
    // A whole text in angle brackets is not a tag.
    let inner = text.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    let is_placeholder = inner.is_some_and(|it| it.split(' ').all(is_name));
    is_placeholder
        || has_delimited_name(text)
        || text.match_indices('{').any(|(at, _)| is_name_in_braces(&text[..at], &text[at..]))
}

/// Whether a text contains a name between delimiters.
fn has_delimited_name(text: &str) -> bool {
    // Most texts have none of the characters with which a delimiter begins.
    let may_open = |it: u8| matches!(it, b'%' | b'@' | b'_' | b'<' | b'(' | b'[' | b'$' | b'#');
    text.bytes().any(may_open) && DELIMITERS.iter().any(|(open, close)| has_name_between(text, open, close))
}

/// Whether a name in braces at the start of a text is part of a word: `{name}-logs`. Alone it is a mapping.
fn is_name_in_braces(before: &str, text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | '/' | ':');
    let parts = text.strip_prefix('{').and_then(|it| it.split_once('}'));
    parts.is_some_and(|(name, after)| {
        let is_in_word = before.ends_with(is_part) || after.starts_with(is_part);
        is_name(name) && is_in_word && !before.ends_with(['$', '{', '#', '%'])
    })
}

/// Whether a line contains a placeholder, or is a variable of a shell and nothing else.
fn is_template_line(line: &str) -> bool {
    let line = line.trim();
    let is_variable = || {
        let name = line.strip_prefix('$').map(|it| it.trim_start_matches('{').trim_end_matches('}'));
        name.is_some_and(is_name)
    };
    // Elsewhere in a line braces are text.
    let value = || line.rsplit(": ").next().unwrap_or(line).trim_start_matches("- ");
    let is_constant = || line.contains('_') && line.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
    let is_directive = ["<#", "</#", "<@", "</@"].iter().any(|it| line.starts_with(it));
    is_directive || is_variable() || is_constant() || has_delimited_name(line) || is_name_in_braces("", value())
}

/// Whether a line contains a name between two delimiters.
fn has_name_between(line: &str, open: &str, close: &str) -> bool {
    line.match_indices(open).any(|(at, _)| {
        let rest = &line[at + open.len()..];
        // People are asked to fill in a few words between angle brackets; tools replace one.
        let is_placeholder = |text: &str| match close {
            ">" => text.split(' ').all(is_name) && !is_html(line, text),
            _ => is_name(text.trim()),
        };
        rest.find(close).is_some_and(|end| is_placeholder(&rest[..end]))
    })
}

/// Whether a name between angle brackets is probably a tag of HTML.
fn is_html(line: &str, name: &str) -> bool {
    line.contains("</")
        || line.starts_with('<') && name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
}

/// Whether a text is a name that a tool replaces: letters, digits, `_`, `.` and `-`, with a letter first.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && !text.ends_with("__")
        && text.len() <= 64
        && text.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_differ_from_text() {
        for line in [
            "name: %ORG%",
            "  image: @IMAGE@:@TAG@",
            "__EXTRA_ENV__",
            "<your labels here>",
            "$ENV$",
            "${EXTRA}",
            "$EXTRA",
            "- ((registry.url))",
            "[[ service ]]",
            "replicas: #{Count}",
            "- name: {app_name}-logs",
            "CA_BUNDLE",
            "<#list names as name>",
            "</#if>",
        ] {
            assert!(is_template_line(line), "{line}");
        }
        for line in [
            "name: 50% or 20%",
            "a: b: c",
            "cost: $5",
            "x: [1, 2",
            "labels: {app} x: [",
            "x: [a-${NAME}-b",
            "print(f\"{url}/x: {e}\")",
            "mail: a@b.example",
            "a < b",
            "<head>",
            "<h1>Shop</h1>",
        ] {
            assert!(!is_template_line(line), "{line}");
        }
    }
}
