//! Nodes that keep their tree alive, and new trees with parts of others.
//!
//! A [`Node`] borrows the tree of a file, which is dropped once the file is read. An [`OwnedNode`] shares the green nodes
//! it needs, so that an object can be built from them later.

use std::sync::{Arc, LazyLock};

use compact_str::CompactString;

use crate::syntax::green::{CollectionStyle, GreenDocument, GreenEntry, GreenKind, GreenNode, Positioned, offset32};
use crate::syntax::node::Node;
use crate::syntax::scalar::ScalarStyle;
use crate::syntax::tree::YamlDocument;

/// The document of nodes without aliases: they need no anchors of other nodes.
static NO_DOCUMENT: LazyLock<Arc<GreenDocument>> = LazyLock::new(Arc::default);

/// A node that keeps its tree alive.
#[derive(Clone, Debug)]
pub struct OwnedNode {
    document: Arc<GreenDocument>,
    green: Arc<GreenNode>,
    /// The position of the node in the document. Zero if the document is not kept.
    offset: usize,
}

impl OwnedNode {
    pub(super) fn new(document: &Arc<GreenDocument>, green: &Arc<GreenNode>, offset: usize) -> Self {
        if green.flags.alias {
            Self { document: Arc::clone(document), green: Arc::clone(green), offset }
        } else {
            Self { document: Arc::clone(&NO_DOCUMENT), green: Arc::clone(green), offset: 0 }
        }
    }

    /// The node. Positions are relative to the tree that is kept, see [`Node::span`]: compare them with those of this
    /// node.
    pub fn node(&self) -> Node<'_> {
        Node::new(YamlDocument::new(&self.document, 0), &self.green, self.offset)
    }

    /// A new tree. Its first byte is at position zero.
    pub fn assemble(root: NewNode) -> Self {
        Self { document: Arc::clone(&NO_DOCUMENT), green: root.into_green(), offset: 0 }
    }
}

/// A node of a tree that is assembled. The caller chooses the positions: they identify the nodes, and need not be those of
/// a text. A child starts at or after the start of its parent.
#[derive(Clone, Debug)]
pub struct NewNode {
    /// The position in the new tree.
    pub start: usize,
    /// The length in bytes.
    pub len: usize,
    /// The content.
    pub content: NewContent,
}

/// The content of a new node.
#[derive(Clone, Debug)]
pub enum NewContent {
    /// A scalar.
    Scalar(ScalarStyle, Arc<str>),
    /// The items of a sequence.
    Sequence(Vec<NewNode>),
    /// The keys and values of a mapping.
    Mapping(Vec<(NewNode, Option<NewNode>)>),
    /// A part of another tree without aliases.
    Shared(OwnedNode),
}

impl NewNode {
    fn into_green(self) -> Arc<GreenNode> {
        let start = self.start;
        let child =
            |node: NewNode| Positioned { offset: offset32(node.start.saturating_sub(start)), node: node.into_green() };
        let style = CollectionStyle::Block;
        let kind = match self.content {
            NewContent::Shared(node) => return node.green,
            NewContent::Scalar(style, value) => GreenKind::Scalar { style, value: CompactString::from(&*value) },
            NewContent::Sequence(items) => {
                GreenKind::Sequence { style, items: items.into_iter().map(child).collect(), chunked: None }
            }
            NewContent::Mapping(entries) => {
                let entry =
                    |(key, value): (NewNode, Option<NewNode>)| GreenEntry { key: child(key), value: value.map(child) };
                GreenKind::Mapping { style, entries: entries.into_iter().map(entry).collect(), chunked: None }
            }
        };
        Arc::new(GreenNode::new(offset32(self.len), None, kind))
    }
}
