//! The tree: green nodes that know their length but not their place, and cursors that know both.
//!
//! A [`GreenNode`] stores its children with offsets relative to itself and shares them behind `Arc`, so a tree after an
//! edit is a copy of the path to the edit and nothing else. A [`Node`] is a green node at a place in a file; it follows
//! aliases and merge keys for its caller.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use compact_str::CompactString;

use crate::syntax::chunk_boundaries::MemberKind;
use crate::syntax::chunks::UnclosedChunk;
use crate::syntax::scalar::{self, ScalarStyle, TypedScalar};
use crate::text::Span;

/// A whole file: its documents in order.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(super) documents: Vec<Positioned<GreenDocument>>,
    pub(super) len: usize,
    /// Whether the stream is JSON, whose documents may follow one another without a marker.
    pub(super) json: bool,
}

/// Something shared, at a place relative to what holds it.
#[derive(Debug)]
pub(super) struct Positioned<T> {
    pub(super) offset: u32,
    pub(super) node: Arc<T>,
}

impl<T> Clone for Positioned<T> {
    fn clone(&self) -> Self {
        Self { offset: self.offset, node: Arc::clone(&self.node) }
    }
}

impl<T> Positioned<T> {
    pub(super) fn new(offset: u32, node: T) -> Self {
        Self { offset, node: Arc::new(node) }
    }

    pub(super) fn moved(self, by: i64) -> Self {
        Self { offset: shift(self.offset, by), node: self.node }
    }
}

/// `offset` moved by a signed distance.
pub(super) fn shift(offset: u32, by: i64) -> u32 {
    u32::try_from(i64::from(offset) + by).unwrap_or(0)
}

/// One document of a stream, from its first line (directives and `---` included) to the line of the next.
#[derive(Debug, Default)]
pub(super) struct GreenDocument {
    pub(super) len: u32,
    pub(super) root: Option<Positioned<GreenNode>>,
    /// Errors that belong to no level of the tree: their spans are relative to the document.
    pub(super) errors: Vec<SyntaxError>,
    /// Whether directives stand before it or `...` behind it: an edit may then move its boundaries.
    pub(super) marked: bool,
    pub(super) anchors: OnceLock<Vec<Anchor>>,
}

/// A node without a place.
#[derive(Debug)]
pub(super) struct GreenNode {
    pub(super) len: u32,
    pub(super) marks: SubtreeFlags,
    pub(super) properties: Option<Box<Properties>>,
    pub(super) kind: GreenKind,
}

#[derive(Debug)]
pub(super) enum GreenKind {
    Mapping { shape: CollectionStyle, entries: Vec<GreenEntry>, level: Option<Box<ChunkedBlock>> },
    Sequence { shape: CollectionStyle, items: Vec<Positioned<GreenNode>>, level: Option<Box<ChunkedBlock>> },
    Scalar { style: ScalarStyle, value: CompactString },
    Alias { name: Box<str> },
    Error,
}

/// A key and its value; `key:` alone has none.
#[derive(Clone, Debug)]
pub(super) struct GreenEntry {
    pub(super) key: Positioned<GreenNode>,
    pub(super) value: Option<Positioned<GreenNode>>,
}

/// How a collection was cut into pieces that parse alone; only large or broken collections are.
#[derive(Debug, Default, Clone)]
pub(super) struct ChunkedBlock {
    pub(super) column: u32,
    pub(super) pieces: Vec<Chunk>,
}

/// One piece of a level: its place, how many children it gave, and what was wrong in it.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    /// Where its first character stands, relative to the collection.
    pub(super) offset: u32,
    /// The column it stands at; another than the level's is a mistake.
    pub(super) column: u32,
    pub(super) children: u32,
    /// How far behind its end the text was looked at: an edit there may change this piece.
    pub(super) reach: u32,
    /// What it leaves open up to the end of the level, counted from the piece.
    pub(super) open: Option<Box<UnclosedChunk>>,
    /// Spans are relative to the piece.
    pub(super) errors: Vec<SyntaxError>,
}

