//! Values from ConfigMaps, Secrets, fields, resources and files: `envFrom` and `valueFrom` (B6 to B24).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{Container, ContainerRole, EnvFrom, EnvFromSource, KeyRef, Object, Pod, ValueFrom, ValueSource};
use crate::resolve::binding::{Binding, Inside, Kind, Origin};
use crate::resolve::env_file::{self, Answer, EnvFile};
use crate::resolve::fields;
use crate::resolve::names;
use crate::resolve::parameters;
use crate::resolve::scope::{self, Scope};
use crate::resolve::services::{self, ServiceVariables};
use crate::resolve::value::{Hole, Value};
use crate::syntax::{EnvFileDialect, has_helm_placeholder, show_helm_placeholders};
use crate::workspace::{Globs, ObjectMatch};

/// Something that may define names which cannot be seen.
#[derive(Clone, Debug)]
pub(super) struct Opaque {
    /// What it is, for a person.
    pub(super) reason: Arc<str>,
    names: Names,
}

#[derive(Clone, Debug)]
enum Names {
    /// Any name with this prefix: a key of an object.
    Keys { prefix: Arc<str>, kind: Kind, object: Arc<str> },
    /// Any variable of this service, with this prefix.
    Service { prefix: Arc<str>, service: Arc<str> },
    /// Any name that the settings declare.
    Globs(Globs),
    /// Exactly this name.
    One(Arc<str>),
    /// Any name.
    Any,
    /// Any name that the container does not declare itself.
    Undeclared,
}

impl Opaque {
    /// A single name.
    pub(super) fn name(name: impl Into<Arc<str>>, reason: &str) -> Self {
        Self { reason: reason.into(), names: Names::One(name.into()) }
    }

    /// Any name.
    pub(super) fn any(reason: &str) -> Self {
        Self { reason: reason.into(), names: Names::Any }
    }

    /// Every name that is not declared.
    pub(super) fn undeclared(reason: &str) -> Self {
        Self { reason: reason.into(), names: Names::Undeclared }
    }

    /// The value that a name has if this defines it; `is_declared` tells whether the container has an entry for it.
    pub(super) fn hole(&self, name: &str, is_declared: bool) -> Option<Hole> {
        match &self.names {
            Names::Any => Some(Hole::External(name.into())),
            Names::Undeclared => (!is_declared && is_key(name)).then(|| Hole::External(name.into())),
            Names::Globs(globs) => globs.matches(name).then(|| Hole::External(name.into())),
            Names::One(it) => (**it == *name).then(|| Hole::External(name.into())),
            Names::Service { prefix, service } => {
                let variable = name.strip_prefix(&**prefix)?;
                let is_given = has_helm_placeholder(service) || services::is_variable_of(service, variable);
                is_given.then(|| Hole::ServiceVariable(name.into()))
            }
            Names::Keys { prefix, kind, object } => {
                let key = name.strip_prefix(&**prefix).filter(|it| is_key(it))?;
                Some(key_hole(*kind, object, key))
            }
        }
    }
}

/// V11: what can be a key of a ConfigMap or Secret. `date +%s` never comes from one.
pub fn is_key(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_'))
}

/// What `envFrom` gives.
pub(super) struct FromSources {
    /// By name; later entries won.
    pub(super) bindings: BTreeMap<Arc<str>, Arc<Binding>>,
    /// Sources that may hold more.
    pub(super) opaque: Vec<Opaque>,
}

/// An entry of `envFrom` with its place: in the container, or in a preset.
pub(super) struct FromEntry<'e> {
    pub(super) entry: &'e EnvFrom,
    pub(super) location: Location,
    /// The preset that brings it.
    pub(super) preset: Option<Arc<str>>,
}

