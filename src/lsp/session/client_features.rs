//! What the client can do, read once from `initialize`.

use tower_lsp_server::ls_types::{
    ClientCapabilities, GeneralClientCapabilities, MarkupKind, PositionEncodingKind, TextDocumentClientCapabilities,
    WindowClientCapabilities, WorkspaceClientCapabilities,
};

use crate::text::Encoding;

/// The client's abilities that make a difference.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientFeatures {
    /// How it counts characters.
    pub(crate) encoding: Encoding,
    /// It asks for diagnostics itself.
    pub(crate) pulls: bool,
    /// It can be told to ask for diagnostics again.
    pub(crate) refreshes_diagnostics: bool,
    /// Likewise for inlay hints.
    pub(crate) refreshes_hints: bool,
    /// Likewise for code lenses.
    pub(crate) refreshes_lenses: bool,
    /// Likewise for semantic tokens.
    pub(crate) refreshes_tokens: bool,
    /// It shows places that belong to a diagnostic.
    pub(crate) related: bool,
    /// It greys out what is unnecessary.
    pub(crate) tags: bool,
    /// It keeps `data` of diagnostics.
    pub(crate) data: bool,
    /// Hovers in Markdown.
    pub(crate) hover_markdown: bool,
    /// Documentation of completion items in Markdown.
    pub(crate) completion_markdown: bool,
    /// Completion items may insert or replace.
    pub(crate) insert_replace: bool,
    /// Edits of completion items may come with their documentation.
    pub(crate) resolves_edits: bool,
    /// Definitions with what they are of.
    pub(crate) definition_links: bool,
    /// Symbols in symbols.
    pub(crate) nested_symbols: bool,
    /// Edits that name the version they are for.
    pub(crate) document_changes: bool,
    /// Code actions as such, not as commands only.
    pub(crate) action_literals: bool,
    /// Edits of code actions may come later.
    pub(crate) resolves_actions: bool,
    /// Code actions may be marked as the one to take.
    pub(crate) preferred_actions: bool,
    /// It shows what takes long.
    pub(crate) progress: bool,
    /// It answers `workspace/configuration`.
    pub(crate) configuration: bool,
    /// It can be asked to tell when the configuration changes.
    pub(crate) registers_configuration: bool,
    /// It can be asked to watch files.
    pub(crate) watches: bool,
    /// It can watch outside its folders.
    pub(crate) watches_anywhere: bool,
}

impl ClientFeatures {
    /// Reads the capabilities.
    pub(crate) fn of(capabilities: &ClientCapabilities) -> Self {
        let mut client = Self::default();
        if let Some(general) = &capabilities.general {
            client.encoding = encoding(general);
        }
        if let Some(text) = &capabilities.text_document {
            client.text_document(text);
        }
        if let Some(workspace) = &capabilities.workspace {
            client.workspace(workspace);
        }
        if let Some(WindowClientCapabilities { work_done_progress: Some(true), .. }) = capabilities.window {
            client.progress = true;
        }
        client
    }

    fn text_document(&mut self, text: &TextDocumentClientCapabilities) {
        self.pulls = text.diagnostic.is_some();
        if let Some(push) = &text.publish_diagnostics {
            self.related = push.related_information == Some(true);
            self.tags = push.tag_support.is_some();
            self.data = push.data_support == Some(true);
        }
        if let Some(pull) = &text.diagnostic {
            // A client that pulls may say so in either place, and all that pull know these.
            self.related |= pull.related_information != Some(false);
            self.tags |= pull.tag_support.is_some();
            self.data |= pull.data_support == Some(true);
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
        self.document_changes = workspace.workspace_edit.as_ref().is_some_and(|it| it.document_changes == Some(true));
        self.refreshes_diagnostics = workspace.diagnostics.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.refreshes_hints = workspace.inlay_hint.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.refreshes_lenses = workspace.code_lens.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.refreshes_tokens = workspace.semantic_tokens.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.configuration = workspace.configuration == Some(true);
        self.registers_configuration =
            workspace.did_change_configuration.is_some_and(|it| it.dynamic_registration == Some(true));
        if let Some(watch) = &workspace.did_change_watched_files {
            self.watches = watch.dynamic_registration == Some(true);
            self.watches_anywhere = watch.relative_pattern_support == Some(true);
        }
    }
}

/// UTF-8 costs nothing, UTF-32 little; UTF-16 is what a client that says nothing counts in.
fn encoding(general: &GeneralClientCapabilities) -> Encoding {
    let offered = general.position_encodings.as_deref().unwrap_or_default();
    let known = [
        (PositionEncodingKind::UTF8, Encoding::Utf8),
        (PositionEncodingKind::UTF32, Encoding::Utf32),
        (PositionEncodingKind::UTF16, Encoding::Utf16),
    ];
    known.into_iter().find(|(kind, _)| offered.contains(kind)).map_or(Encoding::Utf16, |(_, encoding)| encoding)
}

/// Formats come in the order of the client's preference.
fn prefers_markdown(formats: &[MarkupKind]) -> bool {
    formats.first() == Some(&MarkupKind::Markdown)
}
