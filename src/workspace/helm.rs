//! Helm charts: which files are templates, and which parts of their objects depend on masked actions.

mod masked_template;

use std::sync::Arc;

use crate::k8s::{Container, EnvVar, KeyedData, Model, Object, ObjectData, ObjectSpan, Text};
use crate::syntax::{
    CollectionStyle, HelmMask, HelmOutput, Node, NodeKind, ScalarStyle, Tree, has_placeholder, push_helm_placeholder,
};
use crate::text::Span;

pub(super) use masked_template::MaskedTemplate;

/// The file that makes a directory a chart.
pub(super) const CHART_FILE: &str = "Chart.yaml";

/// The directory of a `Chart.yaml`: empty or ending with `/`.
pub(super) fn chart_directory(path: &str) -> Option<&str> {
    path.strip_suffix(CHART_FILE).filter(|directory| directory.is_empty() || directory.ends_with('/'))
}

/// The directories that could be the chart of a file.
pub(super) fn charts_of(path: &str) -> impl Iterator<Item = &str> {
    let templates = path.match_indices("templates/").map(|(at, _)| &path[..at]);
    let values = is_values(path).then(|| &path[..path.rfind('/').map_or(0, |slash| slash + 1)]);
    templates.filter(|directory| directory.is_empty() || directory.ends_with('/')).chain(values)
}

/// Whether the file is in a directory `templates`.
pub(super) fn is_template(path: &str) -> bool {
    path.starts_with("templates/") || path.contains("/templates/")
}

/// Whether the file has the name of a values file.
pub(super) fn is_values(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("values"))
}

/// Whether a text may contain actions. `${{P}}` is a parameter of an OpenShift template.
pub(super) fn has_actions(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), b"{{").any(|at| at == 0 || text.as_bytes()[at - 1] != b'$')
}

/// Whether there is an action outside of scalars. YAML reads it as a mapping whose key is a mapping, which no manifest
/// has.
pub(super) fn has_bare_action(text: &str, tree: &Tree) -> bool {
    let starts = memchr::memmem::find_iter(text.as_bytes(), b"{{");
    starts.filter_map(|at| Some((at, tree.document_at(at)?.root()?))).any(|(at, root)| {
        let begins =
            |node: &Node<'_>| node.span().start == at && node.kind() == NodeKind::Mapping(CollectionStyle::Flow);
        let mut way = root.path_to(at + 1).into_iter();
        way.find(begins).and_then(|node| node.own_entries().next()).is_some_and(|(key, _)| key.is_mapping())
    })
}

/// Whether a line starts with an action.
pub(super) fn begins_with_action(text: &str) -> bool {
    text.starts_with("{{") || text.contains("\n{{")
}

/// The objects of a template without the parts that depend on actions.
pub(super) fn without_unknown_parts(mut objects: Vec<Object>, mask: &HelmMask) -> Vec<Object> {
    let starts: Vec<usize> = objects.iter().map(|it| it.offset).collect();
    for (at, object) in objects.iter_mut().enumerate() {
        let around = ActionsAround::new(object, mask, starts.get(at + 1).copied());
        object.model = Arc::new(without_unknown(object, &around));
    }
    objects
}

/// The actions in an object and right after it.
struct ActionsAround<'m> {
    text: &'m str,
    /// The end of the object, including following lines of actions, which may belong to it.
    end: usize,
    outputs: &'m [HelmOutput],
    lines: &'m [Span],
}

impl<'m> ActionsAround<'m> {
    /// `next` is the offset of the next object.
    fn new(object: &Object, mask: &'m HelmMask, next: Option<usize>) -> Self {
        let whole = object.file_span(object.model.span);
        let rest = mask.text.get(whole.end..next.unwrap_or(mask.text.len()).max(whole.end)).unwrap_or_default();
        let end = whole.end + (rest.len() - rest.trim_start().len());
        // Both lists are in text order.
        let outputs = &mask.outputs[mask.outputs.partition_point(|it| it.span.end <= whole.start)..];
        let outputs = &outputs[..outputs.partition_point(|it| it.span.start < end)];
        let lines = &mask.lines[mask.lines.partition_point(|it| it.end <= whole.start)..];
        let lines = &lines[..lines.partition_point(|it| it.start < end)];
        Self { text: &mask.text, end, outputs, lines }
    }

