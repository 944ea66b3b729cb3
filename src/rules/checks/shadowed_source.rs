//! The rule `shadowed-source`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{EnvVar, ValueSource};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::source_objects::imported_object;

declare_rule! {
    /// Reports a key of `envFrom` without effect, because `env` or a later `envFrom` sets the same name.
    ///
    /// ## What it does
    /// Looks for keys of ConfigMaps and Secrets in `envFrom` whose variable is also declared in `env`, or set by a
    /// later entry of `envFrom`. Not reported are a value that uses the hidden one, such as `$(OPTIONS) --more`, and an
    /// entry with an optional key, which may be missing. The finding covers the name of the entry that hides the key.
    ///
    /// ## Why it matters
    /// Changing the key has no effect, and Kubernetes gives no warning: `env` wins over `envFrom`, and a later entry
    /// wins over an earlier one.
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
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    if container.container.env_from.is_empty() || container.is_partial() {
        return;
    }
    let mut found = Vec::new();
    let mut given: BTreeMap<Arc<str>, Location> = BTreeMap::new();
    for entry in &container.container.env_from {
        let new = container.imported_keys(entry);
        let hidden: Vec<(&Arc<str>, &Location)> = new.keys().filter_map(|name| given.get_key_value(name)).collect();
        if let (Some((_, first)), Some((_, Some(name), _))) = (hidden.first(), imported_object(entry)) {
            let names: Vec<String> = hidden.iter().take(3).map(|(name, _)| format!("`{name}`")).collect();
            let more = if hidden.len() > 3 { format!(" and {} more", hidden.len() - 3) } else { String::new() };
            found.push(
                Finding::new(
                    container.at(name.span),
                    &name.value,
                    format!("`{}` hides {}{more} of an earlier entry of `envFrom`", name.value, names.join(", ")),
                )
                .related((*first).clone(), "the hidden key")
                .help("add a `prefix` to one of the two, or remove the keys from one")
                .unnecessary(),
            );
        }
        given.extend(new);
    }
    for entry in &container.container.env {
        let Some(name) = &entry.name else { continue };
        // Removed, because only the first of several entries of the same name hides the key.
        let Some(hidden) = given.remove(&name.value) else { continue };
        if uses_hidden_value(entry, &name.value) || is_optional(entry) {
            continue;
        }
        found.push(
            Finding::new(container.at(name.span), &name.value, format!("`{}` hides a key of `envFrom`", name.value))
                .related(hidden, "the hidden key")
                .help("remove one of the two")
                .unnecessary(),
        );
    }
    // The branches of a template are side by side in its text.
    if !found.is_empty() && !container.object.file.is_template() {
        found.into_iter().for_each(|finding| findings.push(finding));
    }
}

fn uses_hidden_value(entry: &EnvVar, name: &str) -> bool {
    entry.value.as_ref().is_some_and(|it| it.value.contains(&format!("$({name})")))
}

/// B17: if the optional key is missing, the entry is skipped and the key of `envFrom` is used.
fn is_optional(entry: &EnvVar) -> bool {
    entry.from.as_ref().is_some_and(|from| match from.sources.first() {
        Some(ValueSource::ConfigMap(key) | ValueSource::Secret(key)) => key.optional,
        Some(ValueSource::File { optional, .. }) => *optional,
        _ => false,
    })
}
