//! JSON to what JSON-RPC makes of it.

use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, Id, Request, Response};

/// A message of the client.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request or a notification.
    Request(Request),
    /// The answer to a request of ours.
    Response(Response),
    /// Neither; what to answer.
    Invalid(Response),
}

impl Message {
    /// Reads a message.
    pub(crate) fn of(message: Value) -> Self {
        let id = message.get("id").and_then(|id| serde_json::from_value::<Id>(id.clone()).ok());
        let is_request = message.get("method").is_some_and(Value::is_string);
        let is_response = id.is_some() && (message.get("result").is_some() || message.get("error").is_some());
        let read = if is_request {
            serde_json::from_value(message).map(Self::Request)
        } else if is_response {
            serde_json::from_value(message).map(Self::Response)
        } else {
            return Self::Invalid(Response::from_error(id.unwrap_or_default(), Error::invalid_request()));
        };
        read.unwrap_or_else(|error| {
            let mut invalid = Error::invalid_request();
            invalid.message = format!("Invalid request: {error}").into();
            Self::Invalid(Response::from_error(id.unwrap_or_default(), invalid))
        })
    }
}
