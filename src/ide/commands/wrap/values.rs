//! Where a value stands in a text, and how a parameter takes its place.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use crate::ide::commands::process::{Json, decoded};
use crate::syntax::Node;
use crate::text::Span;

/// A parameter with the value that it takes the place of.
#[derive(Clone, PartialEq, Eq)]
pub struct ParameterChoice {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Values may be secret.
impl std::fmt::Debug for ParameterChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}=<{} bytes>", self.name, self.value.len())
    }
}

/// Mappings whose keys are somebody's own words; all other keys are those of the API.
const OWN_KEYS: [&str; 9] = [
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

/// Whether the keys of the mapping under a key may hold a value.
pub(super) fn has_own_keys(key: &str) -> bool {
    OWN_KEYS.contains(&key)
}

/// Whether a key says what an object is: never a parameter's place, or nobody could read the template.
pub(super) fn is_identity(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind")
}

/// Finds values.
#[derive(Debug)]
pub(crate) struct ValueReplacer<'g> {
    given: &'g [ParameterChoice],
    /// The values that are numbers or booleans once they are decoded.
    typed: Vec<Option<Json<'static>>>,
}

impl<'g> ValueReplacer<'g> {
    /// One that looks for these.
    pub(crate) fn new(given: &'g [ParameterChoice]) -> Self {
        let typed = given
            .iter()
            .map(|it| decoded(&it.value).filter(|it| matches!(it, Json::Bool(_) | Json::Int(_) | Json::Float(_))));
        Self { typed: typed.collect(), given }
    }

    /// The name of a parameter.
    pub(super) fn name(&self, parameter: usize) -> &'g str {
        &self.given[parameter].name
    }

    /// The parameter whose value is this number or boolean.
    pub(super) fn typed(&self, value: &Json<'_>) -> Option<usize> {
        self.typed.iter().position(|it| it.as_ref() == Some(value))
    }

    /// Where values stand in a text as words of their own, from left to right; of two that overlap the first, of two at
    /// one place the longer.
    pub(crate) fn places(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let mut found: Vec<(Range<usize>, usize)> = Vec::new();
        for (parameter, given) in self.given.iter().enumerate() {
            let value = given.value.as_str();
            let is_number = matches!(self.typed[parameter], Some(Json::Int(_) | Json::Float(_)));
            let finder = memmem::Finder::new(value);
            let mut at = 0;
            while let Some(start) = text.get(at..).and_then(|rest| finder.find(rest.as_bytes())).map(|it| at + it) {
                let range = start..start + value.len();
                if is_word(text, &range, is_number) {
                    at = range.end;
                    found.push((range, parameter));
                } else {
                    // A value begins with a whole character, and so does what may follow it.
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

    /// The parameters whose values stand in what an object says.
    pub(super) fn uses(&self, json: &Json<'_>, key: &str, used: &mut BTreeSet<usize>) {
        match json {
            Json::Map(map) => {
                for (name, value) in map {
                    if has_own_keys(key) {
                        used.extend(self.places(name).into_iter().map(|(_, parameter)| parameter));
                    }
                    if !is_identity(name) {
                        self.uses(value, name, used);
                    }
                }
            }
            Json::List(items) => items.iter().for_each(|it| self.uses(it, key, used)),
            Json::Text(text) => used.extend(self.places(text).into_iter().map(|(_, parameter)| parameter)),
            Json::Null => {}
            other => used.extend(self.typed(other)),
        }
    }

    /// A text with parameters in the places of values; nothing if none stands in it.
    pub(super) fn replaced(&self, text: &str) -> Option<String> {
        let places = self.places(text);
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        for (range, parameter) in &places {
            result.push_str(&text[at..range.start]);
            result.push_str(&format!("${{{}}}", self.name(*parameter)));
            at = range.end;
        }
        result.push_str(&text[at..]);
        (!places.is_empty()).then_some(result)
    }
}

/// Whether a range is not the middle of a longer word: `80` in `8080` is not, nor is `1` in `10.0.0.1`.
fn is_word(text: &str, range: &Range<usize>, is_number: bool) -> bool {
    let of_word = |it: char| it.is_alphanumeric() || it == '_';
    let (before, behind) = (text[..range.start].chars().next_back(), text[range.end..].chars().next());
    let value = &text[range.clone()];
    let joins = |inner: Option<char>, outer: Option<char>| match (inner, outer) {
        (Some(inner), Some(outer)) => of_word(inner) && of_word(outer),
        _ => false,
    };
    if joins(value.chars().next(), before) || joins(value.chars().next_back(), behind) {
        return false;
    }
    // A number has a sign and decimals.
    let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
    let second = text[range.end..].chars().nth(1);
    let is_longer_number = matches!(before, Some('-' | '+' | '.'))
        || matches!(behind, Some('.' | '-')) && (is_digit(second) || behind == Some('-'));
    !(is_number && is_longer_number)
}

/// The strings and keys of an object, each with its place; what aliases bring is not among them.
pub(super) fn texts(node: Node<'_>) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.alias().is_some() {
            continue;
        }
        if let Some(text) = node.text().filter(|it| it.contains('$')) {
            found.push((text.to_owned(), node.span()));
        }
        open.extend(node.own_entries().flat_map(|(key, value)| [Some(key), value]).flatten());
        open.extend(node.items());
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
