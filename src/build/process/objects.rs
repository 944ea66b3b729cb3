//! Processes the objects of a template: parameters, namespace, group and labels.

use std::sync::Arc;

use super::decoding;
use super::json::Json;
use super::parameter_values::ParameterValues;
use super::quirks::{Notices, Quirk};
use super::select::SelectedTemplate;
use super::substitution::Substitution;
use super::{JsonMap, ProcessError, ProcessOptions, ProcessedTemplate};
use crate::build::node::{BuildError, BuildLimits, BuiltContent, BuiltNode, BuiltScalar};
use crate::build::origin::{BuiltBy, BuiltText, Place};
use crate::k8s::{ObjectSpan, Parameters, TemplateMember, TextPiece};
use crate::syntax::{Node, OwnedNode, ScalarStyle};

/// An object of a template after processing.
pub(crate) struct ProcessedObject {
    /// The object.
    pub(crate) node: BuiltNode,
    pub(super) quirks: Vec<Quirk>,
    /// Why `oc process` refuses the object.
    pub(crate) errors: Vec<String>,
}

/// Processes one object of a template.
pub(crate) fn process_object(
    tree: OwnedNode,
    member: &TemplateMember,
    limits: &mut BuildLimits,
) -> Result<ProcessedObject, BuildError> {
    let parameters = &member.parameters;
    let (is_list, namespace, refusal) = {
        let node = tree.node();
        let is_list = node.entry("items").is_some();
        let keeps = is_list || member.is_list_item;
        let namespace = if keeps { Namespace::Keep } else { Namespace::of(node, parameters) };
        (is_list, namespace, decoding::refusal(node))
    };
    let mut node = BuiltNode::from_source(tree);
    let (mut quirks, mut errors) = (Vec::new(), Vec::from_iter(refusal));
    if namespace.apply(&mut node) {
        quirks.push(Quirk::DroppedNamespace);
    }
    if is_list {
        decoding::complete_items(&mut node);
    }
    let mut substitution = Substitution::new(parameters);
    node.visit_references(limits, &mut substitution)?;
    quirks.append(&mut substitution.quirks);
    errors.append(&mut substitution.errors);
    if !member.is_list_item {
        decoding::set_group_and_kind(&mut node);
        match &parameters.labels {
            Some(_) if is_list => errors.push("the labels of the template cannot be added to a list".into()),
            Some(labels) => add_labels(&mut node, labels, parameters, &mut quirks),
            None => {}
        }
    }
    Ok(ProcessedObject { node, quirks, errors })
}

/// Processes the objects of a template, after all parameters have their values.
pub(super) struct ObjectProcessor<'r, 't> {
    pub(super) selected: &'r SelectedTemplate<'t>,
    pub(super) options: &'r ProcessOptions,
    pub(super) parameters: Parameters,
    pub(super) notices: &'r mut Notices,
}

impl ObjectProcessor<'_, '_> {
    pub(super) fn run(mut self, final_values: &[Arc<str>], processed: &mut ProcessedTemplate) {
        let node = self.selected.node;
        let template = &self.selected.template;
        let mut labels = ParameterValues::new();
        for (key, value) in &template.labels {
            if !value.is_string {
                let span = value.span.to_relative().shifted(self.selected.base);
                processed
                    .errors
                    .push(ProcessError::new(format!("the label `{}` must be a string", key.value), Some(span)));
            }
            labels.insert(key.value.to_string(), value.value.to_string());
        }
        labels.extend(self.options.labels.clone());
        if self.parameters.labels.is_some() || !labels.is_empty() {
            let shared = labels.iter().map(|(key, value)| (key.as_str().into(), value.as_str().into()));
            self.parameters.labels = Some(shared.collect());
        }
        for (key, value) in &labels {
            self.plain(&Arc::from(key.as_str()), "a label");
            self.plain(&Arc::from(value.as_str()), "a label");
        }
        processed.message = template.message.as_ref().map(|it| self.plain(&it.value, "`message`").to_string());
        let member = TemplateMember { parameters: Arc::new(self.parameters.clone()), is_list_item: false };
        let mut limits = BuildLimits::strict(node.document().span().len());
        for (at, item) in node.get("objects").into_iter().flat_map(Node::items).enumerate() {
            match self.object(item, at, &member, &mut limits) {
                Ok(object) => processed.objects.push(object),
                Err(errors) => processed.errors.extend(errors),
            }
        }
        if processed.errors.is_empty() && self.options.with_template {
            processed.template = self.template(final_values, processed);
        }
    }

