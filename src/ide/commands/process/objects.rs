//! Processes the objects of a template: parameters, namespace, group and labels.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::json::{AsWritten, JsonBudget, JsonReadError};
use super::parameter_values::FinalValue;
use super::quirks::{Notices, Quirk};
use super::select::SelectedTemplate;
use super::substitute::Substitution;
use super::{
    Json, JsonMap, ParameterValues, ProcessError, ProcessOptions, ProcessedTemplate, TOO_LARGE, UNREADABLE, regroup,
};
use crate::syntax::{Node, ReferenceForm, parameter_references, template_parameters};

/// Processes the objects of a template, after all parameters have their values.
pub(super) struct ObjectProcessor<'r, 't> {
    pub(super) selected: &'r SelectedTemplate<'t>,
    pub(super) options: &'r ProcessOptions,
    pub(super) values: &'r HashMap<Arc<str>, FinalValue>,
    pub(super) notices: &'r mut Notices,
}

impl<'t> ObjectProcessor<'_, 't> {
    pub(super) fn run(&mut self, final_values: &[Arc<str>], processed: &mut ProcessedTemplate<'t>) {
        let node = self.selected.node;
        let template = &self.selected.template;
        let budget = JsonBudget::of(node.document().span().len());
        let mut labels = ParameterValues::new();
        for (key, value) in &template.labels {
            if !value.is_string {
                let span = value.span.shifted(self.selected.base);
                processed
                    .errors
                    .push(ProcessError::new(format!("the label `{}` must be a string", key.value), Some(span)));
            }
            labels.insert(key.value.to_string(), value.value.to_string());
        }
        labels.extend(self.options.labels.clone());
        let labels: ParameterValues = labels
            .into_iter()
            .map(|(key, value)| (self.plain(&key, "a label"), self.plain(&value, "a label")))
            .collect();
        processed.message = template.message.as_ref().map(|it| self.plain(&it.value, "`message`"));
        for (at, item) in node.get("objects").into_iter().flat_map(Node::items).enumerate() {
            match self.object(item, at, &labels, &budget) {
                Ok(object) => processed.objects.push(object),
                Err(errors) => processed.errors.extend(errors),
            }
        }
        if processed.errors.is_empty() && self.options.with_template {
            processed.template = self.template(final_values, &labels, processed, &budget);
        }
    }

    /// A text outside of `objects`, where every reference gives a string.
    fn plain(&mut self, text: &str, location: &str) -> String {
        let mut substitution = self.substitution();
        let result = substitution.string(text).into_owned();
        for quirk in substitution.quirks {
            self.notices.add(quirk, location);
        }
        result
    }

    fn substitution(&self) -> Substitution<'_> {
        Substitution::new(self.values, self.selected.template.dialect.is_proposal())
    }

    fn object(
        &mut self,
        node: Node<'t>,
        at: usize,
        labels: &ParameterValues,
        budget: &JsonBudget,
    ) -> Result<Json<'t>, Vec<ProcessError>> {
        let path = format!("objects[{at}]");
        let error = |message: String| ProcessError::new(format!("{path}: {message}"), Some(node.span()));
        if node.get("kind").and_then(Node::string).is_none_or(str::is_empty) {
            return Err(vec![error("the object has no `kind`".into())]);
        }
        let is_list = node.get("items").is_some_and(Node::is_sequence);
        let namespace = if is_list { Namespace::Keep } else { self.namespace(node) };
        let mut substitution = self.substitution();
        let read = Json::read(node, budget, &mut substitution);
        let (quirks, mut errors) = (substitution.quirks, substitution.errors);
        let mut object = match read {
            Ok(object) => object,
            Err(JsonReadError::TooLarge) => return Err(vec![error(TOO_LARGE.into())]),
            Err(JsonReadError::Broken) => return Err(vec![error(UNREADABLE.into())]),
        };
        let Some(map) = object.as_map_mut() else { return Err(vec![error("the object is not a mapping".into())]) };
        let title = title(map).unwrap_or_else(|| path.clone());
        for quirk in quirks {
            self.notices.add(quirk, &title);
        }
        if namespace.apply(map) {
            self.notices.add(Quirk::DroppedNamespace, &title);
        }
        regroup(map);
        if !labels.is_empty() {
            if is_list {
                errors.push("the labels of the template cannot be added to a list".into());
            } else if label(map, labels) {
                self.notices.add(Quirk::LabelsReplaced, &title);
            }
        }
        if errors.is_empty() { Ok(object) } else { Err(errors.into_iter().map(error).collect()) }
    }

    /// How to treat the namespace, decided by the text before replacement.
    fn namespace(&self, node: Node<'t>) -> Namespace {
        let keeps = |namespace: Node<'_>| {
            let text = namespace.string();
            let proposed = self.selected.template.dialect.is_proposal();
            text.is_some_and(|text| {
                template_parameters(text).any(|it| it.form == ReferenceForm::Text)
                    || proposed
                        && parameter_references(text, true).iter().any(|it| {
                            it.form == ReferenceForm::Proposed && self.values.contains_key(&text[it.name.clone()])
                        })
            })
        };
        match (node.get("metadata"), node.get("namespace")) {
            (Some(metadata), _) => match metadata.get("namespace") {
                None => Namespace::Keep,
                Some(it) if keeps(it) => Namespace::Keep,
                Some(it) if it.string().is_some_and(|it| !it.is_empty()) => Namespace::Remove,
                Some(_) => Namespace::Empty("metadata"),
            },
            (None, Some(it)) if !keeps(it) => Namespace::Empty(""),
            _ => Namespace::Keep,
        }
    }

    /// The template with its values, as the proposal returns it (PT4).
    fn template(
        &mut self,
        final_values: &[Arc<str>],
        labels: &ParameterValues,
        processed: &ProcessedTemplate<'t>,
        budget: &JsonBudget,
    ) -> Option<Json<'t>> {
        let mut map = JsonMap::new();
        for (key, value) in self.selected.node.entries() {
            let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
            let value = match &*key {
                "objects" => Json::List(processed.objects.clone()),
                "message" => Json::Text(processed.message.clone()?.into()),
                "labels" => continue,
                "parameters" => {
                    let mut list = Json::read(value, budget, &mut AsWritten).ok()?;
                    if let Json::List(items) = &mut list {
                        for (item, value) in items.iter_mut().zip(final_values) {
                            if !value.is_empty() {
                                item.as_map_mut()?.insert("value".into(), Json::Text(value.to_string().into()));
                            }
                        }
                    }
                    list
                }
                _ => Json::read(value, budget, &mut AsWritten).ok()?,
            };
            map.insert(key, value);
        }
        if !labels.is_empty() {
            let labels = labels.iter().map(|(key, value)| (key.clone().into(), Json::Text(value.clone().into())));
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
    /// Changes the object; returns whether a namespace was removed.
    fn apply(&self, object: &mut JsonMap<'_>) -> bool {
        match self {
            Self::Keep => false,
            Self::Remove => {
                let metadata = object.get_mut("metadata").and_then(Json::as_map_mut);
                metadata.is_some_and(|it| it.remove("namespace").is_some())
            }
            Self::Empty(parent) => {
                let map = match *parent {
                    "" => Some(object),
                    parent => object.get_mut(parent).and_then(Json::as_map_mut),
                };
                map.is_some_and(|it| it.insert("namespace".into(), Json::Text("".into())).is_some())
            }
        }
    }
}

fn title(object: &JsonMap<'_>) -> Option<String> {
    let name = object.get("metadata")?.as_map()?.get("name")?.as_text()?;
    Some(format!("{}/{name}", object.get("kind")?.as_text()?))
}

/// Adds the template's labels; returns whether labels of the object were lost.
fn label<'t>(object: &mut JsonMap<'t>, labels: &ParameterValues) -> bool {
    let metadata = object.entry("metadata".into()).or_insert_with(|| Json::Map(JsonMap::new()));
    if metadata.as_map().is_none() {
        *metadata = Json::Map(JsonMap::new());
    }
    let Some(metadata) = metadata.as_map_mut() else { return false };
    let own = metadata.entry("labels".into()).or_insert_with(|| Json::Map(JsonMap::new()));
    let is_strings = own.as_map().is_some_and(|it| it.values().all(|it| it.as_text().is_some()));
    if !is_strings {
        *own = Json::Map(JsonMap::new());
    }
    if let Some(own) = own.as_map_mut() {
        let text = |it: &String| Cow::<'t, str>::Owned(it.clone());
        own.extend(labels.iter().map(|(key, value)| (text(key), Json::Text(text(value)))));
    }
    !is_strings
}
