//! The index of the names that files define. A change updates the entries of one file; snapshots share the rest.
//!
//! Objects are stored by their position in the list of objects of a file, so an edit that only moves text does not
//! change the index.

use std::sync::Arc;

use imbl::{HashMap, OrdMap, Vector};

use crate::k8s::{KeyedData, Object, ObjectData, Parameters, service_prefix};
use crate::syntax::has_placeholder;
use crate::workspace::File;

/// The kinds of objects that are looked up by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum IndexedKind {
    ConfigMap,
    Secret,
    Service,
    Preset,
}

/// The kind and name of an object and a file that defines it, sorted in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DefinitionKey {
    pub(super) kind: IndexedKind,
    pub(super) name: Arc<str>,
    pub(super) file: Arc<str>,
}

/// The kind and name of an object and the directory of a file that defines it, which is empty or ends with `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DirectoryName {
    kind: IndexedKind,
    directory: Arc<str>,
    name: Arc<str>,
}

impl DirectoryName {
    fn of(key: &DefinitionKey) -> Self {
        Self { kind: key.kind, directory: directory(&key.file).into(), name: Arc::clone(&key.name) }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The objects of a name in a file.
    definitions: OrdMap<DefinitionKey, FileDefinitions>,
    /// How many files of a directory define a name.
    names: OrdMap<DirectoryName, usize>,
    /// How many objects of a name are in a namespace, or in none.
    namespaces: OrdMap<NameInNamespace, usize>,
    /// How many files define a service, by the prefix of its variables and its name.
    service_prefixes: OrdMap<(Arc<str>, Arc<str>), usize>,
    /// How many files define a preset, by a label that it requires and its name. `None` if no label is certain.
    preset_labels: OrdMap<(Option<RequiredLabel>, Arc<str>), usize>,
    /// The keys of definitions that add to others: objects of patch files, and data with `is_addition`.
    additions: OrdMap<DefinitionKey, ()>,
    /// How many Kustomizations name a file as a patch.
    patches: HashMap<Arc<str>, usize>,
    /// How many Kustomizations have an entry of this name in `vars`.
    vars: OrdMap<Arc<str>, usize>,
    /// The files by their numbers, which never change. A number is faster to look up than a path.
    files: Vector<Option<Arc<File>>>,
    numbers: HashMap<Arc<str>, usize>,
}

/// The objects of a name in a file, as positions in the list of objects of that file.
#[derive(Clone, Debug)]
pub(super) struct FileDefinitions {
    file: usize,
    positions: Box<[u32]>,
}

impl Index {
    /// Stores a file under its number.
    pub(super) fn set_file(&mut self, path: &Arc<str>, file: Option<&Arc<File>>) {
        let next = self.files.len();
        let number = *self.numbers.entry(Arc::clone(path)).or_insert(next);
        if number == next {
            self.files.push_back(file.cloned());
        } else {
            self.files.set(number, file.cloned());
        }
    }

    /// Adds the definitions of a file.
    pub(super) fn add(&mut self, path: &Arc<str>, file: &File) {
        let Some(&number) = self.numbers.get(path) else { return };
        let is_patch = self.patches.contains_key(path);
        for exported in exported(file) {
            if exported.kind == IndexedKind::Preset {
                *self.preset_labels.entry(exported.label_and_name()).or_insert(0) += 1;
            }
            *self.namespaces.entry(exported.name_in_namespace()).or_insert(0) += 1;
            let ExportedObject { position, kind, name, source, .. } = exported;
            let key = DefinitionKey { kind, name, file: Arc::clone(path) };
            if is_patch || source.is_some_and(|source| source.is_addition) {
                self.additions.insert(key.clone(), ());
            }
            let mut positions = self.definitions.get(&key).map(|it| it.positions.to_vec()).unwrap_or_default();
            if positions.is_empty() {
                *self.names.entry(DirectoryName::of(&key)).or_insert(0) += 1;
                if kind == IndexedKind::Service {
                    *self.service_prefixes.entry(prefix_and_name(&key.name)).or_insert(0) += 1;
                }
            }
            positions.push(position);
            self.definitions.insert(key, FileDefinitions { file: number, positions: positions.into() });
        }
    }

