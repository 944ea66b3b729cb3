//! Objects while they are built: trees that steps change, in which every node knows where it comes from.
//!
//! A part that no step has opened is the source node itself. [`BuiltNode::finish`] turns the result into a tree that the
//! readers of `k8s` read like that of a file.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::build::origin::{BuiltBy, BuiltText, Origins, Place};
use crate::k8s::{FieldType, ObjectSpan, ScalarType, TextPiece};
use crate::syntax::{NewContent, NewNode, Node, NodeKind, OwnedNode, ScalarStyle, TypedScalar};
use crate::text::Span;

/// How deep objects may be nested, and how many nodes they may have beyond the length of their text: aliases of aliases
/// can multiply.
const DEEPEST: usize = 256;
const MORE_NODES: usize = 1_000_000;

/// A node of an object that is built.
#[derive(Clone, Debug)]
pub struct BuiltNode {
    /// Where it comes from.
    pub place: Place,
    /// What put it there.
    pub by: BuiltBy,
    /// The content.
    pub content: BuiltContent,
}

/// The content of a node.
#[derive(Clone, Debug)]
pub enum BuiltContent {
    /// A part of a source object that no step has opened.
    Unchanged(OwnedNode),
    /// A scalar that a step made.
    Scalar(BuiltScalar),
    /// A list.
    List(Vec<BuiltNode>),
    /// A mapping with its keys, in order.
    Map(Vec<(BuiltNode, Option<BuiltNode>)>),
}

/// A scalar that a step made.
#[derive(Clone, Debug)]
pub struct BuiltScalar {
    /// The text.
    pub text: Arc<str>,
    /// Whether it is a string. Other scalars are typed by their text.
    pub is_string: bool,
    /// The written scalar it is made of.
    pub written: Option<BuiltText>,
}

/// Why an object cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// Its aliases make it too large or too deep.
    TooLarge,
    /// It has a scalar that does not fit its type, or a syntax error.
    Broken,
}

impl BuildError {
    /// The message.
    pub fn message(self) -> &'static str {
        match self {
            Self::TooLarge => "too large after expanding its YAML aliases",
            Self::Broken => "it cannot be read as YAML",
        }
    }
}

/// Limits while an object is built.
#[derive(Debug)]
pub struct BuildLimits {
    /// How many nodes may still be opened.
    nodes: usize,
    /// Whether a part that cannot be read fails the whole object. In an editor it does not: the rest is still built.
    is_strict: bool,
}

impl BuildLimits {
    /// Limits for a text of some length. A part that cannot be read fails the object.
    pub fn strict(text_len: usize) -> Self {
        Self { nodes: text_len.saturating_add(MORE_NODES), is_strict: true }
    }

    /// The same, but a part that cannot be read is kept as it is.
    pub fn lenient(text_len: usize) -> Self {
        Self { is_strict: false, ..Self::strict(text_len) }
    }

    fn take(&mut self) -> Result<(), BuildError> {
        self.nodes = self.nodes.checked_sub(1).ok_or(BuildError::TooLarge)?;
        Ok(())
    }

    /// The result for a part that cannot be read.
    fn broken<T>(&self, kept: T) -> Result<T, BuildError> {
        if self.is_strict { Err(BuildError::Broken) } else { Ok(kept) }
    }
}

impl BuiltNode {
    /// The root of a source object.
    pub fn from_source(tree: OwnedNode) -> Self {
        let len = tree.node().span().len();
        let place = Place::Own(ObjectSpan::relative(Span::new(0, len)));
        Self { place, by: BuiltBy::Source, content: BuiltContent::Unchanged(tree) }
    }

    /// A new scalar.
    pub fn scalar(place: Place, by: BuiltBy, text: impl Into<Arc<str>>, is_string: bool) -> Self {
        let scalar = BuiltScalar { text: text.into(), is_string, written: None };
        Self { place, by, content: BuiltContent::Scalar(scalar) }
    }

