//! A document that is being edited: its text, tree and objects, updated incrementally.
//!
//! An editor uses it like this:
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
//! // A request gets a snapshot and the parsed text. Both are immutable.
//! let (snapshot, parsed) = (workspace.snapshot(), document.parsed_text());
//! assert_eq!(&*parsed.text, "kind: Job\n");
//! # let _ = snapshot;
//! ```
//!
//! An edit costs time for the parts of the tree that it touches, and a little for each object of the document.
//! [`Document::file`] returns the same as reading the whole text, but shares unchanged objects, and unchanged
//! containers of large objects, with the file before the edit. The cache of findings uses the edits since its last run
//! ([`ParsedText::changes_since`]).

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::k8s::{Object, ObjectCache};
use crate::syntax::{self, HelmMask, ScalarStyle, SourceMap, SyntaxError, Tree};
use crate::text::{Buffer, LineIndex, Span, TextChange};
use crate::workspace::file::{File, TextReader};
use crate::workspace::file_kind::FileKind;
use crate::workspace::helm::{self, MaskedTemplate};
use crate::workspace::inclusion;

/// How many edits are remembered. A cache that is older than that starts again.
const HISTORY_LENGTH: usize = 512;

/// A document that is open in an editor. Cheap to clone; later edits do not change the clone.
#[derive(Clone, Debug)]
pub struct Document {
    path: Arc<str>,
    buffer: Buffer,
    tree: Arc<Tree>,
    lines: Arc<LineIndex>,
    hints: Hints,
    object_cache: Arc<Mutex<ObjectCache>>,
    /// The cache for reading it as a Helm template.
    template: Arc<Mutex<MaskedTemplate>>,
    history: History,
    file: OnceLock<Arc<File>>,
    parsed: OnceLock<Arc<ParsedText>>,
    /// The text and tree as a Helm template.
    masked: OnceLock<Arc<ParsedText>>,
}

impl Document {
    /// Opens a document. The path is that of the workspace.
    pub fn new(path: &str, text: &str, version: i32) -> Self {
        Self {
            path: path.into(),
            buffer: Buffer::new(text, version),
            tree: Arc::new(syntax::parse(text)),
            lines: Arc::new(LineIndex::new(text)),
            hints: Hints::in_text(text),
            object_cache: Arc::default(),
            template: Arc::default(),
            history: History::default(),
            file: OnceLock::new(),
            parsed: OnceLock::new(),
            masked: OnceLock::new(),
        }
    }

    /// Replaces `span` by `text`. The span of each edit refers to the text after the edits before it.
    pub fn edit(&mut self, span: Span, text: &str) -> TextChange {
        let change = self.buffer.edit(span, text);
        self.tree = Arc::new(self.tree.reparse(change, &self.buffer));
        self.lines = Arc::new(self.lines.edited(change, &self.buffer));
        self.hints.edited(change, &self.buffer);
        self.history.push(change);
        self.clear_results();
        change
    }

    /// Replaces the whole text.
    pub fn replace(&mut self, text: &str) {
        let (object_cache, template) = (Arc::clone(&self.object_cache), Arc::clone(&self.template));
        *self = Self { object_cache, template, ..Self::new(&self.path, text, self.buffer.version()) };
    }

    /// Sets the version of the text.
    pub fn set_version(&mut self, version: i32) {
        self.buffer.set_version(version);
    }

    /// The path in the workspace.
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// The text.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The lines of the text. They convert an offset faster than the text itself.
    pub fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The tree of the text. The objects of a Helm template come from another tree, see [`Document::parsed_text_of`].
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// The contents, for [`Workspace::set_editor`](super::Workspace::set_editor).
    pub fn file(&self) -> Arc<File> {
        Arc::clone(self.file.get_or_init(|| Arc::new(self.read())))
    }

    /// The text and its tree.
    pub fn parsed_text(&self) -> Arc<ParsedText> {
        Arc::clone(self.parsed.get_or_init(|| {
            Arc::new(ParsedText {
                text: SharedText::from_buffer(&self.buffer),
                tree: Arc::clone(&self.tree),
                mask: None,
                history: self.history.clone(),
                last_scalar: LastScalar::default(),
            })
        }))
    }

    /// The text and the tree that `file` was read from. The workspace decides whether the file is read as a Helm
    /// template.
    pub fn parsed_text_of(&self, file: &File) -> Arc<ParsedText> {
        if !file.is_helm_template() {
            return self.parsed_text();
        }
        Arc::clone(self.masked.get_or_init(|| {
            let text = self.parsed_text().text.shared();
            let mut template = self.template.lock().unwrap_or_else(PoisonError::into_inner);
            let Some((mask, tree)) = template.read(&text) else { return Arc::new(ParsedText::new(file, text)) };
            let (text, history) = (SharedText::new(text), self.history.clone());
            Arc::new(ParsedText { text, tree, mask: Some(mask), history, last_scalar: LastScalar::default() })
        }))
    }

