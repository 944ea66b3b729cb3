//! The tree of a file: its documents and their errors.
//!
//! A [`Tree`] holds green nodes without positions. [`YamlDocument`] and [`Node`] are cursors: a green node together with
//! its position in the file.

use std::collections::HashMap;
use std::sync::Arc;

use crate::syntax::green::{GreenAnchor, GreenDocument, GreenKind, GreenNode, Positioned};
use crate::syntax::node::Node;
use crate::syntax::syntax_error::{SyntaxError, chunk_errors};
use crate::text::Span;

/// A whole file: its documents in order.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(super) documents: Vec<Positioned<GreenDocument>>,
    pub(super) len: usize,
    /// Whether the stream is JSON, in which documents may follow one another without a marker.
    pub(super) json: bool,
}

impl Tree {
    /// The length of the text in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The documents in order. Documents that contain only comments are included; they have no root.
    pub fn documents(&self) -> impl Iterator<Item = YamlDocument<'_>> {
        self.documents.iter().map(|it| YamlDocument { green: &it.node, offset: it.offset as usize })
    }

    /// All syntax errors in text order.
    pub fn errors(&self) -> Vec<SyntaxError> {
        self.documents().flat_map(|document| document.errors()).collect()
    }

    /// The document at an offset.
    pub fn document_at(&self, offset: usize) -> Option<YamlDocument<'_>> {
        let after = self.documents.partition_point(|it| it.offset as usize <= offset);
        let found = self.documents.get(after.checked_sub(1)?)?;
        Some(YamlDocument { green: &found.node, offset: found.offset as usize })
    }
}

/// Trees are equal if they have the same content and the same errors. How they are divided into chunks is not compared.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len
            && self.documents.len() == other.documents.len()
            && self.documents().zip(other.documents()).all(|(a, b)| {
                a.span() == b.span()
                    && a.errors() == b.errors()
                    && match (&a.green.root, &b.green.root) {
                        (Some(a), Some(b)) => a.offset == b.offset && a.node.same_content(&b.node),
                        (None, None) => true,
                        _ => false,
                    }
            })
    }
}

/// One document of a file.
#[derive(Clone, Copy, Debug)]
pub struct YamlDocument<'t> {
    green: &'t Arc<GreenDocument>,
    offset: usize,
}

impl<'t> YamlDocument<'t> {
    pub(super) fn new(green: &'t Arc<GreenDocument>, offset: usize) -> Self {
        Self { green, offset }
    }

    pub(super) fn green(self) -> &'t Arc<GreenDocument> {
        self.green
    }

    /// From its first line to the first line of the next document.
    pub fn span(self) -> Span {
        Span::new(self.offset, self.offset + self.green.len as usize)
    }

    /// Its content; `None` if it contains only comments.
    pub fn root(self) -> Option<Node<'t>> {
        let root = self.green.root.as_ref()?;
        Some(Node::new(self, &root.node, self.offset + root.offset as usize))
    }

    /// Its syntax errors in text order.
    pub fn errors(self) -> Vec<SyntaxError> {
        let reported = self.green.errors.iter().filter(|error| !error.implied);
        let mut found: Vec<_> = reported.map(|error| error.shifted(self.offset)).collect();
        if let Some(root) = &self.green.root {
            collect_errors(&root.node, self.offset + root.offset as usize, &mut found);
            collect_undefined_aliases(self, &root.node, self.offset + root.offset as usize, &mut found);
        }
        found.sort_by_key(|error| error.span);
        found
    }

    /// Whether it has syntax errors.
    pub fn has_errors(self) -> bool {
        !self.green.errors.is_empty() || self.green.root.as_ref().is_some_and(|root| root.node.flags.error)
    }

    /// The keys that occur a second time in their mapping, in text order: the earlier occurrence and the repeated one.
    pub fn duplicate_keys(self) -> Vec<(Span, Span)> {
        let mut found = Vec::new();
        if let Some(root) = &self.green.root {
            collect_duplicates(&root.node, self.offset + root.offset as usize, &mut found);
        }
        found.sort_by_key(|(_, repeated)| repeated.start);
        found
    }

    fn anchors(self) -> &'t [GreenAnchor] {
        self.green.anchors.get_or_init(|| {
            let mut found = Vec::new();
            if let Some(root) = &self.green.root {
                collect_anchors(&root.node, root.offset, &mut found);
            }
            found.sort_by(|a, b| (&a.name, a.offset).cmp(&(&b.name, b.offset)));
            found
        })
    }

    /// The node that the alias `*name` at `offset` refers to: the nearest one before it with this anchor.
    pub(super) fn anchored_node(self, name: &str, offset: usize) -> Option<Node<'t>> {
        let anchors = self.anchors();
        let after =
            anchors.partition_point(|anchor| (&*anchor.name, self.offset + anchor.offset as usize) < (name, offset));
        let anchor = anchors.get(after.checked_sub(1)?).filter(|anchor| *anchor.name == *name)?;
        Some(Node::new(self, &anchor.node, self.offset + anchor.offset as usize))
    }
}

fn collect_errors(green: &GreenNode, offset: usize, found: &mut Vec<SyntaxError>) {
    if !green.flags.error {
        return;
    }
    if let Some(block) = green.chunked_block() {
        let entries = match &green.kind {
            GreenKind::Mapping { entries, .. } => entries.as_slice(),
            _ => &[],
        };
        let all = (0..block.chunks.len()).flat_map(|index| chunk_errors(block, index, entries));
        found.extend(all.filter(|error| !error.implied).map(|error| error.shifted(offset)));
    }
    for child in green.children() {
        collect_errors(&child.node, offset + child.offset as usize, found);
    }
}

/// Adds the aliases without an anchor before them.
fn collect_undefined_aliases(
    document: YamlDocument<'_>,
    green: &GreenNode,
    offset: usize,
    found: &mut Vec<SyntaxError>,
) {
    if !green.flags.alias {
        return;
    }
    if let GreenKind::Alias { name } = &green.kind
        && document.anchored_node(name, offset).is_none()
    {
        found.push(SyntaxError::undefined_alias(Span::new(offset, offset + green.len as usize), name));
    }
    for child in green.children() {
        collect_undefined_aliases(document, &child.node, offset + child.offset as usize, found);
    }
}

fn collect_duplicates(green: &GreenNode, offset: usize, found: &mut Vec<(Span, Span)>) {
    if !green.flags.duplicate {
        return;
    }
    if let GreenKind::Mapping { entries, .. } = &green.kind {
        let mut seen = HashMap::with_capacity(entries.len());
        for key in entries.iter().map(|entry| &entry.key) {
            let Some(text) = key.node.key_text() else { continue };
            let start = offset + key.offset as usize;
            let span = Span::new(start, start + key.node.len as usize);
            if let Some(before) = seen.insert(text, span) {
                found.push((before, span));
            }
        }
    }
    for child in green.children() {
        collect_duplicates(&child.node, offset + child.offset as usize, found);
    }
}

fn collect_anchors(green: &Arc<GreenNode>, offset: u32, found: &mut Vec<GreenAnchor>) {
    if !green.flags.anchor {
        return;
    }
    if let Some(name) = green.properties.as_ref().and_then(|it| it.anchor.as_ref()) {
        found.push(GreenAnchor { name: name.clone(), offset, node: Arc::clone(green) });
    }
    for child in green.children() {
        collect_anchors(&child.node, offset + child.offset, found);
    }
}
