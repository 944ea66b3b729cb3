//! `podlens env`: the environment of every container of every workload.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anstream::AutoStream;
use clap::{Args, ValueEnum};

use crate::cli::{Color, Exit, ProjectFlags, inputs, load};
use crate::ide::{ENVIRONMENT_SCHEMA, EnvironmentView, EnvironmentViewer};
use crate::load::Loaded;
use crate::report;
use crate::resolve::Resolver;
use crate::workspace::KubernetesVersion;

/// Show the environment of every container: each variable, its value and its source
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and directories to show; `-` is stdin [default: the working directory]
    paths: Vec<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Show each service variable in its own row, instead of one line per service
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    project: ProjectFlags,
    /// When to use colors
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

const EXAMPLES: &str = "Examples:
  podlens env                         every workload below the working directory
  podlens env shop/web.yaml           one file; its ConfigMaps can be anywhere in the project
  helm template shop | podlens env -  the output of a chart
  podlens env --format json | jq '.workloads[].containers[].unresolved[]'
  podlens env --format dotenv web.yaml > web.env; set -a; . ./web.env";

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Table,
    /// For programs: podlens/env/v1
    Json,
    /// NAME='value' lines for a shell
    Dotenv,
}

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let Some(loaded) = load(&arguments.paths, arguments.project.root.as_deref()) else { return Ok(Exit::Failure) };
    let mut exit = inputs::report_problems(&loaded);
    let view = view(&loaded, arguments.project.kubernetes);
    if view.workloads.is_empty() {
        exit = inputs::no_workloads(&loaded, exit);
    }
    write(arguments, &view)?;
    Ok(exit)
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
        Format::Json => report::write_json(&mut out, view)?,
        Format::Dotenv => report::write_dotenv(&mut out, view)?,
        Format::Table => {
            let mut text = Vec::new();
            report::write_table(&mut AutoStream::new(&mut text, arguments.color.choice()), view, arguments.all, width)?;
            out.write_all(&text)?;
        }
    }
    out.flush()
}