/// Reads `envFrom` in order (B6 to B10).
pub(super) fn env_from(scope: &Scope<'_>, entries: &[FromEntry<'_>], services: &ServiceVariables) -> FromSources {
    let mut result = FromSources { bindings: BTreeMap::new(), opaque: Vec::new() };
    for FromEntry { entry, location, preset } in entries {
        let prefix = entry.prefix.as_ref().map_or_else(|| "".into(), |it| scope.filled(&it.value).into_owned());
        let given = match &entry.source {
            Some(EnvFromSource::ConfigMap { name: Some(name), .. }) => {
                keys_of(scope, Kind::ConfigMap, &scope.filled(&name.value), &prefix)
            }
            Some(EnvFromSource::Secret { name: Some(name), .. }) => {
                keys_of(scope, Kind::Secret, &scope.filled(&name.value), &prefix)
            }
            Some(EnvFromSource::Service { name: Some(name), .. }) => linked(scope, &scope.filled(&name.value), &prefix),
            _ => continue,
        };
        result.opaque.extend(given.opaque);
        for (full, candidates) in given.values {
            let Some(binding) = Binding::among(Arc::clone(&full), &given.what, candidates) else { continue };
            let binding = Binding { entry: Some(location.clone()), preset: preset.clone(), ..binding };
            let service = || services.variables.get(&full).map(|it| scope.placed(services, it));
            let hidden = result.bindings.get(&full).cloned().or_else(service);
            let binding = binding.hiding(hidden.as_ref());
            result.bindings.insert(full, Arc::new(binding));
        }
    }
    result
}

/// What one entry of `envFrom` gives.
struct Given {
    /// What its values are, for a person.
    what: String,
    /// By name, from each object that may be meant.
    values: BTreeMap<Arc<str>, Vec<(Value, Origin)>>,
    /// What more it may give.
    opaque: Option<Opaque>,
}

/// The keys of a ConfigMap or Secret.
fn keys_of(scope: &Scope<'_>, kind: Kind, name: &Arc<str>, prefix: &Arc<str>) -> Given {
    let mut values: BTreeMap<Arc<str>, Vec<(Value, Origin)>> = BTreeMap::new();
    let objects = Objects::find(scope, kind, name);
    for (key, value, origin) in objects.keys(None) {
        let full: Arc<str> = if prefix.is_empty() { key } else { format!("{prefix}{key}").into() };
        // B10.
        if !scope.checks_env_from_names() || names::is_strict(&full) {
            values.entry(full).or_default().push((value, origin));
        }
    }
    let opaque = objects.is_open().then(|| Opaque {
        reason: format!("{} {name} may hold more than can be seen here", kind_in_words(kind)).into(),
        names: Names::Keys { prefix: Arc::clone(prefix), kind, object: Arc::clone(name) },
    });
    Given { what: format!("values of {} {name}", kind_in_words(kind)), values, opaque }
}

/// The variables of a service that the pod links.
fn linked(scope: &Scope<'_>, name: &Arc<str>, prefix: &Arc<str>) -> Given {
    let mut values: BTreeMap<Arc<str>, Vec<(Value, Origin)>> = BTreeMap::new();
    let found = if has_helm_placeholder(name) { Vec::new() } else { scope.services_named(name) };
    let mut is_open = found.is_empty();
    for found in &found {
        let Some(service) = found.object.service() else { continue };
        is_open |= services::is_open(&service);
        let origin = scope::service_origin(found, name);
        for (variable, value) in services::variables(name, &service) {
            let candidates = values.entry(format!("{prefix}{variable}").into()).or_default();
            // S8: one service repeats itself with equal names, and the last one counts.
            candidates.retain(|(_, other)| *other != origin);
            candidates.push((value, origin.clone()));
        }
    }
    let opaque = is_open.then(|| Opaque {
        reason: format!("the ports of service {} cannot be seen here", show_helm_placeholders(name)).into(),
        names: Names::Service { prefix: Arc::clone(prefix), service: Arc::clone(name) },
    });
    Given { what: format!("values of service {name}"), values, opaque }
}

/// What the surroundings of a container may define: settings, the base of a patch, what a deployment hook inherits.
pub(super) fn surroundings(scope: &Scope<'_>, object: &Object, container: &Container) -> Vec<Opaque> {
    let externals = &scope.settings().externals.variables;
    let mut opaque = Vec::new();
    opaque.push(Opaque { reason: "the settings declare it".into(), names: Names::Globs(externals.clone()) });
    opaque.extend(scope.vars().iter().map(|name| Opaque::name(Arc::clone(name), "Kustomize sets it")));
    if container.may_have_more_variables {
        opaque.push(Opaque { reason: "a Helm expression may add variables".into(), names: Names::Any });
    }
    if container.role == ContainerRole::Hook {
        opaque.push(Opaque { reason: "the hook's container brings its own variables".into(), names: Names::Any });
    } else if is_part(scope, object, container) {
        opaque.push(Opaque { reason: "this is part of an object elsewhere".into(), names: Names::Any });
    }
    opaque
}

