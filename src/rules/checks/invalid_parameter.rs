//! The rule `invalid-parameter`.

use crate::diagnostic::Fix;
use crate::k8s::is_parameter_name;
use crate::k8s::{MistypedField, Parameter};
use crate::resolve::ParameterType;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule, edit};

declare_rule! {
    /// Reports a parameter that cannot be used: its name, its type, or a value that is no string.
    ///
    /// ## What it does
    /// Looks at every parameter of a template. A name has letters, digits and underscores; every field but `required` is a
    /// string, so `value: 8080` is refused as a whole_reference; in templates of plain `v1` a `type` is one of `string`, `int`,
    /// `bool` and `base64`, and the value has to fit it. The finding covers the name or the value.
    ///
    /// ## Why it matters
    /// A template with such a value cannot be read at all, and a parameter with such a name can never be referred to.
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
    ///       name: web-${PORT}
    /// parameters:
    ///   - name: PORT
    ///     value: 8080
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
    ///       name: web-${PORT}
    /// parameters:
    ///   - name: PORT
    ///     value: "8080"
    /// ```
    ///
    /// ## Fix
    /// Puts a value in quotes, and takes those of `required` away. Safe: nothing else can be meant.
    name: "invalid-parameter",
    level: Error,
    checks: [Object(check)],
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(template) = object.template() else { return };
    for parameter in &template.parameters {
        for misfit in &parameter.mistyped_fields {
            let what = if misfit.field.is_empty() { "a parameter".to_owned() } else { format!("`{}`", misfit.field) };
            let message = format!("{what} has to be {}, or the template cannot be read", misfit.wanted);
            let about = format!("{} {}", Parameter::text(&parameter.name), misfit.field);
            findings.push(Finding::new(object.at(misfit.span), about, message).fix(requoted(object, misfit)));
        }
        if parameter.mistyped_fields.iter().all(|it| !matches!(it.field, "" | "name")) {
            name(object, parameter, findings);
        }
        if template.dialect.is_proposal() {
            type_(object, parameter, findings);
        }
    }
}

fn name(object: &ObjectContext<'_>, parameter: &Parameter, findings: &mut Findings<'_>) {
    let name = Parameter::text(&parameter.name);
    if is_parameter_name(name) {
        return;
    }
    let place = parameter.name.as_ref().map_or(parameter.span, |it| it.span);
    let message = match name {
        "" => "a parameter needs a name".to_owned(),
        name => format!("`{name}` is no name of a parameter: nothing can refer to it"),
    };
    findings.push(Finding::new(object.at(place), name, message).help("letters, digits and underscores make a name"));
}

fn type_(object: &ObjectContext<'_>, parameter: &Parameter, findings: &mut Findings<'_>) {
    let Some(written) = parameter.type_.as_ref().filter(|it| it.is_string && !it.value.is_empty()) else { return };
    let name = Parameter::text(&parameter.name);
    let Some(type_) = ParameterType::from_name(&written.value) else {
        let message = format!("`{}` is no type of a parameter", written.value);
        let finding = Finding::new(object.at(written.span), name, message);
        findings.push(finding.help("it is one of `string`, `int`, `bool` and `base64`"));
        return;
    };
    let value = parameter.value.as_ref().filter(|it| it.is_string && !it.value.is_empty());
    if let Some(value) = value.filter(|it| !type_.accepts(&it.value)) {
        let message = format!("the value is not {}, as the type `{}` wants it", type_.description(), written.value);
        findings.push(Finding::new(object.at(value.span), name, message).related(object.at(written.span), "its type"));
    }
}

/// The value with quotes around it, or `required` without.
fn requoted(object: &ObjectContext<'_>, misfit: &MistypedField) -> Option<Fix> {
    let text = misfit.text.as_ref()?;
    let source = object.file.parsed_text()?;
    let span = object.object.file_span(misfit.span);
    let written = source.text.get(span.range())?;
    let new = match misfit.field {
        "" => return None,
        "required" if matches!(&*text.value, "true" | "false") => text.value.to_string(),
        "required" => return None,
        _ if !text.is_string && !written.contains(['"', '\\', '\n']) => format!("\"{written}\""),
        _ => return None,
    };
    Some(Fix { title: format!("Write `{new}`"), safe: true, edits: vec![edit(object.file.at(span), new)] })
}