/// What a subtree holds somewhere, so that walks can pass by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SubtreeFlags {
    pub(super) anchor: bool,
    pub(super) error: bool,
    /// A mapping with a key twice.
    pub(super) duplicate: bool,
    /// An alias, whose meaning stands elsewhere.
    pub(super) alias: bool,
}

impl SubtreeFlags {
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            anchor: self.anchor || other.anchor,
            error: self.error || other.error,
            duplicate: self.duplicate || other.duplicate,
            alias: self.alias || other.alias,
        }
    }
}

/// An anchor's name and a tag as they stand before a node.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Properties {
    pub(super) anchor: Option<Box<str>>,
    pub(super) tag: Option<Box<str>>,
}

#[derive(Debug)]
pub(super) struct Anchor {
    name: Box<str>,
    /// Relative to the document.
    offset: u32,
    node: Arc<GreenNode>,
}

/// Whether a collection is written with indentation or with brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionStyle {
    /// By indentation.
    Block,
    /// With `[` `]` or `{` `}`.
    Flow,
}

/// What a node is, with aliases not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Keys and values.
    Mapping(CollectionStyle),
    /// A list.
    Sequence(CollectionStyle),
    /// A single value.
    Scalar(ScalarStyle),
    /// `*name`.
    Alias,
    /// Text that could not be read.
    Error,
}

/// Something wrong in the text, at its true place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where, in bytes of the file.
    pub span: Span,
    /// What is wrong, independent of the wording of the message.
    pub kind: SyntaxErrorKind,
    /// What, in words for a person.
    pub message: String,
    /// Whether another error says the same: it is known, but not told.
    pub(super) implied: bool,
}

/// The kinds of syntax errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// A key without `:`.
    MissingColon,
    /// An item of a flow collection without `,` after it.
    MissingComma,
    /// A `:` without a space after it.
    MissingSpace,
    /// A quote or bracket without its end.
    Unclosed,
    /// A line whose indentation differs from that of its siblings.
    Indentation,
    /// A tab in the indentation.
    Tab,
    /// A line that belongs to no key.
    Stray,
    /// A marker of an unresolved merge conflict.
    MergeConflict,
    /// A second document without `---` before it.
    SecondDocument,
    /// Text that cannot be read for another reason.
    Unreadable,
}

impl SyntaxErrorKind {
    /// A stable name of the kind, which identifies a finding across runs.
    pub fn code(self) -> &'static str {
        match self {
            Self::MissingColon => "missing-colon",
            Self::MissingComma => "missing-comma",
            Self::MissingSpace => "missing-space",
            Self::Unclosed => "unclosed",
            Self::Indentation => "indentation",
            Self::Tab => "tab",
            Self::Stray => "stray",
            Self::MergeConflict => "merge-conflict",
            Self::SecondDocument => "second-document",
            Self::Unreadable => "unreadable",
        }
    }
}

impl SyntaxError {
    pub(super) fn new(span: Span, kind: SyntaxErrorKind, message: impl Into<String>) -> Self {
        Self { span, kind, message: message.into(), implied: false }
    }

    pub(super) fn implied(self) -> Self {
        Self { implied: true, ..self }
    }

    pub(super) fn shifted(&self, by: usize) -> Self {
        Self { span: self.span.shifted(by), ..self.clone() }
    }
}

impl GreenNode {
    pub(super) fn new(len: u32, properties: Option<Box<Properties>>, kind: GreenKind) -> Self {
        let mut marks = SubtreeFlags {
            anchor: properties.as_ref().is_some_and(|it| it.anchor.is_some()),
            error: matches!(kind, GreenKind::Error),
            duplicate: false,
            alias: matches!(kind, GreenKind::Alias { .. }),
        };
        match &kind {
            GreenKind::Mapping { entries, level, .. } => {
                for entry in entries {
                    marks = marks.or(entry.key.node.marks);
                    if let Some(value) = &entry.value {
                        marks = marks.or(value.node.marks);
                    }
                }
                marks.error |= has_errors(level.as_deref());
                marks.duplicate |= has_duplicates(entries);
            }
            GreenKind::Sequence { items, level, .. } => {
                marks = items.iter().fold(marks, |marks, item| marks.or(item.node.marks));
                marks.error |= has_errors(level.as_deref());
            }
            GreenKind::Scalar { .. } | GreenKind::Alias { .. } | GreenKind::Error => {}
        }
        Self { len, marks, properties, kind }
    }