/// Whether a container is a patch, whose other half stands elsewhere.
pub(super) fn is_part(scope: &Scope<'_>, object: &Object, container: &Container) -> bool {
    let is_pod = object.model.kind.as_ref().is_some_and(|it| &*it.value == "Pod");
    (container.image.is_none() && !is_pod) || scope.is_patch()
}

/// Whether a pod may say more than can be seen: its controller, the base of a patch or a Helm expression may add to it.
fn is_open(scope: &Scope<'_>, object: &Object, pod: &Pod, container: &Container) -> bool {
    pod.controller.is_unknown() || is_part(scope, object, container) || scope.is_template()
}

/// What a field of the pod gives in a container.
pub(super) fn field(scope: &Scope<'_>, object: &Object, pod: &Pod, container: &Container, path: &str) -> Value {
    fields::field(object, pod, path, is_open(scope, object, pod, container))
}

/// The value of `valueFrom`: nothing if the entry is skipped (B17).
pub(super) fn value_from(
    scope: &Scope<'_>,
    object: &Object,
    pod: &Pod,
    container: &Container,
    from: &ValueFrom,
    location: &Location,
) -> Option<Binding> {
    let here =
        |kind, value| Some(Binding::new("", value, Origin { location: Some(location.clone()), ..Origin::new(kind) }));
    let shared = |text: &Option<crate::k8s::Text>| text.as_ref().map(|it| Arc::clone(&it.value));
    // B20: the sources stand in the order they are looked at.
    match from.sources.first() {
        // B19: nothing usable is an empty value. It is refused by the API (V7), or half typed.
        None => here(Kind::Env, Value::hole(Hole::Unfinished)),
        Some(ValueSource::Field { path, .. }) => match path {
            Some(path) => here(Kind::Field, field(scope, object, pod, container, &path.value)),
            None => here(Kind::Field, Value::hole(Hole::Unfinished)),
        },
        Some(ValueSource::Resource { container: whose, resource, divisor }) => {
            let text = |it: &Option<crate::k8s::Text>| it.as_ref().map(|it| Arc::clone(&it.value));
            let (whose, resource, divisor) = (text(whose), text(resource), text(divisor));
            if whose.is_some() {
                scope.depend_on_siblings();
            }
            let asked = fields::Asked {
                container: whose.as_deref(),
                resource: resource.as_deref(),
                divisor: divisor.as_deref(),
                has_pod_limits: scope.release().is_at_least(34),
                is_open: is_open(scope, object, pod, container),
            };
            here(Kind::Resource, fields::resource(pod, container, asked))
        }
        Some(ValueSource::ConfigMap(reference)) => key_of(scope, Kind::ConfigMap, reference),
        Some(ValueSource::Secret(reference)) => key_of(scope, Kind::Secret, reference),
        Some(ValueSource::File { volume, path, key, optional, .. }) => {
            let part = |text| shared(text).unwrap_or_else(|| "?".into());
            let reference = FileKey { volume: part(volume), path: part(path), key: part(key), optional: *optional };
            file_key(scope, object, &reference, location)
        }
    }
}

/// A `fileKeyRef`; what is missing in it is a question mark.
struct FileKey {
    volume: Arc<str>,
    path: Arc<str>,
    key: Arc<str>,
    optional: bool,
}

/// F3 to F6, and PF3 to PF5.
fn file_key(scope: &Scope<'_>, object: &Object, reference: &FileKey, location: &Location) -> Option<Binding> {
    let FileKey { volume, path, key, optional } = reference;
    let reading = scope.reading();
    let file = scope.files().map_or(EnvFile::Unknown, |files| env_file::file(files, volume, path));
    let mut origin = Origin {
        object: Some(Arc::clone(volume)),
        key: Some(Arc::clone(key)),
        location: Some(location.clone()),
        ..Origin::new(Kind::EnvFile)
    };
    let value = match file {
        // F4: a missing file stops the container whatever `optional` says; only PF4 says otherwise.
        EnvFile::Absent if *optional && reading.dialect == EnvFileDialect::Proposed => return None,
        EnvFile::Absent => Value::hole(Hole::MissingFile { path: Arc::clone(path), volume: Arc::clone(volume) }),
        EnvFile::Unknown => Value::hole(unknown_key(reference)),
        EnvFile::Written(content) => match content.find(key, reading) {
            Answer::Value(value, range) => {
                if let Some(part) = content.place(range) {
                    origin.location = Some(scope.location(object, part.text.span));
                    origin.inside = Some(Inside { text: part.text, range: part.range });
                }
                value
            }
            Answer::Missing if *optional => return None,
            Answer::Missing => Value::hole(Hole::MissingKey(format!("{key} of env file {path}").into())),
            Answer::Refused(_) => Value::hole(Hole::RefusedFile { path: Arc::clone(path), volume: Arc::clone(volume) }),
            Answer::Unknown => Value::hole(unknown_key(reference)),
        },
    };
    Some(Binding::new("", value, origin))
}

