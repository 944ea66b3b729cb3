//! Small readers over nodes: scalars, flags, string maps and lists, with spans relative to the object.
//!
//! A reader counts what it looks at. Aliases can make a small text as large as they like; the count ends that.

use std::cell::Cell;
use std::sync::Arc;

use crate::k8s::model::Text;
use crate::k8s::object_cache::CacheSession;
use crate::syntax::{Node, ScalarStyle, TypedScalar, YamlDocument};
use crate::text::Span;

/// How deep any walk goes: deeper than every real object, and an end for an anchor that holds its own alias.
pub(super) const DEPTH: usize = 32;

/// How much of a document may still be looked at.
#[derive(Debug)]
pub(super) struct NodeBudget(Cell<usize>);

impl NodeBudget {
    /// Enough to read every node of the document several times over.
    pub(super) fn of(document: YamlDocument<'_>) -> Self {
        Self::for_text(document.span().len())
    }

    /// Enough to read every node of a text without aliases several times over.
    pub(super) fn for_text(len: usize) -> Self {
        Self(Cell::new(len.saturating_mul(4).saturating_add(10_000)))
    }

    /// Takes one node from the budget; false when it is used up.
    pub(super) fn take(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

/// Reads the parts of one object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'b> {
    /// The object's first byte.
    pub(super) base: usize,
    pub(super) budget: &'b NodeBudget,
    /// Keeps the containers of the object.
    pub(super) sharing: Option<&'b CacheSession>,
}

impl Reader<'_> {
    /// The node's span, relative to the object.
    pub(super) fn span(self, node: Node<'_>) -> Span {
        node.span().relative_to(self.base)
    }

    /// A scalar. `null` is as good as absent; what is no string is kept and marked.
    pub(super) fn text(self, node: Node<'_>) -> Option<Text> {
        match node.typed()? {
            TypedScalar::Null => None,
            typed => Some(self.scalar(node, matches!(typed, TypedScalar::Str(_)))),
        }
    }

    /// The scalar under a key.
    pub(super) fn text_at(self, node: Node<'_>, key: &str) -> Option<Text> {
        self.text(node.get(key)?)
    }

    /// A key of a mapping, as JSON would have it.
    pub(super) fn key(self, node: Node<'_>) -> Option<Text> {
        let name = node.key_text()?;
        let mut text = self.scalar(node, true);
        if *text.value != *name {
            text.value = name.into();
        }
        Some(text)
    }

    /// The scalars of a list. Items that are none keep their place as an empty text that is no string.
    pub(super) fn texts(self, node: Node<'_>) -> Vec<Text> {
        node.items()
            .take_while(|_| self.budget.take())
            .map(|item| match item.text() {
                Some(_) => self.text(item).unwrap_or_else(|| self.scalar(item, false)),
                None => Text { value: "".into(), span: self.span(item), style: ScalarStyle::Plain, is_string: false },
            })
            .collect()
    }

    /// The scalars of the list under a key.
    pub(super) fn texts_at(self, node: Node<'_>, key: &str) -> Vec<Text> {
        node.get(key).map(|list| self.texts(list)).unwrap_or_default()
    }

    /// The entries of a mapping of scalars, such as labels.
    pub(super) fn pairs(self, node: Node<'_>) -> Vec<(Text, Text)> {
        node.entries()
            .into_iter()
            .take_while(|_| self.budget.take())
            .filter_map(|(key, value)| Some((self.key(key)?, self.text(value?)?)))
            .collect()
    }

    /// The string map under a path of keys.
    pub(super) fn pairs_at(self, node: Node<'_>, path: &[&str]) -> Vec<(Text, Text)> {
        node.at(path).map(|map| self.pairs(map)).unwrap_or_default()
    }

    /// A boolean under a key, with its place.
    pub(super) fn flag(self, node: Node<'_>, key: &str) -> Option<(bool, Span)> {
        let value = node.get(key)?;
        match value.typed()? {
            TypedScalar::Bool(it) => Some((it, self.span(value.resolved()))),
            _ => None,
        }
    }

    /// Whether the key holds `true`.
    pub(super) fn is_set(self, node: Node<'_>, key: &str) -> bool {
        matches!(self.flag(node, key), Some((true, _)))
    }

    /// The span of a scalar leads to where it is written, so an alias gives its anchor's place.
    fn scalar(self, node: Node<'_>, is_string: bool) -> Text {
        let node = node.resolved();
        Text {
            value: node.text().map_or_else(|| Arc::from(""), Arc::from),
            span: self.span(node),
            style: node.style().unwrap_or(ScalarStyle::Plain),
            is_string,
        }
    }
}

/// The items of a list that are mappings, with their indexes.
pub(super) fn mappings<'t>(node: Node<'t>) -> impl Iterator<Item = (usize, Node<'t>)> {
    node.items().enumerate().filter(|(_, item)| item.is_mapping())
}
