//! The routing table: one line per method.

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders,
    DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Initialized, Notification, SetTrace,
    WorkDoneProgressCancel,
};
use tower_lsp_server::ls_types::request::{
    CodeActionRequest, CodeActionResolveRequest, CodeLensRequest, CodeLensResolve, Completion,
    DocumentDiagnosticRequest, DocumentHighlightRequest, DocumentLinkRequest, DocumentSymbolRequest, ExecuteCommand,
    GotoDefinition, HoverRequest, Initialize, InlayHintRequest, PrepareRenameRequest, References, Rename, Request,
    ResolveCompletionItem, SemanticTokensFullDeltaRequest, SemanticTokensFullRequest, SemanticTokensRangeRequest,
    WorkspaceDiagnosticRequest, WorkspaceSymbolRequest,
};
use tower_lsp_server::{LanguageServer, LspService};

use crate::lsp::requests::environment::Environment;
use crate::lsp::requests::preview::Preview;
use crate::lsp::session::SharedSession;
use crate::lsp::{notifications, requests};

/// The handlers of all methods.
#[derive(Debug)]
pub(crate) struct Router {
    session: SharedSession,
}

/// The service that parses parameters, calls the router, and keeps the lifecycle of the protocol.
pub(crate) fn service(session: SharedSession) -> LspService<Router> {
    // The service's own way to the client is not used, see `transport::Outbox`.
    let (service, _) = LspService::build(|_| Router { session })
        .custom_method(Environment::METHOD, Router::environment)
        .custom_method(Preview::METHOD, Router::preview)
        .custom_method(SetTrace::METHOD, Router::set_trace)
        .custom_method(WorkDoneProgressCancel::METHOD, Router::cancel_progress)
        .finish();
    service
}

/// Requests that are answered from a snapshot on another thread. In brackets the field with the document: if that
/// changes before the answer is ready, the answer is an error.
macro_rules! snapshot_requests {
    ($($name:ident: $request:ty $([$($document:ident).+])? => $handler:path;)*) => {$(
        async fn $name(&self, params: <$request as Request>::Params) -> Result<<$request as Request>::Result> {
            let document = [$(params.$($document).+.uri.clone())?].into_iter().next();
            requests::answer_from_snapshot::<$request>(&self.session, document, params, $handler).await
        }
    )*};
}

/// Requests that wait for something before they take a snapshot.
macro_rules! waiting_requests {
    ($($name:ident: $request:ty => $handler:path;)*) => {$(
        async fn $name(&self, params: <$request as Request>::Params) -> Result<<$request as Request>::Result> {
            $handler(&self.session, params).await
        }
    )*};
}

/// Requests that change the session.
macro_rules! session_requests {
    ($($name:ident: $request:ty => $handler:path;)*) => {$(
        async fn $name(&self, params: <$request as Request>::Params) -> Result<<$request as Request>::Result> {
            $handler(&mut self.session.lock(), params)
        }
    )*};
}

/// Notifications: they change the session.
macro_rules! notifications {
    ($($name:ident: $notification:ty => $handler:path;)*) => {$(
        async fn $name(&self, params: <$notification as Notification>::Params) {
            $handler(&mut self.session.lock(), params);
        }
    )*};
}

impl LanguageServer for Router {
    session_requests! {
        initialize: Initialize => requests::initialize::answer;
    }
    notifications! {
        initialized: Initialized => notifications::initialized::apply;
        did_open: DidOpenTextDocument => notifications::did_open::apply;
        did_change: DidChangeTextDocument => notifications::did_change::apply;
        did_close: DidCloseTextDocument => notifications::did_close::apply;
        did_change_configuration: DidChangeConfiguration => notifications::did_change_configuration::apply;
        did_change_watched_files: DidChangeWatchedFiles => notifications::did_change_watched_files::apply;
        did_change_workspace_folders: DidChangeWorkspaceFolders => notifications::did_change_workspace_folders::apply;
    }
    waiting_requests! {
        diagnostic: DocumentDiagnosticRequest => requests::document_diagnostic::answer;
        workspace_diagnostic: WorkspaceDiagnosticRequest => requests::workspace_diagnostic::answer;
    }
    snapshot_requests! {
        hover: HoverRequest [text_document_position_params.text_document] => requests::hover::answer;
        completion: Completion [text_document_position.text_document] => requests::completion::answer;
        completion_resolve: ResolveCompletionItem => requests::completion_resolve::answer;
        goto_definition: GotoDefinition [text_document_position_params.text_document] => requests::definition::answer;
        references: References [text_document_position.text_document] => requests::references::answer;
        document_highlight: DocumentHighlightRequest [text_document_position_params.text_document]
            => requests::document_highlight::answer;
        prepare_rename: PrepareRenameRequest [text_document] => requests::prepare_rename::answer;
        rename: Rename [text_document_position.text_document] => requests::rename::answer;
        code_action: CodeActionRequest [text_document] => requests::code_action::answer;
        code_action_resolve: CodeActionResolveRequest => requests::code_action_resolve::answer;
        inlay_hint: InlayHintRequest [text_document] => requests::inlay_hint::answer;
        semantic_tokens_full: SemanticTokensFullRequest [text_document] => requests::semantic_tokens_full::answer;
        semantic_tokens_full_delta: SemanticTokensFullDeltaRequest [text_document]
            => requests::semantic_tokens_full_delta::answer;
        semantic_tokens_range: SemanticTokensRangeRequest [text_document] => requests::semantic_tokens_range::answer;
        code_lens: CodeLensRequest [text_document] => requests::code_lens::answer;
        code_lens_resolve: CodeLensResolve => requests::code_lens_resolve::answer;
        document_symbol: DocumentSymbolRequest [text_document] => requests::document_symbol::answer;
        symbol: WorkspaceSymbolRequest => requests::workspace_symbol::answer;
        document_link: DocumentLinkRequest [text_document] => requests::document_link::answer;
        execute_command: ExecuteCommand => requests::execute_command::answer;
    }

    async fn did_save(&self, _: <DidSaveTextDocument as Notification>::Params) {
        // The text is already known.
    }

    async fn shutdown(&self) -> Result<()> {
        self.session.lock().log.write("shutdown");
        Ok(())
    }
}

/// Methods that the trait does not have; [`service`] registers them.
impl Router {
    snapshot_requests! {
        environment: Environment [text_document] => requests::environment::answer;
        preview: Preview [text_document] => requests::preview::answer;
    }
    notifications! {
        set_trace: SetTrace => notifications::set_trace::apply;
        cancel_progress: WorkDoneProgressCancel => notifications::cancel_progress::apply;
    }
}
