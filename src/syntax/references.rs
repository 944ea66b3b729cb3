//! References in the value of a scalar: `$(X)` and `$$` as the kubelet reads them, `${P}` and `${{P}}` as templates do.
//!
//! Ranges are bytes of the *value*, after YAML escapes are replaced. Every dollar sign belongs to exactly one token.

use std::ops::Range;

use memchr::memchr;

use crate::work::{Step, count};

/// A dollar sign with the characters that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DollarToken {
    /// What it is.
    pub kind: DollarTokenKind,
    /// The bytes it covers.
    pub range: Range<usize>,
}

/// What a dollar sign begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DollarTokenKind {
    /// `$(NAME)`: the name is everything up to the first `)`, verbatim (E4).
    Reference,
    /// `$$`: one dollar sign (E3).
    Escape,
    /// `$(` without a `)` after it: text (E5).
    Unterminated,
    /// A dollar sign at the end, or with any other character: text (E2, E10).
    Plain,
}

impl DollarToken {
    /// The name between the parentheses of a reference.
    pub fn name<'t>(&self, text: &'t str) -> Option<&'t str> {
        (self.kind == DollarTokenKind::Reference).then(|| &text[self.name_range()])
    }

    /// The range of that name.
    pub fn name_range(&self) -> Range<usize> {
        self.range.start + 2..self.range.end - 1
    }
}

/// The tokens of a text, from left to right.
pub fn dollar_tokens(text: &str) -> DollarTokens<'_> {
    DollarTokens { text, at: 0, closed: true }
}

/// See [`dollar_tokens`].
#[derive(Clone, Debug)]
pub struct DollarTokens<'t> {
    text: &'t str,
    at: usize,
    /// Whether a `)` may still follow. Once there is none it is not searched again, so that `$($($(…` takes linear time.
    closed: bool,
}

impl Iterator for DollarTokens<'_> {
    type Item = DollarToken;

    fn next(&mut self) -> Option<DollarToken> {
        count(Step::DollarToken, 1);
        let bytes = self.text.as_bytes();
        let start = self.at + memchr(b'$', &bytes[self.at..])?;
        let (kind, end) = match bytes.get(start + 1) {
            None => (DollarTokenKind::Plain, start + 1),
            Some(b'$') => (DollarTokenKind::Escape, start + 2),
            Some(b'(') => {
                let close = if self.closed { memchr(b')', &bytes[start + 2..]) } else { None };
                match close {
                    Some(length) => (DollarTokenKind::Reference, start + 2 + length + 1),
                    None => {
                        self.closed = false;
                        (DollarTokenKind::Unterminated, start + 2)
                    }
                }
            }
            Some(_) => {
                let length = self.text[start + 1..].chars().next().map_or(0, char::len_utf8);
                (DollarTokenKind::Plain, start + 1 + length)
            }
        };
        self.at = end;
        Some(DollarToken { kind, range: start..end })
    }
}

/// How a reference to a parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceForm {
    /// `${P}`: text.
    Text,
    /// `${{P}}`: a value of any type. Must be the whole scalar.
    Raw,
    /// `$(P)`: text, in the syntax of the proposal (PT1).
    Proposed,
}

/// A reference to a parameter of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterReference {
    /// The whole reference.
    pub range: Range<usize>,
    /// `P`.
    pub name: Range<usize>,
    /// How it is written.
    pub form: ReferenceForm,
}

impl ParameterReference {
    /// Whether processing replaces it in a scalar with this value: `${{P}}` is replaced only if it is the whole scalar.
    pub fn is_substituted_in(&self, text: &str) -> bool {
        self.form != ReferenceForm::Raw || self.range == (0..text.len())
    }
}

