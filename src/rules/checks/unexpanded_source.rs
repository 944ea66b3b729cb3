//! The rule `unexpanded-source`.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{Container, DataEntry, ObjectData, Text, VariableScope};
use crate::resolve::{Binding, Lookup, OriginKind};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::data_users::{data_users, variable_of};
use crate::syntax::{ReferenceForm, dollar_tokens, has_placeholder, template_parameters};

declare_rule! {
    /// Reports `$(X)` or `${X}` in a ConfigMap or Secret whose value becomes a variable: it is never expanded.
    ///
    /// ## What it does
    /// Looks at values of ConfigMaps and Secrets that a container in the workspace gets through `envFrom` or `valueFrom`,
    /// and reports references to variables that this container has. Values of several lines, and keys that are not names
    /// of variables, are files and not checked. The finding covers the reference; in a Secret it covers the value, and
    /// does not show it.
    ///
    /// ## Why it matters
    /// Kubernetes expands references only in `value` of `env`, in `command` and `args`. The program gets the text
    /// `$(HOST)`, unless it expands the text itself.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data:
    ///   URL: http://$(HOST)/
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - configMapRef: {name: settings}
    ///       env:
    ///         - {name: HOST, value: shop.example.com}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - {name: HOST, value: shop.example.com}
    ///         - {name: URL, value: http://$(HOST)/}
    /// ```
    ///
    /// ## Fix
    /// None: the value has to move to another object.
    name: "unexpanded-source",
    level: Info,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let (kind, data) = match &object.object.model.data {
        ObjectData::ConfigMap(data) => (OriginKind::ConfigMap, data),
        ObjectData::Secret(data) => (OriginKind::Secret, data),
        _ => return,
    };
    let keys = data.keys.iter().filter(|it| is_variable_name(&it.key.value));
    let mut open: Vec<DataReference<'_>> = keys.flat_map(|key| references(object, key)).collect();
    // Few values have references, so the search for their users is rare.
    if open.is_empty() {
        return;
    }
    let Some(name) = object.object.model.reference_name() else { return };
    for user in data_users(object).filter(|it| !may_expand(it.container)) {
        let environment = object.file.resolver.environment(user);
        let bound = |name: &str| match environment.lookup(VariableScope::All, name) {
            Lookup::Bound(binding) => Some(binding),
            _ => None,
        };
        open.retain(|reference| {
            let Some((variable, place)) = variable_of(user, kind, name, &reference.key.key.value) else { return true };
            // Another entry may hide the variable.
            let is_it = |it: Arc<Binding>| it.origin.kind == kind && it.origin.object.as_deref() == Some(name);
            let holds = bound(&variable).is_some_and(is_it) && bound(reference.name).is_some();
            if holds {
                let finding = finding(object, kind, reference, &variable);
                let label = format!("`{variable}` comes from here");
                findings.push(finding.related(user.object.location(place.span), label));
            }
            !holds
        });
        if open.is_empty() {
            return;
        }
    }
}

/// A reference in a value.
struct DataReference<'v> {
    key: &'v DataEntry,
    range: Range<usize>,
    name: &'v str,
}

/// The references in the value of a key.
fn references<'a>(object: &ObjectContext<'_>, key: &'a DataEntry) -> Vec<DataReference<'a>> {
    let Some(value) = key.value.as_deref().filter(|it| it.contains('$')) else { return Vec::new() };
    if value.trim_end().contains('\n') || has_placeholder(value) || is_command(value) {
        return Vec::new();
    }
    let expanded = dollar_tokens(value).filter_map(|it| Some((it.range.clone(), it.name(value)?)));
    // In an object of a template `${X}` is meant for the template.
    let is_template = object.object.source.template.is_some();
    let shell = template_parameters(value).filter(|it| it.form == ReferenceForm::Text && !is_template);
    let shell = shell.map(|it| (it.range, &value[it.name]));
    let is_var = |name: &str| object.file.snapshot.kustomize_vars().any(|it| **it == *name);
    let all = expanded.chain(shell).filter(|(_, name)| is_variable_name(name) && !is_var(name));
    all.map(|(range, name)| DataReference { key, range, name }).collect()
}

fn finding(object: &ObjectContext<'_>, kind: OriginKind, reference: &DataReference<'_>, variable: &str) -> Finding {
    let DataReference { key, range, name } = reference;
    let value = key.value.as_deref().unwrap_or_default();
    let message = match kind {
        OriginKind::Secret => format!("the reference to `{name}` in this value is not expanded"),
        _ => format!("`{}` is not expanded: values of a config map are never expanded", &value[range.clone()]),
    };
    let finding = Finding::new(location(object, kind, reference), format!("{} {name}", key.key.value), message);
    finding
        .help(format!("only a `value` in `env` of the container is expanded: the text of `{variable}` belongs there"))
}

/// The place of a reference, or that of the value of a Secret.
fn location(object: &ObjectContext<'_>, kind: OriginKind, reference: &DataReference<'_>) -> Location {
    let key = reference.key;
    let (Some(span), Some(value)) = (key.value_span, &key.value) else { return object.at(key.key.span) };
    let place = object.at(span);
    if kind == OriginKind::Secret {
        return place;
    }
    let source = object.file.parsed_text();
    let style = source.as_ref().and_then(|source| {
        let path = source.tree.document_at(place.span.start)?.root()?.path_to(place.span.start);
        path.last()?.style()
    });
    match style {
        Some(style) => {
            let text = Text { value: value.shared(), span, style, is_string: true };
            object.inside(&text, reference.range.clone())
        }
        None => place,
    }
}

/// Whether a value is a command line, which a shell will expand.
fn is_command(value: &str) -> bool {
    let is_call = |it: &str| it.contains(' ') && !it.starts_with(' ');
    [" | ", "; ", " && ", " || ", "echo "].iter().any(|it| value.contains(it))
        || dollar_tokens(value).any(|it| it.name(value).is_some_and(is_call))
}

/// Whether a text is a name that programs and shells use for a variable.
fn is_variable_name(name: &str) -> bool {
    let is_word = name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    is_word && name.bytes().next().is_some_and(|it| !it.is_ascii_digit())
}

/// Whether a script of the container may expand values of variables.
fn may_expand(container: &Container) -> bool {
    let texts = container.command.iter().chain(&container.args);
    texts.into_iter().any(|it| it.value.contains("eval") || it.value.contains("envsubst"))
}
