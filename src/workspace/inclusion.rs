//! What includes what: the files, kustomizations and charts that a kustomization, a chart, a delivery object of Argo CD
//! or Flux, or the settings name.
//!
//! A file keeps the entries as they are written ([`Includes`]). What an entry refers to depends on which other files
//! exist, so it is computed when it is asked for. The index from a path to the files that name it is updated with the
//! file that changes: an edit of any other file costs nothing here.

mod chart;
mod delivery;
mod index;
mod kustomization;
mod parameters;
mod target;

use std::sync::Arc;

use crate::syntax::{self, Node, Tree};
use crate::text::Span;
use crate::workspace::file::TextReader;
use crate::workspace::helm;
use crate::workspace::settings::Settings;

pub use delivery::{Delivery, DeliveryTool};
pub use parameters::{ParameterTemplates, choose_templates};
pub use target::{IncludeTarget, Inclusion};

pub(super) use delivery::mentions_delivery;
pub(super) use index::InclusionIndex;
pub(super) use kustomization::is_kustomization_file;

/// What a file builds, and what it includes, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Includes {
    /// What the file builds, if it is a kustomization or a chart.
    pub build: Option<BuildRole>,
    /// The entries, in text order within each field.
    pub entries: Vec<Include>,
    /// Whether it is a kustomization without any field, which Kustomize refuses (KA2).
    pub is_empty_kustomization: bool,
    /// Argo CD and Flux objects that deploy a path of the repository.
    pub deliveries: Vec<Delivery>,
    /// The names of the parameters in a parameter file or env file.
    pub parameters: Vec<Arc<str>>,
    /// The number of documents that configure a built-in generator or transformer of Kustomize.
    pub(super) builtin_plugins: usize,
}

impl Includes {
    /// Whether these are the entries of settings, which name what is built but are not built themselves.
    pub fn is_settings(&self) -> bool {
        self.entries.iter().any(|it| matches!(it.kind, IncludeKind::ViewPath | IncludeKind::Parameters))
    }
}

/// What a file builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildRole {
    /// A kustomization.
    Kustomization,
    /// A `Component`, which changes the objects of the kustomization that includes it.
    Component,
    /// A Helm chart: its `Chart.yaml`.
    Chart,
    /// A Helm chart of the type `library`, which has no objects.
    LibraryChart,
}

impl BuildRole {
    /// Whether it is a chart.
    pub fn is_chart(self) -> bool {
        matches!(self, Self::Chart | Self::LibraryChart)
    }
}

/// An entry that names a file, a directory or a remote place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The field that has the entry.
    pub kind: IncludeKind,
    /// The entry as it is written; of a generator without the key.
    pub text: Arc<str>,
    /// The scalar in the file.
    pub span: Span,
    /// The paths that it may refer to, the first that exists wins. Empty if it is outside of the root.
    pub(super) candidates: Vec<Arc<str>>,
    /// Whether `candidates` are relative to the root of the project of the file.
    pub(super) is_from_root: bool,
    /// Where it is downloaded from if no candidate exists.
    pub(super) remote: Option<Arc<str>>,
    /// Why it is unknown, whatever exists.
    pub(super) unknown: Option<&'static str>,
}

/// The field that names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IncludeKind {
    /// `resources`
    Resource,
    /// `bases`
    Base,
    /// `components`
    Component,
    /// `patches`, `patchesStrategicMerge`, `patchesJson6902`
    Patch,
    /// `files` of a `configMapGenerator` or `secretGenerator`
    GeneratorFile,
    /// `envs` of a `configMapGenerator` or `secretGenerator`
    GeneratorEnvFile,
    /// `generators`
    Generator,
    /// `transformers`
    Transformer,
    /// `validators`
    Validator,
    /// `configurations`
    Configuration,
    /// `crds`
    Crd,
    /// `openapi.path`
    OpenApi,
    /// `path` of an entry of `replacements`
    Replacement,
    /// A chart in `helmCharts` or `helmChartInflationGenerator`
    HelmChart,
    /// A values file of a chart
    Values,
    /// An entry of `dependencies` of a chart
    Dependency,
    /// A chart in `charts/`
    Subchart,
    /// A file in `templates/` or `crds/` of a chart
    ChartFile,
    /// The path that an Argo CD or Flux object deploys
    Delivery,
    /// `path` of a view of the settings
    ViewPath,
    /// A file with parameters of a template
    Parameters,
}

impl IncludeKind {
    /// What an entry of the field is, for messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Base => "base",
            Self::Component => "component",
            Self::Patch => "patch",
            Self::GeneratorFile => "file of a generator",
            Self::GeneratorEnvFile => "env file of a generator",
            Self::Generator => "generator",
            Self::Transformer => "transformer",
            Self::Validator => "validator",
            Self::Configuration => "configuration",
            Self::Crd => "schema of a custom resource",
            Self::OpenApi => "OpenAPI schema",
            Self::Replacement => "replacement",
            Self::HelmChart => "chart",
            Self::Values => "values file",
            Self::Dependency => "dependency",
            Self::Subchart => "subchart",
            Self::ChartFile => "file of the chart",
            Self::Delivery => "deployed path",
            Self::ViewPath => "path of the view",
            Self::Parameters => "parameter file",
        }
    }

    /// Whether it may name a file. Some fields take directories only.
    fn may_be_file(self) -> bool {
        !matches!(self, Self::Base | Self::Component | Self::HelmChart | Self::Dependency | Self::Delivery)
    }

    /// Whether it may name a directory with a kustomization.
    fn may_be_kustomization(self) -> bool {
        matches!(
            self,
            Self::Resource
                | Self::Base
                | Self::Component
                | Self::Generator
                | Self::Transformer
                | Self::Validator
                | Self::Delivery
                | Self::ViewPath
        )
    }

    /// Whether it may name the directory of a chart.
    fn may_be_chart(self) -> bool {
        matches!(self, Self::HelmChart | Self::Dependency | Self::Subchart | Self::Delivery | Self::ViewPath)
    }

    /// Whether Kustomize reads it as a file, and therefore only in or below the directory of the kustomization.
    pub fn is_restricted_file(self) -> bool {
        matches!(
            self,
            Self::Resource
                | Self::Patch
                | Self::GeneratorFile
                | Self::GeneratorEnvFile
                | Self::Generator
                | Self::Transformer
                | Self::Validator
                | Self::Configuration
                | Self::Crd
                | Self::OpenApi
                | Self::Replacement
                | Self::Values
        )
    }

    /// Whether the entry runs a program unless it configures a built-in plugin.
    pub fn may_run_program(self) -> bool {
        matches!(self, Self::Generator | Self::Transformer | Self::Validator)
    }
}

