//! `textDocument/documentLink`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{DocumentLink, DocumentLinkParams};

use crate::ide;
use crate::lsp::requests::some;
use crate::lsp::session::snapshot::SessionSnapshot;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
    let name = snapshot.name(&params.text_document.uri);
    let found = snapshot.analyse(|analysis| ide::document_links(analysis, &name));
    let links = found.into_iter().filter_map(|it| {
        let place = snapshot.location(&it.target)?;
        // Editors go to the place behind the `#`.
        let (line, column) = (place.range.start.line + 1, place.range.start.character + 1);
        let target = format!("{}#L{line},{column}", place.uri.as_str()).parse().ok()?;
        let range = snapshot.range(&name, it.span);
        Some(DocumentLink { range, target: Some(target), tooltip: Some(it.tooltip), data: None })
    });
    Ok(some(links.collect()))
}
