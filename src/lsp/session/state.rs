//! Everything that changes, with one writer: the pump.
//!
//! Documents, the workspace under them, settings, and how far the workspace is known. Whoever wants to compute something
//! takes a [`SessionSnapshot`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tower_lsp_server::ls_types::{DidChangeTextDocumentParams, TextDocumentItem, Uri};

use crate::load::{self, EditorFolders};
use crate::lsp::background::loader::Loaded;
use crate::lsp::session::client_features::ClientFeatures;
use crate::lsp::session::document::Document;
use crate::lsp::session::file_names::{self, FileNames};
use crate::lsp::session::snapshot::{Documents, SessionSnapshot};
use crate::workspace::{File, SETTINGS_FILE, Settings, Workspace};

/// Everything that changes.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) client: Arc<ClientFeatures>,
    pub(crate) names: Arc<FileNames>,
    pub(crate) documents: Documents,
    workspace: Workspace,
    folders: Vec<PathBuf>,
    layout: EditorFolders,
    /// Projects of open files that are in no folder, and their directories.
    outside: BTreeMap<PathBuf, Arc<str>>,
    editor_settings: Option<Settings>,
    generation: u64,
    /// What is known of the workspace is whole when nothing is read any more.
    reading: usize,
    /// Settings are known, or will not be.
    is_configured: bool,
    /// Counts every change of anything.
    pub(crate) revision: u64,
}

/// What came of a change of documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// The document.
    pub(crate) name: Option<Arc<str>>,
    /// Directories that must be read because of it.
    pub(crate) roots: Vec<PathBuf>,
    /// Whether what it defines for others is there or was.
    pub(crate) is_shared: bool,
}

impl State {
    /// A world to compute from.
    pub(crate) fn snapshot(&self) -> SessionSnapshot {
        SessionSnapshot::new(
            self.workspace.snapshot(),
            self.documents.clone(),
            Arc::clone(&self.names),
            Arc::clone(&self.client),
        )
    }

    /// The generation of a document; nothing if it is not open.
    pub(crate) fn generation(&self, name: &str) -> Option<u64> {
        self.documents.get(name).map(|it| it.generation)
    }

    /// Whether all that can be known is known: findings before that might be wrong.
    pub(crate) fn is_ready(&self) -> bool {
        self.reading == 0 && self.is_configured
    }

    /// Settings are known, or will not be.
    pub(crate) fn set_configured(&mut self) {
        self.is_configured = true;
    }

    /// Directories, which are read from now on until [`State::read`] was called for each.
    pub(crate) fn begin_reading(&mut self) {
        self.reading += 1;
    }

    /// One reading less.
    pub(crate) fn end_reading(&mut self) {
        self.reading = self.reading.saturating_sub(1);
    }

    // Folders

    /// Takes other folders, and forgets all that was read. Gives the directories to read.
    pub(crate) fn set_folders(&mut self, folders: Vec<PathBuf>) -> Vec<PathBuf> {
        self.layout = EditorFolders::new(&folders);
        self.folders = folders;
        self.outside.clear();
        self.names = Arc::new(FileNames::new(self.layout.base.as_deref()));
        self.workspace = Workspace::default();
        self.apply_settings();
        let mut roots = self.layout.roots.clone();
        let documents = std::mem::take(&mut self.documents);
        for document in documents.values() {
            roots.extend(self.put(Arc::clone(document)).roots);
        }
        self.apply_borders();
        roots
    }

    /// The folders after some have come and gone.
    pub(crate) fn folders_with(&self, added: Vec<PathBuf>, removed: &[PathBuf]) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self.folders.iter().filter(|it| !removed.contains(it)).cloned().collect();
        for folder in added {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// The directories that are looked at.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let outside = self.outside.keys().filter(|it| load::project_of(&it.join(SETTINGS_FILE)).as_ref() == Some(it));
        self.layout.roots.iter().chain(outside).cloned().collect()
    }

    /// Notes where a file that is in no folder belongs. Gives its project, if it is not known yet.
    fn adopt(&mut self, uri: &Uri) -> Option<PathBuf> {
        let path = file_names::path_of(uri)?;
        let is_below = |root: &&PathBuf| path.starts_with(root);
        if self.layout.roots.iter().any(|it| is_below(&it)) || self.outside.keys().any(|it| is_below(&it)) {
            return None;
        }
        let project = load::project_of(&path);
        let root = project.as_deref().or_else(|| path.parent())?;
        let name = self.names.of_path(root)?;
        self.outside.insert(root.to_owned(), format!("{}/", name.trim_end_matches('/')).into());
        self.apply_borders();
        project
    }

    fn apply_borders(&mut self) {
        let mut borders = self.layout.borders.clone();
        borders.extend(self.outside.values().cloned());
        self.workspace.set_roots(borders);
    }

