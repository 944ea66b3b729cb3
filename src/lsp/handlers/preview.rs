//! `podlens/preview`: the text that the cluster would get.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::{Position, TextDocumentIdentifier};

use crate::ide;
use crate::ide::preview::PreviewKind;
use crate::lsp::world::World;

/// The method.
pub(in crate::lsp) const METHOD: &str = "podlens/preview";

/// What to preview.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct Params {
    /// The document.
    pub(in crate::lsp) text_document: TextDocumentIdentifier,
    position: Option<Position>,
    kind: String,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

pub(in crate::lsp) fn answer(world: &World, params: Params) -> Result<Option<Value>> {
    let Some(kind) = PreviewKind::named(&params.kind) else {
        let expected = format!("`kind` is `{}`; expected `render` or `process`", params.kind);
        return Err(Error::invalid_params(expected));
    };
    let uri = params.text_document.uri;
    let name = world.name(&uri);
    let offset = params.position.map(|it| world.offset(&name, it));
    let preview = world.analyse(|analysis| ide::preview::preview(analysis, &name, offset, kind, &params.parameters));
    Ok(preview.and_then(|it| {
        let mut value = serde_json::to_value(it).ok()?;
        value.as_object_mut()?.insert("uri".into(), uri.as_str().into());
        Some(value)
    }))
}
