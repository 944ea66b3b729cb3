//! Extracts a selected value of a template's object into a parameter.

use std::ops::Range;
use std::sync::Arc;

use crate::build::{BuiltObject, Json, ParameterChoice, ParameterEdits, ValueReplacer};
use crate::diagnostic::{Edit, Location};
use crate::ide::Analysis;
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::located_container::objects_at;
use crate::ide::shared::template_parameters::enclosing_template;
use crate::k8s::{Object, Template, format_parameter_reference, is_parameter_name};
use crate::rules::{FileContext, ObjectContext};
use crate::syntax::{CollectionStyle, Node, NodeKind, ReferenceForm, ScalarStyle, SourceMap, TypedScalar, YamlValue};
use crate::text::Span;

/// The actions for a selection, each with a title and edits: a new parameter for this occurrence or for all occurrences
/// in the template, or an existing parameter with the same value.
pub(super) fn extract(analysis: &Analysis<'_>, file: &Arc<str>, range: Span) -> Vec<(String, Vec<Edit>)> {
    try_extract(analysis, file, range).unwrap_or_default()
}

fn try_extract(analysis: &Analysis<'_>, file: &Arc<str>, range: Span) -> Option<Vec<(String, Vec<Edit>)>> {
    let facts = analysis.snapshot.file(file).filter(|it| !it.is_helm_template())?;
    let object = objects_at(facts, range.start).into_iter().next().filter(|it| it.template.is_some())?;
    let (outer, template) = enclosing_template(facts, object)?;
    let file_text = analysis.file_text(file)?;
    let selected = SelectedText::at(&file_text, object, range)?;
    let at = |span: Span| Location { file: Arc::clone(file), span };
    let edit = |span: Span, text: String| Edit { location: at(span), text };
    let here = |name: &str| selected.replacement(name).map(|(span, text)| edit(span, text));
    if let Some(known) = with_value(template, &selected.value) {
        return Some(vec![(format!("Use the parameter `{known}`"), vec![here(known)?])]);
    }
    let name = free_name(template, &selected.suggestion);
    let Analysis { snapshot, resolver, texts } = *analysis;
    let context = FileContext { snapshot, resolver, path: file, facts, texts };
    let object_in_view = BuiltObject::as_written(snapshot, file, outer);
    let context = ObjectContext { file: &context, object: object_in_view };
    let declaration = context.declare_parameter_edit(&[
        ("name", YamlValue::text(name.as_str())),
        ("value", YamlValue::Quoted(selected.value.clone())),
    ])?;
    let mut actions = vec![(format!("Extract into the parameter `{name}`"), vec![here(&name)?, declaration.clone()])];
    let given = [ParameterChoice { name: name.clone(), value: selected.value.clone() }];
    let replacer = ValueReplacer::new(&given);
    let root = file_text.source.tree.document_at(outer.offset)?.root()?;
    let span = outer.file_span(template.objects_span?);
    let list = root.path_to(span.start).into_iter().find(|it| it.is_sequence() && it.span() == span)?;
    let mut everywhere = ParameterEdits::new(file_text.text(), &replacer, false);
    list.items().for_each(|it| everywhere.object(it));
    let everywhere = everywhere.into_all();
    if everywhere.len() > 1 {
        let title = format!("Extract into the parameter `{name}` (all {} occurrences)", everywhere.len());
        let mut edits: Vec<Edit> = everywhere.into_iter().map(|it| edit(it.span, it.text)).collect();
        edits.push(declaration);
        actions.push((title, edits));
    }
    Some(actions)
}

/// The selected value.
struct SelectedText<'w> {
    text: &'w str,
    node: Node<'w>,
    /// The selected part of the scalar's value.
    range: Range<usize>,
    /// The value of the new parameter.
    value: String,
    /// Whether the scalar is not a string.
    is_typed: bool,
    is_flow: bool,
    /// A name for the parameter.
    suggestion: String,
}

