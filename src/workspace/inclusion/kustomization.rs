//! What a kustomization includes.

use crate::syntax::{self, Node};
use crate::workspace::inclusion::{
    BuildRole, Include, IncludeKind, Includes, directory_of, entry_limit, field, file_name, filled, items, join,
};

/// The names of the file of a kustomization. A directory has exactly one of them (KA1).
pub(super) const KUSTOMIZATION_FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether Kustomize reads a file of this name.
pub(in crate::workspace) fn is_kustomization_file(path: &str) -> bool {
    KUSTOMIZATION_FILES.contains(&file_name(path))
}

/// The fields with a list of paths.
const PATH_LISTS: [(&str, IncludeKind); 8] = [
    ("resources", IncludeKind::Resource),
    ("bases", IncludeKind::Base),
    ("components", IncludeKind::Component),
    ("crds", IncludeKind::Crd),
    ("configurations", IncludeKind::Configuration),
    ("generators", IncludeKind::Generator),
    ("transformers", IncludeKind::Transformer),
    ("validators", IncludeKind::Validator),
];

/// The fields with a list of mappings that have a `path`.
const PATCH_LISTS: [(&str, IncludeKind); 3] = [
    ("patches", IncludeKind::Patch),
    ("patchesJson6902", IncludeKind::Patch),
    ("replacements", IncludeKind::Replacement),
];

/// Reads a file with the name of a kustomization. `None` if it is an object of Flux.
pub(super) fn read(path: &str, root: Option<Node<'_>>) -> Option<Includes> {
    let mut includes = Includes { build: Some(BuildRole::Kustomization), ..Includes::default() };
    let is_field = |key: Node<'_>| key.text().is_some_and(|it| !["apiVersion", "kind", "metadata"].contains(&it));
    includes.is_empty_kustomization = root.is_none_or(|it| !it.entries().iter().any(|(key, _)| is_field(*key)));
    let Some(root) = root else { return Some(includes) };
    if field(root, "apiVersion").and_then(Node::text).is_some_and(|it| it.contains("fluxcd.io")) {
        return None;
    }
    if field(root, "kind").and_then(Node::text) == Some("Component") {
        includes.build = Some(BuildRole::Component);
    }
    let mut reader = Reader { directory: directory_of(path), limit: entry_limit(root), includes };
    reader.kustomization(root);
    Some(reader.includes)
}

/// The charts of a `HelmChartInflationGenerator` in its own document.
pub(super) fn read_chart_plugin(path: &str, root: Node<'_>) -> Vec<Include> {
    let mut reader = Reader { directory: directory_of(path), limit: entry_limit(root), includes: Includes::default() };
    let home = field(root, "chartHome").and_then(filled).unwrap_or(CHART_HOME);
    reader.chart(root, home);
    reader.includes.entries
}

/// Where charts are, unless `chartHome` has another directory.
const CHART_HOME: &str = "charts";

const RUNS_A_PROGRAM: &str = "it runs a program, which podlens does not do";

struct Reader<'p> {
    directory: &'p str,
    limit: usize,
    includes: Includes,
}

