//! `podlens lsp`: the arguments of the language server. The binary connects them with the server.

use std::io;
use std::path::PathBuf;

use clap::Args;

use crate::cli::{Exit, notice};

/// Run the language server over stdin and stdout
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Use stdin and stdout, which is always the case; editors pass this flag
    #[arg(long)]
    stdio: bool,
    /// Append a log to this file: which requests came and how long they took, never the content of documents
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Exit when the process with this id exits
    #[arg(long, visible_alias = "clientProcessId", value_name = "ID")]
    client_process_id: Option<u32>,
}

/// How the language server is started.
#[derive(Debug)]
pub struct ServerOptions {
    /// The file to append a log to.
    pub log: Option<PathBuf>,
    /// The process to exit with.
    pub client_process: Option<u32>,
    /// Misbehaviour that protocol tests request; empty otherwise.
    pub test_hooks: String,
}

/// Runs the language server until the client ends it. Returns whether the client sent `shutdown` first.
pub type Serve = fn(ServerOptions) -> io::Result<bool>;

/// The variable with the test hooks.
const TEST_HOOKS: &str = "PODLENS_TEST_HOOKS";

pub(super) fn run(arguments: Arguments, serve: Option<Serve>) -> io::Result<Exit> {
    let Some(serve) = serve else {
        notice("this build of podlens has no language server; build it with the feature `lsp`");
        return Ok(Exit::Failure);
    };
    let Arguments { stdio: _, log, client_process_id: client_process } = arguments;
    let test_hooks = std::env::var(TEST_HOOKS).unwrap_or_default();
    let log_path = log.as_ref().map_or_else(String::new, |it| format!("{}: ", it.display()));
    match serve(ServerOptions { log, client_process, test_hooks }) {
        Ok(true) => Ok(Exit::Clean),
        // The protocol requires exit code 1 where `exit` comes without `shutdown`.
        Ok(false) => Ok(Exit::Findings),
        Err(error) => {
            notice(format_args!("the server cannot start: {log_path}{error}"));
            Ok(Exit::Failure)
        }
    }
}
