//! Puts the actual findings of a case into it as labels.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use libtest_mimic::Trial;
use podlens::text::{LineIndex, Span};

use crate::fixture::{Case, File, Label, Suite};

/// A finding as a label shows it.
pub(crate) struct Finding {
    pub(crate) file: String,
    pub(crate) span: Span,
    pub(crate) rule: String,
    /// The level, if it is not that of the rule.
    pub(crate) level: Option<String>,
    pub(crate) message: String,
}

/// Replaces the labels of a case. A written label that fits its finding is kept as it is: it may leave out the message,
/// or the end of the finding.
pub(crate) fn set_labels(case: &mut Case, findings: &[Finding]) {
    for file in case.files_mut() {
        let mut written = std::mem::take(&mut file.labels);
        let here = findings.iter().filter(|finding| finding.file == file.path);
        file.labels = here
            .map(|finding| {
                let label = label(file, finding);
                match written.iter().position(|it| fits(it, &label)) {
                    Some(at) => written.swap_remove(at),
                    None => label,
                }
            })
            .collect();
    }
}

/// The findings without a label and the labels without a finding, one in each line.
pub(crate) fn label_changes(written: &Case, actual: &Case) -> String {
    let (written, actual) = (counted(written), counted(actual));
    let mut changes = String::new();
    let mut add = |from: &Labels<'_>, to: &Labels<'_>, what: &str| {
        for (label @ (path, line, rule), count) in from {
            for _ in to.get(label).copied().unwrap_or_default()..*count {
                let _ = writeln!(changes, "{path}, line {line}: {what} `{rule}`");
            }
        }
    };
    add(&actual, &written, "no label for a finding of");
    add(&written, &actual, "no finding for a label of");
    changes
}

/// How often a path, a line and a rule have a label.
type Labels<'c> = BTreeMap<(&'c str, usize, &'c str), usize>;

fn counted(case: &Case) -> Labels<'_> {
    let mut all = Labels::new();
    for file in case.files() {
        for label in &file.labels {
            // A finding at the end of the text is shown below its last line.
            let line = (label.line as usize).min(file.text.lines().count());
            *all.entry((&*file.path, line, &*label.rule)).or_default() += 1;
        }
    }
    all
}

fn fits(written: &Label, actual: &Label) -> bool {
    (written.line, written.start, &written.rule) == (actual.line, actual.start, &actual.rule)
        && written.level == actual.level
        && (written.end.is_none() || written.end == actual.end)
        && (written.message.is_none() || written.message == actual.message)
}

fn label(file: &File, finding: &Finding) -> Label {
    let lines = LineIndex::new(&file.text);
    // The end of the text is shown at the end of its last line.
    let last = file.text.trim_end_matches(['\r', '\n']).len();
    let is_end = finding.span.start >= file.text.len();
    let start = lines.line_column(if is_end { last } else { finding.span.start });
    let end = lines.line_column(finding.span.end.min(file.text.len()));
    let column = if is_end || end.line == start.line { Some(end.column.max(start.column + 1)) } else { None };
    Label {
        line: start.line,
        start: start.column,
        end: if is_end { Some(start.column + 1) } else { column },
        rule: finding.rule.clone(),
        level: finding.level.clone(),
        message: Some(finding.message.clone()),
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("labels::changes are the labels that are added or removed", || Ok(changes_are_found()?))]
}

fn changes_are_found() -> Result<(), String> {
    let case = |labels: &str| -> Result<Case, String> {
        let suite = Suite::parse("s.md", &format!("## A\n```yaml\na: 1\nb: 2\n{labels}```\n"), |_| true)?;
        suite.cases.into_iter().next().ok_or_else(|| "no test".to_owned())
    };
    for (written, actual, expected) in [
        ("# ^ one\n", "#  ^ one: message\n", ""),
        ("", "#  ^ one\n", "manifest.yaml, line 2: no label for a finding of `one`\n"),
        ("# ^ one\n", "# ^ one\n# ^ one\n", "manifest.yaml, line 2: no label for a finding of `one`\n"),
        ("# ^ one\n", "", "manifest.yaml, line 2: no finding for a label of `one`\n"),
        (
            "# ^ one\n",
            "# ^ two\n",
            "manifest.yaml, line 2: no label for a finding of `two`\n\
             manifest.yaml, line 2: no finding for a label of `one`\n",
        ),
    ] {
        let found = label_changes(&case(written)?, &case(actual)?);
        if found != expected {
            return Err(format!("from {written:?} to {actual:?}: expected {expected:?}, found {found:?}"));
        }
    }
    Ok(())
}