    /// A new, empty mapping.
    pub fn map(place: Place, by: BuiltBy) -> Self {
        Self { place, by, content: BuiltContent::Map(Vec::new()) }
    }

    /// The entries of a mapping, for changes. `None` if it is not a mapping.
    pub fn entries_mut(&mut self) -> Option<&mut Vec<(BuiltNode, Option<BuiltNode>)>> {
        self.open();
        match &mut self.content {
            BuiltContent::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items of a list, for changes. `None` if it is not a list.
    pub fn items_mut(&mut self) -> Option<&mut Vec<BuiltNode>> {
        self.open();
        match &mut self.content {
            BuiltContent::List(items) => Some(items),
            _ => None,
        }
    }

    /// The value of a key, for changes.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut BuiltNode> {
        let entries = self.entries_mut()?;
        entries.iter_mut().rfind(|(it, _)| it.text().as_deref() == Some(key))?.1.as_mut()
    }

    /// Whether it is a mapping with this key. The value may be null.
    pub fn has_key(&mut self, key: &str) -> bool {
        self.entries_mut().is_some_and(|it| it.iter().any(|(it, _)| it.text().as_deref() == Some(key)))
    }

    /// Removes a key. Returns whether it was there.
    pub fn remove(&mut self, key: &str) -> bool {
        let Some(entries) = self.entries_mut() else { return false };
        let before = entries.len();
        entries.retain(|(it, _)| it.text().as_deref() != Some(key));
        entries.len() < before
    }

    /// Sets the value of a key; a new key gets the given node.
    pub fn set(&mut self, key: BuiltNode, value: BuiltNode) {
        let Some(name) = key.text().map(Cow::into_owned) else { return };
        let Some(entries) = self.entries_mut() else { return };
        match entries.iter_mut().rfind(|(it, _)| it.text().as_deref() == Some(&*name)) {
            Some((_, old)) => *old = Some(value),
            None => entries.push((key, Some(value))),
        }
    }

    /// The text of a scalar; of a key as it is in JSON.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match &self.content {
            BuiltContent::Unchanged(tree) => tree.node().key_text().map(|it| it.into_owned().into()),
            BuiltContent::Scalar(scalar) => Some(Cow::Borrowed(&scalar.text)),
            BuiltContent::List(_) | BuiltContent::Map(_) => None,
        }
    }

    /// The text, if it is a string.
    pub fn string(&self) -> Option<Cow<'_, str>> {
        match &self.content {
            BuiltContent::Unchanged(tree) => tree.node().string().map(|it| Cow::Owned(it.to_owned())),
            BuiltContent::Scalar(scalar) => scalar.is_string.then_some(Cow::Borrowed(&*scalar.text)),
            BuiltContent::List(_) | BuiltContent::Map(_) => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        match &self.content {
            BuiltContent::Unchanged(tree) => tree.node().typed() == Some(TypedScalar::Null),
            _ => false,
        }
    }

    /// Whether it is a mapping.
    pub fn is_map(&self) -> bool {
        match &self.content {
            BuiltContent::Unchanged(tree) => tree.node().is_mapping(),
            content => matches!(content, BuiltContent::Map(_)),
        }
    }

    /// Turns an unopened collection into its children.
    fn open(&mut self) {
        if let BuiltContent::Unchanged(tree) = &self.content
            && let Some(content) = self.opened(tree.node())
        {
            self.content = content;
        }
    }

    fn opened(&self, node: Node<'_>) -> Option<BuiltContent> {
        let base = node.resolved().span();
        let child = |child: Node<'_>| self.child(base, child);
        if node.is_mapping() {
            let entries = node.entries().into_iter();
            return Some(BuiltContent::Map(entries.map(|(key, value)| (child(key), value.map(child))).collect()));
        }
        node.is_sequence().then(|| BuiltContent::List(node.items().map(child).collect()))
    }

    /// A child of this node. For an alias it is the node that the alias refers to, at its own place.
    fn child(&self, parent: Span, node: Node<'_>) -> BuiltNode {
        let node = node.resolved();
        let moved = |place: &ObjectSpan| {
            let start = place.to_relative().start.wrapping_sub(parent.start);
            ObjectSpan::relative(node.span().shifted(start))
        };
        let place = match &self.place {
            Place::Own(span) => Place::Own(moved(span)),
            Place::Other(object, span) => Place::Other(Arc::clone(object), moved(span)),
            label @ Place::TemplateLabel { .. } => label.clone(),
        };
        BuiltNode { place, by: self.by, content: BuiltContent::Unchanged(node.to_owned_node()) }
    }

    /// Calls `step` for every string that contains a `$`, and for every key that does, from the outside to the inside.
    /// Parts without one stay unopened.
    pub(super) fn visit_references(
        &mut self,
        limits: &mut BuildLimits,
        visitor: &mut dyn ReferenceVisitor,
    ) -> Result<(), BuildError> {
        self.visit(None, DEEPEST, limits, visitor).map(drop)
    }

    /// Returns whether the node is kept. `field` is what the API expects here, if it is known.
    fn visit(
        &mut self,
        field: Option<FieldType>,
        depth: usize,
        limits: &mut BuildLimits,
        visitor: &mut dyn ReferenceVisitor,
    ) -> Result<bool, BuildError> {
        limits.take()?;
        let depth = depth.checked_sub(1).ok_or(BuildError::TooLarge)?;
        let text = match &self.content {
            BuiltContent::Unchanged(tree) => {
                let node = tree.node();
                if !has_reference(node, depth, limits)? {
                    return Ok(true);
                }
                node.string().map(|it| (Arc::from(it), node.style().unwrap_or(ScalarStyle::Plain)))
            }
            BuiltContent::Scalar(scalar) => {
                scalar.is_string.then(|| (Arc::clone(&scalar.text), ScalarStyle::DoubleQuoted))
            }
            BuiltContent::List(_) | BuiltContent::Map(_) => None,
        };
        if let Some((text, style)) = text {
            let wanted = field.and_then(FieldType::scalar);
            return Ok(match visitor.value(&text, style, &self.place, wanted) {
                Substituted::Unchanged => true,
                Substituted::Removed => false,
                Substituted::Node(content) => {
                    self.content = content;
                    true
                }
            });
        }
        let field = field.or_else(|| self.object_type(visitor));
        if let Some(entries) = self.entries_mut() {
            let mut kept: Vec<(BuiltNode, Option<BuiltNode>)> = Vec::with_capacity(entries.len());
            let mut changed = Vec::new();
            for (mut key, mut value) in std::mem::take(entries) {
                let before = key.text().map(Cow::into_owned).unwrap_or_default();
                if before.contains('$')
                    && let BuiltContent::Unchanged(tree) = &key.content
                    && let style = tree.node().style().unwrap_or(ScalarStyle::Plain)
                    && let Some(scalar) = visitor.key(&Arc::from(&*before), style)
                {
                    key.content = BuiltContent::Scalar(scalar);
                }
                let inner = field.and_then(|it| it.at_key(&key.text()?));
                if let Some(value) = &mut value
                    && !value.visit(inner, depth, limits, visitor)?
                {
                    continue;
                }
                if key.text().is_some_and(|it| it != before) {
                    changed.push((key, value))
                } else {
                    kept.push((key, value))
                }
            }
            // A key with parameters replaces an equal key without parameters.
            for (key, value) in changed {
                let name = key.text().map(Cow::into_owned).unwrap_or_default();
                match kept.iter().position(|(it, _)| it.text().as_deref() == Some(&*name)) {
                    Some(at) => {
                        visitor.same_keys();
                        kept[at] = (key, value);
                    }
                    None => kept.push((key, value)),
                }
            }
            *entries = kept;
        } else if let Some(items) = self.items_mut() {
            let mut kept = Vec::with_capacity(items.len());
            for mut item in std::mem::take(items) {
                if item.visit(field.and_then(FieldType::item), depth, limits, visitor)? {
                    kept.push(item);
                } else {
                    visitor.lost_item();
                }
            }
            *items = kept;
        }
        Ok(true)
    }

    /// The type of an object, or of an object inside another one.
    fn object_type(&mut self, visitor: &dyn ReferenceVisitor) -> Option<FieldType> {
        let mut text = |key| self.get_mut(key)?.string().map(Cow::into_owned);
        let (api_version, kind) = (text("apiVersion")?, text("kind")?);
        Some(visitor.object_type(&api_version.into(), &kind.into()))
    }

    /// The finished tree and the places of its nodes. The length of the source object bounds its positions.
    pub fn finish(self, limits: &mut BuildLimits) -> Result<(OwnedNode, Origins), BuildError> {
        let source_len = match &self.place {
            Place::Own(span) => span.len(),
            Place::Other(..) | Place::TemplateLabel { .. } => 0,
        };
        let mut layout = Layout { origins: Origins::default(), scalars: HashSet::new(), source_len, limits };
        let root =
            layout.node(&self, Frame { start: 0, place: &Place::Own(ObjectSpan::default()), region: 0 }, DEEPEST)?;
        Ok((OwnedNode::assemble(root), layout.origins))
    }
}

