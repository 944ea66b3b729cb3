//! Values from ConfigMaps, Secrets, fields, resources and files: `envFrom` and `valueFrom` (B6 to B24).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{Container, ContainerRole, EnvFrom, EnvFromSource, KeyRef, Object, Pod, ValueFrom, ValueSource};
use crate::resolve::binding::{Binding, Origin, OriginKind, ScalarPart};
use crate::resolve::downward_api;
use crate::resolve::env_file::{self, EnvFile, EnvFileLookup};
use crate::resolve::lookup_scope::{self, LookupScope};
use crate::resolve::parameters;
use crate::resolve::service_variables::{self, ServiceVariables};
use crate::resolve::value::{ResolvedValue, UnknownReason};
use crate::resolve::variable_names;
use crate::syntax::{EnvFileDialect, has_helm_placeholder, show_helm_placeholders};
use crate::workspace::{Globs, ObjectMatch};

/// Something that may define names which cannot be seen.
#[derive(Clone, Debug)]
pub(super) struct PossibleSource {
    /// What it is, for a person.
    pub(super) reason: Arc<str>,
    names: PossibleNames,
}

#[derive(Clone, Debug)]
enum PossibleNames {
    /// Any name with this prefix: a key of an object.
    Keys { prefix: Arc<str>, kind: OriginKind, object: Arc<str> },
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

impl PossibleSource {
    /// A single name.
    pub(super) fn name(name: impl Into<Arc<str>>, reason: &str) -> Self {
        Self { reason: reason.into(), names: PossibleNames::One(name.into()) }
    }

    /// Any name.
    pub(super) fn any(reason: &str) -> Self {
        Self { reason: reason.into(), names: PossibleNames::Any }
    }

    /// Every name that is not declared.
    pub(super) fn undeclared(reason: &str) -> Self {
        Self { reason: reason.into(), names: PossibleNames::Undeclared }
    }

    /// The value that a name has if this defines it; `is_declared` tells whether the container has an entry for it.
    pub(super) fn hole(&self, name: &str, is_declared: bool) -> Option<UnknownReason> {
        match &self.names {
            PossibleNames::Any => Some(UnknownReason::External(name.into())),
            PossibleNames::Undeclared => {
                (!is_declared && has_data_key_characters(name)).then(|| UnknownReason::External(name.into()))
            }
            PossibleNames::Globs(globs) => globs.matches(name).then(|| UnknownReason::External(name.into())),
            PossibleNames::One(it) => (**it == *name).then(|| UnknownReason::External(name.into())),
            PossibleNames::Service { prefix, service } => {
                let variable = name.strip_prefix(&**prefix)?;
                let is_given = has_helm_placeholder(service) || service_variables::is_variable_of(service, variable);
                is_given.then(|| UnknownReason::ServiceVariable(name.into()))
            }
            PossibleNames::Keys { prefix, kind, object } => {
                let key = name.strip_prefix(&**prefix).filter(|it| has_data_key_characters(it))?;
                Some(key_hole(*kind, object, key))
            }
        }
    }
}

/// V11: what can be a key of a ConfigMap or Secret. `date +%s` never comes from one.
pub fn has_data_key_characters(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_'))
}

/// What `envFrom` gives.
pub(super) struct EnvFromVariables {
    /// By name; later entries won.
    pub(super) bindings: BTreeMap<Arc<str>, Arc<Binding>>,
    /// Sources that may hold more.
    pub(super) opaque: Vec<PossibleSource>,
}

/// An entry of `envFrom` with its place: in the container, or in a preset.
pub(super) struct EnvFromEntry<'e> {
    pub(super) entry: &'e EnvFrom,
    pub(super) location: Location,
    /// The preset that brings it.
    pub(super) preset: Option<Arc<str>>,
}

