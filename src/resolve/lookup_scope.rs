//! The context in which a container's names are looked up: its file, namespace, release and settings.

use std::borrow::Cow;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{KeyedData, Model, Object, ObjectData, Text};
use crate::resolve::admission::Admission;
use crate::resolve::binding::{Binding, Origin, OriginKind};
use crate::resolve::env_file::EnvFileSyntax;
use crate::resolve::expand::DollarCopying;
use crate::resolve::script_runner::VolumeFiles;
use crate::resolve::service_variables::{
    DEFAULT_SERVICE, READ_ONLY_SERVICE, ServiceCandidate, ServiceLinks, ServiceVariables,
};
use crate::text::Span;
use crate::workspace::{KubernetesVersion, LookupSite, ObjectMatch, Settings, Snapshot};

/// The object and file that refer to other objects, with the settings that apply there.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookupScope<'s> {
    snapshot: &'s Snapshot,
    file: &'s Arc<str>,
    namespace: Option<&'s str>,
    release: KubernetesVersion,
    vars: &'s [Arc<str>],
    /// The object that contains the references.
    object: &'s Object,
    /// The env files at the start of the container; `None` until they are computed.
    files: Option<&'s VolumeFiles>,
}

impl<'s> LookupScope<'s> {
    pub(super) fn new(
        snapshot: &'s Snapshot,
        file: &'s Arc<str>,
        object: &'s Object,
        release: Option<KubernetesVersion>,
        vars: &'s [Arc<str>],
    ) -> Self {
        let namespace = object.namespace();
        let release = release.unwrap_or_else(|| snapshot.settings(file).kubernetes);
        Self { snapshot, file, namespace, release, vars, object, files: None }
    }

