//! Entries of `envFrom` that the API server refuses (V5, V6, PS7, X6). They give no variables.

use std::fmt;

use crate::build::label_names::is_dns_subdomain_prefix;
use crate::build::variable_names::{is_relaxed_variable_name, is_strict_variable_name};
use crate::k8s::{EnvFrom, EnvFromSource, Text};
use crate::syntax::may_be_replaced;
use crate::workspace::KubernetesVersion;

/// Why the API server refuses an entry of `envFrom`.
#[derive(Clone, Debug)]
pub enum EnvFromRefusal {
    /// It has more than one source. Contains the key of the second one.
    SecondSource(Text),
    /// It has nothing, or only a prefix.
    NoSource,
    /// The value of this source is not a mapping.
    Malformed(&'static str),
    /// This source has no name.
    NoName(&'static str),
    /// The name cannot be the name of an object.
    InvalidName(Text),
    /// No name of a variable can start with the prefix.
    InvalidPrefix(Text),
}

/// The sources of an entry. `service` is the proposal of explicit service links.
const SOURCES: [&str; 3] = ["configMapRef", "secretRef", "service"];

impl EnvFromRefusal {
    /// What is wrong with an entry: its source, its prefix, or both. Texts that a tool fills in are not judged.
    pub fn all(entry: &EnvFrom, release: KubernetesVersion) -> Vec<Self> {
        let prefix = entry.prefix.as_ref().filter(|it| !is_valid_prefix(&it.value, release));
        Self::of_source(entry).into_iter().chain(prefix.cloned().map(Self::InvalidPrefix)).collect()
    }

    fn of_source(entry: &EnvFrom) -> Option<Self> {
        let other = entry.others.iter().find(|it| SOURCES.contains(&&*it.value));
        let (field, name) = match (&entry.source, other) {
            (Some(_), Some(second)) => return Some(Self::SecondSource(second.clone())),
            (None, Some(key)) if entry.is_malformed => {
                return SOURCES.into_iter().find(|it| *it == &*key.value).map(Self::Malformed);
            }
            (None, _) => return entry.others.is_empty().then_some(Self::NoSource),
            (Some(EnvFromSource::ConfigMap { name, .. }), None) => ("configMapRef", name),
            (Some(EnvFromSource::Secret { name, .. }), None) => ("secretRef", name),
            (Some(EnvFromSource::Service { name, .. }), None) => {
                let is_set = name.as_ref().is_some_and(|it| !it.value.is_empty());
                return (!is_set).then_some(Self::NoName("service"));
            }
        };
        match name {
            None => Some(Self::NoName(field)),
            Some(name) if may_be_replaced(&name.value) || is_dns_subdomain_prefix(&name.value) => None,
            Some(name) => Some(Self::InvalidName(name.clone())),
        }
    }
}

/// The reason as a clause about the entry.
impl fmt::Display for EnvFromRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SecondSource(_) => f.write_str("it has two sources"),
            Self::NoSource => f.write_str("it has no source"),
            Self::Malformed(source) => write!(f, "`{source}` is not a mapping"),
            Self::NoName(source) => write!(f, "`{source}` has no `name`"),
            Self::InvalidName(name) if name.value.is_empty() => f.write_str("the name of the object is empty"),
            Self::InvalidName(name) => write!(f, "`{}` is not a valid name of an object", name.value),
            Self::InvalidPrefix(prefix) => write!(f, "`{}` is not a valid prefix", prefix.value),
        }
    }
}

/// Whether a name of a variable can start with a prefix (V5).
fn is_valid_prefix(prefix: &str, release: KubernetesVersion) -> bool {
    let is_name = if release.is_at_least(32) { is_relaxed_variable_name } else { is_strict_variable_name };
    prefix.is_empty() || may_be_replaced(prefix) || is_name(prefix)
}
