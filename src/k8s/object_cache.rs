//! A cache for reading a tree again after an edit: objects and containers of unchanged subtrees are reused.
//!
//! The key of an object is its subtree. Spans are relative to the first byte of the object, so an object that moves
//! does not change. A large object is read again when something in it changes, but its unchanged containers are reused.
//! Their offset in the object may have changed, so spans in them cannot be relative to the object. They are *marks*
//! instead: numbers that are unique in the document. The object maps them to bytes, see
//! [`Object::file_span`](super::Object::file_span).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use crate::k8s::identity::Identity;
use crate::k8s::model::{Container, ContainerRole, Model, Object};
use crate::k8s::node_reader::NodeReader;
use crate::k8s::object_span::ObjectSpan;
use crate::k8s::objects;
use crate::k8s::parameters::Parameters;
use crate::k8s::pod;
use crate::syntax::{Node, Subtree, Tree};
use crate::text::Span;

/// The size in bytes above which the containers of an object are cached one by one. Trees do not share smaller
/// subtrees.
const LARGE: usize = if cfg!(test) { 96 } else { 8 * 1024 };

/// The first mark: larger than every offset in a text.
const FIRST_MARK: usize = usize::MAX / 2 + 1;

/// The objects and containers that were read from a document that is being edited.
#[derive(Debug, Default)]
pub struct ObjectCache {
    objects: HashMap<Subtree, ObjectCacheEntry>,
    containers: HashMap<Subtree, ContainerCacheEntry>,
    marks: usize,
    /// The parameters of the last template.
    parameters: Arc<Parameters>,
    /// The number of the last read. Entries store it to show that they were used.
    round: u32,
}

/// The context of an object that changes how it is read.
#[derive(Clone, Copy)]
pub(super) struct EnclosingContext<'t> {
    /// The identity that the list around it gives.
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
    /// The role that the list of containers gives.
    role: ContainerRole,
    mark: usize,
    container: Arc<Container>,
}

/// The bytes of a container whose spans are marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    mark: usize,
    len: usize,
    /// The start, relative to the object.
    offset: usize,
}

/// Replaces a mark by a span relative to the object.
pub(super) fn resolve_mark(regions: &[Region], span: ObjectSpan) -> Span {
    let span = span.to_relative();
    let next = regions.partition_point(|region| region.mark <= span.start);
    match next.checked_sub(1).map(|index| regions[index]) {
        Some(region) if span.start - region.mark <= region.len => span.relative_to(region.mark).shifted(region.offset),
        _ => span,
    }
}

impl ObjectCache {
    /// Reads the objects of a tree, with the same result as [`read_objects`](super::read_objects).
    pub fn read_objects(&mut self, tree: &Tree) -> Vec<Object> {
        self.round = self.round.wrapping_add(1);
        let session = CacheSession { cache: RefCell::new(std::mem::take(self)), ..CacheSession::default() };
        let objects: Vec<Object> = tree.documents().flat_map(|it| objects::read_document(it, Some(&session))).collect();
        *self = session.cache.into_inner();
        self.evict_unused(&objects);
        objects
    }

    /// Drops unused entries once they outnumber the used ones.
    fn evict_unused(&mut self, objects: &[Object]) {
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

/// The cache while a tree is read.
#[derive(Debug, Default)]
pub(super) struct CacheSession {
    cache: RefCell<ObjectCache>,
    /// The offset of the current object.
    start: Cell<usize>,
    regions: RefCell<Vec<Region>>,
    containers: RefCell<Vec<Subtree>>,
}

impl CacheSession {
    /// The cached model of an object.
    pub(super) fn object(&self, node: Node<'_>, context: EnclosingContext<'_>) -> Option<Arc<Model>> {
        let cache = &mut *self.cache.borrow_mut();
        let known = cache.objects.get_mut(&node.subtree())?;
        let same = known.api_version.as_deref() == context.default.api_version
            && known.kind.as_deref() == context.default.kind
            && known.in_template == context.in_template;
        known.round = cache.round;
        same.then(|| Arc::clone(&known.model))
    }

    /// Replaces parameters by the cached ones if they are equal, so that they can be compared by address.
    pub(super) fn unify(&self, parameters: &mut Arc<Parameters>) {
        let known = &mut self.cache.borrow_mut().parameters;
        if *known == *parameters {
            *parameters = Arc::clone(known);
        } else {
            *known = Arc::clone(parameters);
        }
    }

    /// Starts an object. Returns whether its containers are cached one by one.
    pub(super) fn begin(&self, node: Node<'_>) -> bool {
        self.start.set(node.span().start);
        node.span().len() > LARGE
    }

    /// Ends an object: adds the regions of its marks to the model.
    pub(super) fn finish(&self, node: Node<'_>, model: &mut Model) {
        let mut regions = self.regions.take();
        if regions.is_empty() {
            return;
        }
        regions.sort_unstable_by_key(|region| region.offset);
        let start = self.start.get();
        let spans: Vec<Span> =
            regions.iter().map(|it| Span::new(start + it.offset, start + it.offset + it.len)).collect();
        model.surrounding_subtrees = subtrees_around(node, &spans);
        regions.sort_unstable_by_key(|region| region.mark);
        model.regions = regions;
    }

    /// Caches an object, unless it contains an alias and so depends on other text.
    pub(super) fn insert(&self, node: Node<'_>, context: EnclosingContext<'_>, model: &Arc<Model>) {
        let cache = &mut *self.cache.borrow_mut();
        let containers = self.containers.take();
        if !node.contains_alias() {
            let EnclosingContext { default: Identity { api_version, kind }, in_template } = context;
            let object = ObjectCacheEntry {
                api_version: api_version.map(Box::from),
                kind: kind.map(Box::from),
                in_template,
                model: Arc::clone(model),
                containers,
                round: cache.round,
            };
            cache.objects.insert(node.subtree(), object);
        }
    }

    fn container(&self, reader: NodeReader<'_>, node: Node<'_>, path: String, role: ContainerRole) -> Arc<Container> {
        let cache = &mut *self.cache.borrow_mut();
        let (subtree, span) = (node.subtree(), node.span());
        let is_known = cache.containers.get(&subtree).is_some_and(|it| it.role == role);
        if !is_known {
            let mark = FIRST_MARK + cache.marks;
            cache.marks += span.len() + 1;
            let base = span.start.wrapping_sub(mark);
            let container = Arc::new(pod::container(NodeReader { base, ..reader }, node, path.clone(), role));
            cache.containers.insert(subtree.clone(), ContainerCacheEntry { role, mark, container });
        }
        let Some(known) = cache.containers.get_mut(&subtree) else {
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

/// The subtrees around some spans of an object. `None` if they contain an alias and so depend on other text.
pub(super) fn subtrees_around(node: Node<'_>, spans: &[Span]) -> Option<Vec<Subtree>> {
    let parts = node.subtrees_around(spans);
    (!parts.iter().any(Subtree::contains_alias)).then_some(parts)
}

/// Reads a container of the current object, from the cache if possible.
pub(super) fn container(reader: NodeReader<'_>, node: Node<'_>, path: String, role: ContainerRole) -> Arc<Container> {
    match reader.session {
        Some(session) if !node.contains_alias() => session.container(reader, node, path, role),
        _ => Arc::new(pod::container(reader, node, path, role)),
    }
}
