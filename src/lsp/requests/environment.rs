//! `podlens/environment`: the environment of the container at a position, as `podlens env --all --format json` prints it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::request::Request;
use tower_lsp_server::ls_types::{Position, TextDocumentIdentifier};

use crate::ide;
use crate::lsp::session::SessionSnapshot;

/// The request.
#[derive(Debug)]
pub(crate) enum Environment {}

impl Request for Environment {
    type Params = EnvironmentParams;
    type Result = Option<Value>;
    const METHOD: &'static str = "podlens/environment";
}

/// The parameters.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvironmentParams {
    pub(crate) text_document: TextDocumentIdentifier,
    position: Position,
}

pub(crate) fn answer(snapshot: &SessionSnapshot, params: EnvironmentParams) -> Result<Option<Value>> {
    let name = snapshot.name(&params.text_document.uri);
    let offset = snapshot.offset(&name, params.position);
    let shown = |file: &str| file.to_owned();
    let view = snapshot.analyse(|analysis| ide::environment_at(analysis, &name, offset, &shown));
    Ok(view.and_then(|it| serde_json::to_value(it).ok()))
}
