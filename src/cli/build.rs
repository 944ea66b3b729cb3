//! `podlens build`: prints the objects that files become, before admission.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::build::{
    self, BuiltObject, FieldProvenance, Json, ObjectList, ProcessOptions, ProvenanceFiles, UnknownPart,
    process_template, select_template_at,
};
use crate::cli::output::OutputFlag;
use crate::cli::parameters::ParameterFlags;
use crate::cli::selection::{ViewFlag, view_names};
use crate::cli::{Exit, inputs, load, notice};
use crate::k8s::{ObjectData, ParameterValue};
use crate::load::Loaded;
use crate::report;
use crate::syntax::{self, Node, Tree, YamlValue, show_placeholders};
use crate::text::LineIndex;
use crate::workspace::Snapshot;

/// Print the objects that files become: templates processed, variables unexpanded, no presets applied
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and directories with templates or plain objects; `-` is stdin
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The output format
    #[arg(short = 'o', long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    output: OutputFlag,
    #[command(flatten)]
    given: ParameterFlags,
    #[command(flatten)]
    view: ViewFlag,
    /// The directory to search for objects, instead of the nearest one with podlens.yaml or .git
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

const EXAMPLES: &str = "A parameter that is generated or not set keeps its reference, and is named on stderr.

Examples:
  podlens build mongodb.yaml                        the objects of a template
  podlens build mongodb.yaml -p MEMORY=512Mi -o json
  podlens build mongodb.yaml -o provenance          where every value comes from";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A stream of YAML documents
    #[default]
    Yaml,
    /// A List as JSON
    Json,
    /// podlens/build/v1: every scalar with the file, line and column of its pieces
    Provenance,
}

/// The JSON of `-o provenance`.
#[derive(Debug, Serialize)]
struct Provenance {
    schema: &'static str,
    objects: Vec<ObjectProvenance>,
    unknown: Vec<UnknownPart>,
}

#[derive(Debug, Serialize)]
struct ObjectProvenance {
    object: Json<'static>,
    origin: Origin,
    fields: Vec<FieldProvenance>,
}

#[derive(Debug, Serialize)]
struct Origin {
    file: String,
    line: u32,
}

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let Some(mut loaded) = load(&arguments.paths, arguments.root.as_deref()) else { return Ok(Exit::Failure) };
    loaded.read_whole_files();
    if let Err(exit) = arguments.given.apply(&mut loaded) {
        return Ok(exit);
    }
    let exit = inputs::report_problems(&loaded);
    let snapshot = loaded.workspace.snapshot();
    if let Some(refused) = refusals(arguments, &loaded, &snapshot) {
        return Ok(refused);
    }
    let all = objects(&loaded, &snapshot);
    if all.is_empty() {
        return Ok(inputs::no_documents(&loaded, exit));
    }
    let (objects, exit) = match arguments.view.is_given() {
        true => {
            let is_wanted = |it: &BuiltObject<'_>| it.view_name().is_some_and(|it| arguments.view.contains(&it));
            let unmatched = arguments.view.report_unmatched(&view_names(&all));
            (all.into_iter().filter(is_wanted).collect(), exit.max(unmatched))
        }
        false => (all.into_iter().filter(|it| it.named_view().is_none()).collect::<Vec<_>>(), exit),
    };
    if objects.is_empty() {
        return Ok(exit);
    }
    let files = ProvenanceFiles { text: &|path| text(&loaded, path), path: &|path| loaded.display(path) };
    let exit = arguments.output.write(exit, |out| write(arguments, &loaded, &objects, &files, out))?;
    for part in unknown(&objects, &files) {
        let place = part.file.zip(part.line).map_or(String::new(), |(file, line)| format!("{file}:{line}: "));
        notice(format_args!("{place}{} is not known: {}", part.what, part.why));
    }
    Ok(exit)
}

