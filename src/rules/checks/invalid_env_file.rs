//! The rule `invalid-env-file`.

use crate::k8s::Text;
use crate::resolve::{is_relaxed_variable_name, is_service_name};
use crate::rules::engine::{Finding, Findings, PodContext, declare_rule};
use crate::rules::shared::file_key_refs::FileKeyRef;
use crate::rules::shared::placeholders::is_placeholder;
use crate::workspace::KubernetesVersion;

declare_rule! {
    /// Reports a `fileKeyRef` that the API server refuses for what its own fields say.
    ///
    /// ## What it does
    /// Checks that `volumeName`, `path` and `key` are there, that the volume's name can be one, that the path does not
    /// leave the volume through `..`, and that the key can be the name of a variable. The finding covers the value that
    /// is wrong, and the variable's name where one is missing.
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
    helm: ContainerWithoutAction,
}

fn check(pod: &PodContext<'_>, findings: &mut Findings<'_>) {
    if pod.object.file.is_template() {
        return;
    }
    for reference in pod.file_key_refs() {
        for finding in fields(pod, &reference) {
            findings.push(finding);
        }
    }
}

/// V12.
fn fields(pod: &PodContext<'_>, reference: &FileKeyRef<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_partial = pod.is_partial_container(reference.container);
    let about = |field: &str| format!("{} {field}", reference.variable);
    let mut field = |name: &str, text: Option<&Text>, wrong: &dyn Fn(&str) -> Option<(String, &'static str)>| match text
        .filter(|it| !it.value.is_empty())
    {
        None if is_partial && text.is_none() => {}
        None => {
            let place = text.map_or(reference.place, |it| it.span);
            found.push(Finding::new(pod.object.at(place), about(name), format!("`fileKeyRef` needs a `{name}`")));
        }
        Some(text) if is_placeholder(&text.value) => {}
        Some(text) => {
            if let Some((message, help)) = wrong(&text.value) {
                found.push(Finding::new(pod.object.at(text.span), about(name), message).help(help));
            }
        }
    };
    field("volumeName", reference.volume, &|name| {
        // A DNS label, which may begin with a digit.
        let help = "names of volumes are lower case letters, digits and `-`, 63 at most";
        (!is_service_name(name, KubernetesVersion::NEWEST))
            .then(|| (format!("`{name}` cannot be the name of a volume"), help))
    });
    field("path", reference.path, &|path| {
        let leaves = path.split('/').any(|it| it == "..");
        leaves
            .then(|| (format!("`{path}` leaves the volume"), "write the path from the top of the volume, without `..`"))
    });
    field("key", reference.key, &|key| {
        let help = "keys are printable ASCII characters without `=`";
        (!is_relaxed_variable_name(key))
            .then(|| (format!("`{}` cannot be a key of an env file", key.escape_debug()), help))
    });
    found
}
