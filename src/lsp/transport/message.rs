//! The kinds of messages a client sends.

use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, Id, Request, Response};

use crate::lsp::transport::lenient_params::with_lenient_params;

/// A message of the client.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request, or a notification if it has no id.
    Call(Request),
    /// The answer to a request of the server.
    Response(Response),
    /// JSON that is neither, and the error to answer with.
    Invalid(Response),
    /// Bytes that are not a message, and why.
    Unreadable(String),
}

impl Message {
    /// Converts a JSON value to a message.
    pub(super) fn from_json(json: Value) -> Self {
        let id = json.get("id").and_then(|id| serde_json::from_value::<Id>(id.clone()).ok());
        let is_call = json.get("method").is_some_and(Value::is_string);
        let is_response = id.is_some() && (json.get("result").is_some() || json.get("error").is_some());
        let message = if is_call {
            serde_json::from_value(json).map(|call| Self::Call(with_lenient_params(call)))
        } else if is_response {
            serde_json::from_value(json).map(Self::Response)
        } else {
            return Self::Invalid(Response::from_error(id.unwrap_or_default(), Error::invalid_request()));
        };
        message.unwrap_or_else(|error| {
            let mut invalid = Error::invalid_request();
            invalid.message = format!("Invalid request: {error}").into();
            Self::Invalid(Response::from_error(id.unwrap_or_default(), invalid))
        })
    }
}
