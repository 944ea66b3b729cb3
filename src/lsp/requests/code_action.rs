//! `textDocument/codeAction` and `codeAction/resolve`

use serde::{Deserialize, Serialize};
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, Diagnostic, Range, Uri,
};

use crate::diagnostic;
use crate::ide;
use crate::lsp::requests::server_capabilities::{FIX_ALL, SHOW, SORT};
use crate::lsp::requests::{command, diagnostics};
use crate::lsp::session::snapshot::SessionSnapshot;

/// What an action keeps until it is taken.
#[derive(Debug, Serialize, Deserialize)]
struct Data {
    uri: Uri,
    range: Range,
    version: Option<i32>,
}

pub(crate) fn answer(snapshot: &SessionSnapshot, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
    let name = snapshot.name(&params.text_document.uri);
    let (found, actions) = actions(snapshot, &params.text_document.uri, params.range);
    let version = snapshot.documents.get(&name).map(|it| it.version());
    let data = Data { uri: params.text_document.uri, range: params.range, version };
    let data = serde_json::to_value(data).ok();
    let wanted = params.context.only.as_deref();
    let mut answer = Vec::new();
    for action in actions {
        let kind = kind(action.kind);
        // What mends or sorts a whole file, or shows something, is not offered unasked where something else is asked for.
        if wanted.is_some_and(|wanted| !wanted.iter().any(|it| includes(it, &kind))) {
            continue;
        }
        let shown = action.command.as_ref().and_then(|it| command(snapshot, action.title.clone(), it));
        if !snapshot.client.action_literals {
            answer.extend(shown.map(CodeActionOrCommand::Command));
            continue;
        }
        let mended = action.diagnostics.iter().filter_map(|it| found.get(*it));
        let mended: Vec<Diagnostic> =
            mended.map(|it| known(&params.context.diagnostics, diagnostics::protocol(snapshot, it))).collect();
        let is_later = snapshot.client.resolves_actions && !action.edits.is_empty();
        let edit = if action.edits.is_empty() || is_later { None } else { snapshot.edit(&action.edits) };
        answer.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: action.title,
            kind: Some(kind),
            diagnostics: (!mended.is_empty()).then_some(mended),
            edit,
            command: shown,
            is_preferred: (snapshot.client.preferred_actions && action.is_preferred).then_some(true),
            disabled: None,
            data: if is_later { data.clone() } else { None },
        }));
    }
    Ok((!answer.is_empty()).then_some(answer))
}

pub(crate) fn resolve(snapshot: &SessionSnapshot, mut action: CodeAction) -> Result<CodeAction> {
    let data = action.data.take().and_then(|it| serde_json::from_value::<Data>(it).ok());
    let Some(Data { uri, range, version }) = data else { return Ok(action) };
    if snapshot.documents.get(&snapshot.name(&uri)).map(|it| it.version()) != version {
        return Err(tower_lsp_server::jsonrpc::Error::content_modified());
    }
    let (_, actions) = actions(snapshot, &uri, range);
    let taken = actions.iter().find(|it| it.title == action.title && Some(kind(it.kind)) == action.kind);
    action.edit = taken.and_then(|it| snapshot.edit(&it.edits));
    Ok(action)
}

/// The findings of a file, and what can be done in a range of it.
fn actions(snapshot: &SessionSnapshot, uri: &Uri, range: Range) -> (Vec<diagnostic::Diagnostic>, Vec<ide::CodeAction>) {
    let name = snapshot.name(uri);
    let span = snapshot.span(&name, range);
    let found = diagnostics::found(snapshot, &name);
    let actions = snapshot.analyse(|analysis| ide::code_actions(analysis, &name, span, &found));
    (found, actions)
}

/// A finding as the client sent it, if it did: it may compare them by what it knows.
fn known(sent: &[Diagnostic], found: Diagnostic) -> Diagnostic {
    let is_same = |it: &&Diagnostic| it.range == found.range && it.code == found.code && it.message == found.message;
    sent.iter().find(is_same).cloned().unwrap_or(found)
}

fn kind(kind: ide::CodeActionKind) -> CodeActionKind {
    match kind {
        ide::CodeActionKind::QuickFix => CodeActionKind::QUICKFIX,
        ide::CodeActionKind::Rewrite => CodeActionKind::REFACTOR_REWRITE,
        ide::CodeActionKind::Extract => CodeActionKind::REFACTOR_EXTRACT,
        ide::CodeActionKind::FixAll => FIX_ALL,
        ide::CodeActionKind::Sort => SORT,
        ide::CodeActionKind::Show => SHOW,
    }
}

/// Whether a kind is another or a part of it: `source` includes `source.fixAll.podlens`.
fn includes(wide: &CodeActionKind, narrow: &CodeActionKind) -> bool {
    let (wide, narrow) = (wide.as_str(), narrow.as_str());
    wide.is_empty() || narrow.strip_prefix(wide).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
