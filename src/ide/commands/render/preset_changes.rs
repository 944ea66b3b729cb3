//! The changes of PodPresets to a pod, as data and as edits of its text.

use crate::build::{Admission, BuiltContainer, BuiltObject, BuiltPod, ContainerChanges, MatchingPreset, PresetEntry};
use crate::ide::commands::render::{RenderedText, Renderer, node_of};
use crate::k8s::{Container, Pod, Text, VariableScope};
use crate::resolve::{Environment, Lookup, ResolvedValue};
use crate::syntax::{InsertPosition, Node, TextEdit, Tree, YamlValue, add_entries, add_items, has_placeholder};
use crate::text::Span;

/// A placeholder for the value of the annotation that a preset adds, unless the preset shows it: the cluster sets it.
const RESOURCE_VERSION: &str = "resource version";

/// The changes of presets to a pod.
pub(super) struct PresetChanges<'a> {
    object: BuiltObject<'a>,
    pod: &'a Pod,
    annotations: Vec<(String, YamlValue)>,
    volumes: Vec<YamlValue>,
    keeps_volumes: bool,
    containers: Vec<(&'a Container, ContainerLists)>,
}

/// The items added to the lists of a container, and the lists that it loses.
#[derive(Default)]
struct ContainerLists {
    added: Vec<(&'static str, Vec<YamlValue>)>,
    lost: Vec<&'static str>,
}

impl<'a> PresetChanges<'a> {
    /// The changes to a pod; `None` if presets do not change it.
    pub(super) fn of(renderer: &Renderer<'_>, of: BuiltPod<'a>) -> Option<Self> {
        let BuiltPod { object, pod } = of;
        let admission = renderer.resolver.admission(of)?;
        if !admission.changes_something() {
            return None;
        }
        let nodes = PresetEntries { renderer, presets: &admission.presets };
        let applied = admission.presets.iter().filter(|it| it.applied && !it.has_generated_name());
        let annotations = applied.map(|it| (it.annotation.clone(), resource_version(it))).collect();
        let volume = |it: &PresetEntry| nodes.item(*it, "volumes", &|_| None);
        let mut containers = Vec::new();
        for (container, effect) in pod.containers.iter().zip(&admission.containers) {
            let environment = renderer.resolver.environment(BuiltContainer { object, pod, container });
            containers.push((&**container, lists(&admission, &nodes, effect, &environment)));
        }
        let volumes = admission.volumes.iter().filter_map(volume).collect();
        Some(Self { object, pod, annotations, volumes, keeps_volumes: admission.keeps_volumes, containers })
    }

    /// Applies the changes to the data of the object.
    pub(super) fn apply(&self, document: &mut YamlValue) {
        for (container, lists) in &self.containers {
            let Some(it) = value_at(document, &container.path) else { continue };
            for name in &lists.lost {
                remove(it, name);
            }
            for (name, items) in &lists.added {
                extend(it, name, items);
            }
        }
        if let Some(spec) = value_at(document, &self.pod.path) {
            if !self.keeps_volumes {
                remove(spec, "volumes");
            }
            extend(spec, "volumes", &self.volumes);
        }
        if self.annotations.is_empty() {
            return;
        }
        let holder = self.pod.path.rsplit_once('.').map_or("", |(holder, _)| holder);
        let template = if holder.is_empty() { Some(document) } else { value_at(document, holder) };
        let metadata = template.and_then(|it| it.entry_or_insert("metadata", YamlValue::Map(Vec::new())));
        if let Some(YamlValue::Map(all)) =
            metadata.and_then(|it| it.entry_or_insert("annotations", YamlValue::Map(Vec::new())))
        {
            all.extend(self.annotations.iter().cloned());
        }
    }

