//! The rule `unused-parameter`.

use std::collections::HashSet;

use crate::diagnostic::Fix;
use crate::k8s::{Object, ObjectData, Parameter, Template};
use crate::k8s::{is_parameter_name, names_after_dollar};
use crate::rules::engine::{FileContext, Finding, Findings, declare_rule, edit};
use crate::rules::shared::item_removal::removed_item_span;

declare_rule! {
    /// Reports a parameter that nothing in its template refers to.
    ///
    /// ## What it does
    /// Looks for `${P}` and `${{P}}` (in templates of `apiVersion: v1` also `$(P)`) in every string and key of the
    /// objects, in `labels` and in `message`. A malformed reference, or one in a field where parameters are not
    /// replaced, counts as a use; other rules report it. A template with syntax errors is not checked. The finding
    /// covers the name.
    ///
    /// ## Why it matters
    /// Setting the parameter has no effect. Often a reference to it is misspelled or was forgotten.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: Service
    ///     metadata: {name: web}
    /// parameters:
    ///   - name: MEMORY
    ///     value: 512Mi
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
    ///   - name: NAME
    ///     value: web
    /// ```
    ///
    /// ## Fix
    /// Removes the parameter. Unsafe: scripts that set it would fail.
    name: "unused-parameter",
    level: Warning,
    checks: [File(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    for object in &file.facts.objects {
        if let ObjectData::Template(template) = &object.model.data {
            check_template(file, object, template, findings);
        }
    }
}

fn check_template(file: &FileContext<'_>, object: &Object, template: &Template, findings: &mut Findings<'_>) {
    let whole = object.file_span(object.model.span);
    // A template without objects, or with a syntax error in it, is not complete yet.
    if template.parameters.is_empty()
        || template.objects_span.is_none()
        || file.facts.errors.iter().any(|it| whole.start <= it.span.start && it.span.start <= whole.end)
    {
        return;
    }
    let first = file.facts.objects.partition_point(|it| it.offset < whole.start);
    let inside = || file.facts.objects[first..].iter().take_while(|it| it.offset < whole.end);
    let own = template.labels.iter().flat_map(|(key, value)| [key, value]).chain(&template.message);
    let own: HashSet<&str> = own
        .chain(template.unsubstituted_texts.iter().map(|(_, text)| text))
        .flat_map(|it| names_after_dollar(&it.value))
        .collect();
    let is_used = |name: &str| own.contains(name) || inside().any(|it| it.model.candidate_names.contains(name));
    for parameter in &template.parameters {
        let Some(name) = parameter.name.as_ref().filter(|it| is_parameter_name(&it.value)) else { continue };
        if is_used(&name.value) {
            continue;
        }
        let message = format!("nothing refers to the parameter `{}`", name.value);
        let finding = Finding::new(file.at(object.file_span(name.span)), &name.value, message).unnecessary();
        findings.push(finding.help("refer to it, or remove it").fix(removal_fix(file, object, parameter, &name.value)));
    }
}

fn removal_fix(file: &FileContext<'_>, object: &Object, parameter: &Parameter, name: &str) -> Option<Fix> {
    let source = file.parsed_text()?;
    let span = removed_item_span(&source.text, &source.tree, object.file_span(parameter.span))?;
    Some(Fix { title: format!("Remove the parameter `{name}`"), safe: false, edits: vec![edit(file.at(span), "")] })
}
