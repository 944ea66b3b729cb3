//! Removes the findings that comments suppress, and reports comments that suppress nothing.

use std::collections::{BTreeSet, HashSet};

use crate::diagnostic::Diagnostic;
use crate::rules::checks::unused_suppression::{self, Comment};
use crate::rules::engine::findings::{RawFinding, ViewedFinding};
use crate::rules::engine::levels::ActiveRules;
use crate::rules::engine::registry::find_rule;
use crate::rules::engine::suppression_comment::{suppression_offsets, suppressions};
use crate::rules::engine::{FileContext, Findings};
use crate::text::Span;
use crate::workspace::{LintLevel, ParsedText};

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
    let offsets: Vec<Option<Vec<usize>>> = found.iter().map(|it| offsets(file, &source, it.diagnostic())).collect();
    let mut used: HashSet<Span> = HashSet::new();
    let mut shown: Vec<ViewedFinding> = Vec::new();
    let mut covered: Vec<BTreeSet<&'static str>> = vec![BTreeSet::new(); all.len()];
    for (viewed, offsets) in found.into_iter().zip(offsets) {
        let rule = viewed.diagnostic().rule;
        let mut is_suppressed = false;
        let covering = all.iter().zip(&mut covered).filter(|(it, _)| offsets.as_ref().is_some_and(|at| it.covers(at)));
        for (suppression, rules) in covering {
            rules.insert(rule);
            for (_, span) in suppression.rules.iter().filter(|(name, _)| name == rule && suppression.flaw.is_none()) {
                is_suppressed = true;
                used.insert(*span);
            }
        }
        if !is_suppressed {
            shown.push(viewed);
        }
    }
    let Some((rule, level)) = reports_unused else { return shown };
    let Some(severity) = level.severity() else { return shown };
    let mut unused: Vec<RawFinding> = Vec::new();
    let mut findings = Findings { rule, severity, only_evident: false, object: None, found: &mut unused };
    for (suppression, covered) in all.iter().zip(&covered) {
        let comment = Comment { file, text: &source.text, suppression, covered };
        if let Some(flaw) = &suppression.flaw {
            comment.report_flaw(flaw, &mut findings);
            continue;
        }
        for (name, span) in suppression.rules.iter().filter(|(_, span)| !used.contains(span)) {
            let is_active = active.iter().any(|(rule, level)| rule.name == name && *level != LintLevel::Off);
            // A rule that is off finds nothing, so the comment may still be needed.
            if is_active || find_rule(name).is_none() {
                comment.report_name(name, *span, &mut findings);
            }
        }
    }
    shown.extend(unused.into_iter().map(|it| it.locate(file)));
    shown
}

/// The offsets of a finding that a comment may cover; `None` if it is in another file.
fn offsets(file: &FileContext<'_>, source: &ParsedText, finding: &Diagnostic) -> Option<Vec<usize>> {
    let at = &finding.location;
    (at.file == *file.path).then(|| match file.dialect() {
        // Each line of an env file can have its comment.
        Some(_) => vec![at.span.start],
        None => suppression_offsets(source, at.span.start),
    })
}
