//! Objects as the API server gets them: JSON values with sorted keys, read from a tree. Unchanged texts are borrowed.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::syntax::{Node, NodeKind, TypedScalar};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(Cow<'t, str>),
    /// A list.
    List(Vec<Json<'t>>),
    /// A mapping with sorted keys, as Kubernetes tools print it.
    Map(JsonMap<'t>),
}

/// A mapping.
pub type JsonMap<'t> = BTreeMap<Cow<'t, str>, Json<'t>>;

/// Limits against nested aliases: the depth of an object, and the number of nodes beyond the length of its text.
const DEEPEST: usize = 256;
const MORE_NODES: usize = 1_000_000;

/// Why an object cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonReadError {
    /// Its aliases make it too large or too deep.
    TooLarge,
    /// It has a scalar that does not fit its type, or a syntax error.
    Broken,
}

/// The number of nodes that may still be read.
#[derive(Debug)]
pub(super) struct JsonBudget(Cell<usize>);

impl JsonBudget {
    pub(super) fn of(text_length: usize) -> Self {
        Self(Cell::new(text_length.saturating_add(MORE_NODES)))
    }

    pub(super) fn take(&self) -> Result<(), JsonReadError> {
        let left = self.0.get().checked_sub(1).ok_or(JsonReadError::TooLarge)?;
        self.0.set(left);
        Ok(())
    }
}

/// Called for the strings and keys of an object while it is read.
pub(super) trait ScalarVisitor<'t> {
    /// The value for a string; `None` removes it.
    fn value(&mut self, text: &'t str) -> Option<Json<'t>>;
    /// The key for a key.
    fn key(&mut self, text: Cow<'t, str>) -> Cow<'t, str>;
    /// Called for a list item that was removed.
    fn lost_item(&mut self);
    /// Called for two keys that became equal.
    fn same_keys(&mut self, key: &str);
}

/// Keeps all strings and keys.
pub(super) struct AsWritten;

impl<'t> ScalarVisitor<'t> for AsWritten {
    fn value(&mut self, text: &'t str) -> Option<Json<'t>> {
        Some(Json::Text(text.into()))
    }

    fn key(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        text
    }

    fn lost_item(&mut self) {}

    fn same_keys(&mut self, _: &str) {}
}

impl<'t> Json<'t> {
    /// Reads a node.
    pub(super) fn read(
        node: Node<'t>,
        budget: &JsonBudget,
        visit: &mut dyn ScalarVisitor<'t>,
    ) -> Result<Self, JsonReadError> {
        Ok(read(node, DEEPEST, budget, visit)?.unwrap_or(Self::Null))
    }

    /// The mapping, if it is one.
    pub fn as_map(&self) -> Option<&JsonMap<'t>> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The mapping, if it is one, for changes.
    pub fn as_map_mut(&mut self) -> Option<&mut JsonMap<'t>> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number; an integer if it has no fraction.
    pub(in crate::ide) fn of_float(it: f64) -> Self {
        whole_number(it).map_or(Self::Float(it), Self::Int)
    }

    /// A value that was decoded from JSON. `oc` decodes all numbers as floating-point numbers; `lossy` is set if an
    /// integer loses digits.
    pub(super) fn decoded(value: serde_json::Value, lossy: &mut bool) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(it) => Self::Bool(it),
            serde_json::Value::String(it) => Self::Text(it.into()),
            serde_json::Value::Array(list) => {
                Self::List(list.into_iter().map(|item| Self::decoded(item, lossy)).collect())
            }
            serde_json::Value::Object(map) => {
                Self::Map(map.into_iter().map(|(key, value)| (key.into(), Self::decoded(value, lossy))).collect())
            }
            serde_json::Value::Number(number) => {
                let float = number.as_f64().unwrap_or(f64::NAN);
                let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
                let read = whole_number(float);
                *lossy |= whole.is_some() && whole != read;
                read.map_or(Self::Float(float), Self::Int)
            }
        }
    }
}

/// A floating-point number without a fraction, as Go prints it: without an exponent below 10^21.
#[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
fn whole_number(float: f64) -> Option<i128> {
    (float.fract() == 0.0 && float.abs() < 1e21).then_some(float as i128)
}

fn read<'t>(
    node: Node<'t>,
    depth: usize,
    budget: &JsonBudget,
    visit: &mut dyn ScalarVisitor<'t>,
) -> Result<Option<Json<'t>>, JsonReadError> {
    budget.take()?;
    let depth = depth.checked_sub(1).ok_or(JsonReadError::TooLarge)?;
    let node = node.resolved();
    match node.kind() {
        NodeKind::Mapping(_) => {
            let mut map = JsonMap::new();
            let mut changed: Vec<(Cow<'t, str>, Json<'t>)> = Vec::new();
            // Most mappings have no merge key, and the map itself handles duplicate keys.
            let is_merge = |key: Node<'_>| key.text() == Some("<<");
            let merged = node.own_entries().any(|(key, _)| is_merge(key)).then(|| node.entries());
            let own = merged.is_none().then(|| node.own_entries()).into_iter().flatten();
            for (key, value) in merged.into_iter().flatten().chain(own) {
                let Some(name) = key.key_text() else { return Err(JsonReadError::Broken) };
                // Y7: the last of equal keys that has a value.
                if value.is_none() && map.contains_key(&name) {
                    continue;
                }
                let before = name.contains('$').then(|| name.clone());
                let name = if before.is_some() { visit.key(name) } else { name };
                let value = match value {
                    Some(value) => read(value, depth, budget, visit)?,
                    None => Some(Json::Null),
                };
                let Some(value) = value else { continue };
                match before {
                    Some(before) if before != name => changed.push((name, value)),
                    _ => drop(map.insert(name, value)),
                }
            }
            // A key with parameters replaces an equal key without parameters.
            for (name, value) in changed {
                if map.contains_key(&name) {
                    visit.same_keys(&name);
                }
                map.insert(name, value);
            }
            Ok(Some(Json::Map(map)))
        }
        NodeKind::Sequence(_) => {
            let mut list = Vec::new();
            for item in node.items() {
                match read(item, depth, budget, visit)? {
                    Some(item) => list.push(item),
                    None => visit.lost_item(),
                }
            }
            Ok(Some(Json::List(list)))
        }
        NodeKind::Scalar(_) => match node.typed() {
            Some(TypedScalar::Null) | None => Ok(Some(Json::Null)),
            Some(TypedScalar::Bool(it)) => Ok(Some(Json::Bool(it))),
            Some(TypedScalar::Int(it)) => Ok(Some(Json::Int(it))),
            Some(TypedScalar::Float(it)) => Ok(Some(Json::of_float(it))),
            Some(TypedScalar::Str(text)) if text.contains('$') => Ok(visit.value(text)),
            Some(TypedScalar::Str(text)) => Ok(Some(Json::Text(text.into()))),
            Some(TypedScalar::Misfit) => Err(JsonReadError::Broken),
        },
        NodeKind::Alias | NodeKind::Error => Err(JsonReadError::Broken),
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(it) => serializer.serialize_bool(*it),
            Self::Int(it) => match (i64::try_from(*it), u64::try_from(*it)) {
                (Ok(it), _) => serializer.serialize_i64(it),
                (_, Ok(it)) => serializer.serialize_u64(it),
                _ => serializer.serialize_i128(*it),
            },
            Self::Float(it) => serializer.serialize_f64(*it),
            Self::Text(it) => serializer.serialize_str(it),
            Self::List(it) => it.serialize(serializer),
            Self::Map(it) => serializer.collect_map(it),
        }
    }
}
