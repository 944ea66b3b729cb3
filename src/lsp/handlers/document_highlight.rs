//! `textDocument/documentHighlight`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams};

use crate::ide;
use crate::ide::highlight::HighlightKind;
use crate::lsp::handlers::{some, target};
use crate::lsp::world::World;

pub(in crate::lsp) fn answer(world: &World, params: DocumentHighlightParams) -> Result<Option<Vec<DocumentHighlight>>> {
    let (name, offset) = target(world, &params.text_document_position_params);
    let found = world.analyse(|analysis| ide::highlight::highlights(analysis, &name, offset));
    let highlights = found.into_iter().map(|it| DocumentHighlight {
        range: world.range(&name, it.span),
        kind: Some(match it.kind {
            HighlightKind::Read => DocumentHighlightKind::READ,
            HighlightKind::Write => DocumentHighlightKind::WRITE,
        }),
    });
    Ok(some(highlights.collect()))
}
