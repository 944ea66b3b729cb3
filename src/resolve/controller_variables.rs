//! Variables that a controller adds before the kubelet sees the pod (B25, B26, T13.10).

use crate::k8s::{Container, ContainerRole, InjectedValue, InjectedVariable, InjectionTarget, Object, Pod};
use crate::resolve::env_sources::PossibleSource;
use crate::resolve::parameters;
use crate::resolve::value::{ResolvedValue, UnknownReason};

/// What a controller adds to a container.
#[derive(Debug, Default)]
pub(super) struct ControllerVariables {
    /// Before the user's entries.
    pub(super) before: Vec<ControllerVariable>,
    /// Behind them.
    pub(super) after: Vec<ControllerVariable>,
    /// Names that only some containers get.
    pub(super) opaque: Vec<PossibleSource>,
}

/// A variable of a controller.
#[derive(Debug)]
pub(super) struct ControllerVariable {
    /// Its name.
    pub(super) name: &'static str,
    /// Its value for the container.
    pub(super) value: ResolvedValue,
    /// Its value for a probe: empty for a field (P3).
    pub(super) raw: ResolvedValue,
    /// Whether an entry of the user's with that name keeps it away.
    pub(super) yields: bool,
}

impl ControllerVariable {
    fn new(variable: &InjectedVariable, object: &Object) -> Self {
        let hole = |what: &str| ResolvedValue::unknown(UnknownReason::Injected(what.into()));
        let (value, raw) = match (variable.value, &object.model.name) {
            (InjectedValue::Field(what), _) => (hole(what), ResolvedValue::default()),
            (InjectedValue::ObjectName(_), Some(name)) => {
                let value = parameters::filled(object, &name.value);
                (value.clone(), value)
            }
            (InjectedValue::Text(what) | InjectedValue::ObjectName(what), _) => (hole(what), hole(what)),
        };
        Self { name: variable.name, value, raw, yields: variable.yields }
    }
}

/// What this container gets from its controller.
pub(super) fn of(object: &Object, pod: &Pod, container: &Container) -> ControllerVariables {
    let mut all = ControllerVariables::default();
    if matches!(container.role, ContainerRole::Ephemeral | ContainerRole::Hook) {
        return all;
    }
    if pod.controller.is_unknown() {
        all.opaque.push(PossibleSource::undeclared("the controller of this kind may set it"));
    }
    for variable in pod.controller.injected() {
        let is_injected = match variable.target {
            InjectionTarget::All => true,
            InjectionTarget::IndexedJob => pod.is_indexed,
            InjectionTarget::Serving(_) if container.role != ContainerRole::Container => false,
            InjectionTarget::Serving(reason) => {
                // With a single regular container it is clear which one serves.
                let is_single = pod.containers.iter().filter(|it| it.role == ContainerRole::Container).count() == 1;
                if !is_single {
                    all.opaque.push(PossibleSource::name(variable.name, reason));
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
