//! Which pods a PodPreset selects (A1, A2, A14), and whether the preset is valid (A13).

use std::sync::Arc;

use crate::build::label_names::is_qualified_name;
use crate::k8s::{ObjectSpan, Pod, PodPreset, PresetAdmitter, Requirement, Selector};
use crate::syntax::has_placeholder;

/// The annotation that excludes a pod from all presets if its value is `"true"`.
pub const PRESET_EXCLUDE_ANNOTATION: &str = "podpreset.admission.kubernetes.io/exclude";

/// The annotation of mirror pods, which represent the static pods of a node.
const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";

/// Whether a selector matches a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SelectorMatch {
    /// It does not match.
    No,
    /// It may match: a label is unknown.
    Maybe,
    /// It matches.
    Yes,
}

impl SelectorMatch {
    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

/// The labels of the pods that an object creates.
#[derive(Debug)]
pub struct PodLabels<'p> {
    pod: &'p Pod,
    /// Labels that a controller adds, with values that it chooses.
    added: &'static [&'static str],
    /// Whether the pods may have other labels.
    is_open: bool,
}

impl<'p> PodLabels<'p> {
    /// The labels of a pod. With `is_open` it may have labels that its manifest does not show.
    pub fn new(pod: &'p Pod, is_open: bool) -> Self {
        // A14.
        Self { pod, added: pod.controller.added_labels(), is_open: is_open || pod.controller.may_add_other_labels() }
    }

    /// The value of a label. It is unknown if a controller or a tool sets it.
    fn value(&self, key: &str) -> LabelValue<'p> {
        match self.pod.labels.iter().rev().find(|(it, _)| &*it.value == key) {
            Some((_, value)) if has_placeholder(&value.value) || value.value.contains("${") => LabelValue::Unknown,
            Some((_, value)) => LabelValue::Known(&value.value),
            None if self.added.contains(&key) => LabelValue::Unknown,
            None if self.is_open => LabelValue::PossiblySet,
            None => LabelValue::Absent,
        }
    }
}

/// What is known about the value of a label.
enum LabelValue<'p> {
    Known(&'p str),
    /// It is set to an unknown value.
    Unknown,
    /// It may be set, to an unknown value.
    PossiblySet,
    Absent,
}

/// Whether presets are not applied to a pod: an annotation excludes it, or it is a mirror pod (A1).
pub fn is_exempt_from_presets(pod: &Pod) -> bool {
    let mut annotations = pod.annotations.iter();
    let last = pod.annotations.iter().rev().find(|(key, _)| &*key.value == PRESET_EXCLUDE_ANNOTATION);
    last.is_some_and(|(_, value)| &*value.value == "true")
        || annotations.any(|(key, _)| &*key.value == MIRROR_ANNOTATION)
}

/// Whether a preset selects a pod. A2: an absent or empty selector matches every pod; the proposal refuses it (PA2).
pub fn match_pod(preset: &PodPreset, labels: &PodLabels<'_>) -> SelectorMatch {
    let Some(selector) = &preset.selector else { return SelectorMatch::Yes };
    let labelled = selector.labels.iter().map(|(key, value)| match_values(labels, &key.value, &[&value.value]));
    let expressed = selector.expressions.iter().map(|it| match_requirement(it, labels));
    labelled.chain(expressed).min().unwrap_or(SelectorMatch::Yes)
}

fn match_values(labels: &PodLabels<'_>, key: &str, values: &[&str]) -> SelectorMatch {
    match labels.value(key) {
        LabelValue::Known(value) if values.contains(&value) => SelectorMatch::Yes,
        LabelValue::Known(_) if values.iter().any(|it| has_placeholder(it)) => SelectorMatch::Maybe,
        LabelValue::Known(_) => SelectorMatch::No,
        LabelValue::Unknown | LabelValue::PossiblySet => SelectorMatch::Maybe,
        LabelValue::Absent => SelectorMatch::No,
    }
}

fn match_requirement(requirement: &Requirement, labels: &PodLabels<'_>) -> SelectorMatch {
    let (Some(key), Some(operator)) = (&requirement.key, &requirement.operator) else { return SelectorMatch::No };
    let values: Vec<&str> = requirement.values.iter().map(|it| &*it.value).collect();
    let exists = match labels.value(&key.value) {
        LabelValue::Known(_) | LabelValue::Unknown => SelectorMatch::Yes,
        LabelValue::PossiblySet => SelectorMatch::Maybe,
        LabelValue::Absent => SelectorMatch::No,
    };
    match &*operator.value {
        "In" => match_values(labels, &key.value, &values),
        "NotIn" => match_values(labels, &key.value, &values).not(),
        "Exists" => exists,
        "DoesNotExist" => exists.not(),
        _ => SelectorMatch::No,
    }
}

