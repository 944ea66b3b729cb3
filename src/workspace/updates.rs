//! Applying changes: a [`Workspace`] takes changes of files and settings, and hands out snapshots.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use imbl::HashSet;

use crate::k8s::{Object, ObjectData};
use crate::workspace::file::File;
use crate::workspace::helm;
use crate::workspace::index::{self, ExportedObject, IndexedKind};
use crate::workspace::settings::{SETTINGS_FILE, Settings};
use crate::workspace::snapshot::Snapshot;

/// Takes changes and gives snapshots.
#[derive(Debug, Default)]
pub struct Workspace {
    snapshot: Snapshot,
    disk: HashMap<Arc<str>, Arc<File>>,
    editor: HashMap<Arc<str>, Arc<File>>,
    /// The settings where no settings file is, and those below all settings.
    defaults: Settings,
    base: Option<Arc<Settings>>,
    /// Whether someone has taken a snapshot, so that it may_hold_objects what changes from now on.
    is_watched: AtomicBool,
}

impl Workspace {
    /// What is known now.
    pub fn snapshot(&self) -> Snapshot {
        self.is_watched.store(true, Ordering::Relaxed);
        self.snapshot.clone()
    }

    /// A file on disk is there or has changed. An editor's text stays over it.
    pub fn set_disk(&mut self, path: &str, file: impl Into<Arc<File>>) {
        self.disk.insert(path.into(), file.into());
        self.refresh(path);
    }

    /// A file on disk is gone.
    pub fn remove_disk(&mut self, path: &str) {
        self.disk.remove(path);
        self.refresh(path);
    }

    /// An editor has opened or changed a file: its text counts from now on.
    pub fn set_editor(&mut self, path: &str, file: impl Into<Arc<File>>) {
        self.editor.insert(path.into(), file.into());
        self.refresh(path);
    }

    /// An editor has closed a file: what is on disk counts again.
    pub fn close_editor(&mut self, path: &str) {
        self.editor.remove(path);
        self.refresh(path);
    }

    /// The settings for files that have no settings file above them in the workspace.
    pub fn set_defaults(&mut self, settings: Settings) {
        self.defaults = settings;
        self.layer_settings();
    }

    /// Settings that count for whatever settings files do not say, such as an editor's.
    pub fn set_base(&mut self, settings: Option<Settings>) {
        self.base = settings.map(Arc::new);
        self.layer_settings();
    }

    fn layer_settings(&mut self) {
        self.snapshot.defaults = self.layered(&Arc::new(self.defaults.clone()));
        let known: Vec<Arc<str>> = self.snapshot.settings.keys().cloned().collect();
        for directory in known {
            let file = self.snapshot.files.get(&*format!("{directory}{SETTINGS_FILE}"));
            if let Some(settings) = file.and_then(|it| it.settings.clone()) {
                let settings = self.layered(&settings);
                Arc::make_mut(&mut self.snapshot.settings).insert(directory, settings);
            }
        }
        self.snapshot.changes.advance();
        self.surroundings_changed();
        self.reindex_below("");
    }

    fn layered(&self, settings: &Arc<Settings>) -> Arc<Settings> {
        match &self.base {
            Some(base) => Arc::new(settings.layered_over(base)),
            None => Arc::clone(settings),
        }
    }

    /// The directories that belong to different projects: names of one mean nothing in another. Each is empty or ends
    /// with `/`.
    pub fn set_roots(&mut self, roots: impl IntoIterator<Item = Arc<str>>) {
        self.snapshot.roots = roots.into_iter().collect();
        self.snapshot.changes.advance();
        self.surroundings_changed();
    }

