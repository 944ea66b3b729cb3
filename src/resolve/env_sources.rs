//! The values of `envFrom` and `valueFrom`: ConfigMaps, Secrets, fields, resources and env files (B6 to B24).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::build::{BuiltContainer, BuiltMatch, BuiltObject, Elsewhere, has_data_key_characters};
use crate::diagnostic::Location;
use crate::k8s::{Container, ContainerRole, EnvFrom, EnvFromSource, KeyRef, KeyedData, Pod, ValueFrom, ValueSource};
use crate::resolve::binding::{Binding, Origin, OriginKind, ScalarPart};
use crate::resolve::downward_api;
use crate::resolve::env_file::{self, EnvFile, EnvFileReading, FileKeyOutcome};
use crate::resolve::lookup_scope::LookupScope;
use crate::resolve::service_variables;
use crate::resolve::value::{ResolvedValue, UnknownReason};
use crate::syntax::{has_placeholder, may_start_with, show_placeholders};
use crate::workspace::Globs;

/// A source outside this workspace, or one that is only partly known, which may define variables.
#[derive(Clone, Debug)]
pub(super) enum PossibleSource {
    /// Any name with this prefix: a key of an object.
    Keys { prefix: Arc<str>, kind: OriginKind, object: Arc<str> },
    /// Exactly these names: keys of the object that is probably meant, with the prefix.
    MeantKeys { names: BTreeSet<Arc<str>>, kind: OriginKind, object: Arc<str> },
    /// Any variable of this service, with this prefix.
    Service { prefix: Arc<str>, service: Arc<str> },
    /// Any name that the settings declare.
    Globs(Globs),
    /// Exactly this name.
    Name(Arc<str>),
    /// Exactly these names.
    Names(Arc<BTreeSet<Arc<str>>>),
    /// Any name.
    Any,
    /// Any name that the container does not declare.
    Undeclared,
}

impl PossibleSource {
    /// The unknown value of a variable if this source may define it; `is_declared` is whether the container has an
    /// entry for it.
    pub(super) fn unknown_value(&self, name: &str, is_declared: bool) -> Option<UnknownReason> {
        match self {
            Self::Any => Some(UnknownReason::External(name.into())),
            Self::Undeclared => {
                (!is_declared && has_data_key_characters(name)).then(|| UnknownReason::External(name.into()))
            }
            Self::Globs(globs) => globs.matches(name).then(|| UnknownReason::External(name.into())),
            Self::Name(it) => (**it == *name).then(|| UnknownReason::External(name.into())),
            Self::Names(names) => names.contains(name).then(|| UnknownReason::External(name.into())),
            Self::MeantKeys { names, kind, object } => names.contains(name).then(|| unknown_key(*kind, object, name)),
            Self::Service { prefix, .. } if has_placeholder(prefix) => {
                may_start_with(prefix, name).then(|| UnknownReason::ServiceVariable(name.into()))
            }
            Self::Service { prefix, service } => {
                let variable = name.strip_prefix(&**prefix)?;
                let is_given = has_placeholder(service) || service_variables::is_variable_of(service, variable);
                is_given.then(|| UnknownReason::ServiceVariable(name.into()))
            }
            Self::Keys { prefix, kind, object } if has_placeholder(prefix) => {
                may_start_with(prefix, name).then(|| unknown_key(*kind, object, name))
            }
            Self::Keys { prefix, kind, object } => {
                let key = name.strip_prefix(&**prefix).filter(|it| has_data_key_characters(it))?;
                Some(unknown_key(*kind, object, key))
            }
        }
    }
}

/// An entry of `envFrom`, or a preset, whose variables are not all known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpaqueSource {
    /// ConfigMap, Secret, Service or preset.
    pub kind: OriginKind,
    /// The name of the object.
    pub object: Arc<str>,
    /// The `prefix` of the entry.
    pub prefix: Arc<str>,
    /// Why its variables are not known.
    pub reason: OpaqueReason,
}

