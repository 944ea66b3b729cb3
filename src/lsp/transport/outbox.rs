//! Messages to the client, from any thread, without waiting.
//!
//! They are written in the order in which they are sent. The answer to a request arrives as a call of its callback.

use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;
use tower_lsp_server::jsonrpc::{self, Error, Id, Response};
use tower_lsp_server::ls_types::notification::Notification;
use tower_lsp_server::ls_types::request::Request;

use crate::lsp::transport::writer::Writer;

/// Sends messages to the client. Clones share one queue.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Inner>);

struct Inner {
    writer: Writer,
    next_id: AtomicI64,
    /// Requests that the client has not answered.
    callbacks: Mutex<HashMap<Id, Callback>>,
}

type Callback = Box<dyn FnOnce(jsonrpc::Result<Value>) + Send>;

/// A request or notification of the server.
#[derive(Serialize)]
struct Call<P> {
    jsonrpc: &'static str,
    method: &'static str,
    params: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id>,
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

impl Outbox {
    /// An outbox that writes to `stream`. `on_closed` is called when the client has closed it.
    pub(crate) fn new(stream: impl Write + Send + 'static, on_closed: impl FnOnce() + Send + 'static) -> Self {
        let writer = Writer::new(stream, on_closed);
        Self(Arc::new(Inner { writer, next_id: AtomicI64::default(), callbacks: Mutex::default() }))
    }

    /// Sends a notification.
    pub(crate) fn notify<N: Notification>(&self, params: N::Params) {
        self.send(&Call { jsonrpc: "2.0", method: N::METHOD, params, id: None });
    }

    /// Sends a notification whose parameters are JSON already.
    pub(crate) fn notify_json<N: Notification>(&self, params: impl fmt::Display) {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"{}","params":{params}}}"#, N::METHOD);
        self.0.writer.write(body.into_bytes());
    }

    /// Sends a request. `then` is called on the main loop when the client answers.
    pub(crate) fn request<R: Request>(
        &self,
        params: R::Params,
        then: impl FnOnce(jsonrpc::Result<R::Result>) + Send + 'static,
    ) {
        let id = Id::Number(self.0.next_id.fetch_add(1, Ordering::Relaxed));
        let callback = |result: jsonrpc::Result<Value>| {
            let invalid = |error: serde_json::Error| Error::invalid_params(error.to_string());
            then(result.and_then(|value| serde_json::from_value(value).map_err(invalid)));
        };
        self.callbacks().insert(id.clone(), Box::new(callback));
        self.send(&Call { jsonrpc: "2.0", method: R::METHOD, params, id: Some(id) });
    }

    /// Calls the callback of the request that the client has answered. Does nothing if there is no such request.
    pub(crate) fn complete(&self, response: Response) {
        let (id, result) = response.into_parts();
        let callback = self.callbacks().remove(&id);
        if let Some(callback) = callback {
            callback(result);
        }
    }

    /// Answers a request of the client.
    pub(crate) fn respond(&self, response: &Response) {
        self.send(response);
    }

    /// Waits until everything is written, but not forever if the client does not read.
    pub(crate) fn finish(&self) {
        self.0.writer.finish();
    }

    fn send(&self, message: &impl Serialize) {
        // Protocol types consist of maps with text keys, which can always be written as JSON.
        if let Ok(body) = serde_json::to_vec(message) {
            self.0.writer.write(body);
        }
    }

    fn callbacks(&self) -> MutexGuard<'_, HashMap<Id, Callback>> {
        self.0.callbacks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