    /// A text outside of `objects`, where every reference gives a string.
    fn plain(&mut self, text: &Arc<str>, location: &str) -> Arc<str> {
        let mut substitution = Substitution::new(&self.parameters);
        let result = substitution.string(text);
        for quirk in substitution.quirks {
            self.notices.add(quirk, location);
        }
        result
    }

    fn object(
        &mut self,
        node: Node<'_>,
        at: usize,
        member: &TemplateMember,
        limits: &mut BuildLimits,
    ) -> Result<Json<'static>, Vec<ProcessError>> {
        let path = format!("objects[{at}]");
        let error = |message: String| ProcessError::new(format!("{path}: {message}"), Some(node.span()));
        let refused = |problem: BuildError| vec![error(problem.message().into())];
        let built = process_object(node.resolved().to_owned_node(), member, limits).map_err(refused)?;
        let (tree, _) = built.node.finish(limits).map_err(refused)?;
        let object = Json::read(tree.node()).map_err(refused)?.into_owned();
        if !built.errors.is_empty() {
            return Err(built.errors.into_iter().map(error).collect());
        }
        let title = object.as_map().and_then(title).unwrap_or_else(|| path.clone());
        for quirk in built.quirks {
            self.notices.add(quirk, &title);
        }
        Ok(object)
    }

    /// The template with its values, as the proposal returns it (PT4).
    fn template(&mut self, final_values: &[Arc<str>], processed: &ProcessedTemplate) -> Option<Json<'static>> {
        let mut map = JsonMap::new();
        for (key, value) in self.selected.node.entries() {
            let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
            let value = match &*key {
                "objects" => Json::List(processed.objects.clone()),
                "message" => Json::Text(processed.message.clone()?.into()),
                "labels" => continue,
                "parameters" => {
                    let mut list = Json::read(value).ok()?.into_owned();
                    if let Json::List(items) = &mut list {
                        for (item, value) in items.iter_mut().zip(final_values) {
                            if !value.is_empty() {
                                item.as_map_mut()?.insert("value".into(), Json::Text(value.to_string().into()));
                            }
                        }
                    }
                    list
                }
                _ => Json::read(value).ok()?.into_owned(),
            };
            map.insert(key.into_owned().into(), value);
        }
        if let Some(labels) = self.parameters.labels.clone() {
            let mut text = |it: &Arc<str>| self.plain(it, "a label").to_string();
            let labels = labels.iter().map(|(key, value)| (text(key).into(), Json::Text(text(value).into())));
            map.insert("labels".into(), Json::Map(labels.collect()));
        }
        Some(Json::Map(map))
    }
}

/// How to treat a namespace (T5.1).
enum Namespace {
    /// It is kept.
    Keep,
    /// Its key is removed.
    Remove,
    /// It is not a string and becomes an empty string, in this mapping.
    Empty(&'static str),
}

impl Namespace {
    /// Decided by the text before replacement.
    fn of(node: Node<'_>, parameters: &Parameters) -> Self {
        let keeps = |namespace: Node<'_>| namespace.string().is_some_and(|it| parameters.keeps_namespace(it));
        match (node.get("metadata"), node.get("namespace")) {
            (Some(metadata), _) => match metadata.get("namespace") {
                None => Self::Keep,
                Some(it) if keeps(it) => Self::Keep,
                Some(it) if it.string().is_some_and(|it| !it.is_empty()) => Self::Remove,
                Some(_) => Self::Empty("metadata"),
            },
            (None, Some(it)) if !keeps(it) => Self::Empty(""),
            _ => Self::Keep,
        }
    }