/// Why the variables of a source are not all known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpaqueReason {
    /// The object is not in this workspace.
    NotHere,
    /// An object of the name is elsewhere, and does not belong to the pod.
    Elsewhere(Elsewhere),
    /// The name of the object contains a Helm expression or a parameter without a value.
    UnknownName,
    /// Something other than a manifest of the object makes it or adds keys to it.
    MadeBy(&'static str),
    /// The object may have more keys than its manifest shows.
    MoreKeys,
    /// The manifest of the service does not show its ports.
    UnknownPorts,
    /// The preset may apply to the pod.
    MayApply,
}

impl std::fmt::Display for OpaqueReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotHere => f.write_str("not in these files"),
            Self::Elsewhere(it) => it.fmt(f),
            Self::UnknownName => f.write_str("its name is not known"),
            Self::MadeBy(maker) => write!(f, "comes from {maker}, may have more keys"),
            Self::MoreKeys => f.write_str("may have more keys"),
            Self::UnknownPorts => f.write_str("its ports are not known"),
            Self::MayApply => f.write_str("it is not known whether it applies"),
        }
    }
}

/// The objects that a name in an object probably means, if no object has it: those with a name that it is a slip of.
/// `missing-object` reports it. A name that an entry of `envFrom` has too is another object.
pub fn meant_objects<'s, 'e>(
    user: BuiltObject<'s>,
    kind: OriginKind,
    name: &str,
    mut env_from: impl Iterator<Item = &'e EnvFrom>,
) -> Vec<BuiltMatch<'s>> {
    let found = match kind {
        OriginKind::Secret => user.meant_secrets(name),
        _ => user.meant_config_maps(name),
    };
    let is_it = |it: &EnvFrom| {
        let name = match (&it.source, kind) {
            (Some(EnvFromSource::Secret { name, .. }), OriginKind::Secret) => name,
            (Some(EnvFromSource::ConfigMap { name, .. }), OriginKind::ConfigMap) => name,
            _ => return false,
        };
        let near = found.first().and_then(|it| it.object.model.reference_name());
        name.as_ref().is_some_and(|it| Some(&*it.value) == near)
    };
    // The text of a template is not what is applied.
    let is_template = user.snapshot.file(user.file).is_some_and(|it| it.is_template());
    if is_template || !found.is_empty() && env_from.any(is_it) { Vec::new() } else { found }
}

/// The variables in fields of a container that are written beside the containers.
pub(super) fn misplaced_sources(pod: &Pod) -> impl Iterator<Item = PossibleSource> {
    pod.misplaced.iter().flat_map(|field| {
        let is_open = &*field.key.value == "envFrom";
        let names = field.possible_names.iter().map(|name| PossibleSource::Name(Arc::clone(name)));
        names.chain(is_open.then_some(PossibleSource::Any))
    })
}

/// Sources other than `envFrom` that may define variables of a container: settings, Kustomize, Helm expressions, the
/// base of a patch, the container of a deployment hook.
pub(super) fn other_sources(scope: &LookupScope<'_>, container: &Container) -> Vec<PossibleSource> {
    let mut sources = vec![PossibleSource::Globs(scope.settings().externals.variables.clone())];
    sources.extend(scope.vars().map(|it| PossibleSource::Names(Arc::clone(it))));
    sources.extend(container.shape.possible_names.iter().map(|name| PossibleSource::Name(Arc::clone(name))));
    if container.may_have_more_variables || container.role == ContainerRole::Hook || is_part_of_patch(scope, container)
    {
        sources.push(PossibleSource::Any);
    }
    if has_references(container) {
        let (snapshot, file) = (scope.object.snapshot, scope.object.file);
        let patched = snapshot.patched_variables(file);
        if patched.is_open || snapshot.may_have_other_vars(file) {
            sources.push(PossibleSource::Any);
        }
        sources.extend(patched.names.into_iter().map(PossibleSource::Name));
    }
    sources
}

