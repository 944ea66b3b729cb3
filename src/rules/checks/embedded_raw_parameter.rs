//! The rule `embedded-raw-parameter`.

use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::parameter_texts::write_reference;
use crate::syntax::ReferenceForm;

declare_rule! {
    /// Reports `${{P}}` with text around it: it is not replaced.
    ///
    /// ## What it does
    /// `${{P}}` replaces a whole string by a value of any type. Reports a reference to a declared parameter that has
    /// text before or after it, even if that is only the line break at the end of a block. The finding covers the
    /// reference.
    ///
    /// ## Why it matters
    /// The text `${{P}}` is not replaced.
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
    /// Writes `${P}`. Safe: inside a string only text can be inserted.
    name: "embedded-raw-parameter",
    level: Error,
    checks: [Object(check)],
    sees: Source,
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
                "there is a space or line break next to it"
            } else {
                "there is text around it"
            };
            let message = format!("`{written}` is not replaced: {reason}");
            let fix = object.rewrite_fix(place.text, reference.range.clone(), &new, format!("Write `{new}`"), true);
            findings.push(
                Finding::new(object.inside(place.text, reference.range.clone()), name, message)
                    .help(format!("write `{new}`"))
                    .fix(fix),
            );
        }
    }
}
