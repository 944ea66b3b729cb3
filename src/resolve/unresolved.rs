//! The references that are not expanded, each with one reason.
//!
//! This is the only code that decides the reason, and which `$(x)` are references at all: findings, hover, lens, `env` and
//! the environment page show it. Every rule about references that are not expanded reports what is listed here.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::build::BuiltObject;
use crate::k8s::{ContainerField, Text, VariableScope};
use crate::resolve::binding::{Lookup, Origin};
use crate::resolve::environment::{Environment, Expander, PresetLocation};
use crate::resolve::expand::ExpansionStep;
use crate::resolve::reference_text::{ReferencePattern, is_constant, is_other_language};
use crate::resolve::shell_use::ShellUse;
use crate::resolve::value::UnknownReason;
use crate::syntax::{has_placeholder, mask_expressions, may_become, may_start_with};

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
    /// Its entry is optional and left out, since the key or file of its source does not exist (B17).
    Skipped,
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
    /// The container links the service with a prefix, so that the variable has another name.
    Prefixed {
        /// The service.
        service: Arc<str>,
        /// The prefix.
        prefix: Arc<str>,
    },
}

/// A text with references.
#[derive(Clone, Copy)]
pub(super) struct ReferencePlace<'p> {
    pub(super) text: &'p Text,
    pub(super) field: ContainerField,
    /// The preset that contains it, if one does.
    pub(super) preset: Option<BuiltObject<'p>>,
    /// The variable whose value it is.
    pub(super) own: Option<&'p str>,
    /// Whether a shell reads it.
    pub(super) shell: ShellUse,
}

impl UnresolvedReason {
    /// Why a reference is not expanded; `None` if it is, if something that is not known may define it, or if it is text for
    /// a shell or of another language.
    pub(super) fn of(
        environment: &Environment<'_>,
        expander: &Expander<'_>,
        place: &ReferencePlace<'_>,
        step: &ExpansionStep,
    ) -> Option<Self> {
        let in_container = || environment.lookup(VariableScope::All, &step.name);
        let is_script = place.shell == ShellUse::Yes;
        match &step.outcome {
            Lookup::Maybe(_) => None,
            // P3: the probe gets an empty text, the container a value.
            Lookup::Bound(seen) => {
                let has_value = || matches!(in_container(), Lookup::Bound(it) if !it.value.is_empty());
                (place.field.is_probe() && seen.value.is_empty() && has_value()).then_some(Self::EmptyInProbe)
            }
            Lookup::Later(_) if is_script => None,
            Lookup::Later(_) if place.own == Some(&*step.name) => Some(Self::SelfReference),
            Lookup::Later(_) => Some(Self::Forward),
            Lookup::Unbound if place.field.is_probe() && !matches!(in_container(), Lookup::Unbound) => {
                // In a script a lower-case word is probably a command.
                let may_be_command = place.shell != ShellUse::No && step.name.bytes().any(|it| it.is_ascii_lowercase());
                let is_in_container = match in_container() {
                    Lookup::Bound(_) => true,
                    // The probe does not see it, whether or not the key exists.
                    Lookup::Maybe(
                        UnknownReason::ConfigMapKey(..)
                        | UnknownReason::SecretKey(..)
                        | UnknownReason::ServiceVariable(_),
                    ) => place.shell == ShellUse::No,
                    Lookup::Maybe(_) | Lookup::Later(_) | Lookup::Unbound => false,
                };
                (is_in_container && !may_be_command).then_some(Self::Probe)
            }
            Lookup::Unbound if !is_reference(environment, expander, place, step) => None,
            Lookup::Unbound if place.field.is_probe() => Some(Self::Undefined),
            // Of an entry without a value only the name is declared.
            Lookup::Unbound if environment.declares(&step.name) => Some(Self::Skipped),
            Lookup::Unbound => Some(match (expander.absence)(&step.name) {
                Some(absence) => Self::Service(Arc::new(absence)),
                None => Self::Undefined,
            }),
        }
    }

    /// What happens to the reference: `is not expanded`.
    pub fn effect(&self) -> &'static str {
        if *self == Self::EmptyInProbe { "is replaced by nothing" } else { "is not expanded" }
    }

    /// The name in the JSON output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Undefined | Self::Skipped => "undefined",
            Self::Forward => "forward",
            Self::SelfReference => "self",
            Self::Probe | Self::EmptyInProbe => "probe",
            Self::Service(absence) => match **absence {
                ServiceVariableAbsence::Headless(_) => "undefined",
                ServiceVariableAbsence::LinksOff
                | ServiceVariableAbsence::NotLinked(_)
                | ServiceVariableAbsence::Prefixed { .. } => "linksOff",
            },
        }
    }
}

/// The reason as a clause about the variable.
impl fmt::Display for UnresolvedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Undefined => "nothing defines it",
            Self::Skipped => "it is optional, and its source does not exist",
            Self::Forward => "it is declared later",
            Self::SelfReference => "it refers to itself",
            Self::Probe => "exec probes do not see it",
            Self::EmptyInProbe => "exec probes see only literal values",
            Self::Service(absence) => match &**absence {
                ServiceVariableAbsence::Prefixed { service, prefix } => {
                    return write!(f, "service {service} is linked with the prefix {prefix}");
                }
                ServiceVariableAbsence::Headless(_) => "its service has no cluster IP",
                ServiceVariableAbsence::LinksOff => "it is a service variable, and service links are off",
                ServiceVariableAbsence::NotLinked(_) => "this pod has only the variables of the services it links",
            },
        })
    }
}

/// Whether `$(x)` that nothing defines is a reference, and not text for a shell, a template engine or another language.
fn is_reference(
    environment: &Environment<'_>,
    expander: &Expander<'_>,
    place: &ReferencePlace<'_>,
    step: &ExpansionStep,
) -> bool {
    let name = &*step.name;
    // P4: whatever it is, the container does not start.
    if place.field.is_sub_path() {
        return !is_other_language(name) && !is_templated(expander, place, name);
    }
    let is_read_by_kubernetes_only = match place.shell {
        ShellUse::No => true,
        ShellUse::EntryPoint => is_constant(name),
        ShellUse::Maybe | ShellUse::Yes => false,
    };
    if !is_read_by_kubernetes_only || place.own.is_some_and(|own| environment.reaches_shell(own)) {
        return false;
    }
    let scope = place.field.variable_scope().unwrap_or(VariableScope::All);
    let declared = |word: &str| matches!(environment.lookup(scope, word), Lookup::Bound(_));
    match ReferencePattern::of(name, declared) {
        ReferencePattern::Other => false,
        ReferencePattern::Name => !is_templated(expander, place, name),
        _ => true,
    }
}

/// Whether a tool may define this name before Kubernetes sees the text: an expression in a name of `env` or in a prefix
/// of `envFrom` may give it.
fn is_templated(expander: &Expander<'_>, place: &ReferencePlace<'_>, name: &str) -> bool {
    let expression = |text: &Option<Text>| {
        let masked = mask_expressions(&text.as_ref()?.value);
        has_placeholder(&masked).then_some(masked)
    };
    let in_preset = place.preset.and_then(|it| it.preset()?.container());
    let prefixes = expander.of.container.env_from.iter().chain(in_preset.into_iter().flat_map(|it| &it.env_from));
    expander.listed.iter().filter_map(|it| expression(&it.entry.name)).any(|it| may_become(&it, name))
        || prefixes.filter_map(|it| expression(&it.prefix)).any(|it| may_start_with(&it, name))
}