    /// Changes the object; returns whether a namespace was removed.
    fn apply(&self, object: &mut BuiltNode) -> bool {
        match self {
            Self::Keep => false,
            Self::Remove => object.get_mut("metadata").is_some_and(|it| it.remove("namespace")),
            Self::Empty(parent) => {
                let map = if parent.is_empty() { Some(object) } else { object.get_mut(parent) };
                if let Some(namespace) = map.and_then(|it| it.get_mut("namespace")) {
                    *namespace = BuiltNode::scalar(namespace.place.clone(), BuiltBy::Template, "", true);
                }
                false
            }
        }
    }
}

fn title(object: &JsonMap<'_>) -> Option<String> {
    let name = object.get("metadata")?.as_map()?.get("name")?.as_text()?;
    Some(format!("{}/{name}", object.get("kind")?.as_text()?))
}

/// Adds the template's labels. Metadata that is not a mapping stays as it is (T6.7).
fn add_labels(
    object: &mut BuiltNode,
    labels: &[(Arc<str>, Arc<str>)],
    parameters: &Parameters,
    quirks: &mut Vec<Quirk>,
) {
    let place = Place::Own(ObjectSpan::default());
    let word = |text: &str| BuiltNode::scalar(place.clone(), BuiltBy::Template, text, true);
    if !object.has_key("metadata") {
        object.set(word("metadata"), BuiltNode::map(place.clone(), BuiltBy::Template));
    }
    let Some(metadata) = object.get_mut("metadata").filter(|it| it.is_map()) else { return };
    let own = metadata.get_mut("labels");
    let is_replaced = match own {
        Some(own) if own.is_null() => true,
        Some(own) => {
            let is_replaced = !make_strings(own);
            quirks.extend(is_replaced.then_some(Quirk::LabelsReplaced));
            is_replaced
        }
        None => true,
    };
    if is_replaced {
        metadata.set(word("labels"), BuiltNode::map(place.clone(), BuiltBy::Template));
    }
    let Some(own) = metadata.get_mut("labels") else { return };
    for (key, value) in labels {
        let mut node = |text: &Arc<str>, is_value| {
            let place = Place::TemplateLabel { key: Arc::clone(key), is_value };
            BuiltNode { place, by: BuiltBy::Label, content: BuiltContent::Scalar(label_text(text, parameters, quirks)) }
        };
        let (key, value) = (node(key, false), node(value, true));
        own.set(key, value);
    }
}

/// Makes the labels of an object strings (T6.4): null is the empty text. False if one is anything else.
fn make_strings(labels: &mut BuiltNode) -> bool {
    let Some(entries) = labels.entries_mut() else { return false };
    let is_null = |value: &Option<BuiltNode>| value.as_ref().is_none_or(BuiltNode::is_null);
    let are_strings =
        entries.iter().all(|(_, value)| is_null(value) || value.as_ref().is_some_and(|it| it.string().is_some()));
    for (key, value) in entries.iter_mut().filter(|(_, value)| are_strings && is_null(value)) {
        let place = value.as_ref().map_or_else(|| key.place.clone(), |it| it.place.clone());
        *value = Some(BuiltNode::scalar(place, BuiltBy::Template, "", true));
    }
    are_strings
}

/// A key or value of a label, with its references replaced.
fn label_text(written: &Arc<str>, parameters: &Parameters, quirks: &mut Vec<Quirk>) -> BuiltScalar {
    let mut substitution = Substitution::new(parameters);
    let text = substitution.string(written);
    quirks.append(&mut substitution.quirks);
    let pieces = match parameters.whole_reference(written) {
        Some((_, name)) => {
            vec![TextPiece { text: Arc::clone(&text), written: 0..written.len(), parameter: Some(name.into()) }]
        }
        None => parameters.substitute(written).map(|it| it.pieces).unwrap_or_default(),
    };
    let built = BuiltText { written: Arc::clone(written), style: ScalarStyle::Plain, pieces };
    BuiltScalar { text, is_string: true, written: (!built.pieces.is_empty()).then_some(built) }
}
