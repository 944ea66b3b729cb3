//! The projects around the folders of an editor, and the files in them.
//!
//! The rules are those of the command line: an editor and `lint` see the same files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::load::walk::{self, WalkLimits, Walked};
use crate::load::{roots, settings_above};
use crate::workspace::Settings;

/// The projects around the folders of an editor.
#[derive(Debug, Default)]
pub struct EditorFolders {
    /// The directory that file names are relative to; `None` without folders.
    pub base: Option<PathBuf>,
    /// The directories to walk.
    pub roots: Vec<PathBuf>,
    /// The directories at which projects begin, as [`Workspace::set_roots`](crate::workspace::Workspace::set_roots) takes them.
    pub borders: Vec<Arc<str>>,
    /// Settings above all of them.
    pub above: Option<Settings>,
}

impl EditorFolders {
    /// Finds the projects around some folders.
    pub fn new(folders: &[PathBuf]) -> Self {
        // A file system root is not a project.
        let folders = folders.iter().filter(|it| it.is_absolute() && it.parent().is_some());
        let selected: Vec<roots::SelectedPath> = folders
            .map(|it| roots::SelectedPath { path: roots::absolute(it, Path::new("")), is_directory: true })
            .collect();
        if selected.is_empty() {
            return Self::default();
        }
        let projects = roots::projects(Path::new(""), &selected, None);
        let mut walked = projects.marked.clone();
        walked.extend(selected.into_iter().map(|it| it.path));
        walked.sort();
        // Sorted, a directory comes before its content.
        walked.dedup_by(|inner, outer| inner.starts_with(&*outer));
        let borders = projects.borders();
        Self { above: settings_above(&projects.base), base: Some(projects.base), roots: walked, borders }
    }
}

/// The project a file belongs to: the nearest directory upwards with settings or a repository in it.
pub fn project_of(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|it| roots::is_project(it)).map(Path::to_owned)
}

/// The files and directories that a walk finds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FilesBelow {
    /// Manifests, in order.
    pub files: Vec<PathBuf>,
    /// The directories that were read, in order.
    pub directories: Vec<PathBuf>,
    /// The directories with files that are neither manifests nor documentation.
    pub with_other_files: BTreeSet<PathBuf>,
}

/// Everything below a directory. Ends early, with what was found so far, when `stop` is set.
pub fn files_below(root: &Path, stop: &AtomicBool) -> FilesBelow {
    collect(root, stop, None)
}

/// The files among `paths` that a walk of `root` would find; for a path that is a directory, the files below it.
pub fn files_of_paths(root: &Path, paths: &BTreeSet<PathBuf>) -> FilesBelow {
    collect(root, &AtomicBool::new(false), Some(paths))
}

fn collect(root: &Path, stop: &AtomicBool, paths: Option<&BTreeSet<PathBuf>>) -> FilesBelow {
    let limits = WalkLimits { stop: Some(stop), only: paths, ..WalkLimits::default() };
    let Walked { mut files, mut directories, with_other_files, .. } = walk::walk(root, limits);
    files.sort();
    directories.sort();
    FilesBelow { files, directories, with_other_files }
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
            (".hidden.yaml", ""),
            (".git/e.yaml", ""),
            ("node_modules/f.yaml", ""),
            ("deep/main.go", ""),
            ("deep/er/README.md", ""),
        ] {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
            std::fs::write(path, text).expect("it is written");
        }
        let layout = EditorFolders::new(&[root.join("deep"), root.join("deep/er")]);
        assert_eq!(layout.base.as_deref(), Some(&*root), "the project around the folders");
        assert_eq!(layout.roots, std::slice::from_ref(&root), "nothing is walked twice");
        let all = files_below(&root, &AtomicBool::new(false));
        assert_eq!(all.files, [".hidden/d.yaml", "a.yaml", "deep/er/b.json", "podlens.yaml"].map(|it| root.join(it)));
        let directories = [".hidden", "deep", "deep/er"].map(|it| root.join(it));
        assert_eq!(all.directories, [std::slice::from_ref(&root), &directories[..]].concat());
        assert_eq!(all.with_other_files, [root.join("deep")].into());
        let paths = ["a.yaml", "deep", "ignored/c.yaml", "gone.yaml"].map(|it| root.join(it)).into();
        let found = files_of_paths(&root, &paths);
        assert_eq!(found.files, ["a.yaml", "deep/er/b.json"].map(|it| root.join(it)));
        assert_eq!(found.directories, ["deep", "deep/er"].map(|it| root.join(it)));
        assert_eq!(files_below(&root, &AtomicBool::new(true)), FilesBelow::default());
        assert_eq!(project_of(&root.join("deep/er/b.json")), Some(root));
    }

    #[test]
    fn without_a_folder_nothing_is_walked() {
        for folders in [vec![], vec![PathBuf::from("/")], vec![PathBuf::from("relative")]] {
            let layout = EditorFolders::new(&folders);
            assert!(layout.base.is_none() && layout.roots.is_empty() && layout.borders.is_empty());
        }
    }
}
