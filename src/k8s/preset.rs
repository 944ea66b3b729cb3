//! Reading PodPresets: the fields that they add to pods, and the selector.

use std::sync::Arc;

use crate::k8s::content_hash::{self, ContentHash, Defaults};
use crate::k8s::identity::Identity;
use crate::k8s::model::{Container, Pod, Text};
use crate::k8s::node_reader::{NodeReader, mappings};
use crate::k8s::object_span::ObjectSpan;
use crate::k8s::pod;
use crate::syntax::{Node, has_placeholder};

/// A PodPreset.
#[derive(Clone, Debug, Default)]
pub struct PodPreset {
    /// What applies it.
    pub admission: PresetAdmitter,
    /// Whether its `apiVersion` is the one of the proposal (PA1), which no release has.
    pub is_draft: bool,
    /// Whether it has `metadata.generateName` and no `name`: the cluster adds characters to the name.
    pub has_generated_name: bool,
    /// `metadata.resourceVersion`, which only a cluster writes.
    pub resource_version: Option<Text>,
    /// `metadata.creationTimestamp`, which only a cluster writes.
    pub creation_timestamp: Option<Text>,
    /// `spec`.
    pub spec: Option<ObjectSpan>,
    /// `spec.selector`.
    pub selector: Option<Selector>,
    /// The keys `env`, `envFrom`, `volumes` and `volumeMounts`, as far as they are present.
    pub lists: Vec<Text>,
    /// The fields that it adds to pods, as a pod: the volumes, and one container with `env`, `envFrom` and
    /// `volumeMounts`.
    pub pod: Pod,
    /// The hashes of its entries without defaults, which the webhook compares (A23).
    pub written: WrittenHashes,
}

impl PodPreset {
    /// The fields that it adds to every container.
    pub fn container(&self) -> Option<&Container> {
        self.pod.containers.first().map(|it| &**it)
    }

    /// A label with a known value that every selected pod has.
    pub fn required_label(&self) -> Option<(&Arc<str>, &Arc<str>)> {
        let is_known = |it: &&(Text, Text)| {
            let texts = [&it.0.value, &it.1.value];
            texts.into_iter().all(|it| !has_placeholder(it) && !it.contains('$'))
        };
        self.selector.as_ref()?.labels.iter().find(is_known).map(|(key, value)| (&key.value, &value.value))
    }
}

/// What applies presets to pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PresetAdmitter {
    /// The API server of releases up to 1.19 (A1 to A14).
    #[default]
    ApiServer,
    /// The webhook of the Red Hat Community of Practice (A20 to A23).
    Webhook,
}

/// Hashes of entries, in the order of the lists.
#[derive(Clone, Debug, Default)]
pub struct WrittenHashes {
    /// Of `valueFrom` in `env`.
    pub env: Vec<Option<ContentHash>>,
    /// Of `envFrom`.
    pub env_from: Vec<ContentHash>,
    /// Of `volumeMounts`.
    pub mounts: Vec<ContentHash>,
    /// Of `volumes`.
    pub volumes: Vec<ContentHash>,
}

/// A label selector.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    /// The whole mapping.
    pub span: ObjectSpan,
    /// `matchLabels`
    pub labels: Vec<(Text, Text)>,
    /// `matchExpressions`
    pub expressions: Vec<Requirement>,
    /// Other keys.
    pub others: Vec<Text>,
}

impl Selector {
    /// Whether it has no conditions, so that it selects every pod.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.expressions.is_empty()
    }
}

/// An item of `matchExpressions`.
#[derive(Clone, Debug, Default)]
pub struct Requirement {
    /// The whole item.
    pub span: ObjectSpan,
    /// `key`
    pub key: Option<Text>,
    /// `operator`
    pub operator: Option<Text>,
    /// `values`
    pub values: Vec<Text>,
}

/// The fields of `spec` that a preset adds to pods.
pub const PRESET_LISTS: [&str; 4] = ["env", "envFrom", "volumes", "volumeMounts"];

/// The kind of a PodPreset.
pub(super) const KIND: &str = "PodPreset";

/// What applies presets of this group, and whether the group is that of the proposal (PA1).
pub(super) fn admission(identity: Identity<'_>) -> Option<(PresetAdmitter, bool)> {
    match (identity.kind?, identity.group()) {
        (KIND, "settings.k8s.io") => Some((PresetAdmitter::ApiServer, false)),
        (KIND, "settings") => Some((PresetAdmitter::ApiServer, true)),
        (KIND, "redhatcop.redhat.io") => Some((PresetAdmitter::Webhook, false)),
        _ => None,
    }
}

/// Reads a PodPreset.
pub(super) fn preset(
    reader: NodeReader<'_>,
    root: Node<'_>,
    (admission, is_draft): (PresetAdmitter, bool),
) -> PodPreset {
    let metadata = |name: &str| root.get("metadata").and_then(|it| reader.text_at(it, name));
    let (resource_version, creation_timestamp) = (metadata("resourceVersion"), metadata("creationTimestamp"));
    let has_generated_name = metadata("name").is_none() && metadata("generateName").is_some();
    let whole = PodPreset {
        admission,
        is_draft,
        has_generated_name,
        resource_version,
        creation_timestamp,
        ..PodPreset::default()
    };
    let Some(spec) = root.get("spec").filter(|it| it.is_mapping()) else { return whole };
    let is_there = |name: &&str| spec.get(name).is_some_and(Node::is_sequence);
    let lists = PRESET_LISTS.into_iter().filter(is_there).filter_map(|it| reader.key(spec.entry(it)?.0)).collect();
    let selector = spec.get("selector").filter(|it| it.is_mapping()).map(|it| selector(reader, it));
    let items = |name: &str| spec.get(name).into_iter().flat_map(Node::items);
    let plain = |node: Node<'_>| content_hash::hash_node(node, "", Defaults::AsWritten, reader.budget);
    let written = WrittenHashes {
        env: items("env").map(|it| it.get("valueFrom").filter(|it| it.is_mapping()).map(plain)).collect(),
        env_from: items("envFrom").map(plain).collect(),
        mounts: items("volumeMounts").map(plain).collect(),
        volumes: items("volumes").map(|it| content_hash::hash_volume(it, Defaults::AsWritten, reader.budget)).collect(),
    };
    let pod = pod::fragment(reader, spec, "spec");
    PodPreset { spec: Some(reader.span(spec)), selector, lists, pod, written, ..whole }
}

fn selector(reader: NodeReader<'_>, node: Node<'_>) -> Selector {
    let expressions = node.get("matchExpressions").into_iter().flat_map(|it| mappings(it));
    let expressions = expressions.take_while(|_| reader.budget.take()).map(|(_, item)| Requirement {
        span: reader.span(item),
        key: reader.text_at(item, "key"),
        operator: reader.text_at(item, "operator"),
        values: reader.texts_at(item, "values"),
    });
    let keys = node.entries().into_iter().filter_map(|(key, _)| reader.key(key));
    Selector {
        span: reader.span(node),
        labels: reader.string_pairs_at(node, &["matchLabels"]),
        expressions: expressions.collect(),
        others: keys.filter(|it| !matches!(&*it.value, "matchLabels" | "matchExpressions")).collect(),
    }
}
