//! Nodes: cursors into a tree that know their position in the file.
//!
//! A [`Node`] follows aliases and merge keys for its caller, except where a method says that it does not.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::syntax::green::{CollectionStyle, GreenEntry, GreenKind, GreenNode, Positioned};
use crate::syntax::owned_node::OwnedNode;
use crate::syntax::scalar::{self, ScalarStyle, TypedScalar};
use crate::syntax::tree::YamlDocument;
use crate::text::Span;
use crate::work::{Step, count};

/// The kind of a node. Aliases are not followed.
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
    /// Text that could not be parsed.
    Error,
}

/// A node at its position in a file.
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

/// A part of a tree without its position, compared by identity: it is equal to the same part of the tree before an edit
/// if both trees share it. Equal text elsewhere is a different subtree. It keeps its nodes alive, so it can be a cache
/// key for any length of time.
#[derive(Clone, Debug)]
pub struct Subtree(Arc<GreenNode>);

impl PartialEq for Subtree {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Subtree {}

impl Hash for Subtree {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl Subtree {
    /// See [`Node::contains_alias`].
    pub fn contains_alias(&self) -> bool {
        self.0.flags.alias
    }
}

impl<'t> Node<'t> {
    pub(super) fn new(document: YamlDocument<'t>, green: &'t Arc<GreenNode>, offset: usize) -> Self {
        Self { document, green, offset }
    }

    /// The bytes of its text, without its anchor and tag.
    pub fn span(self) -> Span {
        Span::new(self.offset, self.offset + self.green.len as usize)
    }

    /// Its kind. An alias is not followed.
    pub fn kind(self) -> NodeKind {
        match &self.green.kind {
            GreenKind::Mapping { style, .. } => NodeKind::Mapping(*style),
            GreenKind::Sequence { style, .. } => NodeKind::Sequence(*style),
            GreenKind::Scalar { style, .. } => NodeKind::Scalar(*style),
            GreenKind::Alias { .. } => NodeKind::Alias,
            GreenKind::Error => NodeKind::Error,
        }
    }

    /// The part of the tree below this node, this node included.
    pub fn subtree(self) -> Subtree {
        Subtree(Arc::clone(self.green))
    }

    /// The node without a borrow. It keeps its subtree alive, and with aliases the whole document.
    pub fn to_owned_node(self) -> OwnedNode {
        let document_start = self.document.span().start;
        OwnedNode::new(self.document.green(), self.green, self.offset - document_start)
    }

    /// Whether there is an alias in its subtree, so that its meaning depends on text elsewhere.
    pub fn contains_alias(self) -> bool {
        self.green.flags.alias
    }

    /// Its subtree without some nodes, as the largest subtrees that contain none of them. `excluded` are the spans of
    /// those nodes in text order.
    pub fn subtrees_around(self, excluded: &[Span]) -> Vec<Subtree> {
        let mut found = Vec::new();
        collect_subtrees_around(self.green, self.offset, excluded, &mut found);
        found
    }

    /// The document it belongs to.
    pub fn document(self) -> YamlDocument<'t> {
        self.document
    }

    /// The node an alias refers to (through further aliases), or the node itself. An alias without an anchor is returned
    /// unchanged.
    pub fn resolved(self) -> Node<'t> {
        let mut node = self;
        // An anchor is before its aliases, so each step goes back in the text and the loop ends.
        while let GreenKind::Alias { name } = &node.green.kind {
            match self.document.anchored_node(name, node.offset) {
                Some(target) => node = target,
                None => break,
            }
        }
        node
    }

