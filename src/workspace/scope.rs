//! Which object a name means at a place.
//!
//! Candidates have the kind, the name and a compatible namespace; those that share the longest directory prefix with the
//! place win. If several remain, each of them may be meant.

use std::sync::Arc;

use crate::k8s::{Data, Object};
use crate::workspace::index::{Key, Kind};
use crate::workspace::{Settings, Snapshot};

/// Where a name is used.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The file.
    pub file: &'a str,
    /// The namespace of the object that uses it, if it says one.
    pub namespace: Option<&'a str>,
}

/// An object that may be meant.
#[derive(Clone, Copy, Debug)]
pub struct Found<'s> {
    /// The file it stands in; the settings file for what `externals` says.
    pub file: &'s Arc<str>,
    /// The object.
    pub object: &'s Object,
    /// Whether it may have keys that its text does not show: its own source is open, or something else adds to it
    /// (an overlay's patch, a generator that merges).
    pub open: bool,
}

impl Snapshot {
    /// The ConfigMaps that `name` may mean.
    pub fn config_maps(&self, name: &str, from: Place<'_>) -> Vec<Found<'_>> {
        let externals = &self.settings(from.file).externals.config_maps;
        self.sources(Kind::ConfigMap, name, from, externals)
    }

    /// The Secrets that `name` may mean.
    pub fn secrets(&self, name: &str, from: Place<'_>) -> Vec<Found<'_>> {
        let externals = &self.settings(from.file).externals.secrets;
        self.sources(Kind::Secret, name, from, externals)
    }

    /// Every Service a pod at this place may see, by name. Of equal names those nearest to the place remain.
    pub fn services(&self, from: Place<'_>) -> Vec<Found<'_>> {
        let candidates: Vec<_> =
            self.index.all(Kind::Service).flat_map(|(key, objects)| self.candidates(key, objects, from)).collect();
        let same_name = |(a, _): &(Found<'_>, _), (b, _): &(Found<'_>, _)| {
            a.object.model.known_name() == b.object.model.known_name()
        };
        let mut found: Vec<_> = candidates.chunk_by(same_name).flat_map(nearest).collect();
        let settings = self.settings(from.file);
        found.extend(external(settings, &settings.externals.services));
        found
    }

    fn sources<'s>(&'s self, kind: Kind, name: &str, from: Place<'_>, externals: &'s [Object]) -> Vec<Found<'s>> {
        let mut candidates = Vec::new();
        let mut more = false;
        for (key, objects) in self.index.named(kind, name) {
            let before = candidates.len();
            candidates.extend(self.candidates(key, objects, from));
            more |= candidates.len() > before && self.index.is_addition(key);
        }
        let mut found = nearest(&candidates);
        for it in &mut found {
            it.open |= more;
        }
        // What the settings say is one more reading: a key that either has is not missing.
        let same = |object: &&Object| object.model.known_name() == Some(name);
        found.extend(external(self.settings(from.file), externals).filter(|it| same(&it.object)));
        found
    }

    /// The objects of one file that have a namespace that fits, with how much of the way there is shared.
    fn candidates<'s>(
        &'s self,
        key: &'s Key,
        objects: &'s [Object],
        from: Place<'_>,
    ) -> impl Iterator<Item = (Found<'s>, usize)> {
        let objects = if self.share_root(&key.file, from.file) { objects } else { &[] };
        let near = shared(&key.file, from.file);
        let fits = move |object: &&Object| match (&object.model.namespace, from.namespace) {
            (Some(one), Some(other)) => &*one.value == other,
            _ => true,
        };
        let found = |object| Found { file: &key.file, object, open: is_open(object) };
        objects.iter().filter(fits).map(move |object| (found(object), near))
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
fn external<'s>(settings: &'s Settings, objects: &'s [Object]) -> impl Iterator<Item = Found<'s>> {
    objects.iter().map(|object| Found { file: &settings.file, object, open: is_open(object) })
}

fn is_open(object: &Object) -> bool {
    matches!(&object.model.data, Data::ConfigMap(source) | Data::Secret(source) if source.open)
}

/// Those that share most of the way.
fn nearest<'s>(candidates: &[(Found<'s>, usize)]) -> Vec<Found<'s>> {
    let most = candidates.iter().map(|(_, near)| *near).max();
    candidates.iter().filter(|(_, near)| Some(*near) == most).map(|(found, _)| *found).collect()
}

/// How many directories two files share, from the root on.
fn shared(one: &str, other: &str) -> usize {
    match (one.rsplit_once('/'), other.rsplit_once('/')) {
        (Some((one, _)), Some((other, _))) => one.split('/').zip(other.split('/')).take_while(|(a, b)| a == b).count(),
        _ => 0,
    }
}
