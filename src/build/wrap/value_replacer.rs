//! Finds the occurrences of values in texts and replaces them by parameters.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use crate::build::process::{Json, decoded};
use crate::syntax::Node;
use crate::text::Span;

/// A parameter and the value that it replaces.
#[derive(Clone, PartialEq, Eq)]
pub struct ParameterChoice {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Does not show the value, which may be secret.
impl std::fmt::Debug for ParameterChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}=<{} bytes>", self.name, self.value.len())
    }
}

/// Mappings whose keys are chosen by the user; all other keys are defined by the API.
const USER_KEYS: [&str; 9] = [
    "annotations",
    "binaryData",
    "data",
    "labels",
    "matchLabels",
    "nodeSelector",
    "parameters",
    "selector",
    "stringData",
];

/// Whether the keys of the mapping under a key are chosen by the user, so that a parameter may replace them.
pub(super) fn has_user_keys(key: &str) -> bool {
    USER_KEYS.contains(&key)
}

/// Whether a key identifies the kind of an object. Its value is never replaced, or the template could not be read.
pub(super) fn is_identity(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind")
}

/// Finds the values of parameters in texts.
#[derive(Debug)]
pub(crate) struct ValueReplacer<'g> {
    choices: &'g [ParameterChoice],
    /// The decoded values, for numbers and booleans.
    typed: Vec<Option<Json<'static>>>,
}

impl<'g> ValueReplacer<'g> {
    /// A replacer for these parameters.
    pub(crate) fn new(choices: &'g [ParameterChoice]) -> Self {
        let typed = choices
            .iter()
            .map(|it| decoded(&it.value).filter(|it| matches!(it, Json::Bool(_) | Json::Int(_) | Json::Float(_))));
        Self { typed: typed.collect(), choices }
    }

    /// The name of a parameter.
    pub(super) fn name(&self, parameter: usize) -> &'g str {
        &self.choices[parameter].name
    }

    /// The parameter whose value is this number or boolean.
    pub(super) fn typed(&self, value: &Json<'_>) -> Option<usize> {
        self.typed.iter().position(|it| it.as_ref() == Some(value))
    }

    /// The occurrences of values in a text as whole words, from left to right, without overlaps: of two that overlap
    /// the first is returned, of two at the same offset the longer one.
    pub(crate) fn occurrences(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let mut found: Vec<(Range<usize>, usize)> = Vec::new();
        for (parameter, choice) in self.choices.iter().enumerate() {
            let value = choice.value.as_str();
            let is_number = matches!(self.typed[parameter], Some(Json::Int(_) | Json::Float(_)));
            let finder = memmem::Finder::new(value);
            let mut at = 0;
            while let Some(start) = text.get(at..).and_then(|rest| finder.find(rest.as_bytes())).map(|it| at + it) {
                let range = start..start + value.len();
                if is_word(text, &range, is_number) {
                    at = range.end;
                    found.push((range, parameter));
                } else {
                    // Continue at the next character boundary.
                    at = start + value.chars().next().map_or(1, char::len_utf8);
                }
            }
        }
        found.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        let mut end = 0;
        found.retain(|(range, _)| {
            let is_free = range.start >= end;
            if is_free {
                end = range.end;
            }
            is_free
        });
        found
    }

    /// Collects the parameters whose values occur in an object.
    pub(super) fn uses(&self, json: &Json<'_>, key: &str, used: &mut BTreeSet<usize>) {
        match json {
            Json::Map(map) => {
                for (name, value) in map {
                    if has_user_keys(key) {
                        used.extend(self.occurrences(name).into_iter().map(|(_, parameter)| parameter));
                    }
                    if !is_identity(name) {
                        self.uses(value, name, used);
                    }
                }
            }
            Json::List(items) => items.iter().for_each(|it| self.uses(it, key, used)),
            Json::Text(text) => used.extend(self.occurrences(text).into_iter().map(|(_, parameter)| parameter)),
            Json::Null => {}
            other => used.extend(self.typed(other)),
        }
    }

    /// A text with its values replaced by parameters; `None` if no value occurs in it.
    pub(super) fn replaced(&self, text: &str) -> Option<String> {
        let occurrences = self.occurrences(text);
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        for (range, parameter) in &occurrences {
            result.push_str(&text[at..range.start]);
            result.push_str(&format!("${{{}}}", self.name(*parameter)));
            at = range.end;
        }
        result.push_str(&text[at..]);
        (!occurrences.is_empty()).then_some(result)
    }
}

/// Whether a range is a whole word: `80` in `8080` is not, nor is `1` in `10.0.0.1`.
fn is_word(text: &str, range: &Range<usize>, is_number: bool) -> bool {
    let of_word = |it: char| it.is_alphanumeric() || it == '_';
    let (before, after) = (text[..range.start].chars().next_back(), text[range.end..].chars().next());
    let value = &text[range.clone()];
    let joins = |inner: Option<char>, outer: Option<char>| match (inner, outer) {
        (Some(inner), Some(outer)) => of_word(inner) && of_word(outer),
        _ => false,
    };
    if joins(value.chars().next(), before) || joins(value.chars().next_back(), after) {
        return false;
    }
    // A number may have a sign and a fraction.
    let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
    let second = text[range.end..].chars().nth(1);
    let is_longer_number = matches!(before, Some('-' | '+' | '.'))
        || matches!(after, Some('.' | '-')) && (is_digit(second) || after == Some('-'));
    !(is_number && is_longer_number)
}

/// The strings and keys of an object that contain `$`, each with its span, without the content of aliases.
pub(super) fn texts(node: Node<'_>) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if node.alias().is_some() {
            continue;
        }
        if let Some(text) = node.text().filter(|it| it.contains('$')) {
            found.push((text.to_owned(), node.span()));
        }
        pending.extend(node.own_entries().flat_map(|(key, value)| [Some(key), value]).flatten());
        pending.extend(node.items());
    }
    found.sort_by_key(|(_, span)| *span);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_as_words() {
        let given = [("NAME", "web"), ("PORT", "8080"), ("LONG", "web-front"), ("ON", "true"), ("HOST", "a.b")];
        let given: Vec<ParameterChoice> = given
            .iter()
            .map(|(name, value)| ParameterChoice { name: (*name).into(), value: (*value).into() })
            .collect();
        let replacer = ValueReplacer::new(&given);
        for (text, expected) in [
            ("web", "${NAME}"),
            ("webs web_ xweb", "webs web_ xweb"),
            ("web-db, db.web/", "${NAME}-db, db.${NAME}/"),
            ("web-front web-frontend", "${LONG} ${NAME}-frontend"),
            ("http://web:8080/8080", "http://${NAME}:${PORT}/${PORT}"),
            ("18080 8080.5 8080-8090 -8080 1.8080", "18080 8080.5 8080-8090 -8080 1.8080"),
            ("at 8080.", "at ${PORT}."),
            ("--on=true", "--on=${ON}"),
            ("untrue", "untrue"),
            ("$(web) ${web}", "$(${NAME}) ${${NAME}}"),
            ("a.b.a.b", "${HOST}.${HOST}"),
            ("éweb webé", "éweb webé"),
        ] {
            assert_eq!(replacer.replaced(text).unwrap_or_else(|| text.into()), expected, "{text}");
        }
        assert_eq!(replacer.typed(&Json::Int(8080)), Some(1));
        assert_eq!(replacer.typed(&Json::Bool(true)), Some(3));
        assert_eq!(replacer.typed(&Json::Text("web".into())), None);
    }
}
