//! The command line: one file a subcommand.
//!
//! Only results go to stdout, everything else to stderr. A reader that goes away ends the program quietly.

mod completions;
mod env;
mod expand;
mod explain;
mod lint;
mod lsp;
mod process;
mod progress;
mod render;
mod wrap;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use clap::{Parser, Subcommand, ValueEnum};

use crate::load::{Loaded, Request};
use crate::report::one_line;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exit {
    /// All is well.
    Clean,
    /// There are findings, or an input was refused.
    Findings,
    /// Bad flags, bad settings, files that cannot be read, or an internal error.
    Trouble,
    /// No input matched.
    Nothing,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Trouble => 2,
            Exit::Nothing => 3,
        })
    }
}

/// What will this container really get? Variables in Kubernetes manifests, resolved.
#[derive(Debug, Parser)]
#[command(name = "podlens", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 all is well, 1 findings, or an input was refused, 2 bad flags, settings or \
                          files, 3 no input matched.";

#[derive(Debug, Subcommand)]
enum Command {
    Lint(Box<lint::Arguments>),
    Env(env::Arguments),
    Expand(expand::Arguments),
    Render(render::Arguments),
    Process(process::Arguments),
    Wrap(wrap::Arguments),
    Explain(explain::Arguments),
    Lsp(lsp::Arguments),
    Completions(completions::Arguments),
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Color {
    /// When the output is a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// What that means for stdout.
    fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => AutoStream::choice(&io::stdout()),
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}

/// Runs the command that the arguments ask for.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Env(arguments) => env::run(&arguments),
        Command::Expand(arguments) => expand::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Lsp(arguments) => lsp::run(arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Process(arguments) => process::run(&arguments),
        Command::Wrap(arguments) => wrap::run(&arguments),
    };
    match result {
        Ok(exit) => exit.into(),
        // `podlens env | head` is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Clean.into(),
        Err(error) => {
            notice(format_args!("cannot write the output: {error}"));
            Exit::Trouble.into()
        }
    }
}

/// The working directory. Says so if it cannot be read.
fn working_directory() -> Option<PathBuf> {
    let said = |error: &io::Error| notice(format_args!("the working directory cannot be read: {error}"));
    std::env::current_dir().inspect_err(said).ok()
}

/// Loads the projects around some paths, with a spinner if it takes longer than a moment.
fn load(paths: &[PathBuf], root: Option<&Path>) -> Option<Loaded> {
    let directory = working_directory()?;
    let request = Request { directory: &directory, paths, root, stdin_name: None, stdin: None };
    Some(progress::with_spinner("reading manifests", || crate::load::load(request)))
}

/// `NAME=VALUE`
fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some(("", _)) => Err("a name stands before `=`".into()),
        Some((name, value)) => Ok((name.into(), value.into())),
        None => Err("write it as NAME=VALUE".into()),
    }
}

/// The text of a file, or of stdin for `-`; or what is wrong with it.
fn read_text(path: &Path) -> Result<String, String> {
    if path.as_os_str() != "-" {
        return crate::load::read(path);
    }
    crate::load::decoded(&mut io::stdin().lock())
}

/// A path as messages have it.
fn shown_path(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".into() } else { path.display().to_string() }
}

/// Says something to the person, not to the next program. Names of files may hold anything, so what a terminal would
/// obey is escaped.
fn notice(text: impl Display) {
    let text = text.to_string();
    // If stderr is closed, nobody is there to be told.
    let _ = writeln!(io::stderr().lock(), "podlens: {}", one_line(&text));
}
