//! Helpers that read scalars, flags, string maps and lists from nodes, with spans relative to the object.
//!
//! A reader counts the nodes it reads, because aliases can expand a small text to any size.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

use crate::k8s::model::Text;
use crate::k8s::object_cache::CacheSession;
use crate::k8s::object_span::ObjectSpan;
use crate::syntax::{Node, ScalarStyle, TypedScalar, YamlDocument};

/// How deep nodes are walked: deeper than every real object, but finite for an anchor that contains its own alias.
pub(super) const DEPTH: usize = 32;

/// How many nodes may still be read.
#[derive(Debug)]
pub(super) struct ReadBudget(Cell<usize>);

impl ReadBudget {
    /// Enough to read every node of the document several times.
    pub(super) fn for_document(document: YamlDocument<'_>) -> Self {
        Self::for_text(document.span().len())
    }

    /// Enough to read every node of a text of this length several times.
    pub(super) fn for_text(len: usize) -> Self {
        Self(Cell::new(len.saturating_mul(4).saturating_add(10_000)))
    }

    /// Takes one node from the budget. False if it is used up.
    pub(super) fn take(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

/// Reads the parts of one object.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeReader<'b> {
    /// The offset of the object.
    pub(super) base: usize,
    pub(super) budget: &'b ReadBudget,
    /// The cache for the containers of the object.
    pub(super) session: Option<&'b CacheSession>,
}

impl NodeReader<'_> {
    /// The node's span, relative to the object.
    pub(super) fn span(self, node: Node<'_>) -> ObjectSpan {
        ObjectSpan::relative(node.span().relative_to(self.base))
    }

    /// A scalar. `None` for `null`. Scalars that are not strings are included, with `is_string` false.
    pub(super) fn text(self, node: Node<'_>) -> Option<Text> {
        match node.typed()? {
            TypedScalar::Null => None,
            typed => Some(self.scalar(node, matches!(typed, TypedScalar::Str(_)))),
        }
    }

    /// The scalar at a key.
    pub(super) fn text_at(self, node: Node<'_>, key: &str) -> Option<Text> {
        self.text(node.get(key)?)
    }

    /// A key of a mapping, as a JSON string.
    pub(super) fn key(self, node: Node<'_>) -> Option<Text> {
        let name = node.key_text()?;
        let mut text = self.scalar(node, true);
        if *text.value != *name {
            text.value = interned(&name);
        }
        Some(text)
    }

    /// The items of a list, as many as the budget allows.
    pub(super) fn items<'n>(self, list: Node<'n>) -> impl Iterator<Item = Node<'n>> {
        list.items().take_while(move |_| self.budget.take())
    }

    /// The scalars of a list. Other items become empty texts with `is_string` false, so that indexes stay right.
    pub(super) fn texts(self, node: Node<'_>) -> Vec<Text> {
        exact(self.items(node).map(|item| match item.text() {
            Some(_) => self.text(item).unwrap_or_else(|| self.scalar(item, false)),
            None => Text { value: "".into(), span: self.span(item), style: ScalarStyle::Plain, is_string: false },
        }))
    }

    /// The scalars of the list at a key.
    pub(super) fn texts_at(self, node: Node<'_>, key: &str) -> Vec<Text> {
        node.get(key).map(|list| self.texts(list)).unwrap_or_default()
    }

    /// The entries of a mapping of scalars, such as labels.
    pub(super) fn pairs(self, node: Node<'_>) -> Vec<(Text, Text)> {
        let entries = node.entries().into_iter().take_while(|_| self.budget.take());
        exact(entries.filter_map(|(key, value)| Some((self.key(key)?, self.text(value?)?))))
    }

    /// The mapping of scalars at a path of keys.
    pub(super) fn pairs_at(self, node: Node<'_>, path: &[&str]) -> Vec<(Text, Text)> {
        node.at(path).map(|map| self.pairs(map)).unwrap_or_default()
    }

    /// The mapping of strings at a path of keys: labels or annotations. Null is the empty text (T6.4).
    pub(super) fn string_pairs_at(self, node: Node<'_>, path: &[&str]) -> Vec<(Text, Text)> {
        let entries = node.at(path).into_iter().flat_map(|map| map.entries());
        let pair = |(key, value): (Node<'_>, Option<Node<'_>>)| {
            let is_null = |it: Node<'_>| it.typed() == Some(TypedScalar::Null);
            let value = match value {
                Some(value) if is_null(value) => Text { value: "".into(), is_string: true, ..self.scalar(value, true) },
                Some(value) => self.text(value)?,
                None => Text { value: "".into(), is_string: true, ..self.scalar(key, true) },
            };
            Some((self.key(key)?, value))
        };
        exact(entries.take_while(|_| self.budget.take()).filter_map(pair))
    }

    /// The boolean at a key, with its span.
    pub(super) fn flag(self, node: Node<'_>, key: &str) -> Option<(bool, ObjectSpan)> {
        let value = node.get(key)?;
        match value.typed()? {
            TypedScalar::Bool(it) => Some((it, self.span(value.resolved()))),
            _ => None,
        }
    }

    /// Whether the value at a key is `true`.
    pub(super) fn is_set(self, node: Node<'_>, key: &str) -> bool {
        matches!(self.flag(node, key), Some((true, _)))
    }

    /// For an alias, the text and span of the anchored scalar.
    fn scalar(self, node: Node<'_>, is_string: bool) -> Text {
        let node = node.resolved();
        Text {
            value: interned(node.text().unwrap_or_default()),
            span: self.span(node),
            style: node.style().unwrap_or(ScalarStyle::Plain),
            is_string,
        }
    }
}

/// The items in a list without unused memory: it lives as long as the file, and most lists are short.
pub(super) fn exact<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut list: Vec<T> = items.collect();
    list.shrink_to_fit();
    list
}

/// Longer texts are seldom repeated.
const INTERNED_LENGTH: usize = 32;
/// How many texts a thread remembers.
const INTERNED: usize = 2048;

thread_local! {
    static KNOWN: RefCell<HashSet<Arc<str>>> = RefCell::default();
}

/// A text that equal ones share as far as this thread remembers them: manifests repeat names, kinds and versions.
fn interned(text: &str) -> Arc<str> {
    if text.len() > INTERNED_LENGTH {
        return text.into();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(known) = known.get(text) {
            return Arc::clone(known);
        }
        if known.len() >= INTERNED {
            known.clear();
        }
        let new: Arc<str> = text.into();
        known.insert(Arc::clone(&new));
        new
    })
}

/// The items of a list that are mappings, with their indexes.
pub(super) fn mappings<'t>(node: Node<'t>) -> impl Iterator<Item = (usize, Node<'t>)> {
    node.items().enumerate().filter(|(_, item)| item.is_mapping())
}
