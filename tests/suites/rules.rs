//! `fixtures/rules`: the suite of each rule. Every finding has a label, and every label a finding.
//!
//! A `diff` block shows the first fix of each finding, `diff 2` the second: the titles of the fixes, and what they change
//! together. Each kind of fix of a rule is in a `diff` of its suite.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use libtest_mimic::Trial;
use podlens::diagnostic::Diagnostic;
use podlens::rules::{self, RULES};

use crate::findings::{Files, fixes_of_rank, lint, with_edits};
use crate::fixture::{Case, Expected, Suite};
use crate::labels::{Finding, set_labels};
use crate::runner::{self, Folder};

pub(crate) const FOLDER: Folder =
    Folder { name: "rules", results: &["diff"], has_labels: true, has_cursors: false, check };

fn check(suite: &str, case: &Case) -> Result<Case, String> {
    if rules::find_rule(suite).is_none() {
        return Err(format!("there is no rule `{suite}`: a suite is called like its rule"));
    }
    let files = texts(case);
    let findings = lint(&files);
    let mut actual = case.clone();
    set_labels(&mut actual, &labels(&findings));
    for result in actual.results_mut() {
        result.text = shown_fixes(&files, &findings, rank(result)?);
    }
    Ok(actual)
}

/// The files of a case.
pub(crate) fn texts(case: &Case) -> Files {
    case.files().map(|file| (file.path.clone(), file.text.clone())).collect()
}

/// The findings as labels show them.
pub(crate) fn labels(findings: &[Diagnostic]) -> Vec<Finding> {
    let label = |it: &Diagnostic| Finding {
        file: it.location.file.to_string(),
        span: it.location.span,
        rule: it.rule.to_owned(),
        message: it.message.clone(),
    };
    findings.iter().map(label).collect()
}

/// Which fix of each finding a `diff` shows, from 0.
fn rank(result: &Expected) -> Result<usize, String> {
    match &*result.argument {
        "" => Ok(0),
        number => match number.parse::<usize>() {
            Ok(number @ 2..) => Ok(number - 1),
            _ => Err(format!("line {}: `diff {number}`: expected `diff`, `diff 2`, `diff 3` …", result.line)),
        },
    }
}

fn shown_fixes(files: &Files, findings: &[Diagnostic], rank: usize) -> String {
    let fixes = fixes_of_rank(findings, rank);
    let titles: BTreeSet<&str> = fixes.iter().map(|(_, fix)| &*fix.title).collect();
    let mut shown = titles.iter().fold(String::new(), |shown, title| shown + "# " + title + "\n");
    let after = with_edits(files, fixes.iter().flat_map(|(_, fix)| &fix.edits));
    for (path, old) in files {
        let diff = similar::TextDiff::from_lines(old.as_str(), &after[path]);
        let _ = write!(shown, "{}", diff.unified_diff().context_radius(1).header(path, path));
    }
    shown
}

/// What the suites of all rules have to show.
pub(crate) fn trials() -> Vec<Trial> {
    let mut all = vec![Trial::test("rules::every rule has a suite", || Ok(every_rule_has_a_suite()?))];
    for rule in RULES {
        let name = format!("rules::{}::every kind of fix has a diff", rule.name);
        all.push(Trial::test(name, || Ok(every_kind_of_fix_has_a_diff(rule.name)?)));
    }
    all
}

fn every_rule_has_a_suite() -> Result<(), String> {
    let missing = RULES.iter().map(|rule| format!("fixtures/rules/{}.md", rule.name));
    let missing: Vec<_> = missing.filter(|path| !crate::command::project().join(path).exists()).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("missing: {}", missing.join(", "))) }
}

fn every_kind_of_fix_has_a_diff(rule: &str) -> Result<(), String> {
    let path = crate::command::project().join(format!("fixtures/rules/{rule}.md"));
    let suite = runner::read(&FOLDER, &path)?;
    let mut missing = String::new();
    for (kind, offered) in kinds_without_diff(rule, &suite)? {
        let _ = writeln!(missing, "{}:{}: no `diff` shows the fix \"{kind}\"", runner::shown(&path), offered.line);
        let number = if offered.rank == 0 { String::new() } else { format!(" {}", offered.rank + 1) };
        let _ = writeln!(missing, "Add an empty block to this test and run it with UPDATE=1:\n```diff{number}\n```");
    }
    if missing.is_empty() { Ok(()) } else { Err(missing) }
}

/// Where a kind of fix is offered first.
struct Offered {
    line: usize,
    rank: usize,
}

/// The kinds of fixes that findings of this rule offer in its suite, without those that a `diff` shows.
fn kinds_without_diff(rule: &str, suite: &Suite) -> Result<BTreeMap<String, Offered>, String> {
    let mut offered = BTreeMap::new();
    let mut shown = BTreeSet::new();
    for case in &suite.cases {
        let findings = lint(&texts(case));
        for finding in findings.iter().filter(|finding| finding.rule == rule) {
            for (rank, fix) in finding.fixes.iter().enumerate() {
                offered.entry(kind(&fix.title)).or_insert(Offered { line: case.line, rank });
            }
        }
        for result in case.results() {
            let fixes = fixes_of_rank(&findings, rank(result)?);
            let own = fixes.into_iter().filter(|(finding, _)| finding.rule == rule);
            shown.extend(own.map(|(_, fix)| kind(&fix.title)));
        }
    }
    offered.retain(|kind, _| !shown.contains(kind));
    Ok(offered)
}

/// The title of a fix without the names and texts in it.
fn kind(title: &str) -> String {
    let pieces = title.split('`').enumerate();
    pieces.map(|(at, piece)| if at % 2 == 0 { piece } else { "`…`" }).collect()
}