/// The path, from the root, of a path that is written relative to a directory. `None` if it is outside of the root.
pub(super) fn join(directory: &str, relative: &str) -> Option<Arc<str>> {
    if relative.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = directory.split('/').filter(|it| !it.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/").into())
}

/// The directory of a file: empty for the root.
pub(super) fn directory_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |it| it.0)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Reads what a manifest includes.
pub(super) fn read(path: &str, text: &str, reader: &dyn TextReader) -> Option<Arc<Includes>> {
    if is_build_file(path) {
        return read_tree(path, &reader.parse_documents(text, &|_| true), true);
    }
    if !mentions_delivery(text) {
        return None;
    }
    // Of a Helm template only texts without actions are known.
    match helm::has_actions(text).then(|| syntax::mask_helm_actions(text)).flatten() {
        Some(mask) => read_tree(path, &syntax::parse_matching_documents(&mask.text, mentions_delivery).0, true),
        None => read_tree(path, &reader.parse_documents(text, &mentions_delivery), true),
    }
}

/// Reads what a manifest includes from its tree. `mentions_delivery` says whether its text may have delivery objects.
pub(super) fn read_tree(path: &str, tree: &Tree, mentions_delivery: bool) -> Option<Arc<Includes>> {
    let mut roots = tree.documents().filter_map(|document| document.root());
    let includes = if is_kustomization_file(path) {
        kustomization::read(path, roots.next())
    } else if helm::chart_directory(path).is_some() {
        Some(chart::read(path, roots.next()))
    } else if file_name(path) == chart::REQUIREMENTS {
        Some(chart::read_requirements(path, roots.next()))
    } else {
        None
    };
    let includes = match includes {
        Some(includes) => includes,
        None if mentions_delivery => delivery::read(path, tree),
        None => return None,
    };
    (includes != Includes::default()).then(|| Arc::new(includes))
}

/// The names in a parameter file or env file.
pub(super) fn read_parameters(text: &str) -> Option<Arc<Includes>> {
    let parameters: Vec<_> = syntax::parse_param_file(text).entries.iter().map(|it| it.name.as_str().into()).collect();
    (!parameters.is_empty()).then(|| Arc::new(Includes { parameters, ..Includes::default() }))
}

/// What the settings include: the values files and parameter files of views.
pub(super) fn read_settings(settings: &Settings) -> Option<Arc<Includes>> {
    let (owner, views) = settings.named_views();
    let mut includes = Includes::default();
    let mut add = |kind, text: &crate::k8s::Text| {
        let candidates = owner.resolve_path(&text.value).map(Arc::from).into_iter().collect();
        includes.entries.push(Include { candidates, ..Include::new(kind, &text.value, text.span.to_relative()) });
    };
    for view in views {
        if !view.is_glob() {
            add(IncludeKind::ViewPath, &view.path);
        }
        view.values.iter().for_each(|it| add(IncludeKind::Values, it));
        view.params.iter().for_each(|it| add(IncludeKind::Parameters, it));
    }
    (!includes.entries.is_empty()).then(|| Arc::new(includes))
}

/// Whether the name of a file says that it is a kustomization or a chart.
pub(super) fn is_build_file(path: &str) -> bool {
    is_kustomization_file(path) || helm::chart_directory(path).is_some() || file_name(path) == chart::REQUIREMENTS
}

impl Include {
    fn new(kind: IncludeKind, text: &str, span: Span) -> Self {
        Self { kind, text: text.into(), span, candidates: Vec::new(), is_from_root: false, remote: None, unknown: None }
    }

    /// An entry that is relative to a directory.
    fn relative(kind: IncludeKind, directory: &str, text: &str, span: Span) -> Self {
        let candidates = join(directory, text).into_iter().collect();
        Self { candidates, ..Self::new(kind, text, span) }
    }
}

/// How many entries are read from a text of this length. Aliases can expand a small text to any size.
fn entry_limit(root: Node<'_>) -> usize {
    root.document().span().len().saturating_add(1000)
}

/// The value of a field. As in Kustomize, the case of the key does not matter.
fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.get(name).or_else(|| {
        let same = |key: Node<'_>| key.text().is_some_and(|it| it.eq_ignore_ascii_case(name));
        node.entries().into_iter().find(|(key, _)| same(*key)).and_then(|(_, value)| value)
    })
}

/// The items of a list.
fn items<'t>(node: Node<'t>, name: &str) -> impl Iterator<Item = Node<'t>> {
    field(node, name).into_iter().flat_map(Node::items)
}

/// The text of a scalar that is not empty.
fn filled(node: Node<'_>) -> Option<&str> {
    node.text().filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests;