    /// The level it was cut into, with what its members are.
    pub(super) fn cut(&self) -> Option<(&ChunkedBlock, MemberKind)> {
        let kind = match (&self.kind, self.shape()?) {
            (GreenKind::Mapping { .. }, CollectionStyle::Block) => MemberKind::Entries,
            (GreenKind::Mapping { .. }, CollectionStyle::Flow) => MemberKind::FlowEntries,
            (_, CollectionStyle::Block) => MemberKind::Items,
            (_, CollectionStyle::Flow) => MemberKind::FlowItems,
        };
        Some((self.level()?, kind))
    }

    fn shape(&self) -> Option<CollectionStyle> {
        match &self.kind {
            GreenKind::Mapping { shape, .. } | GreenKind::Sequence { shape, .. } => Some(*shape),
            _ => None,
        }
    }

    /// The text of a key that counts as one: merge keys may repeat.
    fn plain_key(&self) -> Option<&str> {
        match &self.kind {
            GreenKind::Scalar { style: ScalarStyle::Plain, value } if value == "<<" => None,
            GreenKind::Scalar { value, .. } => Some(value),
            _ => None,
        }
    }

    pub(super) fn is_flow(&self) -> bool {
        self.shape() == Some(CollectionStyle::Flow)
    }

    /// Its members; items of a list are keys without a value.
    pub(super) fn members(&self) -> Vec<GreenEntry> {
        match &self.kind {
            GreenKind::Mapping { entries, .. } => entries.clone(),
            GreenKind::Sequence { items, .. } => {
                items.iter().map(|item| GreenEntry { key: item.clone(), value: None }).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn level(&self) -> Option<&ChunkedBlock> {
        match &self.kind {
            GreenKind::Mapping { level, .. } | GreenKind::Sequence { level, .. } => level.as_deref(),
            _ => None,
        }
    }

    /// The children with their offsets, keys and values alike, in the order of the text.
    fn children(&self) -> Box<dyn Iterator<Item = &Positioned<GreenNode>> + '_> {
        match &self.kind {
            GreenKind::Mapping { entries, .. } => {
                Box::new(entries.iter().flat_map(|entry| std::iter::once(&entry.key).chain(&entry.value)))
            }
            GreenKind::Sequence { items, .. } => Box::new(items.iter()),
            _ => Box::new(std::iter::empty()),
        }
    }
}

fn has_errors(level: Option<&ChunkedBlock>) -> bool {
    level.is_some_and(|level| level.pieces.iter().any(|piece| !piece.errors.is_empty()))
}

/// Whether a key stands twice. A few keys are compared with each other, which costs less than a set.
fn has_duplicates(entries: &[GreenEntry]) -> bool {
    let keys = || entries.iter().filter_map(|entry| entry.key.node.plain_key());
    if entries.len() <= 16 {
        keys().enumerate().any(|(at, key)| keys().take(at).any(|other| other == key))
    } else {
        let mut seen = HashSet::with_capacity(entries.len());
        !keys().all(|key| seen.insert(key))
    }
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

    /// The documents in order; those that hold only comments are among them, with no root.
    pub fn documents(&self) -> impl Iterator<Item = YamlDocument<'_>> {
        self.documents.iter().map(|placed| YamlDocument { green: &placed.node, offset: placed.offset as usize })
    }

    /// Everything that is wrong with the text, in order.
    pub fn errors(&self) -> Vec<SyntaxError> {
        self.documents().flat_map(|document| document.errors()).collect()
    }

    /// The document at an offset.
    pub fn document_at(&self, offset: usize) -> Option<YamlDocument<'_>> {
        let behind = self.documents.partition_point(|placed| placed.offset as usize <= offset);
        let placed = self.documents.get(behind.checked_sub(1)?)?;
        Some(YamlDocument { green: &placed.node, offset: placed.offset as usize })
    }
}

