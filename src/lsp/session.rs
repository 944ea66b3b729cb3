//! Everything the server knows: documents, workspace, settings, and the work that is still to be done.
//!
//! Only the main loop changes a [`Session`]. Requests compute their answers from a [`SessionSnapshot`], and other threads
//! send [`Task`]s. This module knows nothing of the code that handles messages.

mod check_queue;
mod client_features;
mod diagnostic_report;
mod document;
mod editor_settings;
mod file_names;
mod folders;
mod load_request;
mod readiness;
mod reported_tokens;
mod snapshot;
mod tasks;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use tower_lsp_server::ls_types::{DidChangeTextDocumentParams, ProgressToken, TextDocumentItem, TraceValue, Uri};

use crate::k8s::ObjectData;
use crate::lsp::cancellation::CancelToken;
use crate::lsp::hooks::Hooks;
use crate::lsp::log::Log;
use crate::lsp::transport::Outbox;
use crate::workspace::{File, Settings, Workspace};

pub(crate) use check_queue::{CheckQueue, ReportIds};
pub(crate) use client_features::ClientFeatures;
pub(crate) use diagnostic_report::{DiagnosticReport, findings, to_protocol};
pub(crate) use editor_settings::{SECTION, parse_editor_settings};
pub(crate) use file_names::{FileNames, uri_to_path};
pub(crate) use folders::Folders;
pub(crate) use load_request::{IndexRun, LoadRequest, LoadedFile};
pub(crate) use readiness::Readiness;
pub(crate) use reported_tokens::TokenReport;
pub(crate) use snapshot::SessionSnapshot;
pub(crate) use tasks::{Task, TaskSender};

use document::{Document, Documents};
use reported_tokens::ReportedTokens;

/// Everything the server knows.
#[derive(Debug)]
pub(crate) struct Session {
    /// What the client supports.
    pub(crate) client: Arc<ClientFeatures>,
    /// Open documents by name.
    pub(crate) documents: Documents,
    /// The workspace folders.
    pub(crate) folders: Folders,
    /// Documents to check in the background.
    pub(crate) checks: CheckQueue,
    /// Whether files and settings are known.
    pub(crate) readiness: Readiness,
    /// Index runs that are not finished.
    pub(crate) index_runs: Vec<IndexRun>,
    /// Whether the client watches files for the server.
    pub(crate) is_watched_by_client: bool,
    /// Whether the client has disconnected without `exit`.
    pub(crate) is_client_gone: bool,
    /// The process whose end also ends the server, if `initialize` names none.
    pub(crate) client_process: Option<u32>,
    /// The revision of the last `workspace/diagnostic` report.
    pub(crate) workspace_report_revision: Option<u64>,
    /// The trace level that the client has set with `$/setTrace`.
    pub(crate) trace: TraceValue,
    pub(crate) outbox: Outbox,
    pub(crate) tasks: TaskSender,
    pub(crate) log: Log,
    pub(crate) hooks: Hooks,
    workspace: Workspace,
    editor_settings: Option<Settings>,
    reported_tokens: Arc<ReportedTokens>,
    loader: mpsc::Sender<LoadRequest>,
    /// The number of texts that documents have had.
    generation: u64,
    /// The number of index runs that were started.
    index_run_count: u64,
}

impl Session {
    /// A session before `initialize`.
    pub(crate) fn new(
        outbox: Outbox,
        tasks: TaskSender,
        loader: mpsc::Sender<LoadRequest>,
        log: Log,
        hooks: Hooks,
        client_process: Option<u32>,
    ) -> Self {
        Self {
            client: Arc::default(),
            documents: Documents::default(),
            folders: Folders::default(),
            checks: CheckQueue::default(),
            readiness: Readiness::default(),
            index_runs: Vec::new(),
            is_watched_by_client: false,
            is_client_gone: false,
            client_process,
            workspace_report_revision: None,
            trace: TraceValue::default(),
            outbox,
            tasks,
            log,
            hooks,
            workspace: Workspace::default(),
            editor_settings: None,
            reported_tokens: Arc::default(),
            loader,
            generation: 0,
            index_run_count: 0,
        }
    }

