//! `textDocument/codeLens` and `codeLens/resolve`

use serde::{Deserialize, Serialize};
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{CodeLens, CodeLensParams, Uri};

use crate::ide::code_lens::{self, CodeLensKind};
use crate::lsp::handlers::{command, some};
use crate::lsp::world::World;
use crate::text::Span;

/// What a lens keeps until it is looked at.
#[derive(Debug, Serialize, Deserialize)]
struct Data {
    uri: Uri,
    kind: String,
    start: usize,
    end: usize,
    generation: Option<u64>,
}

pub(in crate::lsp) fn answer(world: &World, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
    let uri = params.text_document.uri;
    let name = world.name(&uri);
    let found = world.analyse(|analysis| code_lens::code_lenses(analysis, &name));
    let generation = world.documents.get(&name).map(|it| it.generation);
    let lenses = found.into_iter().map(|it| {
        let Span { start, end } = it.span;
        let data = Data { uri: uri.clone(), kind: it.kind.as_str().into(), start, end, generation };
        CodeLens { range: world.range(&name, it.span), command: None, data: serde_json::to_value(data).ok() }
    });
    Ok(some(lenses.collect()))
}

pub(in crate::lsp) fn resolve(world: &World, mut lens: CodeLens) -> Result<CodeLens> {
    let data = lens.data.take().and_then(|it| serde_json::from_value::<Data>(it).ok());
    let Some(data) = data else { return Ok(lens) };
    let name = world.name(&data.uri);
    if world.documents.get(&name).map(|it| it.generation) != data.generation {
        return Err(tower_lsp_server::jsonrpc::Error::content_modified());
    }
    let Some(kind) = CodeLensKind::named(&data.kind) else { return Ok(lens) };
    let asked = code_lens::CodeLens { span: Span::new(data.start, data.end), kind };
    let title = world.analyse(|analysis| code_lens::resolve(analysis, &name, &asked));
    lens.command = title.and_then(|it| command(world, it.title, &it.command));
    Ok(lens)
}
