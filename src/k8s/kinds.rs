//! Where the pod specs are in each kind (W1 to W12), and which kinds hold other objects.

use std::sync::Arc;

use crate::k8s::content_hash::ContentHash;
use crate::k8s::model::{Injector, Pod, Volume};
use crate::k8s::pod;
use crate::k8s::reader::{NodeBudget, Reader, mappings};
use crate::k8s::template;
use crate::syntax::Node;

/// An API group, a kind, and the paths of its pod specs. `*` stands for any group, `[*]` for every item of a list.
const SITES: &[(&str, &str, &[&str])] = &[
    ("", "Pod", &["spec"]),
    ("", "PodTemplate", &["template.spec"]),
    ("", "ReplicationController", &["spec.template.spec"]),
    ("apps", "Deployment", &["spec.template.spec"]),
    ("apps", "ReplicaSet", &["spec.template.spec"]),
    ("apps", "DaemonSet", &["spec.template.spec"]),
    ("apps", "StatefulSet", &["spec.template.spec"]),
    ("extensions", "Deployment", &["spec.template.spec"]),
    ("extensions", "ReplicaSet", &["spec.template.spec"]),
    ("extensions", "DaemonSet", &["spec.template.spec"]),
    ("batch", "Job", &["spec.template.spec"]),
    ("batch", "CronJob", &["spec.jobTemplate.spec.template.spec"]),
    ("apps.openshift.io", "DeploymentConfig", &["spec.template.spec"]),
    ("argoproj.io", "Rollout", &["spec.template.spec"]),
    ("argoproj.io", "Experiment", &["spec.templates[*].template.spec"]),
    ("argoproj.io", "AnalysisTemplate", &["spec.metrics[*].provider.job.spec.template.spec"]),
    ("argoproj.io", "ClusterAnalysisTemplate", &["spec.metrics[*].provider.job.spec.template.spec"]),
    ("argoproj.io", "AnalysisRun", &["spec.metrics[*].provider.job.spec.template.spec"]),
    ("serving.knative.dev", "Service", &["spec.template.spec"]),
    ("serving.knative.dev", "Configuration", &["spec.template.spec"]),
    ("serving.knative.dev", "Revision", &["spec"]),
    ("jobset.x-k8s.io", "JobSet", &["spec.replicatedJobs[*].template.spec.template.spec"]),
    (
        "leaderworkerset.x-k8s.io",
        "LeaderWorkerSet",
        &["spec.leaderWorkerTemplate.leaderTemplate.spec", "spec.leaderWorkerTemplate.workerTemplate.spec"],
    ),
];

/// Hooks of a DeploymentConfig: the mapping that holds the env list, and the list's name.
const HOOKS: &[(&str, &str)] = &[
    ("spec.strategy.customParams", "environment"),
    ("spec.strategy.recreateParams.pre.execNewPod", "env"),
    ("spec.strategy.recreateParams.mid.execNewPod", "env"),
    ("spec.strategy.recreateParams.post.execNewPod", "env"),
    ("spec.strategy.rollingParams.pre.execNewPod", "env"),
    ("spec.strategy.rollingParams.post.execNewPod", "env"),
];

/// Groups whose objects hold pod shapes in another language, or as patterns and schemas: `$()` is not ours there.
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

/// Kinds whose pods are written in another language, in a group that has others.
const OTHER_KINDS: &[(&str, &str)] = &[
    ("argoproj.io", "Workflow"),
    ("argoproj.io", "WorkflowTemplate"),
    ("argoproj.io", "ClusterWorkflowTemplate"),
    ("argoproj.io", "CronWorkflow"),
    ("argoproj.io", "Sensor"),
    ("argoproj.io", "Application"),
    ("argoproj.io", "ApplicationSet"),
];

/// Whether the objects of a group say nothing about pods in our language.
pub(super) fn is_other_language(group: &str) -> bool {
    OTHER_LANGUAGES.iter().any(|other| is_within(group, other))
}

/// Whether objects of a kind are known to make pods, in some group.
pub(super) fn is_workload(kind: &str) -> bool {
    SITES.iter().any(|(_, known, _)| *known == kind)
}

/// Whether a group is another or below it.
fn is_within(group: &str, other: &str) -> bool {
    group.strip_suffix(other).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// How deep a pod spec is looked for in a kind that is not known.
const SEARCH_DEPTH: usize = 10;

/// What an object says it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Identity<'t> {
    pub(super) api_version: Option<&'t str>,
    pub(super) kind: Option<&'t str>,
}

impl<'t> Identity<'t> {
    pub(super) fn of(node: Node<'t>) -> Self {
        Self {
            api_version: node.get("apiVersion").and_then(Node::string),
            kind: node.get("kind").and_then(Node::string),
        }
    }

    /// The API group; empty for the core group, and for what is not typed yet.
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

    /// Whether something of this kind may be a Kubernetes object although the other half of its identity is missing,
    /// as it is while it is being typed.
    pub(super) fn is_plausible(self, node: Node<'_>) -> bool {
        match (node.entry("apiVersion"), node.entry("kind")) {
            (Some(_), Some(_)) => true,
            (None, Some(_)) => SITES.iter().any(|(_, kind, _)| self.kind == Some(kind)),
            (Some(_), None) => node.get("spec").is_some() && node.get("metadata").is_some(),
            (None, None) => false,
        }
    }

    /// The lists of further objects in an object of this kind.
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

/// Objects inside an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nested<'t> {
    pub(super) list: Node<'t>,
    /// What an item is that does not say it: the API server leaves it out in typed lists.
    pub(super) each: Identity<'t>,
}

