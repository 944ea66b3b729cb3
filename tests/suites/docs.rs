//! The examples in the documentation of each rule: `Example` has a finding of the rule, `Use instead` has none.

use libtest_mimic::Trial;
use podlens::rules::{RULES, Rule};
use podlens::workspace::LintLevel;

use crate::findings::lint;
use crate::fixture::Suite;
use crate::rules::texts;

/// One test for each example of each rule.
pub(crate) fn trials() -> Vec<Trial> {
    let mut all = Vec::new();
    for rule in RULES {
        for (heading, has_finding) in [("Example", true), ("Use instead", false)] {
            if let Some(section) = section(rule.docs, heading) {
                let name = format!("docs::{}::{heading}", rule.name);
                all.push(Trial::test(name, move || Ok(check(rule, heading, &section, has_finding)?)));
            }
        }
    }
    all
}

/// The text below a heading, as a suite with this one test.
fn section(docs: &str, heading: &str) -> Option<String> {
    let lines = docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    let mut section = lines.skip_while(|line| *line != format!("## {heading}"));
    let first = section.next()?;
    let body = section.take_while(|line| !line.starts_with("## "));
    Some(std::iter::once(first).chain(body).fold(String::new(), |text, line| text + line + "\n"))
}

fn check(rule: &Rule, heading: &str, section: &str, has_finding: bool) -> Result<(), String> {
    let place = format!("the documentation of `{}`, `## {heading}`", rule.name);
    let suite = Suite::parse(&place, section, |_| false)?;
    let Some(case) = suite.cases.first().filter(|case| case.files().next().is_some()) else { return Ok(()) };
    let findings = lint(&texts(case));
    // A rule that is off by default finds nothing in its example, unless that is evident.
    let expected = has_finding && rule.level.max(rule.evident_level) != LintLevel::Off;
    if findings.iter().any(|finding| finding.rule == rule.name) == expected {
        return Ok(());
    }
    let expected = if expected { "a finding" } else { "no finding" };
    let found: Vec<String> = findings.iter().map(|it| format!("{}: {}", it.rule, it.message)).collect();
    Err(format!("{place}: expected {expected} of the rule, found {found:#?}"))
}
