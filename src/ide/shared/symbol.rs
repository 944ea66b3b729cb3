//! Symbols: the named items that can be referenced and renamed. The meaning of a reference comes from `resolve`.

use std::sync::Arc;

use crate::build::{BuiltMatch, BuiltObject};
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::cursor::CursorTarget;
use crate::ide::shared::env_file_keys::{self, EnvFileKey};
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::named_objects::{object_keys, objects_named};
use crate::ide::shared::preset_workloads::{self};
use crate::ide::shared::template_parameters::LocatedParameter;
use crate::k8s::{ContainerField, DataEntry, Pod, VariableScope};
use crate::resolve::{Binding, Environment, Lookup, OriginKind};

/// A named item with uses: a variable, key, object, volume or parameter.
#[derive(Clone, Debug)]
pub(crate) enum Symbol<'s> {
    /// A variable that entries of `env` declare.
    Variable {
        /// A container that declares it.
        at: LocatedContainer<'s>,
        /// Its name.
        name: Arc<str>,
    },
    /// A key of a ConfigMap or Secret, in each object that may be the source.
    Key(Vec<ObjectKey<'s>>),
    /// A ConfigMap, Secret or Service.
    Object(DefinedObject<'s>),
    /// A volume of a pod.
    Volume {
        /// The object.
        object: BuiltObject<'s>,
        /// The pod.
        pod: &'s Pod,
        /// Its name.
        name: Arc<str>,
    },
    /// A parameter of a template.
    Parameter(LocatedParameter<'s>),
    /// A key of an env file.
    EnvFileKey(EnvFileKey),
    /// A variable without a declaration in the workspace.
    Undeclared {
        /// A container that refers to it.
        at: LocatedContainer<'s>,
        /// Its name.
        name: Arc<str>,
        /// The result of its lookup.
        meaning: Lookup,
    },
}

/// An object in a file.
#[derive(Clone, Debug)]
pub(crate) struct DefinedObject<'s> {
    /// The object.
    pub(crate) object: BuiltObject<'s>,
    /// Its kind.
    pub(crate) kind: OriginKind,
}

impl DefinedObject<'_> {
    /// Whether it is the object that a name was resolved to.
    pub(crate) fn is(&self, found: &BuiltMatch<'_>) -> bool {
        self.object.is_same(found.object)
    }
}

/// A key of an object.
#[derive(Clone, Debug)]
pub(crate) struct ObjectKey<'s> {
    /// The object.
    pub(crate) of: DefinedObject<'s>,
    /// The key.
    pub(crate) key: &'s DataEntry,
}

impl ObjectKey<'_> {
    /// Its location, with quotes.
    pub(crate) fn location(&self) -> Location {
        self.of.object.location(self.key.key.span)
    }
}

/// The symbol of an item under the cursor.
pub(crate) fn symbol_of<'s>(analysis: &Analysis<'s>, target: &CursorTarget<'s>) -> Option<Symbol<'s>> {
    match target {
        CursorTarget::Variable { at, index } => {
            let name = at.container.env.get(*index)?.name.as_ref()?;
            Some(Symbol::Variable { at: at.clone(), name: Arc::clone(&name.value) })
        }
        CursorTarget::Reference { at, field, name, .. } => Some(symbol_of_reference(analysis, at, *field, name)),
        // A shell has the same variables as the command line.
        CursorTarget::ShellReference { at, name } => {
            Some(symbol_of_reference(analysis, at, ContainerField::Command(0), name))
        }
        CursorTarget::KeyUse { at, kind, name, key } => {
            let all = keys_named(at.object, *kind, &name.value, &key.value);
            (!all.is_empty()).then_some(Symbol::Key(all))
        }
        CursorTarget::VolumeSource { object, kind, name, key: Some(key) } => {
            let all = keys_named(*object, *kind, &name.value, &key.value);
            (!all.is_empty()).then_some(Symbol::Key(all))
        }
        CursorTarget::VolumeSource { object, kind, name, key: None } => {
            let first = objects_named(*kind, &name.value, *object).into_iter().next()?;
            Some(Symbol::Object(DefinedObject { object: first.object, kind: *kind }))
        }
        CursorTarget::Key { object, kind, key } => {
            let of = DefinedObject { object: *object, kind: *kind };
            Some(Symbol::Key(vec![ObjectKey { of, key }]))
        }
        CursorTarget::Object { at, kind, name, .. } => {
            let first = objects_named(*kind, &name.value, at.object).into_iter().next()?;
            Some(Symbol::Object(DefinedObject { object: first.object, kind: *kind }))
        }
        CursorTarget::ObjectName { object, kind, .. } => {
            Some(Symbol::Object(DefinedObject { object: *object, kind: *kind }))
        }
        CursorTarget::Selector { object } => {
            Some(Symbol::Object(DefinedObject { object: *object, kind: OriginKind::Preset }))
        }
        CursorTarget::Dependency { object, name } => {
            let first = objects_named(OriginKind::Service, &name.value, *object).into_iter().next()?;
            Some(Symbol::Object(DefinedObject { object: first.object, kind: OriginKind::Service }))
        }
        CursorTarget::Volume { object, pod, name } => {
            Some(Symbol::Volume { object: *object, pod, name: Arc::clone(&name.value) })
        }
        CursorTarget::Parameter(it) => Some(Symbol::Parameter(it.clone())),
        CursorTarget::EnvFileEntry { file, name, .. } => {
            Some(Symbol::EnvFileKey(env_file_keys::key_of_entry(analysis, file, name)))
        }
        CursorTarget::EnvFileKey { at, index } => {
            env_file_keys::key_of_reference(analysis, at, *index).map(Symbol::EnvFileKey)
        }
        CursorTarget::Escape { .. }
        | CursorTarget::Source { .. }
        | CursorTarget::Container { .. }
        | CursorTarget::Workload { .. }
        | CursorTarget::Rule(_) => None,
    }
}

