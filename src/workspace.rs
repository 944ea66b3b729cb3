//! The workspace: files with their objects, an index over them, the settings; changes in, immutable snapshots out.
//!
//! A change costs what the changed file holds, whatever the size of the workspace. Only settings are about other files:
//! a change of `exclude` looks at the files below it again.

#![warn(clippy::disallowed_methods)]

mod dependencies;
mod document;
mod globs;
mod helm;
mod index;
mod paths;
mod scope;
mod settings;
mod version;

use std::any::Any;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use imbl::{HashSet, OrdMap};

use crate::k8s::{self, Model, Object, ObjectData};
use crate::syntax::{self, SyntaxError, Tree};
use crate::text::{LineIndex, Span};
use dependencies::{ChangeVersions, Dependency, SharedRecorder};
use index::{ExportedObject, Index, IndexedKind};

pub use dependencies::Dependencies;
pub use document::{Document, ParsedText, SharedText, TextRevision};
pub use globs::Globs;
pub use paths::{PathStyle, display_path, join_path, path_from_uri, path_to_uri, relative_path};
pub use scope::{LookupSite, ObjectMatch};
pub use settings::{
    Externals, FILE_NAME as SETTINGS_FILE, FileOverride, LintLevel, RuleLevel, Settings, SettingsError, UnknownPolicy,
    schema,
};
pub use version::{InvalidVersion, KubernetesVersion};

/// What is kept of a file: its facts, not its tree.
#[derive(Clone, Debug)]
pub struct File {
    /// The objects in it, those inside Lists and Templates too, in the order of the text.
    pub objects: Vec<Object>,
    /// What is wrong with its YAML.
    pub errors: Vec<SyntaxError>,
    /// Keys that stand twice in their mapping, each with the one it repeats before it, in documents with objects.
    pub duplicate_keys: Vec<(Span, Span)>,
    /// Leads from offsets to lines and columns.
    pub lines: Arc<LineIndex>,
    /// How many documents it has, without those that hold only comments.
    pub document_count: usize,
    /// Whether its text mentions podlens, as suppression comments do.
    pub has_suppressions: bool,
    /// Whether it is a Helm template: what was read of it is its text with the actions masked.
    pub is_helm: bool,
    /// Whether it is an env file or a parameter file, by its name: no YAML at all.
    pub is_env_file: bool,
    /// Whether another template engine than Helm makes YAML of it, which is told by what it writes and what breaks.
    pub is_foreign: bool,
    /// What it says if it is a settings file.
    pub settings: Option<Arc<Settings>>,
    /// Files it names as patches, if it is a Kustomization.
    patches: Vec<Arc<str>>,
    /// What it is if it turns out to belong to a chart.
    in_chart: Option<Arc<File>>,
}

impl File {
    /// Whether it is plain at a glance that others see the same in both: only objects that mean nothing to others differ.
    fn exports_the_same(&self, other: &Self) -> bool {
        let same = |(one, other): (&Object, &Object)| match (&one.model.data, &other.model.data) {
            (ObjectData::None, ObjectData::None) => true,
            _ => {
                let parameters = match (&one.parameters, &other.parameters) {
                    (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                    (one, other) => one.is_none() && other.is_none(),
                };
                parameters && Arc::ptr_eq(&one.model, &other.model)
            }
        };
        self.objects.len() == other.objects.len() && self.objects.iter().zip(&other.objects).all(same)
    }

    /// Reads a file. Its path, relative to the root with `/`, tells what it is. Documents that can hold nothing of
    /// interest are not parsed.
    pub fn read(path: &str, text: &str) -> Self {
        Self::reading(path, text, &FreshReader(&|text| syntax::parse_matching_documents(text, k8s::may_hold_objects)))
    }

    /// Reads a file with all its documents.
    pub fn read_whole(path: &str, text: &str) -> Self {
        Self::reading(path, text, &FreshReader(&|text| (syntax::parse(text), 0)))
    }

    /// Reads a file that is parsed already.
    pub fn from_tree(path: &str, text: &str, tree: &Tree) -> Self {
        let parse = |part: &str| {
            let tree = if std::ptr::eq(part, text) { tree.clone() } else { syntax::parse(part) };
            (tree, 0)
        };
        Self::reading(path, text, &FreshReader(&parse))
    }

    /// The text as it was parsed: that of a Helm template without its actions, byte for byte at the same place.
    pub fn masked_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_env_file {
            return Cow::Borrowed("");
        }
        match self.is_helm.then(|| syntax::mask_helm_actions(text)).flatten() {
            Some(mask) => Cow::Owned(mask.text),
            None => Cow::Borrowed(text),
        }
    }

