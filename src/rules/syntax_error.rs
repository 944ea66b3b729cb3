//! `syntax-error`

use crate::rules::{FileContext, Finding, Findings, declare_rule};

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
    /// None.
    SYNTAX_ERROR = "syntax-error", Error, File(check);
}

fn check(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    if file.facts.errors.is_empty() || file.facts.settings.is_some() || !is_kubernetes(file) || file.is_template() {
        return;
    }
    for error in &file.facts.errors {
        findings.push(Finding::new(file.at(error.span), error.message.clone()));
    }
}

/// Whether there are objects in the file, or what would be one if it could be read.
fn is_kubernetes(file: &FileContext<'_>) -> bool {
    let looks_like = |text: &str| text.contains("apiVersion") && text.contains("kind");
    !file.facts.objects.is_empty() || file.source().is_some_and(|source| looks_like(&source.text))
}
