//! The rule `unused-parameter`.

use std::cell::OnceCell;
use std::collections::HashSet;

use crate::diagnostic::{Fix, Severity};
use crate::k8s::{Object, ObjectData, Parameter, Template, Text};
use crate::k8s::{is_parameter_name, names_after_dollar};
use crate::rules::engine::{FileContext, Finding, Findings, declare_rule, edit};
use crate::rules::shared::item_removal::removed_item_span;
use crate::text::{is_slip_of, nearest_name};
use crate::workspace::{IncludeKind, Inclusion, is_in_test_directory};

declare_rule! {
    /// Reports a parameter that nothing in its template refers to.
    ///
    /// ## What it does
    /// Looks for `${P}` and `${{P}}` (in templates of `apiVersion: v1` also `$(P)`) in every string and key of the
    /// objects, in `labels` and in `message`. A malformed reference, or one in a field where parameters are not
    /// replaced, counts as a use; other rules report it. A template with syntax errors is not checked. The finding
    /// covers the name.
    ///
    /// The finding is a hint where something else may use or set the parameter: a kustomization builds the template, and
    /// its patches can add references; the template has no objects yet, or most of its parameters are unused, as in a
    /// skeleton that a script fills; a comment at the top says that a program wrote the file; it is in a directory of tests
    /// or examples; or pipelines give every template such a parameter, as they do with `IMAGE_TAG`.
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
    /// Removes the parameter. Unsafe: scripts that set it would fail. If a reference has a similar name, only editors offer
    /// it.
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
    let is_declared =
        |name: &str| template.parameters.iter().any(|it| it.name.as_ref().is_some_and(|it| &*it.value == name));
    let undeclared = OnceCell::new();
    let is_misspelled = |name: &str| {
        let all = || -> HashSet<&str> {
            let referred = inside().flat_map(|it| it.model.candidate_names.iter()).chain(own.iter().copied());
            referred.filter(|it| !is_declared(it)).collect()
        };
        undeclared.get_or_init(all).iter().any(|it| nearest_name(it, [name]).is_some())
    };
    // `undefined-parameter` reports the slip, and this is its consequence.
    let slips = OnceCell::new();
    let is_consequence = |name: &str| {
        let all = || -> Vec<&str> {
            inside().flat_map(|it| it.model.candidate_names.iter()).filter(|it| !is_declared(it)).collect()
        };
        slips.get_or_init(all).iter().any(|it| is_slip_of(it, name))
    };
    let named = template.parameters.iter().filter_map(|it| Some((it, it.name.as_ref()?)));
    let unused: Vec<(&Parameter, &Text)> =
        named.filter(|(_, name)| is_parameter_name(&name.value) && !is_used(&name.value)).collect();
    if unused.is_empty() {
        return;
    }
    // `duplicate-parameter` reports the second one.
    let mut seen = HashSet::new();
    let unused: Vec<(&Parameter, &Text)> = unused.into_iter().filter(|(_, name)| seen.insert(&*name.value)).collect();
    let is_completed = template.is_empty
        || unused.len() >= SKELETON_SIZE && unused.len() * 2 > template.parameters.len()
        || is_built_by_another_file(file)
        || is_in_test_directory(file.path)
        || is_output_of_program(file);
    for (parameter, name) in unused {
        let message = format!("nothing refers to the parameter `{}`", name.value);
        let finding = Finding::new(file.at(object.file_span(name.span)), &name.value, message).unnecessary();
        let finding = finding.help("refer to it, or remove it");
        let removal = removal_fix(file, object, parameter, &name.value);
        // A misspelled reference to it has a fix too, which needs the parameter.
        let is_misspelled = is_misspelled(&name.value);
        let finding = if is_misspelled { finding.choice(removal) } else { finding.fix(removal) };
        let is_hint = is_completed
            || is_called_unused(parameter)
            || is_misspelled && is_consequence(&name.value)
            || !is_misspelled && (is_set_by_convention(&name.value) || is_in_skipped_text(file, &name.value));
        findings.push(if is_hint { finding.at_most(Severity::Hint) } else { finding });
    }
}

/// Whether a comment, or an entry that a later one with the same key replaces, refers to a parameter.
fn is_in_skipped_text(file: &FileContext<'_>, name: &str) -> bool {
    file.parsed_text().is_some_and(|it| {
        [format!("${{{name}}}"), format!("${{{{{name}}}}}")].iter().any(|form| it.text.contains(form))
    })
}

/// Whether the description says that nothing uses the parameter.
fn is_called_unused(parameter: &Parameter) -> bool {
    let description = Parameter::text(&parameter.description).to_ascii_lowercase();
    ["unused", "not used", "no longer used", "deprecated", "obsolete"].iter().any(|it| description.contains(it))
}

/// The number of unused parameters from which a template that uses fewer than half of them is a skeleton.
const SKELETON_SIZE: usize = 5;

/// Whether a kustomization or chart builds the file: its patches may refer to the parameters.
fn is_built_by_another_file(file: &FileContext<'_>) -> bool {
    let builds = |it: &Inclusion| {
        !matches!(
            it.kind,
            IncludeKind::Delivery | IncludeKind::ViewPath | IncludeKind::Parameters | IncludeKind::Values
        )
    };
    file.snapshot.included_by(file.path).iter().any(builds)
}

/// Whether a comment at the top says that a program wrote the file: that program decides about the parameters.
fn is_output_of_program(file: &FileContext<'_>) -> bool {
    let Some(source) = file.parsed_text() else { return false };
    let mut head = source.text.lines().take(10).filter_map(|it| it.trim_start().strip_prefix('#'));
    head.any(|it| {
        let it = it.trim().to_ascii_lowercase();
        it.starts_with("source: ") || it.contains("do not edit") || it.contains("generated by")
    })
}

/// Whether pipelines give every template a parameter of this name: what was built, and where it is deployed.
fn is_set_by_convention(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    const CONVENTIONAL: [&str; 12] = [
        "CHANNEL",
        "REGISTRY_IMG",
        "REPO_NAME",
        "NAMESPACE",
        "ENVIRONMENT",
        "ENV_NAME",
        "ENV",
        "VERSION",
        "TAG",
        "SUFFIX",
        "IDENTIFIER",
        "CHANGE_ID",
    ];
    CONVENTIONAL.contains(&&*name)
        || ["IMAGE_TAG", "IMAGE_DIGEST", "REPO_DIGEST", "GIT_HASH", "GIT_SHA", "GIT_COMMIT", "COMMIT_SHA"]
            .iter()
            .any(|word| name.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with('_')))
}

fn removal_fix(file: &FileContext<'_>, object: &Object, parameter: &Parameter, name: &str) -> Option<Fix> {
    let source = file.parsed_text()?;
    let span = removed_item_span(&source.text, &source.tree, object.file_span(parameter.span))?;
    Some(Fix { title: format!("Remove the parameter `{name}`"), safe: false, edits: vec![edit(file.at(span), "")] })
}
