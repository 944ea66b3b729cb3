//! Walks directories for files with the extensions of manifests and env files. Hidden directories are walked, since
//! `.openshift` and `.tekton` hold manifests; hidden files, what git ignores, and the directories of version control and
//! of tools are passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::load::progress::LoadProgress;
use crate::load::read::ReadError;
use crate::load::roots::{Projects, SelectedPath};
use crate::workspace;

/// A path that cannot be read, and why.
type Failure = (PathBuf, ReadError);

/// The directories of version control, which are never read.
const VERSION_CONTROL: [&str; 3] = [".git", ".hg", ".svn"];
/// The directories in which tools keep what they download, which are never read.
const TOOL_DIRECTORIES: [&str; 5] = [".terraform", ".venv", ".tox", ".cache", "node_modules"];

/// What a walk passes over. Of a directory the content is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Manifests that git ignores.
    pub ignored_files: usize,
    /// Directories that git ignores.
    pub ignored_directories: usize,
    /// Hidden files with the extension of a manifest.
    pub hidden_files: usize,
    /// Directories of tools, such as `node_modules`.
    pub tool_directories: usize,
    /// Files that the settings exclude.
    pub excluded_files: usize,
}

impl AddAssign for PassedOver {
    fn add_assign(&mut self, other: Self) {
        self.ignored_files += other.ignored_files;
        self.ignored_directories += other.ignored_directories;
        self.hidden_files += other.hidden_files;
        self.tool_directories += other.tool_directories;
        self.excluded_files += other.excluded_files;
    }
}

/// What is below a directory.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Manifests, in any order.
    pub(super) files: Vec<PathBuf>,
    /// The directories that were read, in any order.
    pub(super) directories: Vec<PathBuf>,
    /// The directories with files that are neither manifests nor documentation.
    pub(super) with_other_files: BTreeSet<PathBuf>,
    /// What is passed over in each directory, if it is counted.
    passed_over: BTreeMap<PathBuf, PassedOver>,
    /// What could not be read.
    failures: Vec<Failure>,
}

/// What a walk is limited to.
#[derive(Clone, Copy, Default)]
pub(super) struct WalkLimits<'w> {
    /// Ends the walk early when it is set.
    pub(super) stop: Option<&'w AtomicBool>,
    /// The files and directories to find; everything if it is `None`.
    pub(super) only: Option<&'w BTreeSet<PathBuf>>,
    /// Whether to count what is passed over.
    pub(super) counts: bool,
    /// Is called for each file.
    pub(super) progress: Option<&'w dyn LoadProgress>,
}

/// The files of projects.
#[derive(Debug, Default)]
pub(super) struct ProjectFiles {
    /// Every file with whether it is selected.
    pub(super) files: BTreeMap<PathBuf, bool>,
    /// The directories with files that are neither manifests nor documentation.
    pub(super) with_other_files: BTreeSet<PathBuf>,
    /// The selected paths that could not be walked.
    pub(super) failures: Vec<Failure>,
    /// What is passed over in the selected directories.
    pub(super) passed_over: PassedOver,
}

/// Finds the files of the projects. A file or directory that is selected by its own name is included even if it is hidden
/// or ignored.
pub(super) fn project_files(
    projects: &Projects,
    selected: &[SelectedPath],
    progress: &dyn LoadProgress,
) -> ProjectFiles {
    let mut all = Walked::default();
    let mut files = BTreeMap::new();
    let mut add = |directory: &Path, is_selected: bool, files: &mut BTreeMap<PathBuf, bool>| {
        let walked = walk(directory, WalkLimits { counts: true, progress: Some(progress), ..WalkLimits::default() });
        files.extend(walked.files.into_iter().map(|path| (path, is_selected)));
        all.with_other_files.extend(walked.with_other_files);
        all.passed_over.extend(walked.passed_over);
        all.failures.extend(walked.failures);
    };
    for root in &projects.marked {
        add(root, false, &mut files);
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
        // A directory around a project has more files than the project.
        let is_inside = projects.marked.iter().any(|root| it.path.starts_with(root));
        if !reached || !is_inside {
            add(&it.path, true, &mut files);
        }
    }
    let is_selected = |path: &Path| selected.iter().any(|it| path.starts_with(&it.path));
    let mut passed_over = PassedOver::default();
    for (_, count) in all.passed_over.iter().filter(|(path, _)| is_selected(path)) {
        passed_over += *count;
    }
    // Failures in files that are not selected are not reported.
    all.failures.retain(|(path, _)| is_selected(path));
    ProjectFiles { files, with_other_files: all.with_other_files, failures: all.failures, passed_over }
}

/// What a thread of the walk finds.
enum Found {
    File(PathBuf),
    Directory(PathBuf, Option<PassedOver>),
    OtherFileIn(PathBuf),
    Failure(Failure),
}

