//! Placeholders: characters in a text for a part that is not known, because an expression or a parameter decides it.
//!
//! They are private-use or unassigned characters, which do not occur in manifests. A text with a placeholder can be
//! parsed, compared and copied like any other text, and its unknown parts are found again.

use std::borrow::Cow;

use crate::syntax::foreign_templates::has_tool_placeholder;

/// The characters of a masked Helm action: a private-use character of three bytes, and an unassigned one of two bytes.
/// Together they make up every length from two bytes on.
pub(super) const HELM: char = '\u{e4f1}';
pub(super) const SHORT_HELM: char = '\u{558}';

/// The start and the end of the name of a parameter. A generated parameter has its own start.
const PARAMETER: char = '\u{e4f2}';
const GENERATED: char = '\u{e4f3}';
const PARAMETER_END: char = '\u{e4f4}';

/// How the placeholder of a Helm action is shown to people.
const HELM_NAME: &str = "<Helm expression>";

/// A part of a text with placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPart<'t> {
    /// Known text.
    Text(&'t str),
    /// The output of a Helm action.
    Helm,
    /// The value of a parameter that is not set.
    Parameter(&'t str),
    /// The value of a parameter that is generated.
    Generated(&'t str),
}

/// Whether a text contains a placeholder.
pub fn has_placeholder(text: &str) -> bool {
    // Every placeholder starts with one of two bytes; most texts are ASCII.
    !text.is_ascii() && text.contains([HELM, SHORT_HELM, PARAMETER, GENERATED])
}

/// Whether a tool may replace a part of the text before Kubernetes reads it: `${P}`, `{{ x }}`, Kustomize's `$(X)`, or a
/// placeholder of another tool, such as `%X%`.
pub fn may_be_replaced(text: &str) -> bool {
    has_placeholder(text) || ["${", "{{", "$("].into_iter().any(|it| text.contains(it)) || has_tool_placeholder(text)
}

/// Appends the placeholder of a Helm action to a text.
pub fn push_helm_placeholder(text: &mut String) {
    text.push(HELM);
}

/// The placeholder of a parameter without a known value.
pub fn parameter_placeholder(name: &str, is_generated: bool) -> String {
    let start = if is_generated { GENERATED } else { PARAMETER };
    format!("{start}{name}{PARAMETER_END}")
}

/// The parts of a text between placeholders, and the placeholders.
pub fn split_placeholders(text: &str) -> Vec<TextPart<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find([HELM, SHORT_HELM, PARAMETER, GENERATED]) {
        if start > 0 {
            found.push(TextPart::Text(&rest[..start]));
        }
        rest = &rest[start..];
        let is_generated = rest.starts_with(GENERATED);
        if !is_generated && !rest.starts_with(PARAMETER) {
            found.push(TextPart::Helm);
            rest = rest.trim_start_matches([HELM, SHORT_HELM]);
            continue;
        }
        let named = &rest[PARAMETER.len_utf8()..];
        let end = named.find(PARAMETER_END);
        let name = &named[..end.unwrap_or(named.len())];
        found.push(if is_generated { TextPart::Generated(name) } else { TextPart::Parameter(name) });
        rest = end.map_or("", |end| &named[end + PARAMETER_END.len_utf8()..]);
    }
    if !rest.is_empty() {
        found.push(TextPart::Text(rest));
    }
    found
}

/// Whether a text may be what a text with placeholders becomes. A placeholder may become any text.
pub fn may_become(unknown: &str, text: &str) -> bool {
    let parts = split_placeholders(unknown);
    let mut rest = text;
    let mut is_after_placeholder = false;
    for (at, part) in parts.iter().enumerate() {
        let TextPart::Text(known) = part else {
            is_after_placeholder = true;
            continue;
        };
        let start = match is_after_placeholder {
            false => rest.starts_with(known).then_some(0),
            true if at + 1 == parts.len() => rest.ends_with(known).then(|| rest.len() - known.len()),
            true => rest.find(known),
        };
        let Some(start) = start else { return false };
        rest = &rest[start + known.len()..];
        is_after_placeholder = false;
    }
    is_after_placeholder || rest.is_empty()
}

/// Whether a text may start with what a text with placeholders becomes.
pub fn may_start_with(unknown: &str, text: &str) -> bool {
    may_become(&format!("{unknown}{HELM}"), text)
}

/// A text with placeholders for the expressions of template engines in it: `{{ x }}`, `${X}` and `$(X)`.
pub fn mask_expressions(text: &str) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while let Some((start, close)) = find_expression(rest) {
        masked.push_str(&rest[..start]);
        masked.push(HELM);
        let end = rest[start..].find(close).map_or(rest.len(), |it| start + it + close.len());
        rest = &rest[end..];
    }
    masked + rest
}

/// The start of the first expression, and what closes it.
fn find_expression(text: &str) -> Option<(usize, &'static str)> {
    let forms = [("${{", "}}"), ("{{", "}}"), ("${", "}"), ("$(", ")")];
    // Of two forms at one place the first is the longer one.
    forms.iter().filter_map(|(open, close)| Some((text.find(open)?, *close))).min_by_key(|(start, _)| *start)
}

/// A text as it is shown to people: the placeholder of a parameter is its reference.
pub fn show_placeholders(text: &str) -> Cow<'_, str> {
    if !has_placeholder(text) {
        return text.into();
    }
    let mut shown = String::new();
    for part in split_placeholders(text) {
        match part {
            TextPart::Text(text) => shown.push_str(text),
            TextPart::Helm => shown.push_str(HELM_NAME),
            TextPart::Parameter(name) | TextPart::Generated(name) => {
                shown.push_str("${");
                shown.push_str(name);
                shown.push('}');
            }
        }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_again() {
        let text =
            format!("a{}{}b{HELM}{SHORT_HELM}", parameter_placeholder("P", false), parameter_placeholder("Q", true));
        let parts = [
            TextPart::Text("a"),
            TextPart::Parameter("P"),
            TextPart::Generated("Q"),
            TextPart::Text("b"),
            TextPart::Helm,
        ];
        assert_eq!(split_placeholders(&text), parts);
        assert_eq!(show_placeholders(&text), "a${P}${Q}b<Helm expression>");
        assert!(has_placeholder(&text) && !has_placeholder("a${P}é"));
        let becomes = |text: &str, name: &str| may_become(&mask_expressions(text), name);
        for name in ["_URL", "APP_URL", "A_URL_URL"] {
            assert!(becomes("${PREFIX}_URL", name) && becomes("{{ .prefix }}_URL", name), "{name}");
        }
        assert!(!becomes("${PREFIX}_URL", "APP_URI") && !becomes("A_$(X)", "B_C") && !becomes("A{{x}}B{{y}}C", "ABCD"));
        assert!(becomes("A${{x}}B{{y}}C", "A1B2BC") && becomes("${A", "x") && becomes("A", "A") && !becomes("A", "AB"));
        assert!(
            may_start_with("a", "ab")
                && may_start_with(&mask_expressions("${P}_"), "x_y")
                && !may_start_with("b", "ab")
        );
        assert_eq!(split_placeholders(&format!("x{PARAMETER}P")), [TextPart::Text("x"), TextPart::Parameter("P")]);
    }
}
