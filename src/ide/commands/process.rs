//! A template and values to objects: what `oc process --local` does, step by step (T2.1 to T10.10).
//!
//! A text and values go in; objects, problems and parameters come out. Random numbers are the caller's. What would end
//! the original with a crash is a problem here; what it silently does in a surprising way is done, and told.

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

/// Gives a number below its argument.
pub type RandomBelow<'a> = &'a mut dyn FnMut(usize) -> usize;

/// What a template is processed with.
#[derive(Clone, Debug, Default)]
pub struct ProcessOptions {
    /// ParameterValues by parameter.
    pub values: ParameterValues,
    /// Expressions that take the place of a generator's `from`.
    pub expressions: ParameterValues,
    /// Labels that join those of the template.
    pub labels: ParameterValues,
    /// Whether values for parameters that do not exist are passed over.
    pub ignore_unknown: bool,
    /// Whether the end of a range is drawn.
    pub ends: RangeEnds,
    /// Whether the template itself is wanted too, which holds all objects once more.
    pub with_template: bool,
}

/// What became of a template.
#[derive(Clone, Debug, Default)]
pub struct ProcessedTemplate<'t> {
    /// The objects; empty if there are problems.
    pub objects: Vec<Json<'t>>,
    /// The template itself with its values, if it is wanted and there are no problems.
    pub template: Option<Json<'t>>,
    /// What its `message` says then.
    pub message: Option<String>,
    /// Everything that is wrong.
    pub problems: Vec<ProcessError>,
    /// What was done in a surprising way, one line each.
    pub notices: Vec<String>,
}

/// Something that is wrong with a template or its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessError {
    /// What, in words for a person. Holds no values.
    pub message: String,
    /// The parameter it is about.
    pub parameter: Option<String>,
    /// Where it stands in the text.
    pub span: Option<Span>,
}

impl ProcessError {
    fn new(message: impl Into<String>, span: Option<Span>) -> Self {
        Self { message: message.into(), parameter: None, span }
    }
}

/// A parameter as forms and tables show it.
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

/// The template of a text.
#[derive(Clone, Debug)]
pub struct SelectedTemplate<'t> {
    /// The mapping with its objects.
    node: Node<'t>,
    /// Where the spans of the template count from.
    base: usize,
    /// What it says.
    pub template: Template,
    /// How many documents the text has: only the first counts.
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

/// The template of a text: its first document, which has to be one.
pub fn select_template(tree: &Tree) -> Result<SelectedTemplate<'_>, ProcessError> {
    let mut documents = tree.documents().filter(|it| it.root().is_some() || !it.errors().is_empty());
    let first = documents.next().ok_or_else(|| ProcessError::new("there is no document in it", None))?;
    let others = documents.count();
    if let Some(error) = first.errors().into_iter().next() {
        return Err(ProcessError::new(error.to_string(), Some(error.span)));
    }
    select_in(first, 1 + others)
}

/// The template of the document at an offset.
pub fn select_template_at(tree: &Tree, offset: usize) -> Result<SelectedTemplate<'_>, ProcessError> {
    let document = tree.document_at(offset).ok_or_else(|| ProcessError::new("there is no document in it", None))?;
    if let Some(error) = document.errors().into_iter().next() {
        return Err(ProcessError::new(error.to_string(), Some(error.span)));
    }
    select_in(document, 1)
}

fn select_in(document: YamlDocument<'_>, documents: usize) -> Result<SelectedTemplate<'_>, ProcessError> {
    let root = document.root().ok_or_else(|| ProcessError::new("there is no document in it", None))?;
    let found = k8s::template_in(document);
    let Some((node, base, template)) = found else {
        let kind =
            root.get("kind").and_then(Node::text).map_or_else(|| "it has no kind".into(), |it| format!("it is a {it}"));
        return Err(ProcessError::new(format!("this is no Template: {kind}"), Some(root.span())));
    };
    Ok(SelectedTemplate { node, base, template, documents })
}

/// Processes a template.
pub fn process_template<'t>(
    selected: &SelectedTemplate<'t>,
    request: &ProcessOptions,
    draw: RandomBelow<'_>,
) -> ProcessedTemplate<'t> {
    let template = &selected.template;
    let mut outcome = ProcessedTemplate::default();
    let mut notices = Notices::default();
    for (field, is_list) in [("parameters", true), ("objects", true), ("labels", false)] {
        if let Some(node) = selected.node.get(field)
            && (if is_list { !node.is_sequence() } else { !node.is_mapping() })
            && node.text() != Some("")
            && node.typed() != Some(crate::syntax::TypedScalar::Null)
        {
            let wanted = if is_list { "a list" } else { "a mapping of strings" };
            outcome.problems.push(ProcessError::new(format!("`{field}` has to be {wanted}"), Some(node.span())));
        }
    }
    let mut problems = Vec::new();
    let (values, drawn) = values::values(template, request, draw, &mut notices, &mut problems);
    let at_home = |mut it: ProcessError| {
        it.span = it.span.map(|span| span.shifted(selected.base));
        it
    };
    outcome.problems.extend(problems.into_iter().map(at_home));
    if outcome.problems.is_empty() {
        ObjectProcessor { selected, request, values: &values, notices: &mut notices }.run(&drawn, &mut outcome);
    }
    if !outcome.problems.is_empty() {
        outcome.objects.clear();
        outcome.template = None;
    }
    outcome.notices = notices.lines();
    outcome
}

