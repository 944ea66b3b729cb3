//! Go to definition: the declarations of the item under the cursor.

use std::sync::Arc;

use crate::build::BuiltObject;
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::cursor::{CursorTarget, target_at};
use crate::ide::shared::describe::origin_location;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::named_objects::objects_named;
use crate::ide::shared::preset_workloads::{preset_entry_at, preset_entry_of, recipients, selected_workloads};
use crate::ide::shared::symbol::{ObjectKey, Symbol, key_at, object_at, source_keys, symbol_of};
use crate::k8s::{ContainerField, EnvVar, ObjectSpan, VariableScope};
use crate::resolve::{Binding, Lookup, Origin, OriginKind};
use crate::rules::env_file_readers;
use crate::text::Span;

/// The declarations of the item under the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Navigation {
    /// The span of the item.
    pub origin: Span,
    /// The declarations, the best match first.
    pub targets: Vec<NavigationTarget>,
}

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NavigationTarget {
    /// The whole declaration, such as an entry of `env`.
    pub full: Location,
    /// The part to place the cursor on, such as the name; within `full`.
    pub focus: Location,
}

/// The declarations of the item at an offset.
pub fn definition(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Option<Navigation> {
    let found = target_at(analysis, file, offset)?;
    let targets = targets(analysis, &found.target);
    (!targets.is_empty()).then_some(Navigation { origin: found.span, targets })
}

fn targets(analysis: &Analysis<'_>, target: &CursorTarget<'_>) -> Vec<NavigationTarget> {
    match target {
        // From the name of an entry to the source of its value: the entry itself, or the key that `valueFrom` names.
        CursorTarget::Variable { at, index } => {
            let environment = at.environment(analysis);
            let bound = environment.entry(*index).map(|it| of_binding(analysis, at, it)).unwrap_or_default();
            if bound.is_empty() { entry(at, *index).into_iter().collect() } else { bound }
        }
        CursorTarget::Reference { .. } | CursorTarget::ShellReference { .. } => {
            let (at, site, name) = match target {
                CursorTarget::Reference { at, field: ContainerField::EnvValue(index), name, .. } if at.is_preset() => {
                    return of_preset(analysis, at, *index, name);
                }
                CursorTarget::Reference { at, field, name, .. } => (at, field.variable_scope(), name),
                CursorTarget::ShellReference { at, name } => (at, None, name),
                _ => return Vec::new(),
            };
            let environment = at.environment(analysis);
            match environment.lookup(site.unwrap_or(VariableScope::All), name) {
                Lookup::Bound(binding) => declared(analysis, at, &binding),
                Lookup::Later(origin) => of_origin(analysis, at, &origin).into_iter().collect(),
                Lookup::Unbound | Lookup::Maybe(_) => {
                    let named = |it: &EnvVar| it.name.as_ref().is_some_and(|it| &*it.value == *name);
                    at.container.env.iter().position(named).and_then(|it| entry(at, it)).into_iter().collect()
                }
            }
        }
        CursorTarget::Object { at, kind, name, .. } => {
            let found = objects_named(*kind, &name.value, at.object);
            found.iter().map(|it| object(it.object)).collect()
        }
        CursorTarget::VolumeSource { object: user, kind, name, key: None } => {
            let found = objects_named(*kind, &name.value, *user);
            found.iter().map(|it| object(it.object)).collect()
        }
        CursorTarget::KeyUse { .. } | CursorTarget::Key { .. } | CursorTarget::VolumeSource { .. } => {
            match symbol_of(analysis, target) {
                Some(Symbol::Key(keys)) => keys.iter().map(key).collect(),
                _ => Vec::new(),
            }
        }
        CursorTarget::Dependency { object: user, name } => {
            let found = objects_named(OriginKind::Service, &name.value, *user);
            found.iter().map(|it| object(it.object)).collect()
        }
        CursorTarget::Selector { object: it } => {
            selected_workloads(analysis, *it).iter().map(|it| object(it.object)).collect()
        }
        CursorTarget::ObjectName { object: it, .. } | CursorTarget::Workload { object: it } => vec![object(*it)],
        CursorTarget::Volume { object, pod, name } => {
            let all = pod.volumes.iter().filter_map(|it| Some((it.span, it.name.as_ref()?)));
            let same = all.filter(|(_, it)| it.value == name.value);
            same.map(|(full, name)| pair(*object, full, name.span)).collect()
        }
        CursorTarget::Container { at, name } => {
            let all = at.pod.containers.iter().filter_map(|it| Some((it.span, it.name.as_ref()?)));
            let same = all.filter(|(_, it)| it.value == name.value);
            same.map(|(full, name)| pair(at.object, full, name.span)).collect()
        }
        CursorTarget::Parameter(it) => {
            let object = it.as_written(analysis, it.object);
            let mut all: Vec<_> = it.declarations().map(|(full, name)| pair(object, full.span, name.span)).collect();
            // The last declaration is used.
            all.reverse();
            all
        }
        // The line of the script that writes the key. A field or resource has no declaration.
        CursorTarget::Source { at, index } | CursorTarget::EnvFileKey { at, index } => {
            let environment = at.environment(analysis);
            let written = environment.entry(*index).filter(|it| it.origin.inside.is_some());
            written.map(|it| of_binding(analysis, at, it)).unwrap_or_default()
        }
        CursorTarget::EnvFileEntry { file, name, .. } => {
            let readers = env_file_readers(analysis.snapshot, file).into_iter().filter(|it| *it.key == **name);
            readers.map(|it| NavigationTarget { full: it.location.clone(), focus: it.location }).collect()
        }
        CursorTarget::Escape { .. } | CursorTarget::Rule(_) => Vec::new(),
    }
}

/// The entry that declares a variable, in the container or in a preset; otherwise the source of its value.
fn declared(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, binding: &Binding) -> Vec<NavigationTarget> {
    if let Some((index, _)) = binding.entry.as_ref().and_then(|it| at.entry_at(it)) {
        return entry(at, index).into_iter().collect();
    }
    match preset_entry_of(analysis, binding) {
        Some((at, index)) => entry(&at, index).into_iter().collect(),
        None => of_binding(analysis, at, binding),
    }
}

/// The declarations for a reference in a value of a preset, in each container that the preset applies to.
fn of_preset(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, index: usize, name: &str) -> Vec<NavigationTarget> {
    let mut all: Vec<NavigationTarget> = Vec::new();
    for recipient in recipients(analysis, at, Some(index)) {
        let step = recipient.binding.as_ref().and_then(|it| it.steps.iter().find(|it| &*it.name == name));
        if let Some(Lookup::Bound(binding)) = step.map(|it| &it.outcome) {
            all.extend(declared(analysis, &recipient.at, binding));
        }
    }
    if all.is_empty()
        && let Lookup::Bound(binding) = at.environment(analysis).lookup(VariableScope::EarlierEntries(index), name)
    {
        all = declared(analysis, at, &binding);
    }
    all.sort_by(|a, b| a.focus.cmp(&b.focus));
    all.dedup();
    all
}

/// The sources of a variable's value.
fn of_binding(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, binding: &Binding) -> Vec<NavigationTarget> {
    let keys = source_keys(at, binding);
    if !keys.is_empty() {
        return keys.iter().map(key).collect();
    }
    match binding.alternatives.as_slice() {
        [] => of_origin(analysis, at, &binding.origin).into_iter().collect(),
        several => several.iter().filter_map(|(_, it)| of_origin(analysis, at, it)).collect(),
    }
}

fn of_origin(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, origin: &Origin) -> Option<NavigationTarget> {
    let location = origin.location.as_ref()?;
    if let Some(focus) = origin.inside.as_ref().and_then(|_| origin_location(analysis, origin)) {
        return Some(NavigationTarget { full: focus.clone(), focus });
    }
    if let Some((index, _)) = at.entry_at(location) {
        return entry(at, index);
    }
    if let Some((at, index)) = preset_entry_at(analysis, location) {
        return entry(&at, index);
    }
    if let Some(found) = key_at(analysis, origin.kind, location) {
        return Some(key(&found));
    }
    if let Some(it) = object_at(analysis, location) {
        return Some(object(it));
    }
    Some(NavigationTarget { full: location.clone(), focus: location.clone() })
}

/// An entry of `env`.
fn entry(at: &LocatedContainer<'_>, index: usize) -> Option<NavigationTarget> {
    let it = at.container.env.get(index)?;
    Some(pair(at.object, it.span, it.name.as_ref()?.span))
}

fn key(key: &ObjectKey<'_>) -> NavigationTarget {
    let object = key.of.object;
    let focus = object.location(key.key.key.span);
    let value = key.key.value_span.map(|it| object.location(it)).filter(|it| it.file == focus.file);
    let end = value.map_or(focus.span.end, |it| it.span.end.max(focus.span.end));
    let full = Location { span: Span::new(focus.span.start, end), ..focus.clone() };
    NavigationTarget { full, focus }
}

fn object(object: BuiltObject<'_>) -> NavigationTarget {
    let name = object.model.reference_name_text().map_or(object.model.span, |it| it.span);
    pair(object, object.model.span, name)
}

/// A target from spans of an object. If an alias puts the focus outside of the declaration, the focus alone.
fn pair(object: BuiltObject<'_>, full: ObjectSpan, focus: ObjectSpan) -> NavigationTarget {
    let (full, focus) = (object.location(full), object.location(focus));
    let is_inside = full.file == focus.file && full.span.start <= focus.span.start && focus.span.end <= full.span.end;
    NavigationTarget { full: if is_inside { full } else { focus.clone() }, focus }
}
