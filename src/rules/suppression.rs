//! `# podlens: ignore[rule] reason` comments, and `unused-suppression` for those that suppress nothing.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, Fix};
use crate::rules::context::{Found, edit};
use crate::rules::{Active, FileContext, Finding, Findings, ParsedText, declare_rule, rule};
use crate::syntax::{EnvFileDialect, env_file_comments};
use crate::text::Span;

declare_rule! {
    /// Reports a suppression comment that suppresses nothing.
    ///
    /// ## What it does
    /// Looks at every `# podlens: ignore[rule]` and `# podlens: ignore-file[rule]` and reports each rule in it that found
    /// nothing there, and names that are no rule. The finding covers the rule's name. Rules that are switched off are
    /// left alone.
    ///
    /// ## Why it matters
    /// A comment that outlives its cause hides the next mistake on its line.
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
    /// Removes the rule from the comment, or the comment.
    UNUSED_SUPPRESSION = "unused-suppression", Warning, Framework;
}

/// A suppression comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The comment, from its `#`.
    pub comment: Span,
    /// The rules it names, each with its place.
    pub rules: Vec<(String, Span)>,
    /// Whether it is about the whole file.
    pub whole_file: bool,
    /// The lines it is about: its own, and the next one if it stands alone.
    pub lines: Span,
}

/// What a suppression comment begins with.
const DIRECTIVE: &str = "podlens:";

/// The suppression comments of a file; `dialect` is that of an env file, which is no YAML.
pub fn suppressions(source: &ParsedText, dialect: Option<EnvFileDialect>) -> Vec<Suppression> {
    let text: &str = &source.text;
    let mut found = Vec::new();
    let mut done = 0;
    // Few lines have one, and looking at every comment of a large file would cost every keystroke.
    for at in memchr::memmem::find_iter(text.as_bytes(), DIRECTIVE) {
        if at >= done {
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            done = text[at..].find('\n').map_or(text.len(), |len| at + len);
            found.extend(suppressions_in(source, dialect, Span::new(start, done)));
        }
    }
    found
}

/// The suppression comments that begin in a part of a file.
pub fn suppressions_in(source: &ParsedText, dialect: Option<EnvFileDialect>, within: Span) -> Vec<Suppression> {
    let comments = match dialect {
        None => source.tree.comments(&source.text, within),
        Some(dialect) => {
            let mut all = env_file_comments(&source.text, dialect);
            all.retain(|it| within.start <= it.start && it.start < within.end.max(within.start + 1));
            all
        }
    };
    comments.into_iter().filter_map(|comment| parse(&source.text, comment)).collect()
}

fn parse(text: &str, comment: Span) -> Option<Suppression> {
    let body = &text[comment.range()];
    let directive = body.trim_start_matches('#').trim_start().strip_prefix(DIRECTIVE)?.trim_start();
    let (whole_file, list) = match directive.strip_prefix("ignore-file[") {
        Some(list) => (true, list),
        None => (false, directive.strip_prefix("ignore[")?),
    };
    let list = &list[..list.find(']')?];
    let start = comment.start + (list.as_ptr() as usize - body.as_ptr() as usize);
    let mut rules = Vec::new();
    let mut at = 0;
    for name in list.split(',') {
        let trimmed = name.trim();
        let from = start + at + (name.len() - name.trim_start().len());
        if !trimmed.is_empty() {
            rules.push((trimmed.to_owned(), Span::new(from, from + trimmed.len())));
        }
        at += name.len() + 1;
    }
    let line_start = text[..comment.start].rfind('\n').map_or(0, |end| end + 1);
    let alone = text[line_start..comment.start].trim().is_empty();
    let line_end = |from: usize| text[from..].find('\n').map_or(text.len(), |len| from + len + 1);
    let mut end = line_end(comment.end);
    if alone {
        // Further comments may stand between it and the line it is about.
        while end < text.len() && matches!(text[end..].trim_start_matches([' ', '\t']).chars().next(), Some('#')) {
            end = line_end(end);
        }
        end = line_end(end);
    }
    Some(Suppression { comment, rules, whole_file, lines: Span::new(line_start, end) })
}

/// Leaves out what is suppressed, and adds what suppresses nothing.
pub(super) fn apply(file: &FileContext<'_>, active: &Active, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let reports_unused = active.iter().find(|(rule, _)| rule.name == UNUSED_SUPPRESSION.name);
    if found.is_empty() && reports_unused.is_none() {
        return found;
    }
    let Some(source) = file.suppression_source() else { return found };
    let all = suppressions(&source, file.dialect());
    let mut used: HashSet<Span> = HashSet::new();
    let mut kept: Vec<Diagnostic> = Vec::new();
    for finding in found {
        let at = &finding.location;
        let mut hidden = false;
        for suppression in all.iter().filter(|it| it.covers(file, at)) {
            for (name, span) in suppression.rules.iter().filter(|(name, _)| name == finding.rule) {
                let _ = name;
                used.insert(*span);
                hidden = true;
            }
        }
        if !hidden {
            kept.push(finding);
        }
    }
    let Some((unused_rule, level)) = reports_unused else { return kept };
    let Some(severity) = level.severity() else { return kept };
    let mut unused: Vec<Found> = Vec::new();
    let mut findings = Findings { rule: unused_rule, severity, object: None, found: &mut unused };
    for suppression in &all {
        for (name, span) in suppression.rules.iter().filter(|(_, span)| !used.contains(span)) {
            let is_active = active.iter().any(|(rule, _)| rule.name == name);
            let message = match rule(name) {
                None => format!("there is no rule `{name}`"),
                Some(_) if !is_active => continue,
                Some(_) => format!("nothing here is suppressed by `{name}`"),
            };
            let title = format!("Remove the suppression of `{name}`");
            let edits = vec![edit(file.at(removal(&source.text, suppression, *span)), "")];
            let fix = Fix { title, safe: true, edits };
            findings.push(Finding::new(file.at(*span), name, message).fix(Some(fix)).unnecessary());
        }
    }
    kept.extend(unused.into_iter().map(|it| it.finished(file)));
    kept
}

impl Suppression {
    fn covers(&self, file: &FileContext<'_>, at: &crate::diagnostic::Location) -> bool {
        let on_line = self.lines.start <= at.span.start && at.span.start < self.lines.end.max(self.lines.start + 1);
        at.file == *file.path && (self.whole_file || on_line)
    }
}

/// What to remove so that a rule is not suppressed any more: its name, or the whole comment if it is the only one.
fn removal(text: &str, suppression: &Suppression, name: Span) -> Span {
    if suppression.rules.len() > 1 {
        let behind = text[name.end..].len() - text[name.end..].trim_start_matches([',', ' ']).len();
        if text[name.end..].starts_with(',') {
            return Span::new(name.start, name.end + behind);
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
