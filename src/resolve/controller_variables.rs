//! Variables that a controller adds to a container (B25, B26, T13.10).

use std::sync::Arc;

use crate::build::BuiltContainer;
use crate::k8s::{Container, ContainerRole, InjectedValue, InjectedVariable, InjectionTarget, Model, Text};
use crate::resolve::env_sources::PossibleSource;
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
    fn new(variable: &InjectedVariable, model: &Model) -> Self {
        let unknown = |what: &str| ResolvedValue::unknown(UnknownReason::Injected(what.into()));
        let (value, raw) = match (variable.value, &model.name) {
            (InjectedValue::Field(what), _) => (unknown(what), ResolvedValue::default()),
            (InjectedValue::ObjectName(_), Some(name)) => {
                let value = ResolvedValue::written(Arc::clone(&name.value));
                (value.clone(), value)
            }
            (InjectedValue::Text(what) | InjectedValue::ObjectName(what), _) => (unknown(what), unknown(what)),
        };
        Self { name: variable.name, value, raw, yields: variable.yields }
    }
}

/// The variables that the Kubernetes plugin of Jenkins adds to its agents.
const JENKINS_VARIABLES: [&str; 12] = [
    "JENKINS_SECRET",
    "JENKINS_NAME",
    "JENKINS_AGENT_NAME",
    "JENKINS_AGENT_WORKDIR",
    "JENKINS_URL",
    "JENKINS_JNLP_URL",
    "JENKINS_TUNNEL",
    "JENKINS_PROTOCOLS",
    "JENKINS_DIRECT_CONNECTION",
    "JENKINS_INSTANCE_IDENTITY",
    "JENKINS_WEB_SOCKET",
    "REMOTING_OPTS",
];

/// Whether Jenkins starts a container as its agent, by the name that its plugin expects or by its image.
fn is_jenkins_agent(container: &Container) -> bool {
    const IMAGES: [&str; 5] = ["jnlp", "inbound-agent", "jenkins-agent", "jenkins-slave", "jenkins/agent"];
    let has = |text: &Option<Text>, fits: &dyn Fn(&str) -> bool| text.as_ref().is_some_and(|it| fits(&it.value));
    has(&container.name, &|it| it == "jnlp") || has(&container.image, &|it| IMAGES.iter().any(|word| it.contains(word)))
}

/// The variables that the pod's controller adds to a container.
pub(super) fn collect(of: BuiltContainer<'_>) -> ControllerVariables {
    let BuiltContainer { object, pod, container } = of;
    let mut all = ControllerVariables::default();
    if matches!(container.role, ContainerRole::Ephemeral | ContainerRole::Hook) {
        return all;
    }
    if pod.controller.is_unknown() {
        all.possible.push(PossibleSource::Undeclared);
    }
    if is_jenkins_agent(container) {
        all.possible.extend(JENKINS_VARIABLES.map(|it| PossibleSource::Name(it.into())));
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
            list.push(ControllerVariable::new(variable, object.model));
        }
    }
    all
}
