//! The references that are not expanded, each with one reason.
//!
//! This is the only code that decides the reason: findings, hover, lens, `env` and the environment page show it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::k8s::{ContainerField, Text};
use crate::resolve::binding::Origin;
use crate::resolve::environment::PresetLocation;

/// A reference that is not expanded.
#[derive(Clone, Debug)]
pub struct UnresolvedReference {
    /// The referenced name.
    pub name: Arc<str>,
    /// Why it is not expanded.
    pub reason: UnresolvedReason,
    /// The field that contains it. Entries and mounts of presets are counted after those of the container.
    pub field: ContainerField,
    /// The scalar that contains it, relative to the object.
    pub text: Text,
    /// The range of the reference in the scalar's value.
    pub range: Range<usize>,
    /// The preset that contains it, if one does.
    pub within: Option<PresetLocation>,
}

/// Why a reference is not expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnresolvedReason {
    /// Nothing defines the name.
    Undefined,
    /// It is declared later.
    Forward,
    /// It is the name of the entry that contains the reference.
    SelfReference,
    /// The container has the variable, and its exec probe does not (P3).
    Probe,
    /// The container has a value, and in its exec probe the variable is empty (P3).
    EmptyInProbe,
    /// It is the name of a service variable that does not exist.
    Service(Arc<ServiceVariableAbsence>),
}

/// Why a service variable does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceVariableAbsence {
    /// The service has no cluster IP (S3).
    Headless(Origin),
    /// Service links are disabled (S1).
    LinksOff,
    /// The pod links other services in `envFrom`. Contains the service that it does not link, if it is known.
    NotLinked(Option<Arc<str>>),
}

impl UnresolvedReason {
    /// What happens to the reference: `is not expanded`.
    pub fn effect(&self) -> &'static str {
        if *self == Self::EmptyInProbe { "is replaced by nothing" } else { "is not expanded" }
    }

    /// The name in the JSON output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Forward => "forward",
            Self::SelfReference => "self",
            Self::Probe | Self::EmptyInProbe => "probe",
            Self::Service(absence) => match **absence {
                ServiceVariableAbsence::Headless(_) => "undefined",
                ServiceVariableAbsence::LinksOff | ServiceVariableAbsence::NotLinked(_) => "linksOff",
            },
        }
    }
}

/// The reason as a clause about the variable.
impl fmt::Display for UnresolvedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Undefined => "nothing defines it",
            Self::Forward => "it is declared later",
            Self::SelfReference => "it refers to itself",
            Self::Probe => "exec probes do not see it",
            Self::EmptyInProbe => "exec probes see only literal values",
            Self::Service(absence) => match **absence {
                ServiceVariableAbsence::Headless(_) => "its service has no cluster IP",
                ServiceVariableAbsence::LinksOff => "it is a service variable, and service links are off",
                ServiceVariableAbsence::NotLinked(_) => "this pod has only the variables of the services it links",
            },
        })
    }
}
