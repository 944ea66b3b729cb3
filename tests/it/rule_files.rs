//! Every rule is complete: its file is registered and has the name of the rule, and its documentation describes its
//! behaviour.

use std::collections::BTreeSet;

use podlens::rules::RULES;

use crate::findings::lint;
use crate::fixture::Suite;
use crate::tidy::{assert_tidy, paths_below, project, read};

const CHECKS: &str = "src/rules/checks";

/// The names of the files in `src/rules/checks`, without `.rs`.
fn modules() -> BTreeSet<String> {
    let paths = paths_below(&project().join(CHECKS));
    let paths = paths.iter().filter_map(|path| path.strip_prefix(CHECKS)?.strip_prefix('/'));
    paths.map(|path| path.strip_suffix(".rs").unwrap_or(path).to_owned()).collect()
}

#[test]
fn every_rule_has_a_file_of_its_name_and_every_file_is_registered() {
    let registered: BTreeSet<String> = RULES.iter().map(|rule| rule.name.replace('-', "_")).collect();
    let modules = modules();
    let mut findings = Vec::new();
    for module in modules.difference(&registered) {
        findings.push(format!(
            "{CHECKS}/{module}.rs is not registered under its name: src/rules/checks.rs needs `mod {module};` and \
             `&{module}::RULE,`, and the rule `name: \"{}\"`. The folder holds rules only: what several \
             rules use is in src/rules/shared",
            module.replace('_', "-")
        ));
    }
    for module in registered.difference(&modules) {
        findings.push(format!(
            "the rule `{}` is not in {CHECKS}/{module}.rs: rename one of the two",
            module.replace('_', "-")
        ));
    }
    assert_tidy(&findings);
}

#[test]
fn every_rule_file_starts_with_its_name() {
    let mut findings = Vec::new();
    for rule in RULES {
        let path = format!("{CHECKS}/{}.rs", rule.name.replace('-', "_"));
        if !project().join(&path).exists() {
            findings.push(format!("{path}: expected the rule `{}` in this file", rule.name));
            continue;
        }
        let file = read(&path);
        let expected = format!("//! The rule `{}`.", rule.name);
        if file.text.lines().next() != Some(&expected) {
            findings.push(format!("{}:1: expected `{expected}`", file.path));
        }
    }
    assert_tidy(&findings);
}

const HEADINGS: [&str; 5] = ["## What it does", "## Why it matters", "## Example", "## Use instead", "## Fix"];

#[test]
fn every_rule_is_documented() {
    let mut findings = Vec::new();
    for rule in RULES {
        let docs = rule.markdown();
        let headings: Vec<&str> =
            docs.lines().filter(|line| line.starts_with('#') && !line.starts_with("#-")).collect();
        if headings != HEADINGS {
            findings.push(format!("{}: the headings are {headings:?}, expected {HEADINGS:?}", rule.name));
        }
        if !rule.summary().starts_with("Reports ") || !rule.summary().ends_with('.') {
            findings.push(format!("{}: the first line is one sentence: `Reports ….`", rule.name));
        }
        if docs.lines().nth(1) != Some("") {
            findings.push(format!("{}: the first sentence is one line, with an empty line after it", rule.name));
        }
        let what = docs.split("## ").nth(1).unwrap_or_default().replace('\n', " ");
        if !what.contains("finding covers") {
            findings.push(format!("{}: `What it does` says which text the finding covers", rule.name));
        }
    }
    assert_tidy(&findings);
}

/// The findings of a rule in its own suite.
fn suite_findings(rule: &str) -> Vec<podlens::diagnostic::Diagnostic> {
    let path = format!("fixtures/rules/{rule}.md");
    assert!(project().join(&path).exists(), "{path} is missing: write the suite of the rule, see CONTRIBUTING.md");
    let file = read(&path);
    let suite = Suite::parse(&file.path, &file.text, |_| true).expect("the suites check the format");
    let files = suite.cases.iter().map(|case| case.files().map(|it| (it.path.clone(), it.text.clone())).collect());
    files.flat_map(|files| lint(&files)).filter(|finding| finding.rule == rule).collect()
}

#[test]
fn the_documentation_says_whether_there_is_a_fix() {
    let mut findings = Vec::new();
    for rule in RULES {
        let docs = rule.markdown();
        let says_none = docs.split("## Fix\n").nth(1).is_some_and(|it| it.starts_with("None"));
        match (says_none, suite_findings(rule.name).iter().any(|it| !it.fixes.is_empty() || !it.choices.is_empty())) {
            (true, true) => findings.push(format!("{}: `## Fix` says `None`, but the rule offers a fix", rule.name)),
            (false, false) => findings.push(format!(
                "{}: `## Fix` describes a fix, but no finding in fixtures/rules/{}.md has one",
                rule.name, rule.name
            )),
            _ => {}
        }
    }
    assert_tidy(&findings);
}

#[test]
fn messages_are_one_line_and_names_are_names() {
    let mut findings = Vec::new();
    for rule in RULES {
        for it in suite_findings(rule.name) {
            let place = format!("{}: {:?} ({:?})", rule.name, it.message, it.name);
            let mut first = it.message.chars();
            // `YAML` may be the first word, `The` may not.
            let is_sentence =
                first.next().is_none_or(char::is_uppercase) && first.next().is_none_or(char::is_lowercase);
            if is_sentence || it.message.ends_with('.') || it.message.contains('\n') {
                findings.push(format!("{place}: a message is one line, starts in lower case and has no final period"));
            }
            if it.message == it.name || it.name.contains('`') {
                findings
                    .push(format!("{place}: the second argument of `Finding::new` is a name, the third the message"));
            }
        }
    }
    assert_tidy(&findings);
}
