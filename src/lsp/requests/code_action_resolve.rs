//! `codeAction/resolve`: the edit of a code action.

use serde::{Deserialize, Serialize};
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::{CodeAction, Range, Uri};

use crate::ide;
use crate::lsp::requests::code_action::protocol_kind;
use crate::lsp::session::{SessionSnapshot, findings};

/// The part of the request for code actions that is needed to compute an action again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResolveData {
    pub(super) uri: Uri,
    pub(super) range: Range,
    pub(super) version: Option<i32>,
}

pub(crate) fn answer(snapshot: &SessionSnapshot, mut action: CodeAction) -> Result<CodeAction> {
    let data = action.data.take().and_then(|it| serde_json::from_value::<ResolveData>(it).ok());
    let Some(ResolveData { uri, range, version }) = data else { return Ok(action) };
    let name = snapshot.name(&uri);
    if snapshot.documents.get(&name).map(|it| it.version()) != version {
        return Err(Error::content_modified());
    }
    let span = snapshot.span(&name, range);
    let findings = findings(snapshot, &name);
    let actions = snapshot.analyse(|analysis| ide::code_actions(analysis, &name, span, &findings));
    let is_same = |it: &&ide::CodeAction| it.title == action.title && Some(protocol_kind(it.kind)) == action.kind;
    action.edit = actions.iter().find(is_same).and_then(|it| snapshot.edit(&it.edits));
    Ok(action)
}
