//! From `initialize` to the last change of a setting: what notifications and news do to the state.
//!
//! Findings are held back until the folders are read and the settings are known: before that they might be wrong.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tower_lsp_server::ls_types::notification::{LogMessage, Progress, ShowMessage};
use tower_lsp_server::ls_types::request::{
    RegisterCapability, UnregisterCapability, WorkDoneProgressCreate, WorkspaceConfiguration,
};
use tower_lsp_server::ls_types::{
    ConfigurationItem, ConfigurationParams, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, InitializeParams, InitializeResult, LogMessageParams, MessageType, ProgressParams,
    ProgressParamsValue, ProgressToken, Registration, RegistrationParams, ShowMessageParams, Unregistration,
    UnregistrationParams, WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd,
    WorkDoneProgressReport, WorkspaceDiagnosticParams,
};

use crate::lsp::background::client_process;
use crate::lsp::background::loader::{News, Order};
use crate::lsp::background::watcher::Watcher;
use crate::lsp::cancellation::CancelToken;
use crate::lsp::requests::server_capabilities;
use crate::lsp::router::{Event, Inner};
use crate::lsp::session::client_features::ClientFeatures;
use crate::lsp::session::editor_settings;
use crate::lsp::session::file_names;
use crate::lsp::session::state::{Changed, folders};
use crate::workspace::MANIFEST_EXTENSIONS;

/// How long a client may take to tell its settings before findings are told without them.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the client's process is looked for.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// Between two reports on the whole workspace, so that typing does not check everything all the time.
const PAUSE: Duration = Duration::from_millis(500);

/// The registration of watched files.
const WATCH: &str = "podlens-watch";

/// What is told while folders are read.
#[derive(Debug, Default)]
pub(crate) struct Indexing {
    /// Counts every reading.
    number: u64,
    stop: CancelToken,
    /// Whether the client has agreed to show it, whether it is shown, and whether it is over.
    is_created: bool,
    is_begun: bool,
    is_over: bool,
    done: usize,
    total: usize,
    told_percentage: u32,
    /// Whether the client watches files for us.
    is_watching: bool,
}

impl Indexing {
    fn token(&self) -> ProgressToken {
        ProgressToken::String(format!("podlens/indexing/{}", self.number))
    }
}

impl Inner {
    fn indexing(&self) -> MutexGuard<'_, Indexing> {
        self.indexing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // The beginning

    #[expect(deprecated, reason = "older clients say nothing but the root")]
    pub(crate) fn initialize(self: &Arc<Self>, params: InitializeParams) -> InitializeResult {
        let client = Arc::new(ClientFeatures::of(&params.capabilities));
        if let Some(info) = &params.client_info {
            let version = info.version.as_deref().unwrap_or_default();
            self.log.write(format_args!("the client is {} {version}, counting in {:?}", info.name, client.encoding));
        }
        let mut opened: Vec<PathBuf> = match params.workspace_folders {
            Some(given) => folders(given.into_iter().map(|it| it.uri)),
            None => folders(params.root_uri.into_iter()),
        };
        if opened.is_empty()
            && let Some(path) = params.root_path.map(PathBuf::from).filter(|it| it.is_absolute())
        {
            opened.push(path);
        }
        self.set_trace(params.trace.unwrap_or_default());
        {
            let mut state = self.state();
            state.client = Arc::clone(&client);
            state.set_folders(opened);
            if let Some(options) = &params.initialization_options {
                state.set_editor_settings(editor_settings::read(options));
            }
        }
        if let Some(process) = params.process_id.or(self.client_process) {
            self.watch_client(process);
        }
        server_capabilities::result(&client)
    }

    pub(crate) fn initialized(self: &Arc<Self>) {
        let (client, roots) = {
            let state = self.state();
            (Arc::clone(&state.client), state.roots())
        };
        if client.registers_configuration {
            let registration = Registration {
                id: "podlens-configuration".into(),
                method: "workspace/didChangeConfiguration".into(),
                register_options: Some(json!({"section": editor_settings::SECTION})),
            };
            self.outbox.request::<RegisterCapability>(RegistrationParams { registrations: vec![registration] }, drop);
        }
        self.watch_files(&client);
        self.index(roots);
        self.ask_for_settings();
    }

