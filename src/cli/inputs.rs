//! Notices about inputs: what could not be read, and why there is nothing to show.

use std::sync::Arc;

use crate::build::{self, BuiltObject};
use crate::cli::{Exit, notice};
use crate::load::{Loaded, STDIN_NAME};
use crate::rules;
use crate::text::{LineColumn, LineIndex};
use crate::workspace::Snapshot;

/// Reports inputs that could not be read, syntax errors and mistakes in the settings.
pub(super) fn report_problems(loaded: &Loaded) -> Exit {
    let mut exit = report_unreadable(loaded);
    let snapshot = loaded.workspace.snapshot();
    for path in &loaded.reported {
        let Some(file) = snapshot.file(path) else { continue };
        let may_have_objects = || loaded.text(path).is_some_and(|text| rules::may_have_objects(&text));
        // As in `lint`: a file that is not a manifest is not checked.
        if file.errors.is_empty() || file.objects.is_empty() && !may_have_objects() {
            continue;
        }
        for error in &file.errors {
            let place = file.lines.line_column(error.span.start);
            let shown = loaded.display(path);
            notice(format_args!(
                "{shown}:{}:{}: {}; the rest is shown",
                place.line,
                place.column,
                error.message(&file.lines)
            ));
            exit = exit.max(Exit::Findings);
        }
    }
    for settings in snapshot.all_settings() {
        for mistake in rules::settings_errors(settings) {
            let path = &settings.file;
            // Settings above the workspace are not among its files.
            let lines = LineIndex::new(&loaded.text(path).unwrap_or_default());
            let LineColumn { line, column } = lines.line_column(mistake.span.start);
            notice(format_args!("{}:{line}:{column}: {}", loaded.display(path), mistake.message));
            exit = Exit::Failure;
        }
    }
    exit
}

/// Reports inputs that could not be read.
pub(super) fn report_unreadable(loaded: &Loaded) -> Exit {
    loaded.problems.iter().for_each(notice);
    loaded.problems.iter().map(Exit::for_problem).max().unwrap_or(Exit::Clean)
}

/// The exit code of a command that found no documents, after a notice that says why.
pub(super) fn no_documents(loaded: &Loaded, exit: Exit) -> Exit {
    if loaded.problems.is_empty() {
        notice(why_no_documents(loaded));
    }
    exit.max(Exit::NoInput)
}

/// The workloads of the selected files, in order.
pub(super) fn workloads<'s>(loaded: &'s Loaded, snapshot: &'s Snapshot) -> Vec<BuiltObject<'s>> {
    let files = loaded.reported.iter().filter_map(|path| snapshot.entry(path));
    files.flat_map(|(path, file)| build::all_views(snapshot, path, file)).filter(|it| it.is_workload()).collect()
}

/// The exit code of a command that found no workloads, after a notice that says why.
pub(super) fn no_workloads(loaded: &Loaded, exit: Exit) -> Exit {
    let snapshot = loaded.workspace.snapshot();
    let has_objects = |path: &Arc<str>| snapshot.file(path).is_some_and(|it| !it.objects.is_empty());
    if loaded.reported.iter().any(has_objects) {
        notice("no workloads found: no object here has containers");
        return exit;
    }
    if loaded.problems.is_empty() && exit == Exit::Clean {
        let documents = loaded.reported.iter().filter_map(|it| snapshot.file(it)).any(|it| it.document_count > 0);
        match (documents, &*loaded.reported) {
            (false, _) => notice(why_no_documents(loaded)),
            (true, [file]) => notice(format_args!("{} has no Kubernetes objects", shown(loaded, file))),
            (true, files) => notice(format_args!("none of the {} files has Kubernetes objects", files.len())),
        }
    }
    // A file with a syntax error was read, and may have a workload.
    if exit == Exit::Clean { Exit::NoInput } else { exit }
}

fn why_no_documents(loaded: &Loaded) -> String {
    match &*loaded.reported {
        [] => "no manifests found: expected .yaml, .yml or .json files that are not ignored or excluded".into(),
        [file] if loaded.text(file).is_some_and(|it| it.trim().is_empty()) => {
            format!("{} is empty", shown(loaded, file))
        }
        [file] => format!("{} holds no documents", shown(loaded, file)),
        files => format!("none of the {} files holds a document", files.len()),
    }
}

fn shown(loaded: &Loaded, file: &str) -> String {
    if file == STDIN_NAME { "stdin".into() } else { loaded.display(file) }
}
