//! The rule `probe-literal-only`.

use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ProbeVisibility, ReferenceVerdict, judge_references};
use crate::rules::shared::shell_detection::ShellUse;

declare_rule! {
    /// Reports `$(X)` in an exec probe that sees less of X than the container does.
    ///
    /// ## What it does
    /// For the commands of exec probes Kubernetes does not use the container's environment, but the `env` list as it is
    /// written. Reports a reference to a variable from `envFrom` or a service (the text stays), from `valueFrom` (it
    /// becomes empty), or with references in its own value (they are not expanded). The finding covers the reference.
    ///
    /// ## Why it matters
    /// The probe silently runs with another text than the container, and fails or, worse, succeeds for the wrong reason.
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
    ///       readinessProbe:
    ///         exec: {command: [check, --name, $(POD_NAME)]}
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
    ///       readinessProbe:
    ///         exec: {command: [sh, -c, 'check --name "$POD_NAME"']}
    /// ```
    ///
    /// ## Fix
    /// In a script, writes the shell's `${X}`, which reads the real environment. Unsafe: the shell splits what it puts in.
    name: "probe-literal-only",
    level: Warning,
    checks: [Container(check)],
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judge_references(container) {
        let ReferenceVerdict::Probe(blind) = verdict else { continue };
        let name = &step.name;
        let what = match blind {
            ProbeVisibility::Stays => {
                format!("`$({name})` stays as it is in a probe: only entries of `env` are visible to it")
            }
            ProbeVisibility::Empty => format!("`$({name})` is empty in a probe: only literal values are visible to it"),
            ProbeVisibility::Raw => {
                format!("`$({name})` is not expanded further in a probe: it sees the value as it is written")
            }
        };
        let finding = Finding::new(container.inside(text.text, step.range.clone()), name, what);
        findings.push(
            if text.shell == ShellUse::Yes
                && crate::resolve::is_strict_variable_name(name)
                && !name.contains(['-', '.'])
            {
                let new = format!("${{{name}}}");
                let title = format!("Write `{new}`, which the shell reads");
                finding
                    .help(format!("write `{new}`: the shell has the container's environment"))
                    .fix(reference_fixes::replace(container, text.text, step.range.clone(), &new, title))
            } else {
                finding.help(format!("run the probe by a shell, and write `${name}` there"))
            },
        );
    }
}