    /// The changes as edits of the object's text, inner edits before outer ones.
    pub(super) fn edits(&self, text: &str, tree: &Tree) -> Vec<TextEdit> {
        let mut edits = Vec::new();
        let Some(root) = node_of(tree, self.object) else { return edits };
        for (container, lists) in &self.containers {
            if let Some(node) = node_at(root, &container.path) {
                edits.extend(lists.lost.iter().filter_map(|name| remove_entry(text, node, name)));
                add_to_lists(text, node, &lists.added, &mut edits);
            }
        }
        if let Some(spec) = node_at(root, &self.pod.path) {
            if !self.keeps_volumes {
                edits.extend(remove_entry(text, spec, "volumes"));
            }
            add_to_lists(text, spec, &[("volumes", self.volumes.clone())], &mut edits);
        }
        let holder = self.pod.path.rsplit_once('.').map_or("", |(holder, _)| holder);
        let template = if holder.is_empty() { Some(root) } else { node_at(root, holder) };
        let template = template.filter(|_| !self.annotations.is_empty());
        edits.extend(template.and_then(|it| self.annotated(text, it)));
        edits
    }

    fn annotated(&self, text: &str, template: Node<'_>) -> Option<TextEdit> {
        let annotations = YamlValue::Map(self.annotations.clone());
        match template.get("metadata") {
            Some(metadata) => match metadata.get("annotations") {
                Some(all) => add_entries(text, all, &self.annotations),
                None => add_entries(text, metadata, &[("annotations".into(), annotations)]),
            },
            None => {
                let metadata = YamlValue::Map(vec![("annotations".into(), annotations)]);
                add_entries(text, template, &[("metadata".into(), metadata)])
            }
        }
    }
}

/// The value of the annotation that a preset adds (X8).
fn resource_version(matched: &MatchingPreset<'_>) -> YamlValue {
    let known = matched.preset().and_then(|it| it.resource_version.as_ref());
    let known = known.map(|it| &*it.value).filter(|it| !it.is_empty() && !has_placeholder(it));
    YamlValue::Quoted(known.unwrap_or(RESOURCE_VERSION).into())
}

fn lists(
    admission: &Admission<'_>,
    nodes: &PresetEntries<'_>,
    effect: &ContainerChanges,
    environment: &Environment<'_>,
) -> ContainerLists {
    let mut lists = ContainerLists::default();
    for (name, keeps) in
        [("env", effect.keeps_env), ("envFrom", effect.keeps_env_from), ("volumeMounts", effect.keeps_mounts)]
    {
        if !keeps {
            lists.lost.push(name);
        }
    }
    let env = effect.env.iter().filter_map(|it| {
        let (_, entry) = admission.env(*it)?;
        let value = entry.value.as_ref().filter(|it| it.value.contains('$'));
        let binding = match environment.lookup(VariableScope::All, &entry.name.as_ref()?.value) {
            Lookup::Bound(binding) => Some(binding),
            _ => None,
        };
        let shown = value.zip(binding).map(|(text, binding)| expanded_scalar(text, &binding.value));
        nodes.item(*it, "env", &|path| if path == "value" { shown.clone() } else { None })
    });
    lists.added.push(("env", env.collect()));
    let sources = effect.env_from.iter().filter_map(|it| nodes.item(*it, "envFrom", &|_| None));
    lists.added.push(("envFrom", sources.collect()));
    let mut sub_paths = environment.sub_paths.iter().filter(|it| it.within.is_some());
    let mounts = effect.mounts.iter().filter_map(|it| {
        let (_, mount) = admission.mount(*it)?;
        let expanded = mount.sub_path_expr.as_ref().and_then(|_| sub_paths.next());
        let shown = expanded.map(|it| expanded_scalar(&it.item.text, &it.item.expansion.value));
        nodes.item(*it, "volumeMounts", &|path| if path == "subPathExpr" { shown.clone() } else { None })
    });
    lists.added.push(("volumeMounts", mounts.collect()));
    lists
}

fn expanded_scalar(text: &Text, value: &ResolvedValue) -> YamlValue {
    RenderedText { path: String::new(), text: text.clone(), value: value.clone() }.scalar()
}

/// The entries of presets as data.
struct PresetEntries<'p> {
    renderer: &'p Renderer<'p>,
    presets: &'p [MatchingPreset<'p>],
}

