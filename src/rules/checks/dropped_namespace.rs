//! The rule `dropped-namespace`.

use crate::diagnostic::Fix;
use crate::k8s::Text;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::item_removal::remove_field;
use crate::syntax::YamlValue;

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
    /// Editors offer to remove the namespace, or to replace it by the parameter `${NAMESPACE}`. Only the author knows
    /// which of the two is meant.
    name: "dropped-namespace",
    level: Info,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(template) = &object.object.source.template else { return };
    let model = object.object.model;
    let Some(namespace) = model.namespace.as_ref().filter(|it| !it.value.is_empty()) else { return };
    // A list, and the items of a list inside a template, keep their namespaces.
    if model.kind.as_ref().is_some_and(|it| it.value.ends_with("List")) || template.is_list_item {
        return;
    }
    let keeps = template.parameters.keeps_namespace(&namespace.value);
    if !keeps {
        let message = format!("processing the template removes the namespace `{}`", namespace.value);
        let finding = Finding::new(object.at(namespace.span), &namespace.value, message);
        let removal = remove_field(object.file, &object.at(namespace.span), "Remove the namespace".into());
        let finding = finding.help("use a parameter, `${NAMESPACE}`, or remove the namespace").choice(removal);
        findings.push(finding.choice(parameter_fix(object, namespace)));
    }
}

/// Replaces the namespace by a parameter with this value.
fn parameter_fix(object: &ObjectContext<'_>, namespace: &Text) -> Option<Fix> {
    const NAME: &str = "NAMESPACE";
    let is_declared = object.object.source.template.as_ref().is_some_and(|it| it.parameters.contains(NAME));
    let fields = [("name", YamlValue::text(NAME)), ("value", YamlValue::text(&*namespace.value))];
    let declaration = if is_declared { None } else { Some(object.declare_parameter_edit(&fields)?) };
    let span = object.literal_span(namespace)?;
    let edits = std::iter::once(edit(object.file.at(span), format!("${{{NAME}}}"))).chain(declaration).collect();
    Some(Fix { title: format!("Write `${{{NAME}}}`"), safe: false, edits })
}
