//! Reviewdog's diagnostic format. Its columns count bytes.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::diagnostic::Severity;
use crate::report::findings::{Finding, Range, Report};
use crate::report::json;

/// Writes the diagnostics.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let diagnostics: Vec<Value> = report.findings.iter().map(diagnostic).collect();
    json::write(out, &json!({"source": {"name": "podlens"}, "diagnostics": diagnostics}))
}

fn diagnostic(finding: &Finding) -> Value {
    let severity = match finding.level {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
        Severity::Info | Severity::Hint => "INFO",
    };
    let help = finding.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
    let mut value = json!({
        "message": format!("{}{help}", finding.message),
        "location": location(&finding.file, finding.range),
        "severity": severity,
        "code": {"value": finding.rule},
    });
    let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
    // A suggestion can only change the file of the finding.
    let own = finding.fix.iter().all(|fix| fix.edits.iter().all(|it| it.file == finding.file));
    let suggestions: Vec<Value> =
        edits.filter(|_| own).map(|it| json!({"range": range(it.range), "text": it.text})).collect();
    if !suggestions.is_empty() {
        value["suggestions"] = suggestions.into();
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter();
        let related = related.map(|it| json!({"message": it.message, "location": location(&it.file, it.range)}));
        value["related_locations"] = related.collect::<Vec<_>>().into();
    }
    value
}

fn location(file: &str, place: Range) -> Value {
    json!({"path": file, "range": range(place)})
}

fn range(range: Range) -> Value {
    json!({
        "start": {"line": range.start.line, "column": range.start.byte_column},
        "end": {"line": range.end.line, "column": range.end.byte_column},
    })
}
