//! The objects whose containers take variables from a ConfigMap or Secret, by its name.
//!
//! Rules about a key need the containers that get it. Objects are stored by their position in the list of objects of a
//! file, as in [`index`](super::index). A change of such an object is a change of the names it uses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;

use crate::k8s::{Container, EnvFromSource, Object, Text, ValueSource};
use crate::syntax::has_placeholder;
use crate::workspace::dependencies::Dependency;
use crate::workspace::index::{DefinitionKey, IndexedKind};
use crate::workspace::{File, Snapshot};

/// A kind and a name that an object uses.
pub(super) type UsedName = (IndexedKind, Arc<str>);

/// The users of all files.
#[derive(Clone, Debug, Default)]
pub(super) struct UserIndex(OrdMap<DefinitionKey, Box<[u32]>>);

impl UserIndex {
    /// Updates the entries of a file. Returns what the objects that changed use and used.
    pub(super) fn update(&mut self, path: &Arc<str>, old: Option<&File>, new: Option<&File>) -> BTreeSet<UsedName> {
        let (old, new) = (old.map_or(&[][..], |it| &it.objects), new.map_or(&[][..], |it| &it.objects));
        let start = old.iter().zip(new).take_while(|(a, b)| is_unchanged(a, b)).count();
        let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
        let end = rest.take_while(|(a, b)| is_unchanged(a, b)).count();
        let (gone, come) = (&old[start..old.len() - end], &new[start..new.len() - end]);
        let changed: BTreeSet<UsedName> = gone.iter().chain(come).flat_map(uses).collect();
        // If objects were added or removed, those after them have moved.
        let until = if old.len() == new.len() { new.len() - end } else { new.len() };
        let mut positions: BTreeMap<UsedName, Vec<u32>> = changed.iter().map(|it| (it.clone(), Vec::new())).collect();
        for (at, object) in (0..).zip(new).take(until).skip(start) {
            for name in uses(object) {
                let positions = positions.entry(name).or_default();
                if positions.last() != Some(&at) {
                    positions.push(at);
                }
            }
        }
        for ((kind, name), mut found) in positions {
            let key = DefinitionKey { kind, name, file: Arc::clone(path) };
            let known = self.0.get(&key).into_iter().flatten().copied();
            let is_kept = |at: &u32| (*at as usize) < start || until < new.len() && (*at as usize) >= until;
            found.extend(known.filter(is_kept));
            found.sort_unstable();
            match found.is_empty() {
                true => drop(self.0.remove(&key)),
                false => drop(self.0.insert(key, found.into())),
            }
        }
        changed
    }
}

/// Whether an object and its parameters are the same, at any position.
fn is_unchanged(one: &Object, other: &Object) -> bool {
    let same_parameters = match (&one.template, &other.template) {
        (Some(one), Some(other)) => Arc::ptr_eq(&one.parameters, &other.parameters),
        (one, other) => one.is_none() && other.is_none(),
    };
    same_parameters && Arc::ptr_eq(&one.model, &other.model)
}

/// The ConfigMaps and Secrets that the containers of an object take variables from. A name that depends on an unknown value
/// is left out.
fn uses(object: &Object) -> impl Iterator<Item = UsedName> {
    let containers = object.model.pods.iter().flat_map(|it| &it.containers);
    containers.flat_map(|it| names_in(it)).filter_map(|(kind, written)| {
        let name = match &object.template {
            Some(template) => template.parameters.substituted_string(&written.value)?,
            None => Arc::clone(&written.value),
        };
        (!has_placeholder(&name)).then_some((kind, name))
    })
}

fn names_in(container: &Container) -> impl Iterator<Item = (IndexedKind, &Text)> {
    let sources = container.env.iter().filter_map(|it| it.from.as_ref()?.sources.first());
    let values = sources.filter_map(|source| match source {
        ValueSource::ConfigMap(it) => Some((IndexedKind::ConfigMap, it.name.as_ref()?)),
        ValueSource::Secret(it) => Some((IndexedKind::Secret, it.name.as_ref()?)),
        _ => None,
    });
    let imports = container.env_from.iter().filter_map(|entry| match entry.source.as_ref()? {
        EnvFromSource::ConfigMap { name, .. } => Some((IndexedKind::ConfigMap, name.as_ref()?)),
        EnvFromSource::Secret { name, .. } => Some((IndexedKind::Secret, name.as_ref()?)),
        EnvFromSource::Service { .. } => None,
    });
    values.chain(imports)
}

impl Snapshot {
    /// The objects whose containers take variables from a ConfigMap of this name: their files, and their positions in these.
    pub fn config_map_users(&self, name: &str) -> Vec<(&Arc<str>, usize)> {
        self.users(IndexedKind::ConfigMap, name)
    }

    /// The objects whose containers take variables from a Secret of this name: their files, and their positions in these.
    pub fn secret_users(&self, name: &str) -> Vec<(&Arc<str>, usize)> {
        self.users(IndexedKind::Secret, name)
    }

    fn users(&self, kind: IndexedKind, name: &str) -> Vec<(&Arc<str>, usize)> {
        self.record(|| Dependency::Users(kind, name.into()));
        let first = DefinitionKey { kind, name: name.into(), file: "".into() };
        let all = self.users.0.range(first.clone()..);
        let same = all.take_while(|(key, _)| key.kind == kind && key.name == first.name);
        same.flat_map(|(key, positions)| positions.iter().map(|at| (&key.file, *at as usize))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Random;
    use crate::workspace::Workspace;

    #[test]
    fn single_changes_give_the_same_as_a_fresh_workspace() {
        let pod = |number: usize| {
            let entry = |number: usize| format!("{{configMapRef: {{name: m{number}}}}}");
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, envFrom: [{}, {}]}}]}}\n",
                entry(number % 3),
                entry(number / 3)
            )
        };
        let pool: Vec<String> = (0..9).map(pod).collect();
        let pool = File::read("a.yaml", &pool.join("---\n"));
        assert_eq!(pool.objects.len(), 9);
        let mut random = Random::new(7);
        let mut objects: Vec<Object> = Vec::new();
        let mut workspace = Workspace::default();
        for step in 0..300 {
            let (at, from) = (random.below(objects.len() + 1), random.below(pool.objects.len()));
            match random.below(3) {
                0 => objects.insert(at, pool.objects[from].clone()),
                1 if at < objects.len() => objects[at] = pool.objects[from].clone(),
                _ if at < objects.len() => drop(objects.remove(at)),
                _ => {}
            }
            let file = || File { objects: objects.clone(), ..File::read("a.yaml", "") };
            workspace.set_editor("a.yaml", file());
            let mut fresh = Workspace::default();
            fresh.set_disk("a.yaml", file());
            for name in ["m0", "m1", "m2"] {
                let (one, other) = (workspace.snapshot(), fresh.snapshot());
                assert_eq!(one.config_map_users(name), other.config_map_users(name), "{step}");
            }
        }
    }
}