impl Reader<'_> {
    fn kustomization(&mut self, root: Node<'_>) {
        for (name, kind) in PATH_LISTS {
            for item in items(root, name) {
                match item.text() {
                    Some(text) if text.contains('\n') => self.inline_plugin(kind, item, text),
                    _ => self.path(kind, item),
                }
            }
        }
        for item in items(root, "patchesStrategicMerge") {
            if item.text().is_some_and(|it| !it.contains('\n')) {
                self.path(IncludeKind::Patch, item);
            }
        }
        for (name, kind) in PATCH_LISTS {
            for path in items(root, name).filter_map(|item| field(item, "path")) {
                self.path(kind, path);
            }
        }
        if let Some(path) = field(root, "openapi").and_then(|it| field(it, "path")) {
            self.path(IncludeKind::OpenApi, path);
        }
        for generator in ["configMapGenerator", "secretGenerator"].into_iter().flat_map(|it| items(root, it)) {
            self.generator(generator);
        }
        let home = field(root, "helmGlobals").and_then(|it| field(it, "chartHome")).and_then(filled);
        for chart in items(root, "helmCharts") {
            self.chart(chart, home.unwrap_or(CHART_HOME));
        }
        for chart in items(root, "helmChartInflationGenerator") {
            self.old_chart(chart);
        }
    }

    fn push(&mut self, include: Include) {
        if self.includes.entries.len() < self.limit {
            self.includes.entries.push(include);
        }
    }

    fn path(&mut self, kind: IncludeKind, node: Node<'_>) {
        if let Some(text) = filled(node) {
            self.push(Include::relative(kind, self.directory, text, node.resolved().span()));
        }
    }

    /// Configuration that is written in the kustomization itself.
    fn inline_plugin(&mut self, kind: IncludeKind, node: Node<'_>, text: &str) {
        let tree = syntax::parse(text);
        for root in tree.documents().filter_map(|it| it.root()) {
            let shown = field(root, "kind").and_then(filled).unwrap_or("inline");
            let include = Include::new(kind, shown, node.resolved().span());
            if !is_builtin(root) {
                self.push(Include { unknown: Some(RUNS_A_PROGRAM), ..include });
            }
        }
    }

    /// `files` have an optional key before `=` (KD3).
    fn generator(&mut self, generator: Node<'_>) {
        for item in items(generator, "files") {
            let Some(text) = filled(item) else { continue };
            let path = text.split_once('=').map_or(text, |it| it.1);
            let span = item.resolved().span();
            self.push(Include::relative(IncludeKind::GeneratorFile, self.directory, path, span));
        }
        for item in items(generator, "envs").chain(field(generator, "env")) {
            self.path(IncludeKind::GeneratorEnvFile, item);
        }
    }

    /// An entry of `helmCharts`. A chart that is downloaded may be in a directory with its version.
    fn chart(&mut self, chart: Node<'_>, home: &str) {
        if let Some(node) = field(chart, "name")
            && let Some(name) = filled(node)
        {
            let repository = field(chart, "repo").and_then(filled);
            let version = field(chart, "version").and_then(filled).filter(|_| repository.is_some());
            let versioned = version.map(|version| format!("{home}/{name}-{version}/{name}"));
            let plain = format!("{home}/{name}");
            let candidates = versioned.into_iter().chain([plain]).filter_map(|it| join(self.directory, &it)).collect();
            let include = Include::new(IncludeKind::HelmChart, name, node.resolved().span());
            self.push(Include { candidates, remote: repository.map(Into::into), ..include });
        }
        for values in field(chart, "valuesFile").into_iter().chain(items(chart, "additionalValuesFiles")) {
            self.path(IncludeKind::Values, values);
        }
    }

    /// An entry of the deprecated `helmChartInflationGenerator`.
    fn old_chart(&mut self, chart: Node<'_>) {
        if let Some(node) = field(chart, "chartName")
            && let Some(name) = filled(node)
        {
            let home = field(chart, "chartHome").and_then(filled).unwrap_or(CHART_HOME);
            let remote = field(chart, "chartRepoUrl").and_then(filled).map(Into::into);
            let candidates = join(self.directory, &format!("{home}/{name}")).into_iter().collect();
            let include = Include::new(IncludeKind::HelmChart, name, node.resolved().span());
            self.push(Include { candidates, remote, ..include });
        }
        if let Some(values) = field(chart, "values") {
            self.path(IncludeKind::Values, values);
        }
    }
}

/// Whether a document configures a plugin that is part of Kustomize.
pub(super) fn is_builtin(root: Node<'_>) -> bool {
    let is_function = root.at(&["metadata", "annotations"]).is_some_and(|it| {
        it.entries().iter().any(|(key, _)| key.text().is_some_and(|it| it.ends_with("kubernetes.io/function")))
    });
    root.get("apiVersion").and_then(Node::text) == Some("builtin") && !is_function
}