    /// The name after `*`, if it is an alias.
    pub fn alias(self) -> Option<&'t str> {
        match &self.green.kind {
            GreenKind::Alias { name } => Some(name),
            _ => None,
        }
    }

    /// The name after `&`.
    pub fn anchor(self) -> Option<&'t str> {
        self.green.properties.as_ref()?.anchor.as_deref()
    }

    /// The tag as written, such as `!!int` or `!custom`.
    pub fn tag(self) -> Option<&'t str> {
        self.green.properties.as_ref()?.tag.as_deref()
    }

    /// Whether it is a mapping.
    pub fn is_mapping(self) -> bool {
        matches!(self.resolved().green.kind, GreenKind::Mapping { .. })
    }

    /// Whether it is a sequence.
    pub fn is_sequence(self) -> bool {
        matches!(self.resolved().green.kind, GreenKind::Sequence { .. })
    }

    /// The text of a scalar of any type, after unescaping and folding.
    pub fn text(self) -> Option<&'t str> {
        match &self.resolved().green.kind {
            GreenKind::Scalar { value, .. } => Some(value),
            _ => None,
        }
    }

    /// How a scalar is written.
    pub fn style(self) -> Option<ScalarStyle> {
        match &self.resolved().green.kind {
            GreenKind::Scalar { style, .. } => Some(*style),
            _ => None,
        }
    }

    /// A scalar's value with the type that kubectl gives it (Y1 to Y6).
    pub fn typed(self) -> Option<TypedScalar<'t>> {
        let node = self.resolved();
        match &node.green.kind {
            GreenKind::Scalar { style, value } => Some(scalar::typed(value, *style, node.tag())),
            _ => None,
        }
    }

    /// The value if kubectl reads it as a string; `8080` and `yes` are not strings.
    pub fn string(self) -> Option<&'t str> {
        match self.typed()? {
            TypedScalar::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a sequence. Aliases among the items are not followed.
    pub fn items(self) -> impl Iterator<Item = Node<'t>> {
        let node = self.resolved();
        let items: &[Positioned<GreenNode>] = match &node.green.kind {
            GreenKind::Sequence { items, .. } => items,
            _ => &[],
        };
        items.iter().map(move |item| node.child(item))
    }

    /// The entries of a mapping as written: merge keys are not followed, duplicates are included.
    pub fn own_entries(self) -> impl Iterator<Item = (Node<'t>, Option<Node<'t>>)> {
        let node = self.resolved();
        let entries: &[GreenEntry] = match &node.green.kind {
            GreenKind::Mapping { entries, .. } => entries,
            _ => &[],
        };
        entries.iter().map(move |entry| (node.child(&entry.key), entry.value.as_ref().map(|value| node.child(value))))
    }

    /// The effective entries of a mapping: the last of equal keys that has a value (Y7), then those from merge keys.
    pub fn entries(self) -> Vec<(Node<'t>, Option<Node<'t>>)> {
        let mut found: Vec<(Node<'t>, Option<Node<'t>>)> = Vec::new();
        let mut indexes = HashMap::new();
        self.visit_merged(&mut |own| {
            let before = found.len();
            for (key, value) in own.own_entries() {
                let Some(name) = key.key_text().filter(|name| name != "<<") else { continue };
                match indexes.get(&name).copied() {
                    // The last entry of one mapping wins; entries of a nearer mapping were found earlier and win. A key
                    // without a value overrides nothing: while `envFrom` is typed, the key is `env` for a moment.
                    Some(at) if at >= before && value.is_some() => found[at] = (key, value),
                    Some(_) => {}
                    None => {
                        indexes.insert(name, found.len());
                        found.push((key, value));
                    }
                }
            }
            false
        });
        found
    }

    /// The key and value of one effective entry, see [`Node::entries`].
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

    /// The value of a key; `None` if the key is absent or has no value.
    pub fn get(self, name: &str) -> Option<Node<'t>> {
        self.entry(name)?.1
    }

    /// The value at the end of a path of keys.
    pub fn at(self, path: &[&str]) -> Option<Node<'t>> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The key's text as it is in JSON: `1` and `yes` become `1` and `true`.
    pub fn key_text(self) -> Option<Cow<'t, str>> {
        self.typed().map(TypedScalar::into_text)
    }

    /// The nodes from this one to the deepest one at an offset.
    pub fn path_to(self, offset: usize) -> Vec<Node<'t>> {
        let mut path = vec![self];
        let mut node = self;
        while let Some(child) = node.child_at(offset) {
            path.push(child);
            node = child;
        }
        path
    }

    /// The first child at an offset.
    fn child_at(self, offset: usize) -> Option<Node<'t>> {
        match &self.green.kind {
            GreenKind::Mapping { .. } => {
                let (key, value) = self.own_entry_at(offset)?;
                [Some(key), value].into_iter().flatten().find(|it| it.span().touches(offset))
            }
            GreenKind::Sequence { .. } => self.item_at(offset).map(|(_, item)| item),
            GreenKind::Scalar { .. } | GreenKind::Alias { .. } | GreenKind::Error => None,
        }
    }

    /// The key and value of the first entry of a mapping that ends at or after an offset.
    fn own_entry_at(self, offset: usize) -> Option<(Node<'t>, Option<Node<'t>>)> {
        let GreenKind::Mapping { entries, .. } = &self.green.kind else { return None };
        let at = entries.partition_point(|it| self.child(it.value.as_ref().unwrap_or(&it.key)).span().end < offset);
        let GreenEntry { key, value } = entries.get(at)?;
        Some((self.child(key), value.as_ref().map(|it| self.child(it))))
    }

    /// The item of a sequence at an index.
    pub fn item(self, index: usize) -> Option<Node<'t>> {
        let GreenKind::Sequence { items, .. } = &self.green.kind else { return None };
        items.get(index).map(|it| self.child(it))
    }

    /// The first item of a sequence at an offset, with its index.
    pub fn item_at(self, offset: usize) -> Option<(usize, Node<'t>)> {
        let GreenKind::Sequence { items, .. } = &self.green.kind else { return None };
        let at = items.partition_point(|it| self.child(it).span().end < offset);
        let item = self.child(items.get(at)?);
        item.span().touches(offset).then_some((at, item))
    }

    /// The path from the node that begins at `start` (or from this one) to an offset, as `spec.containers[0].name`.
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

    /// The child at an offset and its step of the path: a key, or an index in brackets.
    fn step_to(self, offset: usize) -> Option<(Node<'t>, String)> {
        if self.alias().is_some() {
            return None;
        }
        if let Some((key, value)) = self.own_entry_at(offset) {
            let found =
                value.filter(|it| it.span().touches(offset)).or(Some(key).filter(|it| it.span().touches(offset)))?;
            return Some((found, key.key_text().map(Cow::into_owned).unwrap_or_default()));
        }
        self.item_at(offset).map(|(index, item)| (item, format!("[{index}]")))
    }

    fn child(self, child: &'t Positioned<GreenNode>) -> Node<'t> {
        count(Step::Child, 1);
        Node { document: self.document, green: &child.node, offset: self.offset + child.offset as usize }
    }

    /// Calls `visit` with the mapping, then with each mapping its merge keys refer to, nearest first, until it returns
    /// true. Each mapping is visited once, since a second visit adds nothing: merges that multiply cost no more than
    /// their text. There is no recursion, because a chain of merges can be as long as the file.
    fn visit_merged(self, visit: &mut dyn FnMut(Node<'t>) -> bool) {
        let mut seen = HashSet::new();
        let mut pending = vec![self];
        while let Some(node) = pending.pop() {
            let node = node.resolved();
            let identity = Arc::as_ptr(node.green);
            if !matches!(node.green.kind, GreenKind::Mapping { .. }) || seen.contains(&identity) {
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
            pending.extend(merged.into_iter().rev());
            // Most mappings have no merge keys, and `seen` need not allocate.
            if !pending.is_empty() {
                seen.insert(identity);
            }
        }
    }

    fn is_merge(self) -> bool {
        matches!(&self.green.kind, GreenKind::Scalar { style: ScalarStyle::Plain, value } if value == "<<")
    }
}

fn collect_subtrees_around(green: &Arc<GreenNode>, offset: usize, excluded: &[Span], found: &mut Vec<Subtree>) {
    let end = offset + green.len as usize;
    let first = excluded.partition_point(|span| span.start < offset);
    let count = excluded[first..].partition_point(|span| span.end <= end && span.start < end);
    let inside = &excluded[first..first + count];
    match inside {
        [] => found.push(Subtree(Arc::clone(green))),
        [span] if *span == Span::new(offset, end) => {}
        _ => green
            .children()
            .for_each(|child| collect_subtrees_around(&child.node, offset + child.offset as usize, inside, found)),
    }
}
