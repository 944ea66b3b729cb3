//! The rule `forward-reference`.

use crate::k8s::ContainerField;
use crate::resolve::{Lookup, OriginKind};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::env_order::ForwardReferenceFixes;
use crate::rules::shared::reference_verdicts::{ReferenceVerdict, judge_references};

declare_rule! {
    /// Reports `$(X)` in an env value where `X` is declared later.
    ///
    /// ## What it does
    /// Entries of `env` are expanded in order, and each can use only the entries before it. Reports a reference to an
    /// entry further down, or to a variable that is added after all entries: by a controller, such as
    /// `JOB_COMPLETION_INDEX` of an indexed Job, or by a PodPreset. The finding covers the reference.
    ///
    /// ## Why it matters
    /// The value keeps the text `$(X)`, although the container has a variable `X`. Kubernetes gives no warning.
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
    ///         - name: URL
    ///           value: http://$(HOST)/
    ///         - name: HOST
    ///           value: example.com
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
    ///         - name: HOST
    ///           value: example.com
    ///         - name: URL
    ///           value: http://$(HOST)/
    /// ```
    ///
    /// ## Fix
    /// Moves the declaration above its first use, with its comments and the entries it needs; or sorts the whole list
    /// by dependency. Safe, unless a name is declared twice or the list is shared through an anchor. There is no fix
    /// where entries depend on each other in a circle, or where another reference would get a different value.
    name: "forward-reference",
    level: Error,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let fixes = ForwardReferenceFixes::new(container);
    for (text, step, _) in
        judge_references(container).into_iter().filter(|(.., it)| matches!(it, ReferenceVerdict::Forward))
    {
        let ContainerField::EnvValue(user) = text.field else { continue };
        let name = &step.name;
        let finding = Finding::new(
            container.inside(text.text, step.range.clone()),
            name,
            format!("`$({name})` is not expanded: `{name}` is declared later"),
        );
        let Some(declared) = fixes.declared_below(user, name) else {
            let help = format!("`{name}` is added after all entries of `env`: use it in `command` or `args`");
            let finding = finding.help(help);
            // A11: a preset adds it after the entries of the pod.
            let preset = match &step.outcome {
                Lookup::Later(it) if it.kind == OriginKind::Preset => {
                    it.location.clone().zip(it.object.as_ref().map(|name| format!("preset `{name}` adds it")))
                }
                _ => None,
            };
            findings.push(match preset {
                Some((location, message)) => finding.related(location, message),
                None => finding,
            });
            continue;
        };
        let finding = finding
            .related(container.at(declared.span), "declared here")
            .help(format!("move `{name}` above its first use"));
        let fixes = fixes.declare_earlier(user, name);
        findings.push(fixes.into_iter().fold(finding, |finding, fix| finding.fix(Some(fix))));
    }
}
