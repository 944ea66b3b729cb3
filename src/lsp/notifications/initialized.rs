//! `initialized`: from now on the server may send requests.

use tower_lsp_server::ls_types::InitializedParams;

use crate::lsp::notifications::{did_change_configuration, did_change_watched_files};
use crate::lsp::session::Session;

pub(crate) fn apply(session: &mut Session, _: InitializedParams) {
    did_change_configuration::register(session);
    did_change_watched_files::register(session);
    session.index(session.folders.roots());
    did_change_configuration::request_settings(session);
}
