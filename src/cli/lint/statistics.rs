//! `--statistics`: what a run looked at, what it found and how long its steps took.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use crate::cli::lint::project::Project;
use crate::report::Report;
use crate::rules::RULES;
use crate::syntax::dollar_tokens;

/// What was looked at in the checked files, as it is written.
#[derive(Default)]
struct Counts {
    documents: usize,
    objects: usize,
    containers: usize,
    references: usize,
}

/// Prints the statistics of a run on stderr, so that they are not among the findings.
pub(super) fn print(project: &Project, report: &Report) {
    // If stderr is closed, there is nowhere to report that.
    let _ = write(&mut io::stderr().lock(), project, report);
}

fn write(out: &mut dyn Write, project: &Project, report: &Report) -> io::Result<()> {
    let counts = counts(project);
    writeln!(out, "Looked at")?;
    let checked = project.loaded.reported.len();
    let read = project.loaded.workspace.snapshot().files().count();
    row(out, "files", checked)?;
    row(out, "other files", read.saturating_sub(checked))?;
    row(out, "documents", counts.documents)?;
    row(out, "objects", counts.objects)?;
    row(out, "containers", counts.containers)?;
    row(out, "references", counts.references)?;
    writeln!(out, "Found")?;
    row(out, "findings", report.findings.len())?;
    let mut by_rule: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &report.findings {
        *by_rule.entry(finding.rule).or_default() += 1;
    }
    for rule in RULES {
        if let Some(number) = by_rule.get(rule.name) {
            row(out, rule.name, *number)?;
        }
    }
    writeln!(out, "Time in ms")?;
    let times = project.progress.times();
    for (step, time) in times {
        time_row(out, step.name(), time)?;
    }
    time_row(out, "total", times.iter().map(|(_, time)| *time).sum())
}

fn row(out: &mut dyn Write, name: &str, number: usize) -> io::Result<()> {
    writeln!(out, "  {name:<34}{number:>10}")
}

fn time_row(out: &mut dyn Write, name: &str, time: Duration) -> io::Result<()> {
    writeln!(out, "  {name:<34}{:>10.1}", time.as_secs_f64() * 1e3)
}

fn counts(project: &Project) -> Counts {
    let snapshot = project.loaded.workspace.snapshot();
    let mut counts = Counts::default();
    for file in project.loaded.reported.iter().filter_map(|it| snapshot.file(it)) {
        counts.documents += file.document_count;
        counts.objects += file.objects.len();
        for container in file.objects.iter().flat_map(|it| &it.model.pods).flat_map(|it| &it.containers) {
            counts.containers += 1;
            let tokens = container
                .texts()
                .flat_map(|(_, text)| dollar_tokens(&text.value).filter(|it| it.name(&text.value).is_some()));
            counts.references += tokens.count();
        }
    }
    counts
}
