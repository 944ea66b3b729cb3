//! Computes the environment of a container: every variable with its value, its source and the steps of its expansion.
//!
//! Variables come from these sources. A later source has precedence over an earlier one:
//!
//! 1. the services of the namespace (`VisibleServices`),
//! 2. `envFrom`, entry after entry; PodPresets append entries ([`Admission`]),
//! 3. variables that a controller adds before `env`,
//! 4. `env`, entry after entry,
//! 5. variables that a controller adds after `env`,
//! 6. entries of `env` that PodPresets add.
//!
//! `$(NAME)` in the `value` of an entry of `env` sees services, `envFrom` and the entries before it. The text is read
//! once, and inserted values are not expanded again ([`expand`]). `command`, `args` and `subPathExpr` see all variables.
//! Exec probes see only the `value` fields of `env`, unexpanded. `k8s::VariableScope` names these cases.
//!
//! Parts of a value that the manifests do not decide are [`UnknownReason`]s, and text from Secrets is marked as secret
//! ([`ResolvedValue`]). References that are not expanded are in [`Environment::unresolved`].
//!
//! Hover, diagnostics and all commands use this one resolution. It reads no files and no syntax trees, only the objects
//! of a [`Snapshot`].

#![warn(clippy::disallowed_methods)]

mod binding;
mod container_user;
mod controller_variables;
mod data_users;
mod downward_api;
mod env_file;
mod env_from;
mod env_sources;
mod environment;
mod expand;
mod lookup_scope;
mod pod_volumes;
mod preset_order;
mod preset_workloads;
mod reference_text;
mod script_inputs;
mod script_runner;
mod service_totals;
mod service_variable_references;
mod service_variables;
mod shell_items;
mod shell_use;
mod similar_names;
mod unresolved;
mod value;
mod variable_names;
mod visible_services;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

pub use crate::build::{Quantity, has_data_key_characters};
pub use binding::{Binding, Lookup, Origin, OriginKind, ScalarPart};
pub use container_user::ContainerUser;
pub use data_users::DataUser;
pub use env_file::{
    EnvFile, EnvFileContent, EnvFileLookup, EnvFileReading, EnvFileSyntax, EnvFiles, FileKeyOutcome, ScriptPart,
    path_in_volume,
};
pub use env_sources::{OpaqueReason, OpaqueSource, elsewhere, meant_objects};
pub use environment::{Environment, ExpandedScalar, PresetLocation, ProbeCommand, SubPath};
pub use expand::{DollarCopying, Expansion, ExpansionStep, expand};
pub use pod_volumes::{MountedVolume, PodVolumes};
pub use reference_text::{ReferencePattern, leading_name, whole_reference};
pub use service_totals::ServiceVariableTotals;
pub use service_variable_references::{ServiceVariableReference, service_variable_references};
pub use service_variables::{
    ServiceLinks, has_cluster_ip, is_service_variable_name, possible_services, variables as service_variables,
};
pub use shell_items::{is_script_item, script_index};
pub use shell_use::{ShellUse, is_expanded_by_programs};
pub use unresolved::{ServiceVariableAbsence, UnresolvedReason, UnresolvedReference};
pub use value::{ResolvedValue, UnknownReason, ValuePart, ValueState};
pub use variable_names::{is_relaxed_variable_name, is_service_name, is_strict_variable_name};

use crate::build::{
    self, Admission, AdmissionContext, BuiltContainer, BuiltObject, BuiltPod, Conflict, DuplicateEntry, SelectorMatch,
};
use crate::k8s::{Container, ContainerRole, EnvFrom, EnvFromSource, MisplacedField, Pod, PodPreset};
use crate::workspace::{KubernetesVersion, Snapshot};
use data_users::DataUsers;
use lookup_scope::LookupScope;
use preset_workloads::PresetWorkloads;
use service_totals::ServiceTotals;
use visible_services::{ServiceVariableCache, VisibleServices};

/// The facts about a pod that the environments of all its containers depend on. Code that lets an environment depend on
/// other containers either adds a field here or calls [`Snapshot::depend_on_siblings`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPodInputs {
    links: ServiceLinks,
    /// Whether there is exactly one regular container, which then receives the traffic (B26).
    is_alone: bool,
    /// Variables that are declared beside the containers by mistake.
    misplaced: Vec<Arc<str>>,
}

impl SharedPodInputs {
    /// Collects the facts of a pod.
    pub fn new(pod: &Pod) -> Self {
        let mut regular = pod.containers.iter().filter(|it| it.role == ContainerRole::Container);
        let is_alone = regular.next().is_some() && regular.next().is_none();
        let names = |it: &MisplacedField| [vec![Arc::clone(&it.key.value)], it.possible_names.clone()].concat();
        Self { links: ServiceLinks::for_pod(pod), is_alone, misplaced: pod.misplaced.iter().flat_map(names).collect() }
    }
}

/// Resolves the containers of one pod.
#[derive(Debug)]
pub struct PodResolver<'r, 'a> {
    resolver: &'r Resolver<'r>,
    pod: BuiltPod<'a>,
    admission: Option<Admission<'a>>,
    links: ServiceLinks,
}

