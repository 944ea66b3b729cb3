//! The baseline: a file of known findings, which are not reported. It contains no line numbers, so it survives edits.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::diagnostic::InputProblem;
use crate::load;
use crate::report::{Finding, Report};
use crate::rules::INVALID_SETTINGS;

const SCHEMA: &str = "podlens/baseline/v2";

/// The findings of a baseline file.
pub(super) struct Baseline {
    /// The path as the user gave it.
    pub(super) name: String,
    fingerprints: HashSet<String>,
}

#[derive(Deserialize, Serialize)]
struct Content {
    schema: String,
    findings: Vec<Known>,
}

/// A known finding. Only the fingerprint is compared; the rest is for people who read the file.
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
    /// Reads a baseline. The error says what is wrong and what to do.
    pub(super) fn read(path: &Path) -> Result<Self, InputProblem> {
        let shown = path.display().to_string();
        let text = load::read(path).map_err(|error| error.in_file(shown.clone()))?;
        Self::parse(&text, &shown).map_err(|message| InputProblem {
            file: shown,
            position: None,
            message,
            is_missing: false,
        })
    }

    fn parse(text: &str, name: &str) -> Result<Self, String> {
        let remedy = "; write it again with --write-baseline. All findings are reported";
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| format!("not a baseline: {error}{remedy}"))?;
        match value.get("schema").and_then(|it| it.as_str()) {
            Some(SCHEMA) => {}
            Some(other) => {
                return Err(format!("a baseline of another version, `{other}` instead of `{SCHEMA}`{remedy}"));
            }
            None => return Err(format!("not a baseline: expected `\"schema\": \"{SCHEMA}\"`{remedy}")),
        }
        let content: Content =
            serde_json::from_value(value).map_err(|error| format!("malformed baseline: {error}{remedy}"))?;
        let fingerprints = content.findings.into_iter().map(|it| it.fingerprint).collect();
        Ok(Self { name: name.to_owned(), fingerprints })
    }

    /// Removes known findings from a report. Returns how many.
    pub(super) fn remove_known(&self, report: &mut Report) -> usize {
        let before = report.findings.len();
        report.findings.retain(|it| !belongs(it) || !self.fingerprints.contains(&it.fingerprint));
        before - report.findings.len()
    }

    /// The text of a baseline for a report, and how many findings it has.
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
        // Serializing plain structs with string keys cannot fail.
        (serde_json::to_string_pretty(&content).unwrap_or_default() + "\n", number)
    }
}

/// Mistakes in the settings are never in a baseline: they decide what else is found.
fn belongs(finding: &Finding) -> bool {
    finding.rule != INVALID_SETTINGS
}
