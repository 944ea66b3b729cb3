//! `textDocument/documentLink`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{DocumentLink, DocumentLinkParams};

use crate::ide;
use crate::lsp::handlers::some;
use crate::lsp::world::World;

pub(in crate::lsp) fn answer(world: &World, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
    let name = world.name(&params.text_document.uri);
    let found = world.analyse(|analysis| ide::links::document_links(analysis, &name));
    let links = found.into_iter().filter_map(|it| {
        let place = world.location(&it.target)?;
        // Editors go to the place behind the `#`.
        let (line, column) = (place.range.start.line + 1, place.range.start.character + 1);
        let target = format!("{}#L{line},{column}", place.uri.as_str()).parse().ok()?;
        let range = world.range(&name, it.span);
        Some(DocumentLink { range, target: Some(target), tooltip: Some(it.tooltip), data: None })
    });
    Ok(some(links.collect()))
}
