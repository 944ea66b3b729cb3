//! Completion of values: names and keys of objects, field paths, resources, volumes, names of variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::build::{ENV_FIELDS, ENV_RESOURCES};
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::features::completion::context::{TypedValue, ValueKind};
use crate::ide::features::completion::presets::{OPERATORS, labels, undefined_names};
use crate::ide::features::completion::variables::{binding_detail, service_variables};
use crate::ide::features::completion::{Completion, CompletionDetails, CompletionItem, CompletionKind};
use crate::ide::features::hover;
use crate::ide::shared::describe::short_value;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::named_objects::{key_value, object_keys, objects_named};
use crate::ide::shared::preset_workloads::future_recipients;
use crate::k8s::{ParameterType, Pod, Text, VariableScope, Volume};
use crate::resolve::{EnvFile, EnvFileLookup, EnvFiles, Environment, Lookup, OriginKind, PodVolumes};
use crate::syntax::{dollar_tokens, has_placeholder, parse};

/// The maximum length of a value in a detail, in characters.
const LONGEST: usize = 60;
/// The maximum number of names in a list, and of names that show their file.
const MOST: usize = 500;
const MOST_WITH_FILE: usize = 100;

/// The items for a value.
pub(super) fn items(analysis: &Analysis<'_>, value: &TypedValue<'_>) -> Completion {
    let mut list = ItemList { value, completion: Completion::default() };
    match &value.kind {
        ValueKind::Object { object, kind } => {
            let site = object.lookup_site();
            let names = match kind {
                OriginKind::Secret => analysis.snapshot.secret_names(site),
                OriginKind::Service => analysis.snapshot.service_names(site),
                _ => analysis.snapshot.config_map_names(site),
            };
            for (at, name) in names.iter().enumerate().take(MOST) {
                let file = || objects_named(*kind, name, *object).first().map(|it| it.object.file.to_string());
                list.push(name, CompletionKind::Object, (at < MOST_WITH_FILE).then(file).flatten(), 0);
            }
            list.completion.is_incomplete = names.len() > MOST;
        }
        ValueKind::Key { object, kind, name } => {
            let reveal = analysis.reveals(object.file);
            let mut known: BTreeMap<&str, Option<String>> = BTreeMap::new();
            let candidates = objects_named(*kind, name, *object);
            for key in candidates.iter().flat_map(|it| object_keys(it.object)) {
                let preview = key_value(*kind, name, key).map(|it| short_value(&it, reveal, LONGEST));
                known.entry(&key.key.value).or_insert(preview);
            }
            for (key, preview) in known.into_iter().take(MOST) {
                list.push(key, CompletionKind::Key, preview, 0);
            }
        }
        ValueKind::FieldPath { at } => {
            for path in field_paths(at.pod) {
                let value = analysis.resolver.field_value(at.handle(), &path);
                let shown = short_value(&value, false, LONGEST);
                list.push(&path, CompletionKind::Field, Some(shown), u8::from(path.contains('[')));
            }
        }
        ValueKind::Resource { at } => {
            let shown = |list: &[(crate::k8s::Text, crate::k8s::Text)], name: &str| {
                list.iter().find(|(key, _)| &*key.value == name).map(|(_, it)| it.value.to_string())
            };
            for resource in ENV_RESOURCES {
                let detail = match resource.split_once('.') {
                    Some(("limits", name)) => shown(&at.container.limits, name),
                    Some((_, name)) => shown(&at.container.requests, name),
                    None => None,
                };
                list.push(resource, CompletionKind::Field, detail, 0);
            }
        }
        ValueKind::ContainerName { pod } => {
            for name in pod.containers.iter().filter_map(|it| it.name.as_ref()) {
                list.push(&name.value, CompletionKind::Name, None, 0);
            }
        }
        ValueKind::Volume { pod } => {
            for volume in &pod.volumes {
                let kind = volume.kind.as_ref().map(|it| it.value.to_string());
                if let Some(name) = &volume.name {
                    list.push(&name.value, CompletionKind::Name, kind, 0);
                }
            }
        }
        ValueKind::EnvFileVolume { at } => env_file_volumes(analysis, at, &mut list),
        ValueKind::FilePath { at, volume } => {
            for path in env_files(analysis, at).paths(volume) {
                list.push(&path, CompletionKind::Name, Some(format!("in volume {volume}")), 0);
            }
        }
        ValueKind::EnvFileKey { at, volume, path } => {
            let reading = analysis.resolver.env_file_syntax(&at.file);
            if let EnvFile::Written(content) = env_files(analysis, at).file(volume, path) {
                let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
                for (name, _) in content.names(reading) {
                    let preview = match content.find(&name, reading) {
                        EnvFileLookup::Value(value, _) => {
                            Some(short_value(&value, analysis.reveals(&at.file), LONGEST))
                        }
                        _ => None,
                    };
                    known.entry(name).or_insert(preview);
                }
                for (name, preview) in known.into_iter().take(MOST) {
                    list.push(&name, CompletionKind::Key, preview, 0);
                }
            }
        }
        ValueKind::Operator => {
            for (operator, detail) in OPERATORS {
                list.push(operator, CompletionKind::Value, Some(detail.into()), 0);
            }
        }
        ValueKind::ParameterType => {
            for type_ in ParameterType::ALL {
                list.push(type_.name(), CompletionKind::Value, Some(type_.description().into()), 0);
            }
        }
        ValueKind::Generator => {
            let detail = "random text, such as `[a-zA-Z0-9]{16}` in `from`";
            list.push("expression", CompletionKind::Value, Some(detail.into()), 0);
        }
        ValueKind::LabelKey { object } => {
            for (key, values) in labels(analysis, *object).iter().take(MOST) {
                let values: Vec<&str> = values.iter().take(4).map(|it| &**it).collect();
                list.push(key, CompletionKind::Key, Some(values.join(", ")), 0);
            }
        }
        ValueKind::LabelValue { object, key } => {
            for value in labels(analysis, *object).get(&**key).into_iter().flatten().take(MOST) {
                list.push(value, CompletionKind::Name, Some(format!("pod label {key}")), 0);
            }
        }
        ValueKind::Variable { at, index } => variables(analysis, at, *index, &mut list),
    }
    list.completion
}

