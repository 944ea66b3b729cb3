//! The rule `undefined-variable`.

use crate::diagnostic::{Location, Severity};
use crate::k8s::EnvVar;
use crate::resolve::{ExpansionStep, UnresolvedReason};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ExpandedText, ReferenceVerdict, judge_references};
use crate::workspace::UnknownPolicy;

declare_rule! {
    /// Reports `$(X)` that nothing defines: the reference is not expanded.
    ///
    /// ## What it does
    /// Looks at every `$(X)` in env values, `command`, `args` and exec probes, and reports a name that is not in the
    /// container's environment. The finding covers the reference. A name that something outside the workspace may
    /// define is not reported; with `unknown: always` in the settings it is an info. Command substitution in a shell
    /// script is not reported either. References in `subPathExpr` are reported by `unresolved-sub-path`.
    ///
    /// ## Why it matters
    /// Kubernetes accepts such a reference. The program gets the text `$(X)`.
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
    ///         - {name: DB_HOST, value: db}
    ///         - {name: DB_URL, value: "postgres://$(DB_HSOT)/shop"}
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
    ///         - {name: DB_HOST, value: db}
    ///         - {name: DB_URL, value: "postgres://$(DB_HOST)/shop"}
    /// ```
    ///
    /// ## Fix
    /// Writes the most similar name in scope. Unsafe: only the author knows what was meant. Editors also offer to declare
    /// the variable, and to escape the reference as `$$(X)`; commands never do.
    name: "undefined-variable",
    level: Warning,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let settings = container.object.file.snapshot.settings(container.object.file.path);
    let policy = settings.unknown;
    for (text, step, verdict) in judge_references(container) {
        let name = &step.name;
        let place = || container.inside(text.text, step.range.clone());
        match verdict {
            ReferenceVerdict::Undefined => findings.push(undefined_finding(container, &text, step, place())),
            ReferenceVerdict::MaybeUndefined(_) if settings.is_external_variable(name) => {}
            ReferenceVerdict::MaybeUndefined(hole) if policy == UnknownPolicy::Always => findings.push(
                Finding::new(
                    place(),
                    name,
                    format!("`$({name})` may not be expanded: nothing in the workspace defines `{name}`"),
                )
                .at_most(Severity::Info)
                .help(format!("it may be <{hole}>; if so, list it in `externals` of the settings")),
            ),
            _ => {}
        }
    }
}

fn undefined_finding(
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    step: &ExpansionStep,
    place: Location,
) -> Finding {
    let name = &step.name;
    if step.unresolved == Some(UnresolvedReason::Skipped) {
        let message = format!("`$({name})` is not expanded: `{name}` is optional, and its source does not exist");
        let finding = Finding::new(place, name, message);
        let declares = |it: &&EnvVar| it.name.as_ref().is_some_and(|it| it.value == *name);
        let entry = container.container.env.iter().find(declares).and_then(|it| it.name.as_ref());
        let finding = match entry {
            Some(entry) => finding.related(container.at(entry.span), "the optional entry"),
            None => finding,
        };
        let finding = finding.help(format!("add the key that `{name}` refers to, or give `{name}` a value"));
        return finding.choice(reference_fixes::escape(container, text.text, step, step.range.clone()));
    }
    let finding = Finding::new(place, name, format!("`$({name})` is not expanded: nothing defines `{name}`"));
    let kept = reference_fixes::escaped(&text.text.value[step.range.clone()]);
    let otherwise = format!("declare `{name}` in `env`, or write `{kept}` to keep the text");
    let finding = reference_fixes::suggest(finding, container, text, step, otherwise);
    finding.choice(reference_fixes::escape(container, text.text, step, step.range.clone()))
}
