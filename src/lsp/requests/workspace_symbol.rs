//! `workspace/symbol`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{OneOf, WorkspaceSymbol, WorkspaceSymbolParams, WorkspaceSymbolResponse};

use crate::ide;
use crate::lsp::requests::document_symbol::protocol_kind;
use crate::lsp::session::SessionSnapshot;

/// The most symbols in an answer: a longer list is not useful.
const LIMIT: usize = 256;

pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: WorkspaceSymbolParams,
) -> Result<Option<WorkspaceSymbolResponse>> {
    let symbols = snapshot.analyse(|analysis| ide::workspace_symbols(analysis, &params.query, LIMIT));
    let symbols = symbols.into_iter().filter_map(|it| {
        Some(WorkspaceSymbol {
            name: it.name,
            kind: protocol_kind(it.kind),
            tags: None,
            container_name: it.container,
            location: OneOf::Left(snapshot.location(&it.location)?),
            data: None,
        })
    });
    Ok(Some(WorkspaceSymbolResponse::Nested(symbols.collect())))
}
