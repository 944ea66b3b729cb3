//! What the entries of a file refer to, and which files include a file.

use std::sync::Arc;

use crate::text::Span;
use crate::workspace::Snapshot;
use crate::workspace::dependencies::Dependency;
use crate::workspace::helm;
use crate::workspace::inclusion::index::from_root;
use crate::workspace::inclusion::kustomization::KUSTOMIZATION_FILES;
use crate::workspace::inclusion::parameters::parameter_file;
use crate::workspace::inclusion::{
    BuildRole, Include, IncludeKind, Includes, directory_of, file_name, is_kustomization_file, join,
};
use crate::workspace::settings::LoadRestrictor;

/// An entry of a file with what it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inclusion {
    /// The file that includes.
    pub from: Arc<str>,
    /// The field that has the entry.
    pub kind: IncludeKind,
    /// The entry as it is written. For files that a chart includes by their place, the path from the chart.
    pub text: Arc<str>,
    /// The entry in the file. `None` for files that a chart includes by their place.
    pub span: Option<Span>,
    /// What it refers to.
    pub target: IncludeTarget,
}

/// What an entry refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IncludeTarget {
    /// A file of the workspace.
    File(Arc<str>),
    /// A directory with a kustomization: the file of the kustomization.
    Kustomization(Arc<str>),
    /// A directory with a chart: its `Chart.yaml`.
    Chart(Arc<str>),
    /// A file or directory that exists, but is not among the files of the workspace.
    Unread(Arc<str>),
    /// Nothing of this path is in the workspace.
    Missing(Arc<str>),
    /// A directory of the workspace that has neither a kustomization nor a chart.
    PlainDirectory(Arc<str>),
    /// A place outside of the root of the workspace, as it is written.
    Outside(Arc<str>),
    /// A URL or a repository.
    Remote(Arc<str>),
    /// It cannot be known, for this reason.
    Unknown(&'static str),
}

impl IncludeTarget {
    /// The file of the workspace, if it is known.
    pub fn file(&self) -> Option<&Arc<str>> {
        match self {
            Self::File(file) | Self::Kustomization(file) | Self::Chart(file) => Some(file),
            _ => None,
        }
    }

    /// Why the content is not known. `None` if it is.
    pub fn reason(&self) -> Option<String> {
        Some(match self {
            Self::File(_) | Self::Kustomization(_) | Self::Chart(_) => return None,
            Self::Unread(_) => {
                "it is not read: it is hidden, ignored by git, or not a file with the extension of a manifest".into()
            }
            Self::Missing(_) => "it does not exist".into(),
            Self::PlainDirectory(_) => "the directory has no kustomization".into(),
            Self::Outside(_) => "it is outside of the root; name it on the command line or use `--root`".into(),
            Self::Remote(_) => "it is remote, and podlens does not download".into(),
            Self::Unknown(reason) => (*reason).into(),
        })
    }
}

impl Snapshot {
    /// What a file includes, as it is written.
    pub fn written_includes(&self, file: &str) -> Option<&Arc<Includes>> {
        self.record(|| Dependency::File(file.into()));
        self.inclusion.including.get(file)
    }

    /// The files that include others, or that are a kustomization or chart, sorted by path.
    pub fn including_files(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<Includes>)> {
        self.record(|| Dependency::Files);
        self.inclusion.including.iter()
    }

    /// What a file includes. For a chart, also its templates, values and subcharts.
    pub fn inclusions(&self, file: &Arc<str>) -> Vec<Inclusion> {
        self.record(|| Dependency::Files);
        let Some(includes) = self.inclusion.including.get(file) else { return Vec::new() };
        let deliveries = includes.deliveries.iter().flat_map(|it| [&it.path].into_iter().chain(&it.values));
        let entries = includes.entries.iter().chain(deliveries);
        let mut found: Vec<Inclusion> = entries.map(|it| self.resolved(file, it)).collect();
        if includes.build.is_some_and(BuildRole::is_chart) {
            self.add_chart_files(file, &mut found);
        }
        found
    }