fn write(
    arguments: &Arguments,
    loaded: &Loaded,
    objects: &[BuiltObject<'_>],
    files: &ProvenanceFiles<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let trees = Trees::of(loaded, objects);
    let nodes = objects.iter().filter_map(|it| Some((*it, trees.node(*it)?)));
    match arguments.format {
        Format::Yaml => {
            for (object, node) in nodes {
                let Some(document) = YamlValue::from_node(node, "", &|_| None).and_then(|it| readable(it).to_block())
                else {
                    continue;
                };
                writeln!(out, "---\n# Source: {}\n{}", loaded.display(object.file), document.trim_end())?;
            }
            Ok(())
        }
        Format::Json => {
            let items: Vec<Json<'static>> = nodes.filter_map(|(_, node)| json(node)).collect();
            report::write_json(out, &ObjectList::of(&items))
        }
        Format::Provenance => {
            let of = |(object, node): (BuiltObject<'_>, Node<'_>)| {
                let line = object.snapshot.file(object.file)?.lines.line_column(object.source.offset).line;
                Some(ObjectProvenance {
                    object: json(node)?,
                    origin: Origin { file: loaded.display(object.file), line },
                    fields: build::fields(object, node, files),
                })
            };
            let objects_of = nodes.filter_map(of).collect();
            let unknown = unknown(objects, files);
            report::write_json(out, &Provenance { schema: "podlens/build/v1", objects: objects_of, unknown })
        }
    }
}

/// The text of a file of the workspace, or of a parameter file elsewhere.
fn text(loaded: &Loaded, path: &str) -> Option<Arc<str>> {
    loaded.text(path).or_else(|| crate::load::read(Path::new(path)).ok().map(Arc::from))
}

/// Reports what the real program refuses, and what is not supported. `None` if there is nothing.
fn refusals(arguments: &Arguments, loaded: &Loaded, snapshot: &Snapshot) -> Option<Exit> {
    let mut is_refused = false;
    for path in &arguments.paths {
        for (marker, what, instead) in [
            ("kustomization.yaml", "kustomization", "kustomize build"),
            ("kustomization.yml", "kustomization", "kustomize build"),
            ("Kustomization", "kustomization", "kustomize build"),
            ("Chart.yaml", "chart", "helm template"),
        ] {
            if path.join(marker).is_file() {
                let path = path.display();
                notice(format_args!("{path}: a {what} cannot be built yet; pipe the output of `{instead} {path}`"));
                is_refused = true;
                break;
            }
        }
    }
    for path in &loaded.reported {
        let Some(file) = snapshot.file(path) else { continue };
        let shown = loaded.display(path);
        if file.is_helm_template() {
            notice(format_args!("{shown}: is a Helm template; build the output of `helm template` instead"));
            is_refused = true;
        }
        let mut templates =
            file.objects.iter().filter(|it| matches!(it.model.data, ObjectData::Template(_))).peekable();
        let source = templates.peek().and_then(|_| loaded.text(path));
        let Some(source) = source else { continue };
        let (tree, lines) = (syntax::parse(&source), LineIndex::new(&source));
        for template in templates {
            let members = file.objects.iter().filter(|it| it.offset > template.offset);
            let given = members.filter_map(|it| it.template.as_ref()).next();
            let mut options = ProcessOptions { ignore_unknown: true, ..ProcessOptions::default() };
            for (name, parameter) in given.iter().flat_map(|it| it.parameters.iter()) {
                if let ParameterValue::Given { value, .. } = &parameter.value {
                    options.values.insert(name.to_string(), value.to_string());
                }
            }
            let errors = match select_template_at(&tree, template.offset) {
                Ok(selected) => process_template(&selected, &options, &mut |_| 0).errors,
                Err(error) => vec![error],
            };
            for error in errors {
                is_refused = true;
                match error.span.map(|it| lines.line_column(it.start)) {
                    Some(at) => notice(format_args!("{shown}:{}:{}: {}", at.line, at.column, error.message)),
                    None => notice(format_args!("{shown}: {}", error.message)),
                }
            }
        }
    }
    is_refused.then_some(Exit::Findings)
}

/// The objects of the selected files in all views, without those that only hold others.
fn objects<'s>(loaded: &'s Loaded, snapshot: &'s Snapshot) -> Vec<BuiltObject<'s>> {
    let mut all = Vec::new();
    for (path, file) in loaded.reported.iter().filter_map(|it| snapshot.entry(it)) {
        for at in 0..file.objects.len() {
            let object = &file.objects[at];
            let end = object.file_span(object.model.span).end;
            let holds = file.objects.get(at + 1).is_some_and(|it| it.offset < end);
            let is_template = matches!(object.model.data, ObjectData::Template(_));
            if holds || is_template || object.model.kind.is_none() {
                continue;
            }
            all.extend(build::views_of(snapshot, path, file, at));
        }
    }
    all
}

/// The trees of the files with objects that nothing builds.
struct Trees(Vec<(Arc<str>, Tree)>);

impl Trees {
    fn of(loaded: &Loaded, objects: &[BuiltObject<'_>]) -> Self {
        let plain: BTreeSet<&Arc<str>> = objects.iter().filter(|it| it.tree().is_none()).map(|it| it.file).collect();
        let tree = |path: &Arc<str>| Some((Arc::clone(path), syntax::parse(&loaded.text(path)?)));
        Self(plain.into_iter().filter_map(tree).collect())
    }

    /// The tree of an object after the build.
    fn node<'t>(&'t self, object: BuiltObject<'t>) -> Option<Node<'t>> {
        if let Some(node) = object.tree() {
            return Some(node);
        }
        let (_, tree) = self.0.iter().find(|(path, _)| path == object.file)?;
        let offset = object.source.offset;
        let ancestors = tree.document_at(offset)?.root()?.path_to(offset);
        ancestors.into_iter().find(|it| it.span().start == offset && it.is_mapping())
    }
}

fn json(node: Node<'_>) -> Option<Json<'static>> {
    Some(readable_json(Json::read(node).ok()?.into_owned()))
}

/// A value with a reference in place of each value that is not known.
fn readable(value: YamlValue) -> YamlValue {
    let shown = |text: &str| show_placeholders(text).into_owned();
    match value {
        YamlValue::Text(text) => YamlValue::Text(shown(&text)),
        YamlValue::List(items) => YamlValue::List(items.into_iter().map(readable).collect()),
        YamlValue::Map(all) => YamlValue::Map(all.into_iter().map(|(key, it)| (shown(&key), readable(it))).collect()),
        other => other,
    }
}

fn readable_json(value: Json<'static>) -> Json<'static> {
    let shown = |text: &str| show_placeholders(text).into_owned();
    match value {
        Json::Text(text) => Json::Text(shown(&text).into()),
        Json::List(items) => Json::List(items.into_iter().map(readable_json).collect()),
        Json::Map(all) => Json::Map(all.into_iter().map(|(key, it)| (shown(&key).into(), readable_json(it))).collect()),
        other => other,
    }
}

/// What is not known in the objects, each once.
fn unknown(objects: &[BuiltObject<'_>], files: &ProvenanceFiles<'_>) -> Vec<UnknownPart> {
    let all: BTreeSet<UnknownPart> = objects.iter().flat_map(|it| build::unknown_parts(*it, files)).collect();
    all.into_iter().collect()
}