/// The places of a node and of what surrounds it.
#[derive(Clone, Copy)]
struct Frame<'n> {
    /// The position of the surrounding node.
    start: usize,
    /// The place of the region that surrounds it; `Own` for the source object.
    place: &'n Place,
    /// The position at which the region starts.
    region: usize,
}

/// Chooses positions for the nodes of a finished tree.
struct Layout<'b> {
    origins: Origins,
    /// The positions of scalars that a step made.
    scalars: HashSet<usize>,
    source_len: usize,
    limits: &'b mut BuildLimits,
}

impl Layout<'_> {
    fn node(&mut self, node: &BuiltNode, around: Frame<'_>, depth: usize) -> Result<NewNode, BuildError> {
        self.limits.take()?;
        let depth = depth.checked_sub(1).ok_or(BuildError::TooLarge)?;
        let len = self.len_of(node);
        let inside = self.position_inside(node, around);
        // Several scalars may be made of one written scalar.
        let mut is_taken =
            |start: &usize| matches!(node.content, BuiltContent::Scalar(_)) && !self.scalars.insert(*start);
        let (start, frame_place, region) = match inside.filter(|it| !is_taken(it)) {
            Some(start) => (start, around.place, around.region),
            None => {
                let start = self.origins.add_region(self.source_len, len, node.place.clone(), node.by);
                (start, &node.place, start)
            }
        };
        let frame = Frame { start, place: frame_place, region };
        let content = match &node.content {
            BuiltContent::Unchanged(tree) => {
                let source = tree.node();
                if !source.contains_alias() {
                    NewContent::Shared(tree.clone())
                } else if let Some(content) = node.opened(source) {
                    return self.node(&BuiltNode { content, ..node.clone() }, around, depth);
                } else {
                    // An alias without an anchor.
                    NewContent::Scalar(ScalarStyle::Plain, self.limits.broken("".into())?)
                }
            }
            BuiltContent::Scalar(scalar) => {
                if let Some(written) = &scalar.written {
                    self.origins.add_text(start, written.clone());
                }
                if region == 0 && node.by != BuiltBy::Source {
                    self.origins.set_author(start, node.by);
                }
                let style = if scalar.is_string { ScalarStyle::DoubleQuoted } else { ScalarStyle::Plain };
                NewContent::Scalar(style, Arc::clone(&scalar.text))
            }
            BuiltContent::List(items) => {
                let items = items.iter().map(|it| self.node(it, frame, depth));
                NewContent::Sequence(items.collect::<Result<_, _>>()?)
            }
            BuiltContent::Map(entries) => {
                let mut all = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let key = self.node(key, frame, depth)?;
                    all.push((key, value.as_ref().map(|it| self.node(it, frame, depth)).transpose()?));
                }
                NewContent::Mapping(all)
            }
        };
        Ok(NewNode { start, len, content })
    }

    fn len_of(&self, node: &BuiltNode) -> usize {
        match &node.place {
            Place::Own(span) | Place::Other(_, span) => span.len(),
            // Scalars of labels need distinct positions only.
            Place::TemplateLabel { .. } => 1,
        }
    }

    /// The position of a node that is inside the place that surrounds it.
    fn position_inside(&self, node: &BuiltNode, around: Frame<'_>) -> Option<usize> {
        let (place, span) = match (&node.place, around.place) {
            (Place::Own(span), Place::Own(place)) => (place, span),
            (Place::Other(one, span), Place::Other(other, place)) if Arc::ptr_eq(one, other) => (place, span),
            _ => return None,
        };
        let (start, len) = if around.region == 0 {
            (span.to_relative().start, self.source_len)
        } else {
            let inner = span.to_relative().start.checked_sub(place.to_relative().start)?;
            (around.region + inner, place.len())
        };
        (start >= around.start && start - around.region + span.len() <= len).then_some(start)
    }
}

