//! An open document: the editor's text with its tree, from edit to edit.
//!
//! Edits are applied in the order they come, each counted from the text the one before it left. Places outside the text
//! are clamped to it.

use std::sync::{Arc, OnceLock};

use tower_lsp_server::ls_types::{TextDocumentContentChangeEvent, Uri};

use crate::lsp::convert;
use crate::rules::Source;
use crate::syntax::{self, Tree};
use crate::text::{Buffer, Encoding, Span};
use crate::workspace::File;

/// A document at one moment.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// As the client spells it.
    pub(super) uri: Uri,
    /// The text with the client's version.
    pub(super) buffer: Buffer,
    /// Counts every change of any document, so that two texts of one version differ.
    pub(super) generation: u64,
    tree: Tree,
    source: OnceLock<Arc<Source>>,
}

impl Document {
    /// A document as it is opened.
    pub(super) fn open(uri: Uri, text: &str, version: i32, generation: u64) -> Self {
        let tree = syntax::parse(text);
        Self { uri, buffer: Buffer::new(text, version), generation, tree, source: OnceLock::new() }
    }

    /// The document after some edits.
    pub(super) fn edited(
        &self,
        changes: Vec<TextDocumentContentChangeEvent>,
        version: i32,
        generation: u64,
        encoding: Encoding,
    ) -> Self {
        let mut new = Self { generation, source: OnceLock::new(), ..self.clone() };
        for change in changes {
            let done = match change.range {
                Some(range) => {
                    let span = convert::span_in(&new.buffer, range, encoding);
                    new.buffer.edit(span, &change.text)
                }
                None => new.buffer.replace(&change.text),
            };
            new.tree = new.tree.reparse(done, &new.buffer);
        }
        // A version that goes backwards is still the one the client means.
        new.buffer.set_version(version);
        new
    }

    /// The version the client gave.
    pub(super) fn version(&self) -> i32 {
        self.buffer.version()
    }

    /// Its text.
    pub(super) fn text(&self) -> String {
        self.buffer.slice(Span::new(0, self.buffer.len())).into_owned()
    }

    /// What is kept of it in the workspace.
    pub(super) fn facts(&self, name: &str) -> File {
        File::of_tree(name, &self.text(), &self.tree)
    }

    /// Its text and tree as the rules see them.
    pub(super) fn source(&self, file: &File) -> Arc<Source> {
        let make = || {
            let text: Arc<str> = self.text().into();
            if file.is_helm {
                return Arc::new(Source::new(file, text));
            }
            Arc::new(Source::of_tree(text, self.tree.clone()))
        };
        Arc::clone(self.source.get_or_init(make))
    }
}
