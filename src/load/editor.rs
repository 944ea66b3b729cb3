//! What an editor opens: the projects around its folders, and the files in them that count.
//!
//! The rules are those of the command line: an editor and `lint` see the same files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use ignore::WalkState;

use crate::load::{roots, settings_above, walk};
use crate::workspace::Settings;

/// Where the files of an editor's folders are, and how they are named.
#[derive(Debug, Default)]
pub struct Layout {
    /// The directory the names of files are relative to; nothing without folders.
    pub base: Option<PathBuf>,
    /// The directories to walk.
    pub roots: Vec<PathBuf>,
    /// The borders between projects, as [`Workspace::set_roots`](crate::workspace::Workspace::set_roots) takes them.
    pub borders: Vec<Arc<str>>,
    /// Settings above all of them.
    pub above: Option<Settings>,
}

impl Layout {
    /// The layout of some folders.
    pub fn of(folders: &[PathBuf]) -> Self {
        // Without a folder nothing is relative to anything. A whole disk is nobody's project.
        let folders = folders.iter().filter(|it| it.is_absolute() && it.parent().is_some());
        let asked: Vec<roots::Asked> =
            folders.map(|it| roots::Asked { path: roots::absolute(it, Path::new("")), is_directory: true }).collect();
        if asked.is_empty() {
            return Self::default();
        }
        let projects = roots::projects(Path::new(""), &asked, None);
        let mut walked = projects.marked.clone();
        walked.extend(asked.into_iter().map(|it| it.path));
        walked.sort();
        // Sorted, a directory stands before what is in it.
        walked.dedup_by(|inner, outer| inner.starts_with(&*outer));
        let borders = projects.borders();
        Self { above: settings_above(&projects.base), base: Some(projects.base), roots: walked, borders }
    }
}

/// The project a file belongs to: the nearest directory upwards with settings or a repository in it.
pub fn project_of(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|it| roots::is_project(it)).map(Path::to_owned)
}

/// What a walk finds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// Manifests, in order.
    pub files: Vec<PathBuf>,
    /// The directories that were looked into, in order.
    pub directories: Vec<PathBuf>,
}

/// Everything below a directory. Ends early, with what there is, when `stop` says so.
pub fn files_below(root: &Path, stop: &AtomicBool) -> Selected {
    collect(root, stop, None)
}

/// Which of some paths count below a directory; for a path of a directory, what is in it.
pub fn selected(root: &Path, paths: &BTreeSet<PathBuf>) -> Selected {
    collect(root, &AtomicBool::new(false), Some(paths))
}

fn collect(root: &Path, stop: &AtomicBool, paths: Option<&BTreeSet<PathBuf>>) -> Selected {
    let mut builder = walk::builder(root);
    if let Some(paths) = paths.cloned() {
        builder.filter_entry(move |entry| is_in(&paths, entry.path()) || leads_to(&paths, entry.path()));
    }
    let (sender, entries) = mpsc::channel();
    builder.build_parallel().run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            if stop.load(Ordering::Relaxed) {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else { return WalkState::Continue };
            let kind = entry.file_type();
            let is_directory = kind.is_some_and(|it| it.is_dir());
            let is_file = kind.is_some_and(|it| it.is_file() || (it.is_symlink() && entry.path().is_file()));
            if is_directory || (is_file && walk::is_manifest(entry.path())) {
                // The receiver lives as long as the walk.
                let _ = sender.send((entry.into_path(), is_directory));
            }
            WalkState::Continue
        })
    });
    drop(sender);
    let mut found = Selected::default();
    for (path, is_directory) in entries {
        // Directories on the way to a path were looked through, not into.
        if paths.is_none_or(|paths| is_in(paths, &path)) {
            if is_directory { &mut found.directories } else { &mut found.files }.push(path);
        }
    }
    found.files.sort();
    found.directories.sort();
    found
}

/// Whether a path is one of some, or in one of them.
fn is_in(paths: &BTreeSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|it| paths.contains(it))
}

/// Whether a directory leads to one of some paths.
fn leads_to(paths: &BTreeSet<PathBuf>, directory: &Path) -> bool {
    paths.range(directory.to_owned()..).next().is_some_and(|it| it.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_sees_what_lint_sees() {
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path().canonicalize().expect("it is there");
        for (file, text) in [
            ("podlens.yaml", ""),
            (".gitignore", "ignored\n"),
            ("a.yaml", ""),
            ("notes.txt", ""),
            ("deep/er/b.json", ""),
            ("ignored/c.yaml", ""),
            (".hidden/d.yaml", ""),
        ] {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
            std::fs::write(path, text).expect("it is written");
        }
        let layout = Layout::of(&[root.join("deep"), root.join("deep/er")]);
        assert_eq!(layout.base.as_deref(), Some(&*root), "the project around the folders");
        assert_eq!(layout.roots, std::slice::from_ref(&root), "nothing is walked twice");
        let all = files_below(&root, &AtomicBool::new(false));
        assert_eq!(all.files, ["a.yaml", "deep/er/b.json", "podlens.yaml"].map(|it| root.join(it)));
        assert_eq!(all.directories, [root.clone(), root.join("deep"), root.join("deep/er")]);
        let asked = ["a.yaml", "deep", "ignored/c.yaml", "gone.yaml"].map(|it| root.join(it)).into();
        let found = selected(&root, &asked);
        assert_eq!(found.files, ["a.yaml", "deep/er/b.json"].map(|it| root.join(it)));
        assert_eq!(found.directories, ["deep", "deep/er"].map(|it| root.join(it)));
        assert_eq!(files_below(&root, &AtomicBool::new(true)), Selected::default());
        assert_eq!(project_of(&root.join("deep/er/b.json")), Some(root));
    }

    #[test]
    fn without_a_folder_there_is_nothing_to_walk() {
        for folders in [vec![], vec![PathBuf::from("/")], vec![PathBuf::from("relative")]] {
            let layout = Layout::of(&folders);
            assert!(layout.base.is_none() && layout.roots.is_empty() && layout.borders.is_empty());
        }
    }
}
