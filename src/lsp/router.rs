//! The methods of the protocol: where each goes, and how an answer is computed.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::notification::LogTrace;
use tower_lsp_server::ls_types::{self as types, LogTraceParams, TraceValue, Uri};
use tower_lsp_server::{Client, LanguageServer};

use crate::lsp::Options;
use crate::lsp::background::diagnostics::{Checks, Found};
use crate::lsp::background::loader::{Loader, News};
use crate::lsp::background::watcher::Watcher;
use crate::lsp::cancellation::CancelToken;
use crate::lsp::hooks::Hooks;
use crate::lsp::lifecycle::Indexing;
use crate::lsp::log::Log;
use crate::lsp::requests::{
    code_action, code_lens, completion, definition, diagnostics, document_highlight, document_link, document_symbol,
    environment, execute_command, hover, inlay_hint, preview, references, rename, semantic_tokens, workspace_symbol,
};
use crate::lsp::session::snapshot::SessionSnapshot;
use crate::lsp::session::state::State;
use crate::lsp::transport::outbox::Outbox;

/// Something that happened elsewhere, for the pump.
#[derive(Debug)]
pub(crate) enum Event {
    /// The loader has read something.
    News(News),
    /// What was found in documents that changed.
    Found(Vec<Found>),
    /// What was found in the others.
    OthersFound { found: Vec<Found>, is_cut_short: bool },
    /// Files may have changed on disk.
    FilesChanged(Vec<std::path::PathBuf>),
    /// The client has told its settings, or that it has none.
    Configuration(Option<Value>),
    /// The client takes its time to tell its settings.
    ConfigurationIsLate,
    /// The client shows progress.
    ProgressCreated(u64),
    /// The client is gone.
    ClientGone,
}

/// The server, as the service knows it.
#[derive(Debug)]
pub(crate) struct Server {
    inner: Arc<Inner>,
}

/// What all threads share.
pub(crate) struct Inner {
    state: Mutex<State>,
    checks: Mutex<Checks>,
    pub(crate) indexing: Mutex<Indexing>,
    pub(crate) watch: Mutex<Option<Watcher>>,
    pub(crate) outbox: Outbox,
    pub(crate) loader: Loader,
    pub(crate) log: Log,
    pub(crate) hooks: Hooks,
    /// Whether findings can be trusted.
    pub(crate) ready: watch::Sender<bool>,
    /// Says when anything has changed.
    pub(crate) revisions: watch::Sender<u64>,
    /// The revision of the last report on the whole workspace.
    pub(crate) reported: AtomicU64,
    pub(crate) client_process: Option<u32>,
    tokens: Arc<semantic_tokens::ReportedTokens>,
    trace: AtomicU8,
    events: mpsc::UnboundedSender<Event>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").finish_non_exhaustive()
    }
}

impl Inner {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn checks(&self) -> MutexGuard<'_, Checks> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the pump.
    pub(crate) fn tell(&self, event: Event) {
        // Nobody listens any more only when the server ends.
        let _ = self.events.send(event);
    }

    /// A way to tell the pump, for other threads.
    pub(crate) fn teller(&self) -> mpsc::UnboundedSender<Event> {
        self.events.clone()
    }

    pub(crate) fn set_trace(&self, value: TraceValue) {
        self.trace.store(value as u8, Ordering::Relaxed);
    }

    fn answered(&self, method: &str, start: Instant, how: &str) {
        let took = start.elapsed().as_secs_f64() * 1000.0;
        self.log.write(format_args!("{method}: {how} after {took:.1} ms"));
        if self.trace.load(Ordering::Relaxed) != TraceValue::Off as u8 {
            let verbose = (self.trace.load(Ordering::Relaxed) == TraceValue::Verbose as u8).then(|| {
                let state = self.state();
                format!("{} documents are open, revision {}", state.documents.len(), state.revision)
            });
            self.outbox
                .notify::<LogTrace>(LogTraceParams { message: format!("{method}: {how} after {took:.1} ms"), verbose });
        }
    }
}

impl Server {
    pub(crate) fn new(client: Client, events: mpsc::UnboundedSender<Event>, options: Options, log: Log) -> Self {
        let news = events.clone();
        let inner = Inner {
            state: Mutex::default(),
            checks: Mutex::default(),
            indexing: Mutex::default(),
            watch: Mutex::default(),
            outbox: Outbox::new(client),
            loader: Loader::new(move |it| drop(news.send(Event::News(it)))),
            log,
            hooks: options.hooks,
            ready: watch::Sender::new(false),
            revisions: watch::Sender::new(0),
            reported: AtomicU64::new(u64::MAX),
            client_process: options.client_process,
            tokens: Arc::default(),
            trace: AtomicU8::default(),
            events,
        };
        Self { inner: Arc::new(inner) }
    }

