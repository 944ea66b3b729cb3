//! `textDocument/definition`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{GotoDefinitionParams, GotoDefinitionResponse, LocationLink};

use crate::ide;
use crate::lsp::handlers::target;
use crate::lsp::world::World;

pub(in crate::lsp) fn answer(world: &World, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
    let (name, offset) = target(world, &params.text_document_position_params);
    let Some(found) = world.analyse(|analysis| ide::definition::definition(analysis, &name, offset)) else {
        return Ok(None);
    };
    if world.client.definition_links {
        let links = found.targets.iter().filter_map(|it| {
            Some(LocationLink {
                origin_selection_range: Some(world.range(&name, found.origin)),
                target_uri: world.uri(&it.full.file)?,
                target_range: world.range(&it.full.file, it.full.span),
                target_selection_range: world.range(&it.focus.file, it.focus.span),
            })
        });
        return Ok(Some(GotoDefinitionResponse::Link(links.collect())));
    }
    let locations = found.targets.iter().filter_map(|it| world.location(&it.focus)).collect();
    Ok(Some(GotoDefinitionResponse::Array(locations)))
}
