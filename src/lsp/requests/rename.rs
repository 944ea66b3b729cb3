//! `textDocument/rename`

use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types::{RenameParams, WorkspaceEdit};

use crate::ide;
use crate::ide::RenameError;
use crate::lsp::requests::file_position;
use crate::lsp::session::SessionSnapshot;

/// `RequestFailed`, which has no constant in `ls-types`: the request is valid, but cannot be done.
const REQUEST_FAILED: i64 = -32803;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
    let (name, offset) = file_position(snapshot, &params.text_document_position);
    let edits = snapshot.analyse(|analysis| ide::rename(analysis, &name, offset, &params.new_name));
    let edits = edits.map_err(refusal_error)?;
    Ok((!edits.is_empty()).then(|| snapshot.edit(&edits)).flatten())
}

/// The error with the reason why a symbol cannot be renamed.
pub(super) fn refusal_error(refusal: RenameError) -> Error {
    let mut error = Error::new(ErrorCode::ServerError(REQUEST_FAILED));
    error.message = refusal.0.into();
    error
}
