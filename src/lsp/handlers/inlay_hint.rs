//! `textDocument/inlayHint`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{InlayHint, InlayHintLabel, InlayHintParams, InlayHintTooltip};

use crate::ide;
use crate::lsp::handlers::some;
use crate::lsp::world::World;

pub(in crate::lsp) fn answer(world: &World, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
    let name = world.name(&params.text_document.uri);
    let span = world.span(&name, params.range);
    let found = world.analyse(|analysis| ide::inlay_hints::inlay_hints(analysis, &name, span));
    let hints = found.into_iter().map(|it| InlayHint {
        position: world.position(&name, it.offset),
        label: InlayHintLabel::String(it.label),
        kind: None,
        text_edits: None,
        tooltip: it.tooltip.map(|it| InlayHintTooltip::MarkupContent(world.markup(&it, world.client.hover_markdown))),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    });
    Ok(some(hints.collect()))
}