    /// Reads a file by some means.
    fn reading(path: &str, text: &str, by: &dyn TextReader) -> Self {
        if is_env_file(path) {
            let file = Self::plain(path, "", &syntax::parse(""), 0, Vec::new());
            let has_suppressions = document::has_suppressions(text);
            return Self {
                is_env_file: true,
                has_suppressions,
                lines: Arc::new(LineIndex::new(text)),
                document_count: 1,
                ..file
            };
        }
        // It is not YAML yet, so that nothing is wrong with it.
        let as_template = || {
            let (tree, skipped, objects) = by.template(text)?;
            let file = Self::plain(path, text, &tree, skipped, objects);
            let errors = file.errors.len();
            Some((Self { is_helm: true, errors: Vec::new(), duplicate_keys: Vec::new(), ..file }, errors))
        };
        let may_be_template = helm::has_actions(text);
        // No YAML begins a line like this.
        if may_be_template
            && helm::begins_with_action(text)
            && let Some((file, _)) = as_template()
        {
            return file;
        }
        let (tree, skipped) = by.parse(text);
        let mut file = Self::plain(path, text, &tree, skipped, by.objects(&tree));
        // Asked last: it looks at every action.
        let has_bare_action = || helm::has_bare_action(text, &tree);
        if may_be_template && (!file.errors.is_empty() || helm::is_template(path) || has_bare_action()) {
            match as_template() {
                Some((template, errors)) if errors < file.errors.len() || has_bare_action() => return template,
                Some((template, _)) if helm::is_template(path) => file.in_chart = Some(Arc::new(template)),
                _ => {}
            }
        }
        file.without_values(path)
    }

    /// The values of a chart may look like objects.
    fn without_values(mut self, path: &str) -> Self {
        if helm::is_values(path) && !self.objects.is_empty() {
            self.in_chart = Some(Arc::new(Self { objects: Vec::new(), patches: Vec::new(), ..self.clone() }));
        }
        self
    }

    fn plain(path: &str, text: &str, tree: &Tree, skipped: usize, objects: Vec<Object>) -> Self {
        let is_settings = is_settings(path);
        let objects = if is_settings { Vec::new() } else { objects };
        let has_suppressions = !is_settings && document::has_suppressions(text);
        let is_foreign = || document::is_foreign(text);
        let mut file = Self::assembled(path, tree, objects, has_suppressions, &is_foreign);
        file.document_count += skipped;
        file.settings = is_settings.then(|| Arc::new(Settings::read(path, text)));
        // Nobody asks for a place in a file of which nothing is known.
        let has_places =
            is_settings || has_suppressions || !file.objects.is_empty() || !file.errors.is_empty() || skipped == 0;
        file.lines = Arc::new(LineIndex::new(if has_places { text } else { "" }));
        file
    }

    /// The facts of a tree and its objects. Lines are left to the caller.
    fn assembled(
        path: &str,
        tree: &Tree,
        objects: Vec<Object>,
        has_suppressions: bool,
        is_foreign: &dyn Fn() -> bool,
    ) -> Self {
        let patches = objects
            .iter()
            .filter_map(|object| match &object.model.data {
                ObjectData::Kustomization(it) => Some(&it.patches),
                _ => None,
            })
            .flatten()
            .filter_map(|patch| beside(path, &patch.value))
            .collect();
        let has_objects = |span: Span| {
            let next = objects.partition_point(|object| object.offset < span.start);
            objects.get(next).is_some_and(|object| object.offset < span.end)
        };
        let read = tree.documents().filter(|document| has_objects(document.span()));
        let duplicate_keys = read.flat_map(|document| document.duplicate_keys()).collect();
        let errors = tree.errors();
        Self {
            is_foreign: !errors.is_empty() && is_foreign(),
            objects,
            errors,
            duplicate_keys,
            lines: Arc::default(),
            document_count: tree.documents().filter(|document| document.root().is_some()).count(),
            has_suppressions,
            is_helm: false,
            is_env_file: false,
            settings: None,
            patches,
            in_chart: None,
        }
    }
}

