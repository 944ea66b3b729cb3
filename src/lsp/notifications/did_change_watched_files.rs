//! `workspace/didChangeWatchedFiles`, and the registration for it.

use serde_json::{Value, json};
use tower_lsp_server::ls_types::notification::{DidChangeWatchedFiles, Notification};
use tower_lsp_server::ls_types::request::{RegisterCapability, UnregisterCapability};
use tower_lsp_server::ls_types::{
    DidChangeWatchedFilesParams, Registration, RegistrationParams, Unregistration, UnregistrationParams,
};

use crate::lsp::session::{LoadRequest, Session, uri_to_path};
use crate::workspace::MANIFEST_EXTENSIONS;

/// The id of the registration.
const REGISTRATION: &str = "podlens-watch";

pub(crate) fn apply(session: &mut Session, params: DidChangeWatchedFilesParams) {
    session.read_files(params.changes.iter().filter_map(|it| uri_to_path(&it.uri)).collect());
}

/// Asks the client to watch the files of the current folders. If it cannot, the server watches them.
pub(super) fn register(session: &mut Session) {
    if !session.client.watches_files {
        session.load(LoadRequest::WatchDirectories);
        return;
    }
    let method = DidChangeWatchedFiles::METHOD.to_owned();
    if std::mem::replace(&mut session.is_watched_by_client, true) {
        let unregisterations = vec![Unregistration { id: REGISTRATION.into(), method: method.clone() }];
        session.outbox.request::<UnregisterCapability>(UnregistrationParams { unregisterations }, drop);
    }
    let register_options = Some(json!({ "watchers": watchers(session) }));
    let registrations = vec![Registration { id: REGISTRATION.into(), method, register_options }];
    session.outbox.request::<RegisterCapability>(RegistrationParams { registrations }, drop);
}

fn watchers(session: &Session) -> Vec<Value> {
    let extensions = MANIFEST_EXTENSIONS.map(|it| format!("*.{it}")).join(",");
    let manifests = format!("**/{{{extensions},Kustomization}}");
    let roots = session.folders.roots();
    if roots.is_empty() || !session.client.watches_outside {
        return vec![json!({"globPattern": manifests})];
    }
    // The project may be larger than the folder that is open.
    let names = session.folders.names();
    let uris = roots.iter().filter_map(|root| names.name_to_uri(&names.path_to_name(root)?));
    uris.map(|base| json!({"globPattern": {"baseUri": base, "pattern": manifests}})).collect()
}