impl<'a> PodResolver<'_, 'a> {
    /// Computes the environment of a container.
    pub fn environment(&self, container: &'a Container) -> Environment<'a> {
        let BuiltPod { object, pod } = self.pod;
        let of = BuiltContainer { object, pod, container };
        let scope = self.resolver.scope(object);
        let services = self.resolver.visible_services(object, self.links);
        let linked = linked_services(of, self.admission.as_ref());
        let absence = |name: &str| self.resolver.absent_service(object, self.links, &linked, name);
        Environment::resolve(&scope, of, &services, self.admission.as_ref(), &absence)
    }
}

/// Resolves the containers of one snapshot, and shares service variables between them.
#[derive(Debug)]
pub struct Resolver<'s> {
    snapshot: &'s Snapshot,
    release: Option<KubernetesVersion>,
    cache: Arc<Mutex<ServiceVariableCache>>,
    /// Names of all Kustomize `vars`. Every file may be built with them.
    vars: Arc<BTreeSet<Arc<str>>>,
    data_users: DataUsers,
    preset_workloads: PresetWorkloads,
}

impl<'s> Resolver<'s> {
    /// Creates a resolver for a snapshot; `release` overrides the release in the settings.
    pub fn new(snapshot: &'s Snapshot, release: Option<KubernetesVersion>) -> Self {
        let cache = snapshot.derived_from_services();
        Self {
            snapshot,
            release,
            cache,
            vars: Arc::new(snapshot.kustomize_vars().cloned().collect()),
            data_users: DataUsers::default(),
            preset_workloads: PresetWorkloads::default(),
        }
    }

