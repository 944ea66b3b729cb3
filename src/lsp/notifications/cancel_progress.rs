//! `window/workDoneProgress/cancel`: stops an index run.

use tower_lsp_server::ls_types::WorkDoneProgressCancelParams;

use crate::lsp::session::Session;

pub(crate) fn apply(session: &mut Session, params: WorkDoneProgressCancelParams) {
    for run in session.index_runs.iter().filter(|it| it.token == params.token) {
        run.stop.cancel();
    }
}