/// How a text is read.
trait TextReader {
    /// Parses it; how many documents were skipped.
    fn parse(&self, text: &str) -> (Tree, usize);

    /// The objects of its tree.
    fn objects(&self, tree: &Tree) -> Vec<Object>;

    /// Its tree as a Helm template, how many documents were skipped, and the objects as far as they are known. Nothing if
    /// it has no actions.
    fn template(&self, text: &str) -> Option<(Tree, usize, Vec<Object>)>;
}

/// Reads a text by means of a parser, as if for the first time.
struct FreshReader<'p>(&'p dyn Fn(&str) -> (Tree, usize));

impl TextReader for FreshReader<'_> {
    fn parse(&self, text: &str) -> (Tree, usize) {
        self.0(text)
    }

    fn objects(&self, tree: &Tree) -> Vec<Object> {
        k8s::objects_of(tree)
    }

    fn template(&self, text: &str) -> Option<(Tree, usize, Vec<Object>)> {
        let mask = syntax::mask_helm_actions(text)?;
        let (tree, skipped) = self.0(&mask.text);
        let objects = helm::as_far_as_known(k8s::objects_of(&tree), &mask);
        Some((tree, skipped, objects))
    }
}

/// Whether a path is that of a file with `NAME=value` lines: `.env`, `config.env`, `dev.params`.
pub fn is_env_file(path: &str) -> bool {
    ends_with(path, ".env") || is_param_file(path)
}

/// Whether a path is that of a file with the parameters of a template, and nothing else: `dev.params`.
pub fn is_param_file(path: &str) -> bool {
    ends_with(path, ".params")
}

/// Whether a path has an extension, whatever its case.
fn ends_with(path: &str, extension: &str) -> bool {
    let start = path.len().checked_sub(extension.len());
    start.is_some_and(|start| path.as_bytes()[start..].eq_ignore_ascii_case(extension.as_bytes()))
}

/// Whether a path is that of a settings file.
fn is_settings(path: &str) -> bool {
    path.rsplit('/').next() == Some(SETTINGS_FILE)
}

/// A path written in a file, as seen from the root.
fn beside(file: &str, relative: &str) -> Option<Arc<str>> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/").into())
}

/// Everything that is known at one moment. Cheap to clone; never changes.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    files: OrdMap<Arc<str>, Arc<File>>,
    index: Index,
    /// By directory: empty or ending with `/`.
    settings: Arc<BTreeMap<Arc<str>, Arc<Settings>>>,
    defaults: Arc<Settings>,
    /// Directories with a Chart.yaml, written like those of the settings.
    charts: Arc<BTreeSet<Arc<str>>>,
    roots: Arc<[Arc<str>]>,
    changes: ChangeVersions,
    recorder: SharedRecorder,
    /// See [`Snapshot::derived_from_services`].
    derived: Arc<OnceLock<Arc<dyn Any + Send + Sync>>>,
    /// Files whose services have moved since then, and nothing else.
    moved: HashSet<Arc<str>>,
}

impl Snapshot {
    /// Every file by its path, in the order of the paths.
    pub fn files(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<File>)> {
        self.record(|| Dependency::Files);
        self.files.iter()
    }

    /// The files of a directory, not those below it, in the order of the paths. The root is empty.
    pub fn files_in(&self, directory: &str) -> impl Iterator<Item = (&Arc<str>, &Arc<File>)> {
        self.record(|| Dependency::Files);
        let start = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let below = self.files.range(Arc::<str>::from(start.as_str())..);
        let length = start.len();
        below
            .take_while(move |(path, _)| path.starts_with(&start))
            .filter(move |(path, _)| !path[length..].contains('/'))
    }

