//! The language server: protocol ⇄ plain types, one file a method, nothing clever.
//!
//! tower-lsp-server routes messages and keeps the protocol's life cycle. Its own loop ends on the first malformed message
//! and lets one slow answer hold up all others, so `pump` drives the service instead: notifications are applied in
//! order, one after the other; a request takes a snapshot at once and is computed on a thread of its own. Nothing ever
//! waits for an answer of the client.
//!
//! ```text
//! stdin ─▶ framing ─▶ pump ─▶ server ─▶ state (one writer) ─▶ world (immutable) ─▶ handlers ─▶ ide
//! ```
//!
//! - `state`: documents, workspace, settings; changed by the pump alone. Gives a `world` to whoever asks.
//! - `loader` reads files on its own thread, `watch` notices changes where the client does not, `checks` keeps
//!   diagnostics up to date.
//! - `handlers`: one file a method, from protocol types to a feature of `ide` and back.

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

use std::path::PathBuf;

pub use hooks::Hooks;

/// How the server is started.
#[derive(Debug, Default)]
pub struct Options {
    /// The file to write a log to.
    pub log: Option<PathBuf>,
    /// The process to end with, if `initialize` names none.
    pub client_process: Option<u32>,
    /// What tests ask for.
    pub hooks: Hooks,
}

/// Serves one client over stdin and stdout until it says `exit` or goes away. Whether it ended as the protocol wants.
pub fn serve(options: Options) -> std::io::Result<bool> {
    let log = log::Log::open(options.log.as_deref())?;
    log::log_panics(&log);
    // One thread for the pump; answers are computed on threads for blocking work, which come and go.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(64)
        .thread_keep_alive(std::time::Duration::from_secs(2))
        .thread_name("podlens")
        .build()?;
    let clean = runtime.block_on(main_loop::run(options, log));
    // An answer that is still computed is nobody's any more.
    runtime.shutdown_background();
    Ok(clean)
}
