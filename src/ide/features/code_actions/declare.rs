//! Adds an entry of `env` for an undefined variable, in the style of the existing list.

use std::sync::Arc;

use crate::diagnostic::{Edit, Location};
use crate::ide::Analysis;
use crate::ide::shared::cursor::{CursorTarget, target_at};
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::located_container::LocatedContainer;
use crate::k8s::{ContainerField, ObjectSpan};
use crate::resolve::is_strict_variable_name;
use crate::syntax::{CollectionStyle, Node, NodeKind};
use crate::text::Span;

/// The action that declares the variable referenced at an offset: its title and edits.
pub(super) fn declare(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Option<(String, Vec<Edit>)> {
    let CursorTarget::Reference { at, field, name, .. } = target_at(analysis, file, offset)?.target else {
        return None;
    };
    if !is_strict_variable_name(name) {
        return None;
    }
    let file_text = analysis.file_text(file)?;
    let (offset, text) = match at.container.env_span {
        Some(span) => in_list(&file_text, &at, span, field, name)?,
        None => new_list(&file_text, &at, name)?,
    };
    let location = Location { file: Arc::clone(file), span: Span::new(offset, offset) };
    Some((format!("Declare `{name}` in `env`"), vec![Edit { location, text }]))
}

/// An entry for an existing list: above the entry with the reference, or at the end.
fn in_list(
    file_text: &FileText,
    at: &LocatedContainer<'_>,
    span: ObjectSpan,
    field: ContainerField,
    name: &str,
) -> Option<(usize, String)> {
    let list = node(file_text, at.object.file_span(span), Node::is_sequence)?;
    let items: Vec<Node<'_>> = list.items().collect();
    let user = match field {
        ContainerField::EnvValue(index) => items.get(index),
        _ => None,
    };
    let text = file_text.text();
    let sample = user.or(items.last())?;
    let sample_text = text.get(sample.span().range())?;
    let is_flow_item = sample.kind() == NodeKind::Mapping(CollectionStyle::Flow);
    let flow = if sample_text.contains("\"name\"") {
        format!("{{\"name\": \"{name}\", \"value\": \"\"}}")
    } else {
        format!("{{name: {name}, value: \"\"}}")
    };
    if list.kind() == NodeKind::Sequence(CollectionStyle::Flow) {
        return Some(match user {
            Some(user) => (user.span().start, format!("{flow}, ")),
            None => (sample.span().end, format!(", {flow}")),
        });
    }
    let line = file_text.line(sample.span().start);
    let head = &text[line.start..sample.span().start];
    let indent = &head[..head.len() - head.trim_start_matches(' ').len()];
    if head.trim() != "-" {
        return None;
    }
    let end = file_text.line_break();
    let entry = if is_flow_item {
        format!("{indent}- {flow}")
    } else {
        format!("{indent}- name: {name}{end}{indent}  value: \"\"")
    };
    if user.is_some() {
        return Some((line.start, format!("{entry}{end}")));
    }
    let last = sample.span().start + sample_text.trim_end().len();
    Some((file_text.line(last).end, format!("{end}{entry}")))
}

/// A new list for a container without one, inserted above a key that starts a line.
fn new_list(file_text: &FileText, at: &LocatedContainer<'_>, name: &str) -> Option<(usize, String)> {
    let text = file_text.text();
    let container = node(file_text, at.object.file_span(at.container.span), Node::is_mapping)?;
    if container.kind() != NodeKind::Mapping(CollectionStyle::Block) {
        return None;
    }
    let end = file_text.line_break();
    // The container has `env:` with nothing below it.
    if let Some((key, _)) = container.entry("env") {
        let line = file_text.line(key.span().start);
        let column = key.span().start - line.start;
        let is_bare = text[key.span().end..line.end].trim() == ":";
        let indent = " ".repeat(column);
        let entry = format!("{end}{indent}  - name: {name}{end}{indent}    value: \"\"");
        return is_bare.then_some((line.end, entry));
    }
    let begins_line = |key: &Node<'_>| {
        let start = key.span().start;
        text[file_text.line(start).start..start].bytes().all(|it| it == b' ')
    };
    let is_wanted = |key: &Node<'_>| matches!(key.text(), Some("args" | "command"));
    let mut keys = container.own_entries().map(|(key, _)| key).filter(begins_line);
    let keys: Vec<Node<'_>> = keys.by_ref().collect();
    let above = keys.iter().find(|it| is_wanted(it)).or(keys.last())?;
    let line = file_text.line(above.span().start);
    let indent = &text[line.start..above.span().start];
    let entry = format!("{indent}env:{end}{indent}  - name: {name}{end}{indent}    value: \"\"{end}");
    Some((line.start, entry))
}

fn node<'w>(file_text: &'w FileText, span: Span, is_it: impl Fn(Node<'w>) -> bool) -> Option<Node<'w>> {
    let root = file_text.source.tree.document_at(span.start)?.root()?;
    root.path_to(span.start).into_iter().find(|it| it.span() == span && it.alias().is_none() && is_it(*it))
}