    /// The same scope with computed env files.
    pub(super) fn with_files<'f>(&self, files: &'f VolumeFiles) -> LookupScope<'f>
    where
        's: 'f,
    {
        LookupScope { files: Some(files), ..*self }
    }

    /// The env files at the start of the container.
    pub(super) fn files(&self) -> Option<&'s VolumeFiles> {
        self.files
    }

    /// How env files are parsed.
    pub(super) fn env_file_syntax(&self) -> EnvFileSyntax {
        EnvFileSyntax::for_release(self.release, self.settings().proposals)
    }

    /// The location of a span of an object in this file.
    pub(super) fn location(&self, object: &Object, span: Span) -> Location {
        Location { file: Arc::clone(self.file), span: object.file_span(span) }
    }

    /// The snapshot, if services have moved since their variables were computed.
    pub(super) fn moved_services(&self) -> Option<Snapshot> {
        self.snapshot.has_moved_services().then(|| self.snapshot.clone())
    }

    /// A service variable with the current location of its service.
    pub(super) fn at_current_location(&self, services: &ServiceVariables, binding: &Arc<Binding>) -> Arc<Binding> {
        if self.snapshot.has_moved_services() {
            services.at_current_location(self.snapshot, binding)
        } else {
            Arc::clone(binding)
        }
    }

    /// Records that the result depends on other containers of the pod.
    pub(super) fn depend_on_siblings(&self) {
        self.snapshot.depend_on_siblings();
    }

    pub(super) fn settings(&self) -> &'s Settings {
        self.snapshot.settings(self.file)
    }

    /// Names of Kustomize `vars`, which a build replaces before Kubernetes sees the text.
    pub(super) fn vars(&self) -> &'s [Arc<str>] {
        self.vars
    }

    /// A text of the object with the known parameters of its template inserted.
    pub(super) fn with_parameters<'t>(&self, text: &'t Arc<str>) -> Cow<'t, Arc<str>> {
        self.object.with_known_parameters(text)
    }

    /// Whether the file contains patches; their base may have more fields.
    pub(super) fn is_patch(&self) -> bool {
        self.snapshot.is_patch(self.file)
    }

    /// Whether the file is a Helm template; its pods may have more labels than it shows.
    pub(super) fn is_template(&self) -> bool {
        self.snapshot.file(self.file).is_some_and(|it| it.is_helm_template())
    }

    /// The Kubernetes release of the file.
    pub(super) fn release(&self) -> KubernetesVersion {
        self.release
    }

    /// The PodPresets of the namespace.
    pub(super) fn presets(&self) -> Vec<ObjectMatch<'s>> {
        self.snapshot.presets(self.lookup_site())
    }

    /// Whether an object is certainly in the namespace of one of this file: both have the same namespace, or both files
    /// are in one directory and at least one object has none.
    pub(super) fn is_in_same_namespace(&self, found: &ObjectMatch<'_>, model: &Model) -> bool {
        let directory = |file: &str| file.rfind('/').map_or(0, |slash| slash + 1);
        match (&found.object.model.namespace, &model.namespace) {
            (Some(one), Some(other)) => one.value == other.value,
            _ => found.file[..directory(found.file)] == self.file[..directory(self.file)],
        }
    }

    /// Records what the result of admission depends on: all containers of the pod, and the files of presets.
    pub(super) fn depend_on_admission(&self, admission: &Admission) {
        self.snapshot.depend_on_siblings();
        for preset in &admission.presets {
            self.snapshot.depend_on_file(&preset.file);
        }
    }

    /// The ConfigMaps or Secrets that a name may refer to.
    pub(super) fn data_objects(&self, kind: OriginKind, name: &str) -> Vec<ObjectMatch<'s>> {
        let mut found = match kind {
            OriginKind::Secret => self.snapshot.secrets(name, self.lookup_site()),
            _ => self.snapshot.config_maps(name, self.lookup_site()),
        };
        // Objects of one template are created together, and a name with an unset parameter refers to nothing outside
        // it.
        if let Some(parameters) = &self.object.parameters {
            let is_here = |it: &ObjectMatch<'_>| it.object.parameters.is_some() && it.file == self.file;
            if found.iter().any(is_here) || parameters.substitute_known(name).is_none() {
                found.retain(is_here);
            }
        }
        found
    }

    /// The services that add their variables to a pod without being named in it (S1, S2).
    pub(super) fn services(&self, links: ServiceLinks) -> Vec<ObjectMatch<'s>> {
        let mut found =
            if links == ServiceLinks::All { self.snapshot.services(self.lookup_site()) } else { Vec::new() };
        let in_default = LookupSite { namespace: Some("default"), ..self.lookup_site() };
        let is = |text: &Option<Text>, value: &str| text.as_ref().is_some_and(|it| &*it.value == value);
        if !found.iter().any(|it| is(&it.object.model.name, DEFAULT_SERVICE)) {
            let mut default = self.snapshot.services_named(DEFAULT_SERVICE, in_default);
            default.retain(|it| is(&it.object.model.namespace, "default"));
            found.extend(default);
        }
        if links == ServiceLinks::Explicit {
            found.extend(self.snapshot.services_named(READ_ONLY_SERVICE, in_default));
        }
        found
    }

    /// The services that a name may refer to.
    pub(super) fn services_named(&self, name: &str) -> Vec<ObjectMatch<'s>> {
        self.snapshot.services_named(name, self.lookup_site())
    }

    /// How the character after a dollar sign is copied (E11).
    pub(super) fn dollar_copying(&self) -> DollarCopying {
        DollarCopying::for_release(self.release)
    }

    /// B10: whether the kubelet skips keys that are not valid variable names.
    pub(super) fn checks_env_from_names(&self) -> bool {
        !self.release.is_at_least(30)
    }

    fn lookup_site(&self) -> LookupSite<'s> {
        LookupSite { file: self.file, namespace: self.namespace }
    }
}

/// The variables of services.
pub(super) fn variables_of(found: &[ObjectMatch<'_>], links: ServiceLinks) -> ServiceVariables {
    let candidates: Vec<ServiceCandidate<'_>> = found
        .iter()
        .filter_map(|found| {
            let service = found.object.service()?;
            let name = found.object.reference_name().filter(|it| !it.contains('$'))?.into_owned();
            let origin = service_origin(found, &name);
            Some(ServiceCandidate { name, service, origin })
        })
        .collect();
    let places = found.iter().map(|it| (location(it, it.object.model.span), Arc::clone(&it.object.model)));
    let mut variables = ServiceVariables::new(&candidates, links == ServiceLinks::All);
    variables.places = places.collect();
    variables
}

/// A service as the origin of a variable.
pub(super) fn service_origin(found: &ObjectMatch<'_>, name: &Arc<str>) -> Origin {
    let location = Some(location(found, found.object.model.span));
    Origin { object: Some(Arc::clone(name)), location, ..Origin::new(OriginKind::Service) }
}

/// The keys and values of a ConfigMap or Secret.
pub(super) fn keyed_data<'s>(found: &ObjectMatch<'s>) -> Option<&'s KeyedData> {
    match &found.object.model.data {
        ObjectData::ConfigMap(source) | ObjectData::Secret(source) => Some(source),
        _ => None,
    }
}

/// The location of a span of an object.
pub(super) fn location(found: &ObjectMatch<'_>, span: Span) -> Location {
    Location { file: Arc::clone(found.file), span: found.object.file_span(span) }
}
