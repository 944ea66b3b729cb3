//! Green nodes: the stored form of a tree, in which a node knows its length but not its position.
//!
//! A [`GreenNode`] stores its children with offsets relative to itself and shares them with `Arc`. The tree after an
//! edit is therefore a copy of the path to the edit; everything else is shared with the tree before it.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use compact_str::CompactString;

use crate::syntax::chunks::UnclosedChunk;
use crate::syntax::content_lines::MemberKind;
use crate::syntax::scalar::ScalarStyle;
use crate::syntax::syntax_error::SyntaxError;

/// A shared node at an offset relative to its parent.
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

/// An offset as trees store it.
pub(super) fn offset32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// One document of a stream, from its first line (directives and `---` included) to the first line of the next.
#[derive(Debug, Default)]
pub(super) struct GreenDocument {
    pub(super) len: u32,
    pub(super) root: Option<Positioned<GreenNode>>,
    /// Errors that belong to no chunk. Their spans are relative to the document.
    pub(super) errors: Vec<SyntaxError>,
    /// Whether it begins with directives or ends with `...`: an edit may then move its boundaries.
    pub(super) marked: bool,
    pub(super) anchors: OnceLock<Vec<GreenAnchor>>,
}

/// A node without a position.
#[derive(Debug)]
pub(super) struct GreenNode {
    pub(super) len: u32,
    pub(super) flags: SubtreeFlags,
    pub(super) properties: Option<Box<Properties>>,
    pub(super) kind: GreenKind,
}

#[derive(Debug)]
pub(super) enum GreenKind {
    Mapping { style: CollectionStyle, entries: Vec<GreenEntry>, chunked: Option<Box<ChunkedBlock>> },
    Sequence { style: CollectionStyle, items: Vec<Positioned<GreenNode>>, chunked: Option<Box<ChunkedBlock>> },
    Scalar { style: ScalarStyle, value: CompactString },
    Alias { name: Box<str> },
    Error,
}

/// A key and its value. `key:` without a value has none.
#[derive(Clone, Debug)]
pub(super) struct GreenEntry {
    pub(super) key: Positioned<GreenNode>,
    pub(super) value: Option<Positioned<GreenNode>>,
}

/// How a collection was divided into chunks that are parsed separately. Only large or broken collections are divided.
#[derive(Debug, Default, Clone)]
pub(super) struct ChunkedBlock {
    /// The column of its members.
    pub(super) column: u32,
    pub(super) chunks: Vec<Chunk>,
}

/// One chunk of a block: usually one member with everything below it.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    /// Its first character, relative to the collection.
    pub(super) offset: u32,
    /// The column of its first character. If it differs from the block's column, the chunk is indented wrongly.
    pub(super) column: u32,
    /// The number of members of the collection that come from this chunk.
    pub(super) member_count: u32,
    /// How many bytes after its end the parser looked at: an edit there may change this chunk.
    pub(super) lookahead: u32,
    /// The chunk inside it whose quote or bracket is still open at the end of the block, relative to this chunk.
    pub(super) unclosed: Option<Box<UnclosedChunk>>,
    /// Spans are relative to the chunk.
    pub(super) errors: Vec<SyntaxError>,
}

/// What a subtree contains, so that searches can skip the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SubtreeFlags {
    pub(super) anchor: bool,
    pub(super) error: bool,
    /// A mapping with the same key twice.
    pub(super) duplicate: bool,
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

/// The anchor and the tag before a node.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Properties {
    pub(super) anchor: Option<Box<str>>,
    pub(super) tag: Option<Box<str>>,
}

/// A node with an anchor.
#[derive(Debug)]
pub(super) struct GreenAnchor {
    pub(super) name: Box<str>,
    /// Relative to the document.
    pub(super) offset: u32,
    pub(super) node: Arc<GreenNode>,
}

/// Whether a collection is written with indentation or with brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionStyle {
    /// With indentation.
    Block,
    /// With `[` `]` or `{` `}`.
    Flow,
}

impl GreenNode {
    pub(super) fn new(len: u32, properties: Option<Box<Properties>>, kind: GreenKind) -> Self {
        let mut flags = SubtreeFlags {
            anchor: properties.as_ref().is_some_and(|it| it.anchor.is_some()),
            error: matches!(kind, GreenKind::Error),
            duplicate: false,
            alias: matches!(kind, GreenKind::Alias { .. }),
        };
        match &kind {
            GreenKind::Mapping { entries, chunked, .. } => {
                for entry in entries {
                    flags = flags.or(entry.key.node.flags);
                    if let Some(value) = &entry.value {
                        flags = flags.or(value.node.flags);
                    }
                }
                flags.error |= has_errors(chunked.as_deref());
                flags.duplicate |= has_duplicates(entries);
            }
            GreenKind::Sequence { items, chunked, .. } => {
                flags = items.iter().fold(flags, |flags, item| flags.or(item.node.flags));
                flags.error |= has_errors(chunked.as_deref());
            }
            GreenKind::Scalar { .. } | GreenKind::Alias { .. } | GreenKind::Error => {}
        }
        Self { len, flags, properties, kind }
    }

