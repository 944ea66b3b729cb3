//! `textDocument/semanticTokens/full`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{SemanticTokens, SemanticTokensParams, SemanticTokensResult};

use crate::lsp::requests::semantic_tokens;
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: SemanticTokensParams) -> Result<Option<SemanticTokensResult>> {
    let name = snapshot.name(&params.text_document.uri);
    let (report, _) = semantic_tokens::report(snapshot, &name);
    Ok(Some(SemanticTokens { result_id: Some(report.id), data: report.tokens }.into()))
}
