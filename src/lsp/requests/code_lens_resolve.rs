//! `codeLens/resolve`: the title and the command of a code lens.

use serde::{Deserialize, Serialize};
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::{CodeLens, Uri};

use crate::ide::{self, CodeLensKind};
use crate::lsp::requests::command;
use crate::lsp::session::SessionSnapshot;
use crate::text::Span;

/// The lens and the text it was computed for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResolveData {
    pub(super) uri: Uri,
    pub(super) kind: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) generation: Option<u64>,
}

pub(crate) fn answer(snapshot: &SessionSnapshot, mut lens: CodeLens) -> Result<CodeLens> {
    let data = lens.data.take().and_then(|it| serde_json::from_value::<ResolveData>(it).ok());
    let Some(data) = data else { return Ok(lens) };
    let name = snapshot.name(&data.uri);
    if snapshot.documents.get(&name).map(|it| it.generation) != data.generation {
        return Err(Error::content_modified());
    }
    let Some(kind) = CodeLensKind::named(&data.kind) else { return Ok(lens) };
    let unresolved = ide::CodeLens { span: Span::new(data.start, data.end), kind };
    let resolved = snapshot.analyse(|analysis| ide::resolve_code_lens(analysis, &name, &unresolved));
    lens.command = resolved.and_then(|it| command(snapshot, it.title, &it.command));
    Ok(lens)
}
