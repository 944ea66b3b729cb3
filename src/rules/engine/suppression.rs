//! Removes the findings that comments suppress, and reports comments that suppress nothing.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::rules::checks::unused_suppression::{self, Comment};
use crate::rules::engine::findings::{RawFinding, ViewedFinding};
use crate::rules::engine::levels::ActiveRules;
use crate::rules::engine::registry::find_rule;
use crate::rules::engine::suppression_comment::{Suppression, suppression_offsets, suppressions};
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
    let mut shown: Vec<ViewedFinding> = Vec::new();
    let mut matcher = SuppressionMatcher::new(&all);
    for (viewed, offsets) in found.into_iter().zip(offsets) {
        if !offsets.is_some_and(|it| matcher.suppresses(viewed.diagnostic().rule, &it)) {
            shown.push(viewed);
        }
    }
    let SuppressionMatcher { used, covered, .. } = matcher;
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

/// Finds the comments that cover findings. Findings of one rule on the lines of the same comments are matched once.
struct SuppressionMatcher<'a> {
    all: &'a [Suppression],
    /// The comments for the whole file.
    of_file: Vec<usize>,
    /// The other ones in the order of their lines.
    of_lines: Vec<usize>,
    /// For each of these, the end of the lines that it or an earlier one applies to.
    ends: Vec<usize>,
    /// Whether a rule is suppressed, by the range of comments in `of_lines`; `None` are those of the file.
    known: HashMap<(&'static str, Option<Range<usize>>), bool>,
    /// The names of rules in comments that suppress something.
    used: HashSet<Span>,
    /// For each comment the rules with findings on its lines.
    covered: Vec<BTreeSet<&'static str>>,
}

impl<'a> SuppressionMatcher<'a> {
    fn new(all: &'a [Suppression]) -> Self {
        let (of_file, mut of_lines): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|it| all[*it].whole_file);
        of_lines.sort_by_key(|it| all[*it].lines.start);
        let mut end = 0;
        let ends = of_lines.iter().map(|it| {
            end = all[*it].lines.end.max(all[*it].lines.start + 1).max(end);
            end
        });
        let ends = ends.collect();
        let covered = vec![BTreeSet::new(); all.len()];
        Self { all, of_file, of_lines, ends, known: HashMap::new(), used: HashSet::new(), covered }
    }

    /// Whether a comment suppresses a finding; `offsets` are those of [`suppression_offsets`].
    fn suppresses(&mut self, rule: &'static str, offsets: &[usize]) -> bool {
        let on_lines = offsets.iter().map(|offset| {
            let last = self.of_lines.partition_point(|it| self.all[*it].lines.start <= *offset);
            let first = self.ends.partition_point(|it| it <= offset);
            Some(first.min(last)..last)
        });
        let ranges: Vec<Option<Range<usize>>> = std::iter::once(None).chain(on_lines).collect();
        let mut is_suppressed = false;
        for (range, offset) in ranges.into_iter().zip(std::iter::once(None).chain(offsets.iter().copied().map(Some))) {
            is_suppressed |= self.matches(rule, range, offset);
        }
        is_suppressed
    }

    fn matches(&mut self, rule: &'static str, range: Option<Range<usize>>, offset: Option<usize>) -> bool {
        if let Some(known) = self.known.get(&(rule, range.clone())) {
            return *known;
        }
        let candidates = match &range {
            Some(range) => &self.of_lines[range.clone()],
            None => &self.of_file[..],
        };
        let (mut is_suppressed, mut count) = (false, 0);
        let is_same_for_all = candidates.len();
        for at in candidates.iter().copied().filter(|at| offset.is_none_or(|it| self.all[*at].covers(&[it]))) {
            count += 1;
            self.covered[at].insert(rule);
            let suppression = &self.all[at];
            for (_, span) in suppression.rules.iter().filter(|(name, _)| name == rule && suppression.flaw.is_none()) {
                is_suppressed = true;
                self.used.insert(*span);
            }
        }
        // Comments in a comment may end before others that begin later.
        if count == is_same_for_all {
            self.known.insert((rule, range), is_suppressed);
        }
        is_suppressed
    }
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
