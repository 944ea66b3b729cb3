//! Which object a name means at a place.
//!
//! Candidates have the kind, the name and a compatible namespace; those that share the longest directory prefix with the
//! place win. If several remain, each of them may be meant.

use std::sync::Arc;

use crate::k8s::{Object, ObjectData};
use crate::workspace::Snapshot;
use crate::workspace::dependencies::Dependency;
use crate::workspace::index::{DefinitionKey, FileDefinitions, IndexedKind};

/// Where a name is used.
#[derive(Clone, Copy, Debug)]
pub struct LookupSite<'a> {
    /// The file.
    pub file: &'a str,
    /// The namespace of the object that uses it, if it says one.
    pub namespace: Option<&'a str>,
}

/// An object that may be meant.
#[derive(Clone, Copy, Debug)]
pub struct ObjectMatch<'s> {
    /// The file it stands in; the settings file for what `externals` says.
    pub file: &'s Arc<str>,
    /// The object.
    pub object: &'s Object,
    /// Whether it may have keys that its text does not show: its own source is open, or something else adds to it
    /// (an overlay's patch, a generator that merges).
    pub may_have_more_keys: bool,
}

impl Snapshot {
    /// The ConfigMaps that `name` may mean.
    pub fn config_maps(&self, name: &str, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let externals = self.settings(from.file).external_config_maps();
        self.sources(IndexedKind::ConfigMap, name, from, externals)
    }

    /// The Secrets that `name` may mean.
    pub fn secrets(&self, name: &str, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let externals = self.settings(from.file).external_secrets();
        self.sources(IndexedKind::Secret, name, from, externals)
    }

    /// Every Service a pod at this place may see, by name. Of equal names those nearest to the place remain.
    pub fn services(&self, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let mut found = self.nearest(IndexedKind::Service, from);
        found.extend(external(self.settings(from.file).external_services()));
        found
    }

    /// Every PodPreset of the namespace of a pod at this place, by name. Of equal names those nearest to the place
    /// remain.
    pub fn presets(&self, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let mut found = self.nearest(IndexedKind::Preset, from);
        found.retain(|it| !self.is_patch(it.file));
        found
    }

    /// The objects of a kind that a place may mean, by name. Of equal names those nearest to the place remain.
    fn nearest(&self, kind: IndexedKind, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        let mut found: Vec<ObjectMatch<'_>> = Vec::new();
        let mut last: Option<(&Arc<str>, usize, usize)> = None;
        self.record(|| Dependency::All(kind));
        for (key, definition) in self.index.all(kind) {
            let mut candidates = self.candidates(key, definition, from).peekable();
            if candidates.peek().is_none() {
                continue;
            }
            // Definitions of one name stand together: a nearer one drives those before it away.
            let near = shared(&key.file, from.file);
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

    /// The Services of a name at a place.
    pub fn services_named(&self, name: &str, from: LookupSite<'_>) -> Vec<ObjectMatch<'_>> {
        self.sources(IndexedKind::Service, name, from, self.settings(from.file).external_services())
    }

    /// The names of all ConfigMaps that a place could mean.
    pub fn config_map_names(&self, from: LookupSite<'_>) -> Vec<Arc<str>> {
        self.names(IndexedKind::ConfigMap, from)
    }

    /// The names of all Secrets that a place could mean.
    pub fn secret_names(&self, from: LookupSite<'_>) -> Vec<Arc<str>> {
        self.names(IndexedKind::Secret, from)
    }

    /// The names of all Services that a place could mean.
    pub fn service_names(&self, from: LookupSite<'_>) -> Vec<Arc<str>> {
        self.names(IndexedKind::Service, from)
    }

    fn names(&self, kind: IndexedKind, from: LookupSite<'_>) -> Vec<Arc<str>> {
        self.record(|| Dependency::All(kind));
        let fits = |(key, definition): &(&DefinitionKey, &FileDefinitions)| {
            self.candidates(key, definition, from).next().is_some()
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
        let mut found = Vec::new();
        self.record(|| Dependency::Named(kind, name.into()));
        for directory in directories(from.file) {
            for (key, definition) in self.index.named(kind, name, directory) {
                found.extend(self.candidates(key, definition, from));
            }
            if !found.is_empty() {
                break;
            }
        }
        let mut additions = self.index.additions(kind, name);
        let more = additions.any(|(key, it)| self.candidates(key, it, from).next().is_some());
        for it in &mut found {
            it.may_have_more_keys |= more;
        }
        // What the settings say is one more reading: a key that either has is not missing.
        let same = |object: &&Object| object.model.reference_name() == Some(name);
        found.extend(external(externals).filter(|it| same(&it.object)));
        found
    }

    /// The objects of one file that have a namespace that fits.
    fn candidates<'s>(
        &'s self,
        key: &'s DefinitionKey,
        definition: &'s FileDefinitions,
        from: LookupSite<'_>,
    ) -> impl Iterator<Item = ObjectMatch<'s>> {
        let definition = self.share_root(&key.file, from.file).then_some(definition);
        let fits = move |object: &&Object| match (object.namespace(), from.namespace) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let objects = definition.into_iter().flat_map(|it| self.index.objects(it)).filter(fits);
        objects.map(|object| ObjectMatch { file: &key.file, object, may_have_more_keys: is_open(object) })
    }

    /// Whether two files belong to the same root. Only a workspace of several roots has such borders.
    fn share_root(&self, one: &str, other: &str) -> bool {
        self.roots.len() < 2 || self.root_of(one) == self.root_of(other)
    }

    fn root_of(&self, file: &str) -> Option<&Arc<str>> {
        self.roots.iter().filter(|root| file.starts_with(&***root)).max_by_key(|root| root.len())
    }
}

/// Objects of the settings, which stand in the settings file.
fn external<'s>((file, objects): (&'s Arc<str>, &'s [Object])) -> impl Iterator<Item = ObjectMatch<'s>> {
    objects.iter().map(move |object| ObjectMatch { file, object, may_have_more_keys: is_open(object) })
}

fn is_open(object: &Object) -> bool {
    matches!(&object.model.data, ObjectData::ConfigMap(source) | ObjectData::Secret(source) if source.may_have_more_keys)
}

/// How much of the way to two files is the same, in bytes of whole directories.
fn shared(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.as_bytes()[..same].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
}

/// The directories a file is in, from the inside out: each ends with `/`, but for the last, which is empty.
fn directories(file: &str) -> impl Iterator<Item = &str> {
    let slashes = file.rmatch_indices('/').map(|(at, _)| &file[..=at]);
    slashes.chain(std::iter::once(""))
}
