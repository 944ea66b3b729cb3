//! The command line: one file per subcommand.
//!
//! Only results go to stdout, everything else to stderr. A closed stdout ends the program without an error.

mod build;
mod completions;
mod env;
mod expand;
mod explain;
mod inputs;
mod lint;
mod lsp;
mod output;
mod parameters;
mod process;
mod progress;
mod render;
mod selection;
mod views;
mod wrap;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::diagnostic::InputProblem;
use crate::load::{Loaded, Request, STDIN_NAME};
use crate::report::one_line;
use crate::workspace::KubernetesVersion;
pub use lsp::{Serve, ServerOptions};

/// How a command ends; of several ways the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exit {
    /// No findings from warning upwards.
    Clean,
    /// Findings from warning upwards, or a refused input.
    Findings,
    /// No input matched, or a path does not exist.
    NoInput,
    /// Bad flags, bad settings, files that cannot be read or written, or an internal error.
    Failure,
}

impl Exit {
    /// How a command ends that needs an input which cannot be read.
    fn for_problem(problem: &InputProblem) -> Self {
        if problem.is_missing { Self::NoInput } else { Self::Failure }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Failure => 2,
            Exit::NoInput => 3,
        })
    }
}

/// What will this container really get? Resolves the variables in Kubernetes and OpenShift manifests
#[derive(Debug, Parser)]
#[command(name = "podlens", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 no findings from warning upwards, 1 findings or a refused input, 2 bad flags or \
                          settings or an unreadable file, 3 no input matched or a path that does not \
                          exist.";

#[derive(Debug, Subcommand)]
enum Command {
    Lint(Box<lint::Arguments>),
    Env(env::Arguments),
    Build(build::Arguments),
    Expand(expand::Arguments),
    Render(render::Arguments),
    Views(views::Arguments),
    Process(process::Arguments),
    Wrap(wrap::Arguments),
    Explain(explain::Arguments),
    Lsp(lsp::Arguments),
    Completions(completions::Arguments),
}

// The flags of commands that read a project. A doc comment would become the help of these commands.
#[derive(Debug, Args)]
struct ProjectFlags {
    /// The directory to search for objects, instead of the nearest one with podlens.yaml or .git
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The Kubernetes release the manifests are for, such as 1.34, instead of the one in the settings
    #[arg(long, value_name = "VERSION")]
    kubernetes: Option<KubernetesVersion>,
}

/// When to use colors.
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
    /// The choice for stdout.
    fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => AutoStream::choice(&io::stdout()),
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}

/// Runs the command in the arguments. `serve` runs the language server; without it `podlens lsp` is refused.
pub fn main(serve: Option<Serve>) -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Env(arguments) => env::run(&arguments),
        Command::Build(arguments) => build::run(&arguments),
        Command::Expand(arguments) => expand::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Lsp(arguments) => lsp::run(arguments, serve),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Views(arguments) => views::run(&arguments),
        Command::Process(arguments) => process::run(&arguments),
        Command::Wrap(arguments) => wrap::run(&arguments),
    };
    match result {
        Ok(exit) => exit.into(),
        // `podlens env | head` is not a failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Clean.into(),
        Err(error) => {
            notice(format_args!("cannot write the output: {error}"));
            Exit::Failure.into()
        }
    }
}

/// The working directory. Prints a notice if it cannot be read.
fn working_directory() -> Option<PathBuf> {
    let failed = |error: &io::Error| notice(format_args!("the working directory cannot be read: {error}"));
    std::env::current_dir().inspect_err(failed).ok()
}

/// Loads the projects around some paths, with progress if it takes long.
fn load(paths: &[PathBuf], root: Option<&Path>) -> Option<Loaded> {
    let directory = working_directory()?;
    let request = Request { directory: &directory, paths, root, stdin_name: None, stdin: None };
    let progress = progress::Progress::new();
    Some(crate::load::load_with_progress(request, &progress))
}

/// `NAME=VALUE`
fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some(("", _)) => Err("expected a name before `=`".into()),
        Some((name, value)) => Ok((name.into(), value.into())),
        None => Err("expected NAME=VALUE".into()),
    }
}

/// The text of a file, or of stdin for `-`.
fn read_text(path: &Path) -> Result<String, InputProblem> {
    let text = match is_stdin(path) {
        true => crate::load::read_stream(&mut io::stdin().lock()),
        false => crate::load::read(path),
    };
    text.map_err(|error| error.in_file(shown_path(path)))
}

/// Whether a path argument means stdin.
fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A path as messages show it.
fn shown_path(path: &Path) -> String {
    if is_stdin(path) { STDIN_NAME.into() } else { path.display().to_string() }
}

/// Prints a message on stderr. Control characters, which file names may contain, are escaped.
fn notice(text: impl Display) {
    let text = text.to_string();
    // If stderr is closed, there is nowhere to report that.
    let _ = writeln!(io::stderr().lock(), "podlens: {}", one_line(&text));
}
