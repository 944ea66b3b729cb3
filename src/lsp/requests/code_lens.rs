//! `textDocument/codeLens`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{CodeLens, CodeLensParams};

use crate::ide;
use crate::lsp::requests::code_lens_resolve::ResolveData;
use crate::lsp::requests::non_empty;
use crate::lsp::session::SessionSnapshot;
use crate::text::Span;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
    let uri = params.text_document.uri;
    let name = snapshot.name(&uri);
    let lenses = snapshot.analyse(|analysis| ide::code_lenses(analysis, &name));
    let generation = snapshot.documents.get(&name).map(|it| it.generation);
    let lenses = lenses.into_iter().map(|it| {
        let Span { start, end } = it.span;
        let data = ResolveData { uri: uri.clone(), kind: it.kind.as_str().into(), start, end, generation };
        CodeLens { range: snapshot.range(&name, it.span), command: None, data: serde_json::to_value(data).ok() }
    });
    Ok(non_empty(lenses.collect()))
}
