//! What a Helm chart includes: the dependencies in `Chart.yaml`, and in `requirements.yaml` of old charts.

use crate::syntax::Node;
use crate::workspace::inclusion::{
    BuildRole, Include, IncludeKind, Includes, directory_of, entry_limit, filled, items, join,
};

/// The file that has the dependencies of charts with `apiVersion: v1`.
pub(super) const REQUIREMENTS: &str = "requirements.yaml";

/// Reads a `Chart.yaml`.
pub(super) fn read(path: &str, root: Option<Node<'_>>) -> Includes {
    let is_library = root.and_then(|it| it.get("type")).and_then(Node::text) == Some("library");
    let build = Some(if is_library { BuildRole::LibraryChart } else { BuildRole::Chart });
    Includes { build, ..read_requirements(path, root) }
}

/// Reads the dependencies. A chart in `charts/` is used as it is; without one the repository says where it comes from.
pub(super) fn read_requirements(path: &str, root: Option<Node<'_>>) -> Includes {
    let mut includes = Includes::default();
    let Some(root) = root else { return includes };
    let directory = directory_of(path);
    for item in items(root, "dependencies").take(entry_limit(root)) {
        let Some(node) = item.get("name") else { continue };
        let Some(name) = filled(node) else { continue };
        let repository = item.get("repository").and_then(filled);
        let local = repository.and_then(|it| it.strip_prefix("file://"));
        let candidates = [Some(format!("charts/{name}")), local.map(str::to_owned)];
        let candidates = candidates.into_iter().flatten().filter_map(|it| join(directory, &it)).collect();
        let remote = repository.filter(|_| local.is_none()).map(Into::into);
        let include = Include::new(IncludeKind::Dependency, name, node.resolved().span());
        includes.entries.push(Include { candidates, remote, ..include });
    }
    includes
}