    /// A file.
    pub fn file(&self, path: &str) -> Option<&Arc<File>> {
        self.record(|| Dependency::File(path.into()));
        self.files.get(path)
    }

    /// What a later layer has worked out from all services: kept from snapshot to snapshot while no service changes. Use
    /// one type only.
    pub fn derived_from_services<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let any = self.derived.get_or_init(|| Arc::new(T::default()));
        Arc::clone(any).downcast().unwrap_or_default()
    }

    /// Dependencies that every service is looked at, for who knows what was derived from them.
    pub fn depend_on_services(&self) {
        self.record(|| Dependency::All(IndexedKind::Service));
    }

    /// Whether services may stand elsewhere now than when something was derived from them.
    pub fn has_moved_services(&self) -> bool {
        !self.moved.is_empty()
    }

    /// Where a service stands now that was in a file when something was derived from it; nothing if it is still there.
    pub fn moved_service(&self, file: &str, model: &Arc<Model>) -> Option<Span> {
        let file = self.files.get(file).filter(|_| self.moved.contains(file))?;
        let itself = file.objects.iter().find(|it| Arc::ptr_eq(&it.model, model));
        let object = itself.or_else(|| file.objects.iter().find(|it| it.model.is_equivalent(model)))?;
        Some(object.file_span(object.model.span))
    }

    /// The names of all Kustomize `vars`: which of them reach a file is decided by who builds it.
    pub fn kustomize_vars(&self) -> impl Iterator<Item = &Arc<str>> {
        self.index.vars()
    }

    /// The settings for a file: those of the nearest settings file upwards.
    pub fn settings(&self, file: &str) -> &Settings {
        if !self.settings.is_empty() {
            let mut end = file.len();
            while let Some(slash) = file[..end].rfind('/') {
                if let Some(settings) = self.settings.get(&file[..=slash]) {
                    return settings;
                }
                end = slash;
            }
            if let Some(settings) = self.settings.get("") {
                return settings;
            }
        }
        &self.defaults
    }

    /// Every settings file, with its mistakes; one above the workspace too.
    pub fn all_settings(&self) -> impl Iterator<Item = &Arc<Settings>> {
        let above = &self.defaults;
        let is_above = !above.file.is_empty() && self.settings.values().all(|it| it.file != above.file);
        self.settings.values().chain(is_above.then_some(above))
    }

    /// Whether the settings say not to look at a file.
    pub fn is_excluded(&self, file: &str) -> bool {
        self.settings(file).excludes(file)
    }

    /// Whether the file is a template or the values of a Helm chart.
    fn is_in_chart(&self, file: &str) -> bool {
        helm::charts_of(file).any(|directory| self.charts.contains(directory))
    }

    /// Whether a Kustomization names the file as a patch: its objects are parts of objects elsewhere.
    pub fn is_patch(&self, file: &str) -> bool {
        self.index.is_patch(file)
    }
}

/// Takes changes and gives snapshots.
#[derive(Debug, Default)]
pub struct Workspace {
    snapshot: Snapshot,
    disk: HashMap<Arc<str>, Arc<File>>,
    editor: HashMap<Arc<str>, Arc<File>>,
    /// The settings where no settings file is, and those below all settings.
    defaults: Settings,
    base: Option<Arc<Settings>>,
    /// Whether someone has taken a snapshot, so that it may_hold_objects what changes from now on.
    is_watched: AtomicBool,
}

impl Workspace {
    /// What is known now.
    pub fn snapshot(&self) -> Snapshot {
        self.is_watched.store(true, Ordering::Relaxed);
        self.snapshot.clone()
    }

    /// A file on disk is there or has changed. An editor's text stays over it.
    pub fn set_disk(&mut self, path: &str, file: impl Into<Arc<File>>) {
        self.disk.insert(path.into(), file.into());
        self.refresh(path);
    }

    /// A file on disk is gone.
    pub fn remove_disk(&mut self, path: &str) {
        self.disk.remove(path);
        self.refresh(path);
    }

    /// An editor has opened or changed a file: its text counts from now on.
    pub fn set_editor(&mut self, path: &str, file: impl Into<Arc<File>>) {
        self.editor.insert(path.into(), file.into());
        self.refresh(path);
    }

