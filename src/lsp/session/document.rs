//! An open document: the workspace's document with the URI and version of the client.
//!
//! Edits are applied in order, each to the result of the one before. Positions outside the text are moved to its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use imbl::OrdMap;
use tower_lsp_server::ls_types::{TextDocumentContentChangeEvent, Uri};

use crate::lsp::convert;
use crate::rules::FindingsCache;
use crate::text::{Buffer, Encoding, LineIndex};
use crate::workspace::ParsedText;
use crate::workspace::{self, File};

/// Open documents by name.
pub(crate) type Documents = OrdMap<Arc<str>, Arc<Document>>;

/// One text of an open document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The URI as the client writes it.
    pub(crate) uri: Uri,
    /// The number of this text among all texts of all documents: a client may use a version twice.
    pub(crate) generation: u64,
    inner: workspace::Document,
    cache: Arc<Mutex<DocumentCache>>,
}

/// The results for the last text that was checked.
#[derive(Debug, Default)]
pub(crate) struct DocumentCache {
    /// The findings and what they depend on.
    pub(crate) findings: FindingsCache,
    /// The id of the report of these findings, if there is one.
    pub(crate) report_id: Option<String>,
}

impl Document {
    /// A document that is opened, with its name in the workspace.
    pub(crate) fn open(uri: Uri, name: &str, text: &str, version: i32, generation: u64) -> Self {
        Self { uri, generation, inner: workspace::Document::new(name, text, version), cache: Arc::default() }
    }

    /// The document after some edits.
    pub(crate) fn edited(
        &self,
        changes: Vec<TextDocumentContentChangeEvent>,
        version: i32,
        generation: u64,
        encoding: Encoding,
    ) -> Self {
        let mut new = Self { generation, ..self.clone() };
        for change in changes {
            match change.range {
                Some(range) => {
                    let span = convert::span_in(new.buffer(), range, encoding);
                    new.inner.edit(span, &change.text);
                }
                None => new.inner.replace(&change.text),
            }
        }
        // The version may be smaller than the last one: the client decides.
        new.inner.set_version(version);
        new
    }

    /// The version that the client gave.
    pub(crate) fn version(&self) -> i32 {
        self.buffer().version()
    }

    /// The text.
    pub(crate) fn buffer(&self) -> &Buffer {
        self.inner.buffer()
    }

    /// The lines of the text.
    pub(crate) fn lines(&self) -> &LineIndex {
        self.inner.lines()
    }

    /// The document as a file of the workspace.
    pub(crate) fn file(&self, name: &str) -> Arc<File> {
        if **self.inner.path() == *name {
            return self.inner.file();
        }
        // The folders, and so the name of the document, have changed since it was opened.
        Arc::new(File::from_tree(name, &self.inner.parsed_text().text, self.inner.tree()))
    }

    /// The text and the tree, for the rules.
    pub(crate) fn parsed_text(&self, file: &File) -> Arc<ParsedText> {
        self.inner.parsed_text_of(file)
    }

    /// The results for the last text that was checked, which may be older than this one.
    pub(crate) fn cache(&self) -> MutexGuard<'_, DocumentCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
