//! What a container really gets: every variable with its value, where it comes from and how it came about.
//!
//! One resolution serves hover, diagnostics and every command. Nothing here reads files or knows a tree: it works on
//! the facts of a snapshot.

#![warn(clippy::disallowed_methods)]

mod admission;
mod binding;
mod controller_variables;
mod downward_api;
mod env_file;
mod env_sources;
mod environment;
mod expand;
mod lookup_scope;
mod parameter_generator;
mod parameters;
mod pod_volumes;
mod preset_selector;
mod quantity;
mod script_runner;
mod service_variable_references;
mod service_variables;
mod shell_items;
mod value;
mod variable_names;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use admission::{
    Admission, Conflict, ConflictKind, ContainerChanges, DuplicateEntry, MatchingPreset, PossiblePreset, PresetEntry,
    presets_apply_one_by_one,
};
pub use binding::{Binding, Lookup, Origin, OriginKind, ScalarPart};
pub use downward_api::{ENV_FIELDS, is_dns_subdomain, is_env_field, is_env_resource, is_valid_divisor};
pub use env_file::{EnvFile, EnvFileContent, EnvFileLookup, EnvFileSyntax, EnvFiles, ScriptPart, path_in_volume};
pub use env_sources::has_data_key_characters;
pub use environment::{
    Environment, ExpandedScalar, PresetLocation, ProbeCommand, SubPath, UnresolvedReason, UnresolvedReference,
};
pub use expand::{DollarCopying, Expansion, ExpansionStep, expand};
pub use parameter_generator::{
    GeneratorError, GeneratorPart, GeneratorProblem, RandomCharacters, RangeEnds, find_literal_brackets,
    generate_value, parse_generator,
};
pub use parameters::ParameterType;
pub use pod_volumes::{MountedVolume, PodVolumes};
pub use preset_selector::{
    PRESET_EXCLUDE_ANNOTATION, PresetProblem, SelectorMatch, is_exempt_from_presets, preset_problems,
};
pub use quantity::Quantity;
pub use service_variable_references::{ServiceVariableReference, service_variable_references};
pub use service_variables::{
    ServiceLinks, ServiceVariables, has_cluster_ip, is_service_variable_name, variables as service_variables,
};
pub use shell_items::{is_script_item, script_index};
pub use value::{ResolvedValue, UnknownReason, ValuePart, ValueState};
pub use variable_names::{is_relaxed_variable_name, is_service_name, is_strict_variable_name};

use crate::k8s::{Container, ContainerRole, Model, Object, Pod, PodPreset};
use crate::workspace::{KubernetesVersion, ObjectMatch, Snapshot};
use lookup_scope::LookupScope;
use service_variables::bytes_of;

/// The environment of one container.
pub fn environment(
    snapshot: &Snapshot,
    file: &Arc<str>,
    object: &Object,
    pod: &Pod,
    container: &Container,
) -> Environment {
    Resolver::new(snapshot, None).environment(file, object, pod, container)
}

/// What every container of a pod sees of the others. Whoever lets an environment rest on other containers either adds
/// what it asks here, or notes it with [`Snapshot::depend_on_siblings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedPodInputs {
    links: ServiceLinks,
    /// Whether there is one regular container, which then serves (B26).
    is_alone: bool,
}

impl SharedPodInputs {
    /// What the containers of a pod have in common.
    pub fn new(pod: &Pod) -> Self {
        let mut regular = pod.containers.iter().filter(|it| it.role == ContainerRole::Container);
        Self { links: ServiceLinks::for_pod(pod), is_alone: regular.next().is_some() && regular.next().is_none() }
    }
}

/// Resolves many containers of one snapshot, and shares what they have in common.
#[derive(Debug)]
pub struct Resolver<'s> {
    snapshot: &'s Snapshot,
    release: Option<KubernetesVersion>,
    known: Arc<Mutex<ServiceVariableCache>>,
    /// Names of all Kustomize `vars`: which of them reach a file is decided by who builds it.
    vars: Vec<Arc<str>>,
}

