//! `podlens process`: turns a template and values into objects.

mod ask;
mod table;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rand::rngs::{ChaCha12Rng, SysRng};
use rand::{RngExt, SeedableRng};

use crate::build::{
    ObjectList, ProcessError, ProcessOptions, ProcessedTemplate, RangeEnds, SelectedTemplate, process_template,
    select_template,
};
use crate::cli::output::OutputFlag;
use crate::cli::parameters::{GivenValues, ParameterFlags};
use crate::cli::{Exit, assignment, notice, read_text as read, shown_path as shown};
use crate::diagnostic::InputProblem;
use crate::syntax;
use crate::text::LineIndex;

/// Process a template: generate values, substitute parameters, print the objects
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The template, YAML or JSON; `-` is stdin
    file: PathBuf,
    #[command(flatten)]
    given: ParameterFlags,
    /// The expression to generate a parameter from, instead of the `from` in the template
    #[arg(long, value_name = "NAME=EXPRESSION", value_parser = assignment)]
    from: Vec<(String, String)>,
    /// Labels to add to every object besides those of the template: `k=v,k2=v2`
    #[arg(short, long, value_name = "LABELS", value_parser = labels)]
    labels: Vec<Labels>,
    /// The output format
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "json")]
    format: Format,
    #[command(flatten)]
    output: OutputFlag,
    /// Print a table of the parameters with the values they would get, and process nothing
    #[arg(long, conflicts_with_all = ["labels", "ask", "seed", "no_exact", "format"])]
    parameters: bool,
    /// Ignore values for parameters that the template does not have
    #[arg(long)]
    ignore_unknown_parameters: bool,
    /// Ask on the terminal for the value of every parameter that is not given
    #[arg(long)]
    ask: bool,
    /// Let generators use the last character of a range too; OpenShift never does
    #[arg(long)]
    no_exact: bool,
    /// Generate the same values in every run with this number
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "Examples:
  podlens process mongodb.yaml -p MEMORY=512Mi | oc apply -f -
  podlens process mongodb.yaml --param-file prod.params --seed 1 -o yaml
  podlens process mongodb.yaml --from 'PASSWORD=[\\w]{40}'
  podlens process mongodb.yaml --parameters";

/// The output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A List as JSON.
    Json,
    /// A List as YAML.
    Yaml,
    /// The Template with its values, as JSON.
    Template,
}

#[derive(Clone, Debug)]
struct Labels(Vec<(String, String)>);

fn labels(text: &str) -> Result<Labels, String> {
    text.split(',').map(assignment).collect::<Result<_, _>>().map(Labels)
}

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let text = match read(&arguments.file) {
        Ok(text) => text,
        Err(problem) => return unreadable(&problem),
    };
    let template = TemplateText { name: shown(&arguments.file), lines: LineIndex::new(&text) };
    let tree = syntax::parse(&text);
    if tree.documents().all(|it| it.root().is_none() && it.errors().is_empty()) {
        notice(format_args!("{} has no documents", template.name));
        return Ok(Exit::NoInput);
    }
    let selected = match select_template(&tree) {
        Ok(selected) => selected,
        Err(problem) => return refused(&template, &Origins::new(), &[problem]),
    };
    if selected.documents > 1 {
        let others = selected.documents - 1;
        notice(format_args!("{}: only the first document is processed; {others} more are ignored", template.name));
    }
    let (mut request, origins) = match request(arguments) {
        Ok(request) => request,
        Err(exit) => return Ok(exit),
    };
    if arguments.parameters {
        let errors = selected.given_errors(&request);
        if !errors.is_empty() {
            return refused(&template, &origins, &errors);
        }
        return arguments.output.write(Exit::Clean, |out| table::write(out, &selected.parameters(), &request));
    }
    if arguments.ask {
        // Questions go to stderr, so that the objects can go to a file.
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return failure("--ask needs a terminal");
        }
        ask::ask(&selected.parameters(), &mut request.values, &mut io::stdin().lock(), &mut io::stderr().lock())?;
    }
    let outcome = generate(&selected, &request, arguments.seed)?;
    for text in &outcome.notices {
        notice(text);
    }
    if !outcome.errors.is_empty() {
        return refused(&template, &origins, &outcome.errors);
    }
    arguments.output.write(Exit::Clean, |out| write(arguments.format, &outcome, out))
}

fn failure(message: impl std::fmt::Display) -> io::Result<Exit> {
    notice(message);
    Ok(Exit::Failure)
}

fn unreadable(problem: &InputProblem) -> io::Result<Exit> {
    notice(problem);
    Ok(Exit::for_problem(problem))
}

/// The template's name and lines, for messages with positions.
struct TemplateText {
    name: String,
    lines: LineIndex,
}

/// The file and line of each value that came from a file, by parameter name.
type Origins = BTreeMap<String, (String, usize)>;

fn refused(template: &TemplateText, origins: &Origins, problems: &[ProcessError]) -> io::Result<Exit> {
    for problem in problems {
        let place = problem.span.map(|span| template.lines.line_column(span.start));
        let given = problem.parameter.as_ref().and_then(|it| origins.get(it)).filter(|_| place.is_none());
        match (place, given) {
            (None, Some((file, line))) => notice(format_args!("{file}:{line}: {}", problem.message)),
            (Some(at), _) => notice(format_args!("{}:{}:{}: {}", template.name, at.line, at.column, problem.message)),
            (None, None) => notice(format_args!("{}: {}", template.name, problem.message)),
        }
    }
    Ok(Exit::Findings)
}

/// The values from the command line and from files, or the exit code if they are refused.
fn request(arguments: &Arguments) -> Result<(ProcessOptions, Origins), Exit> {
    let GivenValues { values, origins } = arguments.given.read()?;
    let labels = arguments.labels.iter().flat_map(|it| it.0.iter().cloned()).collect();
    let request = ProcessOptions {
        values,
        expressions: arguments.from.iter().cloned().collect(),
        labels,
        ignore_unknown: arguments.ignore_unknown_parameters,
        ends: if arguments.no_exact { RangeEnds::Inclusive } else { RangeEnds::Exclusive },
        with_template: arguments.format == Format::Template,
    };
    Ok((request, origins))
}

fn generate(
    selected: &SelectedTemplate<'_>,
    request: &ProcessOptions,
    seed: Option<u64>,
) -> io::Result<ProcessedTemplate> {
    let mut random = match seed {
        Some(seed) => ChaCha12Rng::seed_from_u64(seed),
        None => ChaCha12Rng::try_from_rng(&mut SysRng).map_err(io::Error::other)?,
    };
    Ok(process_template(selected, request, &mut |below| random.random_range(0..below)))
}

fn write(format: Format, outcome: &ProcessedTemplate, out: &mut dyn Write) -> io::Result<()> {
    let list = ObjectList::of(&outcome.objects);
    match format {
        Format::Json => json(out, &list),
        Format::Template => json(out, &outcome.template),
        Format::Yaml => {
            let options = serde_saphyr::ser_options! { compact_list_indent: true, folded_wrap_chars: 1_000_000 };
            let text = serde_saphyr::to_string_with_options(&list, options).map_err(io::Error::other)?;
            out.write_all(text.as_bytes())
        }
    }
}

/// Indented by four spaces, as `oc` prints it.
fn json(out: &mut dyn Write, value: &impl serde::Serialize) -> io::Result<()> {
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, formatter))?;
    writeln!(out)
}
