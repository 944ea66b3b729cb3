//! `textDocument/completion`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionResponse, CompletionTextEdit,
    InsertReplaceEdit, InsertTextFormat, TextEdit,
};

use crate::ide;
use crate::ide::CompletionKind;
use crate::lsp::requests::completion_resolve::{ResolveData, additional_edits};
use crate::lsp::requests::file_position;
use crate::lsp::session::SessionSnapshot;
use crate::text::Span;

pub(crate) fn answer(snapshot: &SessionSnapshot, params: CompletionParams) -> Result<Option<CompletionResponse>> {
    let position = params.text_document_position;
    let (name, offset) = file_position(snapshot, &position);
    let Some(list) = snapshot.analyse(|analysis| ide::completion(analysis, &name, offset)) else {
        return Ok(None);
    };
    let version = snapshot.documents.get(&name).map(|it| it.version());
    let data = serde_json::to_value(ResolveData { position, version }).ok();
    let items = list.items.into_iter().map(|it| {
        let mut item = CompletionItem {
            kind: Some(protocol_kind(it.kind)),
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
            item.additional_text_edits = details.map(|it| additional_edits(snapshot, &name, &it.additional_edits));
        }
        item.label = it.label;
        item
    });
    let list = CompletionList { is_incomplete: list.is_incomplete, items: items.collect() };
    Ok((!list.items.is_empty()).then_some(CompletionResponse::List(list)))
}

/// The edit of an item. A client that supports both can insert the text before the rest of the word after the cursor or
/// replace that rest. The end of a reference is always replaced, since the text contains it.
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

fn protocol_kind(kind: CompletionKind) -> CompletionItemKind {
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
