//! `podlens wrap`: turns objects into a Template that processes back to them.

use std::io;
use std::path::PathBuf;

use clap::Args;

use crate::build::{ParameterChoice, WrapInput, WrapOptions, wrap_in_template};
use crate::cli::output::OutputFlag;
use crate::cli::{Exit, assignment, is_stdin, notice, read_text, shown_path};
use crate::text::LineIndex;

/// Turn objects into a Template, with parameters in place of values
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files with objects, YAML or JSON; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The name of the template
    #[arg(long, value_name = "NAME")]
    name: String,
    /// A parameter and the value it replaces everywhere: `${{NAME}}` for a number or boolean, `${NAME}` in text
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = assignment)]
    parameters: Vec<(String, String)>,
    #[command(flatten)]
    output: OutputFlag,
}

const EXAMPLES: &str =
    "Comments and quotes are kept. The values of `apiVersion` and `kind` and the keys of the API are never \
replaced, and a value only where it is a whole word: `80` is not replaced in `8080`. Processing the \
template gives the same objects, except that processing removes a namespace without a parameter.

Examples:
  podlens wrap web.yaml --name web --param TAG=1.4.2 --param REPLICAS=3
  oc get -o yaml deploy,svc | podlens wrap - --name shop --param NAMESPACE=shop-test
  helm template shop | podlens wrap - --name shop > template.yaml";

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let given = |(name, value): &(String, String)| ParameterChoice { name: name.clone(), value: value.clone() };
    let options =
        WrapOptions { name: arguments.name.clone(), parameters: arguments.parameters.iter().map(given).collect() };
    if let Some(error) = options.error() {
        notice(error);
        return Ok(Exit::Failure);
    }
    if arguments.files.iter().filter(|it| is_stdin(it)).count() > 1 {
        notice("`-` (stdin) can be given only once");
        return Ok(Exit::Failure);
    }
    let mut texts = Vec::new();
    for path in &arguments.files {
        match read_text(path) {
            Ok(text) => texts.push(text),
            Err(problem) => {
                notice(&problem);
                return Ok(Exit::for_problem(&problem));
            }
        }
    }
    let sources: Vec<WrapInput<'_>> = texts.iter().map(|text| WrapInput { text }).collect();
    match wrap_in_template(&sources, &options) {
        Ok(wrapped) if wrapped.objects == 0 => {
            notice("no objects found");
            Ok(Exit::NoInput)
        }
        Ok(wrapped) => {
            for text in &wrapped.notices {
                notice(text);
            }
            arguments.output.write(Exit::Clean, |out| out.write_all(wrapped.text.as_bytes()))
        }
        Err(problems) => {
            for problem in &problems {
                let at = problem.input.zip(problem.span).map(|(source, span)| {
                    let place = LineIndex::new(&texts[source]).line_column(span.start);
                    format!("{}:{}:{}: ", shown_path(&arguments.files[source]), place.line, place.column)
                });
                notice(format_args!("{}{}", at.unwrap_or_default(), problem.message));
            }
            Ok(Exit::Findings)
        }
    }
}
