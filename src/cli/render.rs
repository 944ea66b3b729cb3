//! `podlens render`: prints the workloads as the cluster would run them.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use similar::TextDiff;

use crate::build::{BuiltObject, View};
use crate::cli::output::OutputFlag;
use crate::cli::parameters::ParameterFlags;
use crate::cli::selection::Selection;
use crate::cli::{Exit, ProjectFlags, inputs, load, notice};
use crate::ide::Renderer;
use crate::load::Loaded;
use crate::resolve::Resolver;

/// Print the workloads as the cluster would run them, with variables expanded where their values are known
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and directories to render; `-` is stdin [default: the working directory]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    given: ParameterFlags,
    /// Show the changes to the files as a diff
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    output: OutputFlag,
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
    let Some(mut loaded) = load(&arguments.paths, arguments.project.root.as_deref()) else { return Ok(Exit::Failure) };
    if let Err(exit) = arguments.given.apply(&mut loaded) {
        return Ok(exit);
    }
    let mut exit = inputs::report_problems(&loaded);
    let snapshot = loaded.workspace.snapshot();
    let resolver = Resolver::new(&snapshot, arguments.project.kubernetes);
    let renderer = Renderer { resolver: &resolver, text: &|path| loaded.text(path) };
    let all = inputs::workloads(&loaded, &snapshot);
    if all.is_empty() {
        exit = inputs::no_workloads(&loaded, exit);
    }
    let (selected, matched) = arguments.selection.select(all);
    arguments.output.write(exit.max(matched), |out| write(arguments, &loaded, &renderer, &selected, out))
}

fn write(
    arguments: &Arguments,
    loaded: &Loaded,
    renderer: &Renderer<'_>,
    selected: &[BuiltObject<'_>],
    out: &mut dyn Write,
) -> io::Result<()> {
    for of_file in selected.chunk_by(|one, other| one.file == other.file) {
        let path = of_file[0].file;
        let Some(file) = of_file[0].snapshot.file(path) else { continue };
        let shown = loaded.display(path);
        if file.is_helm_template() {
            notice(format_args!("{shown}: is a Helm template; render the output of `helm template` instead"));
            continue;
        }
        if arguments.diff {
            let Some((before, after)) = changes(renderer, loaded, path, of_file) else { continue };
            let diff = TextDiff::from_lines(&*before, &*after);
            write!(out, "{}", diff.unified_diff().header(&format!("a/{shown}"), &format!("b/{shown}")))?;
            continue;
        }
        for object in of_file {
            let Some(document) = renderer.document(*object) else { continue };
            let view = object.named_view().map_or(String::new(), |it| format!(" (view {it})"));
            writeln!(out, "---\n# Source: {shown}{view}\n{}", document.trim_end())?;
        }
    }
    Ok(())
}

/// The text before and after rendering: of the file itself, or of the objects that its templates make.
fn changes(
    renderer: &Renderer<'_>,
    loaded: &Loaded,
    path: &str,
    objects: &[BuiltObject<'_>],
) -> Option<(String, String)> {
    if objects.iter().all(|it| it.view == View::Plain) {
        let text = loaded.text(path)?;
        let after = renderer.in_place(objects, &text);
        return Some((text.to_string(), after));
    }
    let built = |object: &BuiltObject<'_>| renderer.built_value(*object, &|_| None)?.to_block();
    let before: Vec<String> = objects.iter().filter_map(built).collect();
    let after: Vec<String> = objects.iter().filter_map(|it| renderer.document(*it)).collect();
    Some((before.join("---\n"), after.join("---\n")))
}