    // Documents

    /// A document is opened, or opened again.
    pub(crate) fn open(&mut self, item: TextDocumentItem) -> Changed {
        self.generation += 1;
        let name = self.names.of_uri(&item.uri);
        let document = Document::open(item.uri, &name, &item.text, item.version, self.generation);
        let changed = self.put(Arc::new(document));
        self.apply_borders();
        changed
    }

    /// A document is edited. Nothing if it is not open.
    pub(crate) fn change(&mut self, params: DidChangeTextDocumentParams) -> Option<Changed> {
        let name = self.names.of_uri(&params.text_document.uri);
        let document = self.documents.get(&name)?;
        self.generation += 1;
        let version = params.text_document.version;
        let edited = document.edited(params.content_changes, version, self.generation, self.client.encoding);
        Some(self.put(Arc::new(edited)))
    }

    /// A document is closed: what is on disk counts again.
    pub(crate) fn close(&mut self, uri: &Uri) -> Option<Changed> {
        let name = self.names.of_uri(uri);
        self.documents.remove(&name)?;
        self.revision += 1;
        let is_shared = self.is_shared(&name);
        self.workspace.close_editor(&name);
        let is_shared = is_shared || self.is_shared(&name);
        Some(Changed { name: Some(name), roots: Vec::new(), is_shared })
    }

    fn put(&mut self, document: Arc<Document>) -> Changed {
        self.revision += 1;
        let name = self.names.of_uri(&document.uri);
        let project = self.adopt(&document.uri);
        let was_shared = self.is_shared(&name);
        self.workspace.set_editor(&name, document.facts(&name));
        let is_shared = was_shared || self.is_shared(&name);
        self.documents.insert(Arc::clone(&name), document);
        Changed { name: Some(name), roots: project.into_iter().collect(), is_shared }
    }

    /// Whether other files may see what a file says.
    fn is_shared(&self, name: &str) -> bool {
        self.workspace.snapshot().file(name).is_some_and(|it| shares(it))
    }

    // Files

    /// Files were read, or are gone. What was named in another way than now belongs to folders that are closed.
    pub(crate) fn apply(&mut self, loaded: Vec<Loaded>, names: &Arc<FileNames>) {
        if !Arc::ptr_eq(names, &self.names) {
            return;
        }
        self.revision += 1;
        for it in loaded {
            match it {
                Loaded::File(name, file) => self.workspace.set_disk(&name, *file),
                Loaded::Gone(name) => {
                    // A directory that is gone is gone with all in it.
                    let below = format!("{name}/");
                    let snapshot = self.workspace.snapshot();
                    let inside = snapshot.files().map(|(path, _)| path).filter(|path| path.starts_with(&below));
                    for path in inside {
                        self.workspace.remove_disk(path);
                    }
                    self.workspace.remove_disk(&name);
                }
            }
        }
    }

    /// Whether a settings file above all that is looked at has changed; it is read again.
    pub(crate) fn reload_above(&mut self, paths: &[PathBuf]) {
        let base = self.layout.base.as_deref();
        let is_above = |path: &PathBuf| {
            path.ends_with(SETTINGS_FILE)
                && base.is_some_and(|base| path.parent().is_some_and(|it| base.starts_with(it)))
        };
        if paths.iter().any(is_above) {
            self.layout.above = EditorFolders::new(&self.folders).above;
            self.apply_settings();
        }
    }

    // Settings

    /// Takes the editor's settings.
    pub(crate) fn set_editor_settings(&mut self, settings: Option<Settings>) {
        self.revision += 1;
        self.editor_settings = settings;
        self.apply_settings();
    }

    /// Settings files are nearer to the files than the editor is: it counts for what they do not say.
    fn apply_settings(&mut self) {
        self.workspace.set_defaults(self.layout.above.clone().unwrap_or_default());
        self.workspace.set_base(self.editor_settings.clone());
    }

    /// FileNames of open documents but some.
    pub(crate) fn others(&self, but: &BTreeSet<Arc<str>>) -> Vec<Arc<str>> {
        self.documents.keys().filter(|it| !but.contains(*it)).cloned().collect()
    }
}

fn shares(file: &File) -> bool {
    use crate::k8s::ObjectData;
    file.settings.is_some() || file.objects.iter().any(|it| !matches!(it.model.data, ObjectData::None))
}

/// The folders that `initialize` names.
pub(crate) fn folders(uris: impl Iterator<Item = Uri>) -> Vec<PathBuf> {
    uris.filter_map(|uri| file_names::path_of(&uri)).map(|it| normal(&it)).collect()
}

/// A path without a trailing separator.
fn normal(path: &Path) -> PathBuf {
    path.components().collect()
}
