//! `textDocument/didChange`

use tower_lsp_server::ls_types::DidChangeTextDocumentParams;

use crate::lsp::session::Session;

pub(crate) fn apply(session: &mut Session, params: DidChangeTextDocumentParams) {
    if !session.change_document(params) {
        session.log.write("textDocument/didChange: the document is not open");
    }
}
