//! Reading a tree again after an edit: what was read of a part that is still there is kept.
//!
//! An object is known by its subtree, and its spans count from its own first byte, so it stays as it is wherever it
//! moves. A large object is read again when something in it changes, but the containers in it that did not change are
//! kept. Their distance to the object's first byte may have changed, so the spans in them cannot count from there: they
//! are *marks*, numbers that no other place of the document has, and the object knows which bytes they stand for. So a
//! span of a model means nothing by itself; [`Object::file_span`](super::Object::file_span) leads to the file.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use crate::k8s::identity::Identity;
use crate::k8s::model::{Container, ContainerRole, Model, Object};
use crate::k8s::pod;
use crate::k8s::read;
use crate::k8s::reader::Reader;
use crate::k8s::template::Parameters;
use crate::syntax::{Node, Subtree, Tree};
use crate::text::Span;

/// The size from which on containers are kept one by one. Trees share no smaller parts.
const LARGE: usize = if cfg!(test) { 96 } else { 8 * 1024 };

/// The first mark: far behind every offset in a text.
const FIRST_MARK: usize = usize::MAX / 2 + 1;

/// What was read of a document that is being edited.
#[derive(Debug, Default)]
pub struct ObjectCache {
    objects: HashMap<Subtree, ObjectCacheEntry>,
    containers: HashMap<Subtree, ContainerCacheEntry>,
    marks: usize,
    /// Of the last template.
    parameters: Arc<Parameters>,
    /// Counts the readings, so that it is known what the last one used.
    round: u32,
}

/// What stands around an object and counts for its reading.
#[derive(Clone, Copy)]
pub(super) struct EnclosingContext<'t> {
    /// What the list around it says it is.
    pub(super) default: Identity<'t>,
    pub(super) in_template: bool,
}

#[derive(Debug)]
struct ObjectCacheEntry {
    /// See [`EnclosingContext`].
    api_version: Option<Box<str>>,
    kind: Option<Box<str>>,
    in_template: bool,
    model: Arc<Model>,
    containers: Vec<Subtree>,
    round: u32,
}

#[derive(Debug)]
struct ContainerCacheEntry {
    /// What its list says it is for.
    role: ContainerRole,
    mark: usize,
    container: Arc<Container>,
}

/// The bytes that the marks of a container stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    mark: usize,
    len: usize,
    /// Relative to the object.
    offset: usize,
}

/// A span of a model relative to the object, marks replaced.
pub(super) fn unmarked(regions: &[Region], span: Span) -> Span {
    let behind = regions.partition_point(|region| region.mark <= span.start);
    match behind.checked_sub(1).map(|index| regions[index]) {
        Some(region) if span.start - region.mark <= region.len => span.relative_to(region.mark).shifted(region.offset),
        _ => span,
    }
}

impl ObjectCache {
    /// The objects of a tree, as [`objects_of`](super::objects_of) gives them.
    pub fn objects_of(&mut self, tree: &Tree) -> Vec<Object> {
        self.round = self.round.wrapping_add(1);
        let sharing = CacheSession { kept: RefCell::new(std::mem::take(self)), ..CacheSession::default() };
        let objects: Vec<Object> = tree.documents().flat_map(|it| read::read_document(it, Some(&sharing))).collect();
        *self = sharing.kept.into_inner();
        self.forget(&objects);
        objects
    }

    /// Forgets what is no more there, once that is more than what is.
    fn forget(&mut self, objects: &[Object]) {
        let round = self.round;
        if self.objects.len() > 2 * objects.len() + 64 {
            self.objects.retain(|_, it| it.round == round);
        }
        let used: usize = objects.iter().map(|it| it.model.regions.len()).sum();
        if self.containers.len() > 2 * used + 64 {
            let live: Vec<&ObjectCacheEntry> = self.objects.values().filter(|it| it.round == round).collect();
            let mut containers = HashMap::with_capacity(used);
            for subtree in live.into_iter().flat_map(|it| &it.containers) {
                containers.extend(self.containers.remove_entry(subtree));
            }
            self.containers = containers;
        }
    }
}

/// A reading that keeps.
#[derive(Debug, Default)]
pub(super) struct CacheSession {
    kept: RefCell<ObjectCache>,
    /// Of the object at hand: where it begins, and the containers of it that have marks.
    start: Cell<usize>,
    regions: RefCell<Vec<Region>>,
    containers: RefCell<Vec<Subtree>>,
}

