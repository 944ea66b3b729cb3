//! Variables that a controller adds before the kubelet sees the pod (B25, B26, T13.10).

use crate::k8s::{Container, ContainerRole, Injector, Object, Pod};
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
    /// A field, which a probe does not see.
    fn field(name: &'static str, what: &str) -> Self {
        Self { name, value: Value::hole(Hole::Injected(what.into())), raw: Value::default(), yields: true }
    }

    /// A plain value.
    fn literal(name: &'static str, value: Value) -> Self {
        Self { name, raw: value.clone(), value, yields: true }
    }
}

/// What this container gets from its controller.
pub(super) fn of(object: &Object, pod: &Pod, container: &Container) -> Injections {
    let mut all = Injections::default();
    if matches!(container.role, ContainerRole::Ephemeral | ContainerRole::Hook) {
        return all;
    }
    let hole = |what: &str| Value::hole(Hole::Injected(what.into()));
    match pod.injector {
        None => {}
        // B25.
        Some(Injector::IndexedJob) => all.after.push(Injected::field("JOB_COMPLETION_INDEX", "index of the Job's pod")),
        Some(Injector::Unknown) => all.opaque.push(Opaque::undeclared("the controller of this kind may set it")),
        Some(Injector::Knative) => knative(object, pod, container, &mut all),
        Some(Injector::LeaderWorkerSet) => {
            all.before.push(Injected::literal("LWS_LEADER_ADDRESS", hole("address of the group's leader")));
            all.before.push(Injected::literal("LWS_GROUP_SIZE", hole("size of the group")));
            all.before.push(Injected::field("LWS_WORKER_INDEX", "index of the worker"));
        }
    }
    all
}

/// B26.
fn knative(object: &Object, pod: &Pod, container: &Container, all: &mut Injections) {
    let kind = object.model.kind.as_ref().map_or("", |it| &it.value);
    let known = |kinds: &[&str], what: &str| match &object.model.name {
        Some(name) if kinds.contains(&kind) => parameters::filled(object, &name.value),
        _ => Value::hole(Hole::Injected(what.into())),
    };
    // They are added whether or not the user has them, and the last one wins.
    let mut push = |name, value| all.after.push(Injected { yields: false, ..Injected::literal(name, value) });
    push("K_REVISION", known(&["Revision"], "name of the revision"));
    push("K_CONFIGURATION", known(&["Service", "Configuration"], "name of the configuration"));
    push("K_SERVICE", known(&["Service"], "name of the Knative service"));
    if container.role == ContainerRole::Container {
        // Only the container with a port serves; with a single one it is clear which that is.
        if pod.containers.iter().filter(|it| it.role == ContainerRole::Container).count() == 1 {
            push("PORT", Value::hole(Hole::Injected("port of the container".into())));
        } else {
            all.opaque.push(Opaque::name("PORT", "Knative sets PORT in the container that serves"));
        }
    }
}
