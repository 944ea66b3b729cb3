//! Objects that deploy a path of the repository: `Application` of Argo CD, `Kustomization` and `HelmRelease` of Flux;
//! and documents that configure the built-in plugins of Kustomize.

use std::sync::Arc;

use memchr::memmem;

use crate::syntax::{Node, Tree, has_placeholder};
use crate::text::Span;
use crate::workspace::inclusion::kustomization::{is_builtin, read_chart_plugin};
use crate::workspace::inclusion::{Include, IncludeKind, Includes, filled, items, join};

/// An object that deploys a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The tool that deploys it.
    pub tool: DeliveryTool,
    /// `metadata.name` of the object.
    pub name: Arc<str>,
    /// The path that is deployed.
    pub path: Include,
    /// Values files of a chart, in order.
    pub values: Vec<Include>,
    /// The name of the release of a chart.
    pub release: Option<Arc<str>>,
    /// The namespace that it is deployed to.
    pub namespace: Option<Arc<str>>,
    /// Fields whose effect is not known from the files, with the reason.
    pub unknown: Vec<(&'static str, &'static str, Span)>,
    /// Whether the object changes what the path builds, with values or other fields.
    pub changes_build: bool,
}

/// The tool that deploys a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryTool {
    /// Argo CD.
    ArgoCd,
    /// Flux.
    Flux,
}

/// Whether a text may have objects that this file reads.
pub(in crate::workspace) fn mentions_delivery(text: &str) -> bool {
    let has = |word: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    has("argoproj.io/") || has(".fluxcd.io/") || has("builtin")
}

/// Reads the objects of a file.
pub(super) fn read(path: &str, tree: &Tree) -> Includes {
    let mut includes = Includes::default();
    for root in tree.documents().filter_map(|it| it.root()).filter(|it| it.is_mapping()) {
        let kind = root.get("kind").and_then(Node::text);
        match (group(root), kind) {
            ("argoproj.io", Some("Application")) => includes.deliveries.extend(application(root)),
            ("kustomize.toolkit.fluxcd.io", Some("Kustomization")) => includes.deliveries.extend(flux_path(root)),
            ("helm.toolkit.fluxcd.io", Some("HelmRelease")) => includes.deliveries.extend(helm_release(root)),
            _ if is_builtin(root) => {
                includes.builtin_plugins += 1;
                if kind == Some("HelmChartInflationGenerator") {
                    includes.entries.extend(read_chart_plugin(path, root));
                }
            }
            _ => {}
        }
    }
    includes
}

fn group(root: Node<'_>) -> &str {
    root.get("apiVersion").and_then(Node::text).and_then(|it| it.split_once('/')).map_or("", |it| it.0)
}

/// A scalar that does not depend on a Helm action.
fn known(node: Option<Node<'_>>) -> Option<Arc<str>> {
    node.and_then(filled).filter(|it| !has_placeholder(it)).map(Into::into)
}

const BY_A_PLUGIN: &str = "a plugin of Argo CD makes the objects";
const IN_THE_CLUSTER: &str = "objects in the cluster have the values";