/// What the references in a string become.
pub(super) enum Substituted {
    /// The string has no references.
    Unchanged,
    /// The node is removed.
    Removed,
    /// New content.
    Node(BuiltContent),
}

/// Called for the strings and keys of an object that contain a `$`.
pub(super) trait ReferenceVisitor {
    /// What a string at a place becomes, in a field that wants a type.
    fn value(&mut self, text: &Arc<str>, style: ScalarStyle, place: &Place, wanted: Option<ScalarType>) -> Substituted;
    /// What a key becomes; `None` if it does not change.
    fn key(&mut self, text: &Arc<str>, style: ScalarStyle) -> Option<BuiltScalar>;
    /// The type of an object with these texts.
    fn object_type(&self, api_version: &Arc<str>, kind: &Arc<str>) -> FieldType;
    /// Called for a list item that was removed.
    fn lost_item(&mut self);
    /// Called for two keys that became equal.
    fn same_keys(&mut self);
}

/// Whether a string or key below a node contains a `$`.
fn has_reference(node: Node<'_>, depth: usize, limits: &mut BuildLimits) -> Result<bool, BuildError> {
    limits.take()?;
    let depth = depth.checked_sub(1).ok_or(BuildError::TooLarge)?;
    let node = node.resolved();
    match node.kind() {
        NodeKind::Mapping(_) => {
            for (key, value) in node.entries() {
                let Some(name) = key.key_text() else {
                    limits.broken(())?;
                    continue;
                };
                if name.contains('$') {
                    return Ok(true);
                }
                if let Some(value) = value
                    && has_reference(value, depth, limits)?
                {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        NodeKind::Sequence(_) => {
            for item in node.items() {
                if has_reference(item, depth, limits)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        NodeKind::Scalar(_) => match node.typed() {
            Some(TypedScalar::Misfit) => limits.broken(false),
            Some(TypedScalar::Str(text)) => Ok(text.contains('$')),
            _ => Ok(false),
        },
        NodeKind::Alias | NodeKind::Error => limits.broken(false),
    }
}

/// The written form of a scalar that is replaced as a whole by the value of a parameter.
pub(super) fn replaced_text(written: &Arc<str>, style: ScalarStyle, text: &Arc<str>, parameter: &str) -> BuiltText {
    let piece = TextPiece { text: Arc::clone(text), written: 0..written.len(), parameter: Some(parameter.into()) };
    BuiltText { written: Arc::clone(written), style, pieces: vec![piece] }
}
