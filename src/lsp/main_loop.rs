//! The loop: every message in order, every answer when it is there.
//!
//! A notification is done when the next message is looked at. A request is begun in its turn, which takes its snapshot,
//! and goes on by itself; it can be cancelled from then on. Nothing here waits for the client.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use futures::StreamExt;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp_server::ls_types::{ClientCapabilities, InitializeParams};
use tower_lsp_server::{ExitedError, LspService};

use crate::lsp::Options;
use crate::lsp::log::Log;
use crate::lsp::requests::{environment, preview};
use crate::lsp::router::{Event, Server};
use crate::lsp::transport::framing::{self, Incoming, Writer};
use crate::lsp::transport::message::Message;

/// An answer that is on its way.
type Answer = Option<Response>;

/// Serves until the client says `exit` or goes away; whether it said `shutdown` before.
pub(crate) async fn run(options: Options, log: Log) -> bool {
    let (tell, mut events) = mpsc::unbounded_channel();
    let gone = tell.clone();
    let mut incoming = framing::read(io::stdin());
    let writer = Writer::new(io::stdout(), move || drop(gone.send(Event::ClientGone)));
    let (service, socket) = LspService::build(|client| Server::new(client, tell, options, log.clone()))
        .custom_method(environment::METHOD, Server::environment)
        .custom_method(preview::METHOD, Server::preview)
        .custom_method("$/setTrace", Server::set_trace)
        .custom_method("window/workDoneProgress/cancel", Server::cancel_progress)
        .finish();
    let inner = Arc::clone(service.inner().inner());
    let (mut requests, mut responses) = socket.split();
    let mut pump = Pump { service, writer, answers: JoinSet::new(), log, is_shut_down: false, is_over: false };
    while !pump.is_over {
        tokio::select! {
            message = incoming.recv() => match message {
                Some(Incoming::Message(message)) => match Message::of(message) {
                    Message::Request(request) => pump.request(request).await,
                    Message::Response(response) => {
                        // Nobody waits for an answer to what was never asked.
                        let _ = futures::SinkExt::send(&mut responses, response).await;
                    }
                    Message::Invalid(answer) => pump.writer.send(&answer),
                },
                Some(Incoming::Broken(reason)) => pump.broken(&reason),
                None => break,
            },
            Some(request) = requests.next() => pump.writer.send(&request),
            Some(answer) = pump.answers.join_next() => {
                // Only a panic ends a task early, and those are caught inside.
                if let Ok(Some(answer)) = answer {
                    pump.writer.send(&answer);
                }
            }
            Some(event) = events.recv() => match event {
                Event::ClientGone => {
                    pump.log.write("the client is gone");
                    break;
                }
                event => {
                    let handled = catch_unwind(AssertUnwindSafe(|| inner.handle(event)));
                    if handled.is_err() {
                        pump.log.write("something in the background failed");
                    }
                }
            },
        }
        if incoming.is_empty() {
            inner.settle();
        }
    }
    pump.answers.abort_all();
    pump.writer.finish();
    pump.log.write("ended");
    pump.is_shut_down
}

struct Pump {
    service: LspService<Server>,
    writer: Writer,
    answers: JoinSet<Answer>,
    log: Log,
    is_shut_down: bool,
    is_over: bool,
}

impl Pump {
    /// Begins a request, or does what a notification says.
    async fn request(&mut self, request: Request) {
        let request = tolerant(request);
        let method = request.method().to_owned();
        let id = request.id().cloned();
        match (method.as_str(), &id) {
            ("exit", None) => self.is_over = true,
            ("shutdown", Some(_)) => self.is_shut_down = true,
            _ => {}
        }
        let mut answer = {
            let id = id.clone();
            let call = catch_unwind(AssertUnwindSafe(|| tower_service(&mut self.service, request)));
            Box::pin(async move {
                let called = match call {
                    Ok(call) => catch(call).await,
                    Err(_) => Err(()),
                };
                match (called, id) {
                    (Ok(Ok(None)), Some(id)) if method.starts_with("$/") => {
                        // The service drops requests of this kind, but a request is answered.
                        Some(Response::from_error(id, Error::method_not_found()))
                    }
                    (Ok(answer), _) => answer.ok().flatten(),
                    (Err(()), Some(id)) => Some(Response::from_error(id, Error::internal_error())),
                    (Err(()), None) => None,
                }
            })
        };
        // The first step is done at once: it is all of a notification, and the snapshot of a request.
        match futures::poll!(&mut answer) {
            Poll::Ready(Some(answer)) => self.writer.send(&answer),
            Poll::Ready(None) => {}
            Poll::Pending => drop(self.answers.spawn(answer)),
        }
    }

    fn broken(&self, reason: &str) {
        self.log.write(format_args!("a message that cannot be read: {reason}"));
        let mut error = Error::new(ErrorCode::ParseError);
        error.message = format!("Parse error: {reason}").into();
        self.writer.send(&Response::from_error(Id::Null, error));
    }
}

/// Calls the service.
fn tower_service(
    service: &mut LspService<Server>,
    request: Request,
) -> futures::future::BoxFuture<'static, Result<Answer, ExitedError>> {
    tower_service::Service::call(service, request)
}

/// A future whose panic is an error.
async fn catch<T>(future: impl Future<Output = T>) -> Result<T, ()> {
    futures::FutureExt::catch_unwind(AssertUnwindSafe(future)).await.map_err(drop)
}

/// Takes what clients mean for what they say: parameters of a method that has none are nothing, missing ones of a method
/// whose are always empty are empty, and a client whose capabilities cannot be read is served as one that can do little.
fn tolerant(request: Request) -> Request {
    if !matches!(request.method(), "initialize" | "initialized" | "shutdown" | "exit") {
        return request;
    }
    let (method, id, params) = request.into_parts();
    let params = match &*method {
        "initialize" => params.map(readable),
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

/// The parameters of `initialize` without those capabilities that cannot be read.
fn readable(params: Value) -> Value {
    if serde_json::from_value::<InitializeParams>(params.clone()).is_ok() {
        return params;
    }
    let mut simple = params.clone();
    if let Value::Object(keys) = &mut simple
        && let Some(capabilities) = keys.get_mut("capabilities").and_then(Value::as_object_mut)
    {
        capabilities.retain(|key, value| {
            let one = serde_json::json!({ key: value });
            serde_json::from_value::<ClientCapabilities>(one).is_ok()
        });
    }
    if serde_json::from_value::<InitializeParams>(simple.clone()).is_ok() { simple } else { params }
}