/// The documentation of an item.
pub(super) fn details(analysis: &Analysis<'_>, value: &TypedValue<'_>, label: &str) -> Option<CompletionDetails> {
    let documentation = match &value.kind {
        ValueKind::Object { object, kind } => hover::objects::object_markup(analysis, *object, *kind, label),
        ValueKind::Key { object, kind, name } => hover::objects::key_markup(analysis, *object, *kind, name, label),
        ValueKind::Variable { at, .. } => {
            let environment = at.environment(analysis);
            match environment.lookup(VariableScope::All, label) {
                Lookup::Bound(_) => hover::variable_markup(analysis, at, &environment, VariableScope::All, label),
                _ => None,
            }
        }
        ValueKind::FieldPath { .. }
        | ValueKind::Resource { .. }
        | ValueKind::ContainerName { .. }
        | ValueKind::Volume { .. }
        | ValueKind::EnvFileVolume { .. }
        | ValueKind::FilePath { .. }
        | ValueKind::Operator
        | ValueKind::ParameterType
        | ValueKind::Generator
        | ValueKind::LabelKey { .. }
        | ValueKind::LabelValue { .. }
        | ValueKind::EnvFileKey { .. } => None,
    };
    Some(CompletionDetails { documentation, additional_edits: Vec::new() })
}

/// The volumes that can hold an env file, also those of presets: first those that contain files, then those that
/// another container mounts. Other volumes would be rejected (V13).
fn env_file_volumes(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, list: &mut ItemList<'_, '_>) {
    let mut found: BTreeMap<Arc<str>, u8> = BTreeMap::new();
    let mut add = |at: &LocatedContainer<'_>| {
        for (group, name) in env_file_volumes_of(analysis, at) {
            let known = found.entry(name).or_insert(group);
            *known = group.min(*known);
        }
    };
    add(at);
    if at.is_preset() {
        future_recipients(analysis, at, None).iter().for_each(|it| add(&it.at));
    }
    let mut found: Vec<(u8, Arc<str>)> = found.into_iter().map(|(name, group)| (group, name)).collect();
    found.sort();
    for (group, name) in found {
        list.push(&name, CompletionKind::Name, Some("emptyDir".into()), group);
    }
}

/// The volumes of a pod that can hold an env file, each with its group in the list.
fn env_file_volumes_of(analysis: &Analysis<'_>, at: &LocatedContainer<'_>) -> Vec<(u8, Arc<str>)> {
    let files = env_files(analysis, at);
    let admission = analysis.resolver.admission(at.handle().in_pod());
    let volumes = PodVolumes::new(at.pod, admission.as_ref());
    let is_empty_dir = |it: &&Volume| it.kind.as_ref().is_none_or(|it| &*it.value == "emptyDir");
    let mut found: Vec<(u8, Arc<str>)> = Vec::new();
    for name in volumes.volumes().iter().map(|it| it.volume).filter(is_empty_dir).filter_map(|it| it.name.as_ref()) {
        let is_it = |it: &Option<Text>| it.as_ref().is_some_and(|it| it.value == name.value);
        let group = match files.paths(&name.value).is_empty() {
            false => 0,
            true if volumes.all_mounts().any(|it| is_it(&it.name)) => 1,
            true => 2,
        };
        found.push((group, Arc::clone(&name.value)));
    }
    found
}

/// The env files that a container can read.
fn env_files(analysis: &Analysis<'_>, at: &LocatedContainer<'_>) -> EnvFiles {
    analysis.resolver.env_files(at.handle())
}

