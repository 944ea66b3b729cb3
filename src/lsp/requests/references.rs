//! `textDocument/references`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{Location, ReferenceParams};

use crate::ide;
use crate::lsp::requests::{file_position, non_empty};
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
    let (name, offset) = file_position(snapshot, &params.text_document_position);
    let declarations = params.context.include_declaration;
    let references = snapshot.analyse(|analysis| ide::references(analysis, &name, offset, declarations));
    Ok(non_empty(references.iter().filter_map(|it| snapshot.location(it)).collect()))
}
