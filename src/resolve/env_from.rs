//! The variables of `envFrom` (B6 to B10), looked up by name.
//!
//! A ConfigMap can have thousands of keys and thousands of users. A container costs what it refers to: all variables of
//! `envFrom` are computed only where they are shown.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::build::{BuiltMatch, BuiltObject, EnvFromRefusal};
use crate::diagnostic::Location;
use crate::k8s::{EnvFrom, EnvFromSource, ObjectData};
use crate::resolve::binding::{Binding, Origin, OriginKind};
use crate::resolve::env_sources::{self, NamedObjects, OpaqueReason, OpaqueSource, PossibleSource, kind_name};
use crate::resolve::lookup_scope::{self, LookupScope};
use crate::resolve::preset_order::OrderDependence;
use crate::resolve::service_variables;
use crate::resolve::value::ResolvedValue;
use crate::resolve::variable_names;
use crate::resolve::visible_services::VisibleServices;
use crate::syntax::{has_placeholder, show_placeholders};

/// An entry of `envFrom` of a container or a preset, with its location.
pub(super) struct EnvFromEntry<'e> {
    pub(super) entry: &'e EnvFrom,
    pub(super) location: Location,
    /// The preset that adds it.
    pub(super) preset: Option<Arc<str>>,
}

/// The variables of `envFrom`.
#[derive(Clone, Debug)]
pub(super) struct EnvFromVariables<'s> {
    entries: Vec<SourceEntry<'s>>,
    /// Whether the kubelet skips keys that are not valid variable names (B10).
    checks_names: bool,
    /// Variables whose values depend on the order of presets.
    dependent: BTreeMap<Arc<str>, Vec<(ResolvedValue, Origin)>>,
    known: RefCell<HashMap<Box<str>, Option<Arc<Binding>>>>,
    all: OnceCell<BTreeMap<Arc<str>, Arc<Binding>>>,
}

/// An entry of `envFrom` whose source can be read.
#[derive(Clone, Debug)]
struct SourceEntry<'s> {
    prefix: Arc<str>,
    location: Location,
    preset: Option<Arc<str>>,
    /// What the values are, for the text of an ambiguous value.
    what: String,
    values: SourceValues<'s>,
}

#[derive(Clone, Debug)]
enum SourceValues<'s> {
    /// The keys of a ConfigMap or Secret.
    Keys(NamedObjects<'s>),
    /// The variables of a service.
    Service(BTreeMap<Arc<str>, Vec<(ResolvedValue, Origin)>>),
}

impl SourceEntry<'_> {
    /// The values of a variable, from each object that may be meant.
    fn values_of(&self, name: &str) -> Vec<(ResolvedValue, Origin)> {
        let Some(key) = name.strip_prefix(&*self.prefix) else { return Vec::new() };
        match &self.values {
            SourceValues::Keys(objects) => objects.values_of(key),
            SourceValues::Service(variables) => variables.get(key).cloned().unwrap_or_default(),
        }
    }

    /// Adds the names of all variables.
    fn add_names(&self, names: &mut BTreeSet<Arc<str>>) {
        let full_name = |key: &Arc<str>| match &*self.prefix {
            "" => Arc::clone(key),
            prefix => format!("{prefix}{key}").into(),
        };
        match &self.values {
            SourceValues::Keys(objects) => names.extend(objects.keys().map(full_name)),
            SourceValues::Service(variables) => names.extend(variables.keys().map(full_name)),
        }
    }
}

