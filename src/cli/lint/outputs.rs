//! `--format` and `--output`: several formats at once, each to its own file.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, ValueEnum, value_parser};

use crate::cli::Color;
use crate::cli::output::write_file;
use crate::report::{
    Drawing, Report, Texts, write_checkstyle, write_concise, write_full, write_github, write_gitlab, write_json,
    write_junit, write_rdjson, write_sarif,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Findings with the source around them
    Full,
    /// One line per finding
    Concise,
    /// For programs: podlens/lint/v1
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub workflow commands
    Github,
    /// GitLab Code Quality
    Gitlab,
    /// JUnit XML
    Junit,
    /// Checkstyle XML
    Checkstyle,
    /// Reviewdog's JSON
    Rdjson,
}

/// Formats and the file of each; `None` is stdout.
#[derive(Clone, Debug)]
pub(super) struct Outputs(Vec<(Format, Option<PathBuf>)>);

impl Outputs {
    /// The files that are written.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|(_, file)| file.as_deref())
    }

    /// Writes every output. Returns whether all files could be written; prints a notice for each that could not.
    pub(super) fn write(&self, report: &Report, texts: &Texts<'_>, color: Color, quiet: bool) -> io::Result<bool> {
        let mut all = true;
        for (format, file) in &self.0 {
            match file {
                None => {
                    let stdout = io::stdout();
                    let width = stdout.is_terminal().then(terminal_size::terminal_size).flatten();
                    let width = width.map(|(width, _)| usize::from(width.0));
                    let text = format.text(report, texts, color.choice(), width, quiet)?;
                    let mut stdout = stdout.lock();
                    stdout.write_all(&text)?;
                    stdout.flush()?;
                }
                Some(path) => {
                    let text = format.text(report, texts, ColorChoice::Never, None, quiet)?;
                    all &= write_file(path, text);
                }
            }
        }
        Ok(all)
    }
}

impl Format {
    fn text(
        self,
        report: &Report,
        texts: &Texts<'_>,
        choice: ColorChoice,
        width: Option<usize>,
        quiet: bool,
    ) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        match self {
            Self::Full => {
                let drawing = Drawing { color: choice != ColorChoice::Never, width, quiet };
                write_full(&mut AutoStream::new(&mut text, choice), report, texts, drawing)?;
            }
            Self::Concise => write_concise(&mut AutoStream::new(&mut text, choice), report, quiet)?,
            // Formats for programs have no colors, and escape codes in file names are not filtered.
            _ => self.write(&mut text, report)?,
        }
        Ok(text)
    }

    fn write(self, out: &mut dyn Write, report: &Report) -> io::Result<()> {
        match self {
            Self::Full | Self::Concise => Ok(()),
            Self::Json => write_json(out, report),
            Self::Sarif => write_sarif(out, report),
            Self::Github => write_github(out, report),
            Self::Gitlab => write_gitlab(out, report),
            Self::Junit => write_junit(out, report),
            Self::Checkstyle => write_checkstyle(out, report),
            Self::Rdjson => write_rdjson(out, report),
        }
    }
}

/// Not derived, because the relative order of the two flags matters.
impl Args for Outputs {
    fn augment_args(command: Command) -> Command {
        let format = Arg::new("format")
            .long("format")
            .short('o')
            .value_name("FORMAT")
            .value_parser(value_parser!(Format))
            .action(clap::ArgAction::Append)
            .group("outputs")
            .help("The output format; can be repeated, each with its own --output [default: full]");
        let output = Arg::new("output")
            .long("output")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .action(clap::ArgAction::Append)
            .group("outputs")
            .help("The file for the --format before it; `-` is stdout [default: -]");
        let group = clap::ArgGroup::new("outputs").multiple(true);
        command.arg(format).arg(output).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Outputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let formats = positions::<Format>(matches, "format");
        let outputs = positions::<PathBuf>(matches, "output");
        pairs(&formats, &outputs).map(Self).map_err(|message| Error::raw(ErrorKind::ArgumentConflict, message))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The values of a flag with their positions on the command line.
fn positions<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Vec<(usize, T)> {
    let values = matches.get_many::<T>(name).into_iter().flatten().cloned();
    matches.indices_of(name).into_iter().flatten().zip(values).collect()
}

/// Assigns each output to the format before it. A single format and a single output belong together in any order.
fn pairs(formats: &[(usize, Format)], outputs: &[(usize, PathBuf)]) -> Result<Vec<(Format, Option<PathBuf>)>, String> {
    let file = |path: &PathBuf| (path.as_os_str() != "-").then(|| path.clone());
    let mut pairs: Vec<(usize, Format, Option<&PathBuf>)> = formats.iter().map(|(at, it)| (*at, *it, None)).collect();
    if pairs.is_empty() {
        pairs.push((0, Format::Full, None));
    }
    let single = pairs.len() == 1;
    for (at, path) in outputs {
        let owner = pairs.iter_mut().rev().find(|(format_at, ..)| format_at < at || single);
        match owner {
            Some((_, _, file @ None)) => *file = Some(path),
            Some((_, format, Some(_))) => {
                let name = format.to_possible_value().map_or_else(String::new, |it| it.get_name().to_owned());
                return Err(format!("two outputs for the format {name}: repeat --format before the second\n"));
            }
            None => return Err("--output comes after the --format it belongs to\n".into()),
        }
    }
    let pairs: Vec<_> = pairs.into_iter().map(|(_, format, path)| (format, path.and_then(file))).collect();
    if pairs.iter().filter(|(_, path)| path.is_none()).count() > 1 {
        return Err("two formats on stdout: give all but one an --output\n".into());
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_belongs_to_the_format_before_it() {
        let (full, json) = (Format::Full, Format::Json);
        let file = |name: &str| PathBuf::from(name);
        assert_eq!(pairs(&[], &[]), Ok(vec![(full, None)]));
        assert_eq!(pairs(&[], &[(1, file("a"))]), Ok(vec![(full, Some(file("a")))]));
        assert_eq!(pairs(&[(2, json)], &[(1, file("a"))]), Ok(vec![(json, Some(file("a")))]));
        let both = pairs(&[(1, full), (2, json)], &[(3, file("a"))]);
        assert_eq!(both, Ok(vec![(full, None), (json, Some(file("a")))]));
        let dash = pairs(&[(1, full), (3, json)], &[(2, file("a")), (4, file("-"))]);
        assert_eq!(dash, Ok(vec![(full, Some(file("a"))), (json, None)]));
        assert!(pairs(&[(1, full), (2, json)], &[]).is_err());
        assert!(pairs(&[(2, full), (3, json)], &[(1, file("a"))]).is_err());
        assert!(pairs(&[(1, full)], &[(2, file("a")), (3, file("b"))]).is_err());
    }
}
