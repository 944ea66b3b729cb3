//! The rule `invalid-value-source`.

use std::sync::Arc;

use crate::k8s::{Container, ContainerRole, EnvFrom, EnvVar, Text, ValueFrom, ValueSource};
use crate::resolve::{
    ENV_FIELDS, has_data_key_characters, is_dns_subdomain, is_env_field, is_env_resource, is_valid_divisor,
};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::placeholders::is_placeholder;
use crate::rules::shared::similar_names::{nearest_name, rename_fix};
use crate::rules::shared::source_objects::reference;
use crate::text::Span;

declare_rule! {
    /// Reports a variable whose source is wrong: both a value and a source, no source, several, or one that is refused.
    ///
    /// ## What it does
    /// Checks `valueFrom` and `envFrom` as the API server does: `value` together with `valueFrom`, no source or more
    /// than one, a `fieldPath`, `apiVersion`, `resource` or `divisor` that is not served, and a name or key that is
    /// empty or cannot exist. A `containerName` that the pod lacks is refused later, when the container starts. The
    /// finding covers the value that is wrong, and the variable's name where one is missing.
    ///
    /// ## Why it matters
    /// The API server refuses the whole object.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - name: POD
    ///           valueFrom: {fieldRef: {fieldPath: metadata.nmae}}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - name: POD
    ///           valueFrom: {fieldRef: {fieldPath: metadata.name}}
    /// ```
    ///
    /// ## Fix
    /// Writes the nearest field, resource or container. Unsafe: only the author knows what was meant.
    name: "invalid-value-source",
    level: Error,
    checks: [ContainerOrPreset(check)],
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let found: Vec<Finding> = {
        let env = container.container.env.iter().flat_map(|entry| variable(container, entry));
        env.chain(container.container.env_from.iter().filter_map(|entry| taken_in(container, entry))).collect()
    };
    // Branches of a template stand side by side in its text.
    if !found.is_empty() && !container.pod.object.file.is_template() {
        found.into_iter().for_each(|finding| findings.push(finding));
    }
}

fn variable(container: &ContainerContext<'_>, entry: &EnvVar) -> Vec<Finding> {
    let Some(from) = &entry.from else { return Vec::new() };
    let place = entry.name.as_ref().map_or(from.span, |it| it.span);
    let name = entry.name.as_ref().map_or("", |it| &it.value);
    let mut found = Vec::new();
    // V7.
    match (&from.sources[..], &entry.value) {
        ([], _) => found.extend(without_source(container, from, name, place)),
        (_, Some(value)) if !value.value.is_empty() => {
            let finding = Finding::new(container.at(value.span), name, "`value` and `valueFrom` exclude each other");
            found.push(finding.related(container.at(from.span), "the source").help("remove one of the two"));
        }
        _ => {}
    }
    if from.sources.len() > 1 {
        let message = format!("`valueFrom` has {} sources, and exactly one is allowed", from.sources.len());
        found.push(Finding::new(container.at(place), name, message));
    }
    for source in &from.sources {
        check_source(container, source, name, place, &mut found);
    }
    found
}

/// `valueFrom` with nothing in it, or only with keys that no release knows.
fn without_source(container: &ContainerContext<'_>, from: &ValueFrom, name: &str, place: Span) -> Option<Finding> {
    const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let unknown = from.others.iter().find(|it| !SOURCES.contains(&&*it.value));
    match unknown {
        // Directives of a patch.
        Some(key) if key.value.starts_with('$') => None,
        // A resource of someone else may have sources of its own.
        Some(_) if !is_built_in(container) => None,
        Some(key) => Some(misspelt(container, key, "source of a value", &SOURCES)),
        None if container.is_partial() => None,
        None => Some(
            Finding::new(container.at(place), name, "`valueFrom` has no source")
                .help(format!("write one of {}", SOURCES.join(", "))),
        ),
    }
}

/// V6.
fn taken_in(container: &ContainerContext<'_>, entry: &EnvFrom) -> Option<Finding> {
    const SOURCES: [&str; 2] = ["configMapRef", "secretRef"];
    let second = entry.others.iter().find(|it| SOURCES.contains(&&*it.value));
    match (&entry.source, second) {
        (Some(_), Some(second)) => {
            Some(Finding::new(container.at(second.span), &second.value, "an entry of `envFrom` has exactly one source"))
        }
        (Some(_), None) => match reference(entry)? {
            (_, Some(name), _) => object_name(container, name),
            (_, None, _) => {
                Some(Finding::new(container.at(entry.span), "name", "an entry of `envFrom` needs a `name`"))
            }
        },
        (None, _) => {
            let unknown = entry.others.iter().find(|it| !SOURCES.contains(&&*it.value) && &*it.value != "service");
            let unknown = unknown.filter(|it| !it.value.starts_with('$') && is_built_in(container));
            let misspelt = |key| misspelt(container, key, "source of `envFrom`", &SOURCES);
            // An entry in which nothing is typed yet is left alone.
            let alone = entry.prefix.as_ref().filter(|_| entry.others.is_empty() && !container.is_partial());
            let without = |prefix: &Text| {
                Finding::new(container.at(prefix.span), &prefix.value, "an entry of `envFrom` has no source")
                    .help(format!("write one of {}", SOURCES.join(", ")))
            };
            unknown.map(misspelt).or_else(|| alone.map(without))
        }
    }
}

/// Whether the pod belongs to one of Kubernetes' own kinds, whose fields are known.
fn is_built_in(container: &ContainerContext<'_>) -> bool {
    let group = |text: &Text| text.value.split_once('/').map_or(String::new(), |(group, _)| group.to_owned());
    let version = container.pod.object.object.model.api_version.as_ref();
    version.is_some_and(|it| matches!(group(it).as_str(), "" | "apps" | "batch"))
}

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
fn check_source(
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
fn object_name(container: &ContainerContext<'_>, name: &Text) -> Option<Finding> {
    if is_placeholder(&name.value) || is_dns_subdomain(&name.value) {
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
fn misspelt(container: &ContainerContext<'_>, text: &Text, what: &str, known: &[&str]) -> Finding {
    let finding = Finding::new(container.at(text.span), &text.value, format!("`{}` is no {what}", text.value));
    match nearest_name(&text.value, known.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).fix(rename_fix(container.pod.object, text, near)),
        None => finding.help(format!("expected one of {}", known.join(", "))),
    }
}

/// Something that is missing; a patch may leave it to what it is laid on.
fn missing(container: &ContainerContext<'_>, place: Span, name: &str, message: &str) -> Option<Finding> {
    (!container.is_partial()).then(|| Finding::new(container.at(place), name, message))
}

fn divided(container: &ContainerContext<'_>, resource: &str, divisor: &Text) -> Option<Finding> {
    if is_placeholder(&divisor.value) || is_valid_divisor(resource, &divisor.value) {
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
    has_data_key_characters(key) && key.len() <= 253 && key != "." && !key.starts_with("..")
}
