//! When a fact changed, so that what was worked out from it can be kept until then.
//!
//! A *fact* is what one file tells others: the objects of a name, all objects of a kind, a file as a whole. Each has the
//! version of the workspace in which it changed last. Whoever works something out asks a snapshot that takes notes
//! ([`Snapshot::recording_dependencies`]) and keeps them beside the result: as long as the [`Dependencies`] are current, the result is
//! what would be worked out again. What stands in no notes is about everyone: settings, patches, charts and roots; when
//! they change, nothing is current.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use imbl::HashMap;

use crate::workspace::Snapshot;
use crate::workspace::index::IndexedKind;

/// Something that a file tells others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dependency {
    /// The objects of a kind and a name, wherever they stand, or that there are none.
    Named(IndexedKind, Arc<str>),
    /// Every object of a kind.
    All(IndexedKind),
    /// A file, or that there is none.
    File(Arc<str>),
    /// Every file.
    Files,
}

/// What was looked at, and in which version.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    version: u64,
    facts: Box<[Dependency]>,
    siblings: bool,
}

impl Dependencies {
    /// Whether other containers of the same pod were looked at.
    pub fn include_siblings(&self) -> bool {
        self.siblings
    }

    /// These notes without those about a file, for who looks after it himself.
    pub fn without_file(mut self, path: &str) -> Self {
        let is_it = |fact: &Dependency| matches!(fact, Dependency::File(it) if **it == *path);
        if self.facts.iter().any(is_it) {
            self.facts = self.facts.into_iter().filter(|it| !is_it(it)).collect();
        }
        self
    }
}

/// Takes the notes.
#[derive(Debug, Default)]
pub(super) struct DependencyRecorder {
    facts: BTreeSet<Dependency>,
    siblings: bool,
}

/// How many kinds are told apart at most.
const KINDS: usize = 16;

/// The version in which each fact changed last. What changed before anyone looked counts as always there, so that
/// reading a workspace for the first time costs nothing here.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeVersions {
    /// Stands for the workspace: versions of two have nothing in common.
    workspace: Arc<()>,
    version: u64,
    names: HashMap<(IndexedKind, Arc<str>), u64>,
    kinds: [u64; KINDS],
    files: HashMap<Arc<str>, u64>,
    any_file: u64,
    surroundings: u64,
    /// The last of all of these but files.
    exports: u64,
}

impl ChangeVersions {
    /// A new version begins.
    pub(super) fn advance(&mut self) {
        self.version += 1;
    }

    pub(super) fn name(&mut self, kind: IndexedKind, name: &Arc<str>, is_watched: bool) {
        self.kinds[kind as usize % KINDS] = self.version;
        self.exports = self.version;
        if is_watched {
            self.names.insert((kind, Arc::clone(name)), self.version);
        }
    }

    pub(super) fn file(&mut self, path: &Arc<str>, is_watched: bool) {
        self.any_file = self.version;
        if is_watched {
            self.files.insert(Arc::clone(path), self.version);
        }
    }

    /// Settings, patches, charts or roots have changed.
    pub(super) fn surroundings(&mut self) {
        self.surroundings = self.version;
        self.exports = self.version;
    }

    fn last(&self, fact: &Dependency) -> u64 {
        match fact {
            Dependency::Named(kind, name) => self.names.get(&(*kind, Arc::clone(name))).copied().unwrap_or_default(),
            Dependency::All(kind) => self.kinds[*kind as usize % KINDS],
            Dependency::File(path) => self.files.get(path).copied().unwrap_or_default(),
            Dependency::Files => self.any_file,
        }
    }
}

impl Snapshot {
    /// Whether a later or earlier snapshot is of the same workspace.
    pub fn is_of_same_workspace(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.changes.workspace, &other.changes.workspace)
    }

    /// The version of the workspace; a later one is larger.
    pub fn version(&self) -> u64 {
        self.changes.version
    }

    /// The version in which something changed that is about every file: settings, patches, charts or roots.
    pub fn last_global_change(&self) -> u64 {
        self.changes.surroundings
    }

    /// This snapshot, taking notes of what is looked at in it from now on.
    pub fn recording_dependencies(&self) -> Self {
        Self { recorder: Some(Arc::default()), ..self.clone() }
    }

    /// What was looked at since the last time this was asked; nothing if the snapshot takes no notes.
    pub fn take_dependencies(&self) -> Dependencies {
        let taken =
            self.recorder.as_ref().map(|it| std::mem::take(&mut *it.lock().unwrap_or_else(PoisonError::into_inner)));
        let DependencyRecorder { facts, siblings } = taken.unwrap_or_default();
        Dependencies { version: self.version(), facts: facts.into_iter().collect(), siblings }
    }

    /// Whether everything in the notes is still as it was.
    pub fn is_current(&self, notes: &Dependencies) -> bool {
        let is_file = |fact: &Dependency| matches!(fact, Dependency::File(_) | Dependency::Files);
        if notes.version >= self.changes.exports {
            // Files stand behind names.
            let files = notes.facts.iter().rev().take_while(|it| is_file(it));
            return files.into_iter().all(|it| notes.version >= self.changes.last(it));
        }
        notes.version >= self.changes.surroundings
            && notes.facts.iter().all(|it| notes.version >= self.changes.last(it))
    }

    /// Dependencies that other containers of the same pod are looked at.
    pub fn depend_on_siblings(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.lock().unwrap_or_else(PoisonError::into_inner).siblings = true;
        }
    }

    /// Dependencies that a place in a file is told to somebody: it may move although nothing changes for others.
    pub fn depend_on_file(&self, file: &Arc<str>) {
        self.record(|| Dependency::File(Arc::clone(file)));
    }

    pub(super) fn record(&self, fact: impl FnOnce() -> Dependency) {
        if let Some(recorder) = &self.recorder {
            recorder.lock().unwrap_or_else(PoisonError::into_inner).facts.insert(fact());
        }
    }
}

/// Where a snapshot's notes go.
pub(super) type SharedRecorder = Option<Arc<Mutex<DependencyRecorder>>>;