impl EnvFromVariables<'_> {
    /// The variable of a name. `services` has the variables that `envFrom` hides.
    pub(super) fn get(&self, name: &str, services: Option<&VisibleServices<'_>>) -> Option<Arc<Binding>> {
        if self.entries.is_empty() {
            return None;
        }
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let found = self.find(name, services);
        self.known.borrow_mut().insert(name.into(), found.clone());
        found
    }

    fn find(&self, name: &str, services: Option<&VisibleServices<'_>>) -> Option<Arc<Binding>> {
        if self.checks_names && !variable_names::is_strict_variable_name(name) {
            return None;
        }
        let mut found: Option<Arc<Binding>> = None;
        for entry in &self.entries {
            let Some(binding) = Binding::from_candidates(name, &entry.what, entry.values_of(name)) else { continue };
            let binding = Binding { entry: Some(entry.location.clone()), preset: entry.preset.clone(), ..binding };
            let hidden = found.take().or_else(|| services.and_then(|it| it.get(name)));
            found = Some(Arc::new(binding.hiding(hidden.as_ref())));
        }
        match (found, self.dependent.get(name)) {
            (Some(binding), Some(alternatives)) => {
                Some(Arc::new(OrderDependence::source(&binding, alternatives.clone())))
            }
            (found, _) => found,
        }
    }

    /// All variables.
    pub(super) fn all(&self, services: Option<&VisibleServices<'_>>) -> &BTreeMap<Arc<str>, Arc<Binding>> {
        self.all.get_or_init(|| {
            let found = self.names().into_iter().filter_map(|it| Some((Arc::clone(&it), self.get(&it, services)?)));
            found.collect()
        })
    }

    /// The names of all variables that the sources have.
    pub(super) fn names(&self) -> BTreeSet<Arc<str>> {
        let mut names = BTreeSet::new();
        self.entries.iter().for_each(|it| it.add_names(&mut names));
        names
    }

    /// The names with unknown parts.
    pub(super) fn unknown_names(&self) -> Vec<Arc<str>> {
        let mut names = BTreeSet::new();
        for entry in &self.entries {
            let has_unknown_name = match &entry.values {
                SourceValues::Keys(objects) => objects.has_unknown_keys(),
                SourceValues::Service(variables) => variables.keys().any(|it| has_placeholder(it)),
            };
            if has_unknown_name || has_placeholder(&entry.prefix) {
                entry.add_names(&mut names);
            }
        }
        names.into_iter().filter(|it| has_placeholder(it) && self.get(it, None).is_some()).collect()
    }

    /// Sets the variables whose values depend on the order of presets.
    pub(super) fn set_dependent(&mut self, dependent: &BTreeMap<Arc<str>, Vec<(ResolvedValue, Origin)>>) {
        if !dependent.is_empty() {
            self.dependent.clone_from(dependent);
            self.known.borrow_mut().clear();
        }
    }
}

/// The entries of `envFrom`, and what is not known about them.
pub(super) struct EnvFromSources<'s> {
    pub(super) variables: EnvFromVariables<'s>,
    /// Sources that may have more keys.
    pub(super) possible: Vec<PossibleSource>,
    /// The same sources with the reason.
    pub(super) opaque: Vec<OpaqueSource>,
}

/// Reads the entries of `envFrom` of a container of an object, in order (B6 to B10).
pub(super) fn env_from<'s>(
    scope: &LookupScope<'_>,
    user: BuiltObject<'s>,
    entries: &[EnvFromEntry<'_>],
) -> EnvFromSources<'s> {
    let (mut readable, mut possible, mut opaque) = (Vec::new(), Vec::new(), Vec::new());
    for EnvFromEntry { entry, location, preset } in entries {
        // The branches of a template are side by side in its text.
        if !scope.is_template() && !EnvFromRefusal::all(entry, scope.release()).is_empty() {
            // A reference to a variable that the entry is meant to give is not a second mistake.
            possible.push(PossibleSource::Undeclared);
            continue;
        }
        let prefix = entry.prefix.as_ref().map_or_else(|| "".into(), |it| Arc::clone(&it.value));
        let read = match &entry.source {
            Some(EnvFromSource::ConfigMap { name: Some(name), optional }) => {
                let meant = Meant { others: entries, is_required: !optional };
                objects((scope, user), OriginKind::ConfigMap, &name.value, &prefix, meant)
            }
            Some(EnvFromSource::Secret { name: Some(name), optional }) => {
                let meant = Meant { others: entries, is_required: !optional };
                objects((scope, user), OriginKind::Secret, &name.value, &prefix, meant)
            }
            Some(EnvFromSource::Service { name: Some(name), .. }) => linked_service(scope, &name.value, &prefix),
            _ => {
                // The same for an entry whose source cannot be read.
                possible.extend((!entry.others.is_empty()).then_some(PossibleSource::Undeclared));
                continue;
            }
        };
        if let Some((source, reason)) = read.possible {
            possible.push(source);
            opaque.push(reason);
        }
        let (what, values) = (read.what, read.values);
        readable.push(SourceEntry { prefix, location: location.clone(), preset: preset.clone(), what, values });
    }
    let variables = EnvFromVariables {
        entries: readable,
        checks_names: scope.checks_env_from_names(),
        dependent: BTreeMap::new(),
        known: RefCell::default(),
        all: OnceCell::new(),
    };
    EnvFromSources { variables, possible, opaque }
}

