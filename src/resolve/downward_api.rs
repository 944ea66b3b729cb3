//! The downward API (B21 to B24): fields of the pod and resources of its containers, as far as manifests decide them.

use std::sync::Arc;

use crate::build::{Admission, AdmissionContext, BuiltPod, MatchingPreset, Quantity, split_subscript};
use crate::k8s::{Container, ContainerRole, Pod, Text};
use crate::resolve::value::{ResolvedValue, UnknownReason};
use crate::syntax::{has_placeholder, may_be_replaced, may_become};

/// The value of `fieldRef.fieldPath` in a pod of an object. With `is_open` the pod may have more fields than the
/// manifest shows, so an absent field does not have its default.
pub(super) fn field(of: BuiltPod<'_>, path: &str, is_open: bool) -> ResolvedValue {
    let BuiltPod { object, pod } = of;
    let written = |text: &Text| ResolvedValue::written(Arc::clone(&text.value));
    let entry = |entries: &[(Text, Text)], key: &str| {
        let found = entries.iter().rev().find(|(it, _)| &*it.value == key);
        // A part of a key that is not known may make it another key.
        let may_be_another = || has_placeholder(key) || entries.iter().any(|(it, _)| may_become(&it.value, key));
        match found {
            Some((_, value)) => Some(written(value)),
            None if is_open || may_be_added(key, pod) || may_be_another() => None,
            // B22.
            None => Some(ResolvedValue::default()),
        }
    };
    let known = match path {
        "metadata.name" => pod.name.as_ref().map(written),
        "metadata.namespace" => object.namespace().map(|it| ResolvedValue::written(Arc::clone(it))),
        // B21.
        "spec.nodeName" | "spec.host" => pod.node_name.as_ref().map(written),
        "spec.serviceAccountName" => match &pod.service_account {
            Some(name) => Some(written(name)),
            // The ServiceAccount admission plugin sets it.
            None => (!is_open).then(|| ResolvedValue::text("default")),
        },
        _ => match split_subscript(path) {
            Some(("metadata.labels", key)) => entry(&pod.labels, key),
            Some(("metadata.annotations", key)) => entry(&pod.annotations, key),
            _ => None,
        },
    };
    known.unwrap_or_else(|| ResolvedValue::unknown(UnknownReason::Field(path.into())))
}

/// The value of the annotation that a preset adds to the pod (A10); `None` if no preset adds this one.
pub(super) fn preset_annotation(of: BuiltPod<'_>, path: &str, context: AdmissionContext) -> Option<ResolvedValue> {
    let (_, key) = split_subscript(path).filter(|(map, _)| *map == "metadata.annotations")?;
    let name = key.strip_prefix("podpreset.admission.kubernetes.io/")?;
    let admission = Admission::for_pod(of, context)?;
    let unknown = || Some(ResolvedValue::unknown(UnknownReason::Field(path.into())));
    let is_same = |it: &&MatchingPreset<'_>| it.annotation == key;
    match admission.presets.iter().find(is_same) {
        Some(it) if it.applied && it.is_certain => match it.preset().and_then(|it| it.resource_version.as_ref()) {
            Some(version) => Some(ResolvedValue::written(Arc::clone(&version.value))),
            None => unknown(),
        },
        Some(it) if it.applied => unknown(),
        None if has_placeholder(key) => unknown(),
        _ if admission.possible.iter().any(|it| name.ends_with(&*it.name) || may_be_replaced(&it.name)) => unknown(),
        _ if admission.presets.iter().any(|it| {
            let prefix = it.annotation.trim_end_matches('*');
            it.applied && it.has_generated_name() && key.starts_with(prefix)
        }) =>
        {
            unknown()
        }
        _ => None,
    }
}

/// Whether a controller may add a label with this key to the pod.
fn may_be_added(key: &str, pod: &Pod) -> bool {
    // A Pod with a name is not created by a controller.
    pod.name.is_none() && pod.controller.may_add_label(key)
}

/// The fields of a `resourceFieldRef`, and what its value depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ResourceQuery<'a> {
    /// `containerName`
    pub(super) container: Option<&'a str>,
    /// `resource`
    pub(super) resource: Option<&'a str>,
    /// `divisor`
    pub(super) divisor: Option<&'a str>,
    /// Whether the release uses limits of the whole pod for containers without limits.
    pub(super) has_pod_limits: bool,
    /// Whether the pod may have more fields than the manifest shows.
    pub(super) is_open: bool,
}

impl<'a> ResourceQuery<'a> {
    /// `containerName`, unless it is empty.
    fn named(&self) -> Option<&'a str> {
        self.container.filter(|it| !it.is_empty())
    }
}

