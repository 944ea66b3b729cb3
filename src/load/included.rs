//! Finds files on disk that kustomizations, charts and settings include and that were not read: hidden and git-ignored
//! files, and files without the extension of a manifest.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use ignore::WalkBuilder;

use crate::load::{Loaded, name};
use crate::workspace::BuildRole;

/// The directories of a chart whose files all belong to it.
const CHART_FOLDERS: [&str; 2] = ["templates", "crds"];

impl Loaded {
    /// Tells the workspace which of the included files exist. Their content is not read.
    pub fn find_included_files(&mut self) {
        let snapshot = self.workspace.snapshot();
        let is_there = |path: &Arc<str>| Path::new(&self.path(path)).exists();
        let mut found: BTreeSet<Arc<str>> = snapshot.missing_paths().into_iter().filter(is_there).collect();
        let charts = snapshot.including_files().filter(|(_, it)| it.build.is_some_and(BuildRole::is_chart));
        for (chart, _) in charts {
            let Some(directory) = Path::new(&self.path(chart)).parent().map(Path::to_owned) else { continue };
            for folder in CHART_FOLDERS.map(|it| directory.join(it)).iter().filter(|it| it.is_dir()) {
                // Helm reads files that git ignores.
                let walk = WalkBuilder::new(folder).standard_filters(false).hidden(true).build();
                let files = walk.flatten().filter(|it| it.file_type().is_some_and(|it| it.is_file()));
                let names = files.filter_map(|it| name(it.path(), self.base()));
                found.extend(names.filter(|it| snapshot.file(it).is_none()));
            }
        }
        self.workspace.set_unread(found);
    }
}
