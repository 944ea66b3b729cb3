//! The `podlens` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    podlens::cli::main()
}
