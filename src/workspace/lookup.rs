//! Lookup of objects by name.
//!
//! Candidates have the kind, the name and a compatible namespace. ConfigMaps and Secrets are also in scope
//! ([`scope`](super::scope)): those of the same build win. Otherwise those that share the longest directory prefix with the
//! place of use win. If several remain, each of them is a possible match.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::k8s::{Object, ObjectData, service_prefix};
use crate::text::is_slip_of;
use crate::work::{Step, count};
use crate::workspace::Snapshot;
use crate::workspace::dependencies::Dependency;
use crate::workspace::index::{DefinitionKey, FileDefinitions, IndexedKind};
use crate::workspace::scope::{Relation, common_directory_len};

/// How many names of a directory are compared with one that no object has.
const NAMES: usize = 1_000;

/// The place where a name is used.
#[derive(Clone, Copy, Debug)]
pub struct LookupSite<'a> {
    /// The file.
    pub file: &'a str,
    /// The namespace of the object that uses it, if it has one.
    pub namespace: Option<&'a str>,
}

/// An object that a name may refer to.
#[derive(Clone, Copy, Debug)]
pub struct ObjectMatch<'s> {
    /// The file of the object. For an entry of `externals` it is the settings file.
    pub file: &'s Arc<str>,
    /// The object.
    pub object: &'s Object,
    /// The position in the list of objects of the file; `None` for an entry of `externals`.
    pub position: Option<usize>,
    /// Whether it may have keys that its text does not show: its data is incomplete, or a patch or generator adds to
    /// it.
    pub may_have_more_keys: bool,
}

impl Snapshot {
    /// The ConfigMaps that `name` may refer to.
    pub fn config_maps(&self, name: &str, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let externals = self.settings(from.file).external_config_maps();
        self.sources(IndexedKind::ConfigMap, name, from, externals)
    }

    /// The Secrets that `name` may refer to.
    pub fn secrets(&self, name: &str, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let externals = self.settings(from.file).external_secrets();
        self.sources(IndexedKind::Secret, name, from, externals)
    }

    /// Every Service that a pod at this place may see, sorted by name. Of equal names only the nearest are included.
    pub fn services(&self, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let mut found = self.nearest(IndexedKind::Service, from);
        found.extend(external(self.settings(from.file).external_services()));
        found
    }

