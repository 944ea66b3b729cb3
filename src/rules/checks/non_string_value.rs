//! The rule `non-string-value`.

use crate::build::View;
use crate::diagnostic::Fix;
use crate::k8s::{EnvFrom, EnvFromSource, EnvVar, ObjectData, ObjectSpan, RefusedValue, Text, ValueFlaw, ValueSource};
use crate::rules::engine::{ContainerContext, Finding, Findings, ObjectContext, declare_rule, edit};
use crate::syntax::ScalarStyle;

declare_rule! {
    /// Reports a number or boolean where Kubernetes expects a string.
    ///
    /// ## What it does
    /// Reports a `name` or `value` in `env`, a name, key or prefix of a source, an item of `command` or `args`, and a
    /// value in `data` of a ConfigMap or in `data` and `stringData` of a Secret that YAML reads as a number or a boolean:
    /// `8080`, `1.5`, `1e3`, `yes`, `on`, `!!int "80"`. In ConfigMaps and Secrets it also reports lists and mappings.
    /// The finding covers the value; that of a list or mapping covers its key. Values of Secrets are not shown.
    ///
    /// ## Why it matters
    /// The API server rejects the object: `cannot unmarshal number into Go struct field EnvVar.value of type string`.
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
    ///         - {name: PORT, value: 8080}
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
    ///         - {name: PORT, value: "8080"}
    /// ```
    ///
    /// ## Fix
    /// Quotes the value as written. Safe: without quotes the object is rejected. None for lists and mappings, and for
    /// `data` of a Secret, which is base64.
    name: "non-string-value",
    level: Error,
    checks: [ContainerOrPreset(check), Object(check_data)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let it = container.container;
    for entry in &it.env {
        let name = entry.name.as_ref().map_or("", |it| &it.value);
        report(container, entry.name.as_ref(), name, "a name", findings);
        report(container, entry.value.as_ref(), name, "a value", findings);
        for (text, what) in source_texts(entry) {
            report(container, Some(text), name, what, findings);
        }
    }
    for entry in &it.env_from {
        for (text, what) in env_from_texts(entry) {
            report(container, Some(text), "envFrom", what, findings);
        }
    }
    let probes = it.probes.iter().flat_map(|probe| &probe.command);
    // An item that is not a scalar is an empty text here, and `null` is read as an empty string.
    let is_absent = |it: &Text| matches!(&*it.value, "" | "~" | "null" | "Null" | "NULL");
    for item in it.command.iter().chain(&it.args).chain(probes).filter(|it| !is_absent(it)) {
        report(container, Some(item), "argument", "an argument", findings);
    }
}

/// The texts of a `valueFrom`, with what they are. A divisor may be a number.
fn source_texts(entry: &EnvVar) -> Vec<(&Text, &'static str)> {
    let sources = entry.from.iter().flat_map(|it| &it.sources);
    let texts = sources.flat_map(|source| match source {
        ValueSource::Field { api_version, path } => [(api_version, "`apiVersion`"), (path, "`fieldPath`")].to_vec(),
        ValueSource::Resource { container, resource, .. } => {
            [(container, "`containerName`"), (resource, "`resource`")].to_vec()
        }
        ValueSource::ConfigMap(it) | ValueSource::Secret(it) => [(&it.name, "a name"), (&it.key, "a key")].to_vec(),
        ValueSource::File { volume, path, key, .. } => {
            [(volume, "`volumeName`"), (path, "a path"), (key, "a key")].to_vec()
        }
    });
    texts.filter_map(|(text, what)| Some((text.as_ref()?, what))).collect()
}

/// The texts of an entry of `envFrom`, with what they are.
fn env_from_texts(entry: &EnvFrom) -> impl Iterator<Item = (&Text, &'static str)> {
    let name = entry.source.as_ref().and_then(EnvFromSource::name).map(|it| (it, "a name"));
    name.into_iter().chain(entry.prefix.as_ref().map(|it| (it, "a prefix")))
}

fn report(container: &ContainerContext<'_>, text: Option<&Text>, name: &str, what: &str, findings: &mut Findings<'_>) {
    let object = &container.object;
    let Some(text) = text.filter(|it| !it.is_string && !is_substitution(object, it.span)) else { return };
    let value = &text.value;
    if is_string_for_kustomize(object, value) {
        return;
    }
    let message = format!("`{value}` is {}: {what} must be a string", type_in_words(value));
    let fix = quote_fix(object, text.span, format!("Quote `{value}`"));
    let finding = Finding::new(object.at(text.span), name, message);
    findings.push(finding.help(format!("quote it: `\"{value}\"`")).fix(fix));
}

/// Whether kustomize, which builds the file, writes a word as a string: it reads `off` as YAML 1.2 does, and quotes it.
fn is_string_for_kustomize(object: &ObjectContext<'_>, value: &str) -> bool {
    let is_word = matches!(value.to_ascii_lowercase().as_str(), "y" | "yes" | "on" | "n" | "no" | "off");
    is_word && object.file.is_built_by_kustomization()
}

/// What YAML reads a plain text as that is not a string.
fn type_in_words(text: &str) -> &'static str {
    match text.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" | "on" | "n" | "no" | "false" | "off" => "a boolean",
        text if text.contains(|it: char| it.is_ascii_digit()) || text.contains(".inf") => "a number",
        _ => "not a string",
    }
}