/// The `${P}` and `${{P}}` of a text, from left to right. A name is one or more of `[A-Za-z0-9_]`; anything else is text.
pub fn template_parameters(text: &str) -> impl Iterator<Item = ParameterReference> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(skipped) = memchr(b'$', &bytes[at..]) {
            let start = at + skipped;
            at = start + 1;
            if bytes.get(at) != Some(&b'{') {
                continue;
            }
            let raw = bytes.get(at + 1) == Some(&b'{');
            let name_start = at + 1 + usize::from(raw);
            let name_length =
                bytes[name_start..].iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
            let name = name_start..name_start + name_length;
            let close: &[u8] = if raw { b"}}" } else { b"}" };
            if name_length > 0 && bytes[name.end..].starts_with(close) {
                at = name.end + close.len();
                let form = if raw { ReferenceForm::Raw } else { ReferenceForm::Text };
                return Some(ParameterReference { range: start..at, name, form });
            }
        }
        None
    })
}

/// All references to parameters in a text, from left to right. `$(P)` is included only if `proposed`.
pub fn parameter_references(text: &str, proposed: bool) -> Vec<ParameterReference> {
    let mut found: Vec<ParameterReference> = template_parameters(text).collect();
    if proposed {
        let plain = |name: &str| !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
        let references = dollar_tokens(text).filter(|it| it.name(text).is_some_and(plain));
        let before = found.len();
        found.extend(references.map(|it| {
            let name = it.name_range();
            ParameterReference { range: it.range, name, form: ReferenceForm::Proposed }
        }));
        if before > 0 && found.len() > before {
            found.sort_by_key(|it| it.range.start);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_syntaxes_are_found_in_text_order() {
        let text = "$(A)-${B}$$(C)${{D}}$(E F)$(${G})";
        let found = |proposed| -> Vec<(String, ReferenceForm)> {
            let all = parameter_references(text, proposed).into_iter();
            all.map(|it| (text[it.name].to_owned(), it.form)).collect()
        };
        let shared = [
            ("B".to_owned(), ReferenceForm::Text),
            ("D".to_owned(), ReferenceForm::Raw),
            ("G".to_owned(), ReferenceForm::Text),
        ];
        assert_eq!(found(false), shared);
        assert_eq!(found(true)[0], ("A".to_owned(), ReferenceForm::Proposed));
        assert_eq!(found(true)[1..], shared);
        assert!(parameter_references("${{A}}", false)[0].is_substituted_in("${{A}}"));
        assert!(!parameter_references("a${{A}}", false)[0].is_substituted_in("a${{A}}"));
    }

    fn shown(text: &str) -> Vec<(DollarTokenKind, &str)> {
        dollar_tokens(text).map(|it| (it.kind, &text[it.range])).collect()
    }

    #[test]
    fn every_dollar_belongs_to_one_token() {
        use DollarTokenKind::{Escape, Plain, Reference, Unterminated};
        assert_eq!(shown("a$(B)c$$(D)"), [(Reference, "$(B)"), (Escape, "$$")]);
        assert_eq!(shown("$$$(A)$"), [(Escape, "$$"), (Reference, "$(A)"), (Plain, "$")]);
        assert_eq!(shown("$(A$(B))"), [(Reference, "$(A$(B)")]);
        assert_eq!(shown("$(A$$B"), [(Unterminated, "$("), (Escape, "$$")]);
        assert_eq!(shown("$£$(A)"), [(Plain, "$£"), (Reference, "$(A)")]);
    }

    #[test]
    fn unterminated_references_take_linear_time() {
        let text = "$(".repeat(500_000);
        assert_eq!(dollar_tokens(&text).count(), 500_000);
    }

    #[test]
    fn parameters_have_plain_names() {
        let text = "${A}-${{B_1}}${C:-x}${}$${D}${E";
        let found: Vec<_> = template_parameters(text).map(|it| (&text[it.name], it.form)).collect();
        let (text, raw) = (ReferenceForm::Text, ReferenceForm::Raw);
        assert_eq!(found, [("A", text), ("B_1", raw), ("D", text)]);
    }
}
