//! `$/setTrace`

use tower_lsp_server::ls_types::SetTraceParams;

use crate::lsp::session::Session;

pub(crate) fn apply(session: &mut Session, params: SetTraceParams) {
    session.trace = params.value;
}
