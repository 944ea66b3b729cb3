//! `textDocument/inlayHint`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{InlayHint, InlayHintLabel, InlayHintParams, InlayHintTooltip};

use crate::ide;
use crate::lsp::requests::non_empty;
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
    let name = snapshot.name(&params.text_document.uri);
    let span = snapshot.span(&name, params.range);
    let hints = snapshot.analyse(|analysis| ide::inlay_hints(analysis, &name, span));
    let hints = hints.into_iter().map(|it| InlayHint {
        position: snapshot.position(&name, it.offset),
        label: InlayHintLabel::String(it.label),
        kind: None,
        text_edits: None,
        tooltip: it
            .tooltip
            .map(|it| InlayHintTooltip::MarkupContent(snapshot.markup(&it, snapshot.client.hover_markdown))),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    });
    Ok(non_empty(hints.collect()))
}