/// One document of a file.
#[derive(Clone, Copy, Debug)]
pub struct YamlDocument<'t> {
    green: &'t GreenDocument,
    offset: usize,
}

impl<'t> YamlDocument<'t> {
    /// From its first line to the next document's.
    pub fn span(self) -> Span {
        Span::new(self.offset, self.offset + self.green.len as usize)
    }

    /// Its content; nothing when it holds only comments.
    pub fn root(self) -> Option<Node<'t>> {
        let root = self.green.root.as_ref()?;
        Some(Node { document: self, green: &root.node, offset: self.offset + root.offset as usize })
    }

    /// What is wrong in it, in order.
    pub fn errors(self) -> Vec<SyntaxError> {
        let told = self.green.errors.iter().filter(|error| !error.implied);
        let mut found: Vec<_> = told.map(|error| error.shifted(self.offset)).collect();
        if let Some(root) = self.root() {
            collect_errors(root.green, root.offset, &mut found);
        }
        found.sort_by_key(|error| error.span);
        found
    }

    /// The keys that stand a second time in their mapping, each after the one it repeats, in order.
    pub fn duplicate_keys(self) -> Vec<(Span, Span)> {
        let mut found = Vec::new();
        if let Some(root) = self.root() {
            collect_duplicates(root.green, root.offset, &mut found);
        }
        found.sort_by_key(|(_, again)| again.start);
        found
    }

    fn anchors(self) -> &'t [Anchor] {
        self.green.anchors.get_or_init(|| {
            let mut found = Vec::new();
            if let Some(root) = &self.green.root {
                collect_anchors(&root.node, root.offset, &mut found);
            }
            found.sort_by(|a, b| (&a.name, a.offset).cmp(&(&b.name, b.offset)));
            found
        })
    }

    /// The node `*name` means at `offset`: the nearest one before it that carries the anchor.
    fn anchored(self, name: &str, offset: usize) -> Option<Node<'t>> {
        let anchors = self.anchors();
        let behind =
            anchors.partition_point(|anchor| (&*anchor.name, self.offset + anchor.offset as usize) < (name, offset));
        let anchor = anchors.get(behind.checked_sub(1)?).filter(|anchor| *anchor.name == *name)?;
        Some(Node { document: self, green: &anchor.node, offset: self.offset + anchor.offset as usize })
    }
}

fn collect_errors(green: &GreenNode, offset: usize, found: &mut Vec<SyntaxError>) {
    if !green.marks.error {
        return;
    }
    if let Some(level) = green.level() {
        for piece in &level.pieces {
            let told = piece.errors.iter().filter(|error| !error.implied);
            found.extend(told.map(|error| error.shifted(offset + piece.offset as usize)));
        }
    }
    for child in green.children() {
        collect_errors(&child.node, offset + child.offset as usize, found);
    }
}

fn collect_duplicates(green: &GreenNode, offset: usize, found: &mut Vec<(Span, Span)>) {
    if !green.marks.duplicate {
        return;
    }
    if let GreenKind::Mapping { entries, .. } = &green.kind {
        let mut seen = HashMap::with_capacity(entries.len());
        for key in entries.iter().map(|entry| &entry.key) {
            let Some(text) = key.node.plain_key() else { continue };
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

fn collect_anchors(green: &Arc<GreenNode>, offset: u32, found: &mut Vec<Anchor>) {
    if !green.marks.anchor {
        return;
    }
    if let Some(name) = green.properties.as_ref().and_then(|it| it.anchor.as_ref()) {
        found.push(Anchor { name: name.clone(), offset, node: Arc::clone(green) });
    }
    for child in green.children() {
        collect_anchors(&child.node, offset + child.offset, found);
    }
}

fn collect_subtrees_around(green: &Arc<GreenNode>, offset: usize, places: &[Span], parts: &mut Vec<Subtree>) {
    let end = offset + green.len as usize;
    let first = places.partition_point(|place| place.start < offset);
    let inside = &places[first..first + places[first..].partition_point(|place| place.end <= end && place.start < end)];
    match inside {
        [] => parts.push(Subtree(Arc::clone(green))),
        [place] if *place == Span::new(offset, end) => {}
        _ => green
            .children()
            .for_each(|child| collect_subtrees_around(&child.node, offset + child.offset as usize, inside, parts)),
    }
}

/// A node at its place in a file.
#[derive(Clone, Copy, Debug)]
pub struct Node<'t> {
    document: YamlDocument<'t>,
    green: &'t Arc<GreenNode>,
    offset: usize,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.green, other.green) && self.offset == other.offset
    }
}

