//! The rule `preset-hides-source`.

use std::collections::BTreeMap;

use crate::build::BuiltContainer;
use crate::diagnostic::Location;
use crate::k8s::{Container, ObjectData, PodPreset};
use crate::resolve::{Binding, Origin, OriginKind};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::source_objects::imported_object;

declare_rule! {
    /// Reports a variable of a PodPreset that hides a key of the pod's own `envFrom`.
    ///
    /// ## What it does
    /// A preset conflicts with a pod only where both have an entry of the same name in `env`. A name that the pod gets
    /// from a ConfigMap or Secret through `envFrom` is hidden without a warning: by a variable of the preset, and by a
    /// source of the preset, which comes after the pod's own. The finding covers the entry of the preset.
    ///
    /// ## Why it matters
    /// The container gets a different value than its own manifest defines.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: settings.k8s.io/v1alpha1
    /// kind: PodPreset
    /// metadata: {name: logging}
    /// spec:
    ///   selector: {matchLabels: {role: web}}
    ///   env:
    ///     - {name: LOG_LEVEL, value: debug}
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data: {LOG_LEVEL: info}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web, labels: {role: web}}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - configMapRef: {name: settings}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: settings.k8s.io/v1alpha1
    /// kind: PodPreset
    /// metadata: {name: logging}
    /// spec:
    ///   selector: {matchLabels: {role: web}}
    ///   env:
    ///     - {name: PRESET_LOG_LEVEL, value: debug}
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data: {LOG_LEVEL: info}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web, labels: {role: web}}
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
    name: "preset-hides-source",
    level: Warning,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let ObjectData::Preset(preset) = &object.object.model.data else { return };
    let mut found: BTreeMap<(Location, String), (Option<Location>, Vec<String>)> = BTreeMap::new();
    for target in object.preset_targets() {
        if !target.matched().is_some_and(|it| it.applied) {
            continue;
        }
        let (file, name) = (object.file, object.object.model.name.as_ref().map(|it| &*it.value));
        for container in target.pod.containers.iter().filter(|it| !it.env_from.is_empty()) {
            let handle = BuiltContainer { object: target.object, pod: target.pod, container };
            let environment = file.resolver.environment(handle);
            let bindings = environment.bindings();
            for binding in bindings.iter().filter(|it| it.preset.as_deref() == name) {
                let Some(hidden) = binding.hides.iter().find(|it| is_from_container(container, it)) else { continue };
                let Some(place) = entry_location(object, preset, binding) else { continue };
                let key = (place, binding.name.to_string());
                let (location, titles) = found.entry(key).or_insert_with(|| (hidden.location.clone(), Vec::new()));
                *location = location.take().or_else(|| hidden.location.clone());
                let title = target.title();
                if !titles.contains(&title) {
                    titles.push(title);
                }
            }
        }
    }
    for ((place, name), (hidden, titles)) in found {
        let more = if titles.len() > 1 { format!(" and {} more", titles.len() - 1) } else { String::new() };
        let verb = if titles.len() > 1 { "get" } else { "gets" };
        let message = format!("`{name}` hides a key that {}{more} {verb} through `envFrom`", titles[0]);
        let finding = Finding::new(place, name, message).help("rename one of the two, or add a `prefix` to the source");
        findings.push(match hidden {
            Some(location) => finding.related(location, "the hidden key"),
            None => finding,
        });
    }
}

/// Whether a hidden value comes from the container's own `envFrom`.
fn is_from_container(container: &Container, hidden: &Origin) -> bool {
    matches!(hidden.kind, OriginKind::ConfigMap | OriginKind::Secret)
        && container.env_from.iter().filter_map(imported_object).any(|(kind, name, _)| {
            kind == hidden.kind && name.is_some_and(|it| Some(&it.value) == hidden.object.as_ref())
        })
}

/// The location of the entry of the preset that sets a variable: its name in `env`, or the name of the source.
fn entry_location(object: &ObjectContext<'_>, preset: &PodPreset, binding: &Binding) -> Option<Location> {
    let given = preset.container()?;
    let named = given.env.iter().filter_map(|it| it.name.as_ref()).find(|it| it.value == binding.name);
    let source = || {
        let entry = given.env_from.iter().find(|it| Some(object.at(it.span)) == binding.entry)?;
        Some(imported_object(entry)?.1.map_or(entry.span, |it| it.span))
    };
    named.map(|it| it.span).or_else(source).map(|it| object.at(it))
}
