//! The rule `command-substitution-outside-shell`.

use crate::k8s::ContainerField;
use crate::resolve::whole_reference;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ReferenceVerdict, judge_references};

declare_rule! {
    /// Reports a command in `$(…)` where no shell runs.
    ///
    /// ## What it does
    /// Looks at env values, `command`, `args` and exec probes. `$(date +%s)` is shell syntax; Kubernetes looks for a
    /// variable of that name. Scripts after `sh -c` are not checked, nor text that an interpreter or the entry point of
    /// the image may run. The finding covers the reference.
    ///
    /// ## Why it matters
    /// The command does not run. The program gets the text `$(date +%s)`.
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
    ///       args: ["--since=$(date +%s)"]
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
    ///       command: [sh, -c, 'exec web --since="$(date +%s)"']
    /// ```
    ///
    /// ## Fix
    /// Editors offer to escape the dollar sign, so that the text is kept on purpose. Commands do not: usually the command
    /// was meant to run.
    name: "command-substitution-outside-shell",
    level: Warning,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, _) in
        judge_references(container).into_iter().filter(|(.., it)| matches!(it, ReferenceVerdict::Command))
    {
        let range = whole_reference(&text.text.value, step.range.clone());
        let written = &text.text.value[range.clone()];
        let help = match text.field {
            ContainerField::EnvValue(_) => "run it in the program that reads the variable, or in an init container",
            _ => "run the program through a shell: `sh -c`",
        };
        findings.push(
            Finding::new(
                container.inside(text.text, range.clone()),
                step.name.split_whitespace().next().unwrap_or_default(),
                format!("`{written}` does not run: there is no shell here"),
            )
            .help(help)
            .choice(reference_fixes::escape(container, text.text, step, range)),
        );
    }
}
