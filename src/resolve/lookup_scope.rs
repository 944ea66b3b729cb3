//! The context in which a container's names are looked up: its object, the release and the settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::build::{AdmissionContext, BuiltMatch, BuiltObject};
use crate::k8s::EnvFrom;
use crate::resolve::binding::{Origin, OriginKind};
use crate::resolve::env_file::{EnvFileSyntax, serves_env_files};
use crate::resolve::env_from::{EnvFromEntry, env_from};
use crate::resolve::expand::DollarCopying;
use crate::resolve::script_runner::VolumeFiles;
use crate::workspace::{KubernetesVersion, Settings};

/// The object that refers to other objects, with the settings that apply there.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookupScope<'s> {
    /// The object that contains the references.
    pub(super) object: BuiltObject<'s>,
    release: KubernetesVersion,
    vars: Option<&'s Arc<BTreeSet<Arc<str>>>>,
    /// The env files at the start of the container; `None` until they are computed.
    files: Option<&'s VolumeFiles>,
}

impl<'s> LookupScope<'s> {
    pub(super) fn new(
        object: BuiltObject<'s>,
        release: KubernetesVersion,
        vars: Option<&'s Arc<BTreeSet<Arc<str>>>>,
    ) -> Self {
        Self { object, release, vars, files: None }
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

    /// Whether the release serves `fileKeyRef`.
    pub(super) fn serves_env_files(&self) -> bool {
        serves_env_files(self.release, self.settings().proposals)
    }

    /// Records that the result depends on other containers of the pod.
    pub(super) fn depend_on_siblings(&self) {
        self.object.snapshot.depend_on_siblings();
    }

    pub(super) fn settings(&self) -> &'s Settings {
        self.object.settings()
    }

    /// Names of Kustomize `vars`, which a build replaces before Kubernetes sees the text.
    pub(super) fn vars(&self) -> Option<&'s Arc<BTreeSet<Arc<str>>>> {
        self.vars
    }

    /// Whether the file contains patches; their base may have more fields.
    pub(super) fn is_patch(&self) -> bool {
        self.object.snapshot.is_patch(self.object.file)
    }

    /// Whether the file is a Helm template; its pods may have more labels than it shows.
    pub(super) fn is_template(&self) -> bool {
        self.object.snapshot.file(self.object.file).is_some_and(|it| it.is_helm_template())
    }

    /// Whether a template engine produces the manifest from this file.
    pub(super) fn is_any_template(&self) -> bool {
        self.object.snapshot.file(self.object.file).is_some_and(|it| it.is_template())
    }

    /// The Kubernetes release of the file.
    pub(super) fn release(&self) -> KubernetesVersion {
        self.release
    }

    /// What admission needs.
    pub(super) fn admission_context(&self) -> AdmissionContext {
        AdmissionContext { release: self.release, env_from_names }
    }

    /// How the character after a dollar sign is copied (E11).
    pub(super) fn dollar_copying(&self) -> DollarCopying {
        DollarCopying::for_release(self.release)
    }

    /// B10: whether the kubelet skips keys that are not valid variable names.
    pub(super) fn checks_env_from_names(&self) -> bool {
        !self.release.is_at_least(30)
    }
}

/// The names of the variables that an entry of `envFrom` gives, for admission.
pub(super) fn env_from_names(
    object: BuiltObject<'_>,
    release: KubernetesVersion,
    entry: &EnvFrom,
) -> BTreeSet<Arc<str>> {
    let scope = LookupScope::new(object, release, None);
    let entry = EnvFromEntry { entry, location: object.location(entry.span), preset: None };
    env_from(&scope, object, &[entry]).variables.all(None).keys().cloned().collect()
}

/// A service as the origin of a variable.
pub(super) fn service_origin(found: &BuiltMatch<'_>, name: &Arc<str>) -> Origin {
    let location = Some(found.location(found.object.model.span));
    Origin { object: Some(Arc::clone(name)), location, ..Origin::new(OriginKind::Service) }
}