/// The source of one entry of `envFrom`.
struct ReadSource<'s> {
    what: String,
    values: SourceValues<'s>,
    /// Set if the source may have more variables.
    possible: Option<(PossibleSource, OpaqueSource)>,
}

/// What decides whether a name without an object is a slip.
struct Meant<'e> {
    /// All entries of `envFrom`.
    others: &'e [EnvFromEntry<'e>],
    /// Whether the container needs the object.
    is_required: bool,
}

/// The ConfigMaps or Secrets of a name. Without an object of this name the variables are those of the object that is meant.
fn objects<'s>(
    (scope, user): (&LookupScope<'_>, BuiltObject<'s>),
    kind: OriginKind,
    name: &Arc<str>,
    prefix: &Arc<str>,
    meant: Meant<'_>,
) -> ReadSource<'s> {
    let objects = NamedObjects::find(user, kind, name);
    let possible = objects.opaque_reason(scope, name).map(|reason| {
        let meant = match reason {
            OpaqueReason::NotHere if meant.is_required => {
                env_sources::meant_objects(scope.object, kind, name, meant.others.iter().map(|it| it.entry))
            }
            _ => Vec::new(),
        };
        let object = Arc::clone(name);
        let source = if meant.is_empty() || meant.iter().any(|it| it.may_have_more_keys) {
            PossibleSource::Keys { prefix: Arc::clone(prefix), kind, object }
        } else {
            let keys = meant.iter().filter_map(BuiltMatch::keyed_data).flat_map(|it| &it.keys);
            let names = keys.map(|it| format!("{prefix}{}", it.key.value).into()).collect();
            PossibleSource::MeantKeys { names, kind, object }
        };
        let object = show_placeholders(name).into();
        (source, OpaqueSource { kind, object, prefix: Arc::clone(prefix), reason })
    });
    let what = format!("values of {} {name}", kind_name(kind));
    ReadSource { what, values: SourceValues::Keys(objects), possible }
}

/// The variables of a service in `envFrom`.
fn linked_service<'s>(scope: &LookupScope<'_>, name: &Arc<str>, prefix: &Arc<str>) -> ReadSource<'s> {
    let mut values: BTreeMap<Arc<str>, Vec<(ResolvedValue, Origin)>> = BTreeMap::new();
    let found = scope.object.services_named(name);
    let mut is_open = found.is_empty();
    for found in &found {
        let ObjectData::Service(service) = &found.object.model.data else { continue };
        is_open |= service_variables::has_unknown_ports(service);
        let origin = lookup_scope::service_origin(found, name);
        for (variable, value) in service_variables::variables(name, service) {
            let candidates = values.entry(variable.into()).or_default();
            // S8: a service may define a name twice; the last one wins.
            candidates.retain(|(_, other)| *other != origin);
            candidates.push((value, origin.clone()));
        }
    }
    let possible = is_open.then(|| {
        let reason = match found.is_empty() {
            true => env_sources::not_found(scope, OriginKind::Service, name),
            false => OpaqueReason::UnknownPorts,
        };
        let source = PossibleSource::Service { prefix: Arc::clone(prefix), service: Arc::clone(name) };
        let object = show_placeholders(name).into();
        (source, OpaqueSource { kind: OriginKind::Service, object, prefix: Arc::clone(prefix), reason })
    });
    ReadSource { what: format!("values of service {name}"), values: SourceValues::Service(values), possible }
}
