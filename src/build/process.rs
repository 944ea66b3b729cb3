//! The engine of `podlens process`: it does what `oc process --local` does, step by step (T2.1 to T10.10).
//!
//! A text and values go in; objects, errors and notices come out. The caller supplies random numbers. Where `oc`
//! crashes, this returns an error; surprising results of `oc` are reproduced, with a notice.

mod decoding;
mod generator;
mod json;
mod legacy_groups;
mod objects;
mod parameter_values;
mod quirks;
mod select;
mod substitution;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::build::node::{BuildError, BuildLimits, BuiltNode};
use crate::k8s::{Parameter, ParameterValue};
use crate::syntax::Node;
use crate::text::Span;
pub use generator::{
    GeneratorError, GeneratorPart, GeneratorProblem, RandomCharacters, RangeEnds, find_literal_pattern, generate_value,
    parse_generator,
};
pub use json::{Json, JsonMap};
use objects::ObjectProcessor;
pub(crate) use objects::process_object;
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
pub struct ProcessedTemplate {
    /// The objects; empty if there are errors.
    pub objects: Vec<Json<'static>>,
    /// The template with its values, if requested and without errors.
    pub template: Option<Json<'static>>,
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
pub fn process_template(
    selected: &SelectedTemplate<'_>,
    options: &ProcessOptions,
    random_below: RandomBelow<'_>,
) -> ProcessedTemplate {
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
    let final_values = parameter_values::values(template, options, random_below, &mut notices, &mut errors);
    let in_file = |mut it: ProcessError| {
        it.span = it.span.map(|span| span.shifted(selected.base));
        it
    };
    processed.errors.extend(errors.into_iter().map(in_file));
    if processed.errors.is_empty() {
        let named = |(parameter, value): (&Parameter, &Arc<str>)| {
            (Parameter::text(&parameter.name).into(), ParameterValue::Given { value: Arc::clone(value), file: None })
        };
        let parameters = template.exported.with_values(template.parameters.iter().zip(&final_values).map(named));
        ObjectProcessor { selected, options, parameters, notices: &mut notices }.run(&final_values, &mut processed);
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
pub struct ObjectList<'o> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    metadata: BTreeMap<(), ()>,
    items: &'o [Json<'static>],
}

impl<'o> ObjectList<'o> {
    /// A list of the objects.
    pub fn of(items: &'o [Json<'static>]) -> Self {
        Self { kind: "List", api_version: "v1", metadata: BTreeMap::new(), items }
    }
}

/// An object without any replacement: it keeps its namespace, and a legacy kind gets its group.
pub(in crate::build) fn unprocessed_object(node: Node<'_>) -> Result<Json<'static>, BuildError> {
    if !node.is_mapping() {
        return Err(BuildError::Broken);
    }
    let mut limits = BuildLimits::strict(node.document().span().len());
    let mut built = BuiltNode::from_source(node.resolved().to_owned_node());
    decoding::set_group_and_kind(&mut built);
    let (tree, _) = built.finish(&mut limits)?;
    Ok(Json::read(tree.node())?.into_owned())
}

/// The value that `${{…}}` gives for a text; `None` if it is not JSON or loses digits.
pub(in crate::build) fn decoded(text: &str) -> Option<Json<'static>> {
    let mut lossy = false;
    let json = Json::decoded(serde_json::from_str(text).ok()?, &mut lossy);
    (!lossy).then_some(json)
}

#[cfg(test)]
mod tests;
