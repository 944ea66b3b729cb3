//! The main loop: applies messages in order and sends answers when they are ready.
//!
//! A notification is applied before the next message is looked at. A request takes its snapshot in its turn and is
//! computed on another thread; from then on it can be cancelled. Nothing here waits for the client.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tower_lsp_server::LspService;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_service::Service;

use crate::lsp::Options;
use crate::lsp::background::{diagnostics, loader};
use crate::lsp::log::Log;
use crate::lsp::router::{self, Router};
use crate::lsp::session::{Session, SharedSession, Task, TaskSender};
use crate::lsp::transport::{self, Message, Outbox};

/// Serves until the client sends `exit` or disconnects. Returns whether it sent `shutdown` before.
pub(crate) async fn run(options: Options, log: Log) -> bool {
    let (sender, tasks) = TaskSender::new();
    let on_closed = sender.clone();
    let outbox = Outbox::new(io::stdout(), move || on_closed.send(|session| session.is_client_gone = true));
    let loader = loader::start(sender.clone(), outbox.clone(), log.clone());
    let Options { hooks, client_process, .. } = options;
    let session = Session::new(outbox.clone(), sender, loader, log.clone(), hooks, client_process);
    let session = SharedSession::new(session);
    let main_loop = MainLoop {
        service: router::service(session.clone()),
        session,
        outbox,
        log,
        answers: JoinSet::new(),
        is_shut_down: false,
        is_exited: false,
    };
    main_loop.run(transport::read_messages(io::stdin()), tasks).await
}

struct MainLoop {
    service: LspService<Router>,
    session: SharedSession,
    outbox: Outbox,
    log: Log,
    /// Answers that are being computed.
    answers: JoinSet<Option<Response>>,
    is_shut_down: bool,
    is_exited: bool,
}

impl MainLoop {
    async fn run(mut self, mut messages: mpsc::Receiver<Message>, mut tasks: mpsc::UnboundedReceiver<Task>) -> bool {
        while !self.is_exited {
            tokio::select! {
                message = messages.recv() => match message {
                    Some(message) => self.receive(message).await,
                    None => break,
                },
                Some(answer) = self.answers.join_next() => self.respond(answer.ok().flatten()),
                Some(task) = tasks.recv() => self.run_task(task),
            }
            let mut session = self.session.lock();
            session.readiness.publish();
            if session.is_client_gone {
                self.log.write("the client is gone");
                break;
            }
            if messages.is_empty() {
                diagnostics::start(&mut session);
            }
        }
        self.answers.abort_all();
        self.outbox.finish();
        self.log.write("exit");
        self.is_shut_down
    }

    async fn receive(&mut self, message: Message) {
        match message {
            Message::Call(request) => self.call(request).await,
            Message::Response(response) => self.outbox.complete(response),
            Message::Invalid(answer) => self.outbox.respond(&answer),
            Message::Unreadable(reason) => {
                self.log.write(format_args!("unreadable message: {reason}"));
                let mut error = Error::new(ErrorCode::ParseError);
                error.message = format!("Parse error: {reason}").into();
                self.outbox.respond(&Response::from_error(Id::Null, error));
            }
        }
    }

    /// Starts a request, or applies a notification.
    async fn call(&mut self, request: Request) {
        match (request.method(), request.id()) {
            ("exit", None) => self.is_exited = true,
            ("shutdown", Some(_)) => self.is_shut_down = true,
            _ => {}
        }
        let mut answer = Box::pin(answer(&mut self.service, request));
        // The first step runs now: it applies a notification completely, and takes the snapshot of a request.
        match futures::poll!(&mut answer) {
            Poll::Ready(answer) => self.respond(answer),
            Poll::Pending => drop(self.answers.spawn(answer)),
        }
    }

    fn respond(&self, answer: Option<Response>) {
        if let Some(answer) = answer {
            self.outbox.respond(&answer);
        }
    }

    fn run_task(&self, task: Task) {
        let run = || task(&mut self.session.lock());
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            self.log.write("a background task failed");
        }
    }
}

/// The answer of the service to a request; `None` for a notification. A panic affects only this answer.
fn answer(service: &mut LspService<Router>, request: Request) -> impl Future<Output = Option<Response>> + use<> {
    let id = request.id().cloned();
    let is_optional = request.method().starts_with("$/");
    let call = catch_unwind(AssertUnwindSafe(|| service.call(request)));
    async move {
        let answer = match call {
            Ok(call) => futures::FutureExt::catch_unwind(AssertUnwindSafe(call)).await,
            Err(panic) => Err(panic),
        };
        match answer {
            // The service ignores unknown methods of this kind, but a request must be answered.
            Ok(Ok(None)) if is_optional => id.map(|id| Response::from_error(id, Error::method_not_found())),
            Ok(answer) => answer.ok().flatten(),
            Err(_) => id.map(|id| Response::from_error(id, Error::internal_error())),
        }
    }
}