/// The pods of an object.
pub(super) fn pods(reader: Reader<'_>, root: Node<'_>, identity: Identity<'_>) -> Vec<Pod> {
    let is_other = OTHER_KINDS.iter().any(|(group, kind)| identity.is(group, kind));
    if is_other || is_other_language(identity.group()) {
        return Vec::new();
    }
    // A group that is not typed yet is any group.
    let known = SITES.iter().find(|(group, kind, _)| {
        identity.kind == Some(kind)
            && (identity.group() == *group || (identity.group().is_empty() && *kind != "Service"))
    });
    let mut places = Vec::new();
    match known {
        Some((_, _, patterns)) => {
            for pattern in *patterns {
                follow(root, None, String::new(), pattern, &mut places);
            }
        }
        None => {
            if let Some(spec) = root.get("spec") {
                search(reader.budget, [None, Some(root), Some(spec)], "spec".into(), SEARCH_DEPTH, &mut places);
            }
        }
    }
    let mut pods: Vec<Pod> = places.into_iter().map(|place| read(reader, place, root, identity)).collect();
    for pod in pods.iter_mut().filter(|_| known.is_none()) {
        pod.injector = Some(Injector::Unknown);
    }
    if identity.kind == Some("DeploymentConfig") {
        hooks(reader, root, &mut pods);
    }
    pods
}

/// A pod spec and the mappings around it.
struct PodSpecNode<'t> {
    path: String,
    spec: Node<'t>,
    /// The mapping that holds the spec, with the pod's metadata in it.
    template: Option<Node<'t>>,
    /// The mapping that holds the template: the workload's own spec.
    holder: Option<Node<'t>>,
}

fn read(reader: Reader<'_>, place: PodSpecNode<'_>, root: Node<'_>, identity: Identity<'_>) -> Pod {
    let mut pod = pod::pod(reader, place.spec, place.path);
    if let Some(template) = place.template {
        pod.labels = reader.pairs_at(template, &["metadata", "labels"]);
        pod.annotations = reader.pairs_at(template, &["metadata", "annotations"]);
    }
    if identity.is("", "Pod") {
        pod.name = root.at(&["metadata", "name"]).and_then(|name| reader.text(name));
    }
    if let Some(holder) = place.holder {
        claims(reader, holder, &mut pod.volumes);
        let mode = holder.get("completionMode").and_then(Node::string);
        // B25; a JobSet makes its jobs indexed where they do not say.
        if mode == Some("Indexed") || (mode.is_none() && identity.kind == Some("JobSet")) {
            pod.injector = Some(Injector::IndexedJob);
        }
    }
    if identity.group() == "serving.knative.dev" {
        pod.default_service_links = false;
        pod.injector = Some(Injector::Knative);
    }
    if identity.kind == Some("LeaderWorkerSet") {
        pod.injector = Some(Injector::LeaderWorkerSet);
    }
    pod
}

/// The claims of a StatefulSet are volumes by their names.
fn claims(reader: Reader<'_>, holder: Node<'_>, volumes: &mut Vec<Volume>) {
    let Some((key, Some(list))) = holder.entry("volumeClaimTemplates") else { return };
    for (_, claim) in mappings(list) {
        volumes.push(Volume {
            span: reader.span(claim),
            name: claim.at(&["metadata", "name"]).and_then(|name| reader.text(name)),
            kind: reader.key(key),
            content_hash: ContentHash::default(),
        });
    }
}

/// Follows a pattern such as `spec.metrics[*].provider` to every place it names.
fn follow<'t>(node: Node<'t>, above: Option<Node<'t>>, path: String, pattern: &str, places: &mut Vec<PodSpecNode<'t>>) {
    let (step, rest) = pattern.split_once('.').unwrap_or((pattern, ""));
    let (key, each) = step.strip_suffix("[*]").map_or((step, false), |key| (key, true));
    let Some(child) = node.get(key) else { return };
    let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    if each {
        for (index, item) in mappings(child) {
            follow(item, Some(node), format!("{path}[{index}]"), rest, places);
        }
    } else if rest.is_empty() {
        if child.is_mapping() {
            places.push(PodSpecNode { path, spec: child, template: Some(node), holder: above });
        }
    } else {
        follow(child, Some(node), path, rest, places);
    }
}

/// Looks for pod specs by their shape. `chain` ends with the node itself, before it what holds it.
fn search<'t>(
    budget: &NodeBudget,
    chain: [Option<Node<'t>>; 3],
    path: String,
    depth: usize,
    places: &mut Vec<PodSpecNode<'t>>,
) {
    let [holder, template, Some(node)] = chain else { return };
    if depth == 0 || !budget.take() {
        return;
    }
    if node.is_sequence() {
        for (index, item) in mappings(node) {
            search(budget, [holder, template, Some(item)], format!("{path}[{index}]"), depth - 1, places);
        }
    } else if pod::looks_like_pod_spec(node) {
        places.push(PodSpecNode { path, spec: node, template, holder });
    } else {
        for (key, value) in node.entries() {
            let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
            search(budget, [template, Some(node), Some(value)], format!("{path}.{key}"), depth - 1, places);
        }
    }
}

/// The hooks of a DeploymentConfig join its pod, or make one when there is none yet.
fn hooks(reader: Reader<'_>, root: Node<'_>, pods: &mut Vec<Pod>) {
    for (path, env) in HOOKS {
        let keys: Vec<&str> = path.split('.').collect();
        let Some(node) = root.at(&keys).filter(|node| node.is_mapping()) else { continue };
        let hook = Arc::new(pod::hook(reader, node, (*path).to_owned(), env));
        match pods.first_mut() {
            Some(pod) => pod.containers.push(hook),
            None => pods.push(Pod {
                path: "spec.template.spec".into(),
                span: reader.span(node),
                default_service_links: true,
                containers: vec![hook],
                ..Pod::default()
            }),
        }
    }
}
