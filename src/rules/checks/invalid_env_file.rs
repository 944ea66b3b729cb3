//! The rule `invalid-env-file`.

use crate::k8s::Text;
use crate::resolve::{is_relaxed_variable_name, is_service_name};
use crate::rules::engine::{Finding, Findings, PodContext, declare_rule};
use crate::rules::shared::file_key_refs::FileKeyRef;
use crate::rules::shared::placeholders::is_placeholder;
use crate::workspace::KubernetesVersion;

declare_rule! {
    /// Reports a `fileKeyRef` with fields that the API server rejects.
    ///
    /// ## What it does
    /// Checks that `volumeName`, `path` and `key` exist, that the name of the volume is valid, that the path does not
    /// leave the volume through `..`, and that the key is a valid name of a variable. The finding covers the invalid
    /// value. Where a field is missing, it covers `fileKeyRef`.
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
    checks: [Pod(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(pod: &PodContext<'_>, findings: &mut Findings<'_>) {
    if pod.object.file.is_template() {
        return;
    }
    for reference in pod.file_key_refs() {
        for finding in check_fields(pod, &reference) {
            findings.push(finding);
        }
    }
}

/// The findings about the fields of a `fileKeyRef` (V12).
fn check_fields(pod: &PodContext<'_>, reference: &FileKeyRef<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_partial = pod.is_partial_container(reference.container);
    let mut field = |name: &str, text: Option<&Text>, error: &dyn Fn(&str) -> Option<(String, &'static str)>| {
        let about = format!("{} {name}", reference.variable);
        match text {
            // The object that a patch changes may have the field.
            None if is_partial => {}
            None => {
                let message = format!("`fileKeyRef` has no `{name}`");
                found.push(Finding::new(pod.object.at(reference.field), about, message));
            }
            Some(text) if text.value.is_empty() => {
                let message = format!("`{name}` of `fileKeyRef` is empty");
                found.push(Finding::new(pod.object.at(text.span), about, message));
            }
            Some(text) if is_placeholder(&text.value) => {}
            Some(text) => {
                if let Some((message, help)) = error(&text.value) {
                    found.push(Finding::new(pod.object.at(text.span), about, message).help(help));
                }
            }
        }
    };
    field("volumeName", reference.volume, &|name| {
        // A DNS label, which may start with a digit. The newest release has the same rule for services.
        let help = "a name has lower-case letters, digits and `-`, and at most 63 characters";
        (!is_service_name(name, KubernetesVersion::NEWEST))
            .then(|| (format!("`{name}` is not a valid name of a volume"), help))
    });
    field("path", reference.path, &|path| {
        let help = "write the path from the top of the volume, without `..`";
        path.split('/').any(|it| it == "..").then(|| (format!("`{path}` leaves the volume"), help))
    });
    field("key", reference.key, &|key| {
        let help = "a key has printable ASCII characters except `=`";
        (!is_relaxed_variable_name(key))
            .then(|| (format!("`{}` is not a valid key of an env file", key.escape_debug()), help))
    });
    found
}
