//! The rule `invalid-preset`.

use crate::build::{is_dns_subdomain, preset_problems};
use crate::k8s::ObjectData;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::placeholders::is_placeholder;

declare_rule! {
    /// Reports a PodPreset that the API server rejects.
    ///
    /// ## What it does
    /// A preset has a `spec` with at least one of `env`, `envFrom`, `volumes` and `volumeMounts`, and mounts only its
    /// own volumes. Its selector has `matchLabels` and `matchExpressions`, with the operators In, NotIn, Exists and
    /// DoesNotExist. With `proposals: true` the selector must exist and must not be empty, and volumes need mounts. The
    /// finding covers the invalid part, or the name of the preset.
    ///
    /// ## Why it matters
    /// The API server rejects it, so it applies to no pod.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: settings.k8s.io/v1alpha1
    /// kind: PodPreset
    /// metadata: {name: cache}
    /// spec:
    ///   selector:
    ///     matchExpressions:
    ///       - {key: role, operator: Equals, values: [web]}
    ///   volumeMounts:
    ///     - {name: cache, mountPath: /cache}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: settings.k8s.io/v1alpha1
    /// kind: PodPreset
    /// metadata: {name: cache}
    /// spec:
    ///   selector:
    ///     matchExpressions:
    ///       - {key: role, operator: In, values: [web]}
    ///   volumeMounts:
    ///     - {name: cache, mountPath: /cache}
    ///   volumes:
    ///     - {name: cache, emptyDir: {}}
    /// ```
    ///
    /// ## Fix
    /// None: only the author knows what was meant.
    name: "invalid-preset",
    level: Error,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let model = &object.object.model;
    let ObjectData::Preset(preset) = &model.data else { return };
    // The object that a patch changes may have the missing part.
    if object.file.snapshot.is_patch(object.file.path) {
        return;
    }
    let whole = model.name.as_ref().or(model.kind.as_ref()).map_or(model.span, |it| it.span);
    for flaw in preset_problems(preset, object.file.snapshot.settings(object.file.path).proposals) {
        let place = flaw.span.unwrap_or(whole);
        findings.push(Finding::new(object.at(place), flaw.name, flaw.message).help(flaw.help));
    }
    match &model.name {
        Some(name) if !is_dns_subdomain(&name.value) && !is_placeholder(&name.value) => {
            let message = format!("`{}` is not a valid name of a preset", name.value);
            findings.push(
                Finding::new(object.at(name.span), &name.value, message)
                    .help("a name has lower-case letters, digits, `-` and `.`"),
            );
        }
        _ => {}
    }
}
