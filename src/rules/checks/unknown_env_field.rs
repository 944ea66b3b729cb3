//! The rule `unknown-env-field`.

use crate::k8s::{ObjectData, ShapeEntry, ShapeMistakeKind};
use crate::rules::engine::{ContainerContext, Finding, Findings, ObjectContext, PodContext, declare_rule};
use crate::rules::shared::rename_fix::rename_fix;

declare_rule! {
    /// Reports a key that is not a field and is probably a misspelled one, such as `vaule` or `evn`.
    ///
    /// ## What it does
    /// Looks at the keys of containers, of the entries of `env` and `envFrom`, of their sources, and of ConfigMaps and
    /// Secrets, and reports a key that Kubernetes does not know and that is similar to a field, is the name of a field in
    /// Docker, or is a field of another mapping: `secretKeyRef` beside `valueFrom`, `env` beside `containers`,
    /// `stringData` in a ConfigMap. Other unknown keys may be fields of a newer release and are not reported. In Helm
    /// templates it looks only at entries and sources. The finding covers the key.
    ///
    /// ## Why it matters
    /// The API server refuses the object (`unknown field "spec.containers[0].env[0].vaule"`), or drops the key if
    /// validation is off: the variable is then empty.
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
    ///         - name: HOST
    ///           vaule: shop.example.com
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
    ///         - name: HOST
    ///           value: shop.example.com
    /// ```
    ///
    /// ## Fix
    /// Writes the field, unless the mapping already has it. Unsafe: only the author knows what was meant.
    name: "unknown-env-field",
    level: Error,
    checks: [ContainerOrPreset(check), Pod(check_pod), Object(check_data)],
    sees: Built,
    helm: LineWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let file = container.object.file;
    let mistakes = &container.container.shape.mistakes;
    let (is_template, is_helm) = (file.is_template(), file.facts.is_helm_template());
    if mistakes.is_empty() || !container.has_known_fields() || is_template && !is_helm {
        return;
    }
    if !container.object.has_certain_structure() {
        return;
    }
    // In a Helm template an action may print the line that a key below it belongs to. An entry is seldom made that way.
    for mistake in mistakes.iter().filter(|it| !is_template || it.entry != ShapeEntry::Container) {
        match &mistake.kind {
            ShapeMistakeKind::Misspelled { key, field, is_free } => {
                let fix = if *is_free { rename_fix(&container.object, key, field) } else { None };
                let message = format!("`{}` is not a field", key.value);
                let finding = Finding::new(container.at(key.span), &key.value, message);
                findings.push(finding.help(format!("did you mean `{field}`?")).fix(fix));
            }
            ShapeMistakeKind::Misplaced { key, place } => {
                let message = format!("`{}` is not a field of an entry: it belongs in `{place}`", key.value);
                let finding = Finding::new(container.at(key.span), &key.value, message);
                findings.push(finding);
            }
            _ => {}
        }
    }
}

/// Reports fields of a container that are beside the containers.
fn check_pod(pod: &PodContext<'_>, findings: &mut Findings<'_>) {
    let object = &pod.object;
    let is_known = !pod.pod.controller.is_unknown() && !object.file.is_template();
    if pod.pod.misplaced.is_empty() || !is_known || !object.has_certain_structure() {
        return;
    }
    for field in &pod.pod.misplaced {
        let name = &field.key.value;
        let message = format!("`{name}` is not a field of a pod: it belongs in a container");
        findings.push(Finding::new(object.at(field.key.span), name, message));
    }
}

/// Reports misspelled fields of ConfigMaps and Secrets, and fields that only the other kind has.
fn check_data(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let (ObjectData::ConfigMap(data) | ObjectData::Secret(data)) = &object.object.model.data else { return };
    if data.misspelled.is_empty() || object.file.is_template() || !object.has_certain_structure() {
        return;
    }
    for misspelled in &data.misspelled {
        let key = &misspelled.key;
        let fix = if misspelled.is_free { rename_fix(object, key, misspelled.field) } else { None };
        let kind = object.object.model.kind.as_ref().map_or("object", |it| &it.value);
        let message = format!("`{}` is not a field of a {kind}", key.value);
        let finding = Finding::new(object.at(key.span), &key.value, message);
        findings.push(finding.help(format!("did you mean `{}`?", misspelled.field)).fix(fix));
    }
}
