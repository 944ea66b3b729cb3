//! `podlens/preview`: the text that the cluster would get.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::{Position, TextDocumentIdentifier};

use crate::ide;
use crate::ide::PreviewKind;
use crate::lsp::session::snapshot::SessionSnapshot;

/// The method.
pub(crate) const METHOD: &str = "podlens/preview";

/// What to preview.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params {
    /// The document.
    pub(crate) text_document: TextDocumentIdentifier,
    position: Option<Position>,
    kind: String,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

pub(crate) fn answer(snapshot: &SessionSnapshot, params: Params) -> Result<Option<Value>> {
    let Some(kind) = PreviewKind::named(&params.kind) else {
        let expected = format!("`kind` is `{}`; expected `render` or `process`", params.kind);
        return Err(Error::invalid_params(expected));
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
