//! Symbols: the outline of a file, and names across the workspace.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::describe::one_line;
use crate::k8s::{Container, DataEntry, Object, ObjectData, ObjectSpan, Pod, Text};
use crate::syntax::show_placeholders;
use crate::text::Span;

/// An item of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSymbol {
    /// Its name.
    pub name: String,
    /// Its kind, image or value, in one line.
    pub detail: Option<String>,
    /// Its kind.
    pub kind: SymbolKind,
    /// The whole item.
    pub span: Span,
    /// The part to place the cursor on; within `span`.
    pub focus: Span,
    /// The items inside it.
    pub children: Vec<DocumentSymbol>,
}

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// An object.
    Object,
    /// A container.
    Container,
    /// A variable of a container.
    Variable,
    /// A key of a ConfigMap or Secret.
    Key,
    /// A template's parameter.
    Parameter,
}

/// A symbol that is found by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceSymbol {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// The object that contains it, such as `Deployment/web`.
    pub container: Option<String>,
    /// Its location.
    pub location: Location,
}

/// The outline of a file.
pub fn document_symbols(analysis: &Analysis<'_>, file: &Arc<str>) -> Vec<DocumentSymbol> {
    let Some(facts) = analysis.snapshot.file(file) else { return Vec::new() };
    let mut all: Vec<DocumentSymbol> = facts.objects.iter().map(object).collect();
    // Outer objects first.
    all.sort_by_key(|it| (it.span.start, usize::MAX - it.span.end));
    nested(all)
}

/// The symbols that match a query, the best match first, at most `limit`.
pub fn workspace_symbols(analysis: &Analysis<'_>, query: &str, limit: usize) -> Vec<WorkspaceSymbol> {
    let query = query.to_lowercase();
    let mut found: Vec<(u8, WorkspaceSymbol)> = Vec::new();
    for (path, facts) in analysis.snapshot.files() {
        for object in &facts.objects {
            let title = format!("{}/{}", display_text(&object.model.kind), display_text(&object.model.name));
            let mut offer = |text: &Text, kind, container: Option<&str>| {
                let name = show_placeholders(&text.value);
                if let Some(rank) = rank(&name, &query) {
                    let location = Location { file: Arc::clone(path), span: object.file_span(text.span) };
                    let container = container.map(str::to_owned);
                    found.push((rank, WorkspaceSymbol { name: name.into_owned(), kind, container, location }));
                }
            };
            if let Some(name) = &object.model.name {
                let kind = object.model.kind.as_ref().map(|it| &*it.value);
                offer(name, SymbolKind::Object, kind);
            }
            for container in pods(object).flat_map(|it| &it.containers) {
                if let Some(name) = &container.name {
                    offer(name, SymbolKind::Container, Some(&title));
                }
                for name in container.env.iter().filter_map(|it| it.name.as_ref()) {
                    offer(name, SymbolKind::Variable, Some(&title));
                }
            }
            if let ObjectData::Template(template) = &object.model.data {
                for name in template.parameters.iter().filter_map(|it| it.name.as_ref()) {
                    offer(name, SymbolKind::Parameter, Some(&title));
                }
            }
            for key in keys(object) {
                offer(&key.key, SymbolKind::Key, Some(&title));
            }
        }
    }
    found.sort_by(|(a, x), (b, y)| (a, &x.name, &x.location).cmp(&(b, &y.name, &y.location)));
    // Containers that share `env` through an alias declare a variable once.
    found.dedup_by(|(_, b), (_, a)| a.location == b.location && a.name == b.name);
    found.into_iter().map(|(_, it)| it).take(limit).collect()
}

/// The rank of a match: 0 for the whole name, 1 for a prefix, 2 for a part, 3 for the letters in order.
fn rank(name: &str, query: &str) -> Option<u8> {
    let name = name.to_lowercase();
    if name == query {
        return Some(0);
    }
    if name.starts_with(query) {
        return Some(1);
    }
    if name.contains(query) {
        return Some(2);
    }
    let mut letters = name.chars();
    query.chars().all(|wanted| letters.any(|it| it == wanted)).then_some(3)
}

fn display_text(text: &Option<Text>) -> String {
    text.as_ref().map_or_else(|| "?".into(), |it| show_placeholders(&it.value).into_owned())
}

