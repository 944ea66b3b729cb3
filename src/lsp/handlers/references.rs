//! `textDocument/references`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{Location, ReferenceParams};

use crate::ide;
use crate::lsp::handlers::{some, target};
use crate::lsp::world::World;

pub(in crate::lsp) fn answer(world: &World, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
    let (name, offset) = target(world, &params.text_document_position);
    let declarations = params.context.include_declaration;
    let found = world.analyse(|analysis| ide::references::references(analysis, &name, offset, declarations));
    Ok(some(found.iter().filter_map(|it| world.location(it)).collect()))
}