    /// The inclusions whose target is a file. The file of a kustomization or chart stands for its directory.
    pub fn included_by(&self, file: &str) -> Vec<Inclusion> {
        self.record(|| Dependency::Files);
        let is_build = is_kustomization_file(file) || helm::chart_directory(file).is_some();
        let directory = is_build.then(|| directory_of(file));
        let root = self.inclusion_root(file);
        let below = |path: &str| from_root(format!("{path}/").strip_prefix(root).unwrap_or(path).trim_end_matches('/'));
        let mut by: Vec<&Arc<str>> = Vec::new();
        for path in [file].into_iter().chain(directory) {
            by.extend(self.inclusion.naming(path));
            by.extend(self.inclusion.naming(&below(path)));
        }
        by.extend(self.charts_around(file));
        by.sort();
        by.dedup();
        let mut found = Vec::new();
        for from in by {
            found.extend(
                self.inclusions(from).into_iter().filter(|it| it.target.file().is_some_and(|it| **it == *file)),
            );
        }
        if let Some((file, _)) = self.files.get_key_value(file) {
            found.extend(self.templates_of_parameters(file).iter().map(|template| parameter_file(template, file)));
        }
        found
    }

    /// What an entry of a file refers to.
    pub fn include_target(&self, file: &str, include: &Include) -> IncludeTarget {
        if let Some(reason) = include.unknown {
            return IncludeTarget::Unknown(reason);
        }
        let root = self.inclusion_root(file);
        let mut first = None;
        for candidate in &include.candidates {
            let path = match include.is_from_root {
                true => join(root, candidate),
                false => Some(Arc::clone(candidate)),
            };
            let Some(path) = path else { continue };
            if let Some(target) = self.existing(include.kind, &path) {
                return target;
            }
            first.get_or_insert(path);
        }
        if let Some(remote) = &include.remote {
            return IncludeTarget::Remote(Arc::clone(remote));
        }
        if is_remote(&include.text) {
            return IncludeTarget::Remote(Arc::clone(&include.text));
        }
        match first {
            Some(path) if !format!("{path}/").starts_with(root) => IncludeTarget::Outside(Arc::clone(&include.text)),
            Some(path) if self.has_files_below(&path) => IncludeTarget::PlainDirectory(path),
            Some(path) => IncludeTarget::Missing(path),
            None => IncludeTarget::Outside(Arc::clone(&include.text)),
        }
    }

    /// What a path of the workspace refers to, which is written as `text`.
    pub fn path_target(&self, kind: IncludeKind, path: Option<&Arc<str>>, text: &str) -> IncludeTarget {
        let include =
            Include { candidates: path.cloned().into_iter().collect(), ..Include::new(kind, text, Span::default()) };
        self.include_target(path.map_or("", |it| it), &include)
    }

    /// Whether Kustomize refuses a file because it is outside of the directory of the kustomization (KA5).
    pub fn is_refused_by_load_restrictor(&self, kustomization: &str, inclusion: &Inclusion) -> bool {
        let directory = directory_of(kustomization);
        let (IncludeTarget::File(path) | IncludeTarget::Unread(path)) = &inclusion.target else { return false };
        let is_below = directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
        inclusion.kind.is_restricted_file()
            && !is_below
            && self.settings(kustomization).load_restrictor == LoadRestrictor::RootOnly
    }

    /// Whether every document of a file configures a built-in plugin of Kustomize.
    pub fn configures_builtin_plugins(&self, file: &str) -> bool {
        let plugins = self.inclusion.including.get(file).map_or(0, |it| it.builtin_plugins);
        plugins > 0 && self.files.get(file).is_some_and(|it| it.document_count <= plugins)
    }

    /// The files of the kustomization in a directory, in the order of their names. Kustomize refuses more than one (KA1).
    pub fn kustomizations_in(&self, directory: &str) -> Vec<Arc<str>> {
        let names = KUSTOMIZATION_FILES.into_iter().filter_map(|name| join(directory, name));
        names.filter(|path| self.inclusion.including.get(path).is_some_and(|it| it.build.is_some())).collect()
    }

    /// The `Chart.yaml` of a directory.
    pub fn chart_in(&self, directory: &str) -> Option<Arc<str>> {
        let path = join(directory, helm::CHART_FILE)?;
        self.files.contains_key(&path).then_some(path)
    }

    /// The files below the `templates` and `crds` directories of a chart that exist and are not read.
    fn unread_below<'s>(&'s self, directory: &'s str) -> impl Iterator<Item = &'s Arc<str>> {
        let below = self.inclusion.unread.range(Arc::<str>::from(directory)..);
        below.take_while(move |it| it.starts_with(directory))
    }

    /// The paths that entries name and that are not in the workspace: candidates for
    /// [`Workspace::set_unread`](crate::workspace::Workspace::set_unread).
    pub fn missing_paths(&self) -> Vec<Arc<str>> {
        let mut paths = Vec::new();
        for file in self.inclusion.including.keys() {
            for inclusion in self.inclusions(file) {
                if let IncludeTarget::Missing(path) = inclusion.target {
                    paths.push(path);
                }
            }
        }
        paths.sort();
        paths.dedup();
        paths
    }

