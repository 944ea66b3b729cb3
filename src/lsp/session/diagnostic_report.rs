//! The findings of a file and the report of them that the client gets.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::json;
use tower_lsp_server::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticTag, NumberOrString,
};

use crate::diagnostic;
use crate::ide;
use crate::lsp::convert;
use crate::lsp::session::document::DocumentCache;
use crate::lsp::session::snapshot::SessionSnapshot;
use crate::rules::find_rule;

/// The diagnostics of a file.
#[derive(Debug)]
pub(crate) struct DiagnosticReport {
    /// A hash of the diagnostics: equal reports have equal ids.
    pub(crate) id: String,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl DiagnosticReport {
    /// Checks a file. The id is stored in the document's cache.
    pub(crate) fn new(snapshot: &SessionSnapshot, name: &Arc<str>) -> Self {
        let Some(document) = snapshot.documents.get(name) else {
            return Self::of_findings(snapshot, &findings_on_disk(snapshot, name));
        };
        let mut cache = document.cache();
        let report = Self::of_findings(snapshot, &cached_findings(&mut cache, snapshot, name));
        cache.report_id = Some(report.id.clone());
        report
    }

    fn of_findings(snapshot: &SessionSnapshot, findings: &[diagnostic::Diagnostic]) -> Self {
        let diagnostics: Vec<Diagnostic> = findings.iter().map(|it| to_protocol(snapshot, it)).collect();
        let mut hasher = DefaultHasher::new();
        serde_json::to_vec(&diagnostics).unwrap_or_default().hash(&mut hasher);
        Self { id: format!("{:016x}", hasher.finish()), diagnostics }
    }
}

/// The findings of a file; none if the settings exclude it.
pub(crate) fn findings(snapshot: &SessionSnapshot, name: &Arc<str>) -> Vec<diagnostic::Diagnostic> {
    match snapshot.documents.get(name) {
        Some(document) => cached_findings(&mut document.cache(), snapshot, name),
        None => findings_on_disk(snapshot, name),
    }
}

/// The findings of an open document. The cache is updated, and has no report of them yet.
fn cached_findings(
    cache: &mut DocumentCache,
    snapshot: &SessionSnapshot,
    name: &Arc<str>,
) -> Vec<diagnostic::Diagnostic> {
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
    let related = || {
        let related = finding.related.iter().filter_map(|it| {
            let location = snapshot.location(&it.location)?;
            Some(DiagnosticRelatedInformation { location, message: it.message.clone() })
        });
        related.collect::<Vec<_>>()
    };
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
        related_information: client.related_information.then(related).filter(|it| !it.is_empty()),
        tags: (client.diagnostic_tags && finding.unnecessary).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: client.diagnostic_data.then(|| {
            let fixes: Vec<_> = finding.fixes.iter().map(|it| json!({"title": it.title, "safe": it.safe})).collect();
            json!({"rule": finding.rule, "fixes": fixes})
        }),
    }
}
