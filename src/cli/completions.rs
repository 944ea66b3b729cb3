//! `podlens completions`: prints a completion script for a shell.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::{self, Exit};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "Examples:
  podlens completions bash > /etc/bash_completion.d/podlens
  podlens completions zsh > \"${fpath[1]}/_podlens\"
  podlens completions fish > ~/.config/fish/completions/podlens.fish";

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::Arguments::command(), "podlens", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Exit::Clean)
}
