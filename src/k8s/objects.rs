//! Reading the objects of a document, including those inside Lists, Templates and Kustomizations.

use std::sync::Arc;

use crate::k8s::identity::Identity;
use crate::k8s::kustomization;
use crate::k8s::model::{Model, Object, ObjectData, Text};
use crate::k8s::node_reader::{NodeReader, ReadBudget, exact};
use crate::k8s::object_cache::{self, CacheSession};
use crate::k8s::object_data;
use crate::k8s::object_span::ObjectSpan;
use crate::k8s::parameters::TemplateMember;
use crate::k8s::pod_specs;
use crate::k8s::template::{self, Template};
use crate::syntax::{Node, ScalarStyle, Tree, YamlDocument};
use crate::text::Span;

/// How deep Lists and Templates may be nested.
const NESTING: usize = 8;

/// The objects of all documents, in text order.
pub fn read_objects(tree: &Tree) -> Vec<Object> {
    exact(tree.documents().flat_map(read_document_objects))
}

/// The objects of one document, including those inside a List, Template or Kustomization, which come after it.
pub fn read_document_objects(document: YamlDocument<'_>) -> Vec<Object> {
    read_document(document, None)
}

pub(super) fn read_document(document: YamlDocument<'_>, session: Option<&CacheSession>) -> Vec<Object> {
    let mut found = Vec::new();
    if let Some(root) = document.root() {
        let reader = DocumentReader { budget: &ReadBudget::for_document(document), session };
        reader.read(root, Identity::default(), None, NESTING, &mut found);
    }
    found.shrink_to_fit();
    found
}

/// The template of a document: its mapping, the offset that its spans are relative to, and its content. Of a list of
/// templates the first one is returned.
pub fn read_template(document: YamlDocument<'_>) -> Option<(Node<'_>, usize, Template)> {
    let mut root = document.root()?.resolved();
    let mut identity = Identity::from_node(root);
    if let Some(each) = identity.kind.and_then(|it| it.strip_suffix("List")) {
        let default = Identity { kind: Some(each).filter(|it| !it.is_empty()), api_version: identity.api_version };
        root = root.get("items")?.items().next()?.resolved();
        let own = Identity::from_node(root);
        identity = Identity { kind: own.kind.or(default.kind), api_version: own.api_version.or(default.api_version) };
    }
    let budget = ReadBudget::for_document(document);
    let reader = NodeReader { base: root.span().start, budget: &budget, session: None };
    let template = template::template(reader, root, identity)?;
    Some((template::node(root, identity)?, reader.base, template))
}

/// Reads one object that is built from `source`. Its spans are relative to the start of the node.
pub fn read_built_object(node: Node<'_>, source: &Model) -> Model {
    let budget = ReadBudget::for_text(node.span().len());
    let reader = NodeReader { base: node.span().start, budget: &budget, session: None };
    let own = Identity::from_node(node);
    let text = |text: &'_ Option<Text>| text.as_ref().map(|it| Arc::clone(&it.value));
    let (api_version, kind) = (text(&source.api_version), text(&source.kind));
    // The items of a typed list do not declare their kind.
    model(
        reader,
        node,
        Identity { api_version: own.api_version.or(api_version.as_deref()), kind: own.kind.or(kind.as_deref()) },
    )
}

/// Reads the objects of one document.
#[derive(Clone, Copy)]
struct DocumentReader<'b> {
    budget: &'b ReadBudget,
    session: Option<&'b CacheSession>,
}