/// Whether a container has a text with a reference.
fn has_references(container: &Container) -> bool {
    let values = container.env.iter().filter_map(|it| it.value.as_ref());
    let probes = container.probes.iter().flat_map(|it| &it.command);
    let paths = container.mounts.iter().filter_map(|it| it.sub_path_expr.as_ref());
    let mut texts = values.chain(&container.command).chain(&container.args).chain(probes).chain(paths);
    texts.any(|it| it.value.contains("$("))
}

/// Whether a container is part of a patch, with other fields in the base.
pub(super) fn is_part_of_patch(scope: &LookupScope<'_>, container: &Container) -> bool {
    let is_pod = scope.object.model.kind.as_ref().is_some_and(|it| &*it.value == "Pod");
    (container.image.is_none() && !is_pod) || scope.is_patch()
}

/// Whether a pod may have more fields than the manifest shows: its controller, the base of a patch or a Helm expression
/// may add some.
fn may_have_more_fields(scope: &LookupScope<'_>, of: BuiltContainer<'_>) -> bool {
    of.pod.controller.is_unknown() || is_part_of_patch(scope, of.container) || scope.is_template()
}

/// The value of a field of the pod in a container.
pub(super) fn field_value(scope: &LookupScope<'_>, of: BuiltContainer<'_>, path: &str) -> ResolvedValue {
    let of_preset = || downward_api::preset_annotation(of.in_pod(), path, scope.admission_context());
    of_preset().unwrap_or_else(|| downward_api::field(of.in_pod(), path, may_have_more_fields(scope, of)))
}

/// The value of a `valueFrom`; `None` if the entry is skipped (B17).
pub(super) fn value_from(
    scope: &LookupScope<'_>,
    of: BuiltContainer<'_>,
    from: &ValueFrom,
    location: &Location,
) -> Option<Binding> {
    let local =
        |kind, value| Some(Binding::new("", value, Origin { location: Some(location.clone()), ..Origin::new(kind) }));
    let shared = |text: &Option<crate::k8s::Text>| text.as_ref().map(|it| Arc::clone(&it.value));
    // B20: `sources` is in the order in which the kubelet checks them.
    match from.sources.first() {
        // B19: without a usable source the value is empty. The API refuses it (V7), or the entry is incomplete.
        None => local(OriginKind::Env, ResolvedValue::unknown(UnknownReason::Unfinished)),
        Some(ValueSource::Field { path, .. }) => match path {
            Some(path) => local(OriginKind::Field, field_value(scope, of, &path.value)),
            None => local(OriginKind::Field, ResolvedValue::unknown(UnknownReason::Unfinished)),
        },
        Some(ValueSource::Resource { container: whose, resource, divisor }) => {
            let text = |it: &Option<crate::k8s::Text>| it.as_ref().map(|it| Arc::clone(&it.value));
            let (whose, resource, divisor) = (text(whose), text(resource), text(divisor));
            if whose.is_some() {
                scope.depend_on_siblings();
            }
            let query = downward_api::ResourceQuery {
                container: whose.as_deref(),
                resource: resource.as_deref(),
                divisor: divisor.as_deref(),
                has_pod_limits: scope.release().is_at_least(34),
                is_open: may_have_more_fields(scope, of),
            };
            local(OriginKind::Resource, downward_api::resource(of.pod, of.container, query))
        }
        Some(ValueSource::ConfigMap(reference)) => key_value(scope, OriginKind::ConfigMap, reference),
        Some(ValueSource::Secret(reference)) => key_value(scope, OriginKind::Secret, reference),
        Some(ValueSource::File { volume, path, key, optional, .. }) => {
            let part = |text| shared(text).unwrap_or_else(|| "?".into());
            let reference =
                FileKeyReference { volume: part(volume), path: part(path), key: part(key), optional: *optional };
            file_key_value(scope, of, &reference, location)
        }
    }
}

/// A `fileKeyRef`; absent fields are `?`.
struct FileKeyReference {
    volume: Arc<str>,
    path: Arc<str>,
    key: Arc<str>,
    optional: bool,
}