impl<'w> SelectedText<'w> {
    fn at(file_text: &'w FileText, object: &Object, range: Span) -> Option<Self> {
        let text = file_text.text();
        // Ignore spaces around the selection.
        let chosen = text.get(range.range())?;
        let start = range.start + (chosen.len() - chosen.trim_start().len());
        let range = Span::new(start, start + chosen.trim().len());
        if range.is_empty() {
            return None;
        }
        let root = file_text.source.tree.document_at(range.start)?.root()?;
        let ancestors = root.path_to(range.start);
        let (node, around) = ancestors.split_last()?;
        let (node, span) = (*node, node.span());
        let is_inside = span.start <= range.start && range.end <= span.end && object.offset <= span.start;
        let is_scalar = matches!(node.kind(), NodeKind::Scalar(_)) && node.tag().is_none();
        let parent = around.last()?;
        let entry = parent.own_entries().find(|(_, value)| value.is_some_and(|it| it == node));
        if !is_inside || !is_scalar || parent.is_mapping() && entry.is_none() {
            return None;
        }
        let path = root.field_path(range.start, object.offset);
        let key = path.rsplit(['.', '[']).find(|it| !it.ends_with(']'))?;
        if matches!(key, "apiVersion" | "kind") {
            return None;
        }
        let value = node.text()?;
        let map = SourceMap::new(&text[span.range()], node.style()?, value);
        let inner = map.value_offset(range.start - span.start)..map.value_offset(range.end - span.start);
        let is_whole = range == span || inner == (0..value.len());
        let typed = node.typed()?;
        let is_typed = !matches!(typed, TypedScalar::Str(_));
        if is_typed && !is_whole || inner.is_empty() || !map.is_exact() {
            return None;
        }
        let (range, value) = match typed {
            TypedScalar::Null | TypedScalar::Misfit => return None,
            TypedScalar::Str(_) if is_whole => (0..value.len(), value.to_owned()),
            TypedScalar::Str(_) => (inner.clone(), value.get(inner)?.to_owned()),
            // As JSON, so that processing decodes the same value.
            other => (0..value.len(), json(&other)?),
        };
        // References in the value of a parameter are not replaced.
        if value.contains('$') || value.contains('\n') {
            return None;
        }
        let named = (key == "value").then(|| parent.get("name").and_then(Node::string)).flatten();
        let is_tag = key == "image" && node.text().is_some_and(|it| it[..range.start].ends_with(':'));
        let key = if is_tag { "imageTag" } else { key };
        let suggestion = named.filter(|it| is_parameter_name(it)).map_or_else(|| upper_snake_case(key), str::to_owned);
        let is_flow = around.iter().any(|it| {
            matches!(it.kind(), NodeKind::Mapping(CollectionStyle::Flow) | NodeKind::Sequence(CollectionStyle::Flow))
        });
        Some(Self { text, node, range, value, is_typed, is_flow, suggestion })
    }

    /// The edit that replaces the selected value by a reference.
    fn replacement(&self, name: &str) -> Option<(Span, String)> {
        let span = self.node.span();
        let form = if self.is_typed { ReferenceForm::Raw } else { ReferenceForm::Text };
        let reference = format_parameter_reference(name, form);
        let (value, style) = (self.node.text()?, self.node.style()?);
        if style == ScalarStyle::Plain && self.is_flow {
            // In a flow collection, `}` would end a plain scalar.
            let mut whole = value.to_owned();
            whole.replace_range(self.range.clone(), &reference);
            return Some((span, YamlValue::Quoted(whole).to_flow()?));
        }
        let map = SourceMap::new(&self.text[span.range()], style, value);
        Some((map.source_span(self.range.clone()).shifted(span.start), reference))
    }
}

/// A number or boolean as JSON.
fn json(value: &TypedScalar<'_>) -> Option<String> {
    let json = match value {
        TypedScalar::Bool(it) => Json::Bool(*it),
        TypedScalar::Int(it) => Json::Int(*it),
        TypedScalar::Float(it) => Json::of_float(*it),
        _ => return None,
    };
    serde_json::to_string(&json).ok()
}

/// The parameter whose default is this value.
fn with_value<'t>(template: &'t Template, value: &str) -> Option<&'t str> {
    let has =
        |name: &&Arc<str>| template.exported.get(name).and_then(|it| it.value.known()).is_some_and(|it| **it == *value);
    template.exported.names().find(has).map(|it| &**it).filter(|it| is_parameter_name(it))
}

/// `containerPort` → `CONTAINER_PORT`.
fn upper_snake_case(key: &str) -> String {
    let mut name = String::new();
    let mut was_small = false;
    for it in key.chars() {
        if it.is_ascii_uppercase() && was_small {
            name.push('_');
        }
        was_small = it.is_ascii_lowercase() || it.is_ascii_digit();
        name.push(if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' });
    }
    let name = name.trim_matches('_');
    if name.is_empty() { "PARAMETER".to_owned() } else { name.to_owned() }
}

/// The name, with a number appended if a parameter has it already.
fn free_name(template: &Template, name: &str) -> String {
    let numbered = (2..).map(|it| format!("{name}_{it}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|it| !template.exported.contains(it)).unwrap_or_default()
}
