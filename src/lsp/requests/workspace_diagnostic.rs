//! `workspace/diagnostic`

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::request::WorkspaceDiagnosticRequest;
use tower_lsp_server::ls_types::{
    Diagnostic, FullDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport, Uri, WorkspaceDiagnosticParams,
    WorkspaceDiagnosticReport, WorkspaceDiagnosticReportResult, WorkspaceDocumentDiagnosticReport,
    WorkspaceFullDocumentDiagnosticReport, WorkspaceUnchangedDocumentDiagnosticReport,
};

use crate::lsp::requests::answer_from_snapshot;
use crate::lsp::session::{DiagnosticReport, SessionSnapshot, SharedSession};

/// The time between two reports, so that typing does not check the whole workspace all the time.
const INTERVAL: Duration = Duration::from_millis(500);

pub(crate) async fn answer(
    session: &SharedSession,
    params: WorkspaceDiagnosticParams,
) -> Result<WorkspaceDiagnosticReportResult> {
    wait_for_change(session, &params).await;
    answer_from_snapshot::<WorkspaceDiagnosticRequest>(session, None, params, report).await
}

/// Waits until something has changed since the last report; the first request does not wait.
async fn wait_for_change(session: &SharedSession, params: &WorkspaceDiagnosticParams) {
    let (mut status, reported) = {
        let session = session.lock();
        (session.readiness.subscribe(), session.workspace_report_revision)
    };
    let revision = status.borrow().revision;
    if !params.previous_result_ids.is_empty() && reported == Some(revision) {
        // An error means that the server ends.
        let _ = status.wait_for(|it| it.revision != revision).await;
        tokio::time::sleep(INTERVAL).await;
    }
    session.wait_until_ready().await;
    let mut session = session.lock();
    session.workspace_report_revision = Some(session.readiness.status().revision);
}

/// A report for each file that has findings or that the client has a report of.
fn report(snapshot: &SessionSnapshot, params: WorkspaceDiagnosticParams) -> Result<WorkspaceDiagnosticReportResult> {
    let previous = params.previous_result_ids.into_iter().map(|it| (snapshot.name(&it.uri), it));
    let mut previous: HashMap<Arc<str>, _> = previous.collect();
    let mut items = Vec::new();
    for (name, _) in snapshot.workspace.files() {
        if snapshot.cancel_token.is_cancelled() {
            return Err(Error::request_cancelled());
        }
        let Some(uri) = snapshot.uri(name) else { continue };
        let previous = previous.remove(name);
        let version = snapshot.documents.get(name).map(|it| i64::from(it.version()));
        let report = DiagnosticReport::new(snapshot, name);
        if previous.as_ref().is_some_and(|it| it.value == report.id) {
            items.push(unchanged(uri, version, report.id));
        } else if previous.is_some() || !report.is_empty() {
            let diagnostics = report.diagnostics();
            items.push(full(uri, version, Some(report.id), diagnostics));
        }
    }
    // Files that do not exist any more have no findings.
    let mut removed: Vec<Uri> = previous.into_values().map(|it| it.uri).collect();
    removed.sort();
    items.extend(removed.into_iter().map(|uri| full(uri, None, None, Vec::new())));
    Ok(WorkspaceDiagnosticReport { items }.into())
}

fn unchanged(uri: Uri, version: Option<i64>, result_id: String) -> WorkspaceDocumentDiagnosticReport {
    WorkspaceDocumentDiagnosticReport::Unchanged(WorkspaceUnchangedDocumentDiagnosticReport {
        uri,
        version,
        unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
    })
}

fn full(
    uri: Uri,
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
