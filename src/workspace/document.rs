//! A document that is being edited: its text, its tree and its facts, each made from what it was before the edit.
//!
//! This is how an editor drives it:
//!
//! ```
//! use podlens::text::Span;
//! use podlens::workspace::{Document, Workspace};
//!
//! let mut workspace = Workspace::default();
//! let mut document = Document::new("app/pod.yaml", "kind: Pod\n", 1);
//! workspace.set_editor("app/pod.yaml", document.file());
//! // For each edit of one notification, in order:
//! document.edit(Span::new(6, 9), "Job");
//! // Then once:
//! document.set_version(2);
//! workspace.set_editor("app/pod.yaml", document.file());
//! // What a request needs goes with it: a snapshot and the document's source, both cheap and unchanging.
//! let (snapshot, source) = (workspace.snapshot(), document.parsed_text());
//! assert_eq!(&*source.text, "kind: Job\n");
//! # let _ = snapshot;
//! ```
//!
//! An edit costs the pieces of the tree that it touches, and a little for each object of the document. [`Document::file`]
//! gives the same facts as reading the text afresh, but shares with the file before it every object, and in a large
//! object every container, that the edits did not touch. Findings are kept by `rules::Kept`, which asks a source for the
//! edits since it looked last ([`ParsedText::changes_since`]).

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::k8s::{Object, ObjectCache};
use crate::syntax::{self, HelmMask, Tree};
use crate::text::{Buffer, LineIndex, Span, TextChange};
use crate::workspace::file::{File, TextReader};
use crate::workspace::file_kind::FileKind;
use crate::workspace::helm::{self, MaskedTemplate};

/// How many edits are remembered; who looks less often looks at everything again.
const REMEMBERED: usize = 512;

/// A document that an editor has open. Cheap to clone: a clone is the document at this moment, whatever is typed later.
#[derive(Clone, Debug)]
pub struct Document {
    path: Arc<str>,
    buffer: Buffer,
    tree: Arc<Tree>,
    lines: Arc<LineIndex>,
    hints: Hints,
    kept: Arc<Mutex<ObjectCache>>,
    /// What was read of it as a Helm template.
    template: Arc<Mutex<MaskedTemplate>>,
    history: History,
    file: OnceLock<Arc<File>>,
    source: OnceLock<Arc<ParsedText>>,
    /// The source as a Helm template, which its facts may be read as.
    masked: OnceLock<Arc<ParsedText>>,
}

impl Document {
    /// A document as it was opened. The path is as in the workspace.
    pub fn new(path: &str, text: &str, version: i32) -> Self {
        Self {
            path: path.into(),
            buffer: Buffer::new(text, version),
            tree: Arc::new(syntax::parse(text)),
            lines: Arc::new(LineIndex::new(text)),
            hints: Hints::of(text),
            kept: Arc::default(),
            template: Arc::default(),
            history: History::default(),
            file: OnceLock::new(),
            source: OnceLock::new(),
            masked: OnceLock::new(),
        }
    }

    /// Puts `text` in the place of `span`. Of several edits, each counts from the text that the one before it left.
    pub fn edit(&mut self, span: Span, text: &str) -> TextChange {
        let change = self.buffer.edit(span, text);
        self.tree = Arc::new(self.tree.reparse(change, &self.buffer));
        self.lines = Arc::new(self.lines.edited(change, &self.buffer));
        self.hints.edited(change, &self.buffer);
        self.history.push(change);
        self.changed();
        change
    }

    /// Puts `text` in the place of everything.
    pub fn replace(&mut self, text: &str) {
        let (kept, template) = (Arc::clone(&self.kept), Arc::clone(&self.template));
        *self = Self { kept, template, ..Self::new(&self.path, text, self.buffer.version()) };
    }

    /// Gives the text the version of the edits just made.
    pub fn set_version(&mut self, version: i32) {
        self.buffer.set_version(version);
    }

    /// Its path in the workspace.
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// Its text.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The tree of its text as it stands; that of a Helm template's facts is another one.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Its facts, for [`Workspace::set_editor`](super::Workspace::set_editor).
    pub fn file(&self) -> Arc<File> {
        Arc::clone(self.file.get_or_init(|| Arc::new(self.read())))
    }

    /// Its text and tree as they are now.
    pub fn parsed_text(&self) -> Arc<ParsedText> {
        Arc::clone(self.source.get_or_init(|| {
            Arc::new(ParsedText {
                text: SharedText::of_buffer(&self.buffer),
                tree: Arc::clone(&self.tree),
                mask: None,
                history: self.history.clone(),
            })
        }))
    }

    /// Its text and the tree that these facts of it were read from: which facts count is decided by the workspace, since
    /// a file may belong to a Helm chart.
    pub fn parsed_text_of(&self, file: &File) -> Arc<ParsedText> {
        if !file.is_helm_template() {
            return self.parsed_text();
        }
        Arc::clone(self.masked.get_or_init(|| {
            let text = self.parsed_text().text.shared();
            let mut template = self.template.lock().unwrap_or_else(PoisonError::into_inner);
            let Some((mask, tree)) = template.read(&text) else { return Arc::new(ParsedText::new(file, text)) };
            let (text, history) = (SharedText::new(text), self.history.clone());
            Arc::new(ParsedText { text, tree, mask: Some(mask), history })
        }))
    }

    fn changed(&mut self) {
        self.file = OnceLock::new();
        self.source = OnceLock::new();
        self.masked = OnceLock::new();
    }

