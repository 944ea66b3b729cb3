//! Which files define an object of a name: updated for the changed file only, shared between snapshots.

use std::sync::Arc;

use imbl::{HashMap, OrdMap};

use crate::k8s::{Data, Object, Source};
use crate::syntax::helm::is_masked;
use crate::workspace::File;

/// What can be looked up by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    ConfigMap,
    Secret,
    Service,
}

/// An object's kind and name and a file that defines it, in this order: definitions of one name stand together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) name: Arc<str>,
    pub(super) file: Arc<str>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The objects of a name in a file.
    definitions: OrdMap<Key, Arc<[Object]>>,
    /// Those of them that add to definitions elsewhere: all that a patch file holds, and what says so itself.
    additions: OrdMap<Key, ()>,
    /// How many Kustomizations name a file as a patch.
    patches: HashMap<Arc<str>, usize>,
}

impl Index {
    /// Adds what a file defines.
    pub(super) fn add(&mut self, path: &Arc<str>, file: &File) {
        let is_patch = self.patches.contains_key(path);
        for (object, kind, name, source) in exported(file) {
            let key = Key { kind, name: Arc::clone(name), file: Arc::clone(path) };
            if is_patch || source.is_some_and(|source| source.adds) {
                self.additions.insert(key.clone(), ());
            }
            let mut objects = self.definitions.get(&key).map(|objects| objects.to_vec()).unwrap_or_default();
            objects.push(object.clone());
            self.definitions.insert(key, objects.into());
        }
    }

    /// Takes away what a file defined.
    pub(super) fn remove(&mut self, path: &Arc<str>, file: &File) {
        for (_, kind, name, _) in exported(file) {
            let key = Key { kind, name: Arc::clone(name), file: Arc::clone(path) };
            self.definitions.remove(&key);
            self.additions.remove(&key);
        }
    }

    /// Counts one more Kustomization that names `path` as a patch; whether it is the first.
    pub(super) fn add_patch(&mut self, path: &Arc<str>) -> bool {
        let count = self.patches.entry(Arc::clone(path)).or_insert(0);
        *count += 1;
        *count == 1
    }

    /// Counts one less; whether it was the last.
    pub(super) fn remove_patch(&mut self, path: &Arc<str>) -> bool {
        match self.patches.get_mut(path) {
            Some(count) if *count > 1 => {
                *count -= 1;
                false
            }
            Some(_) => self.patches.remove(path).is_some(),
            None => false,
        }
    }

    pub(super) fn is_patch(&self, path: &str) -> bool {
        self.patches.contains_key(path)
    }

    /// The definitions of one name in a directory and below, by file.
    pub(super) fn named(
        &self,
        kind: Kind,
        name: &str,
        directory: &str,
    ) -> impl Iterator<Item = (&Key, &Arc<[Object]>)> {
        let first = Key { kind, name: name.into(), file: directory.into() };
        let within = first.clone();
        self.definitions.range(first..).take_while(move |(key, _)| {
            key.kind == kind && key.name == within.name && key.file.starts_with(&*within.file)
        })
    }

    /// What adds to the definitions of one name, by file.
    pub(super) fn additions(&self, kind: Kind, name: &str) -> impl Iterator<Item = (&Key, &Arc<[Object]>)> {
        let first = Key { kind, name: name.into(), file: "".into() };
        let name = Arc::clone(&first.name);
        self.additions
            .range(first..)
            .take_while(move |(key, ())| key.kind == kind && key.name == name)
            .filter_map(|(key, ())| Some((key, self.definitions.get(key)?)))
    }

    /// The definitions of a kind, by name and file.
    pub(super) fn all(&self, kind: Kind) -> impl Iterator<Item = (&Key, &Arc<[Object]>)> {
        let first = Key { kind, name: "".into(), file: "".into() };
        self.definitions.range(first..).take_while(move |(key, _)| key.kind == kind)
    }
}

/// What a file defines for others.
fn exported(file: &File) -> impl Iterator<Item = (&Object, Kind, &Arc<str>, Option<&Source>)> {
    file.objects.iter().filter_map(|object| {
        let (kind, source) = match &object.model.data {
            Data::ConfigMap(source) => (Kind::ConfigMap, Some(source)),
            Data::Secret(source) => (Kind::Secret, Some(source)),
            Data::Service(_) => (Kind::Service, None),
            Data::None | Data::Kustomization(_) => return None,
        };
        // A name that a Helm expression gives is nobody's guess.
        let name = object.model.known_as().filter(|name| !is_masked(&name.value))?;
        Some((object, kind, &name.value, source))
    })
}
