//! `workspace/executeCommand`: the requests `podlens/…`, for editors that send only methods of the protocol.

use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::ExecuteCommandParams;

use crate::lsp::requests::{environment, preview};
use crate::lsp::session::SessionSnapshot;

/// The commands. The one argument of each is the parameters of the request.
pub(crate) const COMMANDS: [&str; 2] = ["podlens.environment", "podlens.preview"];

pub(crate) fn answer(snapshot: &SessionSnapshot, params: ExecuteCommandParams) -> Result<Option<Value>> {
    match params.command.as_str() {
        "podlens.environment" => environment::answer(snapshot, argument(params.arguments)?),
        "podlens.preview" => preview::answer(snapshot, argument(params.arguments)?),
        other => Err(Error::invalid_params(format!("unknown command `{other}`"))),
    }
}

fn argument<T: DeserializeOwned>(arguments: Vec<Value>) -> Result<T> {
    let argument = arguments.into_iter().next().ok_or_else(|| Error::invalid_params("expected one argument"))?;
    serde_json::from_value(argument).map_err(|error| Error::invalid_params(error.to_string()))
}