/// A part of a tree without its place. Two are equal when they are the same part, shared by trees before and after an
/// edit; equal text elsewhere is another part. It holds what it stands for, so it can be a key for as long as one likes.
#[derive(Clone, Debug)]
pub struct Subtree(Arc<GreenNode>);

impl PartialEq for Subtree {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Subtree {}

impl Subtree {
    /// See [`Node::contains_alias`].
    pub fn contains_alias(&self) -> bool {
        self.0.marks.alias
    }
}

impl Hash for Subtree {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl<'t> Node<'t> {
    /// Where its text stands, anchors and tags left out.
    pub fn span(self) -> Span {
        Span::new(self.offset, self.offset + self.green.len as usize)
    }

    /// What it is, with an alias not followed.
    pub fn kind(self) -> NodeKind {
        match &self.green.kind {
            GreenKind::Mapping { shape, .. } => NodeKind::Mapping(*shape),
            GreenKind::Sequence { shape, .. } => NodeKind::Sequence(*shape),
            GreenKind::Scalar { style, .. } => NodeKind::Scalar(*style),
            GreenKind::Alias { .. } => NodeKind::Alias,
            GreenKind::Error => NodeKind::Error,
        }
    }

    /// The part of the tree that it is the root of.
    pub fn subtree(self) -> Subtree {
        Subtree(Arc::clone(self.green))
    }

    /// Whether an alias stands somewhere in it, so that its meaning rests on text elsewhere.
    pub fn contains_alias(self) -> bool {
        self.green.marks.alias
    }

    /// What stands around some places in it, as the largest parts that hold none of them. The places are whole nodes, in
    /// order.
    pub fn subtrees_around(self, places: &[Span]) -> Vec<Subtree> {
        let mut parts = Vec::new();
        collect_subtrees_around(self.green, self.offset, places, &mut parts);
        parts
    }

    /// The document it stands in.
    pub fn document(self) -> YamlDocument<'t> {
        self.document
    }

    /// The node behind an alias (and the aliases behind that), or itself. An alias of nothing stays an alias.
    pub fn resolved(self) -> Node<'t> {
        let mut node = self;
        // An anchor stands before its aliases, so each step goes back in the text and this ends.
        while let GreenKind::Alias { name } = &node.green.kind {
            match self.document.anchored(name, node.offset) {
                Some(target) => node = target,
                None => break,
            }
        }
        node
    }

