//! YAML values without a position: new content, or a copy of a node.
//!
//! A value can be written as a block of lines or as one flow line.

use std::cell::Cell;

use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde::{Serialize, ser};

use crate::syntax::documents::parse;
use crate::syntax::node::Node;
use crate::syntax::scalar::TypedScalar;

/// A YAML value.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// A string that is always written in double quotes.
    Quoted(String),
    /// A string with a comment after it.
    Commented(String, String),
    /// A list.
    List(Vec<YamlValue>),
    /// A mapping, in order.
    Map(Vec<(String, YamlValue)>),
}

/// The deepest copy and the most nodes in it: aliases of aliases can multiply.
const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 500_000;

impl YamlValue {
    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A mapping.
    pub fn map<const N: usize>(entries: [(&str, YamlValue); N]) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// A copy of a node. `scalar` may return a replacement for the scalar at a path such as `spec.containers[0].image`,
    /// which begins with `path`. `None` if the node contains itself or is too large.
    pub fn from_node(node: Node<'_>, path: &str, scalar: &dyn Fn(&str) -> Option<YamlValue>) -> Option<Self> {
        copy_node(node, path.to_owned(), scalar, MAX_DEPTH, &Cell::new(MAX_NODES))
    }

    /// Whether two values are the same once they are parsed again: quotes and comments are ignored.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        let text = |it: &Self| match it {
            Self::Text(text) | Self::Quoted(text) | Self::Commented(text, _) => Some(text.clone()),
            _ => None,
        };
        match (self, other) {
            (Self::List(a), Self::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_equivalent(b)),
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && a.1.is_equivalent(&b.1))
            }
            _ => match (text(self), text(other)) {
                (Some(a), Some(b)) => a == b,
                (None, None) => self == other,
                _ => false,
            },
        }
    }

    /// The value of a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut YamlValue> {
        match self {
            Self::Map(entries) => entries.iter_mut().find(|(it, _)| it == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value of a key. If it is missing or `null`, `default` is added. `None` if this is not a mapping.
    pub fn entry_or_insert(&mut self, key: &str, default: YamlValue) -> Option<&mut YamlValue> {
        let Self::Map(entries) = self else { return None };
        let at = entries.iter().position(|(it, _)| it == key).unwrap_or_else(|| {
            entries.push((key.to_owned(), YamlValue::Null));
            entries.len() - 1
        });
        let value = &mut entries[at].1;
        if *value == YamlValue::Null {
            *value = default;
        }
        Some(value)
    }

    /// The value as a block: lines without indentation, each with a line break.
    pub fn to_block(&self) -> Option<String> {
        // Do not fold long lines: folded text is hard to compare.
        let options = serde_saphyr::ser_options! { compact_list_indent: false, folded_wrap_chars: 1_000_000 };
        serde_saphyr::to_string_with_options(self, options).ok()
    }

    /// The value on one line, with brackets.
    pub fn to_flow(&self) -> Option<String> {
        Some(match self {
            Self::List(items) => {
                let items: Option<Vec<String>> = items.iter().map(Self::to_flow).collect();
                format!("[{}]", items?.join(", "))
            }
            Self::Map(entries) => {
                let entry = |(key, value): &(String, YamlValue)| Some(format!("{}: {}", word(key)?, value.to_flow()?));
                let entries: Option<Vec<String>> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries?.join(", "))
            }
            Self::Text(text) | Self::Commented(text, _) => word(text)?,
            Self::Quoted(text) => serde_json::to_string(text).ok()?,
            Self::Null => "null".into(),
            Self::Bool(it) => it.to_string(),
            Self::Int(it) => it.to_string(),
            Self::Float(it) => it.to_string(),
        })
    }
}

/// A string in a flow line: in quotes unless it is certainly parsed as the same string.
fn word(text: &str) -> Option<String> {
    let ordinary = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | '/');
    let is_plain =
        text.chars().all(ordinary) && text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '/') && {
            let tree = parse(text);
            let root = tree.documents().next().and_then(|it| it.root());
            root.is_some_and(|it| it.string() == Some(text))
        };
    if is_plain { Some(text.to_owned()) } else { serde_json::to_string(text).ok() }
}

fn copy_node(
    node: Node<'_>,
    path: String,
    scalar: &dyn Fn(&str) -> Option<YamlValue>,
    depth: usize,
    budget: &Cell<usize>,
) -> Option<YamlValue> {
    if depth == 0 || budget.get() == 0 {
        return None;
    }
    budget.set(budget.get() - 1);
    let node = node.resolved();
    if node.is_mapping() {
        let mut entries = Vec::new();
        for (key, value) in node.entries() {
            let Some(key) = key.key_text() else { continue };
            let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
            let value = match value {
                Some(value) => copy_node(value, path, scalar, depth - 1, budget)?,
                None => YamlValue::Null,
            };
            entries.push((key.into_owned(), value));
        }
        return Some(YamlValue::Map(entries));
    }
    if node.is_sequence() {
        let items = node.items().enumerate();
        let items = items.map(|(at, item)| copy_node(item, format!("{path}[{at}]"), scalar, depth - 1, budget));
        return items.collect::<Option<Vec<_>>>().map(YamlValue::List);
    }
    if let Some(other) = scalar(&path) {
        return Some(other);
    }
    Some(match node.typed() {
        Some(TypedScalar::Str(text)) => YamlValue::text(text),
        Some(TypedScalar::Bool(it)) => YamlValue::Bool(it),
        Some(TypedScalar::Int(it)) => YamlValue::Int(it),
        Some(TypedScalar::Float(it)) => YamlValue::Float(it),
        Some(TypedScalar::Misfit) => YamlValue::text(node.text().unwrap_or_default()),
        Some(TypedScalar::Null) | None => YamlValue::Null,
    })
}

impl Serialize for YamlValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(it) => serializer.serialize_bool(*it),
            Self::Int(it) => match i64::try_from(*it) {
                Ok(it) => serializer.serialize_i64(it),
                Err(_) => serializer.serialize_i128(*it),
            },
            Self::Float(it) => serializer.serialize_f64(*it),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Quoted(text) => serde_saphyr::DoubleQuoted(text).serialize(serializer),
            Self::Commented(text, note) => {
                let note = note.replace(['\n', '\r'], " ");
                serde_saphyr::Commented(&**text, note).serialize(serializer).map_err(ser::Error::custom)
            }
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_as_a_block_and_on_a_line() {
        let it = YamlValue::map([
            ("name", YamlValue::text("PORT")),
            ("value", YamlValue::text("80")),
            ("from", YamlValue::List(vec![YamlValue::map([("on", YamlValue::Bool(true))]), YamlValue::text("a: b")])),
        ]);
        assert_eq!(it.to_flow().as_deref(), Some("{name: PORT, value: \"80\", from: [{\"on\": true}, \"a: b\"]}"));
        let block = it.to_block().expect("a block");
        let tree = parse(&block);
        let root = tree.documents().next().and_then(|it| it.root()).expect("a root");
        assert_eq!(YamlValue::from_node(root, "", &|_| None), Some(it), "{block}");
    }

    #[test]
    fn a_value_that_contains_itself_is_not_copied() {
        let tree = parse("a: &a {b: *a}\n");
        let root = tree.documents().next().and_then(|it| it.root()).expect("a root");
        assert_eq!(YamlValue::from_node(root, "", &|_| None), None);
    }
}
