//! `podlens lint`: reports mistakes with their positions and fixes.
//!
//! Files are checked in parallel and reported in the order of names and positions, so the same input gives the same
//! output. Files that cannot be read are reported on stderr, and the rest is checked.

mod baseline;
mod fix;
mod levels;
mod outputs;
mod project;
mod repository;
mod statistics;
mod watch;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstream::AutoStream;
use clap::{Args, ValueEnum};

use crate::cli::output::write_file;
use crate::cli::parameters::ParameterFlags;
use crate::cli::progress::Step;
use crate::cli::selection::ViewFlag;
use crate::cli::{Color, Exit, ProjectFlags, inputs, is_stdin, notice, working_directory};
use crate::diagnostic::{InputProblem, Severity};
use crate::load;
use crate::report::{Report, counted, write_diff};
use crate::rules::INVALID_SETTINGS;
use baseline::Baseline;
use outputs::Outputs;
use project::Project;

/// Find mistakes: references that are not expanded, values the API server refuses, and more
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files and directories to check; `-` is stdin [default: the working directory]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
    #[command(flatten)]
    levels: levels::Flags,
    /// The lowest level that makes the exit code 1
    #[arg(long, value_enum, default_value_t = MinLevel::Warning, value_name = "LEVEL")]
    min_level: MinLevel,
    /// Exit with 0 even if there are findings
    #[arg(long)]
    exit_zero: bool,
    /// Do not report the findings listed in this file
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings to a file for --baseline, and report none
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "fixing", "watch"])]
    write_baseline: Option<PathBuf>,
    /// Apply safe fixes
    #[arg(long, group = "fixing")]
    fix: bool,
    /// Show what --fix would change, without changing files
    #[arg(long, group = "fixing", conflicts_with_all = ["watch", "outputs"])]
    diff: bool,
    /// Also apply fixes that may change the meaning
    #[arg(long, requires = "fixing")]
    unsafe_fixes: bool,
    /// Check again whenever a file changes
    #[arg(long)]
    watch: bool,
    /// The file that stdin replaces: its settings and the files around it are used
    #[arg(long, value_name = "FILE")]
    stdin_filename: Option<PathBuf>,
    #[command(flatten)]
    given: ParameterFlags,
    #[command(flatten)]
    view: ViewFlag,
    #[command(flatten)]
    project: ProjectFlags,
    /// When to use colors
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    /// Print findings only, no summary
    #[arg(long, short)]
    quiet: bool,
    /// Print on stderr what was looked at, the number of findings of each rule, and the time of each step
    #[arg(long, conflicts_with_all = ["diff", "write_baseline"])]
    statistics: bool,
}

const EXAMPLES: &str = "Examples:
  podlens lint                         all files below the working directory
  podlens lint --fix shop              apply safe fixes
  helm template shop | podlens lint -  check the output of a chart
  podlens lint -o full -o sarif --output podlens.sarif
  podlens lint --write-baseline podlens-baseline.json; podlens lint --baseline podlens-baseline.json

An --output belongs to the --format before it. See podlens explain RULE for the documentation of a rule.";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MinLevel {
    Error,
    Warning,
    Info,
    Hint,
}