    /// Ends with the client: it may die without a word.
    fn watch_client(self: &Arc<Self>, process: u32) {
        let events = self.teller();
        tokio::spawn(async move {
            while client_process::is_alive(process) {
                tokio::time::sleep(HEARTBEAT).await;
            }
            // The pump ends; if it has already, that is the same.
            let _ = events.send(Event::ClientGone);
        });
    }

    /// What happened elsewhere.
    pub(crate) fn handle(self: &Arc<Self>, event: Event) {
        match event {
            Event::News(news) => self.news(news),
            Event::Found(found) => self.found(found),
            Event::OthersFound { found, is_cut_short } => self.others_found(found, is_cut_short),
            Event::FilesChanged(paths) => self.files_changed(paths),
            Event::Configuration(value) => self.configure(value.as_ref()),
            Event::ConfigurationIsLate => {
                self.state().set_configured();
                self.after_change();
            }
            Event::ProgressCreated(number) => self.progress_created(number),
            Event::ClientGone => {}
        }
    }

    // Settings

    fn ask_for_settings(self: &Arc<Self>) {
        if !self.state().client.configuration {
            self.state().set_configured();
            self.after_change();
            return;
        }
        let item = ConfigurationItem { scope_uri: None, section: Some(editor_settings::SECTION.into()) };
        let events = self.teller();
        self.outbox.request::<WorkspaceConfiguration>(ConfigurationParams { items: vec![item] }, move |answer| {
            let value = answer.ok().and_then(|it| it.into_iter().next());
            let _ = events.send(Event::Configuration(value));
        });
        let events = self.teller();
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            let _ = events.send(Event::ConfigurationIsLate);
        });
    }

    fn configure(self: &Arc<Self>, value: Option<&Value>) {
        let read = value.and_then(editor_settings::read);
        for mistake in read.as_ref().map(editor_settings::mistakes).unwrap_or_default() {
            let message = format!("podlens: in the editor's settings: {mistake}");
            self.outbox.notify::<ShowMessage>(ShowMessageParams { typ: MessageType::WARNING, message });
        }
        {
            let mut state = self.state();
            // A client that has no settings may have given some when it started.
            if read.is_some() || state.is_ready() {
                state.set_editor_settings(read);
            }
            state.set_configured();
        }
        self.checks().anything_changed(true);
        self.after_change();
    }

    pub(crate) fn did_change_configuration(self: &Arc<Self>, params: DidChangeConfigurationParams) {
        if self.state().client.configuration {
            self.ask_for_settings();
        } else {
            self.configure(Some(&params.settings));
        }
    }

    // Documents

    pub(crate) fn did_open(self: &Arc<Self>, params: DidOpenTextDocumentParams) {
        let changed = self.state().open(params.text_document);
        self.changed(changed);
    }

    pub(crate) fn did_change(self: &Arc<Self>, params: DidChangeTextDocumentParams) {
        let changed = self.state().change(params);
        match changed {
            Some(changed) => self.changed(changed),
            None => self.log.write("a change of a document that is not open"),
        }
    }

    pub(crate) fn did_close(self: &Arc<Self>, params: &DidCloseTextDocumentParams) {
        let uri = &params.text_document.uri;
        let Some(changed) = self.state().close(uri) else { return };
        if let Some(name) = &changed.name {
            self.checks().closed(name);
        }
        if !self.state().client.pulls {
            self.publish_at(uri.clone(), Vec::new(), None);
        }
        self.checks().anything_changed(changed.is_shared);
        // What is on disk counts again, and may have changed without a word.
        if let Some(path) = file_names::path_of(uri) {
            self.files_changed(vec![path]);
        }
        self.after_change();
    }

    fn changed(self: &Arc<Self>, changed: Changed) {
        if let Some(name) = changed.name {
            self.checks().changed(name, changed.is_shared);
        }
        if !changed.roots.is_empty() {
            self.index(changed.roots);
        }
        self.after_change();
    }

    /// Tells those who wait.
    fn after_change(&self) {
        let state = self.state();
        self.ready.send_replace(state.is_ready());
        self.revisions.send_replace(state.revision);
    }

    pub(crate) async fn wait_until_ready(&self) {
        // The sender lives as long as this.
        let _ = self.ready.subscribe().wait_for(|it| *it).await;
    }

    /// A report on the whole workspace is worth making at once, or when something has changed since the last one.
    pub(crate) async fn wait_for_news(&self, params: &WorkspaceDiagnosticParams) {
        let seen = *self.revisions.borrow();
        if !params.previous_result_ids.is_empty() && self.reported.load(Ordering::Relaxed) == seen {
            let mut revisions = self.revisions.subscribe();
            let _ = revisions.wait_for(|it| *it != seen).await;
            tokio::time::sleep(PAUSE).await;
        }
        self.wait_until_ready().await;
        self.reported.store(*self.revisions.borrow(), Ordering::Relaxed);
    }

    // Folders and files

    pub(crate) fn did_change_workspace_folders(self: &Arc<Self>, params: DidChangeWorkspaceFoldersParams) {
        let added = folders(params.event.added.into_iter().map(|it| it.uri));
        let removed = folders(params.event.removed.into_iter().map(|it| it.uri));
        // What is still read of the old folders has other names.
        self.indexing().stop.cancel();
        let (client, roots) = {
            let mut state = self.state();
            let folders = state.folders_with(added, &removed);
            (Arc::clone(&state.client), state.set_folders(folders))
        };
        self.watch_files(&client);
        self.index(roots);
        self.checks().anything_changed(true);
        self.after_change();
    }

    pub(crate) fn did_change_watched_files(self: &Arc<Self>, params: DidChangeWatchedFilesParams) {
        self.files_changed(params.changes.iter().filter_map(|it| file_names::path_of(&it.uri)).collect());
    }

    fn files_changed(self: &Arc<Self>, paths: Vec<PathBuf>) {
        let (roots, names) = {
            let mut state = self.state();
            state.reload_above(&paths);
            state.begin_reading();
            (state.roots(), Arc::clone(&state.names))
        };
        self.loader.order(Order::Read { paths: paths.into_iter().collect::<BTreeSet<_>>(), roots, names });
        self.after_change();
    }

    /// Reads directories in the background.
    fn index(self: &Arc<Self>, roots: Vec<PathBuf>) {
        let (names, shows_progress) = {
            let mut state = self.state();
            state.begin_reading();
            (Arc::clone(&state.names), state.client.progress && !roots.is_empty())
        };
        let (number, stop, token) = {
            let mut indexing = self.indexing();
            self.progress_end(&mut indexing);
            let is_watching = indexing.is_watching;
            *indexing = Indexing { number: indexing.number + 1, is_watching, ..Indexing::default() };
            (indexing.number, indexing.stop.clone(), indexing.token())
        };
        if shows_progress {
            let events = self.teller();
            self.outbox.request::<WorkDoneProgressCreate>(WorkDoneProgressCreateParams { token }, move |answer| {
                if answer.is_ok() {
                    let _ = events.send(Event::ProgressCreated(number));
                }
            });
        }
        self.log.write(format_args!("reading {} directories", roots.len()));
        self.loader.order(Order::Index { roots, names, stop, number });
        self.after_change();
    }

    fn news(self: &Arc<Self>, news: News) {
        match news {
            News::Directories(directories) => {
                let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(watch) = &mut *watch {
                    directories.iter().for_each(|it| watch.add(it));
                }
            }
            News::Files(loaded, names) => self.state().apply(loaded, &names),
            News::Progress { number, done, total } => self.progress_made(number, done, total),
            News::Indexed { number, whole } => {
                self.state().end_reading();
                self.progress_over(number, whole);
                self.checks().anything_changed(true);
                self.after_change();
            }
            News::Read => {
                self.state().end_reading();
                self.checks().anything_changed(true);
                self.after_change();
            }
        }
    }

    /// Has files watched by the client, or by ourselves where it cannot.
    fn watch_files(self: &Arc<Self>, client: &ClientFeatures) {
        if !client.watches {
            let events = self.teller();
            let watch = Watcher::new(move |paths| drop(events.send(Event::FilesChanged(paths))));
            if let Err(error) = &watch {
                self.log.write(format_args!("files cannot be watched: {error}"));
            }
            *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = watch.ok();
            return;
        }
        let method = "workspace/didChangeWatchedFiles".to_owned();
        if std::mem::replace(&mut self.indexing().is_watching, true) {
            let unregisterations = vec![Unregistration { id: WATCH.into(), method: method.clone() }];
            self.outbox.request::<UnregisterCapability>(UnregistrationParams { unregisterations }, drop);
        }
        let manifests = format!("**/*.{{{}}}", MANIFEST_EXTENSIONS.join(","));
        let state = self.state();
        let anywhere = state.roots().into_iter().filter_map(|root| state.names.uri(&state.names.of_path(&root)?));
        let watchers: Vec<Value> = if client.watches_anywhere && !state.roots().is_empty() {
            // The project may be larger than the folder that is open.
            anywhere.map(|base| json!({"globPattern": {"baseUri": base, "pattern": manifests}})).collect()
        } else {
            vec![json!({"globPattern": manifests})]
        };
        let register_options = Some(json!({ "watchers": watchers }));
        let registrations = vec![Registration { id: WATCH.into(), method, register_options }];
        self.outbox.request::<RegisterCapability>(RegistrationParams { registrations }, drop);
    }

    // Progress

    pub(crate) fn cancel_indexing(&self, token: &ProgressToken) {
        let indexing = self.indexing();
        if indexing.token() == *token {
            indexing.stop.cancel();
        }
    }

    fn progress_created(&self, number: u64) {
        let mut indexing = self.indexing();
        if indexing.number != number {
            return;
        }
        indexing.is_created = true;
        indexing.is_begun = true;
        self.progress(
            &indexing,
            WorkDoneProgress::Begin(WorkDoneProgressBegin {
                title: "podlens: reading manifests".into(),
                cancellable: Some(true),
                message: None,
                percentage: Some(0),
            }),
        );
        if indexing.is_over {
            self.progress_end(&mut indexing);
        }
    }

    fn progress_made(&self, number: u64, done: usize, total: usize) {
        let mut indexing = self.indexing();
        if indexing.number != number {
            return;
        }
        (indexing.done, indexing.total) = (done, total);
        let percentage = u32::try_from(done * 100 / total.max(1)).unwrap_or(100);
        if indexing.is_begun && percentage > indexing.told_percentage {
            indexing.told_percentage = percentage;
            self.progress(
                &indexing,
                WorkDoneProgress::Report(WorkDoneProgressReport {
                    cancellable: Some(true),
                    message: Some(format!("{done} of {total}")),
                    percentage: Some(percentage),
                }),
            );
        }
    }

    fn progress_over(&self, number: u64, whole: bool) {
        let mut indexing = self.indexing();
        if indexing.number != number {
            return;
        }
        indexing.is_over = true;
        let message = match whole {
            true => format!("{} manifests are read", indexing.total),
            false => format!("stopped after {} of {} manifests", indexing.done, indexing.total),
        };
        self.log.write(&message);
        if !whole {
            let message = format!("podlens: {message}; what stands in the others is not known");
            self.outbox.notify::<LogMessage>(LogMessageParams { typ: MessageType::INFO, message });
        }
        self.progress_end(&mut indexing);
    }

    fn progress_end(&self, indexing: &mut Indexing) {
        if std::mem::take(&mut indexing.is_begun) {
            let message = Some(format!("{} manifests", indexing.done));
            self.progress(indexing, WorkDoneProgress::End(WorkDoneProgressEnd { message }));
        }
    }

    fn progress(&self, indexing: &Indexing, value: WorkDoneProgress) {
        let value = ProgressParamsValue::WorkDone(value);
        self.outbox.notify::<Progress>(ProgressParams { token: indexing.token(), value });
    }
}
