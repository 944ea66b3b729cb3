//! `textDocument/prepareRename` and `textDocument/rename`

use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types::{PrepareRenameResponse, RenameParams, TextDocumentPositionParams, WorkspaceEdit};

use crate::ide;
use crate::ide::RenameError;
use crate::lsp::requests::target;
use crate::lsp::session::snapshot::SessionSnapshot;

/// `RequestFailed`, which the crate has no name for: the request was fine, there is a reason not to do it.
const REQUEST_FAILED: i64 = -32803;

pub(crate) fn prepare(
    snapshot: &SessionSnapshot,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>> {
    let (name, offset) = target(snapshot, &params);
    let found = snapshot.analyse(|analysis| ide::prepare_rename(analysis, &name, offset));
    Ok(found.map_err(refused)?.map(|it| PrepareRenameResponse::RangeWithPlaceholder {
        range: snapshot.range(&name, it.span),
        placeholder: it.name,
    }))
}

pub(crate) fn answer(snapshot: &SessionSnapshot, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
    let (name, offset) = target(snapshot, &params.text_document_position);
    let edits = snapshot.analyse(|analysis| ide::rename(analysis, &name, offset, &params.new_name));
    let edits = edits.map_err(refused)?;
    Ok((!edits.is_empty()).then(|| snapshot.edit(&edits)).flatten())
}

fn refused(refusal: RenameError) -> Error {
    let mut error = Error::new(ErrorCode::ServerError(REQUEST_FAILED));
    error.message = refusal.0.into();
    error
}
