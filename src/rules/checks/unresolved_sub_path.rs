//! The rule `unresolved-sub-path`.

use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ReferenceVerdict, judge_references};

declare_rule! {
    /// Reports `$(X)` in `subPathExpr` that has no value.
    ///
    /// ## What it does
    /// Looks at the references in `subPathExpr` of volume mounts, and reports those that nothing defines and those whose
    /// value is empty. The finding covers the reference.
    ///
    /// ## Why it matters
    /// Here Kubernetes is strict: the container does not start, with `missing value for X`.
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
    /// Writes the name in scope that differs least. Unsafe: only the author knows what was meant.
    name: "unresolved-sub-path",
    level: Error,
    checks: [Container(check)],
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judge_references(container) {
        let ReferenceVerdict::SubPath { empty } = verdict else { continue };
        let name = &step.name;
        let place = container.inside(text.text, step.range.clone());
        if empty {
            let message = format!("the container does not start: `{name}` is empty, and `subPathExpr` needs a value");
            findings.push(Finding::new(place, name, message).help(format!("give `{name}` a value")));
            continue;
        }
        let message = format!("the container does not start: nothing defines `{name}`, and `subPathExpr` needs it");
        let finding = Finding::new(place, name, message);
        findings.push(reference_fixes::suggest(finding, container, &text, step, format!("declare `{name}` in `env`")));
    }
}
