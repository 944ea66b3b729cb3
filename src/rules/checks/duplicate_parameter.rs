//! The rule `duplicate-parameter`.

use std::collections::HashMap;

use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};

declare_rule! {
    /// Reports a parameter that is declared twice in one template.
    ///
    /// ## What it does
    /// Compares the names of the parameters of a template. The finding covers the name of the later one.
    ///
    /// ## Why it matters
    /// Nothing refuses it. References get the value of the last one, but `oc process -p` sets the first: a value that is
    /// given on the command line is silently lost.
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
    /// None: which of the two is meant, only the author knows.
    name: "duplicate-parameter",
    level: Error,
    checks: [Object(check)],
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(template) = object.template() else { return };
    let mut seen = HashMap::new();
    for name in template.parameters.iter().filter_map(|it| it.name.as_ref()).filter(|it| !it.value.is_empty()) {
        if let Some(before) = seen.insert(&*name.value, name) {
            let message = format!(
                "the parameter `{}` is declared twice: references get the last one, `-p` sets the first",
                name.value
            );
            let finding = Finding::new(object.at(name.span), &name.value, message)
                .related(object.at(before.span), "declared here before");
            findings.push(finding.help("remove one of the two"));
        }
    }
}