    fn clear_results(&mut self) {
        self.file = OnceLock::new();
        self.parsed = OnceLock::new();
        self.masked = OnceLock::new();
    }

    fn read(&self) -> File {
        if FileKind::from_path(&self.path) != FileKind::Manifest || self.hints.actions {
            return File::read_with(&self.path, &self.parsed_text().text, &IncrementalReader(self));
        }
        let objects = |tree: &Tree| IncrementalReader(self).objects(tree);
        let whole = || Hints::in_text(&self.parsed_text().text);
        let has_suppressions = self.hints.suppressions && whole().suppressions;
        let is_other_template = |errors: &[SyntaxError]| {
            (self.hints.other_delimiters && whole().other_delimiters)
                || syntax::has_foreign_placeholder(&self.buffer, errors)
        };
        let file =
            File::from_objects(&self.path, &self.tree, objects(&self.tree), has_suppressions, &is_other_template);
        let includes = inclusion::read_tree(&self.path, &self.tree, self.hints.delivery);
        File { lines: Arc::clone(&self.lines), ..file }.without_values(&self.path).with_includes(includes)
    }
}

/// Reads a document from the results before the last edit.
struct IncrementalReader<'d>(&'d Document);

impl TextReader for IncrementalReader<'_> {
    fn parse(&self, _: &str) -> (Tree, usize) {
        ((*self.0.tree).clone(), 0)
    }

    fn parse_documents(&self, _: &str, _: &dyn Fn(&str) -> bool) -> Tree {
        (*self.0.tree).clone()
    }

    fn objects(&self, tree: &Tree) -> Vec<Object> {
        self.0.object_cache.lock().unwrap_or_else(PoisonError::into_inner).read_objects(tree)
    }

    fn read_helm(&self, _: &str) -> Option<(Tree, usize, Vec<Object>)> {
        let mut template = self.0.template.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, tree) = template.read(&self.0.parsed_text().text.shared())?;
        Some(((*tree).clone(), 0, template.objects()))
    }
}

/// Words that a text may contain. Only the surroundings of an edit are searched, so a flag may stay set after the word
/// was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    /// Helm actions.
    pub(super) actions: bool,
    /// Delimiters of other template engines.
    pub(super) other_delimiters: bool,
    /// The start of suppression comments.
    pub(super) suppressions: bool,
    /// Objects of Argo CD and Flux.
    pub(super) delivery: bool,
}

impl Hints {
    fn in_text(text: &str) -> Self {
        Self {
            actions: helm::has_actions(text),
            other_delimiters: syntax::has_template_delimiters(text),
            suppressions: syntax::may_have_suppressions(text),
            delivery: inclusion::mentions_delivery(text),
        }
    }

    fn edited(&mut self, change: TextChange, text: &Buffer) {
        let around = Span::new(change.old.start.saturating_sub(24), change.old.start + change.new_len + 24);
        let near = Self::in_text(&text.slice(around));
        self.actions |= near.actions;
        self.other_delimiters |= near.other_delimiters;
        self.suppressions |= near.suppressions;
        self.delivery |= near.delivery;
    }
}

/// The text of a file and its tree, which [`File`] does not keep.
#[derive(Debug)]
pub struct ParsedText {
    /// The text.
    pub text: SharedText,
    /// The tree that the objects were read from.
    pub tree: Arc<Tree>,
    /// The masked text of a Helm template.
    pub mask: Option<Arc<HelmMask>>,
    history: History,
    last_scalar: LastScalar,
}

/// The scalar that was mapped last: findings in one scalar follow each other, and a scalar can be long.
#[derive(Debug, Default)]
struct LastScalar(Mutex<Option<Arc<MappedScalar>>>);

/// A scalar as it is written, with the map to its value.
#[derive(Debug)]
pub struct MappedScalar {
    span: Span,
    style: ScalarStyle,
    value: Arc<str>,
    /// Its text in the file.
    pub source: Box<str>,
    /// The map between that text and the value.
    pub map: SourceMap,
}

impl ParsedText {
    /// Parses the text of a file the way its objects were read.
    pub fn new(file: &File, text: Arc<str>) -> Self {
        let mask = if file.is_helm_template() { syntax::mask_helm_actions(&text).map(Arc::new) } else { None };
        let readable = mask.as_ref().map_or(&*text, |it| &it.text);
        let tree = syntax::parse(if file.is_env_format() { "" } else { readable });
        Self { mask, ..Self::from_tree(text, tree) }
    }

