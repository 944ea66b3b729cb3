//! The rule `unserved-field`.

use std::sync::Arc;

use crate::k8s::{
    EnvFromSource, FieldType, ObjectData, Parameter, Pod, PodPreset, PresetAdmitter, ScalarType, Text, ValueSource,
};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::parameter_texts::write_reference;
use crate::syntax::ReferenceForm;

declare_rule! {
    /// Reports fields and objects that no release of Kubernetes serves, or not the target release.
    ///
    /// ## What it does
    /// Some designs were never part of Kubernetes, were removed from it, or came after the target release: `service` in
    /// `envFrom` and `serviceDependencies` of the explicit service links proposal, PodPresets (removed in 1.20), `type`
    /// of a parameter and `$(P)` in templates, and `fileKeyRef` before 1.34 (in 1.34 its feature gate is assumed to be
    /// on). podlens supports them and shows what they would do; this rule reports where they are used. The finding
    /// covers the field, or the `apiVersion` of an object.
    ///
    /// ## Why it matters
    /// An API server rejects the object or drops the field, and the variables are missing.
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
    ///       envFrom:
    ///         - service: {name: redis}
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
    ///         - {name: REDIS, value: "redis:6379"}
    /// ```
    ///
    /// ## Fix
    /// None. Editors offer to set `proposals: true` in the settings, for a cluster that supports the design.
    name: "unserved-field",
    level: Info,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

const HELP: &str = "set `proposals: true` in the settings if your cluster supports it";

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    if object.file.snapshot.settings(object.file.path).proposals {
        return;
    }
    check_template(object, findings);
    if let ObjectData::Preset(preset) = &object.object.model.data {
        check_preset(object, preset, findings);
        check_file_key_refs(object, &preset.pod, findings);
        check_links(object, &preset.pod, findings);
    }
    for pod in &object.object.model.pods {
        if let Some(dependencies) = &pod.service_dependencies {
            let message =
                "`serviceDependencies` is not served by any release of Kubernetes: the pod does not wait for services";
            findings.push(Finding::new(object.at(dependencies.field), "serviceDependencies", message).help(HELP));
        }
        check_file_key_refs(object, pod, findings);
        check_links(object, pod, findings);
    }
}

fn check_links(object: &ObjectContext<'_>, pod: &Pod, findings: &mut Findings<'_>) {
    for entry in pod.containers.iter().flat_map(|it| &it.env_from) {
        if let Some(EnvFromSource::Service { field, name, .. }) = &entry.source {
            let name = name.as_ref().map_or("service", |it| &it.value);
            let message = "`service` in `envFrom` is not served by any release of Kubernetes: the entry is rejected";
            findings.push(Finding::new(object.at(*field), name, message).help(HELP));
        }
    }
}

/// Reports the proposed dialect of templates: types of parameters, and the first `$(P)` in each object.
fn check_template(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let proposed = object.template().filter(|it| it.dialect.is_proposal());
    for parameter in proposed.into_iter().flat_map(|it| &it.parameters) {
        let Some(written) = &parameter.type_ else { continue };
        let name = Parameter::text(&parameter.name);
        let message = "the `type` of a parameter is not read by any release of OpenShift";
        findings.push(Finding::new(object.at(written.span), name, message).help(HELP));
    }
    let mut found = object.parameter_texts().into_iter().flat_map(|place| {
        let ours = place.references().into_iter().filter(|it| it.form == ReferenceForm::Proposed);
        ours.map(|it| (place, it)).collect::<Vec<_>>()
    });
    let first = found.find(|(place, reference)| {
        let name = place.name(reference);
        place.parameters.contains(name)
    });
    if let Some((place, reference)) = first {
        let (name, written) = (place.name(&reference), place.written(&reference));
        // A number or a boolean needs the other form.
        let model = object.object.model;
        let text = |it: &Option<Text>| it.as_ref().map_or_else(|| "".into(), |it| Arc::clone(&it.value));
        let field = FieldType::of_kind(&text(&model.api_version), &text(&model.kind)).scalar_at(place.path);
        let is_string = place.is_key || field.is_none_or(|it| it == ScalarType::String);
        let is_whole = reference.range == (0..place.text.value.len());
        let form = if is_whole && !is_string { ReferenceForm::Raw } else { ReferenceForm::Text };
        let new = write_reference(name, form);
        let message = format!("`{written}` is not a parameter in any release of OpenShift: write `{new}`");
        findings.push(Finding::new(object.inside(place.text, reference.range.clone()), name, message).help(HELP));
    }
}

/// Reports `fileKeyRef` before Kubernetes 1.34 (V14).
fn check_file_key_refs(object: &ObjectContext<'_>, pod: &Pod, findings: &mut Findings<'_>) {
    let release = object.file.resolver.release(object.file.path);
    if release.is_at_least(34) {
        return;
    }
    for entry in pod.containers.iter().flat_map(|it| &it.env) {
        let Some(from) = &entry.from else { continue };
        let name = entry.name.as_ref().map_or("", |it| &it.value);
        for source in &from.sources {
            if let ValueSource::File { field, .. } = source {
                let message = format!("`fileKeyRef` is not served by Kubernetes {release}: it needs 1.34 or later");
                findings.push(Finding::new(object.at(*field), name, message).help(HELP));
            }
        }
    }
}

fn check_preset(object: &ObjectContext<'_>, preset: &PodPreset, findings: &mut Findings<'_>) {
    let release = object.file.resolver.release(object.file.path);
    let Some(version) = &object.object.model.api_version else { return };
    let finding = |message: String| Finding::new(object.at(version.span), "apiVersion", message);
    if preset.is_draft {
        let message = format!("`{}` is not served by any release of Kubernetes", version.value);
        findings.push(finding(message).help("presets were served as `settings.k8s.io/v1alpha1` up to 1.19"));
    } else if preset.admission == PresetAdmitter::ApiServer && release.is_at_least(20) {
        let message = format!("`PodPreset` is not served by Kubernetes {release}: it was removed in 1.20");
        let help = "use a mutating webhook, or set `kubernetes` in the settings to your release";
        findings.push(finding(message).help(help));
    }
}