    /// The session at this moment, for another thread.
    pub(crate) fn snapshot(&self) -> SessionSnapshot {
        SessionSnapshot::new(
            self.workspace.snapshot(),
            self.documents.clone(),
            Arc::clone(self.folders.names()),
            Arc::clone(&self.client),
            Arc::clone(&self.reported_tokens),
        )
    }

    /// The name of the file or document of a URI.
    pub(crate) fn name(&self, uri: &Uri) -> Arc<str> {
        self.folders.names().uri_to_name(uri)
    }

    /// The generation of a document; `None` if it is not open.
    pub(crate) fn generation(&self, name: &str) -> Option<u64> {
        self.documents.get(name).map(|it| it.generation)
    }

    // Documents

    /// Opens a document, or replaces one that is open.
    pub(crate) fn open_document(&mut self, item: TextDocumentItem) {
        self.generation += 1;
        let name = self.name(&item.uri);
        let document = Document::open(item.uri, &name, &item.text, item.version, self.generation);
        self.update_document(name, document);
    }

    /// Applies edits. Returns false if the document is not open.
    pub(crate) fn change_document(&mut self, params: DidChangeTextDocumentParams) -> bool {
        let name = self.name(&params.text_document.uri);
        let Some(document) = self.documents.get(&name) else { return false };
        self.generation += 1;
        let version = params.text_document.version;
        let edited = document.edited(params.content_changes, version, self.generation, self.client.encoding);
        self.update_document(name, edited);
        true
    }

    /// Closes a document: the file on disk is used again. Returns false if the document is not open.
    pub(crate) fn close_document(&mut self, uri: &Uri) -> bool {
        let name = self.name(uri);
        if self.documents.remove(&name).is_none() {
            return false;
        }
        self.readiness.count_change();
        let was_shared = self.is_shared(&name);
        self.workspace.close_editor(&name);
        let is_shared = was_shared || self.is_shared(&name);
        self.checks.document_closed(&name);
        self.checks.anything_changed(is_shared);
        true
    }

    fn update_document(&mut self, name: Arc<str>, document: Document) {
        let (is_shared, project) = self.insert_document(&name, Arc::new(document));
        self.checks.document_changed(name, is_shared);
        if let Some(project) = project {
            self.index(vec![project]);
        }
    }

    /// Adds a document, or its new text, to the workspace. Returns whether other files may depend on the old or the new
    /// text, and the project around it if that must be read.
    fn insert_document(&mut self, name: &Arc<str>, document: Arc<Document>) -> (bool, Option<PathBuf>) {
        self.readiness.count_change();
        let outside = self.folders.add_outside(&document.uri);
        if outside.is_some() {
            self.workspace.set_roots(self.folders.project_borders());
        }
        let was_shared = self.is_shared(name);
        self.workspace.set_editor(name, document.file(name));
        self.documents.insert(Arc::clone(name), document);
        (was_shared || self.is_shared(name), outside.and_then(|it| it.project))
    }

    /// Whether a file has settings or objects that other files may depend on.
    fn is_shared(&self, name: &str) -> bool {
        let is_shared = |file: &File| {
            file.settings.is_some() || file.objects.iter().any(|it| !matches!(it.model.data, ObjectData::None))
        };
        self.workspace.snapshot().file(name).is_some_and(|it| is_shared(it))
    }

    // Folders and files

    /// Replaces the workspace folders. Everything that was read is forgotten. Returns the directories to read.
    pub(crate) fn set_folders(&mut self, folders: Vec<PathBuf>) -> Vec<PathBuf> {
        self.folders = Folders::new(folders);
        self.workspace = Workspace::default();
        self.apply_settings();
        let mut directories = self.folders.roots();
        // Their names depend on the folders.
        for document in std::mem::take(&mut self.documents).values() {
            let name = self.name(&document.uri);
            directories.extend(self.insert_document(&name, Arc::clone(document)).1);
        }
        self.workspace.set_roots(self.folders.project_borders());
        directories
    }

