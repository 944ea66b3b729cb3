//! The engine of `podlens process`: it does what `oc process --local` does, step by step (T2.1 to T10.10).
//!
//! A text and values go in; objects, errors and notices come out. The caller supplies random numbers. A crash of
//! the original is an error here; its surprising results are reproduced, with a notice.

mod groups;
mod json;
mod substitute;
mod values;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::k8s::{self, Parameter, Template};
use crate::resolve::RangeEnds;
use crate::syntax::{Node, ReferenceForm, Tree, YamlDocument, parameter_references, template_parameters};
use crate::text::Span;
use json::{AsWritten, NodeBudget, ReadError};
pub use json::{Json, JsonMap};
use substitute::Substitution;
use values::FinalValue;
pub use values::ParameterValues;

/// A source of random numbers: returns a number below its argument.
pub type RandomBelow<'a> = &'a mut dyn FnMut(usize) -> usize;

/// The values and options for processing a template.
#[derive(Clone, Debug, Default)]
pub struct ProcessOptions {
    /// ParameterValues by parameter.
    pub values: ParameterValues,
    /// Expressions that replace the `from` of a generator.
    pub expressions: ParameterValues,
    /// Labels in addition to those of the template.
    pub labels: ParameterValues,
    /// Whether values for unknown parameters are ignored.
    pub ignore_unknown: bool,
    /// Whether the last character of a range is generated.
    pub ends: RangeEnds,
    /// Whether the result includes the template itself, with a copy of all objects.
    pub with_template: bool,
}

/// The result of processing a template.
#[derive(Clone, Debug, Default)]
pub struct ProcessedTemplate<'t> {
    /// The objects; empty if there are errors.
    pub objects: Vec<Json<'t>>,
    /// The template with its values, if requested and without errors.
    pub template: Option<Json<'t>>,
    /// Its `message`, with references replaced.
    pub message: Option<String>,
    /// The errors.
    pub errors: Vec<ProcessError>,
    /// Surprising results, one line each.
    pub notices: Vec<String>,
}

/// An error in a template or its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessError {
    /// The message. It contains no values.
    pub message: String,
    /// The parameter it is about.
    pub parameter: Option<String>,
    /// Its span in the text.
    pub span: Option<Span>,
}

impl ProcessError {
    fn new(message: impl Into<String>, span: Option<Span>) -> Self {
        Self { message: message.into(), parameter: None, span }
    }
}

/// A parameter for forms and tables.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParameterView {
    /// `name`
    pub name: String,
    /// `displayName`
    pub display_name: Option<String>,
    /// `description`
    pub description: Option<String>,
    /// `value`
    pub value: Option<String>,
    /// `generate`
    pub generate: Option<String>,
    /// `from`
    pub from: Option<String>,
    /// `required`
    pub required: bool,
    /// `type`
    #[serde(rename = "type")]
    pub type_: Option<String>,
}

/// A template in a text.
#[derive(Clone, Debug)]
pub struct SelectedTemplate<'t> {
    /// The mapping with its objects.
    node: Node<'t>,
    /// The offset that the spans of the template are relative to.
    base: usize,
    /// Its content.
    pub template: Template,
    /// The number of documents in the text; only the first one is processed.
    pub documents: usize,
}

impl SelectedTemplate<'_> {
    /// Its parameters.
    pub fn parameters(&self) -> Vec<ParameterView> {
        let text = |it: &Option<k8s::Text>| it.as_ref().map(|it| it.value.to_string());
        let view = |it: &Parameter| ParameterView {
            name: text(&it.name).unwrap_or_default(),
            display_name: text(&it.display_name),
            description: text(&it.description),
            value: text(&it.value),
            generate: text(&it.generate),
            from: text(&it.from),
            required: it.required,
            type_: text(&it.type_),
        };
        self.template.parameters.iter().map(view).collect()
    }
}

/// The template in the first document of a text.
pub fn select_template(tree: &Tree) -> Result<SelectedTemplate<'_>, ProcessError> {
    let mut documents = tree.documents().filter(|it| it.root().is_some() || !it.errors().is_empty());
    let first = documents.next().ok_or_else(|| ProcessError::new("there are no documents in it", None))?;
    let others = documents.count();
    if let Some(error) = first.errors().into_iter().next() {
        return Err(ProcessError::new(error.to_string(), Some(error.span)));
    }
    select_in(first, 1 + others)
}

