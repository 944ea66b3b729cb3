//! `initialize`

use std::path::PathBuf;
use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::{InitializeParams, InitializeResult};

use crate::lsp::background::client_process;
use crate::lsp::requests::server_capabilities;
use crate::lsp::session::{ClientFeatures, Folders, Session, parse_editor_settings};

#[expect(deprecated, reason = "older clients send only the root")]
pub(crate) fn answer(session: &mut Session, params: InitializeParams) -> Result<InitializeResult> {
    session.client = Arc::new(ClientFeatures::new(&params.capabilities));
    session.trace = params.trace.unwrap_or_default();
    if let Some(info) = &params.client_info {
        let version = info.version.as_deref().unwrap_or_default();
        let encoding = session.client.encoding;
        session.log.write(format_args!("client: {} {version}, encoding: {encoding:?}", info.name));
    }
    let mut folders = match params.workspace_folders {
        Some(folders) => Folders::paths(folders.into_iter().map(|it| it.uri)),
        None => Folders::paths(params.root_uri.into_iter()),
    };
    if folders.is_empty()
        && let Some(path) = params.root_path.map(PathBuf::from).filter(|it| it.is_absolute())
    {
        folders.push(path);
    }
    // They are read after `initialized`.
    session.set_folders(folders);
    if let Some(options) = &params.initialization_options {
        session.set_editor_settings(parse_editor_settings(options));
    }
    if let Some(process) = params.process_id.or(session.client_process) {
        client_process::watch(session, process);
    }
    Ok(server_capabilities::initialize_result(&session.client))
}
