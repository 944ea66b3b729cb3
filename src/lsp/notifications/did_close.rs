//! `textDocument/didClose`

use tower_lsp_server::ls_types::notification::PublishDiagnostics;
use tower_lsp_server::ls_types::{DidCloseTextDocumentParams, PublishDiagnosticsParams};

use crate::lsp::session::{Session, uri_to_path};

pub(crate) fn apply(session: &mut Session, params: DidCloseTextDocumentParams) {
    let uri = params.text_document.uri;
    if !session.close_document(&uri) {
        return;
    }
    // The file on disk may have changed while the document was open.
    if let Some(path) = uri_to_path(&uri) {
        session.read_files(vec![path]);
    }
    if !session.client.pulls_diagnostics {
        let params = PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None };
        session.outbox.notify::<PublishDiagnostics>(params);
    }
}
