//! Helm charts: which files are templates, and what masked actions leave unknown in their objects.

use std::sync::Arc;

use crate::k8s::{Container, Data, EnvVar, Model, Object, Source, Text};
use crate::syntax::helm::{Mask, is_masked, push_hole};
use crate::syntax::{Collection, Node, ScalarStyle, Shape, Tree};
use crate::text::Span;
use crate::workspace::File;

const CHART_FILE: &str = "Chart.yaml";

/// The directory that a Chart.yaml makes a chart: empty or ending with `/`.
pub(super) fn chart_directory(path: &str) -> Option<&str> {
    path.strip_suffix(CHART_FILE).filter(|directory| directory.is_empty() || directory.ends_with('/'))
}

/// The directories of which one is a chart if the file belongs to one.
pub(super) fn charts_of(path: &str) -> impl Iterator<Item = &str> {
    let templates = path.match_indices("templates/").map(|(at, _)| &path[..at]);
    let values = is_values(path).then(|| &path[..path.rfind('/').map_or(0, |slash| slash + 1)]);
    templates.filter(|directory| directory.is_empty() || directory.ends_with('/')).chain(values)
}

/// Whether the file stands where a chart has its templates.
pub(super) fn is_template(path: &str) -> bool {
    path.starts_with("templates/") || path.contains("/templates/")
}

/// Whether it is called like the values of a chart.
pub(super) fn is_values(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("values"))
}

/// Whether a text may hold actions; `${{P}}` is a parameter of another language.
pub(super) fn has_actions(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), b"{{").any(|at| at == 0 || text.as_bytes()[at - 1] != b'$')
}

/// Whether an action stands outside of scalars: `{{ x }}` is a mapping with a mapping as its key, which no manifest has.
pub(super) fn has_bare_action(text: &str, tree: &Tree) -> bool {
    let starts = memchr::memmem::find_iter(text.as_bytes(), b"{{");
    starts.filter_map(|at| Some((at, tree.document_at(at)?.root()?))).any(|(at, root)| {
        let begins = |node: &Node<'_>| node.span().start == at && node.kind() == Collection::Mapping(Shape::Flow);
        let mut way = root.path_to(at + 1).into_iter();
        way.find(begins).and_then(|node| node.own_entries().next()).is_some_and(|(key, _)| key.is_mapping())
    })
}

/// Whether an action stands at the beginning of a line.
pub(super) fn begins_with_action(text: &str) -> bool {
    text.starts_with("{{") || text.contains("\n{{")
}

/// Takes back what cannot be known of the objects in a template, and every syntax error: it is not YAML yet.
pub(super) fn apply(file: &mut File, mask: &Mask) {
    file.is_helm = true;
    file.errors.clear();
    file.duplicate_keys.clear();
    let starts: Vec<usize> = file.objects.iter().map(|it| it.offset).collect();
    for (at, object) in file.objects.iter_mut().enumerate() {
        let next = starts.get(at + 1).copied().unwrap_or(mask.text.len());
        object.model = Arc::new(as_far_as_known(object, mask, next));
    }
}

/// The model as it holds whatever the actions give.
fn as_far_as_known(object: &Object, mask: &Mask, next: usize) -> Model {
    let mut model = (*object.model).clone();
    let place = |span: Span| object.place(span);
    let extent = Extent { mask, next };
    model.namespace = model.namespace.filter(|it| !is_masked(&it.value));
    let whole = extent.of(place(model.span));
    match &mut model.data {
        Data::ConfigMap(source) | Data::Secret(source) => open(source, &whole, mask, &place),
        // Its ports may be others, or more; what a preset brings, and to whom, too.
        Data::Service(_) | Data::Preset(_) => model.data = Data::None,
        Data::None | Data::Kustomization(_) | Data::Template(_) => {}
    }
    for container in model.pods.iter_mut().flat_map(|pod| &mut pod.containers) {
        let container = Arc::make_mut(container);
        let own = extent.of(place(container.span));
        container.is_open = may_gain_variables(container, &own, mask);
        for entry in &mut container.env {
            fill(entry, &extent.of(place(entry.span)), mask);
        }
    }
    model
}

/// How far the lines of a node reach: lines of actions behind it may belong to it.
struct Extent<'m> {
    mask: &'m Mask,
    next: usize,
}

impl Extent<'_> {
    fn of(&self, span: Span) -> Span {
        let rest = self.mask.text.get(span.end..self.next.max(span.end)).unwrap_or_default();
        Span::new(span.start, span.end + (rest.len() - rest.trim_start().len()))
    }
}

fn within(inner: Span, outer: &Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Keys that are not in the text may exist, and values that hold actions are not known.
fn open(source: &mut Source, whole: &Span, mask: &Mask, place: &dyn Fn(Span) -> Span) {
    let prints_keys = |key: Option<&str>| !matches!(key, Some("labels" | "annotations" | "metadata"));
    source.open |= mask.outputs.iter().any(|it| within(it.span, whole) && prints_keys(it.key.as_deref()));
    source.open |= source.keys.iter().any(|it| is_masked(&it.key.value));
    source.keys.retain(|it| !is_masked(&it.key.value));
    for key in &mut source.keys {
        let span = key.value_span.map(place);
        let has_lines = span.is_some_and(|span| mask.lines.iter().any(|it| within(*it, &span)));
        if has_lines || key.value.as_deref().is_some_and(is_masked) {
            key.value = None;
        }
    }
}

/// Whether an action may define further variables of a container.
fn may_gain_variables(container: &Container, own: &Span, mask: &Mask) -> bool {
    let is_env = |key: Option<&str>| matches!(key, None | Some("env" | "envFrom"));
    let prints = mask.outputs.iter().any(|it| within(it.span, own) && is_env(it.key.as_deref()));
    let base = own.start - container.span.start;
    let is_hole = |span: Span| mask.text.get(span.shifted(base).range()).is_some_and(is_masked);
    let masked_name = |it: &EnvVar| match &it.name {
        Some(name) => is_masked(&name.value),
        None => is_hole(it.span),
    };
    let masked_list = container.env.is_empty() && container.env_span.is_some_and(is_hole);
    let masked_source = container.env_from.iter().any(|it| match (&it.source, &it.prefix) {
        (None, _) => is_hole(it.span),
        (_, Some(prefix)) => is_masked(&prefix.value),
        _ => false,
    });
    prints || masked_list || masked_source || container.env.iter().any(masked_name)
}

/// An entry whose value is printed by an action on a line of its own has an unknown value, not an empty one.
fn fill(entry: &mut EnvVar, own: &Span, mask: &Mask) {
    if entry.value.is_none() && entry.from.is_none() && mask.outputs.iter().any(|it| within(it.span, own)) {
        let mut value = String::new();
        push_hole(&mut value);
        entry.value = Some(Text { value: value.into(), span: entry.span, style: ScalarStyle::Plain, is_string: true });
    }
}
