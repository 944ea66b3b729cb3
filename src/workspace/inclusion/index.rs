//! The files that include others, and the index from a path to the files that name it.

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::OrdMap;

use crate::workspace::File;
use crate::workspace::inclusion::{Include, Includes};

/// The inclusions of all files. Snapshots share what did not change.
#[derive(Clone, Debug, Default)]
pub(in crate::workspace) struct InclusionIndex {
    /// The files that include others or are a kustomization or chart.
    pub(in crate::workspace) including: OrdMap<Arc<str>, Arc<Includes>>,
    /// Pairs of a path and a file that names it.
    included: OrdMap<(Arc<str>, Arc<str>), ()>,
    /// Files and directories that exist and are not among the files of the workspace.
    pub(super) unread: Arc<BTreeSet<Arc<str>>>,
}

impl InclusionIndex {
    /// Updates the entries of a file. Returns whether it is a kustomization or chart and includes something else now.
    pub(in crate::workspace) fn update(&mut self, path: &Arc<str>, old: Option<&File>, new: Option<&File>) -> bool {
        let (old, new) = (old.and_then(|it| it.includes.as_ref()), new.and_then(|it| it.includes.as_ref()));
        if old.is_none() && new.is_none() {
            return false;
        }
        let built =
            |it: Option<&Arc<Includes>>| it.filter(|it| it.build.is_some()).map(|it| keys(it).collect::<Vec<_>>());
        let changed = built(old) != built(new);
        for key in old.into_iter().flat_map(|it| keys(it)) {
            self.included.remove(&(key, Arc::clone(path)));
        }
        for key in new.into_iter().flat_map(|it| keys(it)) {
            self.included.insert((key, Arc::clone(path)), ());
        }
        match new {
            Some(new) => drop(self.including.insert(Arc::clone(path), Arc::clone(new))),
            None => drop(self.including.remove(path)),
        }
        changed
    }

    /// Whether no file includes another one.
    pub(in crate::workspace) fn is_empty(&self) -> bool {
        self.including.is_empty()
    }

    /// Whether a file is a kustomization or chart.
    pub(in crate::workspace) fn is_build(&self, file: &str) -> bool {
        self.including.get(file).is_some_and(|it| it.build.is_some())
    }

    /// Sets the files and directories that exist and are not read.
    pub(in crate::workspace) fn set_unread(&mut self, paths: BTreeSet<Arc<str>>) {
        self.unread = Arc::new(paths);
    }

    /// The files that name a path, which is relative to the root of the workspace, or of the project if it is marked by
    /// [`from_root`].
    pub(in crate::workspace) fn naming(&self, path: &str) -> impl Iterator<Item = &Arc<str>> {
        let path: Arc<str> = path.into();
        let first = (Arc::clone(&path), Arc::from(""));
        self.included.range(first..).take_while(move |((named, _), ())| *named == path).map(|((_, by), ())| by)
    }
}

/// The key of a path that is relative to the root of a project. A path of the workspace does not start with `/`.
pub(super) fn from_root(path: &str) -> String {
    format!("//{path}")
}

/// The paths that the entries of a file may refer to.
fn keys(includes: &Includes) -> impl Iterator<Item = Arc<str>> {
    let deliveries = includes.deliveries.iter().flat_map(|it| it.values.iter().chain([&it.path]));
    includes.entries.iter().chain(deliveries).flat_map(|it: &Include| {
        let key = |path: &Arc<str>| if it.is_from_root { from_root(path).into() } else { Arc::clone(path) };
        it.candidates.iter().map(key).collect::<Vec<_>>()
    })
}
