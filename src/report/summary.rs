//! The last lines of `lint` for people: how many findings in how many files, how many are fixable, and what was passed over.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::diagnostic::Severity;
use crate::report::findings::{Report, Summary};

const GOOD: Style = AnsiColor::Green.on_default().bold();

/// The color of a severity.
pub fn style(level: Severity) -> Style {
    let color = match level {
        Severity::Error => AnsiColor::BrightRed,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Info => AnsiColor::BrightBlue,
        Severity::Hint => AnsiColor::BrightGreen,
    };
    color.on_default().bold()
}

/// Writes the lines.
pub(super) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    write_counts(out, report)?;
    let reasons = report.summary.passed_over.iter().map(|it| {
        let parts = [(it.files, "file", "files"), (it.directories, "directory", "directories")];
        let parts = parts.into_iter().filter(|(number, ..)| *number > 0);
        let parts: Vec<String> =
            parts.map(|(number, one, many)| format!("{number} {}", if number == 1 { one } else { many })).collect();
        format!("{} {}", parts.join(" and "), it.why)
    });
    let reasons: Vec<String> = reasons.collect();
    if reasons.is_empty() { Ok(()) } else { writeln!(out, "Passed over: {}", reasons.join(", ")) }
}

fn write_counts(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Summary { files, documents, errors, warnings, infos, hints, .. } = report.summary;
    let levels = [
        (Severity::Error, errors, "error"),
        (Severity::Warning, warnings, "warning"),
        (Severity::Info, infos, "info"),
        (Severity::Hint, hints, "hint"),
    ];
    let found: Vec<String> = levels
        .into_iter()
        .filter(|(_, number, _)| *number > 0)
        .map(|(level, number, name)| {
            let style = style(level);
            format!("{style}{}{style:#}", counted(number, name))
        })
        .collect();
    if found.is_empty() {
        if documents == 0 {
            return Ok(());
        }
        let content = match report.objects {
            0 => "no Kubernetes objects".to_owned(),
            _ => counted(documents, "document"),
        };
        let files = counted(files, "file");
        return match report.problems.is_empty() {
            true => writeln!(out, "{GOOD}No findings.{GOOD:#} {files}, {content}"),
            false => writeln!(out, "No findings in the files that could be read. {files}, {content}"),
        };
    }
    write!(out, "Found {} in {}", found.join(", "), counted(files, "file"))?;
    let fixable =
        |safe| report.findings.iter().filter(|it| it.fix.as_ref().is_some_and(|fix| fix.safe == safe)).count();
    match (fixable(true), fixable(false)) {
        (0, 0) => writeln!(out),
        (safe, 0) => writeln!(out, "; {safe} fixable with --fix"),
        (0, unsure) => writeln!(out, "; {unsure} fixable with --fix --unsafe-fixes"),
        (safe, unsure) => writeln!(out, "; {safe} fixable with --fix, {unsure} more with --unsafe-fixes"),
    }
}

/// `1 file`, `2 files`.
pub fn counted(number: usize, name: &str) -> String {
    format!("{number} {name}{}", if number == 1 { "" } else { "s" })
}
