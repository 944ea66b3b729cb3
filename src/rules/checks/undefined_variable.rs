//! The rule `undefined-variable`.

use crate::diagnostic::{Location, Severity};
use crate::resolve::ExpansionStep;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ExpandedText, ReferenceVerdict, judge_references};
use crate::workspace::UnknownPolicy;

declare_rule! {
    /// Reports `$(X)` that nothing defines, so the text stays as it is.
    ///
    /// ## What it does
    /// Looks at every `$(X)` in env values, command, args and exec probes, and reports those whose name is not in the
    /// container's environment. The finding covers the reference. With `unknown: always` in the settings, names that
    /// something outside the workspace may define are told too, as info. `subPathExpr` has a rule of its own.
    ///
    /// ## Why it matters
    /// Kubernetes does not refuse such a reference: the program gets the text `$(X)` itself. A name that something
    /// outside the workspace may define is never reported, nor is command substitution in a shell script.
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
    /// Writes the name in scope that differs least, or escapes the reference as `$$(X)`. Both are unsafe: only the
    /// author knows what was meant.
    name: "undefined-variable",
    level: Warning,
    checks: [Container(check)],
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let tells_possible = container.pod.object.file.snapshot.settings(container.pod.object.file.path).unknown;
    for (text, step, verdict) in judge_references(container) {
        let name = &step.name;
        let place = || container.inside(text.text, step.range.clone());
        match verdict {
            ReferenceVerdict::Undefined => findings.push(undefined(container, &text, step, place())),
            ReferenceVerdict::Possible(hole) if tells_possible == UnknownPolicy::Always => findings.push(
                Finding::new(place(), name, format!("`$({name})` may stay as it is: nothing here defines `{name}`"))
                    .severity(Severity::Info)
                    .help(format!("it may be <{hole}>; name it in `externals` of the settings to say so")),
            ),
            _ => {}
        }
    }
}

fn undefined(
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    step: &ExpansionStep,
    place: Location,
) -> Finding {
    let name = &step.name;
    let finding = Finding::new(place, name, format!("`$({name})` stays as it is: nothing defines `{name}`"));
    let otherwise = format!("declare `{name}` in `env`, or write `$$({name})` if the text is meant");
    let finding = reference_fixes::suggest(finding, container, text, step, otherwise);
    finding.fix(reference_fixes::escape(container, text.text, step.range.clone()))
}
