//! `textDocument/codeLens` and `codeLens/resolve`

use serde::{Deserialize, Serialize};
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{CodeLens, CodeLensParams, Uri};

use crate::ide::{self, CodeLensKind};
use crate::lsp::requests::{command, some};
use crate::lsp::session::snapshot::SessionSnapshot;
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

pub(crate) fn answer(snapshot: &SessionSnapshot, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
    let uri = params.text_document.uri;
    let name = snapshot.name(&uri);
    let found = snapshot.analyse(|analysis| ide::code_lenses(analysis, &name));
    let generation = snapshot.documents.get(&name).map(|it| it.generation);
    let lenses = found.into_iter().map(|it| {
        let Span { start, end } = it.span;
        let data = Data { uri: uri.clone(), kind: it.kind.as_str().into(), start, end, generation };
        CodeLens { range: snapshot.range(&name, it.span), command: None, data: serde_json::to_value(data).ok() }
    });
    Ok(some(lenses.collect()))
}

pub(crate) fn resolve(snapshot: &SessionSnapshot, mut lens: CodeLens) -> Result<CodeLens> {
    let data = lens.data.take().and_then(|it| serde_json::from_value::<Data>(it).ok());
    let Some(data) = data else { return Ok(lens) };
    let name = snapshot.name(&data.uri);
    if snapshot.documents.get(&name).map(|it| it.generation) != data.generation {
        return Err(tower_lsp_server::jsonrpc::Error::content_modified());
    }
    let Some(kind) = CodeLensKind::named(&data.kind) else { return Ok(lens) };
    let asked = ide::CodeLens { span: Span::new(data.start, data.end), kind };
    let title = snapshot.analyse(|analysis| ide::resolve_code_lens(analysis, &name, &asked));
    lens.command = title.and_then(|it| command(snapshot, it.title, &it.command));
    Ok(lens)
}
