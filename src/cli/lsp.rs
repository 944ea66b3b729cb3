//! `podlens lsp`: the language server on stdin and stdout, for editors to start.

use std::io;
use std::path::PathBuf;

use clap::Args;

use crate::cli::{Exit, notice};
use crate::lsp::{self, Hooks, Options};

/// Serve an editor over stdin and stdout
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Speak over stdin and stdout, which it always does; editors pass it
    #[arg(long)]
    stdio: bool,
    /// Add a log to this file: what was asked and how long it took, never what is in the documents
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// End when this process ends
    #[arg(long, visible_alias = "clientProcessId", value_name = "ID")]
    client_process_id: Option<u32>,
}

/// What the protocol's tests ask of the server; see [`Hooks`].
const TEST_HOOKS: &str = "PODLENS_TEST_HOOKS";

pub(super) fn run(arguments: Arguments) -> io::Result<Exit> {
    let Arguments { stdio: _, log, client_process_id: client_process } = arguments;
    let hooks = std::env::var(TEST_HOOKS).map(|it| Hooks::parse(&it)).unwrap_or_default();
    let shown = log.as_ref().map(|it| it.display().to_string()).unwrap_or_default();
    match lsp::serve(Options { log, client_process, hooks }) {
        Ok(true) => Ok(Exit::Clean),
        // The protocol: a server that is ended without `shutdown` ends with 1.
        Ok(false) => Ok(Exit::Findings),
        Err(error) => {
            notice(format_args!(
                "the server cannot be started: {shown}{}{error}",
                if shown.is_empty() { "" } else { ": " }
            ));
            Ok(Exit::Trouble)
        }
    }
}
