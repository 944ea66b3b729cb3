//! The rule `duplicate-parameter`.

use std::collections::HashMap;

use crate::k8s::Text;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::item_removal::remove_item_around;

declare_rule! {
    /// Reports a parameter that is declared twice in one template.
    ///
    /// ## What it does
    /// Compares the names of the parameters of a template. The finding covers the name of the later one.
    ///
    /// ## Why it matters
    /// The template is accepted. References use the last declaration, but `oc process -p` sets the first: a value from
    /// the command line is lost without a warning.
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
    ///       name: ${NAME}
    /// parameters:
    ///   - {name: NAME, value: web}
    ///   - {name: NAME, value: shop}
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
    ///       name: ${NAME}
    /// parameters:
    ///   - {name: NAME, value: shop}
    /// ```
    ///
    /// ## Fix
    /// Editors offer to remove the earlier or the later declaration. Only the author knows which of the two is meant.
    name: "duplicate-parameter",
    level: Error,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(template) = object.template() else { return };
    let mut seen = HashMap::new();
    for name in template.parameters.iter().filter_map(|it| it.name.as_ref()).filter(|it| !it.value.is_empty()) {
        if let Some(before) = seen.insert(&*name.value, name) {
            let message = format!(
                "the parameter `{}` is declared twice: references use the last declaration, `-p` sets the first",
                name.value
            );
            let finding = Finding::new(object.at(name.span), &name.value, message)
                .related(object.at(before.span), "the earlier declaration");
            let remove = |name: &Text, title| remove_item_around(object, name.span, title);
            findings.push(
                finding
                    .help("remove one of the two")
                    .choice(remove(name, format!("Remove this declaration of `{}`", name.value)))
                    .choice(remove(before, format!("Remove the earlier declaration of `{}`", name.value))),
            );
        }
    }
}
