//! The rule `undefined-parameter`.

use crate::diagnostic::Fix;
use crate::k8s::{Container, Text};
use crate::rules::engine::{FileContext, Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::param_file_templates::templates_of_param_file;
use crate::rules::shared::parameter_texts::{ParameterText, near, write_reference};
use crate::rules::shared::similar_names::nearest_name;
use crate::syntax::{ParameterReference, ReferenceForm, parse_param_file};

declare_rule! {
    /// Reports `${P}` in an object of a template that has no such parameter.
    ///
    /// ## What it does
    /// Looks at names, labels and other fields of the objects in a template, and at the `labels` and the `message` of
    /// the template. In templates of `apiVersion: v1` it also reports `$(P)`, except where it may be a variable: in the
    /// values of variables, in commands, arguments and `subPathExpr`. Text in which `${P}` may be meant for another program is not checked: scripts, Jenkinsfiles,
    /// Dockerfiles, data of ConfigMaps and Secrets, command lines, text of several words or lines, longer values of
    /// variables, and fields of unknown kinds. The finding covers the reference.
    ///
    /// In a parameter file, `*.params` or `*.env`, it reports names that are not parameters of the templates of this
    /// file; the finding covers the name. A file is a parameter file if most of its names are parameters of the
    /// templates in its directory, or else in the parent directory, and no pod reads it.
    ///
    /// ## Why it matters
    /// Processing does not change such text, and gives no warning. The object gets a name such as `${NAEM}-web`, and
    /// the API server rejects it, or nothing finds it.
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
    ///       name: ${NAEM}-web
    /// parameters:
    ///   - name: NAME
    ///     value: shop
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
    ///       name: ${NAME}-web
    /// parameters:
    ///   - name: NAME
    ///     value: shop
    /// ```
    ///
    /// ## Fix
    /// Writes the most similar parameter, or declares the missing one. Unsafe: only the author knows what was meant.
    name: "undefined-parameter",
    level: Warning,
    checks: [Object(check), File(check_param_file)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    for place in object.parameter_texts() {
        let references = place.references();
        for reference in references.iter().filter(|it| it.is_substituted_in(&place.text.value)) {
            let name = place.name(reference);
            let is_number = name.bytes().all(|it| it.is_ascii_digit());
            if !place.parameters.contains(name) && !is_number && is_for_template(object, &place, reference) {
                report(object, &place, reference, findings);
            }
        }
    }
}

/// Reports names in a parameter file that are not parameters of its templates: `oc process` rejects them.
fn check_param_file(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    if !file.facts.is_env_format() {
        return;
    }
    let Some(source) = file.parsed_text() else { return };
    let entries = parse_param_file(&source.text);
    let belonging = templates_of_param_file(file.snapshot, file.path, &entries);
    let owner = match belonging.templates.as_slice() {
        [one] => format!("the template in `{}` has", one.file.rsplit('/').next().unwrap_or(one.file)),
        _ => "the templates in this directory have".to_owned(),
    };
    for entry in entries.entries.iter().filter(|it| belonging.is_unknown(&it.name)) {
        let message = format!("{owner} no parameter `{}`", entry.name);
        let mut finding = Finding::new(file.at(entry.name_span), &entry.name, message);
        finding = match nearest_name(&entry.name, belonging.known()) {
            Some(near) => {
                let edits = vec![edit(file.at(entry.name_span), near)];
                let fix = Fix { title: format!("Write `{near}`"), safe: false, edits };
                finding.help(format!("did you mean `{near}`?")).fix(Some(fix))
            }
            None => finding.help("`oc process` rejects it without `--ignore-unknown-parameters`"),
        };
        findings.push(finding);
    }
}

fn report(
    object: &ObjectContext<'_>,
    place: &ParameterText<'_>,
    reference: &ParameterReference,
    findings: &mut Findings<'_>,
) {
    let (name, written) = (place.name(reference), place.written(reference));
    let message = format!("`{written}` is not replaced: the template has no parameter `{name}`");
    let mut finding = Finding::new(object.inside(place.text, reference.range.clone()), name, message);
    if let Some(near) = near(place.parameters, name) {
        let new = write_reference(near, reference.form);
        let title = format!("Write `{new}`");
        let fix = object.rewrite_fix(place.text, reference.range.clone(), &new, title, false);
        finding = finding.help(format!("did you mean `{new}`?")).fix(fix);
    } else {
        finding = finding.help(format!("declare `{name}` in `parameters`"));
    }
    findings.push(finding.fix(object.declare_parameter_fix(name)));
}

/// Fields whose text may be meant for another program.
const OTHERS: [&str; 14] = [
    "data",
    "stringData",
    "binaryData",
    "command",
    "args",
    "exec",
    "script",
    "jenkinsfile",
    "dockerfile",
    "postCommit",
    "annotations",
    "buildArgs",
    "pipelineSpec",
    "config",
];

/// API groups whose fields have no text for other template engines.
const KNOWN: [&str; 12] = [
    "",
    "apps",
    "batch",
    "extensions",
    "autoscaling",
    "policy",
    "networking.k8s.io",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "settings",
    "settings.k8s.io",
    "redhatcop.redhat.io",
];

/// Whether the reference is certainly meant for the template.
fn is_for_template(object: &ObjectContext<'_>, place: &ParameterText<'_>, reference: &ParameterReference) -> bool {
    let text = &*place.text.value;
    if reference.form == ReferenceForm::Proposed && may_be_variable(object, place, place.name(reference)) {
        return false;
    }
    if text.contains(char::is_whitespace) || text.contains("${{") && reference.form == ReferenceForm::Text {
        return false;
    }
    // Only the template uses its own texts and the metadata of its objects.
    let in_metadata = place.path.starts_with("metadata.") && !place.path.starts_with("metadata.annotations");
    if object.template().is_some() || in_metadata {
        return true;
    }
    let mut steps = place.path.split(['.', '[']);
    if steps.any(|step| OTHERS.contains(&step)) || !is_known_group(&object.object.model.api_version) {
        return false;
    }
    // In a longer value the program may replace `${P}` itself.
    let is_value = place.path.ends_with("].value");
    !is_value || reference.range == (0..text.len())
}

/// Whether `$(X)` may be a variable: Kubernetes expands the field, or a container has a variable of this name, which
/// `unexpanded-field` reports.
fn may_be_variable(object: &ObjectContext<'_>, place: &ParameterText<'_>, name: &str) -> bool {
    let is_expanded = !place.is_key && (place.path.ends_with("].value") || place.path.ends_with(".subPathExpr"));
    let declares = |it: &Container| {
        !it.env_from.is_empty() || it.env.iter().any(|it| it.name.as_ref().is_some_and(|it| &*it.value == name))
    };
    let mut pods = object.object.model.pods.iter();
    is_expanded || pods.any(|pod| place.path.starts_with(&*pod.path) && pod.containers.iter().any(|it| declares(it)))
}

fn is_known_group(api_version: &Option<Text>) -> bool {
    let version = api_version.as_ref().map_or("", |it| &it.value);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    KNOWN.contains(&group) || group.ends_with(".openshift.io")
}