    /// Computes the environment of one container.
    pub fn environment<'a>(&self, of: BuiltContainer<'a>) -> Environment<'a> {
        self.pod(of.in_pod()).environment(of.container)
    }

    /// What the containers of a pod share, so that it is computed once for all of them.
    pub fn pod<'a>(&self, pod: BuiltPod<'a>) -> PodResolver<'_, 'a> {
        let admission = self.admission(pod);
        let links = service_links(pod.pod, admission.as_ref());
        PodResolver { resolver: self, pod, admission, links }
    }

    /// Why nothing defines a name that looks like a service variable; `None` if that is not known.
    fn absent_service(
        &self,
        object: BuiltObject<'_>,
        links: ServiceLinks,
        linked: &[(Arc<str>, Arc<str>)],
        name: &str,
    ) -> Option<ServiceVariableAbsence> {
        if !name.contains('_') {
            return None;
        }
        let services = self.visible_services(object, ServiceLinks::All);
        let given = services.get(name);
        // The same name can be a variable of two services, `foo` and `foo-service`.
        if given.is_none()
            && let Some(origin) = services.without_address(name)
        {
            return Some(ServiceVariableAbsence::Headless(origin));
        }
        let mut prefixed = linked.iter().filter_map(|(service, prefix)| Some((service, name.strip_prefix(&**prefix)?)));
        if let Some(origin) = prefixed
            .find_map(|(service, rest)| services.without_address(rest).filter(|it| it.object.as_ref() == Some(service)))
        {
            return Some(ServiceVariableAbsence::Headless(origin));
        }
        if given.is_none() && !is_service_variable_name(name) {
            return None;
        }
        match links {
            ServiceLinks::All => None,
            ServiceLinks::Explicit => {
                let service = given.as_ref().and_then(|it| it.origin.object.clone());
                let link = linked.iter().find(|(it, _)| Some(it) == service.as_ref()).cloned();
                Some(match link {
                    Some((service, prefix)) => ServiceVariableAbsence::Prefixed { service, prefix },
                    None => ServiceVariableAbsence::NotLinked(service),
                })
            }
            ServiceLinks::Off => Some(ServiceVariableAbsence::LinksOff),
        }
    }

    /// The objects whose containers may take variables from a ConfigMap or Secret.
    pub fn data_users<'a>(&self, object: BuiltObject<'a>) -> Vec<DataUser<'a>> {
        self.data_users.of(object)
    }

    /// The workloads that a preset may change, in all views.
    pub fn preset_workloads<'a>(&self, preset: BuiltObject<'a>) -> Vec<BuiltObject<'a>> {
        self.preset_workloads.of(self, preset)
    }

    /// The value of a `fieldRef` with this path in a container.
    pub fn field_value(&self, of: BuiltContainer<'_>, path: &str) -> ResolvedValue {
        env_sources::field_value(&self.scope(of.object), of, path)
    }

    /// The changes that PodPresets make to a pod; `None` if no preset applies to it.
    pub fn admission<'a>(&self, pod: BuiltPod<'a>) -> Option<Admission<'a>> {
        Admission::for_pod(pod, self.admission_context(pod.object))
    }

    /// Whether a preset's selector matches a pod. Namespaces are not compared.
    pub fn selector_match(&self, pod: BuiltPod<'_>, preset: &PodPreset) -> SelectorMatch {
        build::match_pod(preset, &build::PodLabels::new(pod.pod, pod.object.may_have_more_labels()))
    }

    /// Entries of a pod that an applied preset repeats.
    pub fn duplicates(&self, pod: BuiltPod<'_>) -> Vec<DuplicateEntry> {
        Admission::duplicates(pod, self.admission_context(pod.object))
    }

    /// Why the API server refuses a preset; `None` if it is valid.
    pub fn preset_refusal(&self, preset: BuiltObject<'_>) -> Option<String> {
        build::preset_refusal(preset, self.release(preset.file), preset.settings().proposals)
    }

    /// Conflicts between entries of one preset.
    pub fn own_conflicts(&self, preset: BuiltObject<'_>) -> Vec<Conflict> {
        Admission::own_conflicts(preset, self.admission_context(preset))
    }

    /// Which services add their variables to a pod, considering the links of the pod and of its presets.
    pub fn service_links(&self, pod: BuiltPod<'_>) -> ServiceLinks {
        service_links(pod.pod, self.admission(pod).as_ref())
    }

    /// The env files that exist when a container starts.
    pub fn env_files(&self, of: BuiltContainer<'_>) -> EnvFiles {
        EnvFiles::before(&self.scope(of.object), of, &self.pod_services(of.in_pod()))
    }

    /// The env files that one container of a pod writes; `at` is its index in the pod.
    pub fn env_files_written_by(&self, pod: BuiltPod<'_>, at: usize) -> EnvFiles {
        EnvFiles::written_by(&self.scope(pod.object), pod, at, &self.pod_services(pod))
    }

    fn scope<'a>(&'a self, object: BuiltObject<'a>) -> LookupScope<'a> {
        LookupScope::new(object, self.release(object.file), Some(&self.vars).filter(|it| !it.is_empty()))
    }

    fn admission_context(&self, object: BuiltObject<'_>) -> AdmissionContext {
        AdmissionContext { release: self.release(object.file), env_from_names: lookup_scope::env_from_names }
    }

    /// How env files are parsed for the pods of a file.
    pub fn env_file_syntax(&self, file: &str) -> EnvFileSyntax {
        EnvFileSyntax::for_release(self.release(file), self.snapshot.settings(file).proposals)
    }

    /// How a container reads env files.
    pub fn env_file_reading(&self, of: BuiltContainer<'_>) -> EnvFileReading {
        EnvFileReading::of(&self.scope(of.object), of)
    }

    /// Whether the release of a file serves `fileKeyRef`.
    pub fn serves_env_files(&self, file: &str) -> bool {
        env_file::serves_env_files(self.release(file), self.snapshot.settings(file).proposals)
    }

    /// The Kubernetes release of a file.
    pub fn release(&self, file: &str) -> KubernetesVersion {
        self.release.unwrap_or_else(|| self.snapshot.settings(file).kubernetes)
    }

    /// The oldest Kubernetes release of any file.
    pub fn oldest_release(&self) -> KubernetesVersion {
        let defaults = self.snapshot.settings("").kubernetes;
        let all = self.snapshot.all_settings().map(|it| it.kubernetes).chain([defaults]);
        self.release.unwrap_or_else(|| all.min_by_key(|it| it.minor).unwrap_or(defaults))
    }

    /// The number and size of the service variables in an object's pods if all links were on.
    pub fn service_variable_totals(&self, object: BuiltObject<'_>) -> ServiceVariableTotals {
        self.snapshot.depend_on_services();
        let cache = &mut *self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.totals.get_or_insert_with(|| ServiceTotals::of(self.snapshot)).of_object(object)
    }

    /// The services that the containers of a pod see.
    fn pod_services<'a>(&self, pod: BuiltPod<'a>) -> VisibleServices<'a> {
        self.visible_services(pod.object, self.service_links(pod))
    }

    fn visible_services<'a>(&self, object: BuiltObject<'a>, links: ServiceLinks) -> VisibleServices<'a> {
        VisibleServices::new(object, links, &self.cache)
    }
}

/// The services that `envFrom` of a container links with a prefix, also through presets; each with its prefix.
fn linked_services(of: BuiltContainer<'_>, admission: Option<&Admission<'_>>) -> Vec<(Arc<str>, Arc<str>)> {
    let changes = admission.and_then(|it| Some((it, it.container_changes(of)?)));
    let added = changes.into_iter().flat_map(|(all, it)| it.env_from.iter().filter_map(|it| all.env_from(*it)));
    let link = |it: &EnvFrom| match &it.source {
        Some(EnvFromSource::Service { name: Some(name), .. }) => {
            let prefix = it.prefix.as_ref().filter(|it| !it.value.is_empty())?;
            Some((Arc::clone(&name.value), Arc::clone(&prefix.value)))
        }
        _ => None,
    };
    of.container.env_from.iter().chain(added.map(|(_, it)| it)).filter_map(link).collect()
}

fn service_links(pod: &Pod, admission: Option<&Admission<'_>>) -> ServiceLinks {
    if admission.is_some_and(Admission::links_explicitly) { ServiceLinks::Explicit } else { ServiceLinks::for_pod(pod) }
}

#[cfg(test)]
mod tests;
