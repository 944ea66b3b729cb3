//! `textDocument/codeAction`

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, Diagnostic,
};

use crate::ide::{self, CodeActionKind as Kind};
use crate::lsp::requests::code_action_resolve::ResolveData;
use crate::lsp::requests::{command, non_empty};
use crate::lsp::session::{SessionSnapshot, findings, to_protocol};

const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.podlens");
const SORT: CodeActionKind = CodeActionKind::new("source.sortEnv.podlens");
const SHOW: CodeActionKind = CodeActionKind::new("source.podlens");

/// The kinds of all actions.
pub(super) const KINDS: [CodeActionKind; 6] =
    [CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR_REWRITE, CodeActionKind::REFACTOR_EXTRACT, FIX_ALL, SORT, SHOW];

pub(crate) fn answer(snapshot: &SessionSnapshot, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
    let client = &snapshot.client;
    let name = snapshot.name(&params.text_document.uri);
    let span = snapshot.span(&name, params.range);
    let findings = findings(snapshot, &name);
    let actions = snapshot.analyse(|analysis| ide::code_actions(analysis, &name, span, &findings));
    let version = snapshot.documents.get(&name).map(|it| it.version());
    let data = ResolveData { uri: params.text_document.uri, range: params.range, version };
    let data = serde_json::to_value(data).ok();
    let requested = params.context.only.as_deref();
    let mut answer = Vec::new();
    for action in actions {
        let kind = protocol_kind(action.kind);
        if requested.is_some_and(|requested| !requested.iter().any(|it| includes(it, &kind))) {
            continue;
        }
        let command = action.command.as_ref().and_then(|it| command(snapshot, action.title.clone(), it));
        if !client.action_literals {
            answer.extend(command.map(CodeActionOrCommand::Command));
            continue;
        }
        let fixed = action.diagnostics.iter().filter_map(|it| findings.get(*it)).map(|it| to_protocol(snapshot, it));
        let fixed = fixed.map(|it| as_sent(&params.context.diagnostics, it)).collect();
        let edit = snapshot.edit(&action.edits);
        // The client cannot create a file that the action needs.
        if edit.is_none() {
            continue;
        }
        let is_resolved_later = client.resolves_actions && !action.edits.is_empty();
        let edit = edit.filter(|_| !action.edits.is_empty() && !is_resolved_later);
        answer.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: action.title,
            kind: Some(kind),
            diagnostics: non_empty(fixed),
            edit,
            command,
            is_preferred: (client.preferred_actions && action.is_preferred).then_some(true),
            disabled: None,
            data: if is_resolved_later { data.clone() } else { None },
        }));
    }
    Ok(non_empty(answer))
}

/// The protocol's kind of an action.
pub(super) fn protocol_kind(kind: Kind) -> CodeActionKind {
    match kind {
        Kind::QuickFix => CodeActionKind::QUICKFIX,
        Kind::Rewrite => CodeActionKind::REFACTOR_REWRITE,
        Kind::Extract => CodeActionKind::REFACTOR_EXTRACT,
        Kind::FixAll => FIX_ALL,
        Kind::Sort => SORT,
        Kind::Show => SHOW,
    }
}

/// A diagnostic as the client sent it, if it did: clients compare the two.
fn as_sent(sent: &[Diagnostic], diagnostic: Diagnostic) -> Diagnostic {
    let is_same = |it: &&Diagnostic| {
        it.range == diagnostic.range && it.code == diagnostic.code && it.message == diagnostic.message
    };
    sent.iter().find(is_same).cloned().unwrap_or(diagnostic)
}

/// Whether `kind` is `requested` or below it: `source` includes `source.fixAll.podlens`.
fn includes(requested: &CodeActionKind, kind: &CodeActionKind) -> bool {
    let (requested, kind) = (requested.as_str(), kind.as_str());
    requested.is_empty() || kind.strip_prefix(requested).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
