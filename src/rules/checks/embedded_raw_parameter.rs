//! The rule `embedded-raw-parameter`.

use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::parameter_texts::write_reference;
use crate::syntax::ReferenceForm;

declare_rule! {
    /// Reports `${{P}}` with something around it: it is not replaced at all.
    ///
    /// ## What it does
    /// `${{P}}` puts a value of any type in the place of a whole string. It reports one of a declared parameter that has
    /// text before or behind it, be it the line break at the end of a block. The finding covers the reference.
    ///
    /// ## Why it matters
    /// The text stays as it is, `${{P}}` and all.
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
    ///       name: web-${{NAME}}
    /// parameters:
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
    ///       name: web-${NAME}
    /// parameters:
    ///   - {name: NAME, value: shop}
    /// ```
    ///
    /// ## Fix
    /// Writes `${P}`. Safe: inside a string only text can be put in.
    name: "embedded-raw-parameter",
    level: Error,
    checks: [Object(check)],
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    for place in object.parameter_texts() {
        for reference in place.references() {
            let name = place.name(&reference);
            if reference.form != ReferenceForm::Raw
                || reference.is_substituted_in(&place.text.value)
                || !place.parameters.contains(name)
            {
                continue;
            }
            let written = place.written(&reference);
            let new = write_reference(name, ReferenceForm::Text);
            let around = place.text.value.replacen(written, "", 1);
            let reason = if around.trim().is_empty() {
                "the blank or line break beside it is in the way"
            } else {
                "it has text around it"
            };
            let message = format!("`{written}` stays as it is, since {reason}");
            let fix = object.rewrite_fix(place.text, reference.range.clone(), &new, format!("Write `{new}`"), true);
            findings.push(
                Finding::new(object.inside(place.text, reference.range.clone()), name, message)
                    .help(format!("write `{new}`"))
                    .fix(fix),
            );
        }
    }
}