/// What an object becomes when nothing is put into it: its namespace stays, its legacy group does not.
pub(in crate::ide) fn as_it_is(node: Node<'_>) -> Result<Json<'_>, &'static str> {
    let budget = NodeBudget::of(node.document().span().len());
    let mut object = match Json::read(node, &budget, &mut AsWritten) {
        Ok(object) => object,
        Err(ReadError::TooLarge) => return Err(TOO_LARGE),
        Err(ReadError::Broken) => return Err(UNREADABLE),
    };
    regroup(object.as_map_mut().ok_or(UNREADABLE)?);
    Ok(object)
}

/// What `${{…}}` makes of a value; nothing where digits get lost.
pub(in crate::ide) fn decoded(text: &str) -> Option<Json<'static>> {
    let mut lossy = false;
    let json = Json::decoded(serde_json::from_str(text).ok()?, &mut lossy);
    (!lossy).then_some(json)
}

const TOO_LARGE: &str = "its aliases make it too large";
const UNREADABLE: &str = "it cannot be read";

/// Gives a legacy kind of plain `v1` its group.
fn regroup(object: &mut JsonMap<'_>) {
    if object.get("apiVersion").and_then(Json::as_text) == Some("v1")
        && let Some(group) = object.get("kind").and_then(Json::as_text).and_then(groups::grouped)
    {
        object.insert("apiVersion".into(), Json::Text(group.into()));
    }
}

/// The `v1 List` of some objects, as the command prints it.
#[derive(Debug, serde::Serialize)]
pub struct ObjectList<'o, 't> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    metadata: BTreeMap<(), ()>,
    items: &'o [Json<'t>],
}

impl<'o, 't> ObjectList<'o, 't> {
    /// A list of these.
    pub fn of(items: &'o [Json<'t>]) -> Self {
        Self { kind: "List", api_version: "v1", metadata: BTreeMap::new(), items }
    }
}

/// What is done although nobody would expect it.
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
                "declared twice: the value given goes to the first declaration, and the last one counts"
            }
            Self::ExclusiveEnd => "the last character of a range is not drawn (--no-exact draws it too)",
            Self::Misread => {
                "brackets that mix ranges with classes or single characters do not mean what they look like"
            }
            Self::LettersHaveDigits => "`\\a` draws digits too",
            Self::TextInBrackets => "brackets without `{n}`, or with other characters in them, are plain text",
            Self::InsertedReference => {
                "a value that is put in makes a reference, which is replaced in the place of a later one"
            }
            Self::LostDigits => "a whole number above 2^53 loses digits in `${{…}}`",
            Self::NullRemoves => "`null` in `${{…}}` removes the key",
            Self::SameKeys => "a key with a parameter takes the place of an equal one",
            Self::LabelsReplaced => "labels that are no strings are all replaced by those of the template",
            Self::DroppedNamespace => "a namespace without `${…}` is removed",
        }
    }
}

/// Notices, each once with what it is about.
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

/// The second half of processing: everything has its value.
struct ObjectProcessor<'r, 't> {
    selected: &'r SelectedTemplate<'t>,
    request: &'r ProcessOptions,
    values: &'r HashMap<Arc<str>, FinalValue>,
    notices: &'r mut Notices,
}

