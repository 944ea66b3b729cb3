//! The ConfigMaps, Secrets and Services of the workspace that the names in a container refer to.

use crate::build::{BuiltMatch, BuiltObject, EnvFromRefusal};
use crate::diagnostic::Location;
use crate::k8s::{Container, DataEntry, EnvFrom, EnvFromSource, Text};
use crate::resolve::{DataUser, OriginKind, is_strict_variable_name};
use crate::rules::engine::{ContainerContext, FileContext, ObjectContext, PodContext};
use crate::workspace::{IncludeKind, Inclusion, KubernetesVersion, LookupSite};

impl FileContext<'_> {
    /// Whether a template engine produces the manifest from this file: the text is not what is applied.
    pub(in crate::rules) fn is_template(&self) -> bool {
        self.facts.is_template()
    }

    /// Whether a kustomization has the file among its resources or patches.
    pub(in crate::rules) fn is_built_by_kustomization(&self) -> bool {
        let builds = |it: &Inclusion| matches!(it.kind, IncludeKind::Resource | IncludeKind::Patch);
        self.snapshot.included_by(self.path).iter().any(builds)
    }
}

impl<'a> ObjectContext<'a> {
    /// The objects whose containers may take variables from the object.
    pub(in crate::rules) fn data_users(&self) -> Vec<DataUser<'a>> {
        self.file.resolver.data_users(self.object)
    }

    /// The site that names in the object are looked up from.
    pub(in crate::rules) fn lookup_site(&self) -> LookupSite<'a> {
        self.object.lookup_site()
    }
}

impl ObjectContext<'_> {
    /// Whether its text has no syntax errors. Otherwise keys may be read at another level than they are meant for.
    pub(in crate::rules) fn has_certain_structure(&self) -> bool {
        self.file.has_certain_structure(self.object.source)
    }
}

impl PodContext<'_> {
    /// Whether a container is a patch of a container elsewhere.
    pub(in crate::rules) fn is_partial_container(&self, container: &Container) -> bool {
        is_partial(self.object.object, container)
    }
}

/// Whether a container of an object is a patch of a container elsewhere.
pub(in crate::rules) fn is_partial(object: BuiltObject<'_>, container: &Container) -> bool {
    let is_pod = object.model.kind.as_ref().is_some_and(|it| &*it.value == "Pod");
    // The entries of a preset are complete, although they have no image.
    let is_whole = is_pod || object.preset().is_some();
    (container.image.is_none() && !is_whole) || object.snapshot.is_patch(object.file)
}

impl<'a> ContainerContext<'a> {
    /// Whether it is a patch of a container elsewhere.
    pub(in crate::rules) fn is_partial(&self) -> bool {
        self.in_pod().is_partial_container(self.container)
    }

    /// Whether its fields are those of a container: its kind is known, or it is a preset. Custom resources may have others.
    pub(in crate::rules) fn has_known_fields(&self) -> bool {
        !self.pod.controller.is_unknown() || self.object.object.preset().is_some()
    }

    /// Whether a patch of a kustomization may set a variable. It looks at other files, so ask it last.
    pub(in crate::rules) fn may_be_set_by_patch(&self, name: &str) -> bool {
        let object = self.object.object;
        object.snapshot.patched_variables(object.file).may_contain(name)
    }

    /// The ConfigMaps or Secrets that a name may refer to.
    pub(in crate::rules) fn objects(&self, kind: OriginKind, name: &str) -> Vec<BuiltMatch<'a>> {
        objects(self.object.object, kind, name)
    }
}

/// The object of an entry of `envFrom`, with the variables that it certainly defines.
pub(in crate::rules) struct ImportedKeys<'s, 'e> {
    pub(in crate::rules) kind: OriginKind,
    pub(in crate::rules) name: &'e Text,
    prefix: &'e str,
    /// Every object that the name may refer to.
    found: Vec<BuiltMatch<'s>>,
    /// B10: older releases skip keys that are not valid names.
    checks_names: bool,
}

impl<'s, 'e> ImportedKeys<'s, 'e> {
    /// `None` if nothing of the entry is certain.
    pub(in crate::rules) fn of(user: BuiltObject<'s>, release: KubernetesVersion, entry: &'e EnvFrom) -> Option<Self> {
        let (kind, name, _) = imported_object(entry)?;
        if !EnvFromRefusal::all(entry, release).is_empty() {
            return None;
        }
        let (name, prefix) = (name?, entry.prefix.as_ref().map_or("", |it| &it.value));
        let found = objects(user, kind, &name.value);
        Some(Self { kind, name, prefix, found, checks_names: !release.is_at_least(30) })
    }

    /// Whether every object has the key of a variable.
    pub(in crate::rules) fn defines(&self, variable: &str) -> bool {
        let in_all = |key: &str| self.found.iter().all(|it| has_key(it, key));
        !self.found.is_empty()
            && variable.strip_prefix(self.prefix).is_some_and(in_all)
            && (!self.checks_names || is_strict_variable_name(variable))
    }
}

/// Whether a ConfigMap or Secret has a key.
pub(in crate::rules) fn has_key(found: &BuiltMatch<'_>, key: &str) -> bool {
    found.keyed_data().is_some_and(|it| !it.entries_named(key).is_empty())
}

/// The reference of an entry of `envFrom`: kind, name, and whether it is optional.
pub(in crate::rules) fn imported_object(entry: &EnvFrom) -> Option<(OriginKind, Option<&Text>, bool)> {
    match entry.source.as_ref()? {
        EnvFromSource::ConfigMap { name, optional } => Some((OriginKind::ConfigMap, name.as_ref(), *optional)),
        EnvFromSource::Secret { name, optional } => Some((OriginKind::Secret, name.as_ref(), *optional)),
        EnvFromSource::Service { .. } => None,
    }
}

/// The ConfigMaps or Secrets that a name in an object may refer to.
pub(in crate::rules) fn objects<'s>(user: BuiltObject<'s>, kind: OriginKind, name: &str) -> Vec<BuiltMatch<'s>> {
    if kind == OriginKind::Secret { user.secrets(name) } else { user.config_maps(name) }
}

/// The keys of a ConfigMap or Secret.
pub(in crate::rules) fn keys<'s>(found: &BuiltMatch<'s>) -> impl Iterator<Item = &'s DataEntry> + use<'s> {
    found.keyed_data().into_iter().flat_map(|it| &it.keys)
}

/// The location of the name of an object.
pub(in crate::rules) fn name_location(found: &BuiltMatch<'_>) -> Option<Location> {
    Some(found.location(found.object.model.name.as_ref()?.span))
}

/// Whether two objects are certainly in the same namespace: both have the same one, or neither has one and both files
/// are in one directory.
pub(in crate::rules) fn share_namespace(one: BuiltObject<'_>, other: BuiltObject<'_>) -> bool {
    let directory = |file: &str| file.rfind('/').map_or(0, |slash| slash + 1);
    match (&one.model.namespace, &other.model.namespace) {
        (Some(a), Some(b)) => a.value == b.value,
        (None, None) => one.file[..directory(one.file)] == other.file[..directory(other.file)],
        _ => false,
    }
}

/// `config map` or `secret`.
pub(in crate::rules) fn kind_name(kind: OriginKind) -> &'static str {
    if kind == OriginKind::Secret { "secret" } else { "config map" }
}
