//! `podlens env`: the environment of every container of every workload.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anstream::AutoStream;
use clap::{Args, ValueEnum};

use crate::cli::{Color, Exit, load, notice};
use crate::ide::{ENVIRONMENT_SCHEMA, EnvironmentView, EnvironmentViewer};
use crate::load::{Loaded, NO_SUCH_FILE};
use crate::report;
use crate::resolve::Resolver;
use crate::rules;
use crate::text::{LineColumn, LineIndex};
use crate::workspace::KubernetesVersion;

/// Show the environment of every container: values, where they come from, what they hide
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and directories to show; `-` is stdin [default: the working directory]
    paths: Vec<PathBuf>,
    /// How to write it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// A row for each service variable in the table, not a line for each service
    #[arg(long)]
    all: bool,
    /// The directory in which objects are looked for, instead of the nearest one with podlens.yaml or .git
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The Kubernetes release the manifests are for, such as 1.34, instead of the settings' one
    #[arg(long, value_name = "VERSION")]
    kubernetes: Option<KubernetesVersion>,
    /// When to use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

const EXAMPLES: &str = "Examples:
  podlens env                         every workload below the working directory
  podlens env shop/web.yaml           one file; its config maps may stand anywhere in the project
  helm template shop | podlens env -  what a chart makes
  podlens env --format json | jq '.workloads[].containers[].unresolved[]'
  podlens env --format dotenv web.yaml > web.env; set -a; . ./web.env";

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// For a person
    #[default]
    Table,
    /// For programs: podlens/env/v1
    Json,
    /// NAME='value' lines for a shell
    Dotenv,
}

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let Some(loaded) = load(&arguments.paths, arguments.root.as_deref()) else { return Ok(Exit::Trouble) };
    let mut exit = report_problems(&loaded);
    let view = view(&loaded, arguments.kubernetes);
    if view.workloads.is_empty() {
        exit = nothing_to_show(&loaded, exit);
    }
    write(arguments, &view)?;
    Ok(exit)
}

/// Why there is nothing to show. Files that were asked for and could not be read are trouble; that there are none is not.
pub(super) fn nothing_to_show(loaded: &Loaded, exit: Exit) -> Exit {
    let snapshot = loaded.workspace.snapshot();
    let has_objects = |path: &Arc<str>| snapshot.file(path).is_some_and(|it| !it.objects.is_empty());
    let all_missing = loaded.problems.iter().all(|it| it.message == NO_SUCH_FILE);
    if loaded.reported.iter().any(has_objects) {
        notice("no workloads found: no file holds an object with containers");
        return exit;
    }
    if loaded.problems.is_empty() && exit == Exit::Clean {
        notice(
            "no manifests found: expected .yaml, .yml or .json files with Kubernetes objects, not ignored or excluded",
        );
    }
    match exit {
        Exit::Clean => Exit::Nothing,
        Exit::Trouble if loaded.reported.is_empty() && all_missing => Exit::Nothing,
        exit => exit,
    }
}

/// Tells what could not be read, or only in part.
pub(super) fn report_problems(loaded: &Loaded) -> Exit {
    let mut exit = Exit::Clean;
    for problem in &loaded.problems {
        notice(format_args!("{}: {}", problem.file, problem.message));
        exit = Exit::Trouble;
    }
    let snapshot = loaded.workspace.snapshot();
    for path in &loaded.reported {
        let Some(file) = snapshot.file(path) else { continue };
        for error in &file.errors {
            let place = file.lines.line_column(error.span.start);
            let shown = loaded.display(path);
            notice(format_args!("{shown}:{}:{}: {}; the rest is shown", place.line, place.column, error.message));
            exit = exit.max(Exit::Findings);
        }
    }
    for settings in snapshot.all_settings() {
        for mistake in rules::mistakes(settings) {
            let path = &settings.file;
            // Settings above the workspace are none of its files.
            let lines = LineIndex::new(&loaded.text(path).unwrap_or_default());
            let LineColumn { line, column } = lines.line_column(mistake.span.start);
            notice(format_args!("{}:{line}:{column}: {}", loaded.display(path), mistake.message));
            exit = Exit::Trouble;
        }
    }
    exit
}

fn view(loaded: &Loaded, release: Option<KubernetesVersion>) -> EnvironmentView {
    let snapshot = loaded.workspace.snapshot();
    let texts: Mutex<HashMap<String, Option<Arc<str>>>> = Mutex::default();
    let resolver = Resolver::new(&snapshot, release);
    let viewer = EnvironmentViewer {
        snapshot: &snapshot,
        resolver: &resolver,
        path: &|path| loaded.display(path),
        text: &|path| {
            let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
            texts.entry(path.to_owned()).or_insert_with(|| loaded.text(path)).clone()
        },
    };
    let files = loaded.reported.iter().filter_map(|path| Some((path, snapshot.file(path)?)));
    let workloads = files.flat_map(|(path, file)| viewer.workloads(path, file)).collect();
    EnvironmentView { schema: ENVIRONMENT_SCHEMA, workloads }
}

fn write(arguments: &Arguments, view: &EnvironmentView) -> io::Result<()> {
    let stdout = io::stdout().lock();
    let width = stdout.is_terminal().then(terminal_size::terminal_size).flatten().map(|(width, _)| width.0.into());
    let mut out = io::BufWriter::new(stdout);
    match arguments.format {
        Format::Json => report::json::write(&mut out, view)?,
        Format::Dotenv => report::dotenv::write(&mut out, view)?,
        Format::Table => {
            let mut text = Vec::new();
            report::table::write(
                &mut AutoStream::new(&mut text, arguments.color.choice()),
                view,
                arguments.all,
                width,
            )?;
            out.write_all(&text)?;
        }
    }
    out.flush()
}
