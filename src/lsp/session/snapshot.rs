//! One moment of everything: what an answer is computed from, on any thread, while the editor goes on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use imbl::OrdMap;
use tower_lsp_server::ls_types::{self, Position, Range, Uri};

use crate::diagnostic::{Edit, Location};
use crate::ide::Analysis;
use crate::ide::Markup;
use crate::load;
use crate::lsp::cancellation::CancelToken;
use crate::lsp::convert;
use crate::lsp::requests::semantic_tokens::ReportedTokens;
use crate::lsp::session::client_features::ClientFeatures;
use crate::lsp::session::document::Document;
use crate::lsp::session::file_names::FileNames;
use crate::resolve::Resolver;
use crate::rules::{ParsedText, Sources};
use crate::text::{LineIndex, Span};
use crate::workspace::Snapshot;

/// Open documents by name.
pub(crate) type Documents = OrdMap<Arc<str>, Arc<Document>>;

/// One moment of everything.
#[derive(Debug)]
pub(crate) struct SessionSnapshot {
    /// The workspace.
    pub(crate) workspace: Snapshot,
    /// What the editor has open.
    pub(crate) documents: Documents,
    /// How files are named.
    pub(crate) names: Arc<FileNames>,
    /// What the client can do.
    pub(crate) client: Arc<ClientFeatures>,
    /// Whether the answer is still wanted.
    pub(crate) token: CancelToken,
    /// Semantic tokens that the client knows.
    pub(crate) tokens: Arc<ReportedTokens>,
    /// Closed files that were read for this answer.
    known: Mutex<HashMap<String, Option<Arc<ParsedText>>>>,
}

impl SessionSnapshot {
    pub(crate) fn new(
        workspace: Snapshot,
        documents: Documents,
        names: Arc<FileNames>,
        client: Arc<ClientFeatures>,
    ) -> Self {
        Self {
            workspace,
            documents,
            names,
            client,
            token: CancelToken::default(),
            tokens: Arc::default(),
            known: Mutex::default(),
        }
    }

    /// The same with the semantic tokens that the client knows.
    pub(crate) fn with_tokens(self, tokens: Arc<ReportedTokens>) -> Self {
        Self { tokens, ..self }
    }

    /// Runs a feature.
    pub(crate) fn analyse<T>(&self, feature: impl FnOnce(&Analysis<'_>) -> T) -> T {
        let resolver = Resolver::new(&self.workspace, None);
        feature(&Analysis { snapshot: &self.workspace, resolver: &resolver, sources: self })
    }

    /// The name of a document or file.
    pub(crate) fn name(&self, uri: &Uri) -> Arc<str> {
        self.names.of_uri(uri)
    }

    /// The URI of a file, as the client spells it if it is open.
    pub(crate) fn uri(&self, name: &str) -> Option<Uri> {
        match self.documents.get(name) {
            Some(document) => Some(document.uri.clone()),
            None => self.names.uri(name),
        }
    }

    /// The offset of a position.
    pub(crate) fn offset(&self, name: &str, position: Position) -> usize {
        let place = convert::place(position);
        match self.documents.get(name) {
            Some(document) => document.buffer().offset(place, self.client.encoding),
            None => self.lines(name, |lines| lines.offset(place, self.client.encoding)),
        }
    }

    /// The bytes of a range.
    pub(crate) fn span(&self, name: &str, range: Range) -> Span {
        let (start, end) = (self.offset(name, range.start), self.offset(name, range.end));
        Span::new(start.min(end), end.max(start))
    }

    /// The position of an offset.
    pub(crate) fn position(&self, name: &str, offset: usize) -> Position {
        convert::position(match self.documents.get(name) {
            Some(document) => document.buffer().position(offset, self.client.encoding),
            None => self.lines(name, |lines| lines.position(offset, self.client.encoding)),
        })
    }

    /// The range of some bytes.
    pub(crate) fn range(&self, name: &str, span: Span) -> Range {
        Range::new(self.position(name, span.start), self.position(name, span.end))
    }

    /// A location for the client; nothing for what it cannot open.
    pub(crate) fn location(&self, location: &Location) -> Option<ls_types::Location> {
        let uri = self.uri(&location.file)?;
        Some(ls_types::Location::new(uri, self.range(&location.file, location.span)))
    }

    /// A text for people.
    pub(crate) fn markup(&self, markup: &Markup, markdown: bool) -> ls_types::MarkupContent {
        let uri = |location: &Location| {
            let line = self.position(&location.file, location.span.start).line + 1;
            Some(format!("{}#L{line}", self.uri(&location.file)?.as_str()))
        };
        convert::content(if markdown { markup.markdown(&uri) } else { markup.plain() }, markdown)
    }

    /// Edits for the client, with the versions they are for; nothing if one of the files cannot be named.
    pub(crate) fn edit(&self, edits: &[Edit]) -> Option<ls_types::WorkspaceEdit> {
        let mut files: Vec<(&Arc<str>, Vec<ls_types::TextEdit>)> = Vec::new();
        for edit in edits {
            let file = &edit.location.file;
            let text = ls_types::TextEdit::new(self.range(file, edit.location.span), edit.text.clone());
            match files.iter_mut().find(|(known, _)| *known == file) {
                Some((_, texts)) => texts.push(text),
                None => files.push((file, vec![text])),
            }
        }
        if !self.client.document_changes {
            let changes: Option<_> = files.into_iter().map(|(file, texts)| Some((self.uri(file)?, texts))).collect();
            return Some(ls_types::WorkspaceEdit { changes: Some(changes?), ..Default::default() });
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
        let document_changes = Some(ls_types::DocumentChanges::Edits(changes?));
        Some(ls_types::WorkspaceEdit { document_changes, ..Default::default() })
    }

    fn lines<T>(&self, name: &str, ask: impl FnOnce(&LineIndex) -> T) -> T {
        match self.workspace.file(name) {
            Some(file) => ask(&file.lines),
            // Settings above the workspace.
            None => {
                let text = self.names.path(name).and_then(|path| load::read(&path).ok());
                ask(&LineIndex::new(&text.unwrap_or_default()))
            }
        }
    }
}

impl Sources for SessionSnapshot {
    fn source(&self, name: &str) -> Option<Arc<ParsedText>> {
        let file = self.workspace.file(name)?;
        if let Some(document) = self.documents.get(name) {
            return Some(document.source(file));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let text = load::read(&self.names.path(name)?).ok()?;
            Some(Arc::new(ParsedText::new(file, text.into())))
        };
        known.entry(name.to_owned()).or_insert_with(read).clone()
    }
}