impl DocumentReader<'_> {
    fn read<'t>(
        self,
        node: Node<'t>,
        default: Identity<'t>,
        template: Option<&TemplateMember>,
        depth: usize,
        found: &mut Vec<Object>,
    ) {
        let node = node.resolved();
        if depth == 0 || !self.budget.take() || !node.is_mapping() {
            return;
        }
        let base = node.span().start;
        let context = object_cache::EnclosingContext { default, in_template: template.is_some() };
        if let Some(model) = self.session.and_then(|it| it.object(node, context)) {
            found.push(Object { offset: base, model, template: template.cloned() });
            return;
        }
        let written = Identity::from_node(node);
        let identity =
            Identity { api_version: written.api_version.or(default.api_version), kind: written.kind.or(default.kind) };
        let is_kustomization = kustomization::is_kustomization(node, identity);
        if !is_kustomization && default.kind.is_none() && !identity.is_plausible(node) {
            return;
        }
        // An object without aliases has its own budget, so that the aliases of another object cannot use it up.
        let text = ReadBudget::for_text(node.span().len());
        let budget = if node.contains_alias() { self.budget } else { &text };
        let session = self.session.filter(|it| it.begin(node));
        let reader = NodeReader { base, budget, session };
        let mut model = model(reader, node, identity);
        if is_kustomization {
            model.data = ObjectData::Kustomization(kustomization::kustomization(reader, node));
        }
        if template.is_some() {
            model.tree = identity.nested(node).is_none().then(|| node.to_owned_node());
            model.parameterized_texts = template::parameterized_texts(reader, node);
            model.candidate_names = template::ParameterNames::from_texts(&model.parameterized_texts);
        }
        let own = match &mut model.data {
            ObjectData::Template(template) => {
                if let Some(session) = self.session {
                    session.unify(&mut template.exported);
                }
                Some(Arc::clone(&template.exported))
            }
            _ => None,
        };
        let nested = identity.nested(node);
        if let (Some(_), Some(nested)) = (self.session, nested) {
            let spans: Vec<Span> = nested.list.items().map(Node::span).collect();
            model.surrounding_subtrees = object_cache::subtrees_around(node, &spans);
        } else if let Some(session) = session {
            session.finish(node, &mut model);
        }
        let model = Arc::new(model);
        found.push(Object { offset: base, model: Arc::clone(&model), template: template.cloned() });
        if is_kustomization {
            kustomization::add_generated(reader, node, found);
        } else if let Some(nested) = nested {
            let member = match (own, template) {
                (Some(parameters), _) => Some(TemplateMember { parameters, is_list_item: false }),
                (None, Some(template)) => Some(TemplateMember { is_list_item: true, ..template.clone() }),
                (None, None) => None,
            };
            for item in nested.list.items() {
                self.read(item, nested.each, member.as_ref(), depth - 1, found);
            }
        } else if let Some(session) = self.session {
            session.insert(node, context, &model);
        }
    }
}

fn model(reader: NodeReader<'_>, node: Node<'_>, identity: Identity<'_>) -> Model {
    let data = object_data::data(reader, node, identity);
    let metadata = node.get("metadata");
    let text = |key: &str| metadata.and_then(|metadata| reader.text_at(metadata, key));
    let pairs = |key: &str| metadata.map(|metadata| reader.string_pairs_at(metadata, &[key])).unwrap_or_default();
    // Nothing refers to a preset by its name, so it needs none. `*` is for the characters that the cluster adds.
    let generated_name = || {
        let prefix = text("generateName").filter(|_| matches!(data, ObjectData::Preset(_)))?;
        Some(Text { value: format!("{}*", prefix.value).into(), ..prefix })
    };
    // Objects that hold other objects or offer data make no pods.
    let makes_pods = matches!(data, ObjectData::None) && identity.nested(node).is_none();
    Model {
        span: reader.span(node),
        api_version: reader.text_at(node, "apiVersion"),
        kind: reader.text_at(node, "kind").or_else(|| implied(identity.kind)),
        name: text("name").or_else(generated_name),
        namespace: text("namespace"),
        labels: pairs("labels"),
        annotations: if matches!(data, ObjectData::Secret(_)) { Vec::new() } else { pairs("annotations") },
        pods: if makes_pods { pod_specs::pods(reader, node, identity) } else { Vec::new() },
        data,
        ..Model::default()
    }
}

/// The kind of an item of a typed list, which is not written in the text.
fn implied(kind: Option<&str>) -> Option<Text> {
    let style = ScalarStyle::Plain;
    kind.map(|kind| Text { value: kind.into(), span: ObjectSpan::default(), style, is_string: true })
}
