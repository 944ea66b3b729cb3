//! The rule `dropped-namespace`.

use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::syntax::{ReferenceForm, parameter_references};

declare_rule! {
    /// Reports a namespace in a template that processing removes.
    ///
    /// ## What it does
    /// Looks at `metadata.namespace` of the objects of a template. It is kept only if it contains `${P}`; a plain name,
    /// and `${{P}}`, are removed. Namespaces in other fields, such as those of a RoleBinding's subjects, are kept. The
    /// finding covers the namespace.
    ///
    /// ## Why it matters
    /// The object is created in the namespace in which the template is processed, not in the written one.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: Service
    ///     metadata:
    ///       name: web
    ///       namespace: shop
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
    ///     metadata:
    ///       name: web
    ///       namespace: ${NAMESPACE}
    /// parameters:
    ///   - {name: NAMESPACE, value: shop}
    /// ```
    ///
    /// ## Fix
    /// None.
    name: "dropped-namespace",
    level: Info,
    checks: [Object(check)],
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(parameters) = &object.object.parameters else { return };
    let model = &object.object.model;
    let Some(namespace) = model.namespace.as_ref().filter(|it| !it.value.is_empty()) else { return };
    // The items of a list inside a template keep their namespaces.
    if model.kind.as_ref().is_some_and(|it| it.value.ends_with("List")) || is_list_item(object) {
        return;
    }
    let keeps =
        parameter_references(&namespace.value, parameters.dialect.is_proposal()).iter().any(|it| match it.form {
            ReferenceForm::Text => true,
            ReferenceForm::Raw => false,
            ReferenceForm::Proposed => parameters.contains(&namespace.value[it.name.clone()]),
        });
    if !keeps {
        let message = format!("processing the template removes the namespace `{}`", namespace.value);
        let finding = Finding::new(object.at(namespace.span), &namespace.value, message);
        findings.push(finding.help("use a parameter, `${NAMESPACE}`, or remove the namespace"));
    }
}

/// Whether the object is an item of a list inside the template.
fn is_list_item(object: &ObjectContext<'_>) -> bool {
    let Some((template, _)) = object.enclosing_template() else { return false };
    let offset = object.object.offset;
    let lists = object.file.facts.objects.iter().filter(|it| it.offset > template.offset && it.offset < offset);
    lists
        .filter(|it| it.model.kind.as_ref().is_some_and(|kind| kind.value.ends_with("List")))
        .any(|it| it.file_span(it.model.span).touches(offset))
}