    /// What all threads share.
    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Computes an answer on another thread, from what is known now. If the document is another one by then, the answer
    /// is about a text that nobody sees.
    async fn answer<P, T>(
        &self,
        method: &'static str,
        uri: Option<&Uri>,
        params: P,
        handler: fn(&SessionSnapshot, P) -> Result<T>,
    ) -> Result<T>
    where
        P: Send + 'static,
        T: Send + 'static,
    {
        let uri = uri.cloned();
        self.compute(method, uri, move |snapshot| handler(snapshot, params), Error::content_modified).await
    }

    async fn compute<T: Send + 'static>(
        &self,
        method: &'static str,
        uri: Option<Uri>,
        work: impl FnOnce(&SessionSnapshot) -> Result<T> + Send + 'static,
        stale: fn() -> Error,
    ) -> Result<T> {
        let start = Instant::now();
        let inner = &self.inner;
        let (snapshot, name, generation) = {
            let state = inner.state();
            let name = uri.map(|uri| state.names.of_uri(&uri));
            let generation = name.as_deref().and_then(|name| state.generation(name));
            (state.snapshot().with_tokens(Arc::clone(&inner.tokens)), name, generation)
        };
        let token: CancelToken = snapshot.token.clone();
        let _guard = token.guard();
        let hooks = inner.hooks.clone();
        let computed = tokio::task::spawn_blocking(move || {
            hooks.run(method, &token);
            if token.is_cancelled() {
                return Err(Error::request_cancelled());
            }
            work(&snapshot)
        });
        let (answer, how) = match computed.await {
            Ok(answer) => {
                let now = name.as_deref().and_then(|name| inner.state().generation(name));
                match answer {
                    _ if now != generation => (Err(stale()), "too late"),
                    Ok(answer) => (Ok(answer), "answered"),
                    Err(error) => (Err(error), "refused"),
                }
            }
            Err(_) => (Err(Error::internal_error()), "failed"),
        };
        inner.answered(method, start, how);
        answer
    }

    // Requests of our own.

    pub(crate) async fn environment(&self, params: environment::Params) -> Result<Option<Value>> {
        let uri = params.text_document.uri.clone();
        self.answer(environment::METHOD, Some(&uri), params, environment::answer).await
    }

    pub(crate) async fn preview(&self, params: preview::Params) -> Result<Option<Value>> {
        let uri = params.text_document.uri.clone();
        self.answer(preview::METHOD, Some(&uri), params, preview::answer).await
    }

    // Notifications that the trait does not know.

    pub(crate) async fn set_trace(&self, params: types::SetTraceParams) {
        self.inner.set_trace(params.value);
    }

    pub(crate) async fn cancel_progress(&self, params: types::WorkDoneProgressCancelParams) {
        self.inner.cancel_indexing(&params.token);
    }
}

/// The document of parameters that have a position.
fn at(params: &types::TextDocumentPositionParams) -> Uri {
    params.text_document.uri.clone()
}

impl LanguageServer for Server {
    async fn initialize(&self, params: types::InitializeParams) -> Result<types::InitializeResult> {
        Ok(self.inner.initialize(params))
    }

    async fn initialized(&self, _: types::InitializedParams) {
        self.inner.initialized();
    }

    async fn shutdown(&self) -> Result<()> {
        self.inner.log.write("shut down");
        Ok(())
    }

    async fn did_open(&self, params: types::DidOpenTextDocumentParams) {
        self.inner.did_open(params);
    }

    async fn did_change(&self, params: types::DidChangeTextDocumentParams) {
        self.inner.did_change(params);
    }

    async fn did_save(&self, _: types::DidSaveTextDocumentParams) {}

    async fn did_close(&self, params: types::DidCloseTextDocumentParams) {
        self.inner.did_close(&params);
    }

    async fn did_change_configuration(&self, params: types::DidChangeConfigurationParams) {
        self.inner.did_change_configuration(params);
    }

    async fn did_change_workspace_folders(&self, params: types::DidChangeWorkspaceFoldersParams) {
        self.inner.did_change_workspace_folders(params);
    }

    async fn did_change_watched_files(&self, params: types::DidChangeWatchedFilesParams) {
        self.inner.did_change_watched_files(params);
    }

    async fn diagnostic(
        &self,
        params: types::DocumentDiagnosticParams,
    ) -> Result<types::DocumentDiagnosticReportResult> {
        self.inner.wait_until_ready().await;
        let uri = params.text_document.uri.clone();
        let work = move |snapshot: &SessionSnapshot| Ok(diagnostics::answer(snapshot, params));
        let (name, id, answer) = self.compute(diagnostics::METHOD, Some(uri), work, diagnostics::ask_again).await?;
        // Only an answer that is sent is known to the client.
        self.inner.checks().told(&name, &id);
        Ok(answer)
    }

    async fn workspace_diagnostic(
        &self,
        params: types::WorkspaceDiagnosticParams,
    ) -> Result<types::WorkspaceDiagnosticReportResult> {
        self.inner.wait_for_news(&params).await;
        self.answer("workspace/diagnostic", None, params, diagnostics::workspace).await
    }