    /// An editor has closed a file: what is on disk counts again.
    pub fn close_editor(&mut self, path: &str) {
        self.editor.remove(path);
        self.refresh(path);
    }

    /// The settings for files that have no settings file above them in the workspace.
    pub fn set_defaults(&mut self, settings: Settings) {
        self.defaults = settings;
        self.layer_settings();
    }

    /// Settings that count for whatever settings files do not say, such as an editor's.
    pub fn set_base(&mut self, settings: Option<Settings>) {
        self.base = settings.map(Arc::new);
        self.layer_settings();
    }

    fn layer_settings(&mut self) {
        self.snapshot.defaults = self.layered(&Arc::new(self.defaults.clone()));
        let known: Vec<Arc<str>> = self.snapshot.settings.keys().cloned().collect();
        for directory in known {
            let file = self.snapshot.files.get(&*format!("{directory}{SETTINGS_FILE}"));
            if let Some(settings) = file.and_then(|it| it.settings.clone()) {
                let settings = self.layered(&settings);
                Arc::make_mut(&mut self.snapshot.settings).insert(directory, settings);
            }
        }
        self.snapshot.changes.advance();
        self.surroundings_changed();
        self.reindex_below("");
    }

    fn layered(&self, settings: &Arc<Settings>) -> Arc<Settings> {
        match &self.base {
            Some(base) => Arc::new(settings.layered_over(base)),
            None => Arc::clone(settings),
        }
    }

    /// The directories that belong to different projects: names of one mean nothing in another. Each is empty or ends
    /// with `/`.
    pub fn set_roots(&mut self, roots: impl IntoIterator<Item = Arc<str>>) {
        self.snapshot.roots = roots.into_iter().collect();
        self.snapshot.changes.advance();
        self.surroundings_changed();
    }

    /// Makes the snapshot agree with the layers about one file.
    fn refresh(&mut self, path: &str) {
        let path: Arc<str> = path.into();
        let new = self.editor.get(&path).or_else(|| self.disk.get(&path)).cloned();
        if let Some(directory) = helm::chart_directory(&path) {
            self.charts_changed(directory, new.is_some());
        }
        let new = new.map(|file| match &file.in_chart {
            Some(in_chart) if self.snapshot.is_in_chart(&path) => Arc::clone(in_chart),
            _ => file,
        });
        let old = match &new {
            Some(file) => self.snapshot.files.insert(Arc::clone(&path), Arc::clone(file)),
            None => self.snapshot.files.remove(&path),
        };
        self.snapshot.changes.advance();
        self.snapshot.changes.file(&path, self.is_watched.load(Ordering::Relaxed));
        self.snapshot.index.set_file(&path, new.as_ref());
        self.exports_changed(&path, old.as_deref(), new.as_deref());
        let (before, after) = (old.as_deref(), new.as_deref());
        self.patches_changed(before.map_or(&[], |it| &it.patches), after.map_or(&[], |it| &it.patches));
        let settings = after.and_then(|it| it.settings.clone());
        if settings.is_some() || before.is_some_and(|it| it.settings.is_some()) {
            self.settings_changed(&path, settings);
        }
    }

