//! `textDocument/definition`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{GotoDefinitionParams, GotoDefinitionResponse, LocationLink};

use crate::ide;
use crate::lsp::requests::file_position;
use crate::lsp::session::SessionSnapshot;

pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>> {
    let (name, offset) = file_position(snapshot, &params.text_document_position_params);
    let Some(definition) = snapshot.analyse(|analysis| ide::definition(analysis, &name, offset)) else {
        return Ok(None);
    };
    if snapshot.client.definition_links {
        let links = definition.targets.iter().filter_map(|it| {
            Some(LocationLink {
                origin_selection_range: Some(snapshot.range(&name, definition.origin)),
                target_uri: snapshot.uri(&it.full.file)?,
                target_range: snapshot.range(&it.full.file, it.full.span),
                target_selection_range: snapshot.range(&it.focus.file, it.focus.span),
            })
        });
        return Ok(Some(GotoDefinitionResponse::Link(links.collect())));
    }
    let locations = definition.targets.iter().filter_map(|it| snapshot.location(&it.focus)).collect();
    Ok(Some(GotoDefinitionResponse::Array(locations)))
}
