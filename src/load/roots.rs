//! Finds the projects around the selected paths.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::workspace::SETTINGS_FILE;

/// A path given by the user; it exists.
#[derive(Debug)]
pub(super) struct SelectedPath {
    pub(super) path: PathBuf,
    pub(super) is_directory: bool,
}

/// The projects to load.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Projects {
    /// The directory that contains all of them; file names are relative to it.
    pub(super) base: PathBuf,
    /// Directories with settings or a repository in them, and the one given by the user.
    pub(super) marked: Vec<PathBuf>,
    /// The common directory of the paths outside these projects, which is treated as one project.
    unmarked: Option<PathBuf>,
}

impl Projects {
    /// The directories at which projects begin, by name.
    pub(super) fn borders(&self) -> Vec<Arc<str>> {
        let mut borders: Vec<Arc<str>> =
            self.marked.iter().chain(&self.unmarked).filter_map(|root| super::name(root, &self.base)).collect();
        for border in &mut borders {
            if !border.is_empty() {
                *border = format!("{border}/").into();
            }
        }
        borders.sort();
        borders.dedup();
        borders
    }
}

/// Finds the project of each path: the nearest directory upwards with settings or a repository in it.
pub(super) fn projects(directory: &Path, selected: &[SelectedPath], root: Option<&Path>) -> Projects {
    let mut marked: Vec<PathBuf> = root.map(|root| absolute(directory, root)).into_iter().collect();
    let mut unmarked: Option<PathBuf> = None;
    for selected in selected {
        let path = &*selected.path;
        let start = if selected.is_directory { path } else { path.parent().unwrap_or(path) };
        if marked.first().is_some_and(|_| root.is_some()) {
            if !start.starts_with(&marked[0]) {
                unmarked = Some(unmarked.map_or_else(|| start.to_owned(), |it| common(&it, start)));
            }
            continue;
        }
        match start.ancestors().find(|directory| is_project(directory)) {
            Some(project) => marked.push(project.to_owned()),
            None => unmarked = Some(unmarked.map_or_else(|| start.to_owned(), |it| common(&it, start))),
        }
    }
    marked.sort();
    marked.dedup();
    let base = marked.iter().chain(&unmarked).cloned().reduce(|one, other| common(&one, &other));
    Projects { base: base.unwrap_or_else(|| directory.to_owned()), marked, unmarked }
}

/// Whether a directory has settings or a repository in it.
pub(super) fn is_project(directory: &Path) -> bool {
    directory.join(SETTINGS_FILE).is_file() || directory.join(".git").exists()
}

/// The deepest directory that contains both.
fn common(one: &Path, other: &Path) -> PathBuf {
    one.components().zip(other.components()).take_while(|(a, b)| a == b).map(|(part, _)| part).collect()
}

/// A path from the working directory, without `.` and `..`.
pub(super) fn absolute(directory: &Path, path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in directory.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}
