//! The rule `self-reference`.

use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_verdicts::{ReferenceVerdict, judge_references};

declare_rule! {
    /// Reports an env entry whose value refers to its own name without an earlier value.
    ///
    /// ## What it does
    /// `X: $(X):/more` appends to an earlier `X`: from `env`, `envFrom` or a service. Reports such a value where there
    /// is no earlier one. The finding covers the reference.
    ///
    /// ## Why it matters
    /// Variables of the image (`PATH`, `HOME`) are not available to references. `PATH: $(PATH):/opt/bin` sets `PATH` to
    /// exactly this text, and programs are not found any more.
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
    ///         - name: PATH
    ///           value: $(PATH):/opt/bin
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
    ///         - name: PATH
    ///           value: /usr/local/bin:/usr/bin:/bin:/opt/bin
    /// ```
    ///
    /// ## Fix
    /// None: the value in the image is not known.
    name: "self-reference",
    level: Warning,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, _) in
        judge_references(container).into_iter().filter(|(.., it)| matches!(it, ReferenceVerdict::SelfReference))
    {
        let name = &step.name;
        findings.push(
            Finding::new(
                container.inside(text.text, step.range.clone()),
                name,
                format!("`$({name})` is not expanded: it refers to itself, and there is no earlier `{name}`"),
            )
            .help("variables of the image are not available here: write the whole value"),
        );
    }
}
