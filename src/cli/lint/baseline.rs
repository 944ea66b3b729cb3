//! A file of findings that are known and not reported any more. It survives moved lines, since it names no line.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ide::INVALID_SETTINGS;
use crate::load;
use crate::report::findings::{Finding, Report};

const SCHEMA: &str = "podlens/baseline/v1";

/// What is known.
pub(super) struct Baseline {
    /// The file, as it was given.
    pub(super) name: String,
    fingerprints: HashSet<String>,
}

#[derive(Deserialize, Serialize)]
struct Content {
    schema: String,
    findings: Vec<Known>,
}

/// A known finding. The fingerprint counts; the rest is for those who read the file.
#[derive(Deserialize, Serialize)]
struct Known {
    fingerprint: String,
    #[serde(default)]
    rule: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    message: String,
}

impl Baseline {
    /// Reads a baseline, or says what is wrong with it and what to do.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = load::read(path)?;
        let remedy = "; write it anew with --write-baseline. Everything is reported";
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| format!("no baseline: {error}{remedy}"))?;
        match value.get("schema").and_then(|it| it.as_str()) {
            Some(SCHEMA) => {}
            Some(other) => return Err(format!("a baseline of another version: `{other}`, not `{SCHEMA}`{remedy}")),
            None => return Err(format!("no baseline: expected `\"schema\": \"{SCHEMA}\"`{remedy}")),
        }
        let content: Content =
            serde_json::from_value(value).map_err(|error| format!("a malformed baseline: {error}{remedy}"))?;
        let fingerprints = content.findings.into_iter().map(|it| it.fingerprint).collect();
        Ok(Self { name: path.display().to_string(), fingerprints })
    }

    /// Leaves out what is known; gives its number.
    pub(super) fn leave_out(&self, report: &mut Report) -> usize {
        let before = report.findings.len();
        report.findings.retain(|it| !belongs(it) || !self.fingerprints.contains(&it.fingerprint));
        before - report.findings.len()
    }

    /// The baseline of a report, and how many findings it has.
    pub(super) fn text(report: &Report) -> (String, usize) {
        let known = |it: &Finding| Known {
            fingerprint: it.fingerprint.clone(),
            rule: it.rule.to_owned(),
            file: it.file.clone(),
            message: it.message.clone(),
        };
        let findings: Vec<Known> = report.findings.iter().filter(|it| belongs(it)).map(known).collect();
        let number = findings.len();
        let content = Content { schema: SCHEMA.to_owned(), findings };
        // Plain structs with string keys cannot fail.
        (serde_json::to_string_pretty(&content).unwrap_or_default() + "\n", number)
    }
}

/// Broken settings are never taken for granted: they decide what else is found.
fn belongs(finding: &Finding) -> bool {
    finding.rule != INVALID_SETTINGS
}
