//! The rule `syntax-error`.

use crate::diagnostic::Fix;
use crate::rules::engine::{FileContext, Finding, Findings, declare_rule, edit};
use crate::syntax::quote_parameters;
use crate::text::Span;

declare_rule! {
    /// Reports text that is no YAML.
    ///
    /// ## What it does
    /// Reports what cannot be read in a file with Kubernetes objects. What can be read around it is still checked.
    /// Templates of Helm and other engines are left alone, and so are files that hold nothing of Kubernetes. The finding
    /// covers the text that cannot be read, or the bracket, quote or key that it begins with.
    ///
    /// ## Why it matters
    /// Nothing of the document is applied.
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
    ///       args: [serve, "--port=80]
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
    ///       args: [serve, "--port=80"]
    /// ```
    ///
    /// ## Fix
    /// Puts `${P}` between brackets in quotes, where that is all that is wrong. Otherwise none.
    name: "syntax-error",
    level: Error,
    checks: [File(check)],
    helm: ContainerWithoutAction,
    suppressible: false,
}

fn check(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    if file.facts.errors.is_empty() || file.facts.settings.is_some() || !is_kubernetes(file) || file.is_template() {
        return;
    }
    for error in &file.facts.errors {
        let finding = Finding::new(file.at(error.span), error.kind.code(), error.message(&file.facts.lines));
        findings.push(match quoted(file, error.span) {
            Some(fix) => finding.help("between brackets, `${…}` has to stand in quotes").fix(Some(fix)),
            None => finding,
        });
    }
}

/// The braces of a parameter are brackets where no quotes are around them.
fn quoted(file: &FileContext<'_>, span: Span) -> Option<Fix> {
    let source = file.parsed_text()?;
    if !source.text.get(span.range())?.contains("${") {
        return None;
    }
    let edits = quote_parameters(&source.text, span.start)?;
    let title = match edits.as_slice() {
        [one] => format!("Put `{}` in quotes", &source.text[one.span.range()]),
        _ => "Put the parameters in quotes".to_owned(),
    };
    let edits = edits.into_iter().map(|it| edit(file.at(it.span), it.text)).collect();
    Some(Fix { title, safe: true, edits })
}

/// Whether there are objects in the file, or what would be one if it could be read.
fn is_kubernetes(file: &FileContext<'_>) -> bool {
    let looks_like = |text: &str| text.contains("apiVersion") && text.contains("kind");
    !file.facts.objects.is_empty() || file.parsed_text().is_some_and(|source| looks_like(&source.text))
}
