//! `textDocument/hover`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{Hover, HoverContents, HoverParams};

use crate::ide;
use crate::lsp::handlers::target;
use crate::lsp::world::World;

pub(in crate::lsp) fn answer(world: &World, params: HoverParams) -> Result<Option<Hover>> {
    let (name, offset) = target(world, &params.text_document_position_params);
    let hover = world.analyse(|analysis| ide::hover::hover(analysis, &name, offset));
    Ok(hover.map(|it| Hover {
        contents: HoverContents::Markup(world.markup(&it.contents, world.client.hover_markdown)),
        range: Some(world.range(&name, it.span)),
    }))
}
