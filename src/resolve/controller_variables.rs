//! Variables that a controller adds to a container (B25, B26, T13.10).

use crate::k8s::{Container, ContainerRole, InjectedValue, InjectedVariable, InjectionTarget, Object, Pod};
use crate::resolve::env_sources::PossibleSource;
use crate::resolve::parameters;
use crate::resolve::value::{ResolvedValue, UnknownReason};

/// The variables that a controller adds to a container.
#[derive(Debug, Default)]
pub(super) struct ControllerVariables {
    /// Added before the entries of `env`.
    pub(super) before: Vec<ControllerVariable>,
    /// Added after the entries of `env`.
    pub(super) after: Vec<ControllerVariable>,
    /// Variables that only some containers get.
    pub(super) possible: Vec<PossibleSource>,
}

/// A variable that a controller adds.
#[derive(Debug)]
pub(super) struct ControllerVariable {
    /// Its name.
    pub(super) name: &'static str,
    /// Its value in the container.
    pub(super) value: ResolvedValue,
    /// Its value in an exec probe: empty for a field (P3).
    pub(super) raw: ResolvedValue,
    /// Whether it is not added if `env` has an entry of this name.
    pub(super) yields: bool,
}

impl ControllerVariable {
    fn new(variable: &InjectedVariable, object: &Object) -> Self {
        let unknown = |what: &str| ResolvedValue::unknown(UnknownReason::Injected(what.into()));
        let (value, raw) = match (variable.value, &object.model.name) {
            (InjectedValue::Field(what), _) => (unknown(what), ResolvedValue::default()),
            (InjectedValue::ObjectName(_), Some(name)) => {
                let value = parameters::substitute(object, &name.value);
                (value.clone(), value)
            }
            (InjectedValue::Text(what) | InjectedValue::ObjectName(what), _) => (unknown(what), unknown(what)),
        };
        Self { name: variable.name, value, raw, yields: variable.yields }
    }
}

/// The variables that the pod's controller adds to a container.
pub(super) fn collect(object: &Object, pod: &Pod, container: &Container) -> ControllerVariables {
    let mut all = ControllerVariables::default();
    if matches!(container.role, ContainerRole::Ephemeral | ContainerRole::Hook) {
        return all;
    }
    if pod.controller.is_unknown() {
        all.possible.push(PossibleSource::Undeclared);
    }
    for variable in pod.controller.injected() {
        let is_injected = match variable.target {
            InjectionTarget::All => true,
            InjectionTarget::IndexedJob => pod.is_indexed,
            InjectionTarget::Serving if container.role != ContainerRole::Container => false,
            InjectionTarget::Serving => {
                // With a single regular container it is known which one receives the traffic.
                let is_single = pod.containers.iter().filter(|it| it.role == ContainerRole::Container).count() == 1;
                if !is_single {
                    all.possible.push(PossibleSource::Name(variable.name.into()));
                }
                is_single
            }
        };
        if is_injected {
            let list = if variable.is_first { &mut all.before } else { &mut all.after };
            list.push(ControllerVariable::new(variable, object));
        }
    }
    all
}