    /// Removes the definitions of a file. Those of a file that was not added, such as an excluded one, are not counted.
    pub(super) fn remove(&mut self, path: &Arc<str>, file: &File) {
        let key = |it: &ExportedObject<'_>| DefinitionKey {
            kind: it.kind,
            name: Arc::clone(&it.name),
            file: Arc::clone(path),
        };
        let added: Vec<ExportedObject<'_>> =
            exported(file).filter(|it| self.definitions.contains_key(&key(it))).collect();
        for exported in &added {
            if exported.kind == IndexedKind::Preset {
                remove_one(&mut self.preset_labels, &exported.label_and_name());
            }
            remove_one(&mut self.namespaces, &exported.name_in_namespace());
        }
        for key in added.iter().map(key) {
            if self.definitions.remove(&key).is_some() {
                remove_one(&mut self.names, &DirectoryName::of(&key));
                if key.kind == IndexedKind::Service {
                    remove_one(&mut self.service_prefixes, &prefix_and_name(&key.name));
                }
            }
            self.additions.remove(&key);
        }
    }

    /// Updates the `vars` of a file. Excluded files count too, because they may build files that are not excluded.
    pub(super) fn update_vars(&mut self, old: Option<&File>, new: Option<&File>) {
        for name in new.into_iter().flat_map(vars) {
            *self.vars.entry(Arc::clone(name)).or_insert(0) += 1;
        }
        for name in old.into_iter().flat_map(vars) {
            remove_one(&mut self.vars, name);
        }
    }

    /// The objects of a definition, with their positions in the list of objects of the file.
    pub(super) fn objects(&self, definition: &FileDefinitions) -> impl Iterator<Item = (usize, &Object)> {
        let file = self.files.get(definition.file).and_then(Option::as_ref);
        let at = |position: &u32| *position as usize;
        definition.positions.iter().map(at).filter_map(move |position| Some((position, file?.objects.get(position)?)))
    }

    /// The names of all Kustomize `vars`.
    pub(super) fn vars(&self) -> impl Iterator<Item = &Arc<str>> {
        self.vars.keys()
    }

    /// Counts a Kustomization that names `path` as a patch. Returns whether it is the first.
    pub(super) fn add_patch(&mut self, path: &Arc<str>) -> bool {
        let count = self.patches.entry(Arc::clone(path)).or_insert(0);
        *count += 1;
        *count == 1
    }

    /// Removes one from the count. Returns whether it was the last.
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

    /// The files that Kustomizations name as patches.
    pub(super) fn patches(&self) -> impl Iterator<Item = &Arc<str>> {
        self.patches.keys()
    }

    pub(super) fn is_patch(&self, path: &str) -> bool {
        self.patches.contains_key(path)
    }

    /// Whether an object of a name can be in a namespace: it is there, or has none.
    pub(super) fn may_be_in_namespace(&self, kind: IndexedKind, name: &str, namespace: &str) -> bool {
        let without = NameInNamespace { kind, name: name.into(), namespace: None };
        self.namespaces.contains_key(&without)
            || self.namespaces.contains_key(&NameInNamespace { namespace: Some(namespace.into()), ..without })
    }

    /// The definitions of a name in a directory and below, sorted by file.
    pub(super) fn named(
        &self,
        kind: IndexedKind,
        name: &str,
        directory: &str,
    ) -> impl Iterator<Item = (&DefinitionKey, &FileDefinitions)> {
        let first = DefinitionKey { kind, name: name.into(), file: directory.into() };
        let within = first.clone();
        self.definitions.range(first..).take_while(move |(key, _)| {
            key.kind == kind && key.name == within.name && key.file.starts_with(&*within.file)
        })
    }

