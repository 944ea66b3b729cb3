//! What the server says it can do.
//!
//! No formatting and no folding: another server usually looks after the YAML itself.

use tower_lsp_server::ls_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, CompletionOptions,
    DiagnosticOptions, DiagnosticServerCapabilities, DocumentLinkOptions, ExecuteCommandOptions,
    HoverProviderCapability, InitializeResult, OneOf, PositionEncodingKind, RenameOptions, SaveOptions,
    SemanticTokensFullOptions, SemanticTokensOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use crate::lsp::requests::{execute_command, semantic_tokens};
use crate::lsp::session::client_features::ClientFeatures;
use crate::text::Encoding;

/// The kind of an action that mends everything.
pub(crate) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.podlens");
/// The kind of an action that puts variables in order.
pub(crate) const SORT: CodeActionKind = CodeActionKind::new("source.sortEnv.podlens");
/// The kind of an action that shows something.
pub(crate) const SHOW: CodeActionKind = CodeActionKind::new("source.podlens");

/// The answer to `initialize`.
pub(crate) fn result(client: &ClientFeatures) -> InitializeResult {
    InitializeResult {
        capabilities: capabilities(client),
        server_info: Some(ServerInfo {
            name: env!("CARGO_PKG_NAME").into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
        }),
        offset_encoding: None,
    }
}

fn capabilities(client: &ClientFeatures) -> ServerCapabilities {
    let none = WorkDoneProgressOptions::default();
    let encoding = match client.encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
        Encoding::Utf32 => PositionEncodingKind::UTF32,
    };
    ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            will_save: None,
            will_save_wait_until: None,
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            resolve_provider: Some(true),
            // Behind `$(` and `${`, and in values that are empty still.
            trigger_characters: Some(["(", "{", "$", " ", ":", "\"", "'"].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QUICKFIX,
                CodeActionKind::REFACTOR_REWRITE,
                CodeActionKind::REFACTOR_EXTRACT,
                FIX_ALL,
                SORT,
                SHOW,
            ]),
            resolve_provider: Some(true),
            work_done_progress_options: none,
        })),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(true) }),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: none,
        })),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: none,
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: execute_command::COMMANDS.map(str::to_owned).to_vec(),
            work_done_progress_options: none,
        }),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: semantic_tokens::legend(),
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
                work_done_progress_options: none,
            }
            .into(),
        ),
        inlay_hint_provider: Some(OneOf::Left(true)),
        // A client that is told its diagnostics would show those that it asks for twice.
        diagnostic_provider: client.pulls.then(|| {
            DiagnosticServerCapabilities::Options(DiagnosticOptions {
                identifier: Some(env!("CARGO_PKG_NAME").into()),
                inter_file_dependencies: true,
                workspace_diagnostics: true,
                work_done_progress_options: none,
            })
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}
