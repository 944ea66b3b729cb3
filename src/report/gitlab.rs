//! A GitLab Code Quality report: a list of issues with fingerprints.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::diagnostic::Severity;
use crate::report::findings::{Finding, Position, Report};
use crate::report::json::{self, Streamed};

/// Writes the issues.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    json::write(out, &Streamed { items: &report.findings, value: issue })
}

fn issue(finding: &Finding) -> Value {
    let place = |it: Position| json!({"line": it.line, "column": it.column});
    let severity = match finding.level {
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Info | Severity::Hint => "info",
    };
    json!({
        "type": "issue",
        "check_name": finding.rule,
        "description": finding.message,
        "categories": ["Bug Risk"],
        "severity": severity,
        "fingerprint": finding.fingerprint,
        "location": {
            "path": finding.repository_file,
            "positions": {"begin": place(finding.range.start), "end": place(finding.range.end)},
        },
    })
}