impl PresetEntries<'_> {
    /// An entry of a preset, with the scalars that `scalar` returns replaced.
    fn item(&self, added: PresetEntry, list: &str, scalar: &dyn Fn(&str) -> Option<YamlValue>) -> Option<YamlValue> {
        let preset = self.presets.get(added.preset)?;
        let prefix = format!("spec.{list}[{}].", added.entry);
        let mut whole = self.renderer.built_value(preset.object, &|path| scalar(path.strip_prefix(&*prefix)?))?;
        let YamlValue::List(items) = whole.get_mut("spec")?.get_mut(list)? else { return None };
        items.get(added.entry).cloned()
    }
}

/// The steps of a path such as `containers[0]`: the key and the index after it.
fn steps(path: &str) -> impl Iterator<Item = (&str, Option<usize>)> {
    path.split('.').map(|step| {
        let indexed = step.strip_suffix(']').and_then(|it| it.split_once('['));
        indexed.map_or((step, None), |(key, index)| (key, index.parse().ok()))
    })
}

/// The value at a path.
fn value_at<'p>(root: &'p mut YamlValue, path: &str) -> Option<&'p mut YamlValue> {
    let mut here = root;
    for (key, index) in steps(path) {
        here = here.get_mut(key)?;
        if let Some(index) = index {
            let YamlValue::List(items) = here else { return None };
            here = items.get_mut(index)?;
        }
    }
    Some(here)
}

/// The node at a path; `None` if it has an anchor or is an alias.
fn node_at<'t>(root: Node<'t>, path: &str) -> Option<Node<'t>> {
    let own = |node: Node<'t>| (node.anchor().is_none() && node.alias().is_none()).then_some(node);
    let mut here = root;
    for (key, index) in steps(path) {
        here = own(here.get(key)?)?;
        if let Some(index) = index {
            here = own(here.items().nth(index)?)?;
        }
    }
    Some(here)
}

fn remove(mapping: &mut YamlValue, key: &str) {
    if let YamlValue::Map(entries) = mapping {
        entries.retain(|(it, _)| it != key);
    }
}

fn extend(mapping: &mut YamlValue, key: &str, items: &[YamlValue]) {
    if items.is_empty() {
        return;
    }
    if let Some(YamlValue::List(list)) = mapping.entry_or_insert(key, YamlValue::List(Vec::new())) {
        list.extend(items.iter().cloned());
    }
}

/// Adds items to the lists of a mapping, and the lists that do not exist.
fn add_to_lists(text: &str, node: Node<'_>, lists: &[(&str, Vec<YamlValue>)], edits: &mut Vec<TextEdit>) {
    let mut missing = Vec::new();
    for (name, items) in lists.iter().filter(|(_, items)| !items.is_empty()) {
        match node.get(name) {
            Some(list) => edits.extend(add_items(text, list, items, InsertPosition::Last)),
            None => missing.push(((*name).to_owned(), YamlValue::List(items.clone()))),
        }
    }
    edits.extend(add_entries(text, node, &missing));
}

/// The edit that removes the lines of an entry, if no other entry is on them.
fn remove_entry(text: &str, node: Node<'_>, key: &str) -> Option<TextEdit> {
    let (key, value) = node.entry(key)?;
    let line = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let start = line(key.span().start);
    let end = value.map_or(key.span().end, |it| it.span().end);
    let last = key.span().start + text[key.span().start..end].trim_end().len();
    let end = text[last..].find('\n').map_or(text.len(), |len| last + len + 1);
    let starts_line = text[start..key.span().start].bytes().all(|it| it == b' ');
    starts_line.then(|| TextEdit { span: Span::new(start, end), text: String::new() })
}
