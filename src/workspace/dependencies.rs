//! Dependencies of cached results: what a computation read from the workspace, and whether that has changed since.
//!
//! A computation that wants to cache its result uses a snapshot that records what is read
//! ([`Snapshot::recording_dependencies`]) and stores the [`Dependencies`] with the result. The result is valid while
//! they are current. For each possible dependency the workspace has the version in which it last changed. Settings,
//! patches, charts and roots concern every file and are not recorded: when they change, no dependencies are current.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use imbl::HashMap;

use crate::workspace::Snapshot;
use crate::workspace::index::IndexedKind;
use crate::workspace::users::UsedName;

/// A part of a snapshot that can change independently of the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dependency {
    /// The objects of a kind and name in all files; also if there are none.
    Named(IndexedKind, Arc<str>),
    /// Every object of a kind.
    All(IndexedKind),
    /// Which files belong together: what builds them, and which directories have workloads.
    Scope,
    /// The objects that take variables from objects of a kind and name.
    Users(IndexedKind, Arc<str>),
    /// A file; also if it does not exist.
    File(Arc<str>),
    /// Every file.
    Files,
}

/// The dependencies of a result, and the version of the workspace that it was computed from.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    version: u64,
    entries: Box<[Dependency]>,
    siblings: bool,
}

impl Dependencies {
    /// Whether the result depends on other containers of the same pod.
    pub fn include_siblings(&self) -> bool {
        self.siblings
    }

    /// The same without the dependency on a file, for callers that track that file themselves.
    pub fn without_file(mut self, path: &str) -> Self {
        let is_it = |it: &Dependency| matches!(it, Dependency::File(it) if **it == *path);
        if self.entries.iter().any(is_it) {
            self.entries = self.entries.into_iter().filter(|it| !is_it(it)).collect();
        }
        self
    }
}

/// Collects dependencies.
#[derive(Debug, Default)]
pub(super) struct DependencyRecorder {
    entries: BTreeSet<Dependency>,
    siblings: bool,
}

/// The maximal number of kinds.
const KINDS: usize = 16;

/// The version in which each dependency last changed. Changes before the first snapshot are not recorded, so that
/// loading a workspace is not slowed down.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeVersions {
    /// Identifies the workspace: versions of different workspaces cannot be compared.
    workspace: Arc<()>,
    version: u64,
    names: HashMap<(IndexedKind, Arc<str>), u64>,
    users: HashMap<(IndexedKind, Arc<str>), u64>,
    kinds: [u64; KINDS],
    scope: u64,
    files: HashMap<Arc<str>, u64>,
    any_file: u64,
    global: u64,
    /// The latest version of all changes except those of files and users.
    exports: u64,
}

impl ChangeVersions {
    /// Starts a new version.
    pub(super) fn start_version(&mut self) {
        self.version += 1;
    }

    pub(super) fn record_name(&mut self, kind: IndexedKind, name: &Arc<str>, is_watched: bool) {
        self.kinds[kind as usize % KINDS] = self.version;
        self.exports = self.version;
        if is_watched {
            self.names.insert((kind, Arc::clone(name)), self.version);
        }
    }

    /// Records a change of objects that use these.
    pub(super) fn record_users(&mut self, used: impl IntoIterator<Item = UsedName>) {
        self.users.extend(used.into_iter().map(|it| (it, self.version)));
    }

    pub(super) fn record_scope(&mut self) {
        self.scope = self.version;
        self.exports = self.version;
    }

    pub(super) fn record_file(&mut self, path: &Arc<str>, is_watched: bool) {
        self.any_file = self.version;
        if is_watched {
            self.files.insert(Arc::clone(path), self.version);
        }
    }

    /// Records a change of settings, patches, charts or roots.
    pub(super) fn record_global(&mut self) {
        self.global = self.version;
        self.exports = self.version;
    }

    fn last_change(&self, dependency: &Dependency) -> u64 {
        match dependency {
            Dependency::Named(kind, name) => self.names.get(&(*kind, Arc::clone(name))).copied().unwrap_or_default(),
            Dependency::All(kind) => self.kinds[*kind as usize % KINDS],
            Dependency::Scope => self.scope,
            Dependency::Users(kind, name) => self.users.get(&(*kind, Arc::clone(name))).copied().unwrap_or_default(),
            Dependency::File(path) => self.files.get(path).copied().unwrap_or_default(),
            Dependency::Files => self.any_file,
        }
    }
}

impl Snapshot {
    /// Whether both are snapshots of the same workspace.
    pub fn is_of_same_workspace(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.changes.workspace, &other.changes.workspace)
    }

    /// The version of the workspace. Later versions are larger.
    pub fn version(&self) -> u64 {
        self.changes.version
    }

    /// The version of the last change that concerns every file: of settings, patches, charts or roots.
    pub fn last_global_change(&self) -> u64 {
        self.changes.global
    }

    /// This snapshot, recording what is read from it.
    pub fn recording_dependencies(&self) -> Self {
        Self { recorder: Some(Arc::default()), ..self.clone() }
    }

    /// Whether it records what is read.
    pub fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns the dependencies since the last call, and clears them. Empty if the snapshot does not record.
    pub fn take_dependencies(&self) -> Dependencies {
        let taken =
            self.recorder.as_ref().map(|it| std::mem::take(&mut *it.lock().unwrap_or_else(PoisonError::into_inner)));
        let DependencyRecorder { entries, siblings } = taken.unwrap_or_default();
        Dependencies { version: self.version(), entries: entries.into_iter().collect(), siblings }
    }

    /// Whether none of the dependencies has changed.
    pub fn is_current(&self, dependencies: &Dependencies) -> bool {
        let is_file = |it: &Dependency| matches!(it, Dependency::Users(..) | Dependency::File(_) | Dependency::Files);
        if dependencies.version >= self.changes.exports {
            // Files and users are sorted after names.
            let files = dependencies.entries.iter().rev().take_while(|it| is_file(it));
            return files.into_iter().all(|it| dependencies.version >= self.changes.last_change(it));
        }
        dependencies.version >= self.changes.global
            && dependencies.entries.iter().all(|it| dependencies.version >= self.changes.last_change(it))
    }

    /// Records that other containers of the same pod are read.
    pub fn depend_on_siblings(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.lock().unwrap_or_else(PoisonError::into_inner).siblings = true;
        }
    }

    /// Records that a position in a file is part of the result. Positions change even if the objects do not.
    pub fn depend_on_file(&self, file: &Arc<str>) {
        self.record(|| Dependency::File(Arc::clone(file)));
    }

    pub(super) fn record(&self, dependency: impl FnOnce() -> Dependency) {
        if let Some(recorder) = &self.recorder {
            recorder.lock().unwrap_or_else(PoisonError::into_inner).entries.insert(dependency());
        }
    }
}

/// The recorder of a snapshot.
pub(super) type SharedRecorder = Option<Arc<Mutex<DependencyRecorder>>>;
