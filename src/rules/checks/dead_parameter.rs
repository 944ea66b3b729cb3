//! The rule `dead-parameter`.

use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::syntax::{ReferenceForm, parameter_references};

declare_rule! {
    /// Reports a reference to a parameter in a field of the template where parameters are not replaced.
    ///
    /// ## What it does
    /// Parameters are replaced only in `objects`, `labels` and `message`. Reports `${P}` of a declared parameter in the
    /// template's own metadata, in its `apiVersion` and `kind`, and in the values of parameters. Descriptions and
    /// display names of parameters are prose and not checked. The finding covers the reference.
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
        if in_parameter && !matches!(field, "value" | "from") {
            continue;
        }
        for reference in parameter_references(&text.value, template.dialect.is_proposal()) {
            let name = &text.value[reference.name.clone()];
            // `$(X)` in a value may refer to a variable of the container that gets the value.
            if !template.exported.contains(name) || reference.form == ReferenceForm::Proposed && in_parameter {
                continue;
            }
            let written = &text.value[reference.range.clone()];
            let place = if in_parameter { "the values of parameters" } else { "the metadata of the template" };
            let message = format!("`{written}` is not replaced: {place} cannot contain parameters");
            let finding = Finding::new(object.inside(text, reference.range.clone()), name, message);
            findings.push(finding.help("parameters are replaced only in `objects`, `labels` and `message`"));
        }
    }
}
