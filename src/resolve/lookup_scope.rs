//! What a container's file and namespace decide: the objects that names mean, the release, the settings.

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

/// A place in the workspace from which objects are named.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookupScope<'s> {
    snapshot: &'s Snapshot,
    file: &'s Arc<str>,
    namespace: Option<&'s str>,
    release: KubernetesVersion,
    vars: &'s [Arc<str>],
    /// The object whose names are looked for.
    object: &'s Object,
    /// The env files that the container finds, where someone has looked at them.
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

    /// The same for a container that finds these files.
    pub(super) fn with_files<'f>(&self, files: &'f VolumeFiles) -> LookupScope<'f>
    where
        's: 'f,
    {
        LookupScope { files: Some(files), ..*self }
    }

    /// The env files that the container finds.
    pub(super) fn files(&self) -> Option<&'s VolumeFiles> {
        self.files
    }

    /// How env files are read here.
    pub(super) fn env_file_syntax(&self) -> EnvFileSyntax {
        EnvFileSyntax::for_release(self.release, self.settings().proposals)
    }

    /// A range of an object as a range of its file.
    pub(super) fn location(&self, object: &Object, span: Span) -> Location {
        Location { file: Arc::clone(self.file), span: object.file_span(span) }
    }

    /// The snapshot, if services in it stand elsewhere than their variables say.
    pub(super) fn moved_services(&self) -> Option<Snapshot> {
        self.snapshot.has_moved_services().then(|| self.snapshot.clone())
    }

    /// A variable of a service with the service where it stands now.
    pub(super) fn placed(&self, services: &ServiceVariables, binding: &Arc<Binding>) -> Arc<Binding> {
        if self.snapshot.has_moved_services() { services.placed(self.snapshot, binding) } else { Arc::clone(binding) }
    }

    /// Other containers of the pod decide.
    pub(super) fn depend_on_siblings(&self) {
        self.snapshot.depend_on_siblings();
    }

    pub(super) fn settings(&self) -> &'s Settings {
        self.snapshot.settings(self.file)
    }

    /// Names of Kustomize `vars`, which a build puts in before Kubernetes sees the text.
    pub(super) fn vars(&self) -> &'s [Arc<str>] {
        self.vars
    }

    /// A text of the object with the parameters of its template in it.
    pub(super) fn filled<'t>(&self, text: &'t Arc<str>) -> Cow<'t, Arc<str>> {
        self.object.with_known_parameters(text)
    }

    /// Whether the file holds patches, which see what they are laid on.
    pub(super) fn is_patch(&self) -> bool {
        self.snapshot.is_patch(self.file)
    }

    /// Whether the file is a Helm template, whose labels may be more than can be seen.
    pub(super) fn is_template(&self) -> bool {
        self.snapshot.file(self.file).is_some_and(|it| it.is_helm_template())
    }

    /// The release that the file is for.
    pub(super) fn release(&self) -> KubernetesVersion {
        self.release
    }

    /// The PodPresets of the namespace.
    pub(super) fn presets(&self) -> Vec<ObjectMatch<'s>> {
        self.snapshot.presets(self.place())
    }

    /// Whether an object surely shares the namespace of one here: both name it, or they stand side by side and do not
    /// disagree.
    pub(super) fn meets(&self, found: &ObjectMatch<'_>, model: &Model) -> bool {
        let directory = |file: &str| file.rfind('/').map_or(0, |slash| slash + 1);
        match (&found.object.model.namespace, &model.namespace) {
            (Some(one), Some(other)) => one.value == other.value,
            _ => found.file[..directory(found.file)] == self.file[..directory(self.file)],
        }
    }

    /// Notes what admission looks at: every container of the pod, and places in the files of presets.
    pub(super) fn note_admission(&self, admission: &Admission) {
        self.snapshot.depend_on_siblings();
        for preset in &admission.presets {
            self.snapshot.depend_on_file(&preset.file);
        }
    }

    /// The ConfigMaps or Secrets that a name may mean.
    pub(super) fn sources(&self, kind: OriginKind, name: &str) -> Vec<ObjectMatch<'s>> {
        let mut found = match kind {
            OriginKind::Secret => self.snapshot.secrets(name, self.place()),
            _ => self.snapshot.config_maps(name, self.place()),
        };
        // Objects of one template are made together, and a name with an open parameter means something nowhere else.
        if let Some(parameters) = &self.object.parameters {
            let is_here = |it: &ObjectMatch<'_>| it.object.parameters.is_some() && it.file == self.file;
            if found.iter().any(is_here) || parameters.substitute_known(name).is_none() {
                found.retain(is_here);
            }
        }
        found
    }

    /// The services that put their variables into a pod here by themselves (S1, S2).
    pub(super) fn services(&self, links: ServiceLinks) -> Vec<ObjectMatch<'s>> {
        let mut found = if links == ServiceLinks::All { self.snapshot.services(self.place()) } else { Vec::new() };
        let in_default = LookupSite { namespace: Some("default"), ..self.place() };
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

    /// The services that a name may mean.
    pub(super) fn services_named(&self, name: &str) -> Vec<ObjectMatch<'s>> {
        self.snapshot.services_named(name, self.place())
    }

    /// E11.
    pub(super) fn copying(&self) -> DollarCopying {
        DollarCopying::for_release(self.release)
    }

    /// B10: whether the kubelet skips keys that are no names.
    pub(super) fn checks_env_from_names(&self) -> bool {
        !self.release.is_at_least(30)
    }

    fn place(&self) -> LookupSite<'s> {
        LookupSite { file: self.file, namespace: self.namespace }
    }
}

/// The variables of services that were found.
pub(super) fn variables(found: &[ObjectMatch<'_>], links: ServiceLinks) -> ServiceVariables {
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
    let mut variables = ServiceVariables::of(&candidates, links == ServiceLinks::All);
    variables.places = places.collect();
    variables
}

/// A service as a source of variables.
pub(super) fn service_origin(found: &ObjectMatch<'_>, name: &Arc<str>) -> Origin {
    let location = Some(location(found, found.object.model.span));
    Origin { object: Some(Arc::clone(name)), location, ..Origin::new(OriginKind::Service) }
}

/// The keys of what was found.
pub(super) fn keyed_data<'s>(found: &ObjectMatch<'s>) -> Option<&'s KeyedData> {
    match &found.object.model.data {
        ObjectData::ConfigMap(source) | ObjectData::Secret(source) => Some(source),
        _ => None,
    }
}

/// A range of what was found as a range of its file.
pub(super) fn location(found: &ObjectMatch<'_>, span: Span) -> Location {
    Location { file: Arc::clone(found.file), span: found.object.file_span(span) }
}