/// Reads `envFrom` in order (B6 to B10).
pub(super) fn env_from(
    scope: &LookupScope<'_>,
    entries: &[EnvFromEntry<'_>],
    services: &ServiceVariables,
) -> EnvFromVariables {
    let mut result = EnvFromVariables { bindings: BTreeMap::new(), opaque: Vec::new() };
    for EnvFromEntry { entry, location, preset } in entries {
        let prefix = entry.prefix.as_ref().map_or_else(|| "".into(), |it| scope.filled(&it.value).into_owned());
        let given = match &entry.source {
            Some(EnvFromSource::ConfigMap { name: Some(name), .. }) => {
                keys_of(scope, OriginKind::ConfigMap, &scope.filled(&name.value), &prefix)
            }
            Some(EnvFromSource::Secret { name: Some(name), .. }) => {
                keys_of(scope, OriginKind::Secret, &scope.filled(&name.value), &prefix)
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
struct EnvFromValues {
    /// What its values are, for a person.
    what: String,
    /// By name, from each object that may be meant.
    values: BTreeMap<Arc<str>, Vec<(ResolvedValue, Origin)>>,
    /// What more it may give.
    opaque: Option<PossibleSource>,
}

/// The keys of a ConfigMap or Secret.
fn keys_of(scope: &LookupScope<'_>, kind: OriginKind, name: &Arc<str>, prefix: &Arc<str>) -> EnvFromValues {
    let mut values: BTreeMap<Arc<str>, Vec<(ResolvedValue, Origin)>> = BTreeMap::new();
    let objects = NamedObjects::find(scope, kind, name);
    for (key, value, origin) in objects.keys(None) {
        let full: Arc<str> = if prefix.is_empty() { key } else { format!("{prefix}{key}").into() };
        // B10.
        if !scope.checks_env_from_names() || variable_names::is_strict_variable_name(&full) {
            values.entry(full).or_default().push((value, origin));
        }
    }
    let opaque = objects.is_open().then(|| PossibleSource {
        reason: format!("{} {name} may hold more than can be seen here", kind_in_words(kind)).into(),
        names: PossibleNames::Keys { prefix: Arc::clone(prefix), kind, object: Arc::clone(name) },
    });
    EnvFromValues { what: format!("values of {} {name}", kind_in_words(kind)), values, opaque }
}

/// The variables of a service that the pod links.
fn linked(scope: &LookupScope<'_>, name: &Arc<str>, prefix: &Arc<str>) -> EnvFromValues {
    let mut values: BTreeMap<Arc<str>, Vec<(ResolvedValue, Origin)>> = BTreeMap::new();
    let found = if has_helm_placeholder(name) { Vec::new() } else { scope.services_named(name) };
    let mut is_open = found.is_empty();
    for found in &found {
        let Some(service) = found.object.service() else { continue };
        is_open |= service_variables::is_open(&service);
        let origin = lookup_scope::service_origin(found, name);
        for (variable, value) in service_variables::variables(name, &service) {
            let candidates = values.entry(format!("{prefix}{variable}").into()).or_default();
            // S8: one service repeats itself with equal names, and the last one counts.
            candidates.retain(|(_, other)| *other != origin);
            candidates.push((value, origin.clone()));
        }
    }
    let opaque = is_open.then(|| PossibleSource {
        reason: format!("the ports of service {} cannot be seen here", show_helm_placeholders(name)).into(),
        names: PossibleNames::Service { prefix: Arc::clone(prefix), service: Arc::clone(name) },
    });
    EnvFromValues { what: format!("values of service {name}"), values, opaque }
}

/// What the surroundings of a container may define: settings, the base of a patch, what a deployment hook inherits.
pub(super) fn surroundings(scope: &LookupScope<'_>, object: &Object, container: &Container) -> Vec<PossibleSource> {
    let externals = &scope.settings().externals.variables;
    let mut opaque = Vec::new();
    opaque.push(PossibleSource {
        reason: "the settings declare it".into(),
        names: PossibleNames::Globs(externals.clone()),
    });
    opaque.extend(scope.vars().iter().map(|name| PossibleSource::name(Arc::clone(name), "Kustomize sets it")));
    if container.may_have_more_variables {
        opaque.push(PossibleSource { reason: "a Helm expression may add variables".into(), names: PossibleNames::Any });
    }
    if container.role == ContainerRole::Hook {
        opaque.push(PossibleSource {
            reason: "the hook's container brings its own variables".into(),
            names: PossibleNames::Any,
        });
    } else if is_part(scope, object, container) {
        opaque.push(PossibleSource { reason: "this is part of an object elsewhere".into(), names: PossibleNames::Any });
    }
    opaque
}

/// Whether a container is a patch, whose other half stands elsewhere.
pub(super) fn is_part(scope: &LookupScope<'_>, object: &Object, container: &Container) -> bool {
    let is_pod = object.model.kind.as_ref().is_some_and(|it| &*it.value == "Pod");
    (container.image.is_none() && !is_pod) || scope.is_patch()
}

/// Whether a pod may say more than can be seen: its controller, the base of a patch or a Helm expression may add to it.
fn is_open(scope: &LookupScope<'_>, object: &Object, pod: &Pod, container: &Container) -> bool {
    pod.controller.is_unknown() || is_part(scope, object, container) || scope.is_template()
}

/// What a field of the pod gives in a container.
pub(super) fn field(
    scope: &LookupScope<'_>,
    object: &Object,
    pod: &Pod,
    container: &Container,
    path: &str,
) -> ResolvedValue {
    downward_api::field(object, pod, path, is_open(scope, object, pod, container))
}

/// The value of `valueFrom`: nothing if the entry is skipped (B17).
pub(super) fn value_from(
    scope: &LookupScope<'_>,
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
        None => here(OriginKind::Env, ResolvedValue::unknown(UnknownReason::Unfinished)),
        Some(ValueSource::Field { path, .. }) => match path {
            Some(path) => here(OriginKind::Field, field(scope, object, pod, container, &path.value)),
            None => here(OriginKind::Field, ResolvedValue::unknown(UnknownReason::Unfinished)),
        },
        Some(ValueSource::Resource { container: whose, resource, divisor }) => {
            let text = |it: &Option<crate::k8s::Text>| it.as_ref().map(|it| Arc::clone(&it.value));
            let (whose, resource, divisor) = (text(whose), text(resource), text(divisor));
            if whose.is_some() {
                scope.depend_on_siblings();
            }
            let asked = downward_api::ResourceQuery {
                container: whose.as_deref(),
                resource: resource.as_deref(),
                divisor: divisor.as_deref(),
                has_pod_limits: scope.release().is_at_least(34),
                is_open: is_open(scope, object, pod, container),
            };
            here(OriginKind::Resource, downward_api::resource(pod, container, asked))
        }
        Some(ValueSource::ConfigMap(reference)) => key_of(scope, OriginKind::ConfigMap, reference),
        Some(ValueSource::Secret(reference)) => key_of(scope, OriginKind::Secret, reference),
        Some(ValueSource::File { volume, path, key, optional, .. }) => {
            let part = |text| shared(text).unwrap_or_else(|| "?".into());
            let reference =
                FileKeyReference { volume: part(volume), path: part(path), key: part(key), optional: *optional };
            file_key(scope, object, &reference, location)
        }
    }
}

/// A `fileKeyRef`; what is missing in it is a question mark.
struct FileKeyReference {
    volume: Arc<str>,
    path: Arc<str>,
    key: Arc<str>,
    optional: bool,
}

/// F3 to F6, and PF3 to PF5.
fn file_key(
    scope: &LookupScope<'_>,
    object: &Object,
    reference: &FileKeyReference,
    location: &Location,
) -> Option<Binding> {
    let FileKeyReference { volume, path, key, optional } = reference;
    let reading = scope.env_file_syntax();
    let file = scope.files().map_or(EnvFile::Unknown, |files| env_file::file(files, volume, path));
    let mut origin = Origin {
        object: Some(Arc::clone(volume)),
        key: Some(Arc::clone(key)),
        location: Some(location.clone()),
        ..Origin::new(OriginKind::EnvFile)
    };
    let value = match file {
        // F4: a missing file stops the container whatever `optional` says; only PF4 says otherwise.
        EnvFile::Absent if *optional && reading.dialect == EnvFileDialect::Proposed => return None,
        EnvFile::Absent => {
            ResolvedValue::unknown(UnknownReason::MissingFile { path: Arc::clone(path), volume: Arc::clone(volume) })
        }
        EnvFile::Unknown => ResolvedValue::unknown(unknown_key(reference)),
        EnvFile::Written(content) => match content.find(key, reading) {
            EnvFileLookup::Value(value, range) => {
                if let Some(part) = content.place(range) {
                    origin.location = Some(scope.location(object, part.text.span));
                    origin.inside = Some(ScalarPart { text: part.text, range: part.range });
                }
                value
            }
            EnvFileLookup::Missing if *optional => return None,
            EnvFileLookup::Missing => {
                ResolvedValue::unknown(UnknownReason::MissingKey(format!("{key} of env file {path}").into()))
            }
            EnvFileLookup::Refused(_) => ResolvedValue::unknown(UnknownReason::RefusedFile {
                path: Arc::clone(path),
                volume: Arc::clone(volume),
            }),
            EnvFileLookup::Unknown => ResolvedValue::unknown(unknown_key(reference)),
        },
    };
    Some(Binding::new("", value, origin))
}

fn unknown_key(reference: &FileKeyReference) -> UnknownReason {
    let FileKeyReference { volume, path, key, .. } = reference;
    UnknownReason::EnvFileKey { key: Arc::clone(key), path: Arc::clone(path), volume: Arc::clone(volume) }
}

/// B17 and B18.
fn key_of(scope: &LookupScope<'_>, kind: OriginKind, reference: &KeyRef) -> Option<Binding> {
    let (Some(name), Some(key)) = (&reference.name, &reference.key) else {
        return Some(Binding::new("", ResolvedValue::unknown(UnknownReason::Unfinished), Origin::new(kind)));
    };
    let (name, key) = (&*scope.filled(&name.value), &*scope.filled(&key.value));
    let objects = NamedObjects::find(scope, kind, name);
    let found = objects.keys(Some(key)).into_iter();
    let mut candidates: Vec<(ResolvedValue, Origin)> = found.map(|(_, value, origin)| (value, origin)).collect();
    if candidates.is_empty() {
        let origin = Origin { object: Some(Arc::clone(name)), key: Some(Arc::clone(key)), ..Origin::new(kind) };
        let hole = match (objects.is_open(), reference.optional) {
            (true, _) => key_hole(kind, name, key),
            (false, true) => return None,
            (false, false) => UnknownReason::MissingKey(format!("{key} of {} {name}", kind_in_words(kind)).into()),
        };
        candidates.push((ResolvedValue::unknown(hole), origin));
    }
    Binding::among("", &format!("values of {} {name}", kind_in_words(kind)), candidates)
}

/// The ConfigMaps or Secrets that a name may mean.
struct NamedObjects<'s> {
    kind: OriginKind,
    name: Arc<str>,
    found: Vec<ObjectMatch<'s>>,
}

impl<'s> NamedObjects<'s> {
    fn find(scope: &LookupScope<'s>, kind: OriginKind, name: &Arc<str>) -> Self {
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
    fn keys(&self, only: Option<&str>) -> Vec<(Arc<str>, ResolvedValue, Origin)> {
        let mut all: Vec<(Arc<str>, ResolvedValue, Origin)> = Vec::new();
        for found in &self.found {
            let keys = lookup_scope::keyed_data(found).into_iter().flat_map(|it| &it.keys);
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
                    (None, _) => ResolvedValue::unknown(key_hole(self.kind, &self.name, &name)),
                    (Some(text), OriginKind::Secret) => {
                        let of: Arc<str> = format!("{}/{name}", self.name).into();
                        parameters::filled(found.object, &text.shared()).hidden(&of)
                    }
                    (Some(text), _) => parameters::filled(found.object, &text.shared()),
                };
                let location = Some(lookup_scope::location(found, key.key.span));
                let object = Some(Arc::clone(&self.name));
                let origin = Origin { object, key: Some(Arc::clone(&name)), location, ..Origin::new(self.kind) };
                all.push((name, value, origin));
            }
        }
        all
    }
}

fn key_hole(kind: OriginKind, object: &Arc<str>, key: &str) -> UnknownReason {
    match kind {
        OriginKind::Secret => UnknownReason::SecretKey(Arc::clone(object), key.into()),
        _ => UnknownReason::ConfigMapKey(Arc::clone(object), key.into()),
    }
}

fn kind_in_words(kind: OriginKind) -> &'static str {
    if kind == OriginKind::Secret { "secret" } else { "config map" }
}