/// Checks the values of a ConfigMap or Secret (V18).
fn check_data(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let (data, is_secret) = match &object.object.model.data {
        ObjectData::ConfigMap(data) => (data, false),
        ObjectData::Secret(data) => (data, true),
        _ => return,
    };
    // A syntax error, or a line of another template language, may break a text in two.
    let is_other_template = object.file.is_template() && !object.file.facts.is_helm_template();
    if data.refused_values.is_empty() || is_other_template || !object.has_certain_structure() {
        return;
    }
    for value in data.refused_values.iter().filter(|it| !is_substitution(object, it.span)) {
        if let Some(finding) = refused_value(object, value, is_secret) {
            findings.push(finding);
        }
    }
}

fn refused_value(object: &ObjectContext<'_>, value: &RefusedValue, is_secret: bool) -> Option<Finding> {
    let ValueFlaw::Type(found) = value.flaw else { return None };
    let key = &value.key;
    if found.is_collection() {
        let message = format!("the value of `{}` is {}: it must be a string", key.value, found.name());
        let finding = Finding::new(object.at(key.span), &key.value, message);
        let help = format!("write it as a text: `{}: |`", key.value);
        // The branches of a template are side by side in its text.
        return (!object.file.is_template()).then(|| finding.help(help));
    }
    let written = || Some(object.file.parsed_text()?.text.get(object.object.file_span(value.span).range())?.to_owned());
    if written().is_some_and(|it| is_string_for_kustomize(object, &it)) {
        return None;
    }
    let shown = written().filter(|_| !is_secret && object.object.is_literal_at(value.span));
    let shown = shown.as_deref().map(|it| it.trim_matches(['"', '\'']));
    let message = match &shown {
        Some(text) => format!("`{text}` is {}: a value must be a string", found.name()),
        None => format!("the value of `{}` is {}: it must be a string", key.value, found.name()),
    };
    let finding = Finding::new(object.at(value.span), &key.value, message);
    if is_secret && value.field == "data" {
        return Some(finding.help("encode it in base64, or write it in `stringData`, in quotes"));
    }
    let (title, help) = match &shown {
        Some(text) => (format!("Quote `{text}`"), format!("quote it: `\"{text}\"`")),
        None => (format!("Quote the value of `{}`", key.value), "write it in quotes".to_owned()),
    };
    Some(finding.help(help).fix(quote_fix(object, value.span, title)))
}

/// Whether the value is that of a parameter with a default, `${{P}}`, which `string-substitution` reports.
fn is_substitution(object: &ObjectContext<'_>, span: ObjectSpan) -> bool {
    !object.object.is_literal_at(span) && !matches!(object.object.view, View::Named(_))
}

/// The fix that quotes a value as written, and removes the tag that makes it a number.
fn quote_fix(object: &ObjectContext<'_>, value: ObjectSpan, title: String) -> Option<Fix> {
    let mut span = object.at(value).span;
    let source = object.file.parsed_text()?;
    let written = source.text.get(span.range())?;
    let path = source.tree.document_at(span.start)?.root()?.path_to(span.start);
    let node = path.last()?;
    let quoted = match node.style()? {
        ScalarStyle::Plain if node.text() == Some(written) => format!("\"{written}\""),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => written.to_owned(),
        _ => return None,
    };
    if let Some(tag) = node.tag() {
        span.start = source.text[..span.start].trim_end_matches(' ').strip_suffix(tag)?.len();
    }
    Some(Fix { title, safe: true, edits: vec![edit(object.file.at(span), quoted)] })
}
