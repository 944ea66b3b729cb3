//! The rule `empty-template`.

use crate::diagnostic::Severity;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};

declare_rule! {
    /// Reports a template without objects.
    ///
    /// ## What it does
    /// Reports a template whose `objects` is absent or empty. A template with parameters and `objects: []` is probably a
    /// skeleton that a script fills, and the finding a hint. The finding covers the name of the template.
    ///
    /// ## Why it matters
    /// Processing such a template gives an empty list, and nothing is created.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// parameters: []
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: Service
    ///     metadata: {name: web}
    /// ```
    ///
    /// ## Fix
    /// None.
    name: "empty-template",
    level: Warning,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(template) = object.template().filter(|it| it.is_empty) else { return };
    let model = &object.object.model;
    let place = model.name.as_ref().map_or(template.span, |it| it.span);
    let name = model.name.as_ref().map_or("", |it| &it.value);
    let finding = Finding::new(object.at(place), name, "the template has no objects: processing it creates nothing");
    let finding = finding.help("list the objects in `objects`");
    // With the key `objects` it is meant to be empty, or a script appends the objects.
    let is_skeleton = template.has_objects_key && (!template.parameters.is_empty() || template.objects_span.is_none());
    findings.push(if is_skeleton { finding.at_most(Severity::Hint) } else { finding });
}