/// Service variables that were asked for. Pods that see the same services share them, wherever they stand: a large
/// project has tens of thousands. They stay from snapshot to snapshot while no service changes.
#[derive(Debug, Default)]
struct ServiceVariableCache {
    /// By namespace, directory and links: what decides which services are seen.
    by_place: HashMap<ServiceVariableKey, (Arc<ServiceVariables>, ServiceVariableTotals)>,
    /// By the services, each known by the address of its model, and by links.
    by_services: HashMap<(Vec<usize>, ServiceLinks), Arc<ServiceVariables>>,
    /// The models whose addresses count, so that no other gets one of them.
    models: Vec<Arc<Model>>,
}

/// What the services that surely share a pod's namespace put into its environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceVariableTotals {
    /// How many services there are.
    pub services: usize,
    /// About how many bytes their variables take.
    pub bytes: usize,
}

type ServiceVariableKey = (Option<Arc<str>>, Box<str>, ServiceLinks);

impl<'s> Resolver<'s> {
    /// A resolver for a snapshot; `release` takes the place of the settings' one.
    pub fn new(snapshot: &'s Snapshot, release: Option<KubernetesVersion>) -> Self {
        let known = snapshot.derived_from_services();
        Self { snapshot, release, known, vars: snapshot.kustomize_vars().cloned().collect() }
    }

    /// The environment of one container.
    pub fn environment(&self, file: &Arc<str>, object: &Object, pod: &Pod, container: &Container) -> Environment {
        let scope = LookupScope::new(self.snapshot, file, object, self.release, &self.vars);
        let admission = Admission::of(&scope, object, pod);
        let services = self.linked(&scope, file, object, links(pod, admission.as_ref())).0;
        Environment::of(&scope, object, pod, container, services, admission.as_ref())
    }

    /// What `fieldRef` with this path gives in a container.
    pub fn field_value(
        &self,
        file: &Arc<str>,
        object: &Object,
        pod: &Pod,
        container: &Container,
        path: &str,
    ) -> ResolvedValue {
        env_sources::field(
            &LookupScope::new(self.snapshot, file, object, self.release, &self.vars),
            object,
            pod,
            container,
            path,
        )
    }

    /// What PodPresets make of a pod; nothing where none is for it.
    pub fn admission(&self, file: &Arc<str>, object: &Object, pod: &Pod) -> Option<Admission> {
        let scope = LookupScope::new(self.snapshot, file, object, self.release, &self.vars);
        Admission::of(&scope, object, pod)
    }

    /// Whether a preset's selector fits the pods of an object, whatever else keeps the two apart.
    pub fn selector_match(&self, file: &Arc<str>, object: &Object, pod: &Pod, preset: &PodPreset) -> SelectorMatch {
        let scope = LookupScope::new(self.snapshot, file, object, self.release, &self.vars);
        preset_selector::fit(preset, &preset_selector::PodLabels::of(pod, scope.is_template() || scope.is_patch()))
    }

    /// What a pod has in common with the presets that are applied to it.
    pub fn duplicates(&self, file: &Arc<str>, object: &Object, pod: &Pod) -> Vec<DuplicateEntry> {
        let scope = LookupScope::new(self.snapshot, file, object, self.release, &self.vars);
        Admission::duplicates(&scope, object, pod)
    }

    /// What a preset has in conflict with itself.
    pub fn own_conflicts(&self, file: &Arc<str>, object: &Object) -> Vec<Conflict> {
        let scope = LookupScope::new(self.snapshot, file, object, self.release, &self.vars);
        Admission::alone(&scope, file, object)
    }

    /// Which services put their variables into a pod by themselves: its own links count, and those that presets bring.
    pub fn links(&self, file: &Arc<str>, object: &Object, pod: &Pod) -> ServiceLinks {
        links(pod, self.admission(file, object, pod).as_ref())
    }

    /// The env files that a container finds when it starts.
    pub fn env_files(&self, file: &Arc<str>, object: &Object, pod: &Pod, container: &Container) -> EnvFiles {
        let scope = LookupScope::new(self.snapshot, file, object, self.release, &self.vars);
        let services = self.linked(&scope, file, object, links(pod, Admission::of(&scope, object, pod).as_ref())).0;
        EnvFiles::of(&scope, object, pod, container, &services)
    }

