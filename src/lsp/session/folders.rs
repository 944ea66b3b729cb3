//! The workspace folders, the projects they belong to, and the directories of open files outside of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tower_lsp_server::ls_types::Uri;

use crate::load::{self, EditorFolders};
use crate::lsp::session::file_names::{FileNames, uri_to_path};
use crate::workspace::{SETTINGS_FILE, Settings};

/// The workspace folders and how the files in them are named.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    folders: Vec<PathBuf>,
    layout: EditorFolders,
    /// Directories of open files that are in no folder, and their names with a final `/`.
    outside: BTreeMap<PathBuf, Arc<str>>,
    names: Arc<FileNames>,
}

/// A directory outside the folders that has become known with an open file.
#[derive(Debug)]
pub(crate) struct OutsideDirectory {
    /// The project around the file, if there is one: all its files must be read.
    pub(crate) project: Option<PathBuf>,
}

impl Folders {
    /// The given folders, with no directories outside.
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        let layout = EditorFolders::new(&folders);
        let names = Arc::new(FileNames::new(layout.base.as_deref()));
        Self { folders, layout, outside: BTreeMap::new(), names }
    }

    /// The paths of folders that are files on this machine.
    pub(crate) fn paths(uris: impl Iterator<Item = Uri>) -> Vec<PathBuf> {
        // Collecting the components removes a final separator.
        uris.filter_map(|uri| uri_to_path(&uri)).map(|path| path.components().collect()).collect()
    }

    /// The folders after some were added and removed.
    pub(crate) fn changed(&self, added: Vec<PathBuf>, removed: &[PathBuf]) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self.folders.iter().filter(|it| !removed.contains(it)).cloned().collect();
        for folder in added {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// How files are named.
    pub(crate) fn names(&self) -> &Arc<FileNames> {
        &self.names
    }

    /// The directories whose files are read.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let is_project = |it: &&PathBuf| load::project_of(&it.join(SETTINGS_FILE)).as_ref() == Some(it);
        self.layout.roots.iter().chain(self.outside.keys().filter(is_project)).cloned().collect()
    }

    /// The directories that are separate projects, as [`Workspace::set_roots`](crate::workspace::Workspace::set_roots)
    /// expects them.
    pub(crate) fn project_borders(&self) -> Vec<Arc<str>> {
        self.layout.borders.iter().chain(self.outside.values()).cloned().collect()
    }

    /// Adds the directory of a file that is in no folder. `None` if it is known already or is not on disk.
    pub(crate) fn add_outside(&mut self, uri: &Uri) -> Option<OutsideDirectory> {
        let path = uri_to_path(uri)?;
        let is_below = |root: &PathBuf| path.starts_with(root);
        if self.layout.roots.iter().any(is_below) || self.outside.keys().any(is_below) {
            return None;
        }
        let project = load::project_of(&path);
        let directory: &Path = project.as_deref().or_else(|| path.parent())?;
        let name = self.names.path_to_name(directory)?;
        self.outside.insert(directory.to_owned(), format!("{}/", name.trim_end_matches('/')).into());
        Some(OutsideDirectory { project })
    }

    /// The settings file in a directory above all folders, if there is one.
    pub(crate) fn settings_above(&self) -> Option<&Settings> {
        self.layout.above.as_ref()
    }

    /// Reads the settings above all folders again if they are among the changed files. Returns whether they were.
    pub(crate) fn reload_settings_above(&mut self, changed: &[PathBuf]) -> bool {
        let Some(base) = self.layout.base.as_deref() else { return false };
        let is_above = |path: &PathBuf| {
            path.ends_with(SETTINGS_FILE) && path.parent().is_some_and(|directory| base.starts_with(directory))
        };
        let is_changed = changed.iter().any(is_above);
        if is_changed {
            self.layout.above = EditorFolders::new(&self.folders).above;
        }
        is_changed
    }
}
