//! `podlens/preview`: the manifest as the cluster gets it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::request::Request;
use tower_lsp_server::ls_types::{Position, TextDocumentIdentifier};

use crate::ide;
use crate::ide::PreviewKind;
use crate::lsp::session::SessionSnapshot;

/// The request.
#[derive(Debug)]
pub(crate) enum Preview {}

impl Request for Preview {
    type Params = PreviewParams;
    type Result = Option<Value>;
    const METHOD: &'static str = "podlens/preview";
}

/// The parameters.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviewParams {
    pub(crate) text_document: TextDocumentIdentifier,
    position: Option<Position>,
    kind: String,
    /// Values of template parameters.
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

pub(crate) fn answer(snapshot: &SessionSnapshot, params: PreviewParams) -> Result<Option<Value>> {
    let Some(kind) = PreviewKind::named(&params.kind) else {
        let message = format!("`kind` is `{}`; expected `render` or `process`", params.kind);
        return Err(Error::invalid_params(message));
    };
    let uri = params.text_document.uri;
    let name = snapshot.name(&uri);
    let offset = params.position.map(|it| snapshot.offset(&name, it));
    let preview = snapshot.analyse(|analysis| ide::preview(analysis, &name, offset, kind, &params.parameters));
    Ok(preview.and_then(|it| {
        let mut value = serde_json::to_value(it).ok()?;
        value.as_object_mut()?.insert("uri".into(), uri.as_str().into());
        Some(value)
    }))
}