/// The value of a `resourceFieldRef` in a container.
pub(super) fn resource(pod: &Pod, own: &Container, query: ResourceQuery<'_>) -> ResolvedValue {
    let Some(resource) = query.resource else { return ResolvedValue::unknown(UnknownReason::Unfinished) };
    let name = query.named();
    let unknown = || {
        let owner = name.map_or(String::new(), |it| format!(" of container {it}"));
        ResolvedValue::unknown(UnknownReason::Resource(format!("{resource}{owner}").into()))
    };
    let target = match name {
        None => own,
        // B24: regular containers first, then init containers, never ephemeral containers.
        Some(name) => {
            let named = |init: bool| {
                pod.containers.iter().find(|it| {
                    let fits = if init {
                        matches!(it.role, ContainerRole::Init | ContainerRole::Sidecar)
                    } else {
                        it.role == ContainerRole::Container
                    };
                    fits && it.name.as_ref().is_some_and(|it| &*it.value == name)
                })
            };
            match named(false).or_else(|| named(true)) {
                Some(found) => found,
                None if lacks_container(pod, name, query.is_open) => {
                    return ResolvedValue::unknown(UnknownReason::MissingContainer(name.into()));
                }
                None => return unknown(),
            }
        }
    };
    quantity_of(pod, target, resource, query).map_or_else(unknown, |it| ResolvedValue::text(it.to_string()))
}

/// Containers that webhooks add to pods.
const INJECTED: [&str; 4] = ["istio-proxy", "linkerd-proxy", "vault-agent", "queue-proxy"];

/// Whether no part of the workspace and no known webhook can add a container of this name.
fn lacks_container(pod: &Pod, name: &str, is_open: bool) -> bool {
    let is_whole = |it: &Arc<Container>| it.image.is_some() && it.role != ContainerRole::Hook;
    let is_known = |it: &Arc<Container>| it.name.as_ref().is_none_or(|it| !may_be_replaced(&it.value));
    let is_certain = !is_open && !may_be_replaced(name) && !INJECTED.contains(&name);
    is_certain && pod.containers.iter().all(|it| is_whole(it) && is_known(it))
}