    fn read(&self) -> File {
        if FileKind::from_path(&self.path) != FileKind::Manifest || self.hints.actions {
            return File::read_with(&self.path, &self.parsed_text().text, &IncrementalReader(self));
        }
        let kept = |tree: &Tree| IncrementalReader(self).objects(tree);
        let whole = || Hints::of(&self.parsed_text().text);
        let has_suppressions = self.hints.suppressions && whole().suppressions;
        let has_other_delimiters = || self.hints.foreign && whole().foreign;
        let file =
            File::from_objects(&self.path, &self.tree, kept(&self.tree), has_suppressions, &has_other_delimiters);
        File { lines: Arc::clone(&self.lines), ..file }.without_values(&self.path)
    }
}

/// A document as it is read again after an edit.
struct IncrementalReader<'d>(&'d Document);

impl TextReader for IncrementalReader<'_> {
    fn parse(&self, _: &str) -> (Tree, usize) {
        ((*self.0.tree).clone(), 0)
    }

    fn objects(&self, tree: &Tree) -> Vec<Object> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).objects_of(tree)
    }

    fn read_helm(&self, _: &str) -> Option<(Tree, usize, Vec<Object>)> {
        let mut template = self.0.template.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, tree) = template.read(&self.0.parsed_text().text.shared())?;
        Some(((*tree).clone(), 0, template.objects()))
    }
}

/// What a text may hold. Each is a word that is looked for around an edit only, so once it was there it may be gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    /// Actions of Helm.
    pub(super) actions: bool,
    /// What other template engines write.
    pub(super) foreign: bool,
    /// The word that suppression comments begin with.
    pub(super) suppressions: bool,
}

impl Hints {
    fn of(text: &str) -> Self {
        Self {
            actions: helm::has_actions(text),
            foreign: has_other_template_delimiters(text),
            suppressions: has_suppressions(text),
        }
    }

    fn edited(&mut self, change: TextChange, text: &Buffer) {
        let around = Span::new(change.old.start.saturating_sub(16), change.old.start + change.new_len + 16);
        let near = Self::of(&text.slice(around));
        self.actions |= near.actions;
        self.foreign |= near.foreign;
        self.suppressions |= near.suppressions;
    }
}

/// Whether a text holds what template engines other than Helm write.
pub(super) fn has_other_template_delimiters(text: &str) -> bool {
    text.contains("{%") || text.contains("<%")
}

/// Whether a text mentions podlens as suppression comments do.
pub(super) fn has_suppressions(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"podlens:").is_some()
}

/// A file's text and tree, for those who ask: facts alone keep neither.
#[derive(Debug)]
pub struct ParsedText {
    /// The text.
    pub text: SharedText,
    /// The tree its facts were read from.
    pub tree: Arc<Tree>,
    /// Of a Helm template, the text as it was parsed.
    pub mask: Option<Arc<HelmMask>>,
    history: History,
}

impl ParsedText {
    /// The source of a file: its text, and the tree its facts were read from.
    pub fn new(file: &File, text: Arc<str>) -> Self {
        let mask = if file.is_helm_template() { syntax::mask_helm_actions(&text).map(Arc::new) } else { None };
        let readable = mask.as_ref().map_or(&*text, |it| &it.text);
        let tree = syntax::parse(if file.is_env_format() { "" } else { readable });
        Self { mask, ..Self::from_tree(text, tree) }
    }

    /// A text with its tree.
    pub fn from_tree(text: Arc<str>, tree: Tree) -> Self {
        Self { text: SharedText::new(text), tree: Arc::new(tree), mask: None, history: History::default() }
    }

    /// The text as it was parsed: that of a Helm template without its actions, byte for byte at the same place.
    pub fn masked_text(&self) -> &str {
        self.mask.as_ref().map_or(&self.text, |it| &it.text)
    }

    /// Where the text stands in the history of its edits.
    pub fn revision(&self) -> TextRevision {
        TextRevision {
            origin: Arc::clone(&self.history.origin),
            edits: self.history.forgotten + self.history.changes.len(),
        }
    }

    /// The edits since a moment, in order, each counted from the text that the one before it left. Nothing if that is
    /// not known: another text was opened, or there were too many.
    pub fn changes_since(&self, moment: &TextRevision) -> Option<&[TextChange]> {
        let first = moment.edits.checked_sub(self.history.forgotten)?;
        Arc::ptr_eq(&moment.origin, &self.history.origin).then(|| self.history.changes.get(first..)).flatten()
    }
}

/// A point in the history of a text.
#[derive(Clone, Debug)]
pub struct TextRevision {
    origin: Arc<()>,
    edits: usize,
}

/// The last edits of a text.
#[derive(Clone, Debug, Default)]
struct History {
    /// Stands for the text that was opened: histories of different texts have nothing in common.
    origin: Arc<()>,
    forgotten: usize,
    changes: Arc<Vec<TextChange>>,
}

impl History {
    fn push(&mut self, change: TextChange) {
        let changes = Arc::make_mut(&mut self.changes);
        if changes.len() >= REMEMBERED {
            changes.drain(..REMEMBERED / 2);
            self.forgotten += REMEMBERED / 2;
        }
        changes.push(change);
    }
}

/// A text in one piece. That of a buffer is put together when someone first asks for it.
#[derive(Debug)]
pub struct SharedText {
    buffer: Option<Buffer>,
    whole: OnceLock<Arc<str>>,
}

impl SharedText {
    /// A text.
    pub fn new(text: Arc<str>) -> Self {
        Self { buffer: None, whole: OnceLock::from(text) }
    }

    fn of_buffer(buffer: &Buffer) -> Self {
        Self { buffer: Some(buffer.clone()), whole: OnceLock::new() }
    }

    /// The text, to hold on to.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(self.whole())
    }

    fn whole(&self) -> &Arc<str> {
        self.whole.get_or_init(|| self.buffer.as_ref().map(Buffer::to_string).unwrap_or_default().into())
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        self.whole()
    }
}

#[cfg(test)]
mod tests;