fn object(object: &Object) -> DocumentSymbol {
    let model = &object.model;
    let span = object.file_span(model.span);
    let mut children: Vec<DocumentSymbol> = Vec::new();
    for pod in &model.pods {
        children.extend(pod.containers.iter().map(|it| container(object, it)));
    }
    if let ObjectData::Preset(preset) = &model.data
        && let Some(entries) = preset.container()
    {
        children.extend(container(object, entries).children);
    }
    for key in keys(object) {
        let name = object.file_span(key.key.span);
        let value = key.value_span.map(|it| object.file_span(it));
        let span = Span::new(name.start, value.map_or(name.end, |it| it.end.max(name.end)));
        children.push(symbol_at(object, Some(&key.key), None, SymbolKind::Key, span, Vec::new()));
    }
    if let ObjectData::Template(template) = &model.data {
        for parameter in &template.parameters {
            let value = parameter.value.as_ref().or(parameter.from.as_ref());
            let detail = value.map(|it| one_line(&show_placeholders(&it.value), 60));
            let (name, kind) = (parameter.name.as_ref(), SymbolKind::Parameter);
            children.push(symbol(object, name, detail, kind, parameter.span, Vec::new()));
        }
    }
    let detail = model.kind.as_ref().map(|it| show_placeholders(&it.value).into_owned());
    let name = model.reference_name_text();
    let mut symbol = symbol(object, name, detail, SymbolKind::Object, model.span, children);
    if name.is_none() {
        symbol.name = symbol.detail.clone().unwrap_or_else(|| "object".into());
    }
    symbol.children.retain(|it| within(it.span, span));
    symbol
}

fn container(object: &Object, container: &Container) -> DocumentSymbol {
    let span = object.file_span(container.span);
    let mut variables: Vec<DocumentSymbol> = Vec::new();
    for entry in &container.env {
        let detail = entry.value.as_ref().map(|it| one_line(&show_placeholders(&it.value), 60));
        variables.push(symbol(object, entry.name.as_ref(), detail, SymbolKind::Variable, entry.span, Vec::new()));
    }
    variables.retain(|it| within(it.span, span));
    let detail = container.image.as_ref().map(|it| show_placeholders(&it.value).into_owned());
    symbol(object, container.name.as_ref(), detail, SymbolKind::Container, container.span, variables)
}

/// The keys of a ConfigMap or Secret.
fn keys(object: &Object) -> &[DataEntry] {
    match &object.model.data {
        ObjectData::ConfigMap(source) | ObjectData::Secret(source) => &source.keys,
        _ => &[],
    }
}

/// The pods of an object; for a PodPreset its entries as a pod.
fn pods(object: &Object) -> impl Iterator<Item = &Pod> {
    let preset = match &object.model.data {
        ObjectData::Preset(preset) => Some(&preset.pod),
        _ => None,
    };
    object.model.pods.iter().chain(preset)
}

fn symbol(
    object: &Object,
    name: Option<&Text>,
    detail: Option<String>,
    kind: SymbolKind,
    span: ObjectSpan,
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    symbol_at(object, name, detail, kind, object.file_span(span), children)
}

fn symbol_at(
    object: &Object,
    name: Option<&Text>,
    detail: Option<String>,
    kind: SymbolKind,
    span: Span,
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    let focus = name.map(|it| object.file_span(it.span)).filter(|it| within(*it, span));
    let name = name.map(|it| show_placeholders(&it.value).into_owned()).filter(|it| !it.trim().is_empty());
    let focus = focus.unwrap_or(Span::new(span.start, span.start));
    DocumentSymbol { name: name.unwrap_or_else(|| "?".into()), detail, kind, span, focus, children }
}

fn within(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Moves inner symbols into `children` of the outer ones. The input is in the order of the text, outer symbols first.
fn nested(all: Vec<DocumentSymbol>) -> Vec<DocumentSymbol> {
    let mut open: Vec<DocumentSymbol> = Vec::new();
    let mut done: Vec<DocumentSymbol> = Vec::new();
    let close = |open: &mut Vec<DocumentSymbol>, done: &mut Vec<DocumentSymbol>| {
        if let Some(symbol) = open.pop() {
            match open.last_mut() {
                Some(outer) => outer.children.push(symbol),
                None => done.push(symbol),
            }
        }
    };
    for symbol in all {
        while open.last().is_some_and(|outer| !within(symbol.span, outer.span)) {
            close(&mut open, &mut done);
        }
        open.push(symbol);
    }
    while !open.is_empty() {
        close(&mut open, &mut done);
    }
    done
}
