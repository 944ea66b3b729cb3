//! `textDocument/documentHighlight`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams};

use crate::ide;
use crate::ide::HighlightKind;
use crate::lsp::requests::{file_position, non_empty};
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>> {
    let (name, offset) = file_position(snapshot, &params.text_document_position_params);
    let highlights = snapshot.analyse(|analysis| ide::highlights(analysis, &name, offset));
    let highlights = highlights.into_iter().map(|it| DocumentHighlight {
        range: snapshot.range(&name, it.span),
        kind: Some(match it.kind {
            HighlightKind::Read => DocumentHighlightKind::READ,
            HighlightKind::Write => DocumentHighlightKind::WRITE,
        }),
    });
    Ok(non_empty(highlights.collect()))
}
