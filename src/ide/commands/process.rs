//! The engine of `podlens process`: it does what `oc process --local` does, step by step (T2.1 to T10.10).
//!
//! A text and values go in; objects, errors and notices come out. The caller supplies random numbers. Where `oc`
//! crashes, this returns an error; surprising results of `oc` are reproduced, with a notice.

mod json;
mod legacy_groups;
mod objects;
mod parameter_values;
mod quirks;
mod select;
mod substitute;

use std::collections::BTreeMap;

use crate::resolve::RangeEnds;
use crate::syntax::Node;
use crate::text::Span;
use json::{AsWritten, JsonBudget, JsonReadError};
pub use json::{Json, JsonMap};
use objects::ObjectProcessor;
pub use parameter_values::ParameterValues;
use quirks::Notices;
pub use select::{ParameterView, SelectedTemplate, select_template, select_template_at};

/// A source of random numbers: returns a number below its argument.
pub type RandomBelow<'a> = &'a mut dyn FnMut(usize) -> usize;

/// The values and options for processing a template.
#[derive(Clone, Debug, Default)]
pub struct ProcessOptions {
    /// Given values, by parameter.
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
    let (values, final_values) = parameter_values::values(template, options, random_below, &mut notices, &mut errors);
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

/// An object without any replacement: it keeps its namespace, and a legacy kind gets its group.
pub(in crate::ide) fn unprocessed_object(node: Node<'_>) -> Result<Json<'_>, &'static str> {
    let budget = JsonBudget::of(node.document().span().len());
    let mut object = match Json::read(node, &budget, &mut AsWritten) {
        Ok(object) => object,
        Err(JsonReadError::TooLarge) => return Err(TOO_LARGE),
        Err(JsonReadError::Broken) => return Err(UNREADABLE),
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
        && let Some(group) = object.get("kind").and_then(Json::as_text).and_then(legacy_groups::grouped)
    {
        object.insert("apiVersion".into(), Json::Text(group.into()));
    }
}

#[cfg(test)]
mod tests;
