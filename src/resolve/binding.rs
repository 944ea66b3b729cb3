//! A variable and its way: the value, where it was declared, what it hides, each step of its expansion.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::Text;
use crate::resolve::expand::ExpansionStep;
use crate::resolve::value::{ResolvedValue, UnknownReason};

/// A variable with a value.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Its name.
    pub name: Arc<str>,
    /// Its value, after expansion.
    pub value: ResolvedValue,
    /// What the manifest says before expansion; only entries of `env` with a `value` have it.
    pub raw: Option<Arc<str>>,
    /// Where the value comes from.
    pub origin: Origin,
    /// The entry in the pod that asks for it, where it is not the origin: a `valueFrom` or an `envFrom`.
    pub entry: Option<Location>,
    /// The PodPreset that brings it, where it is none of the container's own.
    pub preset: Option<Arc<str>>,
    /// Each reference in `raw`.
    pub steps: Vec<ExpansionStep>,
    /// What it hides, the nearest first.
    pub hides: Vec<Origin>,
    /// Where several objects may be meant and differ: the value that each gives. Empty otherwise.
    pub alternatives: Vec<(ResolvedValue, Origin)>,
}

impl Binding {
    /// A variable that is simply set, without a place.
    pub fn literal(name: impl Into<Arc<str>>, value: impl Into<Arc<str>>) -> Self {
        let value: Arc<str> = value.into();
        Self {
            raw: Some(Arc::clone(&value)),
            ..Self::new(name, ResolvedValue::text(value), Origin::new(OriginKind::Env))
        }
    }

    /// A variable with a value from somewhere.
    pub fn new(name: impl Into<Arc<str>>, value: ResolvedValue, origin: Origin) -> Self {
        Self {
            name: name.into(),
            value,
            raw: None,
            origin,
            entry: None,
            preset: None,
            steps: Vec::new(),
            hides: Vec::new(),
            alternatives: Vec::new(),
        }
    }

    /// One variable from several candidates. Those that agree are one; otherwise the value is open.
    pub fn among(name: impl Into<Arc<str>>, what: &str, candidates: Vec<(ResolvedValue, Origin)>) -> Option<Self> {
        let mut candidates = candidates.into_iter();
        let (value, origin) = candidates.next()?;
        let rest: Vec<_> = candidates.collect();
        if rest.iter().all(|(other, _)| other.same_text(&value)) {
            return Some(Self::new(name, value, origin));
        }
        let mut binding =
            Self::new(name, ResolvedValue::unknown(UnknownReason::Ambiguous(what.into())), origin.clone());
        binding.alternatives.push((value, origin));
        binding.alternatives.extend(rest);
        Some(binding)
    }

    /// Lets it take the place of what was there before.
    pub fn hiding(mut self, before: Option<&Arc<Binding>>) -> Self {
        if let Some(before) = before {
            self.hides.push(before.origin.clone());
            self.hides.extend(before.hides.iter().cloned());
        }
        self
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What kind of source it is.
    pub kind: OriginKind,
    /// The name of the ConfigMap, Secret, Service or preset.
    pub object: Option<Arc<str>>,
    /// The key in it.
    pub key: Option<Arc<str>>,
    /// Where it is written; nothing for what is not in this workspace.
    pub location: Option<Location>,
    /// The part of the scalar at `location` that is meant, where it is only a part: a line of a script.
    pub inside: Option<ScalarPart>,
}

/// A part of a scalar's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalarPart {
    /// The scalar, relative to its object.
    pub text: Text,
    /// The part of its value.
    pub range: Range<usize>,
}

impl Origin {
    /// A source without a name or place.
    pub fn new(kind: OriginKind) -> Self {
        Self { kind, object: None, key: None, location: None, inside: None }
    }
}

/// The kinds of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OriginKind {
    /// A `value` in `env`.
    Env,
    /// A ConfigMap, by `envFrom` or by key.
    ConfigMap,
    /// A Secret, by `envFrom` or by key.
    Secret,
    /// A service.
    Service,
    /// A PodPreset.
    Preset,
    /// `fieldRef`.
    Field,
    /// `resourceFieldRef`.
    Resource,
    /// `fileKeyRef`.
    EnvFile,
    /// A controller.
    Injected,
}

impl OriginKind {
    /// As the JSON output writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::ConfigMap => "configMap",
            Self::Secret => "secret",
            Self::Service => "service",
            Self::Preset => "preset",
            Self::Field => "field",
            Self::Resource => "resource",
            Self::EnvFile => "envFile",
            Self::Injected => "injected",
        }
    }
}

/// What a name means at a place. Only `Later` and `Unbound` can be findings.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// It has this value.
    Bound(Arc<Binding>),
    /// It is declared here or further on, so it has no value yet.
    Later(Origin),
    /// Nothing defines it.
    Unbound,
    /// Something that cannot be seen from here may define it.
    Maybe(UnknownReason),
}