    /// All Services, sorted by name, and those of all settings.
    pub fn all_services(&self) -> impl Iterator<Item = ObjectMatch<'_>> {
        self.record(|| Dependency::All(IndexedKind::Service));
        let all = self.index.all(IndexedKind::Service).flat_map(|(key, definition)| {
            self.index.objects(definition).map(|(position, object)| ObjectMatch {
                file: &key.file,
                object,
                position: Some(position),
                may_have_more_keys: false,
            })
        });
        all.chain(self.all_settings().flat_map(|it| external(it.external_services())))
    }

    /// The Services that a pod at this place may see and whose variables have one of these prefixes.
    pub fn services_with_prefixes(&self, prefixes: &BTreeSet<&str>, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        self.record(|| Dependency::All(IndexedKind::Service));
        let names: BTreeSet<&Arc<str>> = prefixes.iter().flat_map(|it| self.index.services_with_prefix(it)).collect();
        let near = names.into_iter().flat_map(|it| self.below_nearest_directory(IndexedKind::Service, it, from));
        let has_prefix = |it: &ObjectMatch<'_>| {
            it.object.model.reference_name().is_some_and(|it| prefixes.contains(&*service_prefix(it)))
        };
        near.chain(external(self.settings(from.file).external_services()).filter(has_prefix)).collect()
    }

    /// Every PodPreset of the namespace of a pod at this place, sorted by name. Of equal names only the nearest are
    /// included.
    pub fn presets(&self, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let mut found = self.nearest(IndexedKind::Preset, from);
        found.retain(|it| !self.is_patch(it.file));
        found
    }

    /// The same, only those that may select pods with these labels, of which some have no known value; with `is_open` the
    /// pods may have others. Unsorted, but those of one name follow each other.
    pub fn presets_for<'l>(
        &self,
        labels: &[(&'l str, Option<&'l str>)],
        is_open: bool,
        from: LookupSite<'_>,
    ) -> impl Iterator<Item = ObjectMatch<'_>> {
        self.record(|| Dependency::All(IndexedKind::Preset));
        let mut seen: HashSet<&Arc<str>> = HashSet::new();
        let names = self.index.presets_for(labels, is_open).filter(move |it| seen.insert(it));
        let found = names.flat_map(move |it| self.below_nearest_directory(IndexedKind::Preset, it, from));
        found.filter(|it| !self.is_patch(it.file))
    }

    /// The objects of a kind that can be referred to from a place, sorted by name. Of equal names only the nearest are
    /// included.
    fn nearest(&self, kind: IndexedKind, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let mut found: Vec<ObjectMatch<'_>> = Vec::new();
        let mut last: Option<(&Arc<str>, usize, usize)> = None;
        self.record(|| Dependency::All(kind));
        for (key, definition) in self.index.all(kind) {
            let mut candidates = self.candidates(key, definition, from).peekable();
            if candidates.peek().is_none() {
                continue;
            }
            // Definitions are sorted by name: a nearer one replaces those of the same name before it.
            let near = common_directory_len(&key.file, from.file);
            match last {
                Some((name, start, nearest)) if *name == key.name => {
                    if near < nearest {
                        continue;
                    }
                    if near > nearest {
                        found.truncate(start);
                        last = Some((name, start, near));
                    }
                }
                _ => last = Some((&key.name, found.len(), near)),
            }
            found.extend(candidates);
        }
        found
    }

    /// The Services that `name` may refer to.
    pub fn services_named(&self, name: &str, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        self.sources(IndexedKind::Service, name, from, self.settings(from.file).external_services())
    }

    /// The names of all ConfigMaps that can be referred to from a place.
    pub fn config_map_names(&self, from: LookupSite<'_>) -> Vec<Arc<str>> {
        self.names(IndexedKind::ConfigMap, from)
    }

    /// The names of all Secrets that can be referred to from a place.
    pub fn secret_names(&self, from: LookupSite<'_>) -> Vec<Arc<str>> {
        self.names(IndexedKind::Secret, from)
    }

    /// The names of all Services that can be referred to from a place.
    pub fn service_names(&self, from: LookupSite<'_>) -> Vec<Arc<str>> {
        self.names(IndexedKind::Service, from)
    }

    /// The name of a ConfigMap in the scope of a place that a name is a slip of.
    pub fn config_map_slip(&self, name: &str, from: LookupSite<'_>) -> Option<Arc<str>> {
        self.slip(IndexedKind::ConfigMap, name, from)
    }

    /// The name of a Secret in the scope of a place that a name is a slip of.
    pub fn secret_slip(&self, name: &str, from: LookupSite<'_>) -> Option<Arc<str>> {
        self.slip(IndexedKind::Secret, name, from)
    }

    /// The name of a Service in the scope of a place that a name is a slip of.
    pub fn service_slip(&self, name: &str, from: LookupSite<'_>) -> Option<Arc<str>> {
        self.slip(IndexedKind::Service, name, from)
    }

    /// The name of an object in scope that a name is a slip of. The nearest one if there are several. A name that an object
    /// out of scope has is not a slip.
    fn slip(&self, kind: IndexedKind, name: &str, from: LookupSite<'_>) -> Option<Arc<str>> {
        self.record(|| Dependency::All(kind));
        self.record(|| Dependency::Scope);
        if self.index.named(kind, name, "").next().is_some() {
            return None;
        }
        let is_built = !self.builds_of(from.file).is_empty();
        let is_meant = |it: &&Arc<str>| is_slip_of(name, it) && !self.in_scope(kind, it, from).is_empty();
        for directory in directories(from.file) {
            let found = self.index.names_below(kind, directory).take(NAMES).find(is_meant);
            // A build may have files anywhere. Everything else is below a directory without other files.
            if found.is_some() || !is_built && self.scope.has_other_files(directory) {
                return found.cloned();
            }
        }
        None
    }

    fn names(&self, kind: IndexedKind, from: LookupSite<'_>) -> Vec<Arc<str>> {
        self.record(|| Dependency::All(kind));
        self.record(|| Dependency::Scope);
        let builds = self.builds_of(from.file);
        let is_scoped = matches!(kind, IndexedKind::ConfigMap | IndexedKind::Secret);
        let fits = |(key, definition): &(&DefinitionKey, &FileDefinitions)| {
            self.candidates(key, definition, from).next().is_some()
                && (!is_scoped || self.relation(from.file, &builds, &key.file) != Relation::OutOfScope)
        };
        let fitting = self.index.all(kind).filter(fits);
        let mut names: Vec<Arc<str>> = fitting.map(|(key, _)| Arc::clone(&key.name)).collect();
        names.dedup();
        names
    }

    fn sources<'s>(
        &'s self,
        kind: IndexedKind,
        name: &str,
        from: LookupSite<'_>,
        externals: (&'s Arc<str>, &'s [Object]),
    ) -> Vec<ObjectMatch<'s>> {
        self.record(|| Dependency::Named(kind, name.into()));
        let mut found = match kind {
            IndexedKind::ConfigMap | IndexedKind::Secret => self.in_scope(kind, name, from),
            IndexedKind::Service | IndexedKind::Preset => self.below_nearest_directory(kind, name, from),
        };
        let mut additions = self.index.additions(kind, name);
        let more = additions.any(|(key, it)| self.candidates(key, it, from).next().is_some());
        for it in &mut found {
            it.may_have_more_keys |= more;
        }
        // An entry of the settings is a further match: a key is missing only if no match has it.
        let same = |object: &&Object| object.model.reference_name() == Some(name);
        found.extend(external(externals).filter(|it| same(&it.object)));
        found
    }

    /// Whether an object of a name has a compatible namespace, wherever it is. In a large tree many namespaces have an object
    /// of the same name.
    fn may_find(&self, kind: IndexedKind, name: &str, from: LookupSite<'_>) -> bool {
        from.namespace.is_none_or(|it| self.index.may_be_in_namespace(kind, name, it))
    }

    /// The candidates of a name that share the longest directory prefix with a place.
    fn below_nearest_directory<'s>(
        &'s self,
        kind: IndexedKind,
        name: &str,
        from: LookupSite<'_>,
    ) -> Vec<ObjectMatch<'s>> {
        let mut found = Vec::new();
        if !self.may_find(kind, name, from) {
            return found;
        }
        for directory in directories(from.file) {
            for (key, definition) in self.index.named(kind, name, directory) {
                found.extend(self.candidates(key, definition, from));
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }

    /// The candidates of a name that are in scope: those of the same build, or else the nearest ones.
    fn in_scope<'s>(&'s self, kind: IndexedKind, name: &str, from: LookupSite<'_>) -> Vec<ObjectMatch<'s>> {
        self.record(|| Dependency::Scope);
        let builds = self.builds_of(from.file);
        let (mut built, mut near): (Vec<ObjectMatch<'s>>, Vec<ObjectMatch<'s>>) = (Vec::new(), Vec::new());
        if !self.may_find(kind, name, from) {
            return built;
        }
        let mut inner: Option<&str> = None;
        for directory in directories(from.file) {
            let is_nearest = near.is_empty();
            for (key, definition) in self.index.named(kind, name, directory) {
                if inner.is_some_and(|inner| key.file.starts_with(inner)) {
                    continue;
                }
                let mut candidates = self.candidates(key, definition, from).peekable();
                if candidates.peek().is_none() {
                    continue;
                }
                match self.relation(from.file, &builds, &key.file) {
                    Relation::SameBuild => built.extend(candidates),
                    Relation::Near if is_nearest => near.extend(candidates),
                    Relation::Near | Relation::OutOfScope => {}
                }
            }
            // A build may have files anywhere. Everything else is below a directory without other files.
            let is_last = builds.is_empty() && (!near.is_empty() || self.scope.has_other_files(directory));
            if !built.is_empty() || is_last {
                break;
            }
            inner = Some(directory);
        }
        if built.is_empty() { near } else { built }
    }

    /// The file of a ConfigMap that has a name and is out of scope.
    pub fn config_map_out_of_scope(&self, name: &str, from: LookupSite<'_>) -> Option<&Arc<str>> {
        self.out_of_scope(IndexedKind::ConfigMap, name, from)
    }

    /// The file of a Secret that has a name and is out of scope.
    pub fn secret_out_of_scope(&self, name: &str, from: LookupSite<'_>) -> Option<&Arc<str>> {
        self.out_of_scope(IndexedKind::Secret, name, from)
    }

    fn out_of_scope(&self, kind: IndexedKind, name: &str, from: LookupSite<'_>) -> Option<&Arc<str>> {
        self.record(|| Dependency::Named(kind, name.into()));
        if !self.may_find(kind, name, from) {
            return None;
        }
        let mut all = self.index.named(kind, name, "");
        let (key, _) = all.find(|(key, definition)| self.candidates(key, definition, from).next().is_some())?;
        self.in_scope(kind, name, from).is_empty().then_some(&key.file)
    }

    /// The objects of one file with a compatible namespace.
    fn candidates<'s>(
        &'s self,
        key: &'s DefinitionKey,
        definition: &'s FileDefinitions,
        from: LookupSite<'_>,
    ) -> impl Iterator<Item = ObjectMatch<'s>> {
        count(Step::Definition, 1);
        let definition = self.share_root(&key.file, from.file).then_some(definition);
        let namespace: Option<Arc<str>> = from.namespace.map(Arc::from);
        let fits = move |(_, object): &(usize, &Object)| match &namespace {
            Some(namespace) => object.namespace().is_none_or(|it| it == *namespace),
            None => true,
        };
        let objects = definition.into_iter().flat_map(|it| self.index.objects(it)).filter(fits);
        objects.map(|(position, object)| ObjectMatch {
            file: &key.file,
            object,
            position: Some(position),
            may_have_more_keys: may_have_more_keys(object),
        })
    }

    /// Whether two files belong to the same root.
    fn share_root(&self, one: &str, other: &str) -> bool {
        self.roots.len() < 2 || self.root_of(one) == self.root_of(other)
    }

    /// The directory of the project that a file belongs to: empty or ending with `/`. `None` for a document that is not a
    /// file.
    pub fn project_directory<'f>(&'f self, file: &'f str) -> Option<&'f str> {
        let is_file = !file.split('/').next().is_some_and(|it| it.len() > 2 && it.contains(':'));
        let is_absolute = file.starts_with('/') || file.as_bytes().get(1) == Some(&b':');
        let outside = || is_absolute.then(|| &file[..=file.rfind('/').unwrap_or_default()]);
        is_file.then(|| self.root_of(file).map(|it| &**it).or_else(outside).unwrap_or_default())
    }

    /// The root that a file belongs to.
    pub fn root_of(&self, file: &str) -> Option<&Arc<str>> {
        self.roots.iter().filter(|root| file.starts_with(&***root)).max_by_key(|root| root.len())
    }
}

/// The objects of the settings.
fn external<'s>((file, objects): (&'s Arc<str>, &'s [Object])) -> impl Iterator<Item = ObjectMatch<'s>> {
    let matched =
        move |object| ObjectMatch { file, object, position: None, may_have_more_keys: may_have_more_keys(object) };
    objects.iter().map(matched)
}

fn may_have_more_keys(object: &Object) -> bool {
    matches!(&object.model.data, ObjectData::ConfigMap(source) | ObjectData::Secret(source) if source.may_have_more_keys)
}

/// The directories that contain a file, the innermost first. Each ends with `/`, except for the last, which is empty.
fn directories(file: &str) -> impl Iterator<Item = &str> {
    let slashes = file.rmatch_indices('/').map(|(at, _)| &file[..=at]);
    slashes.chain(std::iter::once(""))
}
