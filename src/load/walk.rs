//! Walking directories: manifests and env files by their extension, what git ignores and hidden files left out.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::load::roots::{Asked, Projects};

/// A path that cannot be read, and why.
type Failure = (PathBuf, String);

/// Every file of the projects, with whether it was asked for, and what could not be walked of what was. A file or
/// directory that is named counts even if it is hidden or ignored.
pub(super) fn select(projects: &Projects, asked: &[Asked]) -> (BTreeMap<PathBuf, bool>, Vec<Failure>) {
    let mut files = BTreeMap::new();
    let mut failures = Vec::new();
    for root in &projects.marked {
        walk(root, &mut |path| _ = files.insert(path, false), &mut failures);
    }
    for it in asked {
        if !it.is_directory {
            files.insert(it.path.clone(), true);
            continue;
        }
        let mut reached = false;
        for (_, is_asked) in files.range_mut(it.path.clone()..).take_while(|(path, _)| path.starts_with(&it.path)) {
            *is_asked = true;
            reached = true;
        }
        if !reached {
            walk(&it.path, &mut |path| _ = files.insert(path, true), &mut failures);
        }
    }
    // What is wrong where nobody asked is not worth a word.
    failures.retain(|(path, _)| asked.iter().any(|it| path.starts_with(&it.path)));
    (files, failures)
}

/// Calls `found` with every manifest below a directory, in any order. Links to files are followed, links to directories are not, so
/// that no link leads in a circle. Directories that cannot be read are added to `failures`.
fn walk(directory: &Path, found: &mut dyn FnMut(PathBuf), failures: &mut Vec<Failure>) {
    let walk = builder(directory).build_parallel();
    let (sender, entries) = mpsc::channel();
    walk.run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            if let Some(entry) = manifest(entry, directory) {
                // The receiver lives as long as the walk.
                let _ = sender.send(entry);
            }
            WalkState::Continue
        })
    });
    drop(sender);
    for entry in entries {
        match entry {
            Ok(path) => found(path),
            Err(failure) => failures.push(failure),
        }
    }
}

/// A walk that sees what git sees of a directory.
pub(super) fn builder(directory: &Path) -> WalkBuilder {
    // In a repository its ignore files count up to its top, as git has it. Elsewhere those from the directory on do:
    // one further up, such as that of a home directory under git, was not meant.
    let in_repository = directory.ancestors().any(|above| above.join(".git").exists());
    let mut walk = WalkBuilder::new(directory);
    walk.require_git(in_repository)
        .parents(in_repository)
        // What counts is in the project, not in the user's own configuration: the same files everywhere.
        .git_global(false)
        .git_exclude(false);
    walk
}

/// A manifest, or what could not be read.
fn manifest(entry: Result<DirEntry, ignore::Error>, directory: &Path) -> Option<Result<PathBuf, Failure>> {
    match entry {
        Ok(entry) => {
            let is_file = match entry.file_type() {
                Some(kind) if kind.is_symlink() => entry.path().is_file(),
                Some(kind) => kind.is_file(),
                None => false,
            };
            (is_file && is_manifest(entry.path())).then(|| Ok(entry.into_path()))
        }
        Err(error) => {
            let path = path_of(&error).unwrap_or(directory).to_owned();
            Some(Err((path, format!("cannot be read: {}", plain(&error)))))
        }
    }
}

/// Whether a path is called like a manifest.
pub(super) fn is_manifest(path: &Path) -> bool {
    path.extension()
        .and_then(OsStr::to_str)
        .is_some_and(|it| ["yaml", "yml", "json", "env", "params"].iter().any(|known| it.eq_ignore_ascii_case(known)))
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

/// The error itself: its place is told beside it.
fn plain(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithDepth { err, .. }
        | ignore::Error::WithLineNumber { err, .. } => plain(err),
        other => other.to_string(),
    }
}
