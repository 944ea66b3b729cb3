//! `workspace/didChangeWorkspaceFolders`

use tower_lsp_server::ls_types::DidChangeWorkspaceFoldersParams;

use crate::lsp::notifications::did_change_watched_files;
use crate::lsp::session::{Folders, Session};

pub(crate) fn apply(session: &mut Session, params: DidChangeWorkspaceFoldersParams) {
    let added = Folders::paths(params.event.added.into_iter().map(|it| it.uri));
    let removed = Folders::paths(params.event.removed.into_iter().map(|it| it.uri));
    // The names of files depend on the folders, so files that are still being read cannot be used.
    for run in session.index_runs.drain(..) {
        run.stop.cancel();
    }
    let folders = session.folders.changed(added, &removed);
    let directories = session.set_folders(folders);
    did_change_watched_files::register(session);
    session.index(directories);
    session.checks.anything_changed(true);
}
