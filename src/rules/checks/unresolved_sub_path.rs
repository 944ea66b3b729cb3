//! The rule `unresolved-sub-path`.

use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ReferenceVerdict, judge_references};

declare_rule! {
    /// Reports `$(X)` in `subPathExpr` that has no value.
    ///
    /// ## What it does
    /// Looks at the references in `subPathExpr` of volume mounts, and reports names that nothing defines and variables
    /// whose value is empty. The finding covers the reference.
    ///
    /// ## Why it matters
    /// The container does not start: `missing value for X`.
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
    ///         - name: POD_NAME
    ///           valueFrom: {fieldRef: {fieldPath: metadata.name}}
    ///       volumeMounts:
    ///         - {name: data, mountPath: /data, subPathExpr: $(POD)}
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
    ///         - name: POD_NAME
    ///           valueFrom: {fieldRef: {fieldPath: metadata.name}}
    ///       volumeMounts:
    ///         - {name: data, mountPath: /data, subPathExpr: $(POD_NAME)}
    /// ```
    ///
    /// ## Fix
    /// Writes the most similar name in scope. Unsafe: only the author knows what was meant.
    name: "unresolved-sub-path",
    level: Error,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judge_references(container) {
        let ReferenceVerdict::SubPath { empty } = verdict else { continue };
        let name = &step.name;
        let place = container.inside(text.text, step.range.clone());
        if empty {
            let message = format!("the container does not start: `subPathExpr` refers to `{name}`, which is empty");
            findings.push(Finding::new(place, name, message).help(format!("give `{name}` a value")));
            continue;
        }
        let message = format!("the container does not start: `subPathExpr` refers to `{name}`, which nothing defines");
        let finding = Finding::new(place, name, message);
        findings.push(reference_fixes::suggest(finding, container, &text, step, format!("declare `{name}` in `env`")));
    }
}
