//! `fixtures/rules`: the suite of each rule. Every finding has a label, and every label a finding.
//!
//! A `diff` block shows the first fix of each finding, `diff 2` the second: the titles of the fixes, and what they change
//! together. Each kind of fix of a rule is in a `diff` of its suite.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use libtest_mimic::Trial;
use podlens::diagnostic::Diagnostic;
use podlens::rules::{self, RULES};

use crate::command::project;
use crate::findings::{Files, fixes_of_rank, lint, with_edits};
use crate::fixture::{Case, Expected, Suite};
use crate::labels::{Finding, set_labels};
use crate::runner::{self, Folder};

pub(crate) const FOLDER: Folder =
    Folder { name: "rules", results: &["diff"], has_labels: true, has_cursors: false, check };

fn check(suite: &str, case: &Case) -> Result<Case, String> {
    if rules::find_rule(suite).is_none() {
        return Err(format!(
            "there is no rule `{suite}`: register it in src/rules/checks.rs, or name the suite like its rule"
        ));
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
        level: other_level(it),
        message: it.message.clone(),
    };
    findings.iter().map(label).collect()
}

/// The level of a finding, if it is not the default of its rule.
fn other_level(finding: &Diagnostic) -> Option<String> {
    let default = rules::find_rule(finding.rule)?.level.severity()?;
    (finding.severity != default).then(|| finding.severity.as_str().to_owned())
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
    let mut all = vec![
        Trial::test("rules::every rule has a suite", || Ok(every_rule_has_a_suite()?)),
        Trial::test("rules::every title of a fix is shown", || Ok(every_title_of_a_fix_is_shown()?)),
    ];
    for rule in RULES {
        let name = format!("rules::{}::every kind of fix has a diff", rule.name);
        all.push(Trial::test(name, || Ok(every_kind_of_fix_has_a_diff(rule.name)?)));
    }
    all
}

fn every_rule_has_a_suite() -> Result<(), String> {
    let missing = RULES.iter().map(|rule| format!("fixtures/rules/{}.md", rule.name));
    let missing: Vec<_> = missing.filter(|path| !project().join(path).exists()).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("missing, see 'Add a rule' in CONTRIBUTING.md: {}", missing.join(", ")))
    }
}

fn every_kind_of_fix_has_a_diff(rule: &str) -> Result<(), String> {
    let path = project().join(format!("fixtures/rules/{rule}.md"));
    if !path.exists() {
        return Err(format!("fixtures/rules/{rule}.md is missing: write the suite of the rule, see CONTRIBUTING.md"));
    }
    let suite = runner::read(&FOLDER, &path)?;
    let (offered, shown) = kinds_of_fixes(rule, &suite)?;
    let mut missing = String::new();
    for (kind, offered) in offered.into_iter().filter(|(kind, _)| !shown.contains(kind)) {
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

/// The kinds of fixes that findings of this rule offer in its suite, and those that a `diff` shows.
fn kinds_of_fixes(rule: &str, suite: &Suite) -> Result<(BTreeMap<String, Offered>, BTreeSet<String>), String> {
    let mut offered = BTreeMap::new();
    let mut shown = BTreeSet::new();
    for case in &suite.cases {
        let findings = lint(&texts(case));
        for finding in findings.iter().filter(|finding| finding.rule == rule) {
            for (rank, fix) in finding.fixes.iter().chain(&finding.choices).enumerate() {
                offered.entry(kind(&fix.title)).or_insert(Offered { line: case.line, rank });
            }
        }
        for result in case.results() {
            let fixes = fixes_of_rank(&findings, rank(result)?);
            let own = fixes.into_iter().filter(|(finding, _)| finding.rule == rule);
            shown.extend(own.map(|(_, fix)| kind(&fix.title)));
        }
    }
    Ok((offered, shown))
}

/// A fix that no test of its rule offers is found by its title in the code: a literal with a capital letter and a space.
fn every_title_of_a_fix_is_shown() -> Result<(), String> {
    let mut shown: BTreeSet<String> = BTreeSet::new();
    for path in runner::entries("rules") {
        let suite = runner::read(&FOLDER, &path)?;
        let lines = suite.cases.iter().flat_map(|case| case.results()).flat_map(|result| result.text.lines());
        shown.extend(lines.filter_map(|line| line.strip_prefix("# ")).map(str::to_owned));
    }
    // Some fixes are also code actions without a finding.
    let actions = project().join("fixtures/ide/code_actions.md");
    for case in runner::read(&crate::ide::FOLDER, &actions)?.cases {
        let titles = case.results().flat_map(|result| result.text.lines()).filter_map(|line| line.split_once(' '));
        shown.extend(titles.map(|(_, title)| title.trim_end().to_owned()));
    }
    let mut missing = String::new();
    for (place, literal) in capitalised_literals() {
        if !shown.iter().any(|title| is_instance(title, &literal)) {
            let _ = writeln!(missing, "{place}: no `diff` of a suite in fixtures/rules shows \"{literal}\"");
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing) }
}

/// The texts in the code of the rules that begin with a capital letter, with their places. Messages do not, except
/// where the first word is a name.
fn capitalised_literals() -> Vec<(String, String)> {
    let is_title = |literal: &str| {
        literal.starts_with(|first: char| first.is_ascii_uppercase())
            && literal.contains(' ')
            && !literal.starts_with("Kubernetes ")
    };
    let mut all = Vec::new();
    for folder in ["src/rules/checks", "src/rules/shared"] {
        for entry in std::fs::read_dir(project().join(folder)).expect("the code of the rules") {
            let path = entry.expect("a file").path();
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (number, line) in (1..).zip(code.lines()).filter(|(_, line)| !line.trim_start().starts_with("//")) {
                let literals = line.split('"').skip(1).step_by(2).filter(|literal| is_title(literal));
                let place = format!("{}:{number}", runner::shown(&path));
                all.extend(literals.map(|literal| (place.clone(), literal.to_owned())));
            }
        }
    }
    all
}

/// Whether a format string can give a text.
fn is_instance(text: &str, format: &str) -> bool {
    let mut pieces = format.split('{').enumerate().map(|(at, piece)| match piece.split_once('}') {
        Some((_, piece)) if at > 0 => piece,
        _ => piece,
    });
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty() || format.ends_with('}')
}

/// The title of a fix without the names and texts in it.
fn kind(title: &str) -> String {
    let pieces = title.split('`').enumerate();
    pieces.map(|(at, piece)| if at % 2 == 0 { piece } else { "`…`" }).collect()
}