/// Walks a directory. Links to files are followed; links to directories are not, because they can form a cycle.
pub(super) fn walk(root: &Path, limits: WalkLimits<'_>) -> Walked {
    let mut builder = builder(root);
    let only = limits.only.cloned();
    builder.filter_entry(move |entry| {
        let path = entry.path();
        is_walked(entry) && only.as_ref().is_none_or(|only| is_in(only, path) || contains_one(only, path))
    });
    let (sender, entries) = mpsc::channel();
    builder.build_parallel().run(|| {
        let sender = sender.clone();
        // Most files of a directory follow each other.
        let mut last_other = PathBuf::new();
        Box::new(move |entry| {
            if limits.stop.is_some_and(|it| it.load(Ordering::Relaxed)) {
                return WalkState::Quit;
            }
            let found = match entry {
                Ok(entry) => found(entry, limits.counts),
                Err(error) => Some(Found::Failure(failure(&error, root))),
            };
            let is_known = matches!(&found, Some(Found::OtherFileIn(directory)) if *directory == last_other);
            if let Some(found) = found.filter(|_| !is_known) {
                if let Found::OtherFileIn(directory) = &found {
                    last_other.clone_from(directory);
                }
                // The receiver lives as long as the walk.
                let _ = sender.send(found);
            }
            WalkState::Continue
        })
    });
    drop(sender);
    let mut walked = Walked::default();
    let mut found: BTreeMap<PathBuf, (usize, usize)> = BTreeMap::new();
    for entry in entries {
        match entry {
            Found::File(path) => {
                if let Some(progress) = limits.progress {
                    progress.advance();
                }
                if let Some(parent) = path.parent().filter(|_| limits.counts) {
                    found.entry(parent.to_owned()).or_default().0 += 1;
                }
                walked.files.push(path);
            }
            Found::Directory(path, counted) => {
                if let Some(counted) = counted {
                    if let Some(parent) = path.parent().filter(|_| path != root) {
                        found.entry(parent.to_owned()).or_default().1 += 1;
                    }
                    walked.passed_over.insert(path.clone(), counted);
                }
                walked.directories.push(path);
            }
            Found::OtherFileIn(directory) => drop(walked.with_other_files.insert(directory)),
            Found::Failure(failure) => walked.failures.push(failure),
        }
    }
    // The rest is what git ignores.
    for (path, count) in &mut walked.passed_over {
        let (files, directories) = found.get(path).copied().unwrap_or_default();
        count.ignored_files = count.ignored_files.saturating_sub(files);
        count.ignored_directories = count.ignored_directories.saturating_sub(directories);
    }
    if let Some(only) = limits.only {
        // Directories on the way to a path were not read as a whole.
        walked.files.retain(|it| is_in(only, it));
        walked.directories.retain(|it| is_in(only, it));
    }
    walked
}

/// A walk over the files of a directory that git does not ignore.
fn builder(directory: &Path) -> WalkBuilder {
    // In a repository, ignore files apply up to its top directory, as in git. Elsewhere only those at or below the
    // directory apply: one further up, such as that of a home directory under git, belongs to something else.
    let in_repository = directory.ancestors().any(|above| above.join(".git").exists());
    let mut walk = WalkBuilder::new(directory);
    walk.require_git(in_repository)
        .parents(in_repository)
        .hidden(false)
        // The user's own git configuration does not apply: the same project gives the same files on every machine.
        .git_global(false)
        .git_exclude(false);
    walk
}

/// Whether an entry that git does not ignore is looked at.
fn is_walked(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    match entry.file_type() {
        _ if entry.depth() == 0 => true,
        Some(kind) if kind.is_dir() => !is_never_read(&name) && !is_vendored(&name, entry.path()),
        _ => !name.starts_with('.'),
    }
}

fn is_never_read(directory: &str) -> bool {
    VERSION_CONTROL.contains(&directory) || TOOL_DIRECTORIES.contains(&directory)
}

/// Files beside a `vendor` directory into which a package manager of Go or PHP copies other projects.
const VENDORING: [&str; 4] = ["glide.lock", "glide.yaml", "Gopkg.lock", "composer.lock"];

/// Whether a directory contains copies of other projects, which a package manager wrote.
fn is_vendored(name: &str, path: &Path) -> bool {
    name == "vendor"
        && (path.join("modules.txt").is_file() || VENDORING.iter().any(|it| path.with_file_name(it).is_file()))
}

fn found(entry: DirEntry, counts: bool) -> Option<Found> {
    let kind = entry.file_type()?;
    if kind.is_dir() {
        let counted = counts.then(|| count(entry.path()));
        return Some(Found::Directory(entry.into_path(), counted));
    }
    let name = entry.file_name().to_string_lossy();
    if workspace::is_manifest(&name) {
        let is_file = kind.is_file() || kind.is_symlink() && entry.path().is_file();
        return is_file.then(|| Found::File(entry.into_path()));
    }
    (!workspace::is_documentation(&name))
        .then(|| Found::OtherFileIn(entry.path().parent().unwrap_or(entry.path()).to_owned()))
}

/// Counts what is in a directory: hidden files, directories of tools, and as ignored all other manifests and directories.
fn count(directory: &Path) -> PassedOver {
    let mut count = PassedOver::default();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let name = name.to_string_lossy();
        if kind.is_dir() {
            if TOOL_DIRECTORIES.contains(&&*name) || is_vendored(&name, &entry.path()) {
                count.tool_directories += 1;
            } else if !is_never_read(&name) {
                count.ignored_directories += 1;
            }
        } else if workspace::is_manifest(&name) && (kind.is_file() || entry.path().is_file()) {
            if name.starts_with('.') {
                count.hidden_files += 1;
            } else {
                count.ignored_files += 1;
            }
        }
    }
    count
}

/// The path that could not be read.
fn failure(error: &ignore::Error, root: &Path) -> Failure {
    let path = path_of(error).unwrap_or(root).to_owned();
    (path, ReadError::new(format!("cannot be read: {}", without_path(error))))
}

/// Whether podlens reads a file of this name.
pub fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| workspace::is_manifest(&name.to_string_lossy()))
}

/// Whether a path is one of `paths` or below one of them.
fn is_in(paths: &BTreeSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|it| paths.contains(it))
}

/// Whether one of `paths` is below a directory.
fn contains_one(paths: &BTreeSet<PathBuf>, directory: &Path) -> bool {
    paths.range(directory.to_owned()..).next().is_some_and(|it| it.starts_with(directory))
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
