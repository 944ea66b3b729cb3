//! Objects as the API server sees them: JSON with sorted keys, read from a tree, with texts shared where they did not
//! change.

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
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(Cow<'t, str>),
    /// A list.
    List(Vec<Json<'t>>),
    /// A mapping; keys are sorted, as every tool around Kubernetes prints them.
    Map(JsonMap<'t>),
}

/// A mapping.
pub type JsonMap<'t> = BTreeMap<Cow<'t, str>, Json<'t>>;

/// How deep an object is read, and how many nodes of it beside those of its text: an end for aliases of aliases.
const DEEPEST: usize = 256;
const MORE_NODES: usize = 1_000_000;

/// What ends a reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReadError {
    /// Aliases that make it too large or too deep.
    TooLarge,
    /// A text that fits no type, or is no YAML.
    Broken,
}

/// Reads nodes, and counts them.
#[derive(Debug)]
pub(super) struct NodeBudget(Cell<usize>);

impl NodeBudget {
    pub(super) fn of(text_length: usize) -> Self {
        Self(Cell::new(text_length.saturating_add(MORE_NODES)))
    }

    pub(super) fn take(&self) -> Result<(), ReadError> {
        let left = self.0.get().checked_sub(1).ok_or(ReadError::TooLarge)?;
        self.0.set(left);
        Ok(())
    }
}

/// What a reading does with the strings and keys it meets.
pub(super) trait ScalarVisitor<'t> {
    /// A string that is a value; nothing takes it away.
    fn value(&mut self, text: &'t str) -> Option<Json<'t>>;
    /// A string that is a key.
    fn key(&mut self, text: Cow<'t, str>) -> Cow<'t, str>;
    /// A list item that was taken away.
    fn lost_item(&mut self);
    /// Two keys that became one.
    fn same_keys(&mut self, key: &str);
}

/// Leaves everything as it is.
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
        budget: &NodeBudget,
        visit: &mut dyn ScalarVisitor<'t>,
    ) -> Result<Self, ReadError> {
        Ok(read(node, DEEPEST, budget, visit)?.unwrap_or(Self::Null))
    }

    /// The mapping, if it is one.
    pub fn as_map(&self) -> Option<&JsonMap<'t>> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The mapping, if it is one, to be changed.
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

    /// A number; without a fraction it is a whole one.
    pub(in crate::ide) fn of_float(it: f64) -> Self {
        whole_number(it).map_or(Self::Float(it), Self::Int)
    }

    /// A value that was decoded from JSON. All numbers are floating-point numbers there; `lossy` is set where a whole
    /// number lost digits by that.
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

/// A floating-point number without a fraction as Go writes it: without an exponent below 10^21.
#[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
fn whole_number(float: f64) -> Option<i128> {
    (float.fract() == 0.0 && float.abs() < 1e21).then_some(float as i128)
}

fn read<'t>(
    node: Node<'t>,
    depth: usize,
    budget: &NodeBudget,
    visit: &mut dyn ScalarVisitor<'t>,
) -> Result<Option<Json<'t>>, ReadError> {
    budget.take()?;
    let depth = depth.checked_sub(1).ok_or(ReadError::TooLarge)?;
    let node = node.resolved();
    match node.kind() {
        NodeKind::Mapping(_) => {
            let mut map = JsonMap::new();
            let mut changed: Vec<(Cow<'t, str>, Json<'t>)> = Vec::new();
            // Most mappings merge nothing, and the map itself finds keys that stand twice.
            let is_merge = |key: Node<'_>| key.text() == Some("<<");
            let merged = node.own_entries().any(|(key, _)| is_merge(key)).then(|| node.entries());
            let own = merged.is_none().then(|| node.own_entries()).into_iter().flatten();
            for (key, value) in merged.into_iter().flatten().chain(own) {
                let Some(name) = key.key_text() else { return Err(ReadError::Broken) };
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
            // A key with parameters wins over one without.
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
            Some(TypedScalar::Misfit) => Err(ReadError::Broken),
        },
        NodeKind::Alias | NodeKind::Error => Err(ReadError::Broken),
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
