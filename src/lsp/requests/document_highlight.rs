//! `textDocument/documentHighlight`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams};

use crate::ide;
use crate::ide::HighlightKind;
use crate::lsp::requests::{some, target};
use crate::lsp::session::snapshot::SessionSnapshot;

pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>> {
    let (name, offset) = target(snapshot, &params.text_document_position_params);
    let found = snapshot.analyse(|analysis| ide::highlights(analysis, &name, offset));
    let highlights = found.into_iter().map(|it| DocumentHighlight {
        range: snapshot.range(&name, it.span),
        kind: Some(match it.kind {
            HighlightKind::Read => DocumentHighlightKind::READ,
            HighlightKind::Write => DocumentHighlightKind::WRITE,
        }),
    });
    Ok(some(highlights.collect()))
}
