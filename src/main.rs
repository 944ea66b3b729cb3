//! The `podlens` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "lsp")]
    let serve = Some(serve as podlens::cli::Serve);
    #[cfg(not(feature = "lsp"))]
    let serve = None;
    podlens::cli::main(serve)
}

/// Runs the language server for `podlens lsp`. Neither the command line nor the server knows the other.
#[cfg(feature = "lsp")]
fn serve(options: podlens::cli::ServerOptions) -> std::io::Result<bool> {
    let podlens::cli::ServerOptions { log, client_process, test_hooks } = options;
    let hooks = podlens::lsp::Hooks::parse(&test_hooks);
    podlens::lsp::serve(podlens::lsp::Options { log, client_process, hooks })
}