    /// Sends a request to the loader.
    pub(crate) fn load(&mut self, request: LoadRequest) {
        if !matches!(request, LoadRequest::WatchDirectories) {
            self.readiness.start_read();
        }
        // The loader runs as long as the session.
        let _ = self.loader.send(request);
    }

    /// Requests the loader to read all manifests below some directories.
    pub(crate) fn index(&mut self, directories: Vec<PathBuf>) {
        self.index_run_count += 1;
        let run = IndexRun {
            token: ProgressToken::String(format!("podlens/indexing/{}", self.index_run_count)),
            shows_progress: self.client.progress && !directories.is_empty(),
            stop: CancelToken::default(),
        };
        self.log.write(format_args!("reading {} directories", directories.len()));
        self.index_runs.push(run.clone());
        self.load(LoadRequest::Index { run, directories, names: Arc::clone(self.folders.names()) });
    }

    /// Requests the loader to read paths that may have changed on disk.
    pub(crate) fn read_files(&mut self, paths: Vec<PathBuf>) {
        if self.folders.reload_settings_above(&paths) {
            self.apply_settings();
        }
        let (roots, names) = (self.folders.roots(), Arc::clone(self.folders.names()));
        self.load(LoadRequest::Read { paths: paths.into_iter().collect(), roots, names });
    }

    /// Adds files that the loader has read. They are ignored if the folders, and so the names of files, have changed
    /// since.
    pub(crate) fn apply_loaded(&mut self, files: Vec<LoadedFile>, names: &Arc<FileNames>) {
        if !Arc::ptr_eq(names, self.folders.names()) {
            return;
        }
        self.readiness.count_change();
        for file in files {
            match file {
                LoadedFile::Found(name, file) => self.workspace.set_disk(&name, *file),
                LoadedFile::Missing(name) => self.remove_from_disk(&name),
            }
        }
    }

    /// Adds directories that hold other files than manifests, unless the names of files have changed since.
    pub(crate) fn add_directories_with_other_files(&mut self, directories: Vec<Arc<str>>, names: &Arc<FileNames>) {
        if Arc::ptr_eq(names, self.folders.names()) {
            self.workspace.add_directories_with_other_files(directories);
        }
    }

    /// Removes a file, or a directory with all files in it.
    fn remove_from_disk(&mut self, name: &str) {
        let prefix = format!("{name}/");
        let snapshot = self.workspace.snapshot();
        for (path, _) in snapshot.files().filter(|(path, _)| path.starts_with(&prefix)) {
            self.workspace.remove_disk(path);
        }
        self.workspace.remove_disk(name);
    }

    /// A load request is finished: everything may have changed.
    pub(crate) fn finish_load(&mut self) {
        self.readiness.finish_read();
        self.checks.anything_changed(true);
    }

    // Settings

    /// Replaces the editor's settings.
    pub(crate) fn set_editor_settings(&mut self, settings: Option<Settings>) {
        self.readiness.count_change();
        self.editor_settings = settings;
        self.apply_settings();
    }

    /// Settings files take precedence over the editor's settings.
    fn apply_settings(&mut self) {
        self.workspace.set_defaults(self.folders.settings_above().cloned().unwrap_or_default());
        self.workspace.set_base(self.editor_settings.clone());
    }
}

/// The session that the main loop and the futures of requests share. Both run on the same thread, so nothing waits for
/// the lock; it must not be held over an `await`.
#[derive(Clone, Debug)]
pub(crate) struct SharedSession(Arc<Mutex<Session>>);

impl SharedSession {
    pub(crate) fn new(session: Session) -> Self {
        Self(Arc::new(Mutex::new(session)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until files and settings are known.
    pub(crate) async fn wait_until_ready(&self) {
        let mut status = self.lock().readiness.subscribe();
        // An error means that the server ends.
        let _ = status.wait_for(|it| it.is_ready).await;
    }
}
