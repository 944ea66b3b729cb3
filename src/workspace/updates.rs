//! Applying changes of files and settings.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use imbl::HashSet;

use crate::k8s::{Object, ObjectData};
use crate::workspace::file::File;
use crate::workspace::helm;
use crate::workspace::index::{self, ExportedObject, IndexedKind};
use crate::workspace::settings::{SETTINGS_FILE, Settings};
use crate::workspace::snapshot::Snapshot;

/// The mutable workspace: it takes changes and returns snapshots.
#[derive(Debug, Default)]
pub struct Workspace {
    snapshot: Snapshot,
    disk: HashMap<Arc<str>, Arc<File>>,
    editor: HashMap<Arc<str>, Arc<File>>,
    /// The settings of files without a settings file.
    defaults: Settings,
    /// The settings for keys that no settings file sets.
    base: Option<Arc<Settings>>,
    /// Whether a snapshot was taken, so that further changes have to be recorded.
    is_watched: AtomicBool,
}

impl Workspace {
    /// A snapshot of the current state.
    pub fn snapshot(&self) -> Snapshot {
        self.is_watched.store(true, Ordering::Relaxed);
        self.snapshot.clone()
    }

    /// Adds or replaces a file on disk. The text of an editor has precedence.
    pub fn set_disk(&mut self, path: &str, file: impl Into<Arc<File>>) {
        let path: Arc<str> = path.into();
        self.disk.insert(Arc::clone(&path), file.into());
        self.refresh(path);
    }

    /// Removes a file on disk.
    pub fn remove_disk(&mut self, path: &str) {
        self.disk.remove(path);
        self.refresh(path);
    }

    /// Adds or replaces a file that is open in an editor. It has precedence over the file on disk.
    pub fn set_editor(&mut self, path: &str, file: impl Into<Arc<File>>) {
        let path: Arc<str> = path.into();
        self.editor.insert(Arc::clone(&path), file.into());
        self.refresh(path);
    }

    /// Removes a file that was open in an editor. The file on disk is used again.
    pub fn close_editor(&mut self, path: &str) {
        self.editor.remove(path);
        self.refresh(path);
    }

    /// Sets the settings of files that have no settings file in the workspace.
    pub fn set_defaults(&mut self, settings: Settings) {
        self.defaults = settings;
        self.apply_settings();
    }

    /// Sets the settings for keys that settings files do not set, such as those of an editor.
    pub fn set_base(&mut self, settings: Option<Settings>) {
        self.base = settings.map(Arc::new);
        self.apply_settings();
    }

    fn apply_settings(&mut self) {
        self.snapshot.defaults = self.over_base(&Arc::new(self.defaults.clone()));
        let known: Vec<Arc<str>> = self.snapshot.settings.keys().cloned().collect();
        for directory in known {
            let file = self.snapshot.files.get(&*format!("{directory}{SETTINGS_FILE}"));
            if let Some(settings) = file.and_then(|it| it.settings.clone()) {
                let settings = self.over_base(&settings);
                Arc::make_mut(&mut self.snapshot.settings).insert(directory, settings);
            }
        }
        self.start_version();
        self.record_global_change();
        self.reindex_below("");
    }

    fn over_base(&self, settings: &Arc<Settings>) -> Arc<Settings> {
        match &self.base {
            Some(base) => Arc::new(settings.layered_over(base)),
            None => Arc::clone(settings),
        }
    }

    /// Sets the directories of separate projects: names are not looked up across them. Each is empty or ends with `/`.
    pub fn set_roots(&mut self, roots: impl IntoIterator<Item = Arc<str>>) {
        self.snapshot.roots = roots.into_iter().collect();
        self.start_version();
        self.record_global_change();
    }

    /// Adds directories that hold files other than manifests and documentation. Each is empty or ends with `/`.
    pub fn add_directories_with_other_files(&mut self, directories: impl IntoIterator<Item = Arc<str>>) {
        self.start_version();
        if self.snapshot.scope.add_other_files(directories) {
            self.snapshot.changes.record_scope();
        }
    }

    /// Sets the paths that exist and are not among the files, as far as files name them
    /// ([`Snapshot::missing_paths`]) or they belong to a chart.
    pub fn set_unread(&mut self, paths: BTreeSet<Arc<str>>) {
        self.snapshot.inclusion.set_unread(paths);
    }

    /// Updates the snapshot after a change of a file on disk or in an editor.
    fn refresh(&mut self, path: impl Into<Arc<str>>) {
        let path: Arc<str> = path.into();
        let new = self.editor.get(&path).or_else(|| self.disk.get(&path)).cloned();
        if let Some(directory) = helm::chart_directory(&path) {
            self.update_charts(directory, new.is_some());
        }
        let new = new.map(|file| match &file.in_chart {
            Some(in_chart) if self.snapshot.is_in_chart(&path) => Arc::clone(in_chart),
            _ => file,
        });
        let old = match &new {
            Some(file) => self.snapshot.files.insert(Arc::clone(&path), Arc::clone(file)),
            None => self.snapshot.files.remove(&path),
        };
        self.start_version();
        self.snapshot.changes.record_file(&path, self.is_watched.load(Ordering::Relaxed));
        self.snapshot.index.set_file(&path, new.as_ref());
        self.update_exports(&path, old.as_deref(), new.as_deref());
        let (before, after) = (old.as_deref(), new.as_deref());
        let builds_change = self.snapshot.inclusion.update(&path, before, after);
        if self.snapshot.scope.update(&path, after) || builds_change {
            self.snapshot.changes.record_scope();
        }
        let used = self.snapshot.users.update(&path, before, after);
        if self.is_watched.load(Ordering::Relaxed) {
            self.snapshot.changes.record_users(used);
        }
        self.update_patches(before.map_or(&[], |it| &it.patches), after.map_or(&[], |it| &it.patches));
        let settings = after.and_then(|it| it.settings.clone());
        if settings.is_some() || before.is_some_and(|it| it.settings.is_some()) {
            self.update_settings(&path, settings);
        }
    }