impl CacheSession {
    /// The model of an object that was read before.
    pub(super) fn object(&self, node: Node<'_>, context: EnclosingContext<'_>) -> Option<Arc<Model>> {
        let kept = &mut *self.kept.borrow_mut();
        let known = kept.objects.get_mut(&node.subtree())?;
        let same = known.api_version.as_deref() == context.default.api_version
            && known.kind.as_deref() == context.default.kind
            && known.in_template == context.in_template;
        known.round = kept.round;
        same.then(|| Arc::clone(&known.model))
    }

    /// Lets parameters that have not changed be the same ones.
    pub(super) fn unify(&self, parameters: &mut Arc<Parameters>) {
        let known = &mut self.kept.borrow_mut().parameters;
        if *known == *parameters {
            *parameters = Arc::clone(known);
        } else {
            *known = Arc::clone(parameters);
        }
    }

    /// An object is about to be read. Whether its containers are to be kept one by one.
    pub(super) fn begin(&self, node: Node<'_>) -> bool {
        self.start.set(node.span().start);
        node.span().len() > LARGE
    }

    /// An object was read: gives it what belongs to its marks.
    pub(super) fn finish(&self, node: Node<'_>, model: &mut Model) {
        let mut regions = self.regions.take();
        if regions.is_empty() {
            return;
        }
        regions.sort_unstable_by_key(|region| region.offset);
        let start = self.start.get();
        let places: Vec<Span> =
            regions.iter().map(|it| Span::new(start + it.offset, start + it.offset + it.len)).collect();
        model.surrounding_subtrees = frame(node, &places);
        regions.sort_unstable_by_key(|region| region.mark);
        model.regions = regions;
    }

    /// Remembers an object that rests on nothing but its own text.
    pub(super) fn keep(&self, node: Node<'_>, context: EnclosingContext<'_>, model: &Arc<Model>) {
        let kept = &mut *self.kept.borrow_mut();
        let containers = self.containers.take();
        if !node.contains_alias() {
            let EnclosingContext { default: Identity { api_version, kind }, in_template } = context;
            let object = ObjectCacheEntry {
                api_version: api_version.map(Box::from),
                kind: kind.map(Box::from),
                in_template,
                model: Arc::clone(model),
                containers,
                round: kept.round,
            };
            kept.objects.insert(node.subtree(), object);
        }
    }

    fn container(&self, reader: Reader<'_>, node: Node<'_>, path: String, role: ContainerRole) -> Arc<Container> {
        let kept = &mut *self.kept.borrow_mut();
        let (subtree, span) = (node.subtree(), node.span());
        let is_known = kept.containers.get(&subtree).is_some_and(|it| it.role == role);
        if !is_known {
            let mark = FIRST_MARK + kept.marks;
            kept.marks += span.len() + 1;
            let base = span.start.wrapping_sub(mark);
            let container = Arc::new(pod::container(Reader { base, ..reader }, node, path.clone(), role));
            kept.containers.insert(subtree.clone(), ContainerCacheEntry { role, mark, container });
        }
        let Some(known) = kept.containers.get_mut(&subtree) else {
            return Arc::new(pod::container(reader, node, path, role));
        };
        if known.container.path != path {
            known.container = Arc::new(Container { path, ..(*known.container).clone() });
        }
        let offset = span.start - self.start.get();
        self.regions.borrow_mut().push(Region { mark: known.mark, len: span.len(), offset });
        self.containers.borrow_mut().push(subtree);
        Arc::clone(&known.container)
    }
}

/// What stands around some places in an object; nothing where that rests on text elsewhere.
pub(super) fn frame(node: Node<'_>, places: &[Span]) -> Option<Vec<Subtree>> {
    let parts = node.subtrees_around(places);
    (!parts.iter().any(Subtree::contains_alias)).then_some(parts)
}

/// A container of the object at hand, kept if it can be.
pub(super) fn container(reader: Reader<'_>, node: Node<'_>, path: String, role: ContainerRole) -> Arc<Container> {
    match reader.sharing {
        Some(sharing) if !node.contains_alias() => sharing.container(reader, node, path, role),
        _ => Arc::new(pod::container(reader, node, path, role)),
    }
}
