//! The rule `malformed-env`.

use crate::build::View;
use crate::k8s::{JsonType, ShapeMistake, ShapeMistakeKind};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::env_shape_fixes::shape_fix;

declare_rule! {
    /// Reports `env`, `envFrom`, `command` or `args` in a shape that the API server refuses.
    ///
    /// ## What it does
    /// Reports `env` and `envFrom` that are a mapping or a text instead of a list, entries that are a text, empty or
    /// without the fields of an entry (`- FOO=bar`, `- HOST: x`, `- {}`), a list or a mapping where a text is needed
    /// (`value: [a, b]`), a text where a mapping is needed (`configMapRef: shop`), and `command` and `args`, also those
    /// of probes and hooks, that are not a list of texts. The finding covers the value if it is a scalar, otherwise its
    /// key; of a list entry it covers the entry.
    ///
    /// ## Why it matters
    /// The API server refuses the whole object: `cannot unmarshal object into Go struct field Container.env`.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         HOST: shop.example.com
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
    ///         - name: HOST
    ///           value: shop.example.com
    /// ```
    ///
    /// ## Fix
    /// Where it is certain what is meant, editors offer the right form: `FOO=bar` or `FOO: bar` as an entry, a
    /// mapping or a text as a list.
    name: "malformed-env",
    level: Error,
    checks: [ContainerOrPreset(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (mistake, finding) in refused_shapes(container) {
        findings.push(finding.choice(shape_fix(container, mistake)));
    }
}

/// The mistakes for which the API server refuses the container, each with its finding.
pub(in crate::rules) fn refused_shapes<'a>(container: &ContainerContext<'a>) -> Vec<(&'a ShapeMistake, Finding)> {
    let mistakes = &container.container.shape.mistakes;
    // The branches of a template are side by side in its text.
    let is_template = container.object.file.is_template();
    if mistakes.is_empty() || !container.has_known_fields() || is_template {
        return Vec::new();
    }
    if !container.object.has_certain_structure() {
        return Vec::new();
    }
    // `string-substitution` reports a parameter with another type.
    let object = container.object.object;
    let is_written = |it: &&ShapeMistake| object.is_literal_at(it.value) || matches!(object.view, View::Named(_));
    let finding = |mistake: &'a ShapeMistake| {
        let (name, message, help) = describe(mistake, container.is_partial())?;
        Some((mistake, Finding::new(container.at(mistake.span), name, message).help(help)))
    };
    mistakes.iter().filter(is_written).filter_map(finding).collect()
}

/// The name, the message and the help of a finding. A patch may leave out parts of an entry.
fn describe(mistake: &ShapeMistake, is_partial: bool) -> Option<(String, String, String)> {
    let described = match &mistake.kind {
        ShapeMistakeKind::Field { field, found, wanted } => {
            let message = format!("`{field}` is {}: it must be {wanted}", found.name());
            ((*field).to_owned(), message, field_help(field, *found))
        }
        ShapeMistakeKind::Item { list: list @ ("command" | "args"), found, .. } => {
            let message = format!("this item of `{list}` is {}: it must be a string", found.name());
            ((*list).to_owned(), message, "quote it, or write one string for each item".to_owned())
        }
        ShapeMistakeKind::Item { list, found, name } => {
            let message = format!("this entry of `{list}` is {}: it must be a mapping", found.name());
            (name.as_ref().map_or_else(|| (*list).to_owned(), |it| it.to_string()), message, entry_help(list, name))
        }
        ShapeMistakeKind::EmptyEntry { .. } | ShapeMistakeKind::NullSource(_) | ShapeMistakeKind::KeyAsName(_)
            if is_partial =>
        {
            return None;
        }
        ShapeMistakeKind::EmptyEntry { list } => {
            ((*list).to_owned(), format!("this entry of `{list}` is empty"), entry_help(list, &None))
        }
        ShapeMistakeKind::NullSource(field) => {
            let message = format!("`{field}` is empty, so this entry of `envFrom` has no source");
            ((*field).to_owned(), message, format!("write `{field}: {{name: …}}`"))
        }
        ShapeMistakeKind::KeyAsName(key) => {
            let message = format!("this entry of `env` has no `name`: `{}` is not a field", key.value);
            let help = format!("write `- name: {}` and its `value`", key.value);
            (key.value.to_string(), message, help)
        }
        ShapeMistakeKind::Misspelled { .. } | ShapeMistakeKind::Misplaced { .. } => return None,
    };
    Some(described)
}

fn field_help(field: &str, found: JsonType) -> String {
    match (field, found) {
        ("env", _) => "write each variable as `- name: …` with its `value`".to_owned(),
        ("envFrom", _) => "write each source as `- configMapRef: {name: …}`".to_owned(),
        ("command" | "args", _) => format!("write `{field}: [\"…\"]`, with one string for each argument"),
        ("configMapRef" | "secretRef" | "service", _) => format!("write `{field}: {{name: …}}`"),
        ("configMapKeyRef" | "secretKeyRef", _) => format!("write `{field}: {{name: …, key: …}}`"),
        ("optional", JsonType::Text) => "remove the quotes".to_owned(),
        ("value", _) => "write it as one string, in quotes".to_owned(),
        _ => format!("correct `{field}`"),
    }
}

fn entry_help(list: &str, name: &Option<std::sync::Arc<str>>) -> String {
    match (list, name) {
        ("env", Some(name)) => format!("write `- name: {name}` and its `value`"),
        ("env", None) => "write `- name: …` with its `value`".to_owned(),
        _ => "write `- configMapRef: {name: …}` or `- secretRef: {name: …}`".to_owned(),
    }
}
