//! The demo workspaces and the linter agree: every marked mistake is found on its line, and nothing else.

use podlens::rules::{Levels, Rule};
use podlens::text::LineIndex;
use podlens::workspace::{File, LintLevel};

use crate::findings::{Files, lint_with};
use crate::fixtures::{manifests, mistakes};

/// Every rule is on, also those that are off by default.
struct All;

impl Levels for All {
    fn level(&self, rule: &Rule, _: &str) -> Option<LintLevel> {
        Some(rule.level.max(LintLevel::Hint))
    }
}

/// `file:line: rule`, sorted.
fn found(files: &Files) -> Vec<String> {
    let mut found: Vec<String> = lint_with(files, File::read, Some(&All))
        .iter()
        .map(|finding| {
            let location = &finding.location;
            let line = LineIndex::new(&files[&*location.file]).line_column(location.span.start).line;
            format!("{}:{line}: {}", location.file, finding.rule)
        })
        .collect();
    found.sort();
    found
}

/// The same for the mistakes that comments mark.
fn marked(files: &Files) -> Vec<String> {
    let mut marked = Vec::new();
    for (path, text) in files {
        marked.extend(mistakes(path, text).map(|(line, rule)| format!("{path}:{line}: {rule}")));
    }
    marked.sort();
    marked
}

#[test]
fn every_mistake_is_found_and_nothing_else() {
    for workspace in ["shop", "shop-broken", "shop-legacy"] {
        let files = manifests(workspace);
        let (found, marked) = (found(&files), marked(&files));
        let extra: Vec<_> = found.iter().filter(|it| !marked.contains(it)).collect();
        let missing: Vec<_> = marked.iter().filter(|it| !found.contains(it)).collect();
        assert_eq!(found, marked, "fixtures/{workspace}: found without a comment: {extra:?}, not found: {missing:?}");
    }
}
