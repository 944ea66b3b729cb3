//! `textDocument/completion` and `completionItem/resolve`

use serde::{Deserialize, Serialize};
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionResponse, CompletionTextEdit,
    Documentation, InsertReplaceEdit, InsertTextFormat, TextDocumentPositionParams, TextEdit,
};

use crate::diagnostic::Edit;
use crate::ide;
use crate::ide::CompletionKind;
use crate::lsp::requests::target;
use crate::lsp::session::snapshot::SessionSnapshot;
use crate::text::Span;

/// What an item keeps until it is looked at.
#[derive(Debug, Serialize, Deserialize)]
struct Data {
    at: TextDocumentPositionParams,
    version: Option<i32>,
}

pub(crate) fn answer(snapshot: &SessionSnapshot, params: CompletionParams) -> Result<Option<CompletionResponse>> {
    let at = params.text_document_position;
    let (name, offset) = target(snapshot, &at);
    let Some(found) = snapshot.analyse(|analysis| ide::completion(analysis, &name, offset)) else {
        return Ok(None);
    };
    let version = snapshot.documents.get(&name).map(|it| it.version());
    let data = serde_json::to_value(Data { at, version }).ok();
    let items = found.items.into_iter().map(|it| {
        let mut item = CompletionItem {
            kind: Some(kind(it.kind)),
            detail: it.detail,
            filter_text: Some(it.filter_text),
            sort_text: Some(it.sort_text),
            insert_text_format: Some(InsertTextFormat::PLAIN_TEXT),
            text_edit: Some(text_edit(snapshot, &name, it.replace, offset, it.text)),
            data: data.clone(),
            ..CompletionItem::default()
        };
        if it.has_edits && !snapshot.client.resolves_edits {
            let details = snapshot.analyse(|analysis| ide::resolve_completion(analysis, &name, offset, &it.label));
            item.additional_text_edits = details.map(|it| edits(snapshot, &name, &it.additional_edits));
        }
        item.label = it.label;
        item
    });
    let list = CompletionList { is_incomplete: found.is_incomplete, items: items.collect() };
    Ok((!list.items.is_empty()).then_some(CompletionResponse::List(list)))
}

pub(crate) fn resolve(snapshot: &SessionSnapshot, mut item: CompletionItem) -> Result<CompletionItem> {
    let data = item.data.take().and_then(|it| serde_json::from_value::<Data>(it).ok());
    let Some(Data { at, version }) = data else { return Ok(item) };
    let (name, offset) = target(snapshot, &at);
    if snapshot.documents.get(&name).map(|it| it.version()) != version {
        // The text has changed since: what the item says stays, what it would change may not fit any more.
        return Ok(item);
    }
    let details = snapshot.analyse(|analysis| ide::resolve_completion(analysis, &name, offset, &item.label));
    if let Some(details) = details {
        let documentation = details.documentation.as_ref();
        item.documentation = documentation
            .map(|it| Documentation::MarkupContent(snapshot.markup(it, snapshot.client.completion_markdown)));
        if snapshot.client.resolves_edits && !details.additional_edits.is_empty() {
            item.additional_text_edits = Some(edits(snapshot, &name, &details.additional_edits));
        }
    }
    Ok(item)
}

/// What is replaced; a client that asks may keep the rest of a word behind the cursor. What closes a reference is part of
/// what is written, so it cannot stay.
fn text_edit(
    snapshot: &SessionSnapshot,
    name: &str,
    replaced: Span,
    offset: usize,
    text: String,
) -> CompletionTextEdit {
    let replace = snapshot.range(name, replaced);
    let cursor = offset.clamp(replaced.start, replaced.end);
    let rest = snapshot.documents.get(name).map(|it| it.buffer().slice(Span::new(cursor, replaced.end)));
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.' | '/');
    if snapshot.client.insert_replace && rest.is_some_and(|it| it.chars().all(is_word)) {
        let insert = snapshot.range(name, Span::new(replaced.start, cursor));
        return CompletionTextEdit::InsertAndReplace(InsertReplaceEdit { new_text: text, insert, replace });
    }
    CompletionTextEdit::Edit(TextEdit::new(replace, text))
}

/// Edits in the same document, which is all that an item may bring along.
fn edits(snapshot: &SessionSnapshot, name: &str, edits: &[Edit]) -> Vec<TextEdit> {
    let own = edits.iter().filter(|it| &*it.location.file == name);
    own.map(|it| TextEdit::new(snapshot.range(name, it.location.span), it.text.clone())).collect()
}

fn kind(kind: CompletionKind) -> CompletionItemKind {
    match kind {
        CompletionKind::Variable | CompletionKind::Forward => CompletionItemKind::VARIABLE,
        CompletionKind::Parameter => CompletionItemKind::CONSTANT,
        CompletionKind::Object => CompletionItemKind::MODULE,
        CompletionKind::Key => CompletionItemKind::PROPERTY,
        CompletionKind::Field => CompletionItemKind::FIELD,
        CompletionKind::Name => CompletionItemKind::REFERENCE,
        CompletionKind::Value => CompletionItemKind::VALUE,
    }
}
