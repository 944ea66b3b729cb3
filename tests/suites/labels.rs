//! Puts the actual findings of a case into it as labels.

use podlens::text::{LineIndex, Span};

use crate::fixture::{Case, File, Label};

/// A finding as a label shows it.
pub(crate) struct Finding {
    pub(crate) file: String,
    pub(crate) span: Span,
    pub(crate) rule: String,
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

fn fits(written: &Label, actual: &Label) -> bool {
    (written.line, written.start, &written.rule) == (actual.line, actual.start, &actual.rule)
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
        message: Some(finding.message.clone()),
    }
}
