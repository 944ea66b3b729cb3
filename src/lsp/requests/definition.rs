//! `textDocument/definition`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{GotoDefinitionParams, GotoDefinitionResponse, LocationLink};

use crate::ide;
use crate::lsp::requests::target;
use crate::lsp::session::snapshot::SessionSnapshot;

pub(crate) fn answer(
    snapshot: &SessionSnapshot,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>> {
    let (name, offset) = target(snapshot, &params.text_document_position_params);
    let Some(found) = snapshot.analyse(|analysis| ide::definition(analysis, &name, offset)) else {
        return Ok(None);
    };
    if snapshot.client.definition_links {
        let links = found.targets.iter().filter_map(|it| {
            Some(LocationLink {
                origin_selection_range: Some(snapshot.range(&name, found.origin)),
                target_uri: snapshot.uri(&it.full.file)?,
                target_range: snapshot.range(&it.full.file, it.full.span),
                target_selection_range: snapshot.range(&it.focus.file, it.focus.span),
            })
        });
        return Ok(Some(GotoDefinitionResponse::Link(links.collect())));
    }
    let locations = found.targets.iter().filter_map(|it| snapshot.location(&it.focus)).collect();
    Ok(Some(GotoDefinitionResponse::Array(locations)))
}