/// The symbol that a reference refers to.
fn symbol_of_reference<'s>(
    analysis: &Analysis<'s>,
    at: &LocatedContainer<'s>,
    field: ContainerField,
    name: &str,
) -> Symbol<'s> {
    let environment = at.environment(analysis);
    let meaning = environment.lookup(field.variable_scope().unwrap_or(VariableScope::All), name);
    let name: Arc<str> = name.into();
    if is_env_entry(at, &environment, field, &name) {
        return Symbol::Variable { at: at.clone(), name };
    }
    let preset_entry = match &meaning {
        Lookup::Bound(binding) => preset_workloads::preset_entry_of(analysis, binding),
        Lookup::Later(origin) => {
            origin.location.as_ref().and_then(|it| preset_workloads::preset_entry_at(analysis, it))
        }
        Lookup::Maybe(_) | Lookup::Unbound => None,
    };
    if let Some((at, _)) = preset_entry {
        return Symbol::Variable { at, name };
    }
    if let Lookup::Bound(binding) = &meaning {
        let keys = source_keys(at, binding);
        if !keys.is_empty() {
            return Symbol::Key(keys);
        }
        if let Some((OriginKind::Service, location)) = origins(binding).first()
            && let Some(object) = object_at(analysis, location)
        {
            return Symbol::Object(DefinedObject { object, kind: OriginKind::Service });
        }
    }
    Symbol::Undeclared { at: at.clone(), name, meaning }
}

/// Whether a reference in a field refers to the entry of `env` with this name.
pub(crate) fn is_env_entry(
    at: &LocatedContainer<'_>,
    environment: &Environment<'_>,
    field: ContainerField,
    name: &str,
) -> bool {
    let is_declared = at.container.env.iter().any(|it| it.name.as_ref().is_some_and(|it| &*it.value == name));
    if !is_declared {
        return false;
    }
    match environment.lookup(field.variable_scope().unwrap_or(VariableScope::All), name) {
        // A probe sees entries of `env` and nothing else (P3).
        Lookup::Bound(_) if field.variable_scope() == Some(VariableScope::ProbeValues) => true,
        Lookup::Bound(binding) => {
            let entry = binding.entry.as_ref().or(binding.origin.location.as_ref());
            entry.is_some_and(|it| at.entry_at(it).is_some())
        }
        // Another source may define it first, but this entry is the visible declaration.
        Lookup::Later(_) | Lookup::Maybe(_) | Lookup::Unbound => true,
    }
}

/// The keys with a name in the objects that a name in `user` may refer to.
pub(crate) fn keys_named<'s>(user: BuiltObject<'s>, kind: OriginKind, name: &str, key: &str) -> Vec<ObjectKey<'s>> {
    let found = objects_named(kind, name, user).into_iter();
    let all = found.flat_map(|it| {
        let same = object_keys(it.object).iter().filter(|it| *it.key.value == *key);
        same.map(move |key| ObjectKey { of: DefinedObject { object: it.object, kind }, key })
    });
    all.collect()
}

/// The keys that a variable may get its value from, in all matching objects.
pub(crate) fn source_keys<'s>(at: &LocatedContainer<'s>, binding: &Binding) -> Vec<ObjectKey<'s>> {
    let origin = &binding.origin;
    match (origin.kind, &origin.object, &origin.key) {
        (kind @ (OriginKind::ConfigMap | OriginKind::Secret), Some(name), Some(key)) => {
            keys_named(at.object, kind, name, key)
        }
        _ => Vec::new(),
    }
}

/// The key of an object at a location.
pub(crate) fn key_at<'s>(analysis: &Analysis<'s>, kind: OriginKind, location: &Location) -> Option<ObjectKey<'s>> {
    let is_near = |it: &BuiltObject<'s>| it.file_span(it.model.span).touches(location.span.start);
    analysis.objects(&location.file).filter(is_near).find_map(|object| {
        let key = object_keys(object).iter().find(|it| object.location(it.key.span) == *location)?;
        Some(ObjectKey { of: DefinedObject { object, kind }, key })
    })
}

/// The object whose span is a location.
pub(crate) fn object_at<'s>(analysis: &Analysis<'s>, location: &Location) -> Option<BuiltObject<'s>> {
    analysis.objects(&location.file).find(|it| it.location(it.model.span) == *location)
}

/// The locations that a variable may come from.
fn origins(binding: &Binding) -> Vec<(OriginKind, &Location)> {
    let several = binding.alternatives.iter().map(|(_, it)| it);
    let all = std::iter::once(&binding.origin).chain(several);
    all.filter_map(|it| Some((it.kind, it.location.as_ref()?))).collect()
}