fn unknown_key(reference: &FileKey) -> Hole {
    let FileKey { volume, path, key, .. } = reference;
    Hole::EnvFileKey { key: Arc::clone(key), path: Arc::clone(path), volume: Arc::clone(volume) }
}

/// B17 and B18.
fn key_of(scope: &Scope<'_>, kind: Kind, reference: &KeyRef) -> Option<Binding> {
    let (Some(name), Some(key)) = (&reference.name, &reference.key) else {
        return Some(Binding::new("", Value::hole(Hole::Unfinished), Origin::new(kind)));
    };
    let (name, key) = (&*scope.filled(&name.value), &*scope.filled(&key.value));
    let objects = Objects::find(scope, kind, name);
    let found = objects.keys(Some(key)).into_iter();
    let mut candidates: Vec<(Value, Origin)> = found.map(|(_, value, origin)| (value, origin)).collect();
    if candidates.is_empty() {
        let origin = Origin { object: Some(Arc::clone(name)), key: Some(Arc::clone(key)), ..Origin::new(kind) };
        let hole = match (objects.is_open(), reference.optional) {
            (true, _) => key_hole(kind, name, key),
            (false, true) => return None,
            (false, false) => Hole::MissingKey(format!("{key} of {} {name}", kind_in_words(kind)).into()),
        };
        candidates.push((Value::hole(hole), origin));
    }
    Binding::among("", &format!("values of {} {name}", kind_in_words(kind)), candidates)
}

/// The ConfigMaps or Secrets that a name may mean.
struct Objects<'s> {
    kind: Kind,
    name: Arc<str>,
    found: Vec<ObjectMatch<'s>>,
}

impl<'s> Objects<'s> {
    fn find(scope: &Scope<'s>, kind: Kind, name: &Arc<str>) -> Self {
        // What a Helm expression names is not known.
        let (name, found) = match show_helm_placeholders(name) {
            Cow::Borrowed(_) => (Arc::clone(name), scope.sources(kind, name)),
            Cow::Owned(shown) => (shown.into(), Vec::new()),
        };
        Self { kind, name, found }
    }

    /// Whether keys may exist that cannot be seen.
    fn is_open(&self) -> bool {
        self.found.is_empty() || self.found.iter().any(|it| it.may_have_more_keys)
    }

    /// Every key with its value, or only one of them, candidate after candidate.
    fn keys(&self, only: Option<&str>) -> Vec<(Arc<str>, Value, Origin)> {
        let mut all: Vec<(Arc<str>, Value, Origin)> = Vec::new();
        for found in &self.found {
            let keys = scope::source(found).into_iter().flat_map(|it| &it.keys);
            for key in keys {
                let name = found.object.with_known_parameters(&key.key.value).into_owned();
                if only.is_some_and(|only| *name != *only) {
                    continue;
                }
                // What the settings say has no value; a manifest that has one says more.
                let is_external = found.object.model.kind.is_none();
                if is_external && all.iter().any(|(known, ..)| *known == name) {
                    continue;
                }
                let value = match (&key.value, self.kind) {
                    (None, _) => Value::hole(key_hole(self.kind, &self.name, &name)),
                    (Some(text), Kind::Secret) => {
                        let of: Arc<str> = format!("{}/{name}", self.name).into();
                        parameters::filled(found.object, &text.shared()).hidden(&of)
                    }
                    (Some(text), _) => parameters::filled(found.object, &text.shared()),
                };
                let location = Some(scope::location(found, key.key.span));
                let object = Some(Arc::clone(&self.name));
                let origin = Origin { object, key: Some(Arc::clone(&name)), location, ..Origin::new(self.kind) };
                all.push((name, value, origin));
            }
        }
        all
    }
}

fn key_hole(kind: Kind, object: &Arc<str>, key: &str) -> Hole {
    match kind {
        Kind::Secret => Hole::SecretKey(Arc::clone(object), key.into()),
        _ => Hole::ConfigMapKey(Arc::clone(object), key.into()),
    }
}

fn kind_in_words(kind: Kind) -> &'static str {
    if kind == Kind::Secret { "secret" } else { "config map" }
}
