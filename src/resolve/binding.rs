//! A variable with its value, its origin, the variables it hides and the steps of its expansion.

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
    /// The text before expansion; only for entries of `env` with a `value`.
    pub raw: Option<Arc<str>>,
    /// Where the value comes from.
    pub origin: Origin,
    /// The `valueFrom` or `envFrom` entry of the pod that refers to the origin, if that is elsewhere.
    pub entry: Option<Location>,
    /// The PodPreset that adds it; `None` if the container declares it.
    pub preset: Option<Arc<str>>,
    /// The expansion of each reference in `raw`.
    pub steps: Vec<ExpansionStep>,
    /// The definitions that it hides, the nearest first.
    pub hides: imbl::Vector<Origin>,
    /// The value of each object that may be meant, if their values differ; empty otherwise.
    pub alternatives: Vec<(ResolvedValue, Origin)>,
}

impl Binding {
    /// A variable with a literal value and no location.
    pub fn literal(name: impl Into<Arc<str>>, value: impl Into<Arc<str>>) -> Self {
        let value: Arc<str> = value.into();
        Self {
            raw: Some(Arc::clone(&value)),
            ..Self::new(name, ResolvedValue::text(value), Origin::new(OriginKind::Env))
        }
    }

    /// A variable with a value and its origin.
    pub fn new(name: impl Into<Arc<str>>, value: ResolvedValue, origin: Origin) -> Self {
        Self {
            name: name.into(),
            value,
            raw: None,
            origin,
            entry: None,
            preset: None,
            steps: Vec::new(),
            hides: imbl::Vector::new(),
            alternatives: Vec::new(),
        }
    }

    /// Combines candidates to one variable. If their values differ, the value is unknown.
    pub fn from_candidates(
        name: impl Into<Arc<str>>,
        what: &str,
        candidates: Vec<(ResolvedValue, Origin)>,
    ) -> Option<Self> {
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

    /// Records the definition that this one hides.
    pub fn hiding(mut self, before: Option<&Arc<Binding>>) -> Self {
        if let Some(before) = before {
            self.hides = before.hides.clone();
            // Each of these is hidden in one order of presets or another.
            match before.value == ResolvedValue::unknown(UnknownReason::PresetOrder) {
                true => before.alternatives.iter().rev().for_each(|(_, it)| self.hides.push_front(it.clone())),
                false => self.hides.push_front(before.origin.clone()),
            }
        }
        self
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The kind of source.
    pub kind: OriginKind,
    /// The name of the ConfigMap, Secret, Service or PodPreset.
    pub object: Option<Arc<str>>,
    /// The key in that object.
    pub key: Option<Arc<str>>,
    /// Where the value is written; `None` if that is not in this workspace.
    pub location: Option<Location>,
    /// The part of the scalar at `location`, if the value is only a part of it: a line of a script.
    pub inside: Option<ScalarPart>,
}

/// A part of a scalar's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalarPart {
    /// The scalar, relative to its object.
    pub text: Text,
    /// The range in its value.
    pub range: Range<usize>,
}

impl Origin {
    /// A source without name and location.
    pub fn new(kind: OriginKind) -> Self {
        Self { kind, object: None, key: None, location: None, inside: None }
    }
}

/// The kind of source that a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OriginKind {
    /// A `value` in `env`.
    Env,
    /// A key of a ConfigMap.
    ConfigMap,
    /// A key of a Secret.
    Secret,
    /// A Service.
    Service,
    /// A PodPreset.
    Preset,
    /// `fieldRef`.
    Field,
    /// `resourceFieldRef`.
    Resource,
    /// `fileKeyRef`.
    EnvFile,
    /// A variable that a controller adds.
    Injected,
}

impl OriginKind {
    /// The name in the JSON output.
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

/// The result of looking up a name. A reference is reported as not expanded only for `Later` and `Unbound`.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// It has this value.
    Bound(Arc<Binding>),
    /// It is declared in this entry or a later one, so it has no value yet.
    Later(Origin),
    /// Nothing defines it.
    Unbound,
    /// Something outside this workspace may define it.
    Maybe(UnknownReason),
}
