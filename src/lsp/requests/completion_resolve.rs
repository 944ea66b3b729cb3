//! `completionItem/resolve`: the documentation and the additional edits of a completion item.

use serde::{Deserialize, Serialize};
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{CompletionItem, Documentation, TextDocumentPositionParams, TextEdit};

use crate::diagnostic::Edit;
use crate::ide;
use crate::lsp::requests::file_position;
use crate::lsp::session::SessionSnapshot;

/// The position and the version of the document for which an item was computed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResolveData {
    pub(super) position: TextDocumentPositionParams,
    pub(super) version: Option<i32>,
}

pub(crate) fn answer(snapshot: &SessionSnapshot, mut item: CompletionItem) -> Result<CompletionItem> {
    let data = item.data.take().and_then(|it| serde_json::from_value::<ResolveData>(it).ok());
    let Some(ResolveData { position, version }) = data else { return Ok(item) };
    let (name, offset) = file_position(snapshot, &position);
    if snapshot.documents.get(&name).map(|it| it.version()) != version {
        // The text has changed: additional edits may not fit any more.
        return Ok(item);
    }
    let details = snapshot.analyse(|analysis| ide::resolve_completion(analysis, &name, offset, &item.label));
    if let Some(details) = details {
        let documentation = details.documentation.as_ref();
        item.documentation = documentation
            .map(|it| Documentation::MarkupContent(snapshot.markup(it, snapshot.client.completion_markdown)));
        if snapshot.client.resolves_edits && !details.additional_edits.is_empty() {
            item.additional_text_edits = Some(additional_edits(snapshot, &name, &details.additional_edits));
        }
    }
    Ok(item)
}

/// The edits in the same document; an item cannot have others.
pub(super) fn additional_edits(snapshot: &SessionSnapshot, name: &str, edits: &[Edit]) -> Vec<TextEdit> {
    let own = edits.iter().filter(|it| &*it.location.file == name);
    own.map(|it| TextEdit::new(snapshot.range(name, it.location.span), it.text.clone())).collect()
}
