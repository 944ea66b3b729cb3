//! `podlens lint`: what will not work, with exact places and fixes.
//!
//! Every file is checked on its own, on all cores, and told in the order of names and places: the same bytes give the
//! same output. What cannot be read is said on stderr, and the rest is checked.

mod baseline;
mod fix;
mod levels;
mod outputs;
mod project;
mod watch;

use std::io::{self, Write};
use std::path::PathBuf;

use anstream::AutoStream;
use clap::{Args, ValueEnum};

use crate::cli::{Color, Exit, notice, working_directory};
use crate::diagnostic::Severity;
use crate::ide::INVALID_SETTINGS;
use crate::load;
use crate::report;
use crate::report::findings::Report;
use crate::report::summary::counted;
use crate::workspace::KubernetesVersion;
use baseline::Baseline;
use outputs::Outputs;
use project::Project;

/// Find what will not work: references that lead nowhere, values the API refuses, and more
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
    /// End with 0 even if there are findings
    #[arg(long)]
    exit_zero: bool,
    /// Leave out findings that this file knows
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings to a file that --baseline reads, and report none
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "fixing", "watch"])]
    write_baseline: Option<PathBuf>,
    /// Mend what can be mended without a doubt
    #[arg(long, group = "fixing")]
    fix: bool,
    /// Show what --fix would change, and change nothing
    #[arg(long, group = "fixing", conflicts_with_all = ["watch", "outputs"])]
    diff: bool,
    /// Mend also what may change the meaning
    #[arg(long, requires = "fixing")]
    unsafe_fixes: bool,
    /// Check again whenever a file changes
    #[arg(long)]
    watch: bool,
    /// The file that stdin stands for: its settings and its neighbours count
    #[arg(long, value_name = "FILE")]
    stdin_filename: Option<PathBuf>,
    /// The directory in which objects are looked for, instead of the nearest one with podlens.yaml or .git
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The Kubernetes release the manifests are for, such as 1.34, instead of the settings' one
    #[arg(long, value_name = "VERSION")]
    kubernetes: Option<KubernetesVersion>,
    /// When to use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    /// Findings only: no summary
    #[arg(long, short)]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  podlens lint                         everything below the working directory
  podlens lint --fix shop              mend what can be mended
  helm template shop | podlens lint -  what a chart makes
  podlens lint --format full --format sarif --output podlens.sarif
  podlens lint --write-baseline podlens-baseline.json; podlens lint --baseline podlens-baseline.json

A --output belongs to the --format before it. podlens explain RULE says more about a rule.";

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
    let Some(directory) = working_directory() else { return Ok(Exit::Trouble) };
    let mut paths = arguments.paths.clone();
    if paths.is_empty() && arguments.stdin_filename.is_some() {
        paths.push("-".into());
    }
    let reads_stdin = paths.iter().any(|it| it.as_os_str() == "-");
    if reads_stdin && (arguments.fix || arguments.watch) {
        let (flag, instead) = if arguments.fix { ("--fix", "; --diff shows the changes") } else { ("--watch", "") };
        notice(format_args!("{flag} works on files, not on stdin{instead}"));
        return Ok(Exit::Trouble);
    }
    let load = || {
        Project::load(load::Request {
            directory: &directory,
            paths: &paths,
            root: arguments.root.as_deref(),
            stdin_name: arguments.stdin_filename.as_deref(),
            stdin: None,
        })
    };
    if arguments.watch {
        let own = arguments.outputs.files().map(|it| directory.join(it)).collect();
        let base = load().loaded.base().to_owned();
        return watch::run(&base, &directory, own, || lint(arguments, &mut load()));
    }
    lint(arguments, &mut load())
}

