//! The rule `unused-suppression`.

use crate::diagnostic::Fix;
use crate::rules::engine::registry::find_rule;
use crate::rules::engine::suppression::Suppression;
use crate::rules::engine::{FileContext, Finding, Findings, declare_rule, edit};
use crate::text::Span;

declare_rule! {
    /// Reports a suppression comment that suppresses nothing.
    ///
    /// ## What it does
    /// Looks at every `# podlens: ignore[rule]` and `# podlens: ignore-file[rule]` and reports each rule in it that has
    /// no finding there, and names that are not rules. Rules that are off are not reported. The finding covers the name
    /// of the rule.
    ///
    /// ## Why it matters
    /// A comment that is no longer needed hides the next mistake on its line.
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
    ///       args: [serve] # podlens: ignore[undefined-variable]
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
    ///       args: [serve]
    /// ```
    ///
    /// ## Fix
    /// Removes the rule from the comment, or the whole comment.
    name: "unused-suppression",
    level: Warning,
    checks: [],
    sees: Source,
    helm: AnyScalar,
    suppressible: false,
}

/// Reports a name in a comment that suppresses no finding. The engine calls this after all other rules.
pub(in crate::rules) fn report(
    file: &FileContext<'_>,
    text: &str,
    suppression: &Suppression,
    name: &str,
    span: Span,
    findings: &mut Findings<'_>,
) {
    let message = match find_rule(name) {
        None => format!("there is no rule `{name}`"),
        Some(_) => format!("the comment suppresses nothing: `{name}` has no finding here"),
    };
    let title = format!("Remove the suppression of `{name}`");
    let edits = vec![edit(file.at(removed_span(text, suppression, span)), "")];
    let fix = Fix { title, safe: true, edits };
    findings.push(Finding::new(file.at(span), name, message).fix(Some(fix)).unnecessary());
}

/// The text to remove so that a rule is not suppressed any more: its name, or the whole comment if it is the only one.
fn removed_span(text: &str, suppression: &Suppression, name: Span) -> Span {
    if suppression.rules.len() > 1 {
        let separator = text[name.end..].len() - text[name.end..].trim_start_matches([',', ' ']).len();
        if text[name.end..].starts_with(',') {
            return Span::new(name.start, name.end + separator);
        }
        let before = text[..name.start].trim_end_matches([' ', ',']).len();
        return Span::new(before, name.end);
    }
    let line_start = text[..suppression.comment.start].rfind('\n').map_or(0, |end| end + 1);
    let code = text[line_start..suppression.comment.start].trim_end_matches([' ', '\t']).len();
    if code > 0 {
        return Span::new(line_start + code, suppression.comment.end);
    }
    let end = text[suppression.comment.end..].find('\n').map_or(text.len(), |len| suppression.comment.end + len + 1);
    Span::new(line_start, end)
}
