//! The language server: protocol types to plain types and back, one file per method.
//!
//! tower-lsp-server parses parameters, routes messages and keeps the lifecycle of the protocol. Its own loop ends at the
//! first malformed message, and one slow answer delays all others. podlens has its own loop with these guarantees:
//!
//! - A malformed message is answered with an error, and the next one is read.
//! - Notifications are applied in order, each before the next message.
//! - A request takes a snapshot in its turn and is computed on another thread. It can be cancelled, a panic affects
//!   only this answer, and an answer for a text that has changed is the error `ContentModified`.
//! - Nothing waits for the client.
//! - Diagnostics are published once for each text after which no message waits, with its version.
//!
//! An edit goes this way:
//!
//! ```text
//! stdin
//!   │ transport/framing.rs, transport/message.rs    bytes to JSON to a message, on their own thread
//!   ▼
//! main_loop.rs                                      first entry: the messages in order
//!   │ router.rs                                     the line of `textDocument/didChange`
//!   │ notifications/did_change.rs
//!   │ session.rs, session/document.rs               the text, the tree and the workspace after the edit
//!   ▼
//! background/diagnostics.rs                         when no message waits: a snapshot, checked on another thread
//!   │ session/diagnostic_report.rs ─▶ ide           findings to diagnostics
//!   ▼
//! main_loop.rs                                      second entry: publish, unless there is a newer text
//!   │ transport/outbox.rs, transport/writer.rs      JSON to bytes, on their own thread
//!   ▼
//! stdout
//! ```
//!
//! A request goes from `router.rs` to `requests`: a snapshot, a handler on another thread, and the answer to the outbox.
//!
//! - `transport`: messages from and to bytes.
//! - `session`: everything the server knows. It does not know the folders below.
//! - `notifications`: one file per notification, from `&mut Session`.
//! - `requests`: one file per request, from a snapshot.
//! - `background`: the loader, the watcher, the checks.

mod background;
mod cancellation;
mod convert;
mod hooks;
mod log;
mod main_loop;
mod notifications;
mod requests;
mod router;
mod session;
mod transport;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

pub use hooks::Hooks;

/// How the server is started.
#[derive(Debug, Default)]
pub struct Options {
    /// The file to write a log to.
    pub log: Option<PathBuf>,
    /// The process whose end also ends the server, if `initialize` names none.
    pub client_process: Option<u32>,
    /// Methods that are slow or panic, for tests.
    pub hooks: Hooks,
}

/// Serves one client over stdin and stdout until it sends `exit` or disconnects. Returns whether it sent `shutdown`
/// before.
pub fn serve(options: Options) -> io::Result<bool> {
    let log = log::Log::open(options.log.as_deref())?;
    log::log_panics(&log);
    // The main loop has one thread. Answers are computed on threads for blocking work, which end when they are idle.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(64)
        .thread_keep_alive(Duration::from_secs(2))
        .thread_name("podlens")
        .build()?;
    let is_shut_down = runtime.block_on(main_loop::run(options, log));
    // Answers that are still being computed are not needed any more.
    runtime.shutdown_background();
    Ok(is_shut_down)
}
