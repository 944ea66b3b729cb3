//! The rule `dead-parameter`.

use crate::diagnostic::Severity;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::syntax::{ReferenceForm, has_placeholder, mask_expressions, parameter_references};

declare_rule! {
    /// Reports a reference to a parameter in a field of the template where parameters are not replaced.
    ///
    /// ## What it does
    /// Parameters are replaced only in `objects`, `labels` and `message`. Reports `${P}` of a declared parameter in the
    /// template's own metadata, in its `apiVersion` and `kind`, and in the values of parameters, unless the Secret of a TemplateInstance provides
    /// them. In templates of
    /// `apiVersion: v1` it also reports `$(P)`, unless a container of the template may have a variable of this name.
    /// Descriptions and display names of parameters are prose and not checked. In the template's own fields, which only people
    /// read, a finding is an info. The finding covers the reference.
    ///
    /// ## Why it matters
    /// The text is not replaced: a parameter whose value contains other parameters reaches the objects with `${P}` in
    /// it.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: ConfigMap
    ///     metadata: {name: web}
    ///     data:
    ///       url: ${URL}
    /// parameters:
    ///   - name: HOST
    ///     value: shop.example.com
    ///   - name: URL
    ///     value: https://${HOST}/
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: ConfigMap
    ///     metadata: {name: web}
    ///     data:
    ///       url: https://${HOST}/
    /// parameters:
    ///   - name: HOST
    ///     value: shop.example.com
    /// ```
    ///
    /// ## Fix
    /// None.
    name: "dead-parameter",
    level: Warning,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(template) = object.template() else { return };
    for (path, text) in &template.unsubstituted_texts {
        let field = path.rsplit('.').next().unwrap_or(path);
        let in_parameter = path.starts_with("parameters[");
        // The Secret of a TemplateInstance replaces values.
        if in_parameter && (template.has_secret || !matches!(field, "value" | "from")) {
            continue;
        }
        for reference in parameter_references(&text.value, template.dialect.is_proposal()) {
            let name = &text.value[reference.name.clone()];
            let may_be_variable = || reference.form == ReferenceForm::Proposed && in_parameter;
            if !template.exported.contains(name) || may_be_variable() && has_variable(object, name) {
                continue;
            }
            let written = &text.value[reference.range.clone()];
            let place = if in_parameter { "the values of parameters" } else { "the metadata of the template" };
            let message = format!("`{written}` is not replaced: {place} cannot contain parameters");
            let finding = Finding::new(object.inside(text, reference.range.clone()), name, message);
            let finding = finding.help("parameters are replaced only in `objects`, `labels` and `message`");
            // The name and the description of a template are for people: nothing is created from them.
            findings.push(if in_parameter { finding } else { finding.at_most(Severity::Info) });
        }
    }
}

/// Whether a container in the template may have a variable of this name: a value with `$(X)` may be meant for it.
fn has_variable(object: &ObjectContext<'_>, name: &str) -> bool {
    let span = object.object.file_span(object.object.model.span);
    let inside = object.file.facts.objects.iter().filter(|it| span.touches(it.offset));
    let own = |it: &crate::k8s::Text| &*it.value == name || has_placeholder(&mask_expressions(&it.value));
    let mut containers = inside.flat_map(|it| &it.model.pods).flat_map(|it| &it.containers);
    containers.any(|it| !it.env_from.is_empty() || it.env.iter().filter_map(|it| it.name.as_ref()).any(own))
}
