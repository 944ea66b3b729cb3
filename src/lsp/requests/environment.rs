//! `podlens/environment`: the environment of the container at a position, as `podlens env --format json` shows it.

use serde::Deserialize;
use serde_json::Value;
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{Position, TextDocumentIdentifier};

use crate::ide;
use crate::lsp::session::snapshot::SessionSnapshot;

/// The method.
pub(crate) const METHOD: &str = "podlens/environment";

/// The document and the position in it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params {
    /// The document.
    pub(crate) text_document: TextDocumentIdentifier,
    position: Position,
}

pub(crate) fn answer(snapshot: &SessionSnapshot, params: Params) -> Result<Option<Value>> {
    let name = snapshot.name(&params.text_document.uri);
    let offset = snapshot.offset(&name, params.position);
    let shown = |file: &str| file.to_owned();
    let view = snapshot.analyse(|analysis| ide::environment_at(analysis, &name, offset, &shown));
    Ok(view.and_then(|it| serde_json::to_value(it).ok()))
}
