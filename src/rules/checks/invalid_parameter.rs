//! The rule `invalid-parameter`.

use crate::diagnostic::Fix;
use crate::k8s::{MistypedField, Parameter, ParameterType, is_parameter_name};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::rename_fix::rename_fix;
use crate::text::nearest_name;

declare_rule! {
    /// Reports a parameter with an invalid name or type, or with a value that is not a string.
    ///
    /// ## What it does
    /// Checks every parameter of a template. A name has letters, digits and underscores. Every field except `required`
    /// is a string, so `value: 8080` makes the whole template invalid. In templates of `apiVersion: v1` a `type` is one
    /// of `string`, `int`, `bool` and `base64`, and the value must fit it. The finding covers the name or the value.
    ///
    /// ## Why it matters
    /// A template with such a value cannot be read, and nothing can refer to a parameter with such a name.
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
    /// Quotes the value, or removes the quotes of `required`. Safe: nothing else can be meant. Editors also offer the
    /// most similar type.
    name: "invalid-parameter",
    level: Error,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(template) = object.template() else { return };
    for parameter in &template.parameters {
        for misfit in &parameter.mistyped_fields {
            let what = if misfit.field.is_empty() { "the parameter".to_owned() } else { format!("`{}`", misfit.field) };
            let message = format!("{what} must be {}, or the template cannot be read", misfit.wanted);
            let about = format!("{} {}", Parameter::text(&parameter.name), misfit.field);
            findings.push(Finding::new(object.at(misfit.span), about, message).fix(quote_fix(object, misfit)));
        }
        if parameter.mistyped_fields.iter().all(|it| !matches!(it.field, "" | "name")) {
            check_name(object, parameter, findings);
        }
        if template.dialect.is_proposal() {
            check_type(object, parameter, findings);
        }
    }
}

fn check_name(object: &ObjectContext<'_>, parameter: &Parameter, findings: &mut Findings<'_>) {
    let name = Parameter::text(&parameter.name);
    if is_parameter_name(name) {
        return;
    }
    let place = parameter.name.as_ref().map_or(parameter.span, |it| it.span);
    let message = match name {
        "" => "the parameter has no name".to_owned(),
        name => format!("`{name}` is not a valid name of a parameter: nothing can refer to it"),
    };
    findings.push(Finding::new(object.at(place), name, message).help("a name has letters, digits and underscores"));
}

/// The types of parameters.
const TYPES: [&str; 4] = ["string", "int", "bool", "base64"];

fn check_type(object: &ObjectContext<'_>, parameter: &Parameter, findings: &mut Findings<'_>) {
    let Some(written) = parameter.type_.as_ref().filter(|it| it.is_string && !it.value.is_empty()) else { return };
    let name = Parameter::text(&parameter.name);
    let Some(type_) = ParameterType::from_name(&written.value) else {
        let message = format!("`{}` is not a type of a parameter", written.value);
        let finding = Finding::new(object.at(written.span), name, message);
        let word = written.value.to_ascii_lowercase();
        let near = TYPES.into_iter().find(|it| word.starts_with(it)).or_else(|| nearest_name(&word, TYPES));
        let finding = finding.help("use `string`, `int`, `bool` or `base64`");
        findings.push(finding.choice(near.and_then(|near| rename_fix(object, written, near))));
        return;
    };
    let value = parameter.value.as_ref().filter(|it| it.is_string && !it.value.is_empty());
    if let Some(value) = value.filter(|it| !type_.accepts(&it.value)) {
        let message = format!("the value is not {}, as the type `{}` requires", type_.description(), written.value);
        findings.push(Finding::new(object.at(value.span), name, message).related(object.at(written.span), "the type"));
    }
}

/// The fix that adds quotes to the value, or removes those of `required`.
fn quote_fix(object: &ObjectContext<'_>, misfit: &MistypedField) -> Option<Fix> {
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