    /// The name behind `*`, if it is an alias.
    pub fn alias(self) -> Option<&'t str> {
        match &self.green.kind {
            GreenKind::Alias { name } => Some(name),
            _ => None,
        }
    }

    /// The name behind `&`.
    pub fn anchor(self) -> Option<&'t str> {
        self.green.properties.as_ref()?.anchor.as_deref()
    }

    /// The tag as written, such as `!!int` or `!custom`.
    pub fn tag(self) -> Option<&'t str> {
        self.green.properties.as_ref()?.tag.as_deref()
    }

    /// Whether it is a mapping, aliases followed.
    pub fn is_mapping(self) -> bool {
        matches!(self.resolved().green.kind, GreenKind::Mapping { .. })
    }

    /// Whether it is a sequence, aliases followed.
    pub fn is_sequence(self) -> bool {
        matches!(self.resolved().green.kind, GreenKind::Sequence { .. })
    }

    /// The text of a scalar after unescaping and folding, whatever its type; aliases followed.
    pub fn text(self) -> Option<&'t str> {
        match &self.resolved().green.kind {
            GreenKind::Scalar { value, .. } => Some(value),
            _ => None,
        }
    }

    /// How a scalar is written; aliases followed.
    pub fn style(self) -> Option<ScalarStyle> {
        match &self.resolved().green.kind {
            GreenKind::Scalar { style, .. } => Some(*style),
            _ => None,
        }
    }

    /// A scalar's value with its type, as kubectl reads it (Y1 to Y6); aliases followed.
    pub fn typed(self) -> Option<TypedScalar<'t>> {
        let node = self.resolved();
        match &node.green.kind {
            GreenKind::Scalar { style, value } => Some(scalar::typed(value, *style, node.tag())),
            _ => None,
        }
    }

    /// The value if it is a string for kubectl; `8080` and `yes` are not.
    pub fn string(self) -> Option<&'t str> {
        match self.typed()? {
            TypedScalar::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a sequence; aliases to the sequence followed, items as written.
    pub fn items(self) -> impl Iterator<Item = Node<'t>> {
        let node = self.resolved();
        let items: &[Positioned<GreenNode>] = match &node.green.kind {
            GreenKind::Sequence { items, .. } => items,
            _ => &[],
        };
        items.iter().map(move |item| node.child(item))
    }

    /// The entries of a mapping as they are written: no merge keys followed, duplicates kept.
    pub fn own_entries(self) -> impl Iterator<Item = (Node<'t>, Option<Node<'t>>)> {
        let node = self.resolved();
        let entries: &[GreenEntry] = match &node.green.kind {
            GreenKind::Mapping { entries, .. } => entries,
            _ => &[],
        };
        entries.iter().map(move |entry| (node.child(&entry.key), entry.value.as_ref().map(|value| node.child(value))))
    }

    /// The entries of a mapping as they count: the last of equal keys that has a value (Y7), then what merge keys bring.
    pub fn entries(self) -> Vec<(Node<'t>, Option<Node<'t>>)> {
        let mut found: Vec<(Node<'t>, Option<Node<'t>>)> = Vec::new();
        let mut places = HashMap::new();
        self.visit_merged(&mut |own| {
            let before = found.len();
            for (key, value) in own.own_entries() {
                let Some(name) = key.key_text().filter(|name| name != "<<") else { continue };
                match places.get(&name).copied() {
                    // Among entries of one mapping the last counts; what was merged earlier is nearer. A key without a
                    // value hides nothing: on its way to `envFrom`, a key is `env` for a moment.
                    Some(at) if at >= before && value.is_some() => found[at] = (key, value),
                    Some(_) => {}
                    None => {
                        places.insert(name, found.len());
                        found.push((key, value));
                    }
                }
            }
            false
        });
        found
    }

    /// The key and value of one entry as it counts, merge keys and aliases followed.
    pub fn entry(self, name: &str) -> Option<(Node<'t>, Option<Node<'t>>)> {
        let mut found = None;
        self.visit_merged(&mut |own| {
            for (key, value) in own.own_entries().filter(|(key, _)| key.key_text().is_some_and(|text| text == name)) {
                if value.is_some() || found.is_none() {
                    found = Some((key, value));
                }
            }
            found.is_some()
        });
        found
    }

    /// The value under a key; nothing for an absent key and for `key:` alone.
    pub fn get(self, name: &str) -> Option<Node<'t>> {
        self.entry(name)?.1
    }

    /// The value at the end of a path of keys.
    pub fn at(self, path: &[&str]) -> Option<Node<'t>> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The key's text as JSON would have it: `1` and `yes` become `1` and `true`.
    pub fn key_text(self) -> Option<std::borrow::Cow<'t, str>> {
        self.typed().map(TypedScalar::into_text)
    }

    /// The deepest node at an offset, with the way to it from the root.
    pub fn path_to(self, offset: usize) -> Vec<Node<'t>> {
        let mut path = vec![self];
        let mut node = self;
        while let Some(child) =
            node.green.children().map(|child| node.child(child)).find(|child| child.span().touches(offset))
        {
            path.push(child);
            node = child;
        }
        path
    }

    /// The way from the node that begins at `start` (or from this one) to an offset, as `spec.containers[0].name`.
    pub fn field_path(self, offset: usize, start: usize) -> String {
        let mut path = String::new();
        let mut node = self;
        while let Some((child, step)) = node.step_to(offset) {
            if node.offset == start && !matches!(node.green.kind, GreenKind::Scalar { .. }) {
                path.clear();
            }
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(&step);
            node = child;
        }
        path
    }

    /// The child at an offset, and what leads to it: a key or an index.
    fn step_to(self, offset: usize) -> Option<(Node<'t>, String)> {
        if self.alias().is_some() {
            return None;
        }
        for (key, value) in self.own_entries() {
            let name = || key.key_text().map(std::borrow::Cow::into_owned).unwrap_or_default();
            match value {
                Some(value) if value.span().touches(offset) => return Some((value, name())),
                _ if key.span().touches(offset) => return Some((key, name())),
                _ => {}
            }
        }
        let mut items = self.items().enumerate();
        items.find(|(_, item)| item.span().touches(offset)).map(|(index, item)| (item, format!("[{index}]")))
    }

    fn child(self, placed: &'t Positioned<GreenNode>) -> Node<'t> {
        Node { document: self.document, green: &placed.node, offset: self.offset + placed.offset as usize }
    }

    /// Calls `visit` with the mapping, then with each mapping its merge keys name, nearest first, each once, until it
    /// answers true. Once is enough, since a second visit adds nothing; so a bomb of merges costs its own length. No
    /// recursion: a chain of merges may be as long as the file.
    fn visit_merged(self, visit: &mut dyn FnMut(Node<'t>) -> bool) {
        let mut seen = std::collections::HashSet::new();
        let mut ahead = vec![self];
        while let Some(node) = ahead.pop() {
            let node = node.resolved();
            let place = Arc::as_ptr(node.green);
            if !matches!(node.green.kind, GreenKind::Mapping { .. }) || seen.contains(&place) {
                continue;
            }
            if visit(node) {
                return;
            }
            let mut merged = Vec::new();
            for (key, value) in node.own_entries() {
                let (true, Some(value)) = (key.is_merge(), value) else { continue };
                if value.is_sequence() { merged.extend(value.items()) } else { merged.push(value) }
            }
            ahead.extend(merged.into_iter().rev());
            // Most mappings merge nothing and need no memory of where they were.
            if !ahead.is_empty() {
                seen.insert(place);
            }
        }
    }

    fn is_merge(self) -> bool {
        matches!(&self.green.kind, GreenKind::Scalar { style: ScalarStyle::Plain, value } if value == "<<")
    }
}

/// Trees are equal when they say the same: how they were cut into pieces does not count.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len
            && self.documents.len() == other.documents.len()
            && self.documents().zip(other.documents()).all(|(a, b)| {
                a.span() == b.span()
                    && a.errors() == b.errors()
                    && match (&a.green.root, &b.green.root) {
                        (Some(a), Some(b)) => a.offset == b.offset && same(&a.node, &b.node),
                        (None, None) => true,
                        _ => false,
                    }
            })
    }
}

fn same(a: &GreenNode, b: &GreenNode) -> bool {
    let shallow = a.len == b.len
        && a.properties == b.properties
        && match (&a.kind, &b.kind) {
            (GreenKind::Mapping { shape: a, .. }, GreenKind::Mapping { shape: b, .. })
            | (GreenKind::Sequence { shape: a, .. }, GreenKind::Sequence { shape: b, .. }) => a == b,
            (GreenKind::Scalar { style: a, value: av }, GreenKind::Scalar { style: b, value: bv }) => {
                a == b && av == bv
            }
            (GreenKind::Alias { name: a }, GreenKind::Alias { name: b }) => a == b,
            (GreenKind::Error, GreenKind::Error) => true,
            _ => false,
        };
    let with_value = |green: &GreenNode| match &green.kind {
        GreenKind::Mapping { entries, .. } => entries.iter().map(|entry| entry.value.is_some()).collect(),
        _ => Vec::new(),
    };
    shallow
        && with_value(a) == with_value(b)
        && a.children().count() == b.children().count()
        && a.children().zip(b.children()).all(|(a, b)| a.offset == b.offset && same(&a.node, &b.node))
}
