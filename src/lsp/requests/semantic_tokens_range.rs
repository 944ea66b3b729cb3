//! `textDocument/semanticTokens/range`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{SemanticTokens, SemanticTokensRangeParams, SemanticTokensRangeResult};

use crate::lsp::requests::semantic_tokens;
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: SemanticTokensRangeParams,
) -> Result<Option<SemanticTokensRangeResult>> {
    let name = snapshot.name(&params.text_document.uri);
    let span = snapshot.span(&name, params.range);
    let data = semantic_tokens::tokens(snapshot, &name, Some(span));
    Ok(Some(SemanticTokens { result_id: None, data }.into()))
}