    /// Makes the index agree with a file, and tells which names are affected. An edit that moves objects and changes
    /// nothing that others see leaves the index as it is.
    fn exports_changed(&mut self, path: &Arc<str>, old: Option<&File>, new: Option<&File>) {
        if let (Some(old), Some(new)) = (old, new)
            && old.exports_the_same(new)
        {
            let is_service = |it: &Object| matches!(it.model.data, ObjectData::Service(_));
            if self.is_watched.load(Ordering::Relaxed) && new.objects.iter().any(is_service) {
                self.snapshot.moved.insert(Arc::clone(path));
            }
            return;
        }
        let before: Vec<ExportedObject<'_>> = old.into_iter().flat_map(index::exported).collect();
        let after: Vec<ExportedObject<'_>> = new.into_iter().flat_map(index::exported).collect();
        let vars_changed = !old.into_iter().flat_map(index::vars).eq(new.into_iter().flat_map(index::vars));
        let same = |(a, b): &(&ExportedObject<'_>, &ExportedObject<'_>)| a.is_equivalent(b);
        let start = before.iter().zip(&after).take_while(same).count();
        let rest = before.iter().skip(start).rev().zip(after.iter().skip(start).rev());
        let end = rest.take_while(same).count();
        let (gone, come) = (&before[start..before.len() - end], &after[start..after.len() - end]);
        let stays = |(a, b): (&ExportedObject<'_>, &ExportedObject<'_>)| a.position == b.position;
        if vars_changed || before.len() != after.len() || !gone.is_empty() || !before.iter().zip(&after).all(stays) {
            let snapshot = &mut self.snapshot;
            if let Some(old) = old {
                snapshot.index.remove(path, old);
            }
            if let Some(new) = new
                && !snapshot.is_excluded(path)
            {
                snapshot.index.add(path, new);
            }
        }
        let is_watched = self.is_watched.load(Ordering::Relaxed);
        for export in gone.iter().chain(come) {
            self.snapshot.changes.name(export.kind, &export.name, is_watched);
        }
        if vars_changed {
            self.snapshot.index.vars_changed(old, new);
            self.surroundings_changed();
        }
        let is_service = |it: &ExportedObject<'_>| it.kind == IndexedKind::Service;
        if gone.iter().chain(come).any(is_service) {
            self.services_changed();
        } else if is_watched && after.iter().any(is_service) {
            self.snapshot.moved.insert(Arc::clone(path));
        }
    }

    fn services_changed(&mut self) {
        self.snapshot.derived = Arc::default();
        self.snapshot.moved = HashSet::default();
    }

    /// Something has changed that is about many files.
    fn surroundings_changed(&mut self) {
        self.snapshot.changes.surroundings();
        self.services_changed();
    }

    fn patches_changed(&mut self, before: &[Arc<str>], after: &[Arc<str>]) {
        if before == after {
            return;
        }
        self.surroundings_changed();
        // New ones first, so that a file which stays a patch is not looked at again.
        for path in after {
            if self.snapshot.index.add_patch(path) {
                self.reindex(path);
            }
        }
        for path in before {
            if self.snapshot.index.remove_patch(path) {
                self.reindex(path);
            }
        }
    }

    /// A directory has become a chart, or is one no more: the templates and values in it are read as such.
    fn charts_changed(&mut self, directory: &str, is_chart: bool) {
        let charts = Arc::make_mut(&mut self.snapshot.charts);
        let changed = if is_chart { charts.insert(directory.into()) } else { charts.remove(directory) };
        if changed {
            self.snapshot.changes.advance();
            self.surroundings_changed();
            for path in self.files_below(directory) {
                if helm::chart_directory(&path).is_none() {
                    self.refresh(&path);
                }
            }
        }
    }

    fn settings_changed(&mut self, path: &str, settings: Option<Arc<Settings>>) {
        let directory = &path[..path.len() - SETTINGS_FILE.len()];
        let settings = settings.map(|it| self.layered(&it));
        let all = Arc::make_mut(&mut self.snapshot.settings);
        match settings {
            Some(settings) => drop(all.insert(directory.into(), settings)),
            None => drop(all.remove(directory)),
        }
        self.surroundings_changed();
        self.reindex_below(directory);
    }

    fn reindex_below(&mut self, directory: &str) {
        for path in self.files_below(directory) {
            self.reindex(&path);
        }
    }

    fn files_below(&self, directory: &str) -> Vec<Arc<str>> {
        let behind = self.snapshot.files.range(Arc::<str>::from(directory)..).map(|(path, _)| Arc::clone(path));
        behind.take_while(|path| path.starts_with(directory)).collect()
    }

    fn reindex(&mut self, path: &Arc<str>) {
        let Some(file) = self.snapshot.files.get(path).cloned() else { return };
        self.snapshot.index.remove(path, &file);
        if !self.snapshot.is_excluded(path) {
            self.snapshot.index.add(path, &file);
        }
    }
}

#[cfg(test)]
pub(crate) mod test_projects;
#[cfg(test)]
mod tests;
