//! The features of the client that podlens uses, read once from the capabilities in `initialize`.

use tower_lsp_server::ls_types::{
    ClientCapabilities, GeneralClientCapabilities, MarkupKind, PositionEncodingKind, ResourceOperationKind,
    TextDocumentClientCapabilities, WindowClientCapabilities, WorkspaceClientCapabilities,
};

use crate::text::Encoding;

/// The client features that podlens uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientFeatures {
    /// How it counts characters.
    pub(crate) encoding: Encoding,
    /// It requests diagnostics itself.
    pub(crate) pulls_diagnostics: bool,
    /// It accepts `workspace/diagnostic/refresh`.
    pub(crate) refreshes_diagnostics: bool,
    /// It accepts `workspace/inlayHint/refresh`.
    pub(crate) refreshes_hints: bool,
    /// It accepts `workspace/codeLens/refresh`.
    pub(crate) refreshes_lenses: bool,
    /// It accepts `workspace/semanticTokens/refresh`.
    pub(crate) refreshes_tokens: bool,
    /// It shows related locations of a diagnostic.
    pub(crate) related_information: bool,
    /// It shows tags of a diagnostic, such as unnecessary code.
    pub(crate) diagnostic_tags: bool,
    /// It sends back the `data` of a diagnostic.
    pub(crate) diagnostic_data: bool,
    /// It shows hovers in Markdown.
    pub(crate) hover_markdown: bool,
    /// It shows the documentation of completion items in Markdown.
    pub(crate) completion_markdown: bool,
    /// A completion item may have one range for inserting and one for replacing.
    pub(crate) insert_replace: bool,
    /// It requests the additional edits of a completion item with `completionItem/resolve`.
    pub(crate) resolves_edits: bool,
    /// It accepts links with the range of their origin as definitions.
    pub(crate) definition_links: bool,
    /// It accepts nested document symbols.
    pub(crate) nested_symbols: bool,
    /// It accepts edits with the version of the document they apply to.
    pub(crate) document_changes: bool,
    /// It accepts edits that create a file.
    pub(crate) creates_files: bool,
    /// It accepts code actions, not only commands.
    pub(crate) action_literals: bool,
    /// It requests the edit of a code action with `codeAction/resolve`.
    pub(crate) resolves_actions: bool,
    /// It accepts preferred code actions.
    pub(crate) preferred_actions: bool,
    /// It shows progress.
    pub(crate) progress: bool,
    /// It answers `workspace/configuration`.
    pub(crate) configuration: bool,
    /// The server can register for changes of the configuration.
    pub(crate) registers_configuration: bool,
    /// The server can register for changes of files.
    pub(crate) watches_files: bool,
    /// It watches files outside its folders too.
    pub(crate) watches_outside: bool,
}

impl ClientFeatures {
    /// The features in the capabilities.
    pub(crate) fn new(capabilities: &ClientCapabilities) -> Self {
        let mut features = Self::default();
        if let Some(general) = &capabilities.general {
            features.encoding = encoding(general);
        }
        if let Some(text) = &capabilities.text_document {
            features.text_document(text);
        }
        if let Some(workspace) = &capabilities.workspace {
            features.workspace(workspace);
        }
        if let Some(WindowClientCapabilities { work_done_progress: Some(true), .. }) = capabilities.window {
            features.progress = true;
        }
        features
    }

    fn text_document(&mut self, text: &TextDocumentClientCapabilities) {
        self.pulls_diagnostics = text.diagnostic.is_some();
        if let Some(push) = &text.publish_diagnostics {
            self.related_information = push.related_information == Some(true);
            self.diagnostic_tags = push.tag_support.is_some();
            self.diagnostic_data = push.data_support == Some(true);
        }
        if let Some(pull) = &text.diagnostic {
            // Clients that pull diagnostics declare their features in either place, and all show related locations.
            self.related_information |= pull.related_information != Some(false);
            self.diagnostic_tags |= pull.tag_support.is_some();
            self.diagnostic_data |= pull.data_support == Some(true);
        }
        if let Some(formats) = text.hover.as_ref().and_then(|it| it.content_format.as_deref()) {
            self.hover_markdown = prefers_markdown(formats);
        }
        if let Some(item) = text.completion.as_ref().and_then(|it| it.completion_item.as_ref()) {
            self.completion_markdown = item.documentation_format.as_deref().is_some_and(prefers_markdown);
            self.insert_replace = item.insert_replace_support == Some(true);
            let resolves = item.resolve_support.as_ref();
            self.resolves_edits = resolves.is_some_and(|it| it.properties.iter().any(|it| it == "additionalTextEdits"));
        }
        self.definition_links = text.definition.is_some_and(|it| it.link_support == Some(true));
        self.nested_symbols =
            text.document_symbol.as_ref().is_some_and(|it| it.hierarchical_document_symbol_support == Some(true));
        if let Some(action) = &text.code_action {
            self.action_literals = action.code_action_literal_support.is_some();
            self.preferred_actions = action.is_preferred_support == Some(true);
            let resolves = action.resolve_support.as_ref();
            self.resolves_actions = action.data_support == Some(true)
                && resolves.is_some_and(|it| it.properties.iter().any(|it| it == "edit"));
        }
    }

    fn workspace(&mut self, workspace: &WorkspaceClientCapabilities) {
        if let Some(edit) = &workspace.workspace_edit {
            self.document_changes = edit.document_changes == Some(true);
            let operations = edit.resource_operations.as_deref().unwrap_or_default();
            self.creates_files = self.document_changes && operations.contains(&ResourceOperationKind::Create);
        }
        self.refreshes_diagnostics = workspace.diagnostics.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.refreshes_hints = workspace.inlay_hint.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.refreshes_lenses = workspace.code_lens.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.refreshes_tokens = workspace.semantic_tokens.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.configuration = workspace.configuration == Some(true);
        self.registers_configuration =
            workspace.did_change_configuration.is_some_and(|it| it.dynamic_registration == Some(true));
        if let Some(watch) = &workspace.did_change_watched_files {
            self.watches_files = watch.dynamic_registration == Some(true);
            self.watches_outside = watch.relative_pattern_support == Some(true);
        }
    }
}

/// The cheapest encoding that the client offers: UTF-8, then UTF-32. Clients that offer none count in UTF-16.
fn encoding(general: &GeneralClientCapabilities) -> Encoding {
    let offered = general.position_encodings.as_deref().unwrap_or_default();
    let known = [
        (PositionEncodingKind::UTF8, Encoding::Utf8),
        (PositionEncodingKind::UTF32, Encoding::Utf32),
        (PositionEncodingKind::UTF16, Encoding::Utf16),
    ];
    known.into_iter().find(|(kind, _)| offered.contains(kind)).map_or(Encoding::Utf16, |(_, encoding)| encoding)
}

/// Whether Markdown is the first format, which is the one that the client prefers.
fn prefers_markdown(formats: &[MarkupKind]) -> bool {
    formats.first() == Some(&MarkupKind::Markdown)
}
