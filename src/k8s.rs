//! Kubernetes objects in a tree: plain, tolerant views with a span on everything a person may be pointed at.
//!
//! Spans in an object are relative to the object's own first byte, so an object that was not edited stays as it is
//! wherever it moves; [`Object::place`] leads back to the file.

#![warn(clippy::disallowed_methods)]

mod data;
mod kinds;
mod kustomization;
mod links;
mod model;
mod pod;
mod reader;
mod relevance;
pub mod template;

use std::sync::Arc;

pub use links::{ServiceDependencies, ServiceDependency};
pub use model::*;
pub use relevance::matters;
pub use template::{Dialect, Misfit, Parameter, Parameterised, Parameters, Preset, Template};

use crate::syntax::{Document, Node, Tree};
use kinds::Identity;
use reader::{Budget, Reader};

/// How deep Lists and Templates may stand in each other.
const NESTING: usize = 8;

/// The objects of a whole file, in the order of the text.
pub fn objects_of(tree: &Tree) -> Vec<Object> {
    tree.documents().flat_map(objects).collect()
}

/// The objects of one document: its own, and those inside it if it is a List, a Template or a Kustomization. What holds
/// others stands before them.
pub fn objects(document: Document<'_>) -> Vec<Object> {
    let mut found = Vec::new();
    if let Some(root) = document.root() {
        let budget = Budget::of(document);
        read(root, Identity::default(), None, &budget, NESTING, &mut found);
    }
    found
}

/// The template of a document: its mapping, where the template's spans count from, and what it says. Of a list of
/// templates the first counts.
pub fn template_in(document: Document<'_>) -> Option<(Node<'_>, usize, Template)> {
    let mut root = document.root()?.resolved();
    let mut identity = Identity::of(root);
    if let Some(each) = identity.kind.and_then(|it| it.strip_suffix("List")) {
        let default = Identity { kind: Some(each).filter(|it| !it.is_empty()), api_version: identity.api_version };
        root = root.get("items")?.items().next()?.resolved();
        let own = Identity::of(root);
        identity = Identity { kind: own.kind.or(default.kind), api_version: own.api_version.or(default.api_version) };
    }
    let budget = Budget::of(document);
    let reader = Reader { base: root.span().start, budget: &budget };
    let template = template::template(reader, root, identity)?;
    Some((template::node(root, identity)?, reader.base, template))
}

fn read<'t>(
    node: Node<'t>,
    default: Identity<'t>,
    parameters: Option<&Arc<Parameters>>,
    budget: &Budget,
    depth: usize,
    found: &mut Vec<Object>,
) {
    let node = node.resolved();
    if depth == 0 || !budget.take() || !node.is_mapping() {
        return;
    }
    let written = Identity::of(node);
    let identity =
        Identity { api_version: written.api_version.or(default.api_version), kind: written.kind.or(default.kind) };
    let reader = Reader { base: node.span().start, budget };
    let is_kustomization = kustomization::is_kustomization(node, identity);
    if !is_kustomization && default.kind.is_none() && !identity.is_plausible(node) {
        return;
    }
    let mut model = model(reader, node, identity);
    if is_kustomization {
        model.data = Data::Kustomization(kustomization::kustomization(reader, node));
    }
    if parameters.is_some() {
        model.parameterised = template::parameterised(reader, node);
    }
    let own = match &model.data {
        Data::Template(template) => Some(Arc::clone(&template.exported)),
        _ => None,
    };
    found.push(Object { offset: reader.base, model: Arc::new(model), parameters: parameters.cloned() });
    if is_kustomization {
        kustomization::made(reader, node, found);
    }
    if let Some(nested) = identity.nested(node) {
        for item in nested.list.items() {
            read(item, nested.each, own.as_ref().or(parameters), budget, depth - 1, found);
        }
    }
}

fn model(reader: Reader<'_>, node: Node<'_>, identity: Identity<'_>) -> Model {
    let data = data::data(reader, node, identity);
    let metadata = node.get("metadata");
    let text = |key: &str| metadata.and_then(|metadata| reader.text_at(metadata, key));
    let pairs = |key: &str| metadata.map(|metadata| reader.pairs_at(metadata, &[key])).unwrap_or_default();
    // What holds other objects makes no pods itself, and Services and the like are known to make none.
    let makes_pods = matches!(data, Data::None) && identity.nested(node).is_none();
    Model {
        span: reader.span(node),
        api_version: reader.text_at(node, "apiVersion"),
        kind: reader.text_at(node, "kind").or_else(|| implied(identity.kind)),
        name: text("name"),
        namespace: text("namespace"),
        labels: pairs("labels"),
        annotations: if matches!(data, Data::Secret(_)) { Vec::new() } else { pairs("annotations") },
        pods: if makes_pods { kinds::pods(reader, node, identity) } else { Vec::new() },
        data,
        parameterised: Vec::new(),
    }
}

/// The kind of an item in a typed list, which stands nowhere.
fn implied(kind: Option<&str>) -> Option<Text> {
    let style = crate::syntax::ScalarStyle::Plain;
    kind.map(|kind| Text { value: kind.into(), span: crate::text::Span::default(), style, is_string: true })
}

#[cfg(test)]
mod tests;
