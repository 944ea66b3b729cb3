//! Go to definition: the declarations of the item under the cursor.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::cursor::{CursorTarget, target_at};
use crate::ide::shared::describe::origin_location;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::named_objects::objects_named;
use crate::ide::shared::preset_workloads::{preset_entry_at, preset_entry_of, recipients, selected_workloads};
use crate::ide::shared::symbol::{ObjectKey, Symbol, key_at, object_at, source_keys, symbol_of};
use crate::k8s::{ContainerField, EnvVar, Object, VariableScope};
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
            let found = objects_named(analysis, *kind, &name.value, &at.file, at.object);
            found.iter().map(|it| object(it.file, it.object)).collect()
        }
        CursorTarget::VolumeSource { file, object: user, kind, name, key: None } => {
            let found = objects_named(analysis, *kind, &name.value, file, user);
            found.iter().map(|it| object(it.file, it.object)).collect()
        }
        CursorTarget::KeyUse { .. } | CursorTarget::Key { .. } | CursorTarget::VolumeSource { .. } => {
            match symbol_of(analysis, target) {
                Some(Symbol::Key(keys)) => keys.iter().map(key).collect(),
                _ => Vec::new(),
            }
        }
        CursorTarget::Dependency { file, object: user, name } => {
            let found = objects_named(analysis, OriginKind::Service, &name.value, file, user);
            found.iter().map(|it| object(it.file, it.object)).collect()
        }
        CursorTarget::Selector { file, object: it } => {
            selected_workloads(analysis, file, it).iter().map(|it| object(&it.file, it.object)).collect()
        }
        CursorTarget::ObjectName { file, object: it, .. } | CursorTarget::Workload { file, object: it } => {
            vec![object(file, it)]
        }
        CursorTarget::Volume { file, object, pod, name } => {
            let all = pod.volumes.iter().filter_map(|it| Some((it.span, it.name.as_ref()?)));
            let same = all.filter(|(_, it)| it.value == name.value);
            same.map(|(full, name)| pair(file, object, full, name.span)).collect()
        }
        CursorTarget::Container { at, name } => {
            let all = at.pod.containers.iter().filter_map(|it| Some((it.span, it.name.as_ref()?)));
            let same = all.filter(|(_, it)| it.value == name.value);
            same.map(|(full, name)| pair(&at.file, at.object, full, name.span)).collect()
        }
        CursorTarget::Parameter(it) => {
            let mut all: Vec<_> =
                it.declarations().map(|(full, name)| pair(&it.file, it.object, full.span, name.span)).collect();
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
    let keys = source_keys(analysis, at, binding);
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
    if let Some((file, it)) = object_at(analysis, location) {
        return Some(object(&file, it));
    }
    Some(NavigationTarget { full: location.clone(), focus: location.clone() })
}

/// An entry of `env`.
fn entry(at: &LocatedContainer<'_>, index: usize) -> Option<NavigationTarget> {
    let it = at.container.env.get(index)?;
    Some(pair(&at.file, at.object, it.span, it.name.as_ref()?.span))
}

fn key(key: &ObjectKey<'_>) -> NavigationTarget {
    let span = key.key.key.span;
    let end = key.key.value_span.map_or(span.end, |it| it.end.max(span.end));
    pair(&key.of.file, key.of.object, Span::new(span.start, end), span)
}

fn object(file: &Arc<str>, object: &Object) -> NavigationTarget {
    let name = object.model.reference_name_text().map_or(object.model.span, |it| it.span);
    pair(file, object, object.model.span, name)
}

/// A target from spans of an object. If an alias puts the focus outside of the declaration, the focus alone.
fn pair(file: &Arc<str>, object: &Object, full: Span, focus: Span) -> NavigationTarget {
    let at = |span: Span| Location { file: Arc::clone(file), span: object.file_span(span) };
    let (full, focus) = (at(full), at(focus));
    let is_inside = full.span.start <= focus.span.start && focus.span.end <= full.span.end;
    NavigationTarget { full: if is_inside { full } else { focus.clone() }, focus }
}