    /// A text with its tree.
    pub fn from_tree(text: Arc<str>, tree: Tree) -> Self {
        Self {
            text: SharedText::new(text),
            tree: Arc::new(tree),
            mask: None,
            history: History::default(),
            last_scalar: LastScalar::default(),
        }
    }

    /// The text that was parsed: of a Helm template the text with its actions masked, with equal offsets.
    pub fn masked_text(&self) -> &str {
        self.mask.as_ref().map_or(&self.text, |it| &it.text)
    }

    /// A part of the text that was parsed; `None` if it is not in the text. Of an open document only this part is read.
    pub fn masked_slice(&self, span: Span) -> Option<Cow<'_, str>> {
        match &self.mask {
            Some(mask) => mask.text.get(span.range()).map(Cow::Borrowed),
            None => self.text.part(span),
        }
    }

    /// A scalar of the text that was parsed, with the map to its value. `None` if the span is not in the text.
    pub fn mapped_scalar(&self, span: Span, style: ScalarStyle, value: &Arc<str>) -> Option<Arc<MappedScalar>> {
        let last = &mut *self.last_scalar.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |it: &&Arc<MappedScalar>| {
            it.span == span && it.style == style && (Arc::ptr_eq(&it.value, value) || it.value == *value)
        };
        if let Some(known) = last.as_ref().filter(is_it) {
            return Some(Arc::clone(known));
        }
        let source: Box<str> = self.masked_slice(span)?.into();
        let map = SourceMap::new(&source, style, value);
        let new = Arc::new(MappedScalar { span, style, value: Arc::clone(value), source, map });
        *last = Some(Arc::clone(&new));
        Some(new)
    }

    /// The revision of the text, for [`ParsedText::changes_since`].
    pub fn revision(&self) -> TextRevision {
        TextRevision {
            origin: Arc::clone(&self.history.origin),
            edits: self.history.forgotten + self.history.changes.len(),
        }
    }

    /// The edits since a revision, in order. `None` if they are unknown: the revision is of another text, or too old.
    pub fn changes_since(&self, revision: &TextRevision) -> Option<&[TextChange]> {
        let first = revision.edits.checked_sub(self.history.forgotten)?;
        Arc::ptr_eq(&revision.origin, &self.history.origin).then(|| self.history.changes.get(first..)).flatten()
    }
}

/// A revision of a text that is being edited.
#[derive(Clone, Debug)]
pub struct TextRevision {
    origin: Arc<()>,
    edits: usize,
}

/// The last edits of a text.
#[derive(Clone, Debug, Default)]
struct History {
    /// Identifies the text that was opened: histories of different texts cannot be compared.
    origin: Arc<()>,
    forgotten: usize,
    changes: Arc<Vec<TextChange>>,
}

impl History {
    fn push(&mut self, change: TextChange) {
        let changes = Arc::make_mut(&mut self.changes);
        if changes.len() >= HISTORY_LENGTH {
            changes.drain(..HISTORY_LENGTH / 2);
            self.forgotten += HISTORY_LENGTH / 2;
        }
        changes.push(change);
    }
}

/// A text as one string. That of a buffer is built on first use.
#[derive(Debug)]
pub struct SharedText {
    buffer: Option<Buffer>,
    whole: OnceLock<Arc<str>>,
}

impl SharedText {
    /// Wraps a string.
    pub fn new(text: Arc<str>) -> Self {
        Self { buffer: None, whole: OnceLock::from(text) }
    }

    fn from_buffer(buffer: &Buffer) -> Self {
        Self { buffer: Some(buffer.clone()), whole: OnceLock::new() }
    }

    /// The text, shared.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(self.whole())
    }

    /// A part of the text; `None` if it is not in the text. That of a buffer is read without building the whole text.
    pub fn part(&self, span: Span) -> Option<Cow<'_, str>> {
        match (&self.buffer, self.whole.get()) {
            (Some(buffer), None) => Some(buffer.slice(span)).filter(|it| it.len() == span.len()),
            _ => self.get(span.range()).map(Cow::Borrowed),
        }
    }

    /// A span extended to whole lines, the last line break included.
    pub fn lines_around(&self, span: Span) -> Span {
        match (&self.buffer, self.whole.get()) {
            (Some(buffer), None) => syntax::lines_around(buffer, span),
            _ => syntax::lines_around(&**self, span),
        }
    }

    fn whole(&self) -> &Arc<str> {
        self.whole.get_or_init(|| self.buffer.as_ref().map(Buffer::text).unwrap_or_default().into())
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