/// An Application has one or several sources. Each with a path in the repository is deployed.
fn application(root: Node<'_>) -> Vec<Delivery> {
    let Some(name) = known(root.at(&["metadata", "name"])) else { return Vec::new() };
    let Some(spec) = root.get("spec") else { return Vec::new() };
    let namespace = known(spec.at(&["destination", "namespace"]));
    let mut found = Vec::new();
    for source in spec.get("source").into_iter().chain(items(spec, "sources")) {
        let Some(node) = source.get("path") else { continue };
        let Some(path) = known(Some(node)) else { continue };
        let mut values = Vec::new();
        let helm = source.get("helm");
        for item in helm.into_iter().flat_map(|it| items(it, "valueFiles")) {
            let Some(text) = known(Some(item)) else { continue };
            // `/a` is relative to the repository, and so is `$name/a` of another source.
            let rest = match text.strip_prefix('$') {
                Some(rest) => rest.split_once('/').map(|it| it.1),
                None => text.strip_prefix('/'),
            };
            let candidate = match rest {
                Some(rest) => join("", rest),
                None => join(&path, &text),
            };
            let include = Include::new(IncludeKind::Values, &text, item.resolved().span());
            values.push(Include { candidates: candidate.into_iter().collect(), is_from_root: true, ..include });
        }
        let plugin = source.get("plugin").map(|it| ("plugin", BY_A_PLUGIN, it.span()));
        let has_fields = |key: &str| source.get(key).is_some_and(|it| it.is_mapping());
        found.push(Delivery {
            tool: DeliveryTool::ArgoCd,
            name: Arc::clone(&name),
            path: from_root(&path, node.resolved().span()),
            release: known(helm.and_then(|it| it.get("releaseName"))),
            namespace: namespace.clone(),
            unknown: plugin.into_iter().collect(),
            changes_build: has_fields("helm") || has_fields("kustomize") || has_fields("plugin"),
            values,
        });
    }
    found
}

/// Whether the paths of a Flux object are those of a repository. An artifact has other paths.
fn is_repository(source: Option<Node<'_>>) -> bool {
    source.and_then(|it| it.get("kind")).and_then(Node::text).is_none_or(|it| it == "GitRepository")
}

/// A Kustomization of Flux.
fn flux_path(root: Node<'_>) -> Option<Delivery> {
    let spec = root.get("spec").filter(|it| is_repository(it.get("sourceRef")))?;
    let node = spec.get("path")?;
    let path = known(Some(node))?;
    let substitutes = spec.at(&["postBuild", "substituteFrom"]).filter(|it| it.items().next().is_some());
    let changing = ["postBuild", "patches", "images", "components", "namePrefix", "nameSuffix", "targetNamespace"];
    Some(Delivery {
        tool: DeliveryTool::Flux,
        name: known(root.at(&["metadata", "name"]))?,
        path: from_root(&path, node.resolved().span()),
        values: Vec::new(),
        release: None,
        namespace: known(spec.get("targetNamespace")),
        unknown: substitutes.map(|it| ("postBuild.substituteFrom", IN_THE_CLUSTER, it.span())).into_iter().collect(),
        changes_build: changing.into_iter().any(|it| spec.get(it).is_some()),
    })
}

/// A HelmRelease whose chart is a path of a repository.
fn helm_release(root: Node<'_>) -> Option<Delivery> {
    let spec = root.get("spec")?;
    let chart = spec.at(&["chart", "spec"]).filter(|it| is_repository(it.get("sourceRef")))?;
    let node = chart.get("chart")?;
    let path = known(Some(node)).filter(|it| it.starts_with("./") || it.starts_with("../"))?;
    let value = |item: Node<'_>| {
        let text = known(Some(item))?;
        let candidates = join("", &text).into_iter().collect();
        let include = Include::new(IncludeKind::Values, &text, item.resolved().span());
        Some(Include { candidates, is_from_root: true, ..include })
    };
    let from = spec.get("valuesFrom").filter(|it| it.items().next().is_some());
    let name = known(root.at(&["metadata", "name"]))?;
    Some(Delivery {
        tool: DeliveryTool::Flux,
        path: from_root(&path, node.resolved().span()),
        values: items(chart, "valuesFiles").filter_map(value).collect(),
        release: known(spec.get("releaseName")).or_else(|| Some(Arc::clone(&name))),
        namespace: known(spec.get("targetNamespace")).or_else(|| known(root.at(&["metadata", "namespace"]))),
        unknown: from.map(|it| ("valuesFrom", IN_THE_CLUSTER, it.span())).into_iter().collect(),
        name,
        changes_build: true,
    })
}

fn from_root(path: &str, span: Span) -> Include {
    let candidates = join("", path.trim_start_matches('/')).into_iter().collect();
    Include { candidates, is_from_root: true, ..Include::new(IncludeKind::Delivery, path, span) }
}
