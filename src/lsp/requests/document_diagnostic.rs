//! `textDocument/diagnostic`

use serde_json::json;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types::request::{DocumentDiagnosticRequest, Request};
use tower_lsp_server::ls_types::{
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportResult, FullDocumentDiagnosticReport,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport,
};

use crate::lsp::requests::compute;
use crate::lsp::session::{DiagnosticReport, SessionSnapshot, SharedSession};

/// `ServerCancelled`, which has no constant in `ls-types`.
const SERVER_CANCELLED: i64 = -32802;

pub(crate) async fn answer(
    session: &SharedSession,
    params: DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult> {
    session.wait_until_ready().await;
    let uri = params.text_document.uri;
    let name = session.lock().name(&uri);
    let work = {
        let name = name.clone();
        move |snapshot: &SessionSnapshot| Ok(DiagnosticReport::new(snapshot, &name))
    };
    let report = compute(session, DocumentDiagnosticRequest::METHOD, Some(&uri), work, stale).await?;
    // A report counts as known to the client only if it is sent.
    session.lock().checks.set_report_id(&name, &report.id);
    let report = if params.previous_result_id.as_ref() == Some(&report.id) {
        DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id: report.id },
        })
    } else {
        let items = report.diagnostics();
        DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id: Some(report.id), items },
        })
    };
    Ok(report.into())
}

/// The error when the document has changed meanwhile: the client must send the request again, or it shows no
/// diagnostics.
fn stale() -> Error {
    let mut error = Error::new(ErrorCode::ServerError(SERVER_CANCELLED));
    error.message = "the document has changed".into();
    error.data = Some(json!({"retriggerRequest": true}));
    error
}
