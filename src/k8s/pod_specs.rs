//! Finding the pods of an object: at the paths of its kind, or in an unknown kind by their structure.

use std::sync::Arc;

use crate::k8s::content_hash::ContentHash;
use crate::k8s::identity::Identity;
use crate::k8s::model::{Pod, Volume};
use crate::k8s::node_reader::{NodeReader, ReadBudget, mappings};
use crate::k8s::pod;
use crate::k8s::workloads::{Controller, DeploymentHook, Indexing, WorkloadKind};
use crate::syntax::Node;

/// Groups whose objects contain pod specs in another language, or patterns and schemas of pod specs. `$()` has another
/// meaning in them.
const OTHER_LANGUAGES: &[&str] = &[
    "tekton.dev",
    "apiextensions.k8s.io",
    "kyverno.io",
    "gatekeeper.sh",
    "kustomize.config.k8s.io",
    "settings.k8s.io",
    "redhatcop.redhat.io",
    "admissionregistration.k8s.io",
    // Values of a chart may look like pods.
    "helm.toolkit.fluxcd.io",
];

/// The same for single kinds, in groups that also have workloads.
const OTHER_KINDS: &[(&str, &str)] = &[
    ("argoproj.io", "Workflow"),
    ("argoproj.io", "WorkflowTemplate"),
    ("argoproj.io", "ClusterWorkflowTemplate"),
    ("argoproj.io", "CronWorkflow"),
    ("argoproj.io", "Sensor"),
    ("argoproj.io", "Application"),
    ("argoproj.io", "ApplicationSet"),
];

/// How deep a pod spec is searched in an unknown kind.
const SEARCH_DEPTH: usize = 10;

/// Whether a group is one of [`OTHER_LANGUAGES`] or a subgroup of one.
pub(super) fn is_other_language(group: &str) -> bool {
    OTHER_LANGUAGES
        .iter()
        .any(|other| group.strip_suffix(other).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// The pods of an object.
pub(super) fn pods(reader: NodeReader<'_>, root: Node<'_>, identity: Identity<'_>) -> Vec<Pod> {
    let is_other = OTHER_KINDS.iter().any(|(group, kind)| identity.is(group, kind));
    if is_other || is_other_language(identity.group()) {
        return Vec::new();
    }
    let workload = identity.kind.and_then(|kind| WorkloadKind::find(identity.group(), kind));
    let mut specs = Vec::new();
    match workload {
        Some(workload) => {
            for pattern in workload.pod_specs {
                follow(root, None, String::new(), pattern, &mut specs);
            }
        }
        None => {
            if let Some(spec) = root.get("spec") {
                search(reader.budget, [None, Some(root), Some(spec)], "spec".into(), SEARCH_DEPTH, &mut specs);
            }
        }
    }
    let mut pods: Vec<Pod> = specs.into_iter().map(|spec| read(reader, spec, workload)).collect();
    if identity.is("", "Pod") {
        for pod in &mut pods {
            pod.name = root.at(&["metadata", "name"]).and_then(|name| reader.text(name));
        }
    }
    if let Some(workload) = workload {
        hooks(reader, root, workload, &mut pods);
    }
    pods
}

/// A pod spec and the mappings around it.
struct PodSpecNode<'t> {
    path: String,
    spec: Node<'t>,
    /// The mapping with the spec and the pod's metadata.
    template: Option<Node<'t>>,
    /// The mapping with the template: the workload's own spec.
    holder: Option<Node<'t>>,
}

fn read(reader: NodeReader<'_>, node: PodSpecNode<'_>, workload: Option<&'static WorkloadKind>) -> Pod {
    let mut pod = pod::pod(reader, node.spec, node.path);
    pod.controller = workload.map_or(Controller::Unknown, Controller::Known);
    pod.default_service_links = workload.is_none_or(|it| it.default_service_links);
    if let Some(template) = node.template {
        pod.labels = reader.string_pairs_at(template, &["metadata", "labels"]);
        pod.annotations = reader.string_pairs_at(template, &["metadata", "annotations"]);
    }
    if let Some(holder) = node.holder {
        claims(reader, holder, &mut pod.volumes);
        let mode = || holder.get("completionMode").and_then(Node::string);
        pod.is_indexed = match workload.map_or(Indexing::Never, |it| it.indexing) {
            Indexing::Never => false,
            Indexing::OnRequest => mode() == Some("Indexed"),
            Indexing::ByDefault => mode().is_none_or(|it| it == "Indexed"),
        };
    }
    pod
}

/// Adds the claims of a StatefulSet, which volume mounts name like volumes (W3).
fn claims(reader: NodeReader<'_>, holder: Node<'_>, volumes: &mut Vec<Volume>) {
    let Some((key, Some(list))) = holder.entry("volumeClaimTemplates") else { return };
    for (_, claim) in mappings(list) {
        volumes.push(Volume {
            span: reader.span(claim),
            name: claim.at(&["metadata", "name"]).and_then(|name| reader.text(name)),
            kind: reader.key(key),
            second_kind: None,
            content_hash: ContentHash::default(),
        });
    }
}

/// Adds every pod spec that a path such as `spec.metrics[*].provider.job` names.
fn follow<'t>(node: Node<'t>, above: Option<Node<'t>>, path: String, pattern: &str, specs: &mut Vec<PodSpecNode<'t>>) {
    let (step, rest) = pattern.split_once('.').unwrap_or((pattern, ""));
    let (key, each) = step.strip_suffix("[*]").map_or((step, false), |key| (key, true));
    let Some(child) = node.get(key) else { return };
    let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    if each {
        for (index, item) in mappings(child) {
            follow(item, Some(node), format!("{path}[{index}]"), rest, specs);
        }
    } else if rest.is_empty() {
        if child.is_mapping() {
            specs.push(PodSpecNode { path, spec: child, template: Some(node), holder: above });
        }
    } else {
        follow(child, Some(node), path, rest, specs);
    }
}