    /// The objects that add to the definitions of a name, sorted by file.
    pub(super) fn additions(
        &self,
        kind: IndexedKind,
        name: &str,
    ) -> impl Iterator<Item = (&DefinitionKey, &FileDefinitions)> {
        let first = DefinitionKey { kind, name: name.into(), file: "".into() };
        let name = Arc::clone(&first.name);
        self.additions
            .range(first..)
            .take_while(move |(key, ())| key.kind == kind && key.name == name)
            .filter_map(|(key, ())| Some((key, self.definitions.get(key)?)))
    }

    /// The names of the objects of a kind in a directory and below.
    pub(super) fn names_below(&self, kind: IndexedKind, directory: &str) -> impl Iterator<Item = &Arc<str>> {
        let first = DirectoryName { kind, directory: directory.into(), name: "".into() };
        let within = Arc::clone(&first.directory);
        let is_below = move |it: &&DirectoryName| it.kind == kind && it.directory.starts_with(&*within);
        self.names.range(first..).map(|(it, _)| it).take_while(is_below).map(|it| &it.name)
    }

    /// The names of the services whose variables have a prefix, sorted.
    pub(super) fn services_with_prefix(&self, prefix: &str) -> impl Iterator<Item = &Arc<str>> {
        let first: (Arc<str>, Arc<str>) = (prefix.into(), "".into());
        let prefix = Arc::clone(&first.0);
        self.service_prefixes.range(first..).map(|(it, _)| it).take_while(move |it| it.0 == prefix).map(|it| &it.1)
    }

    /// The names of the presets that may select pods with these labels, of which some have no known value. With `is_open` the
    /// pods may have others. A name can occur more than once.
    pub(super) fn presets_for<'l>(
        &self,
        labels: &[(&'l str, Option<&'l str>)],
        is_open: bool,
    ) -> impl Iterator<Item = &Arc<str>> + use<'_, 'l> {
        let from = |label: Option<RequiredLabel>| self.preset_labels.range((label, Arc::<str>::from(""))..);
        let unlabelled = from(None).map(|(it, _)| it).take_while(|it| it.0.is_none());
        let mut asked: Vec<RequiredLabels> = Vec::new();
        for (key, value) in labels {
            asked.push(RequiredLabels { key: (*key).into(), value: value.map(Arc::from) });
        }
        // Another key may be set to any value.
        let mut next = from(Some(RequiredLabel::default())).next();
        while let Some(((Some(label), _), _)) = next.filter(|_| is_open) {
            if labels.iter().all(|(key, _)| **key != *label.key) {
                asked.push(RequiredLabels { key: Arc::clone(&label.key), value: None });
            }
            let after = RequiredLabel { key: format!("{}\0", label.key).into(), value: "".into() };
            next = from(Some(after)).next();
        }
        let labelled = asked.into_iter().flat_map(move |asked| {
            let first = RequiredLabel { key: Arc::clone(&asked.key), value: asked.value.clone().unwrap_or_default() };
            let is_it = move |it: &RequiredLabel| {
                it.key == asked.key && asked.value.as_ref().is_none_or(|value| it.value == *value)
            };
            let same = from(Some(first)).map(|(it, _)| it);
            same.take_while(move |it| it.0.as_ref().is_some_and(&is_it))
        });
        unlabelled.chain(labelled).map(|(_, name)| name)
    }

    /// The definitions of a kind, sorted by name and file.
    pub(super) fn all(&self, kind: IndexedKind) -> impl Iterator<Item = (&DefinitionKey, &FileDefinitions)> {
        let first = DefinitionKey { kind, name: "".into(), file: "".into() };
        self.definitions.range(first..).take_while(move |(key, _)| key.kind == kind)
    }
}

/// An object that others can refer to.
#[derive(Clone)]
pub(super) struct ExportedObject<'f> {
    /// The position in the list of objects of its file.
    pub(super) position: u32,
    pub(super) object: &'f Object,
    pub(super) kind: IndexedKind,
    /// The name, with parameters of a template substituted.
    pub(super) name: Arc<str>,
    source: Option<&'f KeyedData>,
}