    /// Makes the snapshot agree with the layers about one file.
    fn refresh(&mut self, path: &str) {
        let path: Arc<str> = path.into();
        let new = self.editor.get(&path).or_else(|| self.disk.get(&path)).cloned();
        if let Some(directory) = helm::chart_directory(&path) {
            self.charts_changed(directory, new.is_some());
        }
        let new = new.map(|file| match &file.in_chart {
            Some(in_chart) if self.snapshot.is_in_chart(&path) => Arc::clone(in_chart),
            _ => file,
        });
        let old = match &new {
            Some(file) => self.snapshot.files.insert(Arc::clone(&path), Arc::clone(file)),
            None => self.snapshot.files.remove(&path),
        };
        self.snapshot.changes.advance();
        self.snapshot.changes.file(&path, self.is_watched.load(Ordering::Relaxed));
        self.snapshot.index.set_file(&path, new.as_ref());
        self.exports_changed(&path, old.as_deref(), new.as_deref());
        let (before, after) = (old.as_deref(), new.as_deref());
        self.patches_changed(before.map_or(&[], |it| &it.patches), after.map_or(&[], |it| &it.patches));
        let settings = after.and_then(|it| it.settings.clone());
        if settings.is_some() || before.is_some_and(|it| it.settings.is_some()) {
            self.settings_changed(&path, settings);
        }
    }

    /// Makes the index agree with a file, and tells which names are affected. An edit that moves objects and changes
    /// nothing that others see leaves the index as it is.
    fn exports_changed(&mut self, path: &Arc<str>, old: Option<&File>, new: Option<&File>) {
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
            self.snapshot.changes.name(export.kind, &export.name, is_watched);
        }
        if vars_changed {
            self.snapshot.index.vars_changed(old, new);
            self.surroundings_changed();
        }
        let is_service = |it: &ExportedObject<'_>| it.kind == IndexedKind::Service;
        if gone.iter().chain(come).any(is_service) {
            self.services_changed();
        } else if is_watched && after.iter().any(is_service) {
            self.snapshot.moved.insert(Arc::clone(path));
        }
    }

    fn services_changed(&mut self) {
        self.snapshot.derived = Arc::default();
        self.snapshot.moved = HashSet::default();
    }

    /// Something has changed that is about many files.
    fn surroundings_changed(&mut self) {
        self.snapshot.changes.surroundings();
        self.services_changed();
    }

    fn patches_changed(&mut self, before: &[Arc<str>], after: &[Arc<str>]) {
        if before == after {
            return;
        }
        self.surroundings_changed();
        // New ones first, so that a file which stays a patch is not looked at again.
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

    /// A directory has become a chart, or is one no more: the templates and values in it are read as such.
    fn charts_changed(&mut self, directory: &str, is_chart: bool) {
        let charts = Arc::make_mut(&mut self.snapshot.charts);
        let changed = if is_chart { charts.insert(directory.into()) } else { charts.remove(directory) };
        if changed {
            self.snapshot.changes.advance();
            self.surroundings_changed();
            for path in self.files_below(directory) {
                if helm::chart_directory(&path).is_none() {
                    self.refresh(&path);
                }
            }
        }
    }

    fn settings_changed(&mut self, path: &str, settings: Option<Arc<Settings>>) {
        let directory = &path[..path.len() - SETTINGS_FILE.len()];
        let settings = settings.map(|it| self.layered(&it));
        let all = Arc::make_mut(&mut self.snapshot.settings);
        match settings {
            Some(settings) => drop(all.insert(directory.into(), settings)),
            None => drop(all.remove(directory)),
        }
        self.surroundings_changed();
        self.reindex_below(directory);
    }

    fn reindex_below(&mut self, directory: &str) {
        for path in self.files_below(directory) {
            self.reindex(&path);
        }
    }

    fn files_below(&self, directory: &str) -> Vec<Arc<str>> {
        let behind = self.snapshot.files.range(Arc::<str>::from(directory)..).map(|(path, _)| Arc::clone(path));
        behind.take_while(|path| path.starts_with(directory)).collect()
    }

    fn reindex(&mut self, path: &Arc<str>) {
        let Some(file) = self.snapshot.files.get(path).cloned() else { return };
        self.snapshot.index.remove(path, &file);
        if !self.snapshot.is_excluded(path) {
            self.snapshot.index.add(path, &file);
        }
    }
}