fn quantity_of(pod: &Pod, target: &Container, resource: &str, query: ResourceQuery<'_>) -> Option<i64> {
    let (section, what) = resource.split_once('.')?;
    let find = |list: &[(Text, Text)]| {
        list.iter().rev().find(|(name, _)| &*name.value == what).map(|(_, amount)| Arc::clone(&amount.value))
    };
    // X1: a limit of zero counts as not set.
    let find_limit = |list: &[(Text, Text)]| find(list).filter(|it| Quantity::parse(it).is_none_or(|it| !it.is_zero()));
    let is_init = matches!(target.role, ContainerRole::Init | ContainerRole::Sidecar);
    // X2, X3: defaults are filled in for regular containers and for the container itself, and not for huge pages.
    let lacks_default = what.starts_with("hugepages-") || is_init && query.named().is_some();
    let amount = match section {
        "limits" => match find_limit(&target.limits) {
            Some(amount) => amount,
            None if query.is_open => return None,
            None if lacks_default => "0".into(),
            // B24: then the limits of the pod; without these the node decides.
            None if query.has_pod_limits => find_limit(&pod.limits)?,
            None => return None,
        },
        "requests" => match find(&target.requests) {
            Some(amount) => amount,
            None if query.is_open => return None,
            // The API server copies a limit into an absent request before the kubelet sees the pod.
            None => find(&target.limits).unwrap_or_else(|| "0".into()),
        },
        _ => return None,
    };
    // V10: a divisor of zero counts as absent; a text that is not a quantity is refused.
    let divisor = match query.divisor.filter(|it| !it.is_empty()) {
        Some(text) => Some(Quantity::parse(text)?).filter(|it| !it.is_zero()),
        None => None,
    };
    Quantity::parse(&amount)?.divided(divisor.or_else(|| Quantity::parse("1"))?, what == "cpu")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::BuiltObject;
    use crate::k8s::{Model, Object};
    use crate::workspace::Snapshot;

    fn text(value: &str) -> Text {
        Text::of(value)
    }

    #[test]
    fn values_of_fields() {
        let model = Model { namespace: Some(text("shop")), ..Model::default() };
        let source = Object { offset: 0, model: Arc::new(model), template: None };
        let (snapshot, file) = (Snapshot::default(), "a.yaml".into());
        let object = BuiltObject::as_written(&snapshot, &file, &source);
        let pod = Pod { name: Some(text("web")), labels: vec![(text("app"), text("x"))], ..Pod::default() };
        let shown = |path: &str| field(BuiltPod { object, pod: &pod }, path, false).to_string();
        assert_eq!(shown("metadata.name"), "web");
        assert_eq!(shown("metadata.namespace"), "shop");
        assert_eq!(shown("metadata.labels['app']"), "x");
        assert_eq!(shown("metadata.annotations['none']"), "");
        assert_eq!(shown("spec.serviceAccountName"), "default");
        assert_eq!(shown("spec.host"), "<field spec.host>");
        assert_eq!(shown("status.podIP"), "<field status.podIP>");
        let made =
            |path: &str, is_open: bool| field(BuiltPod { object, pod: &Pod::default() }, path, is_open).to_string();
        assert_eq!(made("metadata.name", false), "<field metadata.name>");
        assert_eq!(made("metadata.labels['job-name']", false), "<field metadata.labels['job-name']>");
        assert_eq!(made("metadata.labels['app']", false), "");
        assert_eq!(made("metadata.labels['app']", true), "<field metadata.labels['app']>");
        assert_eq!(made("spec.serviceAccountName", true), "<field spec.serviceAccountName>");
    }

    #[test]
    fn values_of_resources() {
        let own = Container {
            limits: vec![(text("memory"), text("1Gi")), (text("cpu"), text("1500m"))],
            requests: vec![(text("cpu"), text("250m"))],
            ..Container::default()
        };
        let pod = Pod { limits: vec![(text("ephemeral-storage"), text("1Gi"))], ..Pod::default() };
        let show = |query: ResourceQuery<'_>| resource(&pod, &own, query).to_string();
        let shown = |name: &str, divisor: Option<&str>| {
            show(ResourceQuery { resource: Some(name), divisor, ..ResourceQuery::default() })
        };
        assert_eq!(shown("limits.cpu", None), "2");
        assert_eq!(shown("limits.cpu", Some("1m")), "1500");
        assert_eq!(shown("limits.memory", Some("1Mi")), "1024");
        assert_eq!(shown("limits.memory", Some("0")), "1073741824");
        assert_eq!(shown("requests.cpu", Some("1m")), "250");
        assert_eq!(shown("requests.memory", Some("1Gi")), "1");
        assert_eq!(shown("requests.ephemeral-storage", None), "0");
        assert_eq!(shown("limits.ephemeral-storage", None), "<resource limits.ephemeral-storage>");
        let storage = ResourceQuery {
            resource: Some("limits.ephemeral-storage"),
            divisor: Some("1Mi"),
            ..ResourceQuery::default()
        };
        assert_eq!(show(ResourceQuery { has_pod_limits: true, ..storage }), "1024");
        let pages = ResourceQuery { resource: Some("limits.hugepages-2Mi"), ..ResourceQuery::default() };
        assert_eq!(show(pages), "0", "X3");
        assert_eq!(show(ResourceQuery { is_open: true, ..pages }), "<resource limits.hugepages-2Mi>");
        let requests = ResourceQuery { resource: Some("requests.ephemeral-storage"), ..ResourceQuery::default() };
        assert_eq!(show(ResourceQuery { has_pod_limits: true, ..requests }), "0");
        assert_eq!(show(ResourceQuery { is_open: true, ..requests }), "<resource requests.ephemeral-storage>");
        let other =
            ResourceQuery { container: Some("other"), resource: Some("limits.cpu"), ..ResourceQuery::default() };
        assert_eq!(show(other), "<resource of missing container other>", "B24");
        assert_eq!(show(ResourceQuery { is_open: true, ..other }), "<resource limits.cpu of container other>");
    }

    #[test]
    fn limits_of_zero_and_of_init_containers() {
        let init = |name: &str, limits: Vec<(Text, Text)>| {
            Arc::new(Container { name: Some(text(name)), role: ContainerRole::Init, limits, ..Container::default() })
        };
        let own = Container { limits: vec![(text("cpu"), text("0"))], ..Container::default() };
        let set = vec![(text("cpu"), text("3"))];
        let pod = Pod {
            limits: vec![(text("cpu"), text("4"))],
            containers: vec![init("prepare", Vec::new()), init("zero", own.limits.clone()), init("set", set)],
            ..Pod::default()
        };
        let cpu = ResourceQuery { resource: Some("limits.cpu"), ..ResourceQuery::default() };
        // X1: the limit of the pod since 1.34, before that the node decides.
        assert_eq!(resource(&pod, &own, cpu).to_string(), "<resource limits.cpu>");
        assert_eq!(resource(&pod, &own, ResourceQuery { has_pod_limits: true, ..cpu }).to_string(), "4");
        // X2.
        for (name, value) in [("prepare", "0"), ("zero", "0"), ("set", "3")] {
            let query = ResourceQuery { container: Some(name), has_pod_limits: true, ..cpu };
            assert_eq!(resource(&pod, &own, query).to_string(), value, "{name}");
        }
        // The container itself has the default, if it is not named.
        let query = ResourceQuery { has_pod_limits: true, ..cpu };
        assert_eq!(resource(&pod, &pod.containers[0], query).to_string(), "4");
    }
}
