//! Variables that a controller adds before the kubelet sees the pod (B25, B26, T13.10).

use crate::k8s::{Container, ContainerRole, InjectedValue, InjectedVariable, InjectionTarget, Object, Pod};
use crate::resolve::parameters;
use crate::resolve::sources::Opaque;
use crate::resolve::value::{Hole, Value};

/// What a controller adds to a container.
#[derive(Debug, Default)]
pub(super) struct Injections {
    /// Before the user's entries.
    pub(super) before: Vec<Injected>,
    /// Behind them.
    pub(super) after: Vec<Injected>,
    /// Names that only some containers get.
    pub(super) opaque: Vec<Opaque>,
}

/// A variable of a controller.
#[derive(Debug)]
pub(super) struct Injected {
    /// Its name.
    pub(super) name: &'static str,
    /// Its value for the container.
    pub(super) value: Value,
    /// Its value for a probe: empty for a field (P3).
    pub(super) raw: Value,
    /// Whether an entry of the user's with that name keeps it away.
    pub(super) yields: bool,
}

impl Injected {
    fn new(variable: &InjectedVariable, object: &Object) -> Self {
        let hole = |what: &str| Value::hole(Hole::Injected(what.into()));
        let (value, raw) = match (variable.value, &object.model.name) {
            (InjectedValue::Field(what), _) => (hole(what), Value::default()),
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
pub(super) fn of(object: &Object, pod: &Pod, container: &Container) -> Injections {
    let mut all = Injections::default();
    if matches!(container.role, ContainerRole::Ephemeral | ContainerRole::Hook) {
        return all;
    }
    if pod.controller.is_unknown() {
        all.opaque.push(Opaque::undeclared("the controller of this kind may set it"));
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
                    all.opaque.push(Opaque::name(variable.name, reason));
                }
                is_single
            }
        };
        if is_injected {
            let list = if variable.is_first { &mut all.before } else { &mut all.after };
            list.push(Injected::new(variable, object));
        }
    }
    all
}
