//! `textDocument/documentLink`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{DocumentLink, DocumentLinkParams};

use crate::ide;
use crate::lsp::requests::non_empty;
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
    let name = snapshot.name(&params.text_document.uri);
    let links = snapshot.analyse(|analysis| ide::document_links(analysis, &name));
    let links = links.into_iter().filter_map(|it| {
        let location = snapshot.location(&it.target)?;
        // Editors go to the position after `#`.
        let (line, column) = (location.range.start.line + 1, location.range.start.character + 1);
        let target = format!("{}#L{line},{column}", location.uri.as_str()).parse().ok()?;
        let range = snapshot.range(&name, it.span);
        Some(DocumentLink { range, target: Some(target), tooltip: Some(it.tooltip), data: None })
    });
    Ok(non_empty(links.collect()))
}