    /// The env files that one container of a pod leaves, by its position in it.
    pub fn env_files_written_by(&self, file: &Arc<str>, object: &Object, pod: &Pod, at: usize) -> EnvFiles {
        let scope = LookupScope::new(self.snapshot, file, object, self.release, &self.vars);
        let services = self.linked(&scope, file, object, links(pod, Admission::of(&scope, object, pod).as_ref())).0;
        EnvFiles::left_by(&scope, object, pod, at, &services)
    }

    /// How a file's pods read env files.
    pub fn env_file_syntax(&self, file: &str) -> EnvFileSyntax {
        EnvFileSyntax::for_release(self.release(file), self.snapshot.settings(file).proposals)
    }

    /// The release that a file is for.
    pub fn release(&self, file: &str) -> KubernetesVersion {
        self.release.unwrap_or_else(|| self.snapshot.settings(file).kubernetes)
    }

    /// The oldest release that any file is for.
    pub fn oldest_release(&self) -> KubernetesVersion {
        let defaults = self.snapshot.settings("").kubernetes;
        let all = self.snapshot.all_settings().map(|it| it.kubernetes).chain([defaults]);
        self.release.unwrap_or_else(|| all.min_by_key(|it| it.minor).unwrap_or(defaults))
    }

    /// The service variables of an object's pods, were their links as said.
    pub fn service_variables(&self, file: &Arc<str>, object: &Object, links: ServiceLinks) -> Arc<ServiceVariables> {
        let scope = LookupScope::new(self.snapshot, file, object, self.release, &self.vars);
        self.linked(&scope, file, object, links).0
    }

    /// What the services beside an object put into the environment of its pods, were all links on.
    pub fn service_variable_totals(&self, file: &Arc<str>, object: &Object) -> ServiceVariableTotals {
        let scope = LookupScope::new(self.snapshot, file, object, self.release, &self.vars);
        self.linked(&scope, file, object, ServiceLinks::All).1
    }

    fn linked(
        &self,
        scope: &LookupScope<'_>,
        file: &Arc<str>,
        object: &Object,
        links: ServiceLinks,
    ) -> (Arc<ServiceVariables>, ServiceVariableTotals) {
        let namespace = object.namespace().map(Arc::from);
        let directory = directory_of(file);
        let key = (namespace, directory.into(), links);
        self.snapshot.depend_on_services();
        let known = &mut *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (variables, crowd) = known.by_place.entry(key).or_insert_with(|| {
            let found = scope.services(links);
            let addresses = found.iter().map(|it| Arc::as_ptr(&it.object.model).addr()).collect();
            let crowd = crowd(&found, object, directory);
            let variables = || {
                known.models.extend(found.iter().map(|it| Arc::clone(&it.object.model)));
                Arc::new(lookup_scope::variables(&found, links))
            };
            (Arc::clone(known.by_services.entry((addresses, links)).or_insert_with(variables)), crowd)
        });
        (Arc::clone(variables), *crowd)
    }
}

fn links(pod: &Pod, admission: Option<&Admission>) -> ServiceLinks {
    if admission.is_some_and(Admission::links_explicitly) { ServiceLinks::Explicit } else { ServiceLinks::for_pod(pod) }
}

/// The directory of a file: empty or ending with `/`.
fn directory_of(file: &str) -> &str {
    &file[..file.rfind('/').map_or(0, |slash| slash + 1)]
}

/// Services without a namespace are counted only in the object's own directory: a large tree has many that never meet.
fn crowd(found: &[ObjectMatch<'_>], object: &Object, directory: &str) -> ServiceVariableTotals {
    let mut crowd = ServiceVariableTotals::default();
    for found in found {
        let together = match (found.object.namespace(), object.namespace()) {
            (Some(one), Some(other)) => one == other,
            (None, None) => directory_of(found.file) == directory,
            _ => false,
        };
        if let (true, Some(service), Some(name)) = (together, found.object.service(), found.object.reference_name()) {
            crowd.services += 1;
            crowd.bytes += bytes_of(&name, &service);
        }
    }
    crowd
}

#[cfg(test)]
mod tests;