/// Names for an entry of `env`: undefined names first, then variables that the entry would hide.
fn variables(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, index: usize, list: &mut ItemList<'_, '_>) {
    if at.is_preset() {
        // Undefined names in the containers that the preset applies to.
        let own: Vec<&str> = at.container.env.iter().filter_map(|it| Some(&*it.name.as_ref()?.value)).collect();
        for (name, detail) in undefined_names(analysis, at).into_iter().filter(|(name, _)| !own.contains(&&**name)) {
            list.push(&name, CompletionKind::Variable, Some(detail), 0);
        }
        return;
    }
    let environment: Environment = at.environment(analysis);
    let reveal = analysis.reveals(&at.file);
    let declared = |name: &str| {
        let mut others = at.container.env.iter().enumerate().filter(|(at, _)| *at != index);
        others.any(|(_, it)| it.name.as_ref().is_some_and(|it| &*it.value == name))
    };
    let is_own = |location: &Location| at.entry_at(location).is_some_and(|(it, _)| it == index);
    let mut undefined: Vec<&str> = Vec::new();
    for (field, text) in at.container.texts() {
        let Some(site) = field.variable_scope().filter(|_| !at.is_script(&environment, field)) else { continue };
        for name in dollar_tokens(&text.value).filter_map(|it| it.name(&text.value)) {
            let is_undefined = match environment.lookup(site, name) {
                Lookup::Unbound | Lookup::Later(_) => true,
                // The entry that is being typed.
                Lookup::Bound(it) => it.hides.is_empty() && it.origin.location.as_ref().is_some_and(is_own),
                Lookup::Maybe(_) => false,
            };
            if is_undefined
                && !declared(name)
                && crate::resolve::is_strict_variable_name(name)
                && !undefined.contains(&name)
            {
                undefined.push(name);
            }
        }
    }
    for name in &undefined {
        list.push(name, CompletionKind::Variable, Some("referenced, not declared".into()), 0);
    }
    let typed = analysis.file_text(&at.file).map(|it| it.text()[list.value.replace.range()].to_owned());
    let (services, is_incomplete) = service_variables(&environment, &typed.unwrap_or_default());
    let sources =
        environment.own_bindings().into_iter().filter(|it| it.origin.kind != OriginKind::Env && it.entry.is_some());
    for binding in sources.chain(services) {
        let name = &*binding.name;
        if !declared(name) && !undefined.contains(&name) && !has_placeholder(name) && !is_declared_here(at, index, name)
        {
            // Service variables come last, those of the service `kubernetes` at the end, as after `$(`.
            let group = match (binding.origin.kind, &binding.origin.location) {
                (OriginKind::Service, None) => 3,
                (OriginKind::Service, Some(_)) => 2,
                _ => 1,
            };
            list.push(
                name,
                CompletionKind::Variable,
                Some(format!("hides {}", binding_detail(binding, reveal))),
                group,
            );
        }
    }
    list.completion.is_incomplete = is_incomplete;
}

/// Whether a variable comes from the entry that is being typed.
fn is_declared_here(at: &LocatedContainer<'_>, index: usize, name: &str) -> bool {
    let entry = at.container.env.get(index);
    entry.is_some_and(|it| it.from.is_some() && it.name.as_ref().is_some_and(|it| &*it.value == name))
}

fn field_paths(pod: &Pod) -> Vec<Arc<str>> {
    let fixed = ENV_FIELDS.iter().map(|it| Arc::from(*it));
    let labels = pod.labels.iter().map(|(key, _)| format!("metadata.labels['{}']", key.value).into());
    let annotations = pod.annotations.iter().map(|(key, _)| format!("metadata.annotations['{}']", key.value).into());
    fixed.chain(labels).chain(annotations).collect()
}

struct ItemList<'l, 's> {
    value: &'l TypedValue<'s>,
    completion: Completion,
}

impl ItemList<'_, '_> {
    fn push(&mut self, name: &str, kind: CompletionKind, detail: Option<String>, group: u8) {
        if has_placeholder(name) {
            return;
        }
        let value = self.value;
        let text = if value.is_quoted || is_plain(name, value.is_flow) {
            name.to_owned()
        } else {
            serde_json::to_string(name).unwrap_or_default()
        };
        self.completion.items.push(CompletionItem {
            label: name.into(),
            kind,
            detail,
            replace: value.replace,
            text: format!("{}{text}{}", value.before, value.after),
            filter_text: name.into(),
            sort_text: format!("{group}{name}"),
            has_edits: false,
        });
    }
}

/// Whether a text without quotes is read as the same string.
fn is_plain(text: &str, is_flow: bool) -> bool {
    if is_flow && text.contains([',', '[', ']', '{', '}']) {
        return false;
    }
    let tree = parse(text);
    let root = tree.documents().next().and_then(|it| it.root());
    tree.errors().is_empty() && root.is_some_and(|it| it.string() == Some(text))
}