    /// Its chunks, if it was divided, and the kind of its members.
    pub(super) fn chunked(&self) -> Option<(&ChunkedBlock, MemberKind)> {
        let kind = match (&self.kind, self.style()?) {
            (GreenKind::Mapping { .. }, CollectionStyle::Block) => MemberKind::Entries,
            (GreenKind::Mapping { .. }, CollectionStyle::Flow) => MemberKind::FlowEntries,
            (_, CollectionStyle::Block) => MemberKind::Items,
            (_, CollectionStyle::Flow) => MemberKind::FlowItems,
        };
        Some((self.chunked_block()?, kind))
    }

    pub(super) fn chunked_block(&self) -> Option<&ChunkedBlock> {
        match &self.kind {
            GreenKind::Mapping { chunked, .. } | GreenKind::Sequence { chunked, .. } => chunked.as_deref(),
            _ => None,
        }
    }

    fn style(&self) -> Option<CollectionStyle> {
        match &self.kind {
            GreenKind::Mapping { style, .. } | GreenKind::Sequence { style, .. } => Some(*style),
            _ => None,
        }
    }

    pub(super) fn is_flow(&self) -> bool {
        self.style() == Some(CollectionStyle::Flow)
    }

    /// The text of a scalar key. Merge keys (`<<`) have none, since they may occur several times.
    pub(super) fn key_text(&self) -> Option<&str> {
        match &self.kind {
            GreenKind::Scalar { style: ScalarStyle::Plain, value } if value == "<<" => None,
            GreenKind::Scalar { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Its entries or items. An item is stored as a key without a value.
    pub(super) fn members(&self) -> Vec<GreenEntry> {
        match &self.kind {
            GreenKind::Mapping { entries, .. } => entries.clone(),
            GreenKind::Sequence { items, .. } => {
                items.iter().map(|item| GreenEntry { key: item.clone(), value: None }).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The children with their offsets, keys and values alike, in text order.
    pub(super) fn children(&self) -> Box<dyn Iterator<Item = &Positioned<GreenNode>> + '_> {
        match &self.kind {
            GreenKind::Mapping { entries, .. } => {
                Box::new(entries.iter().flat_map(|entry| std::iter::once(&entry.key).chain(&entry.value)))
            }
            GreenKind::Sequence { items, .. } => Box::new(items.iter()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Whether two nodes have the same content at the same relative offsets. Their chunks are not compared.
    pub(super) fn same_content(&self, other: &Self) -> bool {
        let shallow = self.len == other.len
            && self.properties == other.properties
            && match (&self.kind, &other.kind) {
                (GreenKind::Mapping { style: a, .. }, GreenKind::Mapping { style: b, .. })
                | (GreenKind::Sequence { style: a, .. }, GreenKind::Sequence { style: b, .. }) => a == b,
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
            && with_value(self) == with_value(other)
            && self.children().count() == other.children().count()
            && self.children().zip(other.children()).all(|(a, b)| a.offset == b.offset && a.node.same_content(&b.node))
    }
}

impl GreenEntry {
    /// The end of the last character of this member.
    pub(super) fn end(&self) -> usize {
        let last = self.value.as_ref().unwrap_or(&self.key);
        (last.offset + last.node.len) as usize
    }

    pub(super) fn moved(self, by: i64) -> Self {
        Self { key: self.key.moved(by), value: self.value.map(|value| value.moved(by)) }
    }

    /// Whether some text in it could not be parsed.
    pub(super) fn is_broken(&self) -> bool {
        self.key.node.flags.error || self.value.as_ref().is_some_and(|value| value.node.flags.error)
    }
}

fn has_errors(block: Option<&ChunkedBlock>) -> bool {
    block.is_some_and(|block| block.chunks.iter().any(|chunk| !chunk.errors.is_empty()))
}

/// Whether a key occurs twice. A few keys are compared with each other, which is cheaper than a set.
fn has_duplicates(entries: &[GreenEntry]) -> bool {
    let keys = || entries.iter().filter_map(|entry| entry.key.node.key_text());
    if entries.len() <= 16 {
        keys().enumerate().any(|(at, key)| keys().take(at).any(|other| other == key))
    } else {
        let mut seen = HashSet::with_capacity(entries.len());
        !keys().all(|key| seen.insert(key))
    }
}
