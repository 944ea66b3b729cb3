//! Parameters of the lifecycle methods that deviate from the protocol, changed to what the client means.
//!
//! A client that is refused here is not served at all, so mistakes that do no harm are accepted.

use serde_json::{Map, Value, json};
use tower_lsp_server::jsonrpc::Request;
use tower_lsp_server::ls_types::{ClientCapabilities, InitializeParams};

/// The request with parameters that the service accepts: `shutdown` and `exit` have none, those of `initialized` are an
/// empty object, and those of `initialize` do not contain capabilities that cannot be read.
pub(super) fn with_lenient_params(request: Request) -> Request {
    if !matches!(request.method(), "initialize" | "initialized" | "shutdown" | "exit") {
        return request;
    }
    let (method, id, params) = request.into_parts();
    let params = match &*method {
        "initialize" => params.map(without_unreadable_capabilities),
        "initialized" => Some(Value::Object(Map::new())),
        _ => None,
    };
    let mut request = Request::build(method);
    if let Some(id) = id {
        request = request.id(id);
    }
    if let Some(params) = params {
        request = request.params(params);
    }
    request.finish()
}

/// The parameters of `initialize` without the capabilities that cannot be read; unchanged if that does not help.
fn without_unreadable_capabilities(params: Value) -> Value {
    if serde_json::from_value::<InitializeParams>(params.clone()).is_ok() {
        return params;
    }
    let mut readable = params.clone();
    if let Some(capabilities) = readable.get_mut("capabilities").and_then(Value::as_object_mut) {
        capabilities.retain(|key, value| serde_json::from_value::<ClientCapabilities>(json!({ key: value })).is_ok());
    }
    if serde_json::from_value::<InitializeParams>(readable.clone()).is_ok() { readable } else { params }
}
