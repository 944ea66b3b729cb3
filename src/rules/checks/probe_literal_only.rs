//! The rule `probe-literal-only`.

use crate::resolve::ShellUse;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ProbeVisibility, ReferenceVerdict, judge_references};

declare_rule! {
    /// Reports `$(X)` in an exec probe that has a different value than in the container.
    ///
    /// ## What it does
    /// To expand the command of an exec probe, Kubernetes does not use the environment of the container, but the `env`
    /// list as written. Reports a reference to a variable from `envFrom` or a service (it is not expanded), from
    /// `valueFrom` (it becomes empty), or with references in its own value (these are not expanded). The finding covers
    /// the reference.
    ///
    /// ## Why it matters
    /// The probe runs with a different text than expected, without a warning. It fails, or it succeeds for the wrong
    /// reason.
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
    /// In a script, writes the shell's `${X}`, which reads the real environment. Unsafe: the shell splits the value
    /// into words.
    name: "probe-literal-only",
    level: Warning,
    checks: [Container(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judge_references(container) {
        let ReferenceVerdict::Probe(visibility) = verdict else { continue };
        let name = &step.name;
        let what = match visibility {
            ProbeVisibility::NotExpanded => {
                format!("`$({name})` is not expanded in a probe: only entries of `env` are available there")
            }
            ProbeVisibility::Empty => {
                format!("`$({name})` is empty in a probe: only literal values are available there")
            }
            ProbeVisibility::Raw => {
                format!("`$({name})` is the value as written in a probe: its references are not expanded")
            }
        };
        let finding = Finding::new(container.inside(text.text, step.range.clone()), name, what);
        findings.push(
            if text.shell == ShellUse::Yes
                && crate::resolve::is_strict_variable_name(name)
                && !name.contains(['-', '.'])
            {
                let new = format!("${{{name}}}");
                let title = format!("Write `{new}` for the shell");
                finding
                    .help(format!("write `{new}`: the shell has the container's environment"))
                    .fix(reference_fixes::replace(container, text.text, step.range.clone(), &new, title))
            } else {
                finding.help(format!("run the probe through a shell, and write `${name}` there"))
            },
        );
    }
}
