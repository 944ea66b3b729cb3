//! The identity of an object: its `apiVersion` and `kind`, and whether it holds other objects (W2).

use crate::k8s::template;
use crate::k8s::workloads::WorkloadKind;
use crate::syntax::Node;

/// `apiVersion` and `kind` of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Identity<'t> {
    pub(super) api_version: Option<&'t str>,
    pub(super) kind: Option<&'t str>,
}

impl<'t> Identity<'t> {
    pub(super) fn from_node(node: Node<'t>) -> Self {
        Self {
            api_version: node.get("apiVersion").and_then(Node::string),
            kind: node.get("kind").and_then(Node::string),
        }
    }

    /// The API group. Empty for the core group and where it is not typed yet.
    pub(super) fn group(self) -> &'t str {
        match self.api_version.map(|it| it.split_once('/').map_or((it, ""), |parts| parts)) {
            Some((group, "")) if !group.contains('.') => "",
            Some((group, _)) => group,
            None => "",
        }
    }

    pub(super) fn is(self, group: &str, kind: &str) -> bool {
        self.kind == Some(kind) && self.group() == group
    }

    /// Whether the mapping may be a Kubernetes object. One of `apiVersion` and `kind` may be missing while a user
    /// types.
    pub(super) fn is_plausible(self, node: Node<'_>) -> bool {
        match (node.entry("apiVersion"), node.entry("kind")) {
            (Some(_), Some(_)) => true,
            (None, Some(_)) => self.kind.is_some_and(WorkloadKind::is_workload),
            (Some(_), None) => node.get("spec").is_some() && node.get("metadata").is_some(),
            (None, None) => false,
        }
    }

    /// The list of further objects in an object of this kind.
    pub(super) fn nested(self, node: Node<'t>) -> Option<Nested<'t>> {
        let kind = self.kind?;
        if let Some(template) = template::node(node, self) {
            return Some(Nested { list: template.get("objects")?, each: Identity::default() });
        }
        let each = kind.strip_suffix("List")?;
        let list = node.get("items").filter(|items| items.is_sequence())?;
        let each = if each.is_empty() {
            Identity::default()
        } else {
            Identity { kind: Some(each), api_version: self.api_version }
        };
        Some(Nested { list, each })
    }
}

/// A list of objects inside an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nested<'t> {
    pub(super) list: Node<'t>,
    /// The identity of items that do not declare one: the API server omits it in typed lists.
    pub(super) each: Identity<'t>,
}
