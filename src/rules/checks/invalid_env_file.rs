//! The rule `invalid-env-file`.

use crate::build::env_file_field_problem;
use crate::k8s::Text;
use crate::rules::engine::{Finding, Findings, ObjectContext, PodContext, declare_rule};
use crate::rules::shared::file_key_refs::FileKeyRef;
use crate::syntax::may_be_replaced;

declare_rule! {
    /// Reports a `fileKeyRef` with fields that the API server rejects.
    ///
    /// ## What it does
    /// Checks that `volumeName`, `path` and `key` exist, that the name of the volume is valid, that the path does not
    /// leave the volume through `..`, and that the key is a valid name of a variable, also in presets. The finding covers
    /// the invalid value. Where a field is missing, it covers `fileKeyRef`.
    ///
    /// ## Why it matters
    /// The API server rejects the whole object.
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
    ///         - name: COLOUR
    ///           valueFrom: {fileKeyRef: {volumeName: config, path: ../app.env, key: COLOUR}}
    ///   volumes:
    ///     - {name: config, emptyDir: {}}
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
    ///         - name: COLOUR
    ///           valueFrom: {fileKeyRef: {volumeName: config, path: app.env, key: COLOUR}}
    ///   volumes:
    ///     - {name: config, emptyDir: {}}
    /// ```
    ///
    /// ## Fix
    /// None: only the author knows what was meant.
    name: "invalid-env-file",
    level: Error,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    // A13: the entries of a preset are checked like those of a pod.
    let preset = object.object.preset_container().map(|it| it.pod);
    for pod in object.object.model.pods.iter().chain(preset) {
        let pod = PodContext { object: *object, pod };
        for finding in pod.file_key_refs().iter().flat_map(|it| check_fields(&pod, it)) {
            findings.push(finding);
        }
    }
}

/// The findings about the fields of a `fileKeyRef` (V12).
pub(in crate::rules) fn check_fields(pod: &PodContext<'_>, reference: &FileKeyRef<'_>) -> Vec<Finding> {
    if pod.object.file.is_template() {
        return Vec::new();
    }
    let mut found = Vec::new();
    // An entry of a preset is complete, unless the preset is a patch itself.
    let is_partial = match reference.owner.object.preset() {
        Some(_) => pod.object.file.snapshot.is_patch(pod.object.file.path),
        None => pod.is_partial_container(reference.container),
    };
    let mut field = |name: &str, text: Option<&Text>| {
        let about = format!("{} {name}", reference.variable);
        match text {
            // The object that a patch changes may have the field, or `unknown-env-field` reports it.
            None if is_partial || reference.is_malformed => {}
            None => {
                let message = format!("`fileKeyRef` has no `{name}`");
                found.push(Finding::new(reference.location(reference.field), about, message));
            }
            Some(text) if text.value.is_empty() => {
                let message = format!("`{name}` of `fileKeyRef` is empty");
                found.push(Finding::new(reference.location(text.span), about, message));
            }
            Some(text) if may_be_replaced(&text.value) => {}
            Some(text) => {
                if let Some((message, help)) = env_file_field_problem(name, &text.value) {
                    found.push(Finding::new(reference.location(text.span), about, message).help(help));
                }
            }
        }
    };
    field("volumeName", reference.volume);
    field("path", reference.path);
    field("key", reference.key);
    found
}