fn lint(arguments: &Arguments, project: &mut Project) -> io::Result<Exit> {
    let mut exit = Exit::Clean;
    for problem in &project.loaded.problems {
        notice(format_args!("{}: {}", problem.file, problem.message));
        exit = Exit::Trouble;
    }
    let known = arguments.baseline.as_deref().and_then(|path| {
        Baseline::read(path).inspect_err(|message| notice(format_args!("{}: {message}", path.display()))).ok()
    });
    if arguments.baseline.is_some() && known.is_none() {
        exit = Exit::Trouble;
    }
    if project.documents() == 0 {
        exit = nothing_to_check(project, exit);
    }
    let mut checked = project.check(&arguments.levels, arguments.kubernetes);
    let mut fixed = fix::Outcome::default();
    if arguments.fix || arguments.diff {
        fixed = fix::run(project, &mut checked, arguments);
    }
    if checked.failed {
        exit = exit.max(Exit::Trouble);
    }
    if arguments.diff {
        return diff(arguments, project, &fixed, exit);
    }
    if arguments.fix && !project.write() {
        exit = exit.max(Exit::Trouble);
    }
    let mut report = Report::new(&checked.diagnostics, project);
    report.problems.clone_from(&project.loaded.problems);
    if report.findings.iter().any(|it| it.rule == INVALID_SETTINGS) {
        exit = exit.max(Exit::Trouble);
    }
    if let Some(path) = &arguments.write_baseline {
        return write_baseline(path, &report, exit);
    }
    if let Some(known) = known {
        let left_out = known.leave_out(&mut report);
        say(arguments, left_out, "finding", &format!("left out, known to {}", known.name));
    }
    say(arguments, fixed.fixed, "finding", "mended");
    report.count(project.loaded.reported.len(), project.documents());
    if !arguments.outputs.write(&report, &project.excerpts(), arguments.color, arguments.quiet)? {
        exit = exit.max(Exit::Trouble);
    }
    let loudest = report.findings.iter().map(|it| it.level).max();
    if exit == Exit::Clean && !arguments.exit_zero && loudest >= Some(arguments.min_level.into()) {
        exit = Exit::Findings;
    }
    Ok(exit)
}

/// Tells a number, unless it is none.
fn say(arguments: &Arguments, number: usize, name: &str, what: &str) {
    if number > 0 && !arguments.quiet {
        notice(format_args!("{} {what}", counted(number, name)));
    }
}

/// Why there is nothing to check. Files that were asked for and could not be read are trouble; that there are none is not.
fn nothing_to_check(project: &Project, exit: Exit) -> Exit {
    let problems = &project.loaded.problems;
    if problems.is_empty() {
        notice("no manifests found: expected .yaml, .yml or .json files, not ignored or excluded");
    }
    let all_missing = problems.iter().all(|it| it.message == load::NO_SUCH_FILE);
    if all_missing { Exit::Nothing } else { exit }
}

fn write_baseline(path: &std::path::Path, report: &Report, exit: Exit) -> io::Result<Exit> {
    let (text, number) = Baseline::text(report);
    match std::fs::write(path, text) {
        Ok(()) => notice(format_args!("{} written to {}", counted(number, "finding"), path.display())),
        Err(error) => {
            notice(format_args!("{}: cannot be written: {error}", path.display()));
            return Ok(exit.max(Exit::Trouble));
        }
    }
    Ok(exit)
}

/// Prints what would change. That something would is a finding.
fn diff(arguments: &Arguments, project: &Project, fixed: &fix::Outcome, exit: Exit) -> io::Result<Exit> {
    let stdout = io::stdout();
    let mut text = Vec::new();
    let mut out = AutoStream::new(&mut text, arguments.color.choice());
    for (file, change) in &project.changed {
        report::diff::write(&mut out, &project.loaded.display(file), &change.old, &change.new)?;
    }
    stdout.lock().write_all(&text)?;
    say(arguments, fixed.fixed, "finding", "would be mended");
    let changes = !project.changed.is_empty() && !arguments.exit_zero;
    Ok(if changes { exit.max(Exit::Findings) } else { exit })
}