    /// Updates the index and the versions of the names that changed. Does nothing to the index if objects have only
    /// moved.
    fn update_exports(&mut self, path: &Arc<str>, old: Option<&File>, new: Option<&File>) {
        if let (Some(old), Some(new)) = (old, new)
            && old.exports_the_same(new)
        {
            let is_service = |it: &Object| matches!(it.model.data, ObjectData::Service(_));
            if self.is_watched.load(Ordering::Relaxed) && new.objects.iter().any(is_service) {
                self.snapshot.moved.insert(Arc::clone(path));
            }
            return;
        }
        let before: Vec<ExportedObject<'_>> = old.into_iter().flat_map(index::exported).collect();
        let after: Vec<ExportedObject<'_>> = new.into_iter().flat_map(index::exported).collect();
        let vars_changed = !old.into_iter().flat_map(index::vars).eq(new.into_iter().flat_map(index::vars));
        let same = |(a, b): &(&ExportedObject<'_>, &ExportedObject<'_>)| a.is_equivalent(b);
        let start = before.iter().zip(&after).take_while(same).count();
        let rest = before.iter().skip(start).rev().zip(after.iter().skip(start).rev());
        let end = rest.take_while(same).count();
        let (gone, come) = (&before[start..before.len() - end], &after[start..after.len() - end]);
        let stays = |(a, b): (&ExportedObject<'_>, &ExportedObject<'_>)| a.position == b.position;
        if vars_changed || before.len() != after.len() || !gone.is_empty() || !before.iter().zip(&after).all(stays) {
            let snapshot = &mut self.snapshot;
            if let Some(old) = old {
                snapshot.index.remove(path, old);
            }
            if let Some(new) = new
                && !snapshot.is_excluded(path)
            {
                snapshot.index.add(path, new);
            }
        }
        let is_watched = self.is_watched.load(Ordering::Relaxed);
        for export in gone.iter().chain(come) {
            self.snapshot.changes.record_name(export.kind, &export.name, is_watched);
        }
        if vars_changed {
            self.snapshot.index.update_vars(old, new);
            self.record_global_change();
        }
        let is_service = |it: &ExportedObject<'_>| it.kind == IndexedKind::Service;
        if gone.iter().chain(come).any(is_service) {
            self.reset_derived_from_services();
        } else if is_watched && after.iter().any(is_service) {
            self.snapshot.moved.insert(Arc::clone(path));
        }
    }

    fn reset_derived_from_services(&mut self) {
        self.snapshot.derived = Arc::default();
        self.snapshot.moved = HashSet::default();
    }

    fn start_version(&mut self) {
        self.snapshot.changes.start_version();
        self.snapshot.derived_views = Arc::default();
    }

    /// Records a change that concerns every file.
    fn record_global_change(&mut self) {
        self.snapshot.changes.record_global();
        self.reset_derived_from_services();
    }

    fn update_patches(&mut self, before: &[Arc<str>], after: &[Arc<str>]) {
        if before == after {
            return;
        }
        self.record_global_change();
        // New ones first, so that a file that remains a patch is not indexed again.
        for path in after {
            if self.snapshot.index.add_patch(path) {
                self.reindex(path);
            }
        }
        for path in before {
            if self.snapshot.index.remove_patch(path) {
                self.reindex(path);
            }
        }
    }

    /// Reads the templates and values of a directory again if it became a chart or is no longer one.
    fn update_charts(&mut self, directory: &str, is_chart: bool) {
        let charts = Arc::make_mut(&mut self.snapshot.charts);
        let changed = if is_chart { charts.insert(directory.into()) } else { charts.remove(directory) };
        if changed {
            self.start_version();
            self.record_global_change();
            for path in self.files_below(directory) {
                if helm::chart_directory(&path).is_none() {
                    self.refresh(path);
                }
            }
        }
    }

    fn update_settings(&mut self, path: &str, settings: Option<Arc<Settings>>) {
        let directory = &path[..path.len() - SETTINGS_FILE.len()];
        let settings = settings.map(|it| self.over_base(&it));
        let all = Arc::make_mut(&mut self.snapshot.settings);
        match settings {
            Some(settings) => drop(all.insert(directory.into(), settings)),
            None => drop(all.remove(directory)),
        }
        self.record_global_change();
        self.reindex_below(directory);
    }

    fn reindex_below(&mut self, directory: &str) {
        for path in self.files_below(directory) {
            self.reindex(&path);
        }
    }

    fn files_below(&self, directory: &str) -> Vec<Arc<str>> {
        let after = self.snapshot.files.range(Arc::<str>::from(directory)..).map(|(path, _)| Arc::clone(path));
        after.take_while(|path| path.starts_with(directory)).collect()
    }

    fn reindex(&mut self, path: &Arc<str>) {
        let Some(file) = self.snapshot.files.get(path).cloned() else { return };
        self.snapshot.index.remove(path, &file);
        if !self.snapshot.is_excluded(path) {
            self.snapshot.index.add(path, &file);
        }
    }
}
