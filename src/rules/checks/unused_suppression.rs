//! The rule `unused-suppression`.

use std::collections::BTreeSet;

use crate::diagnostic::Fix;
use crate::rules::engine::registry::{find_rule, similar_rule};
use crate::rules::engine::suppression_comment::{Suppression, SuppressionFlaw};
use crate::rules::engine::{FileContext, Finding, Findings, declare_rule, edit};
use crate::text::Span;

declare_rule! {
    /// Reports a suppression comment that suppresses nothing.
    ///
    /// ## What it does
    /// Looks at every `# podlens: ignore[rule]` and `# podlens: ignore-file[rule]` and reports each rule in it that has
    /// no finding there, names that are not rules, and comments of a similar form, such as `# podlens: ignore` without a
    /// rule or `# podlens: disable[rule]`. Rules that are off are not reported. The finding covers the name of the rule, or
    /// the part of the comment that has another form.
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
    /// Removes the rule from the comment, or the whole comment. A misspelled rule, or another form, is corrected if the comment
    /// then suppresses something; the reason is kept. Otherwise only editors offer it.
    name: "unused-suppression",
    level: Warning,
    checks: [],
    sees: Source,
    helm: AnyScalar,
    suppressible: false,
}

/// A comment that suppresses nothing, or a rule in it that does not. The engine reports it after all other rules.
pub(in crate::rules) struct Comment<'c> {
    pub(in crate::rules) file: &'c FileContext<'c>,
    pub(in crate::rules) text: &'c str,
    pub(in crate::rules) suppression: &'c Suppression,
    /// The rules that have findings where the comment applies.
    pub(in crate::rules) covered: &'c BTreeSet<&'static str>,
}

impl Comment<'_> {
    /// Reports a rule in the comment that has no finding, or a name that is not a rule.
    pub(in crate::rules) fn report_name(&self, name: &str, span: Span, findings: &mut Findings<'_>) {
        let title = format!("Remove the suppression of `{name}`");
        let edits = vec![edit(self.file.at(removed_span(self.text, self.suppression, span)), "")];
        let removal = Fix { title, safe: true, edits };
        let finding = |message: String| Finding::new(self.file.at(span), name, message);
        if find_rule(name).is_some() {
            let finding = finding(format!("the comment suppresses nothing: `{name}` has no finding here"));
            findings.push(finding.fix(Some(removal)).unnecessary());
            return;
        }
        // A misspelled name keeps its reason: it is corrected, and only a person can remove it.
        let finding = finding(format!("the comment suppresses nothing: there is no rule `{name}`"));
        let Some(near) = similar_rule(name) else {
            findings.push(finding.choice(Some(removal)));
            return;
        };
        let edits = vec![edit(self.file.at(span), near)];
        let correction = Fix { title: format!("Write `{near}`"), safe: true, edits };
        let finding = self.correct(finding.help(format!("did you mean `{near}`?")), correction, &[near]);
        findings.push(finding.choice(Some(removal)));
    }

    /// Reports a comment of another form.
    pub(in crate::rules) fn report_flaw(&self, flaw: &SuppressionFlaw, findings: &mut Findings<'_>) {
        let why = match flaw {
            SuppressionFlaw::Word(word) => format!("the word is `{}`, not `{word}`", self.suppression.word()),
            SuppressionFlaw::NoRules => "it names no rule".to_owned(),
            SuppressionFlaw::Brackets => "rules must be in square brackets".to_owned(),
            SuppressionFlaw::Unclosed => "the closing `]` is missing".to_owned(),
        };
        let message = format!("the comment suppresses nothing: {why}");
        let finding = Finding::new(self.file.at(self.suppression.directive), "podlens", message);
        let meant = self.suppression.rules.iter().map(|(name, _)| similar_rule(name).unwrap_or(name));
        let mut rules: Vec<&str> = meant.collect();
        if rules.is_empty() {
            rules.extend(self.covered.iter().copied());
        }
        let new = match rules.is_empty() {
            true => self.suppression.with_rules(&["RULE"]),
            false => self.suppression.with_rules(&rules),
        };
        let finding = finding.help(format!("write `# {new}`"));
        if rules.is_empty() {
            findings.push(finding);
            return;
        }
        let edits = vec![edit(self.file.at(self.suppression.directive), &*new)];
        let correction = Fix { title: format!("Write `{new}`"), safe: true, edits };
        findings.push(self.correct(finding, correction, &rules));
    }

    /// Adds a correction: as a fix if all rules then have a finding to suppress, otherwise as a choice.
    fn correct(&self, finding: Finding, correction: Fix, rules: &[&str]) -> Finding {
        let is_needed = rules.iter().all(|it| self.covered.contains(it));
        if is_needed { finding.fix(Some(correction)) } else { finding.choice(Some(correction)) }
    }
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
