//! `textDocument/prepareRename`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{PrepareRenameResponse, TextDocumentPositionParams};

use crate::ide;
use crate::lsp::requests::file_position;
use crate::lsp::requests::rename::refusal_error;
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>> {
    let (name, offset) = file_position(snapshot, &params);
    let target = snapshot.analyse(|analysis| ide::prepare_rename(analysis, &name, offset));
    Ok(target.map_err(refusal_error)?.map(|it| PrepareRenameResponse::RangeWithPlaceholder {
        range: snapshot.range(&name, it.span),
        placeholder: it.name,
    }))
}
