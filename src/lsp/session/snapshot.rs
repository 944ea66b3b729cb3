//! The session at one moment: immutable, so that answers are computed from it on other threads while edits go on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tower_lsp_server::ls_types::{self, Position, Range, Uri};

use crate::diagnostic::{Edit, Location};
use crate::ide::Analysis;
use crate::ide::Markup;
use crate::load;
use crate::lsp::cancellation::CancelToken;
use crate::lsp::convert;
use crate::lsp::session::client_features::ClientFeatures;
use crate::lsp::session::document::Documents;
use crate::lsp::session::file_names::FileNames;
use crate::lsp::session::reported_tokens::ReportedTokens;
use crate::resolve::Resolver;
use crate::rules::TextProvider;
use crate::text::{LineIndex, Span};
use crate::workspace::ParsedText;
use crate::workspace::Snapshot;

/// The session at one moment.
#[derive(Debug)]
pub(crate) struct SessionSnapshot {
    /// The files of the workspace, with the texts of open documents.
    pub(crate) workspace: Snapshot,
    /// Open documents by name.
    pub(crate) documents: Documents,
    /// How files are named.
    pub(crate) names: Arc<FileNames>,
    /// What the client supports.
    pub(crate) client: Arc<ClientFeatures>,
    /// Cancels the work on the answer.
    pub(crate) cancel_token: CancelToken,
    /// The semantic tokens that the client has.
    pub(crate) reported_tokens: Arc<ReportedTokens>,
    /// Closed files that were read from disk for this answer.
    read_files: Mutex<HashMap<String, Option<Arc<ParsedText>>>>,
}

impl SessionSnapshot {
    pub(crate) fn new(
        workspace: Snapshot,
        documents: Documents,
        names: Arc<FileNames>,
        client: Arc<ClientFeatures>,
        reported_tokens: Arc<ReportedTokens>,
    ) -> Self {
        Self {
            workspace,
            documents,
            names,
            client,
            cancel_token: CancelToken::default(),
            reported_tokens,
            read_files: Mutex::default(),
        }
    }

