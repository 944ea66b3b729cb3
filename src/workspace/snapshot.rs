//! Immutable snapshots of the workspace.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use imbl::{HashSet, OrdMap};

use crate::k8s::{Model, Object};
use crate::text::Span;
use crate::workspace::dependencies::{ChangeVersions, Dependency, SharedRecorder};
use crate::workspace::file::File;
use crate::workspace::helm;
use crate::workspace::inclusion::InclusionIndex;
use crate::workspace::index::{Index, IndexedKind};
use crate::workspace::scope::ScopeIndex;
use crate::workspace::settings::Settings;
use crate::workspace::users::UserIndex;

/// What a later layer computes from the whole workspace.
#[derive(Default)]
pub(super) struct DerivedFromWorkspace(OnceLock<Box<dyn Any + Send + Sync>>);

impl fmt::Debug for DerivedFromWorkspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DerivedFromWorkspace")
    }
}

/// The state of the workspace at one version. Immutable and cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(super) files: OrdMap<Arc<str>, Arc<File>>,
    pub(super) index: Index,
    pub(super) inclusion: InclusionIndex,
    pub(super) scope: ScopeIndex,
    /// By directory, which is empty or ends with `/`.
    pub(super) settings: Arc<BTreeMap<Arc<str>, Arc<Settings>>>,
    pub(super) defaults: Arc<Settings>,
    /// Directories with a `Chart.yaml`, which are empty or end with `/`.
    pub(super) charts: Arc<BTreeSet<Arc<str>>>,
    pub(super) roots: Arc<[Arc<str>]>,
    pub(super) changes: ChangeVersions,
    pub(super) recorder: SharedRecorder,
    /// See [`Snapshot::derived`].
    pub(super) derived_views: Arc<DerivedFromWorkspace>,
    pub(super) users: UserIndex,
    /// See [`Snapshot::derived_from_services`].
    pub(super) derived: Arc<OnceLock<Arc<dyn Any + Send + Sync>>>,
    /// Files in which services have only moved since `derived` was computed.
    pub(super) moved: HashSet<Arc<str>>,
}

impl Snapshot {
    /// All files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<File>)> {
        self.record(|| Dependency::Files);
        self.files.iter()
    }

    /// The files of a directory without its subdirectories, sorted by path. The root is empty.
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

    /// A file. For callers whose result depends on the file in a way that is recorded already.
    pub fn file_unrecorded(&self, path: &str) -> Option<&Arc<File>> {
        self.files.get(path)
    }

    /// A file with its path as the workspace stores it.
    pub fn entry(&self, path: &str) -> Option<(&Arc<str>, &Arc<File>)> {
        self.record(|| Dependency::File(path.into()));
        self.files.get_key_value(path)
    }

    /// An object of a file, found by its content. Objects move when their file is edited.
    pub fn find_object(&self, file: &str, model: &Arc<Model>) -> Option<&Object> {
        self.files.get(file)?.objects.iter().find(|it| Arc::ptr_eq(&it.model, model))
    }

    /// What a later layer computes from the whole workspace, once for each state of it. All callers must use the same
    /// type; `None` for another one.
    pub fn derived<T: Any + Send + Sync>(&self, compute: impl FnOnce() -> T) -> Option<&T> {
        self.derived_views.0.get_or_init(|| Box::new(compute())).downcast_ref()
    }

    /// A cache that a later layer computes from all services. Snapshots share it until a service changes. All callers
    /// must use the same type.
    pub fn derived_from_services<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let any = self.derived.get_or_init(|| Arc::new(T::default()));
        Arc::clone(any).downcast().unwrap_or_default()
    }

    /// Records a dependency on all services, for callers that use the cache derived from them.
    pub fn depend_on_services(&self) {
        self.record(|| Dependency::All(IndexedKind::Service));
    }

    /// Whether services have moved since the cache was computed from them.
    pub fn has_moved_services(&self) -> bool {
        !self.moved.is_empty()
    }

    /// The new span of a service that has moved since the cache was computed. `None` if its file is unchanged.
    pub fn moved_service(&self, file: &str, model: &Arc<Model>) -> Option<Span> {
        let file = self.files.get(file).filter(|_| self.moved.contains(file))?;
        let itself = file.objects.iter().find(|it| Arc::ptr_eq(&it.model, model));
        let object = itself.or_else(|| file.objects.iter().find(|it| it.model.is_equivalent(model)))?;
        Some(object.file_span(object.model.span))
    }

    /// The names of all Kustomize `vars`. Which of them apply to a file depends on the Kustomization that builds it.
    pub fn kustomize_vars(&self) -> impl Iterator<Item = &Arc<str>> {
        self.index.vars()
    }

    /// The settings for a file: those of the nearest settings file in its directory or above.
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

    /// The settings of every settings file, including one above the workspace.
    pub fn all_settings(&self) -> impl Iterator<Item = &Arc<Settings>> {
        let above = &self.defaults;
        let is_above = !above.file.is_empty() && self.settings.values().all(|it| it.file != above.file);
        self.settings.values().chain(is_above.then_some(above))
    }

    /// The settings of every settings file, and those of files without one.
    pub fn settings_with_defaults(&self) -> impl Iterator<Item = &Arc<Settings>> {
        let defaults = &self.defaults;
        let is_new = self.settings.values().all(|it| it.file != defaults.file);
        self.settings.values().chain(is_new.then_some(defaults))
    }

    /// Whether the settings exclude a file.
    pub fn is_excluded(&self, file: &str) -> bool {
        self.settings(file).excludes(file)
    }

    /// Whether the file is a template or the values of a Helm chart.
    pub(super) fn is_in_chart(&self, file: &str) -> bool {
        helm::charts_of(file).any(|directory| self.charts.contains(directory))
    }

    /// Whether a Kustomization names the file as a patch. Then its objects are parts of objects elsewhere.
    pub fn is_patch(&self, file: &str) -> bool {
        self.index.is_patch(file)
    }
}
