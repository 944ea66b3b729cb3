//! SARIF 2.1.0, for code scanning: rules with their documentation, findings with fingerprints, related locations and fixes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::diagnostic::Severity;
use crate::report::findings::{Finding, Fix, Range, Report};
use crate::report::json::{self, Streamed};
use crate::rules::{RULES, Rule, index_url};
use crate::workspace::{PathStyle, path_to_uri};

/// The name of the root of the repository, which GitHub knows.
const ROOT: &str = "%SRCROOT%";

/// Characters that are not escaped in the path of a URI.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Writes a log with one run.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let notifications: Vec<Value> = report
        .problems
        .iter()
        .map(|it| {
            let mut physical = json!({"artifactLocation": artifact(&it.repository_file)});
            if let Some((line, column)) = it.problem.position {
                physical["region"] = json!({"startLine": line, "startColumn": column});
            }
            let location = json!({"physicalLocation": physical});
            json!({"level": "error", "message": {"text": it.problem.message}, "locations": [location]})
        })
        .collect();
    let run = Run {
        column_kind: "unicodeCodePoints",
        invocations: json!([{
            "executionSuccessful": report.problems.is_empty(),
            "toolExecutionNotifications": notifications,
        }]),
        original_uri_base_ids: report.root.as_ref().map(|root| json!({(ROOT): {"uri": root}})),
        results: Streamed { items: &report.findings, value: result },
        tool: json!({"driver": {
            "name": "podlens",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "informationUri": index_url(),
            "rules": RULES.iter().map(|it| rule(it)).collect::<Vec<_>>(),
        }}),
    };
    json::write(out, &Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", runs: [run], version: "2.1.0" })
}

#[derive(Serialize)]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<'r>; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    column_kind: &'static str,
    invocations: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_uri_base_ids: Option<Value>,
    results: Streamed<'r, Finding>,
    tool: Value,
}

fn rule(rule: &Rule) -> Value {
    let level = rule.level.severity();
    let docs = rule.markdown();
    json!({
        "id": rule.name,
        "helpUri": rule.url(),
        "shortDescription": {"text": rule.summary()},
        "help": {"text": docs, "markdown": docs},
        "defaultConfiguration": {"enabled": level.is_some(), "level": level.map_or("warning", self::level)},
        "properties": {"tags": ["kubernetes"]},
    })
}

fn result(finding: &Finding) -> Value {
    let help = finding.help.as_ref().map_or_else(String::new, |help| format!("\n{help}"));
    let mut location = json!({"physicalLocation": physical(&finding.repository_file, finding.range)});
    if let Some(object) = &finding.object {
        let path = finding.path.as_ref().map_or_else(String::new, |path| format!(" {path}"));
        location["logicalLocations"] = json!([{"fullyQualifiedName": format!("{object}{path}"), "kind": "object"}]);
    }
    let mut value = json!({
        "ruleId": finding.rule,
        "level": level(finding.level),
        "message": {"text": format!("{}{help}", finding.message)},
        "locations": [location],
        "partialFingerprints": {"podlens/v2": finding.fingerprint},
    });
    if let Some(index) = RULES.iter().position(|it| it.name == finding.rule) {
        value["ruleIndex"] = index.into();
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter().enumerate().map(|(at, it)| {
            json!({"id": at, "message": {"text": it.message}, "physicalLocation": physical(&it.repository_file, it.range)})
        });
        value["relatedLocations"] = related.collect::<Vec<_>>().into();
    }
    if let Some(fix) = finding.fix.as_ref().filter(|it| !it.edits.is_empty()) {
        value["fixes"] = json!([self::fix(fix)]);
    }
    value
}

fn fix(fix: &Fix) -> Value {
    let mut files: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for edit in &fix.edits {
        let replacement = json!({"deletedRegion": region(edit.range), "insertedContent": {"text": edit.text}});
        files.entry(&edit.repository_file).or_default().push(replacement);
    }
    let changes = files
        .into_iter()
        .map(|(file, replacements)| json!({"artifactLocation": artifact(file), "replacements": replacements}));
    json!({"description": {"text": fix.title}, "artifactChanges": changes.collect::<Vec<_>>()})
}

fn level(level: Severity) -> &'static str {
    match level {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

fn physical(file: &str, range: Range) -> Value {
    json!({"artifactLocation": artifact(file), "region": region(range)})
}

fn region(range: Range) -> Value {
    let (start, end) = (range.start, range.end);
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "byteOffset": start.offset,
        "byteLength": end.offset - start.offset,
    })
}

/// The location of a file: relative to the root of the repository if it is in it, otherwise absolute.
fn artifact(file: &str) -> Value {
    match path_to_uri(file, PathStyle::CURRENT) {
        Some(uri) => json!({"uri": uri}),
        None => json!({"uri": utf8_percent_encode(file, PATH).to_string(), "uriBaseId": ROOT}),
    }
}
