//! A GitLab Code Quality report: a list of issues with fingerprints.

use std::io::{self, Write};

use serde_json::json;

use crate::diagnostic::Severity;
use crate::report::findings::{Position, Report};
use crate::report::json;

/// Writes the issues.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let place = |it: Position| json!({"line": it.line, "column": it.column});
    let issues: Vec<_> = report
        .findings
        .iter()
        .map(|it| {
            let severity = match it.level {
                Severity::Error => "major",
                Severity::Warning => "minor",
                Severity::Info | Severity::Hint => "info",
            };
            json!({
                "type": "issue",
                "check_name": it.rule,
                "description": it.message,
                "categories": ["Bug Risk"],
                "severity": severity,
                "fingerprint": it.fingerprint,
                "location": {
                    "path": it.repository_file,
                    "positions": {"begin": place(it.range.start), "end": place(it.range.end)},
                },
            })
        })
        .collect();
    json::write(out, &issues)
}
