//! The downward API (B21 to B24): fields of the pod and resources of its containers, as far as the manifest says them.

use std::sync::Arc;

use crate::k8s::{Container, Model, Pod, Role, Text};
use crate::resolve::quantity::Quantity;
use crate::resolve::value::{Hole, Value};

/// The value of `fieldRef.fieldPath`.
pub fn field(model: &Model, pod: &Pod, path: &str) -> Value {
    let known = match path {
        "metadata.name" => pod.name.as_ref().map(|it| Arc::clone(&it.value)),
        "metadata.namespace" => model.namespace.as_ref().map(|it| Arc::clone(&it.value)),
        // B21.
        "spec.nodeName" | "spec.host" => pod.node_name.as_ref().map(|it| Arc::clone(&it.value)),
        // The ServiceAccount admission plugin fills in `default`.
        "spec.serviceAccountName" => {
            Some(pod.service_account.as_ref().map_or_else(|| "default".into(), |it| Arc::clone(&it.value)))
        }
        _ => match subscript(path) {
            Some(("metadata.labels", key)) => entry(&pod.labels, key, pod),
            Some(("metadata.annotations", key)) => entry(&pod.annotations, key, pod),
            _ => None,
        },
    };
    match known {
        Some(text) => Value::text(text),
        None => Value::hole(Hole::Field(path.into())),
    }
}