/// The value of a `fileKeyRef` (F3 to F6, PF3 to PF7).
fn file_key_value(
    scope: &LookupScope<'_>,
    of: BuiltContainer<'_>,
    reference: &FileKeyReference,
    location: &Location,
) -> Option<Binding> {
    let FileKeyReference { volume, path, key, optional } = reference;
    let mut origin = Origin {
        object: Some(Arc::clone(volume)),
        key: Some(Arc::clone(key)),
        location: Some(location.clone()),
        ..Origin::new(OriginKind::EnvFile)
    };
    let unknown = |reason, origin| Some(Binding::new("", ResolvedValue::unknown(reason), origin));
    if !scope.serves_env_files() {
        return unknown(UnknownReason::Unserved { field: "fileKeyRef", release: scope.release() }, origin);
    }
    let file = scope.files().map_or(EnvFile::Unknown, |files| env_file::find_file(files, volume, path));
    let (path, volume) = (Arc::clone(path), Arc::clone(volume));
    let reason = match file.outcome(key, *optional, EnvFileReading::of(scope, of)) {
        FileKeyOutcome::Value(value, range) => {
            if let EnvFile::Written(content) = &file
                && let Some(part) = content.script_part(range)
            {
                origin.location = Some(scope.object.location(part.text.span));
                origin.inside = Some(ScalarPart { text: part.text, range: part.range });
            }
            return Some(Binding::new("", value, origin));
        }
        FileKeyOutcome::Skipped => return None,
        FileKeyOutcome::MissingFile => UnknownReason::MissingFile { path, volume },
        FileKeyOutcome::LateFile(_) => UnknownReason::LateFile { path, volume },
        FileKeyOutcome::MissingKey => UnknownReason::MissingKey(format!("{key} of env file {path}").into()),
        FileKeyOutcome::Refused(_) => UnknownReason::RefusedFile { path, volume },
        FileKeyOutcome::Unreadable(_) => UnknownReason::UnreadableFile { path, volume },
        FileKeyOutcome::Unknown => unknown_file_key(reference),
    };
    unknown(reason, origin)
}

fn unknown_file_key(reference: &FileKeyReference) -> UnknownReason {
    let FileKeyReference { volume, path, key, .. } = reference;
    UnknownReason::EnvFileKey { key: Arc::clone(key), path: Arc::clone(path), volume: Arc::clone(volume) }
}

/// The value of a `configMapKeyRef` or `secretKeyRef` (B17, B18).
fn key_value(scope: &LookupScope<'_>, kind: OriginKind, reference: &KeyRef) -> Option<Binding> {
    let (Some(name), Some(key)) = (&reference.name, &reference.key) else {
        return Some(Binding::new("", ResolvedValue::unknown(UnknownReason::Unfinished), Origin::new(kind)));
    };
    let (name, key) = (&name.value, &key.value);
    let objects = NamedObjects::find(scope.object, kind, name);
    let mut candidates = objects.values_of(key);
    if candidates.is_empty() {
        let origin = Origin { object: Some(Arc::clone(name)), key: Some(Arc::clone(key)), ..Origin::new(kind) };
        let may_exist = objects.may_have_more_keys() || has_placeholder(key);
        let reason = match (may_exist, reference.optional) {
            (true, _) => unknown_key(kind, name, key),
            (false, true) => return None,
            (false, false) => UnknownReason::MissingKey(format!("{key} of {} {name}", kind_name(kind)).into()),
        };
        candidates.push((ResolvedValue::unknown(reason), origin));
    }
    Binding::from_candidates("", &format!("values of {} {name}", kind_name(kind)), candidates)
}

/// The ConfigMaps or Secrets that a name may refer to.
#[derive(Clone, Debug)]
pub(super) struct NamedObjects<'s> {
    kind: OriginKind,
    name: Arc<str>,
    found: Vec<BuiltMatch<'s>>,
}

