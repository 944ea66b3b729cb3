//! The findings of a file and the report of them that the client gets.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use tower_lsp_server::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticTag, NumberOrString, Range, Uri,
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
            let parts = finding.derived.get_or_insert(
                |it: &DiagnosticParts| it.is_current(snapshot, &finding.diagnostic),
                || DiagnosticParts::new(snapshot, &finding.diagnostic),
            );
            parts.write(snapshot, &finding.diagnostic, &mut json, &mut hasher);
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

/// A diagnostic as JSON without its ranges, which edits move. It is kept with the finding while the text around it is
/// edited, so that an edit writes only numbers again.
struct DiagnosticParts {
    /// For each related place that is shown: its index, the text before its range, and how its file is opened.
    related: Vec<(usize, String, Option<Uri>)>,
    /// The text after the last range.
    tail: String,
    hash: u64,
}

impl DiagnosticParts {
    fn new(snapshot: &SessionSnapshot, finding: &diagnostic::Diagnostic) -> Self {
        let mut related = Vec::new();
        for (at, label) in shown_labels(snapshot, finding).iter().enumerate() {
            let file = &label.location.file;
            let Some(uri) = snapshot.uri(file) else { continue };
            let before = if related.is_empty() { r#","relatedInformation":["# } else { "}}," };
            let text = format!(
                r#"{before}{{"message":{},"location":{{"uri":{},"range":"#,
                to_json(&label.message),
                to_json(&uri),
            );
            related.push((at, text, opened_uri(snapshot, file).cloned()));
        }
        let mut fields = serde_json::to_value(to_protocol(snapshot, finding)).unwrap_or_default();
        if let Some(fields) = fields.as_object_mut() {
            fields.remove("range");
            fields.remove("relatedInformation");
        }
        // Two objects become one.
        let fields = fields.to_string();
        let end = if related.is_empty() { "," } else { "}}]," };
        let tail = format!("{end}{}", fields.strip_prefix('{').unwrap_or_default());
        let mut hasher = DefaultHasher::new();
        (&related, &tail).hash(&mut hasher);
        Self { related, tail, hash: hasher.finish() }
    }

    /// Whether the files of related places are still open, or not, with the same URIs.
    fn is_current(&self, snapshot: &SessionSnapshot, finding: &diagnostic::Diagnostic) -> bool {
        let is_same = |(at, _, opened): &(usize, String, Option<Uri>)| {
            finding.related.get(*at).is_some_and(|it| opened_uri(snapshot, &it.location.file) == opened.as_ref())
        };
        self.related.iter().all(is_same)
    }

    fn write(
        &self,
        snapshot: &SessionSnapshot,
        finding: &diagnostic::Diagnostic,
        json: &mut String,
        hasher: &mut DefaultHasher,
    ) {
        let mut write_range = |json: &mut String, location: &diagnostic::Location| {
            let Range { start, end } = snapshot.range(&location.file, location.span);
            (start.line, start.character, end.line, end.character).hash(hasher);
            // Writing to a text cannot fail.
            _ = write!(json, r#"{{"start":{{"line":{},"character":{}}},"#, start.line, start.character);
            _ = write!(json, r#""end":{{"line":{},"character":{}}}}}"#, end.line, end.character);
        };
        json.push_str(r#"{"range":"#);
        write_range(json, &finding.location);
        for (at, text, _) in &self.related {
            json.push_str(text);
            write_range(json, &finding.related[*at].location);
        }
        json.push_str(&self.tail);
        self.hash.hash(hasher);
    }
}

/// The URI of a file that is open, as the client writes it.
fn opened_uri<'s>(snapshot: &'s SessionSnapshot, file: &str) -> Option<&'s Uri> {
    snapshot.documents.get(file).map(|it| &it.uri)
}

/// The related places that the client shows.
fn shown_labels<'f>(snapshot: &SessionSnapshot, finding: &'f diagnostic::Diagnostic) -> &'f [diagnostic::Label] {
    if snapshot.client.related_information { &finding.related } else { &[] }
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
    let related = shown_labels(snapshot, finding).iter().filter_map(|it| {
        let location = snapshot.location(&it.location)?;
        Some(DiagnosticRelatedInformation { location, message: it.message.clone() })
    });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    let message = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message),
        None => finding.message.clone(),
    };
    Diagnostic {
        range: snapshot.range(&finding.location.file, finding.location.span),
        severity: Some(convert::severity(finding.severity)),
        code: Some(NumberOrString::String(finding.rule.to_owned())),
        code_description: find_rule(finding.rule)
            .and_then(|rule| rule.url().parse().ok())
            .map(|href| CodeDescription { href }),
        source: Some(env!("CARGO_PKG_NAME").to_owned()),
        message,
        related_information: Some(related).filter(|it| !it.is_empty()),
        tags: (client.diagnostic_tags && finding.unnecessary).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: client.diagnostic_data.then(|| {
            let fixes: Vec<_> = finding.fixes.iter().map(|it| json!({"title": it.title, "safe": it.safe})).collect();
            json!({"rule": finding.rule, "fixes": fixes})
        }),
    }
}
