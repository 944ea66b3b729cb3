//! `podlens env`: the environment of every container of every workload.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anstream::AutoStream;
use clap::{Args, ValueEnum};

use crate::build::BuiltObject;
use crate::cli::output::OutputFlag;
use crate::cli::parameters::ParameterFlags;
use crate::cli::selection::Selection;
use crate::cli::{Color, Exit, ProjectFlags, inputs, load};
use crate::ide::{ENVIRONMENT_SCHEMA, EnvironmentView, EnvironmentViewer};
use crate::load::Loaded;
use crate::report;
use crate::resolve::Resolver;
use crate::workspace::Snapshot;

/// Show the environment of every container: each variable, its value and its source
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and directories to show; `-` is stdin [default: the working directory]
    paths: Vec<PathBuf>,
    /// The output format
    #[arg(short = 'o', long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    output: OutputFlag,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    given: ParameterFlags,
    /// Show the variables of services too, instead of the names of the services
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
  podlens env --workload deploy/web   one workload
  helm template shop | podlens env -  the output of a chart
  podlens env -o json | jq '.workloads[].containers[].unresolved[]'
  podlens env -o dotenv web.yaml > web.env; set -a; . ./web.env";

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Table,
    /// For programs: podlens/env/v2
    Json,
    /// NAME='value' lines for a shell
    Dotenv,
}

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let Some(mut loaded) = load(&arguments.paths, arguments.project.root.as_deref()) else { return Ok(Exit::Failure) };
    if let Err(exit) = arguments.given.apply(&mut loaded) {
        return Ok(exit);
    }
    let mut exit = inputs::report_problems(&loaded);
    let snapshot = loaded.workspace.snapshot();
    let all = inputs::workloads(&loaded, &snapshot);
    if all.is_empty() {
        exit = inputs::no_workloads(&loaded, exit);
    }
    let (selected, matched) = arguments.selection.select(all);
    let view = view(arguments, &loaded, &snapshot, &selected);
    arguments.output.write(exit.max(matched), |out| write(arguments, &view, out))
}

fn view(arguments: &Arguments, loaded: &Loaded, snapshot: &Snapshot, selected: &[BuiltObject<'_>]) -> EnvironmentView {
    let texts: Mutex<HashMap<String, Option<Arc<str>>>> = Mutex::default();
    let resolver = Resolver::new(snapshot, arguments.project.kubernetes);
    let viewer = EnvironmentViewer {
        snapshot,
        resolver: &resolver,
        path: &|path| loaded.display(path),
        text: &|path| {
            let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
            texts.entry(path.to_owned()).or_insert_with(|| loaded.text(path)).clone()
        },
        all: arguments.all,
    };
    let workload = |object: &BuiltObject<'_>| viewer.workload(*object, |it| arguments.selection.shows(it));
    EnvironmentView { schema: ENVIRONMENT_SCHEMA, workloads: selected.iter().filter_map(workload).collect() }
}

fn write(arguments: &Arguments, view: &EnvironmentView, out: &mut dyn Write) -> io::Result<()> {
    match arguments.format {
        Format::Json => report::write_json(out, view),
        Format::Dotenv => report::write_dotenv(out, view),
        Format::Table => {
            let (color, width) = (arguments.output.color(arguments.color), arguments.output.width());
            let mut text = Vec::new();
            report::write_table(&mut AutoStream::new(&mut text, color), view, arguments.all, width)?;
            out.write_all(&text)
        }
    }
}
