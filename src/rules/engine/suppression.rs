//! Suppression comments, `# podlens: ignore[rule] reason`: reads them, and removes the findings that they suppress.

use std::collections::HashSet;

use crate::rules::checks::unused_suppression;
use crate::rules::engine::findings::{RawFinding, ViewedFinding};
use crate::rules::engine::levels::ActiveRules;
use crate::rules::engine::registry::find_rule;
use crate::rules::engine::{FileContext, Findings};
use crate::syntax::{EnvFileDialect, env_file_comments};
use crate::text::Span;
use crate::workspace::ParsedText;

/// A suppression comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The comment, from its `#`.
    pub comment: Span,
    /// The rules it names, each with its span.
    pub rules: Vec<(String, Span)>,
    /// Whether it applies to the whole file.
    pub whole_file: bool,
    /// The lines it applies to: its own, and the next one if nothing is before it on its line.
    pub lines: Span,
}

/// The start of a suppression comment.
const DIRECTIVE: &str = "podlens:";

/// The suppression comments of a file; `dialect` is that of an env file, which is not YAML.
pub fn suppressions(source: &ParsedText, dialect: Option<EnvFileDialect>) -> Vec<Suppression> {
    let text: &str = &source.text;
    let mut found = Vec::new();
    let mut done = 0;
    // Few lines have one. Searching every comment of a large file would be too slow after each keystroke.
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
        // Other comments may come between it and the line it applies to.
        while end < text.len() && matches!(text[end..].trim_start_matches([' ', '\t']).chars().next(), Some('#')) {
            end = line_end(end);
        }
        end = line_end(end);
    }
    Some(Suppression { comment, rules, whole_file, lines: Span::new(line_start, end) })
}

/// Removes suppressed findings, and adds those of `unused-suppression`.
pub(super) fn apply_suppressions(
    file: &FileContext<'_>,
    active: &ActiveRules,
    found: Vec<ViewedFinding>,
) -> Vec<ViewedFinding> {
    let reports_unused = active.iter().find(|(rule, _)| rule.name == unused_suppression::RULE.name);
    if found.is_empty() && reports_unused.is_none() {
        return found;
    }
    let Some(source) = file.text_with_suppressions() else { return found };
    let all = suppressions(&source, file.dialect());
    let mut used: HashSet<Span> = HashSet::new();
    let mut shown: Vec<ViewedFinding> = Vec::new();
    for viewed in found {
        let finding = viewed.diagnostic();
        let covering = all.iter().filter(|it| it.covers(file, &finding.location)).flat_map(|it| &it.rules);
        let names: Vec<Span> = covering.filter(|(name, _)| name == finding.rule).map(|(_, span)| *span).collect();
        if names.is_empty() {
            shown.push(viewed);
        }
        used.extend(names);
    }
    let Some((rule, level)) = reports_unused else { return shown };
    let Some(severity) = level.severity() else { return shown };
    let mut unused: Vec<RawFinding> = Vec::new();
    let mut findings = Findings { rule, severity, object: None, found: &mut unused };
    for suppression in &all {
        for (name, span) in suppression.rules.iter().filter(|(_, span)| !used.contains(span)) {
            let is_active = active.iter().any(|(rule, _)| rule.name == name);
            // A rule that is off finds nothing, so the comment may still be needed.
            if is_active || find_rule(name).is_none() {
                unused_suppression::report(file, &source.text, suppression, name, *span, &mut findings);
            }
        }
    }
    shown.extend(unused.into_iter().map(|it| it.locate(file)));
    shown
}

impl Suppression {
    fn covers(&self, file: &FileContext<'_>, at: &crate::diagnostic::Location) -> bool {
        let on_line = self.lines.start <= at.span.start && at.span.start < self.lines.end.max(self.lines.start + 1);
        at.file == *file.path && (self.whole_file || on_line)
    }
}
