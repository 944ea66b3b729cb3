//! The rule `string-substitution`.

use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::field_types::{ScalarType, fields_of};
use crate::rules::shared::parameter_texts::{ParameterText, default, write_reference};
use crate::syntax::{ParameterReference, ReferenceForm};

declare_rule! {
    /// Reports `${P}` in a field that expects a number or a boolean.
    ///
    /// ## What it does
    /// Knows which fields of the common kinds of Kubernetes and OpenShift are numbers or booleans, such as `replicas`,
    /// `containerPort` and `paused`. Reports `${P}` of a declared parameter in such a field; in templates of
    /// `apiVersion: v1` also `$(P)`, unless the `type` of the parameter fits the field. Ports and sizes that may be
    /// strings are not reported. The finding covers the reference.
    ///
    /// ## Why it matters
    /// `${P}` always gives a string, with or without quotes around it, and the API server rejects `replicas: "3"`.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: apps/v1
    ///     kind: Deployment
    ///     metadata: {name: web}
    ///     spec:
    ///       replicas: ${REPLICAS}
    /// parameters:
    ///   - {name: REPLICAS, value: "3"}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: apps/v1
    ///     kind: Deployment
    ///     metadata: {name: web}
    ///     spec:
    ///       replicas: ${{REPLICAS}}
    /// parameters:
    ///   - {name: REPLICAS, value: "3"}
    /// ```
    ///
    /// ## Fix
    /// Writes `${{P}}` where the reference is the whole value. Safe if the value of the parameter is a number or a
    /// boolean, as the field expects.
    name: "string-substitution",
    level: Error,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    if object.object.source.template.is_none() {
        return;
    }
    let mut fields = None;
    for place in object.parameter_texts().iter().filter(|it| !it.is_key) {
        let references = place.references();
        let Some(reference) = references.iter().find(|it| gives_string(object, place, it)) else { continue };
        let fields = fields.get_or_insert_with(|| fields_of(object.object.model));
        if let Some(scalar) = fields.and_then(|it| it.at(place.path)) {
            report(object, place, reference, scalar, findings);
        }
    }
}

/// Whether a reference to a declared parameter gives a string.
fn gives_string(object: &ObjectContext<'_>, place: &ParameterText<'_>, reference: &ParameterReference) -> bool {
    let name = place.name(reference);
    match reference.form {
        ReferenceForm::Raw => false,
        ReferenceForm::Text => place.parameters.contains(name),
        ReferenceForm::Proposed => {
            let is_whole = reference.range == (0..place.text.value.len());
            place.parameters.contains(name) && !(is_whole && has_scalar_type(object, name))
        }
    }
}

/// Whether the type of a parameter is a number or a boolean.
fn has_scalar_type(object: &ObjectContext<'_>, name: &str) -> bool {
    let Some((_, template)) = object.enclosing_template() else { return true };
    let mut named = template.parameters.iter().filter(|it| it.name.as_ref().is_some_and(|it| &*it.value == name));
    named.any(|it| it.type_.as_ref().is_some_and(|it| matches!(&*it.value, "int" | "bool")))
}

fn report(
    object: &ObjectContext<'_>,
    place: &ParameterText<'_>,
    reference: &ParameterReference,
    scalar: ScalarType,
    findings: &mut Findings<'_>,
) {
    let (name, written) = (place.name(reference), place.written(reference));
    let new = write_reference(name, ReferenceForm::Raw);
    let field = place.path.rsplit('.').next().unwrap_or(place.path);
    let message = format!("`{field}` must be {}, but `{written}` gives a string", scalar.in_words());
    let is_whole = reference.range == (0..place.text.value.len());
    let fits = default(place.parameters, name).is_none_or(|it| scalar.fits(it));
    let fix = is_whole
        .then(|| object.rewrite_fix(place.text, reference.range.clone(), &new, format!("Write `{new}`"), fits))
        .flatten();
    let help = if is_whole {
        format!("write `{new}`")
    } else {
        "use one parameter for the whole value, written with two braces".to_owned()
    };
    findings.push(Finding::new(object.inside(place.text, reference.range.clone()), name, message).help(help).fix(fix));
}