impl From<MinLevel> for Severity {
    fn from(level: MinLevel) -> Self {
        match level {
            MinLevel::Error => Self::Error,
            MinLevel::Warning => Self::Warning,
            MinLevel::Info => Self::Info,
            MinLevel::Hint => Self::Hint,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let Some(directory) = working_directory() else { return Ok(Exit::Failure) };
    let mut paths = arguments.paths.clone();
    if paths.is_empty() && arguments.stdin_filename.is_some() {
        paths.push("-".into());
    }
    let reads_stdin = paths.iter().any(|it| is_stdin(it));
    if reads_stdin && (arguments.fix || arguments.watch) {
        let (flag, instead) =
            if arguments.fix { ("--fix", "; use --diff to see the changes") } else { ("--watch", "") };
        notice(format_args!("{flag} does not work with stdin{instead}"));
        return Ok(Exit::Failure);
    }
    let baseline = arguments.baseline.as_ref().or(arguments.write_baseline.as_ref());
    let load = || {
        let mut project = Project::load(load::Request {
            directory: &directory,
            paths: &paths,
            root: arguments.project.root.as_deref(),
            stdin_name: arguments.stdin_filename.as_deref(),
            stdin: None,
        });
        let baseline = baseline.map(|it| project.loaded.absolute(&it.to_string_lossy()));
        project.baseline = baseline.and_then(|it| Path::new(&it).parent().map(Path::to_owned));
        project
    };
    if arguments.watch {
        let own = arguments.outputs.files().map(|it| directory.join(it)).collect();
        let base = load().loaded.base().to_owned();
        return watch::run(&base, &directory, own, || lint(arguments, &mut load()));
    }
    lint(arguments, &mut load())
}

fn lint(arguments: &Arguments, project: &mut Project) -> io::Result<Exit> {
    if let Err(exit) = arguments.given.apply(&mut project.loaded) {
        return Ok(exit);
    }
    let mut exit = inputs::report_unreadable(&project.loaded);
    let known = arguments.baseline.as_deref().and_then(|path| {
        let failed = |problem: &InputProblem| {
            notice(problem);
            exit = exit.max(Exit::for_problem(problem));
        };
        Baseline::read(path).inspect_err(failed).ok()
    });
    if project.documents() == 0 {
        exit = inputs::no_documents(&project.loaded, exit);
    }
    exit = exit.max(project.report_unmatched_views(&arguments.view));
    let mut checked = project.check(arguments);
    let mut fixed = fix::Outcome::default();
    if arguments.fix || arguments.diff {
        fixed = fix::run(project, &mut checked, arguments);
    }
    if checked.failed || fixed.failed {
        exit = exit.max(Exit::Failure);
    }
    if arguments.diff {
        return diff(arguments, project, &fixed, exit);
    }
    project.progress.begin(Step::Write, Some(checked.diagnostics.len()));
    let mut report = Report::new(&checked.diagnostics, project);
    project.progress.hide();
    report.problems = project.problems();
    report.root = project.repository.uri();
    report.summary.passed_over = project.passed_over();
    if report.findings.iter().any(|it| it.rule == INVALID_SETTINGS) {
        exit = exit.max(Exit::Failure);
    }
    if let Some(path) = &arguments.write_baseline {
        return write_baseline(path, &report, exit);
    }
    if let Some(known) = known {
        let known_findings = known.remove_known(&mut report);
        say(arguments, known_findings, &format!("in the baseline {} not reported", known.name));
    }
    say(arguments, fixed.fixed, "fixed");
    report.count(project.loaded.reported.len(), project.documents(), project.objects());
    if !arguments.outputs.write(&report, &project.excerpts(), arguments.color, arguments.quiet)? {
        exit = exit.max(Exit::Failure);
    }
    project.progress.end();
    if arguments.statistics {
        statistics::print(project, &report);
    }
    let highest = report.findings.iter().map(|it| it.level).max();
    if exit == Exit::Clean && !arguments.exit_zero && highest >= Some(arguments.min_level.into()) {
        exit = Exit::Findings;
    }
    Ok(exit)
}

/// Prints a number of findings on stderr, unless it is 0.
fn say(arguments: &Arguments, number: usize, what: &str) {
    if number > 0 && !arguments.quiet {
        notice(format_args!("{} {what}", counted(number, "finding")));
    }
}

fn write_baseline(path: &std::path::Path, report: &Report, exit: Exit) -> io::Result<Exit> {
    let (text, number) = Baseline::text(report);
    if !write_file(path, text) {
        return Ok(exit.max(Exit::Failure));
    }
    notice(format_args!("{} written to {}", counted(number, "finding"), path.display()));
    Ok(exit)
}

/// Prints the changes. Any change gives the exit code of a finding.
fn diff(arguments: &Arguments, project: &Project, fixed: &fix::Outcome, exit: Exit) -> io::Result<Exit> {
    let stdout = io::stdout();
    let mut text = Vec::new();
    let mut out = AutoStream::new(&mut text, arguments.color.choice());
    for (file, change) in &project.changed {
        write_diff(&mut out, &project.loaded.display(file), &change.old, &change.new)?;
    }
    stdout.lock().write_all(&text)?;
    say(arguments, fixed.fixed, "would be fixed");
    let changes = !project.changed.is_empty() && !arguments.exit_zero;
    Ok(if changes { exit.max(Exit::Findings) } else { exit })
}
