//! Values from ConfigMaps, Secrets, fields, resources and files: `envFrom` and `valueFrom` (B6 to B24).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{Container, EnvFromSource, KeyRef, Object, Pod, Role, ValueFrom, ValueSource};
use crate::resolve::binding::{Binding, Kind, Origin};
use crate::resolve::fields;
use crate::resolve::names;
use crate::resolve::scope::{self, Scope};
use crate::resolve::services::ServiceVariables;
use crate::resolve::value::{Hole, Value};
use crate::syntax::helm;
use crate::workspace::{Found, Globs};

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

/// Reads `envFrom` in order (B6 to B10).
pub(super) fn env_from(
    scope: &Scope<'_>,
    object: &Object,
    container: &Container,
    services: &ServiceVariables,
) -> FromSources {
    let mut result = FromSources { bindings: BTreeMap::new(), opaque: Vec::new() };
    for entry in &container.env_from {
        let (kind, name) = match &entry.source {
            Some(EnvFromSource::ConfigMap { name: Some(name), .. }) => (Kind::ConfigMap, &name.value),
            Some(EnvFromSource::Secret { name: Some(name), .. }) => (Kind::Secret, &name.value),
            _ => continue,
        };
        let prefix = entry.prefix.as_ref().map_or_else(|| "".into(), |it| Arc::clone(&it.value));
        let location = scope.location(object, entry.span);
        let mut given: BTreeMap<Arc<str>, Vec<(Value, Origin)>> = BTreeMap::new();
        let objects = Objects::find(scope, kind, name);
        for (key, value, origin) in objects.keys(None) {
            let full: Arc<str> = if prefix.is_empty() { key } else { format!("{prefix}{key}").into() };
            // B10.
            if scope.checks_env_from_names() && !names::is_strict(&full) {
                continue;
            }
            given.entry(full).or_default().push((value, origin));
        }
        if objects.is_open() {
            let reason = format!("{} {name} may hold more than can be seen here", kind_in_words(kind));
            let names = Names::Keys { prefix, kind, object: Arc::clone(name) };
            result.opaque.push(Opaque { reason: reason.into(), names });
        }
        for (full, candidates) in given {
            let what = format!("values of {} {name}", kind_in_words(kind));
            let Some(binding) = Binding::among(Arc::clone(&full), &what, candidates) else { continue };
            let binding = Binding { entry: Some(location.clone()), ..binding };
            let hidden = result.bindings.get(&full).or_else(|| services.variables.get(&full));
            let binding = binding.hiding(hidden);
            result.bindings.insert(full, Arc::new(binding));
        }
    }
    result
}

/// What the surroundings of a container may define: settings, the base of a patch, what a deployment hook inherits.
pub(super) fn surroundings(scope: &Scope<'_>, object: &Object, container: &Container) -> Vec<Opaque> {
    let externals = &scope.settings().externals.variables;
    let mut opaque = Vec::new();
    opaque.push(Opaque { reason: "the settings declare it".into(), names: Names::Globs(externals.clone()) });
    opaque.extend(scope.vars().iter().map(|name| Opaque::name(Arc::clone(name), "Kustomize sets it")));
    if container.is_open {
        opaque.push(Opaque { reason: "a Helm expression may add variables".into(), names: Names::Any });
    }
    if container.role == Role::Hook {
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
            Some(path) => here(Kind::Field, fields::field(&object.model, pod, &path.value)),
            None => here(Kind::Field, Value::hole(Hole::Unfinished)),
        },
        Some(ValueSource::Resource { container: whose, resource, divisor }) => {
            let text = |it: &Option<crate::k8s::Text>| it.as_ref().map(|it| Arc::clone(&it.value));
            let (whose, resource, divisor) = (text(whose), text(resource), text(divisor));
            let value = fields::resource(pod, container, whose.as_deref(), resource.as_deref(), divisor.as_deref());
            here(Kind::Resource, value)
        }
        Some(ValueSource::ConfigMap(reference)) => key_of(scope, Kind::ConfigMap, reference),
        Some(ValueSource::Secret(reference)) => key_of(scope, Kind::Secret, reference),
        Some(ValueSource::File { volume, path, key, .. }) => {
            let part = |text| shared(text).unwrap_or_else(|| "?".into());
            let hole = Hole::EnvFileKey { key: part(key), path: part(path), volume: part(volume) };
            here(Kind::EnvFile, Value::hole(hole))
        }
    }
}

/// B17 and B18.
fn key_of(scope: &Scope<'_>, kind: Kind, reference: &KeyRef) -> Option<Binding> {
    let (Some(name), Some(key)) = (&reference.name, &reference.key) else {
        return Some(Binding::new("", Value::hole(Hole::Unfinished), Origin::new(kind)));
    };
    let (name, key) = (&name.value, &key.value);
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
    found: Vec<Found<'s>>,
}

impl<'s> Objects<'s> {
    fn find(scope: &Scope<'s>, kind: Kind, name: &Arc<str>) -> Self {
        // What a Helm expression names is not known.
        let (name, found) = match helm::shown(name) {
            Cow::Borrowed(_) => (Arc::clone(name), scope.sources(kind, name)),
            Cow::Owned(shown) => (shown.into(), Vec::new()),
        };
        Self { kind, name, found }
    }

    /// Whether keys may exist that cannot be seen.
    fn is_open(&self) -> bool {
        self.found.is_empty() || self.found.iter().any(|it| it.open)
    }

    /// Every key with its value, or only one of them, candidate after candidate.
    fn keys(&self, only: Option<&str>) -> Vec<(Arc<str>, Value, Origin)> {
        let mut all: Vec<(Arc<str>, Value, Origin)> = Vec::new();
        for found in &self.found {
            let keys = scope::source(found).into_iter().flat_map(|it| &it.keys);
            for key in keys.filter(|it| only.is_none_or(|only| *it.key.value == *only)) {
                let name = Arc::clone(&key.key.value);
                // What the settings say has no value; a manifest that has one says more.
                let is_external = found.object.model.kind.is_none();
                if is_external && all.iter().any(|(known, ..)| *known == name) {
                    continue;
                }
                let value = match (&key.value, self.kind) {
                    (None, _) => Value::hole(key_hole(self.kind, &self.name, &name)),
                    (Some(text), Kind::Secret) => Value::secret(text.shared(), format!("{}/{name}", self.name)),
                    (Some(text), _) => Value::text(text.shared()),
                };
                let location = Some(scope::location(found, key.key.span));
                let object = Some(Arc::clone(&self.name));
                let origin = Origin { kind: self.kind, object, key: Some(Arc::clone(&name)), location };
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
