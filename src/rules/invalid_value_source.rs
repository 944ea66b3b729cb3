//! `invalid-value-source`

mod sources;

use crate::k8s::{EnvFrom, EnvVar, Text, ValueFrom};
use crate::rules::neighbours::reference;
use crate::rules::{ContainerContext, Finding, Findings, declare_rule};

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
    INVALID_VALUE_SOURCE = "invalid-value-source", Error, Entries(check);
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
        sources::check(container, source, name, place, &mut found);
    }
    found
}

/// `valueFrom` with nothing in it, or only with keys that no release knows.
fn without_source(
    container: &ContainerContext<'_>,
    from: &ValueFrom,
    name: &str,
    place: crate::text::Span,
) -> Option<Finding> {
    const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let unknown = from.others.iter().find(|it| !SOURCES.contains(&&*it.value));
    match unknown {
        // Directives of a patch.
        Some(key) if key.value.starts_with('$') => None,
        // A resource of someone else may have sources of its own.
        Some(_) if !is_built_in(container) => None,
        Some(key) => Some(sources::misspelt(container, key, "source of a value", &SOURCES)),
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
            (_, Some(name), _) => sources::object_name(container, name),
            (_, None, _) => {
                Some(Finding::new(container.at(entry.span), "name", "an entry of `envFrom` needs a `name`"))
            }
        },
        (None, _) => {
            let unknown = entry.others.iter().find(|it| !SOURCES.contains(&&*it.value) && &*it.value != "service");
            let unknown = unknown.filter(|it| !it.value.starts_with('$') && is_built_in(container));
            let misspelt = |key| sources::misspelt(container, key, "source of `envFrom`", &SOURCES);
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
