//! The rule `missing-service`.

use crate::k8s::{EnvFromSource, ObjectData, Pod, ServiceDependency, Text};
use crate::resolve::is_service_name;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::rename_fix::rename_fix;
use crate::syntax::{may_be_replaced, show_placeholders};
use crate::text::nearest_name;

declare_rule! {
    /// Reports an explicit link to a service that is not in the workspace.
    ///
    /// ## What it does
    /// Looks up the services that `service` in `envFrom` and `serviceDependencies` name, in the namespace of the pod
    /// and in `externals` of the settings. The finding covers the name.
    ///
    /// ## Why it matters
    /// In the proposal a pod does not start until the services it names exist. A service may be created elsewhere, so
    /// this is only a hint.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   serviceDependencies:
    ///     - name: redis
    ///   containers:
    ///     - {name: web, image: web}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   serviceDependencies:
    ///     - name: redis
    ///   containers:
    ///     - {name: web, image: web}
    /// ---
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: redis}
    /// spec: {ports: [{port: 6379}]}
    /// ```
    ///
    /// ## Fix
    /// Writes the most similar name of a service in the workspace. Unsafe: only the author knows what was meant.
    /// Editors also offer to list the service in `externals`.
    name: "missing-service",
    level: Hint,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    for pod in &object.object.model.pods {
        let dependencies = pod.service_dependencies.iter().flat_map(|it| &it.services);
        // `invalid-service-link` reports the others.
        let release = object.file.resolver.release(object.file.path);
        let is_valid = |it: &&ServiceDependency| {
            it.is_reference && it.name.as_ref().is_some_and(|it| it.is_string && is_service_name(&it.value, release))
        };
        for name in dependencies.filter(is_valid).filter_map(|it| it.name.as_ref()) {
            check_reference(object, name, "the pod waits for it", findings);
        }
        check_links(object, pod, findings);
    }
    if let ObjectData::Preset(preset) = &object.object.model.data {
        check_links(object, &preset.pod, findings);
    }
}

fn check_links(object: &ObjectContext<'_>, pod: &Pod, findings: &mut Findings<'_>) {
    for entry in pod.containers.iter().flat_map(|it| &it.env_from) {
        if let Some(EnvFromSource::Service { name: Some(name), .. }) = &entry.source {
            let variables = match entry.prefix.as_ref().filter(|it| !it.value.is_empty()) {
                Some(prefix) => format!("variables `{}*`", show_placeholders(&prefix.value)),
                None => "variables".to_owned(),
            };
            let why = format!("the container waits for it, and its {variables} are unknown");
            check_reference(object, name, &why, findings);
        }
    }
}

fn check_reference(object: &ObjectContext<'_>, name: &Text, why: &str, findings: &mut Findings<'_>) {
    let (snapshot, place) = (object.file.snapshot, object.lookup_site());
    let is_known = || !object.object.services_named(&name.value).is_empty();
    if name.value.is_empty() || may_be_replaced(&name.value) || is_known() {
        return;
    }
    if let Some(other) = object.object.service_elsewhere(&name.value) {
        let message = format!("service `{}` is {other}: {why}", name.value);
        let finding = Finding::new(object.at(name.span), &name.value, message);
        findings.push(finding.help("a pod can link only services of its own namespace"));
        return;
    }
    let names = snapshot.service_names(place);
    let message = format!("there is no service `{}` in the workspace: {why}", name.value);
    let finding = Finding::new(object.at(name.span), &name.value, message);
    findings.push(match nearest_name(&name.value, names.iter().map(|it| &**it)) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).fix(rename_fix(object, name, near)),
        None => finding.help("if it exists elsewhere, list it in `externals.services` of the settings"),
    });
}
