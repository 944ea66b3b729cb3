//! The rule `unserved-field`.

use crate::k8s::{EnvFromSource, ObjectData, Parameter, Pod, PodPreset, PresetAdmitter, ValueSource};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::syntax::ReferenceForm;

declare_rule! {
    /// Reports what no release of Kubernetes serves, or not the one the manifests are for.
    ///
    /// ## What it does
    /// Some designs never became part of Kubernetes, left it again, or came later than the target release: `service` in
    /// `envFrom` and `serviceDependencies` of the explicit service links, PodPresets, which left with 1.20, `type` of a
    /// parameter and `$(P)` in templates, and `fileKeyRef` before 1.34 (where its gate is taken for on). podlens
    /// understands them and shows what they would do; this rule says where they are used. The finding covers the field,
    /// or the `apiVersion` of an object.
    ///
    /// ## Why it matters
    /// An API server refuses the object or drops the field, and the variables are missing.
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
    /// None. Where a cluster has the design, `proposals: true` in the settings silences the rule.
    name: "unserved-field",
    level: Info,
    checks: [Object(check)],
    helm: ContainerWithoutAction,
}

const HELP: &str = "set `proposals: true` in the settings if your cluster has it";

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    if object.file.snapshot.settings(object.file.path).proposals {
        return;
    }
    templates(object, findings);
    if let ObjectData::Preset(preset) = &object.object.model.data {
        unserved_preset(object, preset, findings);
        links(object, &preset.pod, findings);
    }
    for pod in &object.object.model.pods {
        if let Some(dependencies) = &pod.service_dependencies {
            let message = "no release of Kubernetes serves `serviceDependencies`: the pod would wait for nothing";
            findings.push(Finding::new(object.at(dependencies.field), "serviceDependencies", message).help(HELP));
        }
        file_key_refs(object, pod, findings);
        links(object, pod, findings);
    }
}

fn links(object: &ObjectContext<'_>, pod: &Pod, findings: &mut Findings<'_>) {
    for entry in pod.containers.iter().flat_map(|it| &it.env_from) {
        if let Some(EnvFromSource::Service { field, name, .. }) = &entry.source {
            let name = name.as_ref().map_or("service", |it| &it.value);
            let message = "no release of Kubernetes serves `service` in `envFrom`: the entry is refused";
            findings.push(Finding::new(object.at(*field), name, message).help(HELP));
        }
    }
}

/// The proposed dialect of templates: its types, and the first reference of each object that no release reads.
fn templates(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let proposed = object.template().filter(|it| it.dialect.is_proposal());
    for parameter in proposed.into_iter().flat_map(|it| &it.parameters) {
        let Some(written) = &parameter.type_ else { continue };
        let name = Parameter::text(&parameter.name);
        let message = "no release of OpenShift reads the `type` of a parameter";
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
        let message = format!("no release of OpenShift reads `{written}` as a parameter: write `${{{name}}}`");
        findings.push(Finding::new(object.inside(place.text, reference.range.clone()), name, message).help(HELP));
    }
}

/// V14.
fn file_key_refs(object: &ObjectContext<'_>, pod: &Pod, findings: &mut Findings<'_>) {
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

fn unserved_preset(object: &ObjectContext<'_>, preset: &PodPreset, findings: &mut Findings<'_>) {
    let release = object.file.resolver.release(object.file.path);
    let Some(version) = &object.object.model.api_version else { return };
    let finding = |message: String| Finding::new(object.at(version.span), "apiVersion", message);
    if preset.is_draft {
        let message = format!("no release of Kubernetes serves `{}`", version.value);
        findings.push(finding(message).help("presets were served as `settings.k8s.io/v1alpha1` up to 1.19"));
    } else if preset.admission == PresetAdmitter::ApiServer && release.is_at_least(20) {
        let message = format!("`PodPreset` is not served by Kubernetes {release}: it was removed in 1.20");
        let help = "use a mutating webhook, or set `kubernetes` in the settings to your release";
        findings.push(finding(message).help(help));
    }
}
