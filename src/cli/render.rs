//! `podlens render`: prints the workloads as the cluster would run them.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use similar::TextDiff;

use crate::cli::{Exit, ProjectFlags, inputs, load, notice};
use crate::ide::Renderer;
use crate::resolve::Resolver;

/// Print the workloads as the cluster would run them, with variables expanded where their values are known
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and directories to render; `-` is stdin [default: the working directory]
    paths: Vec<PathBuf>,
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
  podlens render --diff                  the changes made by expansion, file by file
  helm template shop | podlens render -  the output of a chart";

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let Some(loaded) = load(&arguments.paths, arguments.project.root.as_deref()) else { return Ok(Exit::Failure) };
    let mut exit = inputs::report_problems(&loaded);
    let snapshot = loaded.workspace.snapshot();
    let resolver = Resolver::new(&snapshot, arguments.project.kubernetes);
    let renderer = Renderer { resolver: &resolver, text: &|path| loaded.text(path) };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut any = false;
    for path in &loaded.reported {
        let Some(file) = snapshot.file(path).filter(|it| !it.objects.is_empty()) else { continue };
        let shown = loaded.display(path);
        if file.is_helm_template() {
            notice(format_args!("{shown}: is a Helm template; render the output of `helm template` instead"));
            continue;
        }
        let Some(text) = loaded.text(path) else { continue };
        let rendered = renderer.workloads(path, file, &text);
        any |= !rendered.is_empty();
        if arguments.diff {
            let new = renderer.in_place(path, file, &text);
            let diff = TextDiff::from_lines(&*text, &*new);
            write!(out, "{}", diff.unified_diff().header(&format!("a/{shown}"), &format!("b/{shown}")))?;
        } else {
            for document in rendered {
                writeln!(out, "---\n# Source: {shown}\n{}", document.trim_end())?;
            }
        }
    }
    if !any {
        exit = inputs::no_workloads(&loaded, exit);
    }
    out.flush()?;
    Ok(exit)
}