    /// Calls a feature of `ide`.
    pub(crate) fn analyse<T>(&self, feature: impl FnOnce(&Analysis<'_>) -> T) -> T {
        let resolver = Resolver::new(&self.workspace, None);
        feature(&Analysis { snapshot: &self.workspace, resolver: &resolver, texts: self })
    }

    /// The name of a document or file.
    pub(crate) fn name(&self, uri: &Uri) -> Arc<str> {
        self.names.uri_to_name(uri)
    }

    /// The URI of a file, as the client writes it if it is open.
    pub(crate) fn uri(&self, name: &str) -> Option<Uri> {
        match self.documents.get(name) {
            Some(document) => Some(document.uri.clone()),
            None => self.names.name_to_uri(name),
        }
    }

    /// The offset of a position.
    pub(crate) fn offset(&self, name: &str, position: Position) -> usize {
        let position = convert::from_position(position);
        match self.documents.get(name) {
            Some(document) => document.buffer().offset(position, self.client.encoding),
            None => self.with_lines(name, |lines| lines.offset(position, self.client.encoding)),
        }
    }

    /// The bytes of a range.
    pub(crate) fn span(&self, name: &str, range: Range) -> Span {
        let (start, end) = (self.offset(name, range.start), self.offset(name, range.end));
        Span::new(start.min(end), end.max(start))
    }

    /// The position of an offset.
    pub(crate) fn position(&self, name: &str, offset: usize) -> Position {
        convert::to_position(match self.documents.get(name) {
            Some(document) => document.lines().position(offset, self.client.encoding),
            None => self.with_lines(name, |lines| lines.position(offset, self.client.encoding)),
        })
    }

    /// The range of some bytes.
    pub(crate) fn range(&self, name: &str, span: Span) -> Range {
        let range = |lines: &LineIndex| {
            let position = |offset| convert::to_position(lines.position(offset, self.client.encoding));
            Range::new(position(span.start), position(span.end))
        };
        match self.documents.get(name) {
            Some(document) => range(document.lines()),
            None => self.with_lines(name, range),
        }
    }

    /// A location in the protocol; `None` if the file has no URI.
    pub(crate) fn location(&self, location: &Location) -> Option<ls_types::Location> {
        let uri = self.uri(&location.file)?;
        Some(ls_types::Location::new(uri, self.range(&location.file, location.span)))
    }

    /// Text to show, with links to the locations in it.
    pub(crate) fn markup(&self, markup: &Markup, markdown: bool) -> ls_types::MarkupContent {
        let link = |location: &Location| {
            let line = self.position(&location.file, location.span.start).line + 1;
            Some(format!("{}#L{line}", self.uri(&location.file)?.as_str()))
        };
        convert::markup_content(if markdown { markup.markdown(&link) } else { markup.plain() }, markdown)
    }

    /// Edits in the protocol, with the versions of the documents they apply to. An edit of a file that does not exist creates
    /// it. `None` if one of the files has no URI, or if the client cannot create files.
    pub(crate) fn edit(&self, edits: &[Edit]) -> Option<ls_types::WorkspaceEdit> {
        let mut files: Vec<(&Arc<str>, Vec<ls_types::TextEdit>)> = Vec::new();
        for edit in edits {
            let file = &edit.location.file;
            let text = ls_types::TextEdit::new(self.range(file, edit.location.span), edit.text.clone());
            match files.iter_mut().find(|(other, _)| *other == file) {
                Some((_, texts)) => texts.push(text),
                None => files.push((file, vec![text])),
            }
        }
        let all = files.iter().map(|(file, _)| *file);
        let new: Vec<&Arc<str>> = all.filter(|it| self.workspace.file(it).is_none()).collect();
        // A file that exists although the workspace does not have it was created a moment ago.
        if !new.is_empty() && (!self.client.creates_files || new.iter().any(|it| self.exists(it))) {
            return None;
        }
        if !self.client.document_changes {
            let changes: Option<_> = files.into_iter().map(|(file, texts)| Some((self.uri(file)?, texts))).collect();
            return Some(ls_types::WorkspaceEdit { changes: Some(changes?), ..Default::default() });
        }
        let mut operations = Vec::new();
        for file in &new {
            let create = ls_types::CreateFile { uri: self.uri(file)?, options: None, annotation_id: None };
            operations.push(ls_types::DocumentChangeOperation::Op(ls_types::ResourceOp::Create(create)));
        }
        let changes: Option<Vec<_>> = files
            .into_iter()
            .map(|(file, texts)| {
                let version = self.documents.get(file).map(|it| it.version());
                let text_document = ls_types::OptionalVersionedTextDocumentIdentifier { uri: self.uri(file)?, version };
                let edits = texts.into_iter().map(ls_types::OneOf::Left).collect();
                Some(ls_types::TextDocumentEdit { text_document, edits })
            })
            .collect();
        let changes = if operations.is_empty() {
            ls_types::DocumentChanges::Edits(changes?)
        } else {
            operations.extend(changes?.into_iter().map(ls_types::DocumentChangeOperation::Edit));
            ls_types::DocumentChanges::Operations(operations)
        };
        Some(ls_types::WorkspaceEdit { document_changes: Some(changes), ..Default::default() })
    }

    /// Whether a file exists on disk.
    fn exists(&self, name: &str) -> bool {
        self.names.name_to_path(name).is_some_and(|path| path.exists())
    }

    fn with_lines<T>(&self, name: &str, use_lines: impl FnOnce(&LineIndex) -> T) -> T {
        match self.workspace.file(name) {
            Some(file) => use_lines(&file.lines),
            // A settings file above the workspace.
            None => {
                let text = self.names.name_to_path(name).and_then(|path| load::read(&path).ok());
                use_lines(&LineIndex::new(&text.unwrap_or_default()))
            }
        }
    }
}

impl TextProvider for SessionSnapshot {
    fn parsed_text(&self, name: &str) -> Option<Arc<ParsedText>> {
        let file = self.workspace.file(name)?;
        if let Some(document) = self.documents.get(name) {
            return Some(document.parsed_text(file));
        }
        let mut read_files = self.read_files.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let text = load::read(&self.names.name_to_path(name)?).ok()?;
            Some(Arc::new(ParsedText::new(file, text.into())))
        };
        read_files.entry(name.to_owned()).or_insert_with(read).clone()
    }
}
