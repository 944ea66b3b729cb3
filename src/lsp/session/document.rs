//! An open document as the client knows it: its URI and version, over the workspace's document.
//!
//! Edits are applied in the order they come, each counted from the text the one before it left. Places outside the text
//! are clamped to it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tower_lsp_server::ls_types::{TextDocumentContentChangeEvent, Uri};

use crate::lsp::convert;
use crate::rules::{Kept, ParsedText};
use crate::text::{Buffer, Encoding};
use crate::workspace::{self, File};

/// A document at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// As the client spells it.
    pub(crate) uri: Uri,
    /// Counts every change of any document, so that two texts of one version differ.
    pub(crate) generation: u64,
    inner: workspace::Document,
    memory: Arc<Mutex<Memory>>,
}

/// What is remembered of a document from text to text.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// What was found in it.
    pub(crate) kept: Kept,
    /// The id of these findings as a report, once there was one.
    pub(crate) reported: Option<String>,
}

impl Document {
    /// A document as it is opened, with its name in the workspace.
    pub(crate) fn open(uri: Uri, name: &str, text: &str, version: i32, generation: u64) -> Self {
        Self { uri, generation, inner: workspace::Document::new(name, text, version), memory: Arc::default() }
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
        // A version that goes backwards is still the one the client means.
        new.inner.set_version(version);
        new
    }

    /// The version the client gave.
    pub(crate) fn version(&self) -> i32 {
        self.buffer().version()
    }

    /// Its text.
    pub(crate) fn buffer(&self) -> &Buffer {
        self.inner.buffer()
    }

    /// What is kept of it in the workspace.
    pub(crate) fn facts(&self, name: &str) -> Arc<File> {
        if **self.inner.path() == *name {
            return self.inner.file();
        }
        // The folders have changed since it was opened.
        Arc::new(File::from_tree(name, &self.inner.parsed_text().text, self.inner.tree()))
    }

    /// Its text and tree as the rules see them.
    pub(crate) fn source(&self, file: &File) -> Arc<ParsedText> {
        self.inner.parsed_text_of(file)
    }

    /// What is remembered of it, of this text or of another one.
    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
