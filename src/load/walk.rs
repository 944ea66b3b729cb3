//! Walking a directory: manifests by their extension, what git ignores and hidden files left out.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

/// Calls `found` with every manifest below a directory. Links to files are followed, links to directories are not, so
/// that no link leads in a circle. Directories that cannot be read are added to `errors`.
pub(super) fn walk(directory: &Path, found: &mut dyn FnMut(PathBuf), errors: &mut Vec<(PathBuf, String)>) {
    let walk = WalkBuilder::new(directory)
        // What counts is in the project, not in the user's own configuration: the same files everywhere.
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .build();
    for entry in walk {
        match entry {
            Ok(entry) => {
                let is_file = match entry.file_type() {
                    Some(kind) if kind.is_symlink() => entry.path().is_file(),
                    Some(kind) => kind.is_file(),
                    None => false,
                };
                if is_file && is_manifest(entry.path()) {
                    found(entry.into_path());
                }
            }
            Err(error) => {
                let path = path_of(&error).unwrap_or(directory).to_owned();
                errors.push((path, format!("cannot be read: {}", plain(&error))));
            }
        }
    }
}

fn is_manifest(path: &Path) -> bool {
    path.extension()
        .and_then(OsStr::to_str)
        .is_some_and(|it| ["yaml", "yml", "json"].iter().any(|known| it.eq_ignore_ascii_case(known)))
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
