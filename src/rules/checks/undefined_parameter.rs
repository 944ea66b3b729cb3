//! The rule `undefined-parameter`.

use crate::diagnostic::Fix;
use crate::k8s::{Container, EnvVar, Object, ObjectData, Parameters, Text};
use crate::rules::engine::{FileContext, Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::param_file_templates::templates_of_param_file;
use crate::rules::shared::parameter_texts::{ParameterText, near, write_reference};
use crate::syntax::{ParameterReference, ReferenceForm, parameter_references, parse_param_file};
use crate::text::{is_slip_of, nearest_name};

declare_rule! {
    /// Reports `${P}` in an object of a template that has no such parameter.
    ///
    /// ## What it does
    /// Looks at names, labels and other fields of the objects in a template, and at the `labels` and the `message` of
    /// the template. In templates of `apiVersion: v1` it also reports `$(P)`, except where it may be a variable: in the
    /// values of variables, in commands, arguments and `subPathExpr`.
    ///
    /// In text in which `${P}` may be meant for another program, it reports a name that is a misspelled parameter, such
    /// as `${HSOT}` beside `HOST`. This is the text of scripts, Jenkinsfiles, Dockerfiles, command lines, data of
    /// ConfigMaps and Secrets, annotations, longer values of variables, and fields of unknown kinds. In data, annotations
    /// and unknown kinds it also reports a reference in capitals that is the whole value, or a value in JSON. Names that
    /// a shell, the text or a container of the object defines are not reported. The finding covers the reference.
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
            let is_undefined = !place.parameters.contains(name) && !is_number;
            if is_undefined && is_for_template(object, &place, reference) && !is_declared_around(object, name) {
                report(object, &place, reference, findings);
            }
        }
    }
}

/// Whether a template around the object declares the name: one inside the template is processed later, with its own
/// parameters. `refused-object` reports a parameter among the objects.
fn is_declared_around(object: &ObjectContext<'_>, name: &str) -> bool {
    let at = object.object.source.offset;
    let around = |it: &&Object| it.offset <= at && at < it.file_span(it.model.span).end;
    object.file.facts.objects.iter().filter(around).any(|it| match &it.model.data {
        ObjectData::Template(template) => {
            let declared = template.parameters.iter().filter_map(|it| it.name.as_ref());
            declared.chain(&template.misplaced_parameters).any(|it| &*it.value == name)
        }
        _ => false,
    })
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

/// Fields whose text is code of another program.
const CODE: [&str; 10] = [
    "binaryData",
    "command",
    "args",
    "exec",
    "script",
    "jenkinsfile",
    "dockerfile",
    "postCommit",
    "buildArgs",
    "pipelineSpec",
];

/// Fields whose text may be a file of another program.
const DATA: [&str; 4] = ["data", "stringData", "annotations", "config"];

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
    let (text, name) = (&*place.text.value, place.name(reference));
    match reference.form {
        ReferenceForm::Proposed => !may_be_variable(object, place, name) && is_plain_field(object, place, reference),
        // Two braces around a name are an expression of another language.
        ReferenceForm::Text if text.contains("${{") => false,
        ReferenceForm::Text | ReferenceForm::Raw => {
            is_plain_field(object, place, reference)
                || !is_known_to_others(object, text, name)
                    && (is_slip(place.parameters, name) || is_value_for_template(object, place, reference))
        }
    }
}

/// Whether no other program reads the text: it is one word in a field of a known kind.
fn is_plain_field(object: &ObjectContext<'_>, place: &ParameterText<'_>, reference: &ParameterReference) -> bool {
    let text = &*place.text.value;
    if text.contains(char::is_whitespace) {
        return false;
    }
    // Only the template uses its own texts and the metadata of its objects.
    let in_metadata = place.path.starts_with("metadata.") && !place.path.starts_with("metadata.annotations");
    if object.template().is_some() || in_metadata {
        return true;
    }
    let is_other = |field: &str| CODE.contains(&field) || DATA.contains(&field);
    if place.path.split(['.', '[']).any(is_other) || !is_known_group(&object.object.model.api_version) {
        return false;
    }
    // In a longer value the program may replace `${P}` itself.
    let is_value = place.path.ends_with("].value");
    !is_value || reference.range == (0..text.len()) && !is_known_to_others(object, text, place.name(reference))
}

/// Whether a reference in a text that another program may read is meant for the template: the `message`, a reference
/// that is the whole value of data or of a field of a custom resource, or a value in JSON.
fn is_value_for_template(
    object: &ObjectContext<'_>,
    place: &ParameterText<'_>,
    reference: &ParameterReference,
) -> bool {
    let (text, name) = (&*place.text.value, place.name(reference));
    let is_parameter_style = name.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_');
    if !is_parameter_style || place.is_key || place.path.split(['.', '[']).any(|field| CODE.contains(&field)) {
        return false;
    }
    let is_message = object.template().is_some() && place.path == "message";
    let is_whole = text.trim() == place.written(reference);
    is_message || is_whole || is_value_in_json(text, reference)
}

/// Whether a text is JSON, and a reference a value in it.
fn is_value_in_json(text: &str, reference: &ParameterReference) -> bool {
    let is_whole = match (text[..reference.range.start].trim_end(), text[reference.range.end..].trim_start()) {
        (before, after) if before.ends_with('"') => after.starts_with('"'),
        (before, after) => before.ends_with([':', '[', ',']) && after.starts_with([',', ']', '}']),
    };
    // Grafana has inputs of its own.
    let is_input = text[reference.name.clone()].starts_with("DS_");
    is_whole && !is_input && text.trim_start().starts_with(['{', '[']) && is_json(text)
}

/// Whether a text is JSON once its references have values.
fn is_json(text: &str) -> bool {
    let mut replaced = String::with_capacity(text.len());
    let mut at = 0;
    for reference in parameter_references(text, false) {
        replaced.push_str(&text[at..reference.range.start]);
        replaced.push('0');
        at = reference.range.end;
    }
    replaced.push_str(&text[at..]);
    serde_json::from_str::<serde::de::IgnoredAny>(&replaced).is_ok()
}

/// Variables that shells and container runtimes set.
const RUNTIME: [&str; 13] =
    ["HOSTNAME", "HOME", "PATH", "PWD", "USER", "SHELL", "LANG", "TERM", "TMPDIR", "TMP", "LOGNAME", "UID", "RANDOM"];

/// Whether another program knows the name: a shell, a container of the object, or the text itself, which has it as a word
/// outside of references. A variable `X` whose value is `${X}` gets its value from the template.
fn is_known_to_others(object: &ObjectContext<'_>, text: &str, name: &str) -> bool {
    let containers = || object.object.model.pods.iter().flat_map(|pod| &pod.containers).flat_map(|it| &it.env);
    let is_name = |it: &EnvVar| it.name.as_ref().is_some_and(|it| &*it.value == name);
    let is_passed_on =
        |it: &EnvVar| it.value.as_ref().and_then(|it| it.value.strip_prefix("${")?.strip_suffix('}')) == Some(name);
    RUNTIME.contains(&name) || containers().any(|it| is_name(it) && !is_passed_on(it)) || has_word(text, name)
}

/// Whether a text has a word that is not part of a reference.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(['{', '$']) && !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// Whether a name is a misspelled parameter, wherever it is. Scripts often have `HOSTS` beside `HOST`.
fn is_slip(parameters: &Parameters, name: &str) -> bool {
    let is_plural = |one: &str, other: &str| one.strip_suffix(['S', 's']) == Some(other);
    parameters.names().any(|it| is_slip_of(name, it) && !is_plural(name, it) && !is_plural(it, name))
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