/// A reason why a preset is invalid.
#[derive(Clone, Debug)]
pub struct PresetProblem {
    /// The span relative to the object; `None` for the whole object.
    pub span: Option<ObjectSpan>,
    /// The name of the field, volume or label that it is about.
    pub name: Arc<str>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

/// The fields of a volume that name its type.
const VOLUME_TYPES: [&str; 30] = [
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "glusterfs",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "persistentVolumeClaim",
    "photonPersistentDisk",
    "portworxVolume",
    "projected",
    "quobyte",
    "rbd",
    "scaleIO",
    "secret",
    "storageos",
    "vsphereVolume",
];

/// Finds the reasons why a preset is invalid: A13, and those of the proposal (PA2 to PA4).
pub fn preset_problems(preset: &PodPreset, proposals: bool) -> Vec<PresetProblem> {
    let Some(spec) = preset.spec else {
        let help = "add `spec` with a `selector` and at least one of `env`, `envFrom`, `volumes` and `volumeMounts`";
        return vec![PresetProblem {
            span: None,
            name: "spec".into(),
            message: "the preset has no `spec`".into(),
            help,
        }];
    };
    // The proposal does not include the webhook's kind.
    let proposals = proposals && preset.admission == PresetAdmitter::ApiServer;
    let mut found = Vec::new();
    match &preset.selector {
        Some(selector) => find_selector_problems(selector, &mut found),
        None if proposals => found.push(PresetProblem {
            span: Some(spec),
            name: "selector".into(),
            message: "the preset has no `selector`".into(),
            help: "add `matchLabels` with the labels of the pods that it applies to",
        }),
        None => {}
    }
    if let Some(selector) = preset.selector.as_ref().filter(|it| proposals && it.is_empty() && it.others.is_empty()) {
        let message = "the `selector` is empty".into();
        let (name, help) = ("selector".into(), "add `matchLabels` with the labels of the pods that it applies to");
        found.push(PresetProblem { span: Some(selector.span), name, message, help });
    }
    let has = |name: &str| preset.lists.iter().find(|it| &*it.value == name);
    let (volumes, mounts) = (&preset.pod.volumes, preset.container().map_or(&[][..], |it| &it.mounts));
    if preset.lists.is_empty() {
        let message = "the preset has none of `env`, `envFrom`, `volumes` and `volumeMounts`".into();
        found.push(PresetProblem { span: Some(spec), name: "spec".into(), message, help: "add at least one of them" });
    } else if proposals {
        let (env, from) = (has("env").is_some(), has("envFrom").is_some());
        match (has("volumes"), has("volumeMounts")) {
            (Some(volumes), None) => found.push(PresetProblem {
                span: Some(volumes.span),
                name: "volumes".into(),
                message: "`volumes` has no effect without `volumeMounts`".into(),
                help: "add `volumeMounts`",
            }),
            (None, Some(mounts)) if !env && !from => found.push(PresetProblem {
                span: Some(mounts.span),
                name: "volumeMounts".into(),
                message: "`volumeMounts` has nothing to mount without `volumes`".into(),
                help: "add `volumes`",
            }),
            _ => {}
        }
        for volume in volumes.iter().filter_map(|it| it.name.as_ref()) {
            let is_mounted = mounts.iter().any(|it| it.name.as_ref().is_some_and(|it| it.value == volume.value));
            if !is_mounted && has("volumeMounts").is_some() {
                let message = format!("volume `{}` is not mounted", volume.value);
                let (name, help) = (Arc::clone(&volume.value), "add a `volumeMounts` entry for it");
                found.push(PresetProblem { span: Some(volume.span), name, message, help });
            }
        }
    }
    for kind in volumes.iter().filter_map(|it| it.kind.as_ref()) {
        if !VOLUME_TYPES.contains(&&*kind.value) {
            let message = format!("`{}` is not a volume type", kind.value);
            let help = "write a volume source, such as `secret: {secretName: …}`";
            found.push(PresetProblem { span: Some(kind.span), name: Arc::clone(&kind.value), message, help });
        }
    }
    for mount in mounts {
        let Some(name) = &mount.name else { continue };
        if volumes.iter().all(|it| it.name.as_ref().is_none_or(|it| it.value != name.value)) {
            let message = format!("the preset has no volume `{}`", name.value);
            let help = "add it to `volumes`: a preset can mount only its own volumes";
            found.push(PresetProblem { span: Some(name.span), name: Arc::clone(&name.value), message, help });
        }
    }
    found
}

fn find_selector_problems(selector: &Selector, found: &mut Vec<PresetProblem>) {
    let mut push = |span: ObjectSpan, name: &str, message: String, help: &'static str| {
        found.push(PresetProblem { span: Some(span), name: name.into(), message, help });
    };
    for other in &selector.others {
        let message = format!("`{}` is not a field of a selector", other.value);
        push(other.span, &other.value, message, "write `matchLabels` or `matchExpressions`");
    }
    let keys = selector.labels.iter().map(|(key, _)| key);
    for key in keys.chain(selector.expressions.iter().filter_map(|it| it.key.as_ref())) {
        if !is_qualified_name(&key.value) && !key.value.contains("${") {
            let message = format!("`{}` is not a valid label key", key.value);
            push(key.span, &key.value, message, "write `name` or `prefix/name`");
        }
    }
    for it in &selector.expressions {
        if it.key.is_none() {
            push(it.span, "key", "the requirement has no `key`".into(), "add the `key` of a label");
        }
        let Some(operator) = &it.operator else {
            let message = "the requirement has no `operator`".into();
            push(it.span, "operator", message, "write `In`, `NotIn`, `Exists` or `DoesNotExist`");
            continue;
        };
        match (&*operator.value, it.values.first()) {
            ("In" | "NotIn", None) => {
                let message = format!("`{}` requires `values`", operator.value);
                push(operator.span, &operator.value, message, "add the values to compare the label with");
            }
            ("Exists" | "DoesNotExist", Some(value)) => {
                push(value.span, "values", format!("`{}` does not allow `values`", operator.value), "remove `values`");
            }
            ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
            (other, _) => {
                let message = format!("`{other}` is not a selector operator");
                push(operator.span, other, message, "write `In`, `NotIn`, `Exists` or `DoesNotExist`");
            }
        }
    }
}
