//! `podlens render`: prints the workloads as the cluster would run them.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use similar::TextDiff;

use crate::cli::selection::{Selection, Workload};
use crate::cli::{Exit, ProjectFlags, inputs, load, notice};
use crate::ide::Renderer;
use crate::resolve::Resolver;
use crate::syntax;
use crate::workspace::File;

/// Print the workloads as the cluster would run them, with variables expanded where their values are known
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and directories to render; `-` is stdin [default: the working directory]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    selection: Selection,
    /// Show the changes to the files as a diff
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    project: ProjectFlags,
}

const EXAMPLES: &str =
    "Values are printed as programs get them: `$$(X)` becomes `$(X)`. A value that is not fully known, or \
                        that contains a secret, keeps its text, with a comment that says why.

Examples:
  podlens render shop/web.yaml           one file; its ConfigMaps can be anywhere in the project
  podlens render --workload sts/database one workload
  podlens render --diff                  the changes made by expansion, file by file
  helm template shop | podlens render -  the output of a chart";

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let Some(loaded) = load(&arguments.paths, arguments.project.root.as_deref()) else { return Ok(Exit::Failure) };
    let mut exit = inputs::report_problems(&loaded);
    let snapshot = loaded.workspace.snapshot();
    let resolver = Resolver::new(&snapshot, arguments.project.kubernetes);
    let renderer = Renderer { resolver: &resolver, text: &|path| loaded.text(path) };
    let all = inputs::workloads(&loaded, &snapshot);
    if all.is_empty() {
        exit = inputs::no_workloads(&loaded, exit);
    }
    let (selected, matched) = arguments.selection.select(all);
    let mut out = io::BufWriter::new(io::stdout().lock());
    for of_file in selected.chunk_by(|(one, _), (other, _)| one == other) {
        let path = of_file[0].0;
        let Some(file) = snapshot.file(path) else { continue };
        let shown = loaded.display(path);
        if file.is_helm_template() {
            notice(format_args!("{shown}: is a Helm template; render the output of `helm template` instead"));
            continue;
        }
        let Some(text) = loaded.text(path) else { continue };
        if arguments.diff {
            let new = renderer.in_place(path, &with_objects(file, of_file), &text);
            let diff = TextDiff::from_lines(&*text, &*new);
            write!(out, "{}", diff.unified_diff().header(&format!("a/{shown}"), &format!("b/{shown}")))?;
            continue;
        }
        let tree = syntax::parse(&text);
        for document in of_file.iter().filter_map(|(_, object)| renderer.document(path, &tree, object)) {
            writeln!(out, "---\n# Source: {shown}\n{}", document.trim_end())?;
        }
    }
    out.flush()?;
    Ok(exit.max(matched))
}

/// The file with only these objects.
fn with_objects(file: &File, selected: &[Workload<'_>]) -> File {
    let mut file = file.clone();
    file.objects = selected.iter().map(|(_, object)| (*object).clone()).collect();
    file
}
