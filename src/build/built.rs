//! Building source objects, and keeping the results.
//!
//! A result is kept with the source object, together with what went into it: the parameters that the object refers to. An
//! edit elsewhere in the file, or of another parameter, does not build the object again.

use std::sync::{Arc, Mutex, PoisonError};

use crate::build::node::{BuildError, BuildLimits, BuiltNode};
use crate::build::object::BuiltObject;
use crate::build::origin::Origins;
use crate::build::process::process_object;
use crate::build::view::View;
use crate::k8s::{self, DeclaredParameter, Dialect, Model, Object, Parameters, TemplateMember, names_after_dollar};
use crate::syntax::OwnedNode;
use crate::workspace::{File, Snapshot};

/// What a view makes of a source object.
#[derive(Debug)]
pub struct BuiltSource {
    /// The content.
    pub model: Arc<Model>,
    /// The tree that the content was read from.
    pub tree: OwnedNode,
    /// Where its parts come from.
    pub origins: Origins,
    /// Why the real program refuses the object.
    pub errors: Vec<String>,
}

impl BuiltSource {
    /// Reads a tree that was built from a source object.
    pub fn read(node: BuiltNode, source: &Model, limits: &mut BuildLimits) -> Result<Self, BuildError> {
        let (tree, origins) = node.finish(limits)?;
        let model = Arc::new(k8s::read_built_object(tree.node(), source));
        Ok(Self { model, tree, origins, errors: Vec::new() })
    }
}

/// What goes into an object of a template besides its text.
#[derive(Debug, PartialEq, Eq)]
struct Inputs {
    dialect: Dialect,
    /// The parameters that the object refers to.
    parameters: Vec<(Arc<str>, DeclaredParameter)>,
    labels: Option<Vec<(Arc<str>, Arc<str>)>>,
    is_list_item: bool,
}

impl Inputs {
    fn new(model: &Model, member: &TemplateMember) -> Self {
        let Parameters { dialect, labels, .. } = &*member.parameters;
        let label_texts = || labels.iter().flatten().flat_map(|(key, value)| [key, value]);
        let in_labels = |name: &str| label_texts().any(|it| names_after_dollar(it).any(|it| it == name));
        let is_used = |name: &str| model.candidate_names.contains(name) || in_labels(name);
        let used = member.parameters.iter().filter(|(name, _)| is_used(name));
        Self {
            dialect: *dialect,
            parameters: used.map(|(name, it)| (Arc::clone(name), it.clone())).collect(),
            labels: labels.clone(),
            is_list_item: member.is_list_item,
        }
    }
}

/// The object that a template makes of a source object. `None` if it is not an object of a template, or cannot be built:
/// then it is as written.
pub(super) fn build(object: &Object, member: Option<&TemplateMember>) -> Option<Arc<BuiltSource>> {
    let (tree, member) = (object.model.tree.as_ref()?, member?);
    let result = object.model.derived.get_or_insert(
        |it: &TemplateBuild| it.is_for(&object.model, member),
        || TemplateBuild {
            inputs: Inputs::new(&object.model, member),
            parameters: Mutex::new(Arc::clone(&member.parameters)),
            built: build_new(object, tree, member).ok().map(Arc::new),
        },
    );
    result.built.clone()
}

/// A result that is kept with its source object.
struct TemplateBuild {
    inputs: Inputs,
    /// The parameters it was last asked for. They decide the inputs, and comparing them by address is fast.
    parameters: Mutex<Arc<Parameters>>,
    /// `None` if the object cannot be built.
    built: Option<Arc<BuiltSource>>,
}

impl TemplateBuild {
    fn is_for(&self, model: &Model, member: &TemplateMember) -> bool {
        let last = &mut *self.parameters.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(last, &member.parameters) && self.inputs.is_list_item == member.is_list_item {
            return true;
        }
        let is_same = self.inputs == Inputs::new(model, member);
        if is_same {
            *last = Arc::clone(&member.parameters);
        }
        is_same
    }
}

fn build_new(object: &Object, tree: &OwnedNode, member: &TemplateMember) -> Result<BuiltSource, BuildError> {
    let mut limits = BuildLimits::lenient(object.model.span.len());
    let processed = process_object(tree.clone(), member, &mut limits)?;
    let built = BuiltSource::read(processed.node, &object.model, &mut limits)?;
    Ok(BuiltSource { errors: processed.errors, ..built })
}

/// What the templates of a file make of its objects, in the order of the objects.
#[derive(Debug, Default)]
pub(super) struct BuiltFile(pub(super) Vec<Option<Arc<BuiltSource>>>);

impl BuiltFile {
    fn of(file: &File) -> Self {
        if file.objects.iter().all(|it| it.template.is_none()) {
            return Self::default();
        }
        Self(file.objects.iter().map(|it| build(it, it.template.as_ref())).collect())
    }
}

/// An object of a file by its position, as its own template makes it.
pub(super) fn built_object<'s>(snapshot: &'s Snapshot, file: &'s Arc<str>, position: usize) -> Option<BuiltObject<'s>> {
    // The lookup that found the object has recorded its name, and a change of its parameters changes its name's version.
    let facts = snapshot.file_unrecorded(file)?;
    let source = facts.objects.get(position)?;
    Some(of_file(snapshot, file, facts, position, source))
}

pub(super) fn of_file<'s>(
    snapshot: &'s Snapshot,
    file: &'s Arc<str>,
    facts: &'s File,
    position: usize,
    source: &'s Object,
) -> BuiltObject<'s> {
    let plain = BuiltObject::as_written(snapshot, file, source);
    if source.template.is_none() {
        return plain;
    }
    let built = facts.derived_from_objects(|| BuiltFile::of(facts)).and_then(|it| it.0.get(position)?.as_deref());
    match built {
        Some(built) => BuiltObject { model: &built.model, built: Some(built), view: View::Template, ..plain },
        None => BuiltObject { view: View::Template, ..plain },
    }
}
