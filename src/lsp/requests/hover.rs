//! `textDocument/hover`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{Hover, HoverContents, HoverParams};

use crate::ide;
use crate::lsp::requests::file_position;
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: HoverParams) -> Result<Option<Hover>> {
    let (name, offset) = file_position(snapshot, &params.text_document_position_params);
    let hover = snapshot.analyse(|analysis| ide::hover(analysis, &name, offset));
    Ok(hover.map(|it| Hover {
        contents: HoverContents::Markup(snapshot.markup(&it.contents, snapshot.client.hover_markdown)),
        range: Some(snapshot.range(&name, it.span)),
    }))
}