/// The template of the document at an offset.
pub fn select_template_at(tree: &Tree, offset: usize) -> Result<SelectedTemplate<'_>, ProcessError> {
    let document = tree.document_at(offset).ok_or_else(|| ProcessError::new("there are no documents in it", None))?;
    if let Some(error) = document.errors().into_iter().next() {
        return Err(ProcessError::new(error.to_string(), Some(error.span)));
    }
    select_in(document, 1)
}

fn select_in(document: YamlDocument<'_>, documents: usize) -> Result<SelectedTemplate<'_>, ProcessError> {
    let root = document.root().ok_or_else(|| ProcessError::new("there are no documents in it", None))?;
    let found = k8s::template_in(document);
    let Some((node, base, template)) = found else {
        let kind = root.get("kind").and_then(Node::text);
        let api_version = root.get("apiVersion").and_then(Node::text).unwrap_or_default();
        let message = match kind {
            None => "this is not a Template: it has no `kind`".into(),
            Some("Template") => format!("this is not a Template: its `apiVersion` is `{api_version}`"),
            Some(kind) => format!("this is not a Template but a `{kind}`"),
        };
        return Err(ProcessError::new(message, Some(root.span())));
    };
    Ok(SelectedTemplate { node, base, template, documents })
}

/// Processes a template.
pub fn process_template<'t>(
    selected: &SelectedTemplate<'t>,
    options: &ProcessOptions,
    random_below: RandomBelow<'_>,
) -> ProcessedTemplate<'t> {
    let template = &selected.template;
    let mut processed = ProcessedTemplate::default();
    let mut notices = Notices::default();
    for (field, is_list) in [("parameters", true), ("objects", true), ("labels", false)] {
        if let Some(node) = selected.node.get(field)
            && (if is_list { !node.is_sequence() } else { !node.is_mapping() })
            && node.text() != Some("")
            && node.typed() != Some(crate::syntax::TypedScalar::Null)
        {
            let wanted = if is_list { "a list" } else { "a mapping of strings" };
            processed.errors.push(ProcessError::new(format!("`{field}` must be {wanted}"), Some(node.span())));
        }
    }
    let mut errors = Vec::new();
    let (values, final_values) = values::values(template, options, random_below, &mut notices, &mut errors);
    let in_file = |mut it: ProcessError| {
        it.span = it.span.map(|span| span.shifted(selected.base));
        it
    };
    processed.errors.extend(errors.into_iter().map(in_file));
    if processed.errors.is_empty() {
        ObjectProcessor { selected, options, values: &values, notices: &mut notices }
            .run(&final_values, &mut processed);
    }
    if !processed.errors.is_empty() {
        processed.objects.clear();
        processed.template = None;
    }
    processed.notices = notices.lines();
    processed
}

/// An object without any replacement: it keeps its namespace, and a legacy kind gets its group.
pub(in crate::ide) fn unprocessed_object(node: Node<'_>) -> Result<Json<'_>, &'static str> {
    let budget = NodeBudget::of(node.document().span().len());
    let mut object = match Json::read(node, &budget, &mut AsWritten) {
        Ok(object) => object,
        Err(ReadError::TooLarge) => return Err(TOO_LARGE),
        Err(ReadError::Broken) => return Err(UNREADABLE),
    };
    regroup(object.as_map_mut().ok_or(UNREADABLE)?);
    Ok(object)
}

/// The value that `${{…}}` gives for a text; `None` if it is not JSON or loses digits.
pub(in crate::ide) fn decoded(text: &str) -> Option<Json<'static>> {
    let mut lossy = false;
    let json = Json::decoded(serde_json::from_str(text).ok()?, &mut lossy);
    (!lossy).then_some(json)
}

const TOO_LARGE: &str = "too large after expanding its YAML aliases";
const UNREADABLE: &str = "it cannot be read as YAML";

/// Sets the group of a legacy kind with the `apiVersion` `v1`.
fn regroup(object: &mut JsonMap<'_>) {
    if object.get("apiVersion").and_then(Json::as_text) == Some("v1")
        && let Some(group) = object.get("kind").and_then(Json::as_text).and_then(groups::grouped)
    {
        object.insert("apiVersion".into(), Json::Text(group.into()));
    }
}

