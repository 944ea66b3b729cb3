//! `textDocument/references`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{Location, ReferenceParams};

use crate::ide;
use crate::lsp::requests::{some, target};
use crate::lsp::session::snapshot::SessionSnapshot;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
    let (name, offset) = target(snapshot, &params.text_document_position);
    let declarations = params.context.include_declaration;
    let found = snapshot.analyse(|analysis| ide::references(analysis, &name, offset, declarations));
    Ok(some(found.iter().filter_map(|it| snapshot.location(it)).collect()))
}
