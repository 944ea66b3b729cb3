//! `textDocument/diagnostic` and `workspace/diagnostic`: what was found, or that it is what was found before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::json;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticTag, DocumentDiagnosticParams,
    DocumentDiagnosticReport, DocumentDiagnosticReportResult, FullDocumentDiagnosticReport, NumberOrString,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport,
    WorkspaceDiagnosticParams, WorkspaceDiagnosticReport, WorkspaceDiagnosticReportResult,
    WorkspaceDocumentDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
    WorkspaceUnchangedDocumentDiagnosticReport,
};

use crate::diagnostic;
use crate::ide;
use crate::lsp::convert;
use crate::lsp::session::document::Memory;
use crate::lsp::session::snapshot::SessionSnapshot;

/// The method.
pub(crate) const METHOD: &str = "textDocument/diagnostic";

/// Where the rules are documented, each under its name.
const DOCS: &str = "https://docs.rs/podlens/latest/podlens/rules/index.html";

/// `ServerCancelled`, which the crate has no name for.
const SERVER_CANCELLED: i64 = -32802;

/// What was found in a file.
#[derive(Debug)]
pub(crate) struct Report {
    /// The same for the same findings.
    pub(crate) id: String,
    /// The findings.
    pub(crate) items: Vec<Diagnostic>,
}

/// The name of the document, the id of what was found, and the answer.
pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: DocumentDiagnosticParams,
) -> (Arc<str>, String, DocumentDiagnosticReportResult) {
    let name = snapshot.name(&params.text_document.uri);
    let Report { id, items } = report(snapshot, &name);
    let report = if params.previous_result_id.as_ref() == Some(&id) {
        DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id: id.clone() },
        })
    } else {
        DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id: Some(id.clone()), items },
        })
    };
    (name, id, report.into())
}

/// The text has changed meanwhile. A client that took this for an answer would show nothing until it asks again.
pub(crate) fn ask_again() -> Error {
    let mut error = Error::new(ErrorCode::ServerError(SERVER_CANCELLED));
    error.message = "The document has changed".into();
    error.data = Some(json!({"retriggerRequest": true}));
    error
}

/// Every file with findings, and every file the client knows of.
pub(crate) fn workspace(
    snapshot: &SessionSnapshot,
    params: WorkspaceDiagnosticParams,
) -> Result<WorkspaceDiagnosticReportResult> {
    let previous = params.previous_result_ids.into_iter().map(|it| (snapshot.name(&it.uri), it));
    let mut previous: HashMap<Arc<str>, _> = previous.collect();
    let mut items = Vec::new();
    for (name, _) in snapshot.workspace.files() {
        if snapshot.token.is_cancelled() {
            return Err(Error::request_cancelled());
        }
        let Some(uri) = snapshot.uri(name) else { continue };
        let known = previous.remove(name);
        let version = snapshot.documents.get(name).map(|it| i64::from(it.version()));
        let Report { id, items: found } = report(snapshot, name);
        if known.as_ref().is_some_and(|it| it.value == id) {
            let report = UnchangedDocumentDiagnosticReport { result_id: id };
            items.push(WorkspaceDocumentDiagnosticReport::Unchanged(WorkspaceUnchangedDocumentDiagnosticReport {
                uri,
                version,
                unchanged_document_diagnostic_report: report,
            }));
        } else if known.is_some() || !found.is_empty() {
            items.push(full(uri, version, Some(id), found));
        }
    }
    // Files that are gone have no findings any more.
    let mut gone: Vec<_> = previous.into_values().map(|it| it.uri).collect();
    gone.sort();
    items.extend(gone.into_iter().map(|uri| full(uri, None, None, Vec::new())));
    Ok(WorkspaceDiagnosticReport { items }.into())
}

fn full(
    uri: tower_lsp_server::ls_types::Uri,
    version: Option<i64>,
    result_id: Option<String>,
    items: Vec<Diagnostic>,
) -> WorkspaceDocumentDiagnosticReport {
    WorkspaceDocumentDiagnosticReport::Full(WorkspaceFullDocumentDiagnosticReport {
        uri,
        version,
        full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id, items },
    })
}

/// What is found in a file; nothing in one that the settings exclude.
pub(crate) fn found(snapshot: &SessionSnapshot, name: &Arc<str>) -> Vec<diagnostic::Diagnostic> {
    match snapshot.documents.get(name) {
        Some(document) => found_in(&mut document.memory(), snapshot, name),
        None => found_on_disk(snapshot, name),
    }
}

/// What is found in a file, as the client is told.
pub(crate) fn report(snapshot: &SessionSnapshot, name: &Arc<str>) -> Report {
    let Some(document) = snapshot.documents.get(name) else {
        return reported(snapshot, &found_on_disk(snapshot, name));
    };
    let mut memory = document.memory();
    let found = found_in(&mut memory, snapshot, name);
    let report = reported(snapshot, &found);
    memory.reported = Some(report.id.clone());
    report
}

fn found_in(memory: &mut Memory, snapshot: &SessionSnapshot, name: &Arc<str>) -> Vec<diagnostic::Diagnostic> {
    // Findings that nobody was told yet.
    memory.reported = None;
    match snapshot.workspace.is_excluded(name) {
        true => Vec::new(),
        false => ide::cached_diagnostics(&mut memory.kept, &snapshot.workspace, name, snapshot),
    }
}

fn found_on_disk(snapshot: &SessionSnapshot, name: &Arc<str>) -> Vec<diagnostic::Diagnostic> {
    match snapshot.workspace.is_excluded(name) {
        true => Vec::new(),
        false => snapshot.analyse(|analysis| ide::diagnostics(analysis, name)),
    }
}

fn reported(snapshot: &SessionSnapshot, found: &[diagnostic::Diagnostic]) -> Report {
    let items: Vec<Diagnostic> = found.iter().map(|it| protocol(snapshot, it)).collect();
    let mut hasher = DefaultHasher::new();
    // What is written is what the client compares.
    serde_json::to_vec(&items).unwrap_or_default().hash(&mut hasher);
    Report { id: format!("{:016x}", hasher.finish()), items }
}

/// A finding as the protocol writes it.
pub(crate) fn protocol(snapshot: &SessionSnapshot, found: &diagnostic::Diagnostic) -> Diagnostic {
    let client = &snapshot.client;
    let related = || {
        let related = found.related.iter().filter_map(|it| {
            let location = snapshot.location(&it.location)?;
            Some(DiagnosticRelatedInformation { location, message: it.message.clone() })
        });
        related.collect::<Vec<_>>()
    };
    let message = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    Diagnostic {
        range: snapshot.range(&found.location.file, found.location.span),
        severity: Some(convert::severity(found.severity)),
        code: Some(NumberOrString::String(found.rule.to_owned())),
        code_description: format!("{DOCS}#{}", found.rule).parse().ok().map(|href| CodeDescription { href }),
        source: Some(env!("CARGO_PKG_NAME").to_owned()),
        message,
        related_information: client.related.then(related).filter(|it| !it.is_empty()),
        tags: (client.tags && found.unnecessary).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: client.data.then(|| {
            let fixes: Vec<_> = found.fixes.iter().map(|it| json!({"title": it.title, "safe": it.safe})).collect();
            json!({"rule": found.rule, "fixes": fixes})
        }),
    }
}
