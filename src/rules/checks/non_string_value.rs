//! The rule `non-string-value`.

use crate::build::View;
use crate::diagnostic::Fix;
use crate::k8s::Text;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule, edit};
use crate::syntax::ScalarStyle;

declare_rule! {
    /// Reports a number or boolean where Kubernetes expects a string.
    ///
    /// ## What it does
    /// Reports a `name` or `value` in `env` and an item of `command` or `args` that YAML reads as a number or a
    /// boolean: `8080`, `1.5`, `1e3`, `yes`, `on`, `!!int "80"`. The finding covers the value.
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
    /// Quotes the value as written. Safe: without quotes the object is rejected.
    name: "non-string-value",
    level: Error,
    checks: [ContainerOrPreset(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let it = container.container;
    for entry in &it.env {
        let name = entry.name.as_ref().map_or("", |it| &it.value);
        report(container, entry.name.as_ref(), name, "a name", findings);
        report(container, entry.value.as_ref(), name, "a value", findings);
    }
    let probes = it.probes.iter().flat_map(|probe| &probe.command);
    // An item that is not a scalar is an empty text here, and `null` is read as an empty string.
    let is_absent = |it: &Text| matches!(&*it.value, "" | "~" | "null" | "Null" | "NULL");
    for item in it.command.iter().chain(&it.args).chain(probes).filter(|it| !is_absent(it)) {
        report(container, Some(item), "argument", "an argument", findings);
    }
}

fn report(container: &ContainerContext<'_>, text: Option<&Text>, name: &str, what: &str, findings: &mut Findings<'_>) {
    let Some(text) = text.filter(|it| !it.is_string && !is_substitution(container, it)) else { return };
    let value = &text.value;
    let is = match value.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" | "on" | "n" | "no" | "false" | "off" => "a boolean",
        _ if value.contains(|it: char| it.is_ascii_digit()) || value.to_ascii_lowercase().contains(".inf") => {
            "a number"
        }
        _ => "not a string",
    };
    findings.push(
        Finding::new(container.at(text.span), name, format!("`{value}` is {is}: {what} must be a string"))
            .help(format!("quote it: `\"{value}\"`"))
            .fix(quote_fix(container, text)),
    );
}

/// Whether the value is that of a parameter with a default, `${{P}}`, which `string-substitution` reports.
fn is_substitution(container: &ContainerContext<'_>, text: &Text) -> bool {
    let object = container.object.object;
    !object.is_literal(text) && !matches!(object.view, View::Named(_))
}

/// The fix that quotes the value as written, and removes the tag that makes it a number.
fn quote_fix(container: &ContainerContext<'_>, text: &Text) -> Option<Fix> {
    let mut span = container.at(text.span).span;
    let file = container.object.file;
    let source = file.parsed_text()?;
    let written = source.text.get(span.range())?;
    let quoted = match text.style {
        ScalarStyle::Plain if *written == *text.value => format!("\"{written}\""),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => written.to_owned(),
        _ => return None,
    };
    let path = source.tree.document_at(span.start)?.root()?.path_to(span.start);
    if let Some(tag) = path.last()?.tag() {
        span.start = source.text[..span.start].trim_end_matches(' ').strip_suffix(tag)?.len();
    }
    Some(Fix { title: format!("Quote `{}`", text.value), safe: true, edits: vec![edit(file.at(span), quoted)] })
}