/// `metadata.labels['key']` in its two parts.
fn subscript(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['")
}

/// A label or annotation. A missing one is empty (B22), unless a controller adds it to the pods it makes.
fn entry(entries: &[(Text, Text)], key: &str, pod: &Pod) -> Option<Arc<str>> {
    let found = entries.iter().rev().find(|(it, _)| &*it.value == key);
    match found {
        Some((_, value)) => Some(Arc::clone(&value.value)),
        None if pod.name.is_some() || !is_added_later(key) => Some("".into()),
        None => None,
    }
}

/// Whether controllers put this key on the pods they make.
fn is_added_later(key: &str) -> bool {
    key.contains('/')
        || matches!(
            key,
            "pod-template-hash"
                | "pod-template-generation"
                | "controller-revision-hash"
                | "rollouts-pod-template-hash"
                | "controller-uid"
                | "job-name"
                | "deployment"
                | "deploymentconfig"
        )
}

/// The value of `resourceFieldRef`.
pub(super) fn resource(
    pod: &Pod,
    own: &Container,
    container: Option<&str>,
    resource: Option<&str>,
    divisor: Option<&str>,
) -> Value {
    let Some(resource) = resource else { return Value::hole(Hole::Unfinished) };
    let name = container.filter(|it| !it.is_empty());
    let hole = || {
        let whose = name.map_or(String::new(), |it| format!(" of container {it}"));
        Value::hole(Hole::Resource(format!("{resource}{whose}").into()))
    };
    let target = match name {
        None => own,
        // B24: regular containers first, then init containers, never ephemeral ones.
        Some(name) => {
            let named = |init: bool| {
                pod.containers.iter().find(|it| {
                    let fits =
                        if init { matches!(it.role, Role::Init | Role::Sidecar) } else { it.role == Role::Container };
                    fits && it.name.as_ref().is_some_and(|it| &*it.value == name)
                })
            };
            match named(false).or_else(|| named(true)) {
                Some(found) => found,
                None => return hole(),
            }
        }
    };
    quantity_of(target, resource, divisor).map_or_else(hole, |it| Value::text(it.to_string()))
}

fn quantity_of(target: &Container, resource: &str, divisor: Option<&str>) -> Option<i64> {
    let (section, what) = resource.split_once('.')?;
    let find = |list: &[(Text, Text)]| {
        list.iter().rev().find(|(name, _)| &*name.value == what).map(|(_, amount)| Arc::clone(&amount.value))
    };
    let amount = match section {
        // Without a limit the node decides.
        "limits" => find(&target.limits)?,
        // The API server copies a limit into an absent request before the kubelet sees the pod.
        "requests" => find(&target.requests).or_else(|| find(&target.limits)).unwrap_or_else(|| "0".into()),
        _ => return None,
    };
    let one = Quantity::parse("1")?;
    let divisor = match divisor {
        Some(text) if !text.is_empty() => Quantity::parse(text).filter(|it| !it.is_zero()).or_else(|| {
            // B24: zero counts as absent; what is no quantity is refused.
            Quantity::parse(text).map(|_| one)
        })?,
        _ => one,
    };
    Quantity::parse(&amount)?.divided(divisor, what == "cpu")
}

/// Fields that an environment variable may take its value from (V8).
pub const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Whether a `fieldPath` can be used for a variable (V8, B21).
pub fn is_env_field(path: &str) -> bool {
    let entry = |(map, key): (&str, &str)| match map {
        "metadata.labels" => is_qualified_name(key),
        // V8: keys of annotations count in small letters.
        "metadata.annotations" => is_qualified_name(&key.to_ascii_lowercase()),
        _ => false,
    };
    ENV_FIELDS.contains(&path) || path == "spec.host" || subscript(path).is_some_and(entry)
}

/// A label's key: a name, or a name behind a DNS prefix.
pub(super) fn is_qualified_name(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let edge = |it: Option<u8>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    let inner = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    prefix.is_none_or(is_subdomain)
        && name.len() <= 63
        && edge(name.bytes().next())
        && edge(name.bytes().last())
        && name.bytes().all(inner)
}

/// A DNS-1123 subdomain, as names of objects are. A dash at the end is let through, as some checks do.
pub fn is_subdomain(name: &str) -> bool {
    let part = |it: &str| {
        let inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
        !it.is_empty() && !it.starts_with('-') && it.bytes().all(inner)
    };
    name.len() <= 253 && name.split('.').all(part)
}

/// Whether a `resource` can be used for a variable (V10).
pub fn is_env_resource(resource: &str) -> bool {
    let Some((section, what)) = resource.split_once('.') else { return false };
    let known = matches!(what, "cpu" | "memory" | "ephemeral-storage") || what.starts_with("hugepages-");
    matches!(section, "limits" | "requests") && known
}

/// Whether a `divisor` fits a resource (V10).
pub fn is_divisor(resource: &str, divisor: &str) -> bool {
    let Some(divisor) = Quantity::parse(divisor) else { return false };
    let allowed: &[&str] = if resource.ends_with(".cpu") {
        &["1", "1m"]
    } else {
        &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"]
    };
    divisor.is_zero() || allowed.iter().any(|it| Quantity::parse(it) == Some(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ScalarStyle;
    use crate::text::Span;

    fn text(value: &str) -> Text {
        Text { value: value.into(), span: Span::default(), style: ScalarStyle::Plain, is_string: true }
    }

    #[test]
    fn fields_the_manifest_decides() {
        let model = Model { namespace: Some(text("shop")), ..Model::default() };
        let pod = Pod { name: Some(text("web")), labels: vec![(text("app"), text("x"))], ..Pod::default() };
        let shown = |path: &str| field(&model, &pod, path).to_string();
        assert_eq!(shown("metadata.name"), "web");
        assert_eq!(shown("metadata.namespace"), "shop");
        assert_eq!(shown("metadata.labels['app']"), "x");
        assert_eq!(shown("metadata.annotations['none']"), "");
        assert_eq!(shown("spec.serviceAccountName"), "default");
        assert_eq!(shown("spec.host"), "<field spec.host>");
        assert_eq!(shown("status.podIP"), "<field status.podIP>");
        let made = Pod::default();
        assert_eq!(field(&model, &made, "metadata.name").to_string(), "<field metadata.name>");
        assert_eq!(
            field(&model, &made, "metadata.labels['pod-template-hash']").to_string(),
            "<field metadata.labels['pod-template-hash']>"
        );
    }

    #[test]
    fn resources_in_divisors() {
        let own = Container {
            limits: vec![(text("memory"), text("1Gi")), (text("cpu"), text("1500m"))],
            requests: vec![(text("cpu"), text("250m"))],
            ..Container::default()
        };
        let pod = Pod::default();
        let shown = |name: &str, divisor: Option<&str>| resource(&pod, &own, None, Some(name), divisor).to_string();
        assert_eq!(shown("limits.cpu", None), "2");
        assert_eq!(shown("limits.cpu", Some("1m")), "1500");
        assert_eq!(shown("limits.memory", Some("1Mi")), "1024");
        assert_eq!(shown("limits.memory", Some("0")), "1073741824");
        assert_eq!(shown("requests.cpu", Some("1m")), "250");
        assert_eq!(shown("requests.memory", Some("1Gi")), "1");
        assert_eq!(shown("requests.ephemeral-storage", None), "0");
        assert_eq!(shown("limits.ephemeral-storage", None), "<resource limits.ephemeral-storage>");
        assert_eq!(
            resource(&pod, &own, Some("other"), Some("limits.cpu"), None).to_string(),
            "<resource limits.cpu of container other>"
        );
    }

    #[test]
    fn what_a_variable_may_ask_for() {
        for path in [
            "metadata.uid",
            "spec.host",
            "metadata.labels['a/b.c']",
            "metadata.annotations['App']",
            "metadata.annotations['Example.COM/Key']",
        ] {
            assert!(is_env_field(path), "{path}");
        }
        for path in [
            "metadata.labels",
            "metadata.labels['Example.COM/Key']",
            "spec.replicas",
            "metadata.labels[\"a\"]",
            "metadata.labels['']",
            "status.phase",
        ] {
            assert!(!is_env_field(path), "{path}");
        }
        assert!(is_env_resource("limits.hugepages-2Mi") && !is_env_resource("limits.gpu") && !is_env_resource("cpu"));
        assert!(
            is_divisor("limits.cpu", "1000m") && is_divisor("limits.memory", "1Mi") && is_divisor("limits.cpu", "0")
        );
        assert!(
            !is_divisor("limits.cpu", "1Mi") && !is_divisor("limits.memory", "1m") && !is_divisor("limits.cpu", "x")
        );
        assert!(is_subdomain("a.b-c1") && is_subdomain("a-") && !is_subdomain("A") && !is_subdomain("a..b"));
    }
}