    /// The directory that paths of delivery objects are relative to: empty or ending with `/`.
    fn inclusion_root(&self, file: &str) -> &str {
        let around = self.roots.iter().filter(|root| file.starts_with(&***root));
        around.max_by_key(|root| root.len()).map_or("", |root| &**root)
    }

    fn resolved(&self, file: &Arc<str>, include: &Include) -> Inclusion {
        Inclusion {
            from: Arc::clone(file),
            kind: include.kind,
            text: Arc::clone(&include.text),
            span: Some(include.span),
            target: self.include_target(file, include),
        }
    }

    fn existing(&self, kind: IncludeKind, path: &Arc<str>) -> Option<IncludeTarget> {
        if kind.may_be_file() && self.files.contains_key(path) {
            return Some(IncludeTarget::File(Arc::clone(path)));
        }
        if kind.may_be_kustomization()
            && let Some(file) = self.kustomizations_in(path).into_iter().next()
        {
            return Some(IncludeTarget::Kustomization(file));
        }
        if kind.may_be_chart()
            && let Some(file) = self.chart_in(path)
        {
            return Some(IncludeTarget::Chart(file));
        }
        self.inclusion.unread.contains(path).then(|| IncludeTarget::Unread(Arc::clone(path)))
    }

    fn has_files_below(&self, directory: &str) -> bool {
        let start = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        self.files.range(Arc::<str>::from(start.as_str())..).next().is_some_and(|(path, _)| path.starts_with(&start))
    }

    /// Adds what a chart includes by its place: templates, CRDs, values and the charts in `charts/`.
    fn add_chart_files(&self, chart: &Arc<str>, found: &mut Vec<Inclusion>) {
        let Some(directory) = helm::chart_directory(chart) else { return };
        let mut add = |kind, target: IncludeTarget, path: &str| {
            let text = path.strip_prefix(directory).unwrap_or(path).into();
            found.push(Inclusion { from: Arc::clone(chart), kind, text, span: None, target });
        };
        for name in ["values.yaml", "values.schema.json", super::chart::REQUIREMENTS] {
            let kind = if name == "values.yaml" { IncludeKind::Values } else { IncludeKind::ChartFile };
            if let Some((path, _)) = self.files.get_key_value(&*format!("{directory}{name}")) {
                add(kind, IncludeTarget::File(Arc::clone(path)), path);
            }
        }
        for folder in ["crds/", "templates/"] {
            let start = format!("{directory}{folder}");
            let below = self.files.range(Arc::<str>::from(start.as_str())..).map(|(path, _)| path);
            for path in below.take_while(|it| it.starts_with(&start)) {
                add(IncludeKind::ChartFile, IncludeTarget::File(Arc::clone(path)), path);
            }
            for path in self.unread_below(&start) {
                add(IncludeKind::ChartFile, IncludeTarget::Unread(Arc::clone(path)), path);
            }
        }
        let start = format!("{directory}charts/");
        for subchart in self.charts.range(Arc::<str>::from(start.as_str())..).take_while(|it| it.starts_with(&start)) {
            if subchart[start.len()..].trim_end_matches('/').contains('/') {
                continue;
            }
            if let Some(file) = self.chart_in(subchart) {
                add(IncludeKind::Subchart, IncludeTarget::Chart(file), subchart.trim_end_matches('/'));
            }
        }
    }

    /// The charts that include a file by its place.
    fn charts_around(&self, file: &str) -> Vec<&Arc<str>> {
        let cuts = file.match_indices('/').map(|(at, _)| &file[..=at]).chain([""]);
        let charts = cuts.filter(|directory| self.charts.contains(*directory));
        charts
            .filter_map(|directory| self.files.get_key_value(&*format!("{directory}{}", helm::CHART_FILE)))
            .map(|(path, _)| path)
            .collect()
    }
}

/// Whether Kustomize would download an entry that does not exist.
fn is_remote(text: &str) -> bool {
    let host = text.split(['/', ':']).next().unwrap_or_default();
    text.contains("://")
        || ["git@", "git::", "gh:"].iter().any(|it| text.starts_with(it))
        || ["github.com", "gitlab.com", "bitbucket.org"].contains(&host)
        || ["?ref=", "?version=", ".git/", ".git?"].iter().any(|it| text.contains(it))
        || file_name(text).ends_with(".git") && text.contains('/')
}
