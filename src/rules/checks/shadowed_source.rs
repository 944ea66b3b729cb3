//! The rule `shadowed-source`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{EnvVar, ValueSource};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::source_objects::reference;

declare_rule! {
    /// Reports a key of `envFrom` that never arrives, since `env` or a later `envFrom` has its name.
    ///
    /// ## What it does
    /// Looks for keys of ConfigMaps and Secrets in `envFrom` whose variable is declared in `env`, or given by a later
    /// entry of `envFrom`. A value that uses the hidden one, such as `$(OPTIONS) --more`, is fine, and so is an optional
    /// key that may be absent. The finding covers the name of the entry that hides.
    ///
    /// ## Why it matters
    /// Changing the key changes nothing, and nothing says so: Kubernetes takes `env` over `envFrom`, and later entries
    /// over earlier ones.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data: {CURRENCY: EUR}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - configMapRef: {name: settings}
    ///       env:
    ///         - {name: CURRENCY, value: USD}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data: {CURRENCY: USD}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - configMapRef: {name: settings}
    /// ```
    ///
    /// ## Fix
    /// None: only the author knows which of the two is meant.
    name: "shadowed-source",
    level: Info,
    checks: [Container(check)],
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    if container.container.env_from.is_empty() || container.is_partial() {
        return;
    }
    let mut found = Vec::new();
    let mut given: BTreeMap<Arc<str>, Location> = BTreeMap::new();
    for entry in &container.container.env_from {
        let new = container.given(entry);
        let hidden: Vec<(&Arc<str>, &Location)> = new.keys().filter_map(|name| given.get_key_value(name)).collect();
        if let (Some((_, first)), Some((_, Some(name), _))) = (hidden.first(), reference(entry)) {
            let names: Vec<String> = hidden.iter().take(3).map(|(name, _)| format!("`{name}`")).collect();
            let more = if hidden.len() > 3 { format!(" and {} more", hidden.len() - 3) } else { String::new() };
            found.push(
                Finding::new(
                    container.at(name.span),
                    &name.value,
                    format!("`{}` hides {}{more} of an earlier `envFrom`", name.value, names.join(", ")),
                )
                .related((*first).clone(), "hidden")
                .help("give one of the two a `prefix`, or remove the keys from one")
                .unnecessary(),
            );
        }
        given.extend(new);
    }
    for entry in &container.container.env {
        let Some(name) = &entry.name else { continue };
        // Taken out: of several entries of one name the first hides the source.
        let Some(hidden) = given.remove(&name.value) else { continue };
        if uses_hidden(entry, &name.value) || is_optional(entry) {
            continue;
        }
        found.push(
            Finding::new(
                container.at(name.span),
                &name.value,
                format!("`{}` hides the key that `envFrom` brings", name.value),
            )
            .related(hidden, "hidden")
            .help("remove one of the two")
            .unnecessary(),
        );
    }
    // Branches of a template stand side by side in its text.
    if !found.is_empty() && !container.pod.object.file.is_template() {
        found.into_iter().for_each(|finding| findings.push(finding));
    }
}

fn uses_hidden(entry: &EnvVar, name: &str) -> bool {
    entry.value.as_ref().is_some_and(|it| it.value.contains(&format!("$({name})")))
}

/// B17: an entry that is skipped leaves the source as it is, so it is a choice between the two.
fn is_optional(entry: &EnvVar) -> bool {
    entry.from.as_ref().is_some_and(|from| match from.sources.first() {
        Some(ValueSource::ConfigMap(key) | ValueSource::Secret(key)) => key.optional,
        Some(ValueSource::File { optional, .. }) => *optional,
        _ => false,
    })
}
