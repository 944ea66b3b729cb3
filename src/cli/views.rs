//! `podlens views`: the kustomizations, charts and templates of a project, with the files of each.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anstream::AutoStream;
use clap::{Args, ValueEnum};

use crate::build;
use crate::cli::output::OutputFlag;
use crate::cli::{Color, Exit, inputs, load, notice};
use crate::load::Loaded;
use crate::report::{self, ListedUnknown, ListedView, ViewList};
use crate::text::LineIndex;

/// List the views: every kustomization, chart and template, its files, and what is unknown about it
///
/// A view is what a set of files becomes: a kustomization or chart that no other one includes, a template, or what
/// `views` in podlens.yaml, an Application of Argo CD, or a Kustomization or HelmRelease of Flux names.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Show views that have a file in these files and directories [default: the working directory]
    paths: Vec<PathBuf>,
    /// The output format
    #[arg(short = 'o', long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    output: OutputFlag,
    /// The directory to search for files, instead of the nearest one with podlens.yaml or .git
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// When to use colors
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

const EXAMPLES: &str = "Examples:
  podlens views                     every view with a file below the working directory
  podlens views base/config.yaml    the views that a file goes into
  podlens views -o json | jq '.views[] | {name, unknown}'
  podlens views --root .. overlays  also find bases beside the working directory";

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Table,
    /// For programs: podlens/views/v1
    Json,
}

/// The version of the JSON format.
const SCHEMA: &str = "podlens/views/v1";

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let Some(mut loaded) = load(&arguments.paths, arguments.root.as_deref()) else { return Ok(Exit::Failure) };
    loaded.find_included_files();
    let mut exit = inputs::report_problems(&loaded);
    exit = exit.max(report_unmatched(&loaded));
    let list = list(&loaded);
    if loaded.reported.is_empty() {
        exit = inputs::no_documents(&loaded, exit);
    } else if list.views.is_empty() {
        notice("no views found: no kustomization, chart or template has a file here");
    }
    arguments.output.write(exit, |out| write(arguments, &list, out))
}

/// Reports views of the settings whose path matches nothing.
fn report_unmatched(loaded: &Loaded) -> Exit {
    let unmatched = build::unmatched_views(&loaded.workspace.snapshot());
    for view in &unmatched {
        let lines = LineIndex::new(&loaded.text(&view.file).unwrap_or_default());
        let place = lines.line_column(view.span.start);
        notice(format_args!(
            "{}:{}:{}: the view `{}`: no kustomization, chart or template matches `{}`",
            loaded.display(&view.file),
            place.line,
            place.column,
            view.name,
            view.path
        ));
    }
    if unmatched.is_empty() { Exit::Clean } else { Exit::Failure }
}

/// The views that have a selected file.
fn list(loaded: &Loaded) -> ViewList {
    let selected: BTreeSet<&Arc<str>> = loaded.reported.iter().collect();
    let views = build::views(&loaded.workspace.snapshot()).into_iter();
    let views = views.filter(|view| view.files.iter().any(|it| selected.contains(it)));
    let listed = views.map(|view| ListedView {
        name: view.name,
        kind: view.kind.name(),
        path: loaded.display(&view.path),
        files: view.files.iter().map(|it| loaded.display(it)).collect(),
        unknown: view
            .unknown
            .into_iter()
            .map(|it| ListedUnknown { what: it.what, why: it.why, file: loaded.display(&it.file), line: it.line })
            .collect(),
    });
    ViewList { schema: SCHEMA, views: listed.collect() }
}

fn write(arguments: &Arguments, list: &ViewList, out: &mut dyn Write) -> io::Result<()> {
    match arguments.format {
        Format::Json => report::write_json(out, list),
        Format::Table => {
            let mut text = Vec::new();
            report::write_views(&mut AutoStream::new(&mut text, arguments.output.color(arguments.color)), list)?;
            out.write_all(&text)
        }
    }
}