/// Adds every mapping that looks like a pod spec. `chain` is the two nodes around the node, then the node itself.
fn search<'t>(
    budget: &ReadBudget,
    chain: [Option<Node<'t>>; 3],
    path: String,
    depth: usize,
    specs: &mut Vec<PodSpecNode<'t>>,
) {
    let [holder, template, Some(node)] = chain else { return };
    if depth == 0 || !budget.take() {
        return;
    }
    if node.is_sequence() {
        for (index, item) in mappings(node) {
            search(budget, [holder, template, Some(item)], format!("{path}[{index}]"), depth - 1, specs);
        }
    } else if pod::looks_like_pod_spec(node) {
        specs.push(PodSpecNode { path, spec: node, template, holder });
    } else {
        for (key, value) in node.entries() {
            let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
            search(budget, [template, Some(node), Some(value)], format!("{path}.{key}"), depth - 1, specs);
        }
    }
}

/// Adds the hooks of a DeploymentConfig to its pod; without one, to a new pod (W6).
fn hooks(reader: NodeReader<'_>, root: Node<'_>, workload: &'static WorkloadKind, pods: &mut Vec<Pod>) {
    for DeploymentHook { path, env } in workload.hooks {
        let keys: Vec<&str> = path.split('.').collect();
        let Some(node) = root.at(&keys).filter(|node| node.is_mapping()) else { continue };
        let hook = Arc::new(pod::hook(reader, node, (*path).to_owned(), env));
        match pods.first_mut() {
            Some(pod) => pod.containers.push(hook),
            None => pods.push(Pod {
                path: workload.pod_specs[0].into(),
                span: reader.span(node),
                controller: Controller::Known(workload),
                default_service_links: workload.default_service_links,
                containers: vec![hook],
                ..Pod::default()
            }),
        }
    }
}