/// A `v1 List` of objects, as `podlens process` prints it.
#[derive(Debug, serde::Serialize)]
pub struct ObjectList<'o, 't> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    metadata: BTreeMap<(), ()>,
    items: &'o [Json<'t>],
}

impl<'o, 't> ObjectList<'o, 't> {
    /// A list of the objects.
    pub fn of(items: &'o [Json<'t>]) -> Self {
        Self { kind: "List", api_version: "v1", metadata: BTreeMap::new(), items }
    }
}

/// A surprising behaviour of the original, which is reproduced and reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Quirk {
    LostOverride,
    ExclusiveEnd,
    Misread,
    LettersHaveDigits,
    TextInBrackets,
    InsertedReference,
    LostDigits,
    NullRemoves,
    SameKeys,
    LabelsReplaced,
    DroppedNamespace,
}

impl Quirk {
    fn text(self) -> &'static str {
        match self {
            Self::LostOverride => {
                "declared twice: the given value is set on the first declaration, but the last declaration is used"
            }
            Self::ExclusiveEnd => "the last character of a range is never generated (use --no-exact to include it)",
            Self::Misread => {
                "brackets that mix ranges with classes or single characters generate other characters than written"
            }
            Self::LettersHaveDigits => "`\\a` generates digits too",
            Self::TextInBrackets => "brackets without `{n}`, or with other characters in them, are plain text",
            Self::InsertedReference => {
                "an inserted value contains a reference, which is replaced instead of a later one"
            }
            Self::LostDigits => "an integer above 2^53 loses digits in `${{…}}`",
            Self::NullRemoves => "`null` in `${{…}}` removes the key",
            Self::SameKeys => "a key with a parameter replaces an equal key",
            Self::LabelsReplaced => "labels with values other than strings are replaced by the labels of the template",
            Self::DroppedNamespace => "a namespace without `${…}` is removed",
        }
    }
}

/// Notices by quirk, each with the names it applies to.
#[derive(Debug, Default)]
struct Notices(BTreeMap<Quirk, Vec<String>>);

impl Notices {
    fn add(&mut self, quirk: Quirk, about: &str) {
        let all = self.0.entry(quirk).or_default();
        if !all.iter().any(|it| it == about) {
            all.push(about.to_owned());
        }
    }

    fn lines(self) -> Vec<String> {
        const MOST: usize = 5;
        let line = |(quirk, about): (Quirk, Vec<String>)| {
            let more = about.len().saturating_sub(MOST);
            let mut names = about[..about.len().min(MOST)].join(", ");
            if more > 0 {
                names.push_str(&format!(" and {more} more"));
            }
            format!("{}: {names}", quirk.text())
        };
        self.0.into_iter().map(line).collect()
    }
}

/// Processes the objects of a template, after all parameters have their values.
struct ObjectProcessor<'r, 't> {
    selected: &'r SelectedTemplate<'t>,
    options: &'r ProcessOptions,
    values: &'r HashMap<Arc<str>, FinalValue>,
    notices: &'r mut Notices,
}

impl<'t> ObjectProcessor<'_, 't> {
    fn run(&mut self, final_values: &[Arc<str>], processed: &mut ProcessedTemplate<'t>) {
        let node = self.selected.node;
        let template = &self.selected.template;
        let budget = NodeBudget::of(node.document().span().len());
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
    fn plain(&mut self, text: &str, place: &str) -> String {
        let mut substitution = self.substitution();
        let result = substitution.string(text).into_owned();
        for quirk in substitution.quirks {
            self.notices.add(quirk, place);
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
        budget: &NodeBudget,
    ) -> Result<Json<'t>, Vec<ProcessError>> {
        let place = format!("objects[{at}]");
        let error = |message: String| ProcessError::new(format!("{place}: {message}"), Some(node.span()));
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
            Err(ReadError::TooLarge) => return Err(vec![error(TOO_LARGE.into())]),
            Err(ReadError::Broken) => return Err(vec![error(UNREADABLE.into())]),
        };
        let Some(map) = object.as_map_mut() else { return Err(vec![error("the object is not a mapping".into())]) };
        let title = title(map).unwrap_or_else(|| place.clone());
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
        budget: &NodeBudget,
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

#[cfg(test)]
mod tests;