impl<'t> ObjectProcessor<'_, 't> {
    fn run(&mut self, drawn: &[Arc<str>], outcome: &mut ProcessedTemplate<'t>) {
        let node = self.selected.node;
        let template = &self.selected.template;
        let budget = NodeBudget::of(node.document().span().len());
        let mut labels = ParameterValues::new();
        for (key, value) in &template.labels {
            if !value.is_string {
                let span = value.span.shifted(self.selected.base);
                outcome
                    .problems
                    .push(ProcessError::new(format!("the label `{}` has to be a string", key.value), Some(span)));
            }
            labels.insert(key.value.to_string(), value.value.to_string());
        }
        labels.extend(self.request.labels.clone());
        let labels: ParameterValues = labels
            .into_iter()
            .map(|(key, value)| (self.plain(&key, "a label"), self.plain(&value, "a label")))
            .collect();
        outcome.message = template.message.as_ref().map(|it| self.plain(&it.value, "`message`"));
        for (at, item) in node.get("objects").into_iter().flat_map(Node::items).enumerate() {
            match self.object(item, at, &labels, &budget) {
                Ok(object) => outcome.objects.push(object),
                Err(problems) => outcome.problems.extend(problems),
            }
        }
        if outcome.problems.is_empty() && self.request.with_template {
            outcome.template = self.template(drawn, &labels, outcome, &budget);
        }
    }

    /// A text of the template itself: whatever the reference, it stays a string.
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
        let problem = |message: String| ProcessError::new(format!("{place}: {message}"), Some(node.span()));
        if node.get("kind").and_then(Node::string).is_none_or(str::is_empty) {
            return Err(vec![problem("an object needs a `kind`".into())]);
        }
        let is_list = node.get("items").is_some_and(Node::is_sequence);
        let namespace = if is_list { Namespace::Stays } else { self.namespace(node) };
        let mut substitution = self.substitution();
        let read = Json::read(node, budget, &mut substitution);
        let (quirks, mut problems) = (substitution.quirks, substitution.problems);
        let mut object = match read {
            Ok(object) => object,
            Err(ReadError::TooLarge) => return Err(vec![problem(TOO_LARGE.into())]),
            Err(ReadError::Broken) => return Err(vec![problem(UNREADABLE.into())]),
        };
        let Some(map) = object.as_map_mut() else { return Err(vec![problem("an object is a mapping".into())]) };
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
                problems.push("a list inside a template cannot get the labels of the template".into());
            } else if label(map, labels) {
                self.notices.add(Quirk::LabelsReplaced, &title);
            }
        }
        if problems.is_empty() { Ok(object) } else { Err(problems.into_iter().map(problem).collect()) }
    }

    /// What becomes of the namespace: decided by the text before anything is replaced.
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
                None => Namespace::Stays,
                Some(it) if keeps(it) => Namespace::Stays,
                Some(it) if it.string().is_some_and(|it| !it.is_empty()) => Namespace::Goes,
                Some(_) => Namespace::Emptied("metadata"),
            },
            (None, Some(it)) if !keeps(it) => Namespace::Emptied(""),
            _ => Namespace::Stays,
        }
    }

    /// The template with its values, as the proposal returns it (PT4).
    fn template(
        &mut self,
        drawn: &[Arc<str>],
        labels: &ParameterValues,
        outcome: &ProcessedTemplate<'t>,
        budget: &NodeBudget,
    ) -> Option<Json<'t>> {
        let mut map = JsonMap::new();
        for (key, value) in self.selected.node.entries() {
            let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
            let value = match &*key {
                "objects" => Json::List(outcome.objects.clone()),
                "message" => Json::Text(outcome.message.clone()?.into()),
                "labels" => continue,
                "parameters" => {
                    let mut list = Json::read(value, budget, &mut AsWritten).ok()?;
                    if let Json::List(items) = &mut list {
                        for (item, value) in items.iter_mut().zip(drawn) {
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

/// What becomes of a namespace (T5.1).
enum Namespace {
    Stays,
    /// Its key is removed.
    Goes,
    /// It was no string, and is an empty one now; in this mapping.
    Emptied(&'static str),
}

impl Namespace {
    /// Whether something was lost.
    fn apply(&self, object: &mut JsonMap<'_>) -> bool {
        match self {
            Self::Stays => false,
            Self::Goes => {
                let metadata = object.get_mut("metadata").and_then(Json::as_map_mut);
                metadata.is_some_and(|it| it.remove("namespace").is_some())
            }
            Self::Emptied(parent) => {
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

/// Adds the template's labels; whether labels of the object were lost by that.
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
