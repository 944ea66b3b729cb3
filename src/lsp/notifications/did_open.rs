//! `textDocument/didOpen`

use tower_lsp_server::ls_types::DidOpenTextDocumentParams;

use crate::lsp::session::Session;

pub(crate) fn apply(session: &mut Session, params: DidOpenTextDocumentParams) {
    session.open_document(params.text_document);
}
