//! What each source of a value may say (V8 to V11, B24).

use std::sync::Arc;

use crate::k8s::{Container, ContainerRole, Text, ValueSource};
use crate::resolve::{ENV_FIELDS, is_divisor, is_env_field, is_env_resource, is_key, is_subdomain};
use crate::rules::neighbours::{is_placeholder, nearest, renamed};
use crate::rules::{ContainerContext, Finding};
use crate::text::Span;

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
];

/// Containers that are put into pods on their way to the kubelet.
const INJECTED: [&str; 4] = ["istio-proxy", "linkerd-proxy", "vault-agent", "queue-proxy"];

/// Checks one source; `place` is where something that is missing is reported.
pub(super) fn check(
    container: &ContainerContext<'_>,
    source: &ValueSource,
    variable: &str,
    place: Span,
    found: &mut Vec<Finding>,
) {
    let missing = |field: &str, message: &str| missing(container, place, &format!("{variable} {field}"), message);
    match source {
        ValueSource::Field { api_version, path } => {
            let known = |text: &Text| is_env_field(&text.value) || is_placeholder(&text.value);
            match path {
                None => found.extend(missing("fieldPath", "`fieldRef` needs a `fieldPath`")),
                Some(path) if known(path) => {}
                Some(path) => found.push(misspelt(container, path, "field for a variable", &ENV_FIELDS)),
            }
            // V9.
            if let Some(version) = api_version.as_ref().filter(|it| !matches!(&*it.value, "" | "v1")) {
                let message = format!("fields are those of `v1`, not of `{}`", version.value);
                found.push(Finding::new(container.at(version.span), variable, message).help("remove `apiVersion`"));
            }
        }
        ValueSource::Resource { container: whose, resource, divisor } => {
            match resource {
                None => found.extend(missing("resource", "`resourceFieldRef` needs a `resource`")),
                Some(it) if is_placeholder(&it.value) => {}
                Some(it) if !is_env_resource(&it.value) => {
                    found.push(misspelt(container, it, "resource for a variable", &RESOURCES));
                }
                Some(it) => found.extend(divisor.as_ref().and_then(|divisor| divided(container, &it.value, divisor))),
            }
            found.extend(whose.as_ref().and_then(|whose| named_container(container, whose)));
        }
        ValueSource::ConfigMap(reference) | ValueSource::Secret(reference) => {
            // V11.
            match &reference.name {
                None => found.extend(missing("name", "the source needs the `name` of an object")),
                Some(name) => found.extend(object_name(container, name)),
            }
            match &reference.key {
                None => found.extend(missing("key", "the source needs a `key`")),
                Some(key) if is_placeholder(&key.value) || is_data_key(&key.value) => {}
                Some(key) => found.push(
                    Finding::new(container.at(key.span), &key.value, format!("`{}` cannot be a key", key.value))
                        .help("keys are letters, digits, `-`, `.` and `_`"),
                ),
            }
        }
        // Has a rule of its own.
        ValueSource::File { .. } => {}
    }
}

/// The name of an object that cannot exist.
pub(super) fn object_name(container: &ContainerContext<'_>, name: &Text) -> Option<Finding> {
    if is_placeholder(&name.value) || is_subdomain(&name.value) {
        return None;
    }
    let message = match &*name.value {
        "" => "the name of the object is empty".to_owned(),
        other => format!("`{other}` cannot be the name of an object"),
    };
    let help = "names are lower case letters, digits, `-` and `.`";
    Some(Finding::new(container.at(name.span), &name.value, message).help(help))
}

/// A word that is none of those known, with the nearest as a fix.
pub(super) fn misspelt(container: &ContainerContext<'_>, text: &Text, what: &str, known: &[&str]) -> Finding {
    let finding = Finding::new(container.at(text.span), &text.value, format!("`{}` is no {what}", text.value));
    match nearest(&text.value, known.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).fix(renamed(container.pod.object, text, near)),
        None => finding.help(format!("expected one of {}", known.join(", "))),
    }
}

/// Something that is missing; a patch may leave it to what it is laid on.
fn missing(container: &ContainerContext<'_>, place: Span, name: &str, message: &str) -> Option<Finding> {
    (!container.is_partial()).then(|| Finding::new(container.at(place), name, message))
}

fn divided(container: &ContainerContext<'_>, resource: &str, divisor: &Text) -> Option<Finding> {
    if is_placeholder(&divisor.value) || is_divisor(resource, &divisor.value) {
        return None;
    }
    let allowed = match resource.ends_with(".cpu") {
        true => "`1` or `1m`",
        false => "`1`, `1k` … `1E`, `1Ki` … `1Ei`",
    };
    let message = format!("`{}` does not divide `{resource}`", divisor.value);
    Some(Finding::new(container.at(divisor.span), resource, message).help(format!("write {allowed}")))
}

/// B24: looked for among regular and init containers when the container starts.
fn named_container(container: &ContainerContext<'_>, whose: &Text) -> Option<Finding> {
    let containers = container.siblings();
    let is_whole = |it: &Arc<Container>| it.image.is_some() && !matches!(it.role, ContainerRole::Hook);
    let name = &*whose.value;
    if name.is_empty() || is_placeholder(name) || INJECTED.contains(&name) || container.is_partial() {
        return None;
    }
    let looked_at = |it: &&Arc<Container>| !matches!(it.role, ContainerRole::Ephemeral | ContainerRole::Hook);
    let names: Vec<&str> =
        containers.iter().filter(looked_at).filter_map(|it| it.name.as_ref()).map(|it| &*it.value).collect();
    if names.contains(&name) || !containers.iter().all(is_whole) || names.iter().any(|it| is_placeholder(it)) {
        return None;
    }
    Some(misspelt(container, whose, "container of this pod", &names))
}

fn is_data_key(key: &str) -> bool {
    is_key(key) && key.len() <= 253 && key != "." && !key.starts_with("..")
}