    /// The span of a node, extended to the empty lines after it that may belong to it.
    fn extent(&self, span: Span) -> Span {
        let rest = self.text.get(span.end..self.end.max(span.end)).unwrap_or_default();
        Span::new(span.start, span.end + (rest.len() - rest.trim_start().len()))
    }

    /// The actions inside a node that may produce output.
    fn outputs_in(&self, span: Span) -> impl Iterator<Item = &'m HelmOutput> {
        let first = self.outputs.partition_point(|it| it.span.start < span.start);
        let outputs = self.outputs[first..].iter().take_while(move |it| it.span.start <= span.end);
        outputs.filter(move |it| within(it.span, &span))
    }
}

/// The model without the parts that depend on actions.
fn without_unknown(object: &Object, around: &ActionsAround<'_>) -> Model {
    let mut model = (*object.model).clone();
    let file_span = |span: ObjectSpan| object.file_span(span);
    model.namespace = model.namespace.filter(|it| !has_placeholder(&it.value));
    let whole = around.extent(file_span(model.span));
    match &mut model.data {
        ObjectData::ConfigMap(source) | ObjectData::Secret(source) => {
            mark_unknown_keys(source, whole, around, &file_span)
        }
        // Actions may change the ports of a Service, and the entries and selector of a preset.
        ObjectData::Service(_) | ObjectData::Preset(_) => model.data = ObjectData::None,
        ObjectData::None | ObjectData::Kustomization(_) | ObjectData::Template(_) => {}
    }
    for container in model.pods.iter_mut().flat_map(|pod| &mut pod.containers) {
        let container = Arc::make_mut(container);
        let own = around.extent(file_span(container.span));
        container.may_have_more_variables = may_gain_variables(container, own, around, &file_span);
        for entry in &mut container.env {
            let own = around.extent(file_span(entry.span));
            mark_unknown_value(entry, own, around);
        }
    }
    model
}

fn within(inner: Span, outer: &Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Marks keys and values that depend on actions as unknown.
fn mark_unknown_keys(
    source: &mut KeyedData,
    whole: Span,
    around: &ActionsAround<'_>,
    file_span: &dyn Fn(ObjectSpan) -> Span,
) {
    let prints_keys = |key: Option<&str>| !matches!(key, Some("labels" | "annotations" | "metadata"));
    source.may_have_more_keys |= around.outputs_in(whole).any(|it| prints_keys(it.key.as_deref()));
    source.may_have_more_keys |= source.keys.iter().any(|it| has_placeholder(&it.key.value));
    source.keys.retain(|it| !has_placeholder(&it.key.value));
    for key in &mut source.keys {
        let span = key.value_span.map(file_span);
        let has_lines = span.is_some_and(|span| around.lines.iter().any(|it| within(*it, &span)));
        if has_lines || key.value.as_deref().is_some_and(has_placeholder) {
            key.value = None;
        }
    }
}

/// Whether an action may define further variables of a container.
fn may_gain_variables(
    container: &Container,
    own: Span,
    around: &ActionsAround<'_>,
    file_span: &dyn Fn(ObjectSpan) -> Span,
) -> bool {
    let is_env = |key: Option<&str>| matches!(key, None | Some("env" | "envFrom"));
    let prints = around.outputs_in(own).any(|it| is_env(it.key.as_deref()));
    let is_hole = |span: ObjectSpan| around.text.get(file_span(span).range()).is_some_and(has_placeholder);
    let masked_entry = |it: &EnvVar| it.name.is_none() && is_hole(it.span);
    let masked_list = container.env.is_empty() && container.env_span.is_some_and(is_hole);
    let masked_source = container.env_from.iter().any(|it| it.source.is_none() && is_hole(it.span));
    prints || masked_list || masked_source || container.env.iter().any(masked_entry)
}

/// Makes the value of an entry unknown if an action on a separate line produces it. Without this it would be empty.
fn mark_unknown_value(entry: &mut EnvVar, own: Span, around: &ActionsAround<'_>) {
    if entry.value.is_none() && entry.from.is_none() && around.outputs_in(own).next().is_some() {
        let mut value = String::new();
        push_helm_placeholder(&mut value);
        entry.value = Some(Text { value: value.into(), span: entry.span, style: ScalarStyle::Plain, is_string: true });
    }
}
