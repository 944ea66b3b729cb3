//! The findings of a file and the report of them that the client gets.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use tower_lsp_server::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticTag, NumberOrString, Range,
};

use crate::diagnostic;
use crate::ide;
use crate::lsp::convert;
use crate::lsp::session::document::DocumentCache;
use crate::lsp::session::snapshot::SessionSnapshot;
use crate::rules::{SharedFinding, find_rule};

/// The length of a diagnostic as JSON, in bytes.
const TYPICAL_LENGTH: usize = 800;

/// The diagnostics of a file, as JSON: they are sent after every edit.
#[derive(Debug)]
pub(crate) struct DiagnosticReport {
    /// A hash of the diagnostics: equal reports have equal ids.
    pub(crate) id: String,
    /// An array of diagnostics.
    pub(crate) json: String,
}

impl DiagnosticReport {
    /// Checks a file. The id is stored in the document's cache.
    pub(crate) fn new(snapshot: &SessionSnapshot, name: &Arc<str>) -> Self {
        let Some(document) = snapshot.documents.get(name) else {
            let findings = findings_on_disk(snapshot, name).into_iter().map(|it| Arc::new(it.into()));
            return Self::of_findings(snapshot, &findings.collect::<Vec<_>>());
        };
        let mut cache = document.cache();
        let report = Self::of_findings(snapshot, &cached_findings(&mut cache, snapshot, name));
        cache.report_id = Some(report.id.clone());
        report
    }

    fn of_findings(snapshot: &SessionSnapshot, findings: &[Arc<SharedFinding>]) -> Self {
        let mut json = String::with_capacity(findings.len() * TYPICAL_LENGTH);
        json.push('[');
        let mut hasher = DefaultHasher::new();
        for finding in findings {
            if json.len() > 1 {
                json.push(',');
            }
            let content = finding.derived.get_or_insert(|_: &Content| true, || Content::new(snapshot, finding));
            let places = to_json(&Places::new(snapshot, &finding.diagnostic));
            (&places, content.hash).hash(&mut hasher);
            // Two objects become one.
            json.push_str(places.strip_suffix('}').unwrap_or_default());
            json.push(',');
            json.push_str(content.json.strip_prefix('{').unwrap_or_default());
        }
        json.push(']');
        Self { id: format!("{:016x}", hasher.finish()), json }
    }

    /// Whether there are no diagnostics.
    pub(crate) fn is_empty(&self) -> bool {
        self.json == "[]"
    }

    /// The diagnostics.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        serde_json::from_str(&self.json).unwrap_or_default()
    }
}

/// The fields of a diagnostic that depend on positions.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Places {
    range: Range,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_information: Vec<DiagnosticRelatedInformation>,
}

/// The other fields of a diagnostic as a JSON object. It is kept with the finding while the text around it is edited.
struct Content {
    json: String,
    hash: u64,
}

impl Content {
    fn new(snapshot: &SessionSnapshot, finding: &SharedFinding) -> Self {
        let mut fields = serde_json::to_value(to_protocol(snapshot, &finding.diagnostic)).unwrap_or_default();
        if let Some(fields) = fields.as_object_mut() {
            fields.remove("range");
            fields.remove("relatedInformation");
        }
        let json = fields.to_string();
        let mut hasher = DefaultHasher::new();
        json.hash(&mut hasher);
        Self { json, hash: hasher.finish() }
    }
}

/// Protocol types consist of maps with text keys, which can always be written as JSON.
fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The findings of a file; none if the settings exclude it.
pub(crate) fn findings(snapshot: &SessionSnapshot, name: &Arc<str>) -> Vec<diagnostic::Diagnostic> {
    let Some(document) = snapshot.documents.get(name) else { return findings_on_disk(snapshot, name) };
    let mut cache = document.cache();
    cached_findings(&mut cache, snapshot, name).iter().map(|it| it.diagnostic.clone()).collect()
}

/// The findings of an open document. The cache is updated, and has no report of them yet. The findings are to be dropped
/// before the cache is unlocked: the next check copies those that are still in use.
fn cached_findings(cache: &mut DocumentCache, snapshot: &SessionSnapshot, name: &Arc<str>) -> Vec<Arc<SharedFinding>> {
    cache.report_id = None;
    match snapshot.workspace.is_excluded(name) {
        true => Vec::new(),
        false => ide::cached_diagnostics(&mut cache.findings, &snapshot.workspace, name, snapshot),
    }
}

fn findings_on_disk(snapshot: &SessionSnapshot, name: &Arc<str>) -> Vec<diagnostic::Diagnostic> {
    match snapshot.workspace.is_excluded(name) {
        true => Vec::new(),
        false => snapshot.analyse(|analysis| ide::diagnostics(analysis, name)),
    }
}

/// A finding as a diagnostic of the protocol.
pub(crate) fn to_protocol(snapshot: &SessionSnapshot, finding: &diagnostic::Diagnostic) -> Diagnostic {
    let client = &snapshot.client;
    let Places { range, related_information } = Places::new(snapshot, finding);
    let message = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message),
        None => finding.message.clone(),
    };
    Diagnostic {
        range,
        severity: Some(convert::severity(finding.severity)),
        code: Some(NumberOrString::String(finding.rule.to_owned())),
        code_description: find_rule(finding.rule)
            .and_then(|rule| rule.url().parse().ok())
            .map(|href| CodeDescription { href }),
        source: Some(env!("CARGO_PKG_NAME").to_owned()),
        message,
        related_information: Some(related_information).filter(|it| !it.is_empty()),
        tags: (client.diagnostic_tags && finding.unnecessary).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: client.diagnostic_data.then(|| {
            let fixes: Vec<_> = finding.fixes.iter().map(|it| json!({"title": it.title, "safe": it.safe})).collect();
            json!({"rule": finding.rule, "fixes": fixes})
        }),
    }
}

impl Places {
    fn new(snapshot: &SessionSnapshot, finding: &diagnostic::Diagnostic) -> Self {
        let shown = if snapshot.client.related_information { &finding.related[..] } else { &[] };
        let related = shown.iter().filter_map(|it| {
            let location = snapshot.location(&it.location)?;
            Some(DiagnosticRelatedInformation { location, message: it.message.clone() })
        });
        Self {
            range: snapshot.range(&finding.location.file, finding.location.span),
            related_information: related.collect(),
        }
    }
}
