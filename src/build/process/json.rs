//! Objects as the API server gets them: JSON values with sorted keys, read from a tree. Unchanged texts are borrowed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::build::node::BuildError;
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

impl<'t> Json<'t> {
    /// Reads a node.
    pub fn read(node: Node<'t>) -> Result<Self, BuildError> {
        let mut nodes = node.document().span().len().max(node.span().len()).saturating_add(MORE_NODES);
        read(node, DEEPEST, &mut nodes)
    }

    /// The same value without a borrow.
    pub fn into_owned(self) -> Json<'static> {
        match self {
            Self::Null => Json::Null,
            Self::Bool(it) => Json::Bool(it),
            Self::Int(it) => Json::Int(it),
            Self::Float(it) => Json::Float(it),
            Self::Text(text) => Json::Text(text.into_owned().into()),
            Self::List(items) => Json::List(items.into_iter().map(Self::into_owned).collect()),
            Self::Map(map) => {
                let entry = |(key, value): (Cow<'t, str>, Self)| (key.into_owned().into(), value.into_owned());
                Json::Map(map.into_iter().map(entry).collect())
            }
        }
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
    pub(crate) fn of_float(it: f64) -> Self {
        whole_number(it).map_or(Self::Float(it), Self::Int)
    }

    /// A value that was decoded from JSON. `oc` decodes all numbers as floating-point numbers; `lossy` is set if an
    /// integer loses digits.
    pub(in crate::build) fn decoded(value: serde_json::Value, lossy: &mut bool) -> Self {
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

fn read<'t>(node: Node<'t>, depth: usize, nodes: &mut usize) -> Result<Json<'t>, BuildError> {
    *nodes = nodes.checked_sub(1).ok_or(BuildError::TooLarge)?;
    let depth = depth.checked_sub(1).ok_or(BuildError::TooLarge)?;
    let node = node.resolved();
    match node.kind() {
        NodeKind::Mapping(_) => {
            let mut map = JsonMap::new();
            // Most mappings have no merge key, and the map itself handles duplicate keys.
            let is_merge = |key: Node<'_>| key.text() == Some("<<");
            let merged = node.own_entries().any(|(key, _)| is_merge(key)).then(|| node.entries());
            let own = merged.is_none().then(|| node.own_entries()).into_iter().flatten();
            for (key, value) in merged.into_iter().flatten().chain(own) {
                let Some(name) = key.key_text() else { return Err(BuildError::Broken) };
                // Y7: the last of equal keys that has a value.
                if value.is_none() && map.contains_key(&name) {
                    continue;
                }
                let value = value.map_or(Ok(Json::Null), |value| read(value, depth, nodes))?;
                map.insert(name, value);
            }
            Ok(Json::Map(map))
        }
        NodeKind::Sequence(_) => {
            Ok(Json::List(node.items().map(|item| read(item, depth, nodes)).collect::<Result<_, _>>()?))
        }
        NodeKind::Scalar(_) => match node.typed() {
            Some(TypedScalar::Null) | None => Ok(Json::Null),
            Some(TypedScalar::Bool(it)) => Ok(Json::Bool(it)),
            Some(TypedScalar::Int(it)) => Ok(Json::Int(it)),
            Some(TypedScalar::Float(it)) => Ok(Json::of_float(it)),
            Some(TypedScalar::Str(text)) => Ok(Json::Text(text.into())),
            Some(TypedScalar::Misfit) => Err(BuildError::Broken),
        },
        NodeKind::Alias | NodeKind::Error => Err(BuildError::Broken),
    }
}

/// The value as JSON on one line.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
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