impl ExportedObject<'_> {
    fn name_in_namespace(&self) -> NameInNamespace {
        NameInNamespace { kind: self.kind, name: Arc::clone(&self.name), namespace: self.object.namespace() }
    }

    /// A label that a preset requires, and its name.
    fn label_and_name(&self) -> (Option<RequiredLabel>, Arc<str>) {
        let label = match &self.object.model.data {
            // Parameters may change the labels.
            ObjectData::Preset(preset) if self.object.template.is_none() => preset.required_label(),
            _ => None,
        };
        let label = label.map(|(key, value)| RequiredLabel { key: Arc::clone(key), value: Arc::clone(value) });
        (label, Arc::clone(&self.name))
    }

    /// Whether both offer the same to others. Positions are ignored.
    pub(super) fn is_equivalent(&self, other: &ExportedObject<'_>) -> bool {
        self.kind == other.kind
            && self.name == other.name
            && parameters(self.object) == parameters(other.object)
            && (Arc::ptr_eq(&self.object.model, &other.object.model)
                || self.object.model.is_equivalent(&other.object.model))
    }
}

/// The kind, name and namespace of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NameInNamespace {
    kind: IndexedKind,
    name: Arc<str>,
    namespace: Option<Arc<str>>,
}

/// The labels with a key, of which one value or each is asked for.
struct RequiredLabels {
    key: Arc<str>,
    value: Option<Arc<str>>,
}

/// A label that a pod needs for a preset.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct RequiredLabel {
    key: Arc<str>,
    value: Arc<str>,
}

/// The prefix of a service's variables, and its name.
fn prefix_and_name(service: &Arc<str>) -> (Arc<str>, Arc<str>) {
    (service_prefix(service).into(), Arc::clone(service))
}

/// Removes one from the count of a key, and the key with the last.
fn remove_one<K: Ord + Clone>(counts: &mut OrdMap<K, usize>, key: &K) {
    match counts.get_mut(key) {
        Some(count) if *count > 1 => *count -= 1,
        _ => drop(counts.remove(key)),
    }
}

/// The directory of a file: empty, or ending with `/`.
fn directory(file: &str) -> &str {
    &file[..file.rfind('/').map_or(0, |slash| slash + 1)]
}

fn parameters(object: &Object) -> Option<&Parameters> {
    object.template.as_ref().map(|it| &*it.parameters)
}

/// The objects of a file that others can refer to.
pub(super) fn exported(file: &File) -> impl Iterator<Item = ExportedObject<'_>> {
    file.objects.iter().zip(0..).filter_map(|(object, position)| {
        let (kind, source) = match &object.model.data {
            ObjectData::ConfigMap(source) => (IndexedKind::ConfigMap, Some(source)),
            ObjectData::Secret(source) => (IndexedKind::Secret, Some(source)),
            ObjectData::Service(_) => (IndexedKind::Service, None),
            ObjectData::Preset(_) => (IndexedKind::Preset, None),
            ObjectData::None | ObjectData::Kustomization(_) | ObjectData::Template(_) => return None,
        };
        // A name that depends on a Helm action is unknown. One that depends on a parameter identifies the object inside
        // its template.
        let is_known = |name: &Arc<str>| object.template.is_some() || !has_placeholder(name);
        let name = object.reference_name().filter(is_known)?;
        Some(ExportedObject { position, object, kind, name, source })
    })
}

/// The names of the `vars` in a file.
pub(super) fn vars(file: &File) -> impl Iterator<Item = &Arc<str>> {
    let kustomizations = file.objects.iter().filter_map(|it| match &it.model.data {
        ObjectData::Kustomization(it) => Some(it),
        _ => None,
    });
    kustomizations.flat_map(|it| &it.vars).map(|it| &it.value)
}