impl<'s> NamedObjects<'s> {
    pub(super) fn find(user: BuiltObject<'s>, kind: OriginKind, name: &Arc<str>) -> Self {
        let found = match kind {
            OriginKind::Secret => user.secrets(name),
            _ => user.config_maps(name),
        };
        Self { kind, name: show_placeholders(name).into(), found }
    }

    /// Whether there may be keys that this workspace does not show.
    fn may_have_more_keys(&self) -> bool {
        self.found.is_empty() || self.found.iter().any(|it| it.may_have_more_keys)
    }

    /// Why there may be keys that this workspace does not show; `None` if it shows all. `name` is as written.
    pub(super) fn opaque_reason(&self, scope: &LookupScope<'_>, name: &str) -> Option<OpaqueReason> {
        if self.found.is_empty() {
            return Some(not_found(scope, self.kind, name));
        }
        let mut open = self.found.iter().filter(|it| it.may_have_more_keys).peekable();
        open.peek()?;
        let maker = open.find_map(|it| it.keyed_data()?.made_by);
        Some(maker.map_or(OpaqueReason::MoreKeys, OpaqueReason::MadeBy))
    }

    /// The values of a key, candidate after candidate.
    pub(super) fn values_of(&self, key: &str) -> Vec<(ResolvedValue, Origin)> {
        let mut all: Vec<(ResolvedValue, Origin)> = Vec::new();
        for found in &self.found {
            let entries = found.keyed_data().into_iter().flat_map(|it| it.entries_named(key));
            // The settings name keys without values; a manifest with the same key has the value.
            let is_external = found.object.model.kind.is_none();
            if is_external && !all.is_empty() {
                continue;
            }
            for entry in entries {
                let name = Arc::clone(&entry.key.value);
                let value = match (&entry.value, self.kind) {
                    (None, _) => ResolvedValue::unknown(unknown_key(self.kind, &self.name, &name)),
                    (Some(text), OriginKind::Secret) => {
                        let of: Arc<str> = format!("{}/{name}", self.name).into();
                        ResolvedValue::written(text.shared()).marked_secret(&of)
                    }
                    (Some(text), _) => ResolvedValue::written(text.shared()),
                };
                let location = Some(found.location(entry.key.span));
                let object = Some(Arc::clone(&self.name));
                let origin = Origin { object, key: Some(name), location, ..Origin::new(self.kind) };
                all.push((value, origin));
            }
        }
        all
    }

    /// Whether a key has unknown parts.
    pub(super) fn has_unknown_keys(&self) -> bool {
        self.found.iter().filter_map(BuiltMatch::keyed_data).any(KeyedData::has_unknown_keys)
    }

    /// The names of all keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.found.iter().filter_map(BuiltMatch::keyed_data).flat_map(|it| &it.keys).map(|it| &it.key.value)
    }
}

/// Why no object has this name.
pub(super) fn not_found(scope: &LookupScope<'_>, kind: OriginKind, name: &str) -> OpaqueReason {
    if has_placeholder(name) || name.contains("${") || name.contains("{{") {
        return OpaqueReason::UnknownName;
    }
    elsewhere(scope.object, kind, name).map_or(OpaqueReason::NotHere, OpaqueReason::Elsewhere)
}

/// Where an object of a name is that is not meant.
pub fn elsewhere(user: BuiltObject<'_>, kind: OriginKind, name: &str) -> Option<Elsewhere> {
    match kind {
        OriginKind::ConfigMap => user.config_map_elsewhere(name),
        OriginKind::Secret => user.secret_elsewhere(name),
        OriginKind::Service => user.service_elsewhere(name),
        _ => None,
    }
}

fn unknown_key(kind: OriginKind, object: &Arc<str>, key: &str) -> UnknownReason {
    match kind {
        OriginKind::Secret => UnknownReason::SecretKey(Arc::clone(object), key.into()),
        _ => UnknownReason::ConfigMapKey(Arc::clone(object), key.into()),
    }
}

pub(super) fn kind_name(kind: OriginKind) -> &'static str {
    if kind == OriginKind::Secret { "secret" } else { "config map" }
}
