//! Walks directories for files with the extensions of manifests and env files, without hidden and git-ignored ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::load::read::ReadError;
use crate::load::roots::{Projects, SelectedPath};
use crate::workspace;

/// A path that cannot be read, and why.
type Failure = (PathBuf, ReadError);

/// Every file of the projects with whether it is selected, and the selected paths that could not be walked. A file or
/// directory that is selected by its own name is included even if it is hidden or ignored.
pub(super) fn project_files(projects: &Projects, selected: &[SelectedPath]) -> (BTreeMap<PathBuf, bool>, Vec<Failure>) {
    let mut files = BTreeMap::new();
    let mut failures = Vec::new();
    for root in &projects.marked {
        walk(root, &mut |path| _ = files.insert(path, false), &mut failures);
    }
    for it in selected {
        if !it.is_directory {
            files.insert(it.path.clone(), true);
            continue;
        }
        let mut reached = false;
        for (_, is_selected) in files.range_mut(it.path.clone()..).take_while(|(path, _)| path.starts_with(&it.path)) {
            *is_selected = true;
            reached = true;
        }
        if !reached {
            walk(&it.path, &mut |path| _ = files.insert(path, true), &mut failures);
        }
    }
    // Failures in files that are not selected are not reported.
    failures.retain(|(path, _)| selected.iter().any(|it| path.starts_with(&it.path)));
    (files, failures)
}

/// Calls `found` with every manifest below a directory, in any order. Links to files are followed; links to directories
/// are not, because they can form a cycle. Directories that cannot be read are added to `failures`.
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

/// A walk over the files of a directory that git does not ignore.
pub(super) fn builder(directory: &Path) -> WalkBuilder {
    // In a repository, ignore files apply up to its top directory, as in git. Elsewhere only those at or below the
    // directory apply: one further up, such as that of a home directory under git, belongs to something else.
    let in_repository = directory.ancestors().any(|above| above.join(".git").exists());
    let mut walk = WalkBuilder::new(directory);
    walk.require_git(in_repository)
        .parents(in_repository)
        // The user's own git configuration does not apply: the same project gives the same files on every machine.
        .git_global(false)
        .git_exclude(false);
    walk
}

/// The manifest of an entry, or the path that could not be read.
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
            Some(Err((path, ReadError::new(format!("cannot be read: {}", without_path(&error))))))
        }
    }
}

/// Whether podlens reads a file of this name.
pub fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| workspace::is_manifest(&name.to_string_lossy()))
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

/// The error without its path, which is shown before it.
fn without_path(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithDepth { err, .. }
        | ignore::Error::WithLineNumber { err, .. } => without_path(err),
        other => other.to_string(),
    }
}