    async fn hover(&self, params: types::HoverParams) -> Result<Option<types::Hover>> {
        let uri = at(&params.text_document_position_params);
        self.answer("textDocument/hover", Some(&uri), params, hover::answer).await
    }

    async fn completion(&self, params: types::CompletionParams) -> Result<Option<types::CompletionResponse>> {
        let uri = at(&params.text_document_position);
        self.answer("textDocument/completion", Some(&uri), params, completion::answer).await
    }

    async fn completion_resolve(&self, item: types::CompletionItem) -> Result<types::CompletionItem> {
        self.answer("completionItem/resolve", None, item, completion::resolve).await
    }

    async fn goto_definition(
        &self,
        params: types::GotoDefinitionParams,
    ) -> Result<Option<types::GotoDefinitionResponse>> {
        let uri = at(&params.text_document_position_params);
        self.answer("textDocument/definition", Some(&uri), params, definition::answer).await
    }

    async fn references(&self, params: types::ReferenceParams) -> Result<Option<Vec<types::Location>>> {
        let uri = at(&params.text_document_position);
        self.answer("textDocument/references", Some(&uri), params, references::answer).await
    }

    async fn document_highlight(
        &self,
        params: types::DocumentHighlightParams,
    ) -> Result<Option<Vec<types::DocumentHighlight>>> {
        let uri = at(&params.text_document_position_params);
        self.answer("textDocument/documentHighlight", Some(&uri), params, document_highlight::answer).await
    }

    async fn prepare_rename(
        &self,
        params: types::TextDocumentPositionParams,
    ) -> Result<Option<types::PrepareRenameResponse>> {
        let uri = at(&params);
        self.answer("textDocument/prepareRename", Some(&uri), params, rename::prepare).await
    }

    async fn rename(&self, params: types::RenameParams) -> Result<Option<types::WorkspaceEdit>> {
        let uri = at(&params.text_document_position);
        self.answer("textDocument/rename", Some(&uri), params, rename::answer).await
    }

    async fn code_action(&self, params: types::CodeActionParams) -> Result<Option<types::CodeActionResponse>> {
        let uri = params.text_document.uri.clone();
        self.answer("textDocument/codeAction", Some(&uri), params, code_action::answer).await
    }

    async fn code_action_resolve(&self, action: types::CodeAction) -> Result<types::CodeAction> {
        self.answer("codeAction/resolve", None, action, code_action::resolve).await
    }

    async fn inlay_hint(&self, params: types::InlayHintParams) -> Result<Option<Vec<types::InlayHint>>> {
        let uri = params.text_document.uri.clone();
        self.answer("textDocument/inlayHint", Some(&uri), params, inlay_hint::answer).await
    }

    async fn semantic_tokens_full(
        &self,
        params: types::SemanticTokensParams,
    ) -> Result<Option<types::SemanticTokensResult>> {
        let uri = params.text_document.uri.clone();
        self.answer("textDocument/semanticTokens/full", Some(&uri), params, semantic_tokens::full).await
    }

    async fn semantic_tokens_full_delta(
        &self,
        params: types::SemanticTokensDeltaParams,
    ) -> Result<Option<types::SemanticTokensFullDeltaResult>> {
        let uri = params.text_document.uri.clone();
        self.answer("textDocument/semanticTokens/full/delta", Some(&uri), params, semantic_tokens::delta).await
    }

    async fn semantic_tokens_range(
        &self,
        params: types::SemanticTokensRangeParams,
    ) -> Result<Option<types::SemanticTokensRangeResult>> {
        let uri = params.text_document.uri.clone();
        self.answer("textDocument/semanticTokens/range", Some(&uri), params, semantic_tokens::range).await
    }

    async fn code_lens(&self, params: types::CodeLensParams) -> Result<Option<Vec<types::CodeLens>>> {
        let uri = params.text_document.uri.clone();
        self.answer("textDocument/codeLens", Some(&uri), params, code_lens::answer).await
    }

    async fn code_lens_resolve(&self, lens: types::CodeLens) -> Result<types::CodeLens> {
        self.answer("codeLens/resolve", None, lens, code_lens::resolve).await
    }

    async fn document_symbol(
        &self,
        params: types::DocumentSymbolParams,
    ) -> Result<Option<types::DocumentSymbolResponse>> {
        let uri = params.text_document.uri.clone();
        self.answer("textDocument/documentSymbol", Some(&uri), params, document_symbol::answer).await
    }

    async fn symbol(&self, params: types::WorkspaceSymbolParams) -> Result<Option<types::WorkspaceSymbolResponse>> {
        self.answer("workspace/symbol", None, params, workspace_symbol::answer).await
    }

    async fn document_link(&self, params: types::DocumentLinkParams) -> Result<Option<Vec<types::DocumentLink>>> {
        let uri = params.text_document.uri.clone();
        self.answer("textDocument/documentLink", Some(&uri), params, document_link::answer).await
    }

    async fn execute_command(&self, params: types::ExecuteCommandParams) -> Result<Option<Value>> {
        self.answer("workspace/executeCommand", None, params, execute_command::answer).await
    }
}
