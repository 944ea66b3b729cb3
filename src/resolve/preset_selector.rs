//! Which pods a PodPreset selects (A1, A2, A14), and whether its selector can be one at all.

use std::sync::Arc;

use crate::k8s::{Pod, PodPreset, PresetAdmitter, Requirement, Selector};
use crate::resolve::downward_api::is_qualified_name;
use crate::syntax::has_helm_placeholder;
use crate::text::Span;

/// The annotation that keeps all presets away when it is `"true"`.
pub const PRESET_EXCLUDE_ANNOTATION: &str = "podpreset.admission.kubernetes.io/exclude";

/// The annotation of a mirror pod, which stands for a static pod of a node.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Whether a selector fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SelectorMatch {
    /// It does not.
    No,
    /// It may: a label is not known.
    Maybe,
    /// It does.
    Yes,
}

impl SelectorMatch {
    fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

/// The labels of the pods that an object makes.
pub(super) struct PodLabels<'p> {
    pod: &'p Pod,
    /// Labels that a controller adds, with values of its own.
    added: &'static [&'static str],
    /// Whether there may be others.
    is_open: bool,
}

impl<'p> PodLabels<'p> {
    pub(super) fn of(pod: &'p Pod, is_open: bool) -> Self {
        // A14.
        Self { pod, added: pod.controller.added_labels(), is_open: is_open || pod.controller.may_add_other_labels() }
    }

    /// The value of a label; nothing known of it where a controller gives it or a tool will.
    fn value(&self, key: &str) -> LabelValue<'p> {
        match self.pod.labels.iter().rev().find(|(it, _)| &*it.value == key) {
            Some((_, value)) if has_helm_placeholder(&value.value) || value.value.contains("${") => LabelValue::Any,
            Some((_, value)) => LabelValue::Is(&value.value),
            None if self.added.contains(&key) => LabelValue::Any,
            None if self.is_open => LabelValue::MayBe,
            None => LabelValue::Absent,
        }
    }
}

enum LabelValue<'p> {
    Is(&'p str),
    Any,
    MayBe,
    Absent,
}

/// Whether presets are kept away from a pod: it says so, or it is a mirror pod (A1).
pub fn is_exempt_from_presets(pod: &Pod) -> bool {
    let mut annotations = pod.annotations.iter();
    let last = pod.annotations.iter().rev().find(|(key, _)| &*key.value == PRESET_EXCLUDE_ANNOTATION);
    last.is_some_and(|(_, value)| &*value.value == "true") || annotations.any(|(key, _)| &*key.value == MIRROR)
}

/// A2: an absent or empty selector fits every pod; by the proposal it is none (PA2).
pub(super) fn fit(preset: &PodPreset, labels: &PodLabels<'_>) -> SelectorMatch {
    let Some(selector) = &preset.selector else { return SelectorMatch::Yes };
    let labelled = selector.labels.iter().map(|(key, value)| is_one_of(labels, &key.value, &[&value.value]));
    let expressed = selector.expressions.iter().map(|it| holds(it, labels));
    labelled.chain(expressed).min().unwrap_or(SelectorMatch::Yes)
}

fn is_one_of(labels: &PodLabels<'_>, key: &str, values: &[&str]) -> SelectorMatch {
    match labels.value(key) {
        LabelValue::Is(value) => SelectorMatch::of(values.contains(&value)),
        LabelValue::Any | LabelValue::MayBe => SelectorMatch::Maybe,
        LabelValue::Absent => SelectorMatch::No,
    }
}

fn holds(requirement: &Requirement, labels: &PodLabels<'_>) -> SelectorMatch {
    let (Some(key), Some(operator)) = (&requirement.key, &requirement.operator) else { return SelectorMatch::No };
    let values: Vec<&str> = requirement.values.iter().map(|it| &*it.value).collect();
    let exists = match labels.value(&key.value) {
        LabelValue::Is(_) | LabelValue::Any => SelectorMatch::Yes,
        LabelValue::MayBe => SelectorMatch::Maybe,
        LabelValue::Absent => SelectorMatch::No,
    };
    match &*operator.value {
        "In" => is_one_of(labels, &key.value, &values),
        "NotIn" => is_one_of(labels, &key.value, &values).not(),
        "Exists" => exists,
        "DoesNotExist" => exists.not(),
        _ => SelectorMatch::No,
    }
}

/// Something that makes a preset invalid.
#[derive(Clone, Debug)]
pub struct PresetProblem {
    /// Where, relative to the object; nothing for the object as a whole.
    pub span: Option<Span>,
    /// What it is about: the name of a field, volume or label.
    pub name: Arc<str>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

/// What a volume can be.
const VOLUMES: [&str; 30] = [
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

/// What keeps a preset from being one: A13, and what the proposal adds (PA2 to PA4).
pub fn preset_problems(preset: &PodPreset, proposals: bool) -> Vec<PresetProblem> {
    let Some(spec) = preset.spec else {
        let help = "add `spec` with a `selector` and what to bring";
        return vec![PresetProblem {
            span: None,
            name: "spec".into(),
            message: "a preset without `spec` brings nothing".into(),
            help,
        }];
    };
    // The webhook's kind is none of the proposal's.
    let proposals = proposals && preset.admission == PresetAdmitter::ApiServer;
    let mut found = Vec::new();
    match &preset.selector {
        Some(selector) => selector_flaws(selector, &mut found),
        None if proposals => found.push(PresetProblem {
            span: Some(spec),
            name: "selector".into(),
            message: "a preset needs a `selector`".into(),
            help: "say with `matchLabels` which pods it is for",
        }),
        None => {}
    }
    if let Some(selector) = preset.selector.as_ref().filter(|it| proposals && it.is_empty() && it.others.is_empty()) {
        let message = "the `selector` is empty, and a preset for every pod is none".into();
        let (name, help) = ("selector".into(), "say with `matchLabels` which pods it is for");
        found.push(PresetProblem { span: Some(selector.span), name, message, help });
    }
    let has = |name: &str| preset.lists.iter().find(|it| &*it.value == name);
    let (volumes, mounts) = (&preset.pod.volumes, preset.container().map_or(&[][..], |it| &it.mounts));
    if preset.lists.is_empty() {
        let message = "a preset brings at least one of `env`, `envFrom`, `volumes` and `volumeMounts`".into();
        found.push(PresetProblem { span: Some(spec), name: "spec".into(), message, help: "add one of them" });
    } else if proposals {
        let (env, from) = (has("env").is_some(), has("envFrom").is_some());
        match (has("volumes"), has("volumeMounts")) {
            (Some(volumes), None) => found.push(PresetProblem {
                span: Some(volumes.span),
                name: "volumes".into(),
                message: "`volumes` without `volumeMounts` reach no container".into(),
                help: "add `volumeMounts`",
            }),
            (None, Some(mounts)) if !env && !from => found.push(PresetProblem {
                span: Some(mounts.span),
                name: "volumeMounts".into(),
                message: "`volumeMounts` need the `volumes` they mount".into(),
                help: "add `volumes`",
            }),
            _ => {}
        }
        for volume in volumes.iter().filter_map(|it| it.name.as_ref()) {
            let is_mounted = mounts.iter().any(|it| it.name.as_ref().is_some_and(|it| it.value == volume.value));
            if !is_mounted && has("volumeMounts").is_some() {
                let message = format!("nothing mounts volume `{}`", volume.value);
                let (name, help) = (Arc::clone(&volume.value), "add a `volumeMounts` entry for it");
                found.push(PresetProblem { span: Some(volume.span), name, message, help });
            }
        }
    }
    for kind in volumes.iter().filter_map(|it| it.kind.as_ref()) {
        if !VOLUMES.contains(&&*kind.value) {
            let message = format!("`{}` is no kind of volume", kind.value);
            let help = "write the source as a mapping, such as `secret: {secretName: …}`";
            found.push(PresetProblem { span: Some(kind.span), name: Arc::clone(&kind.value), message, help });
        }
    }
    for mount in mounts {
        let Some(name) = &mount.name else { continue };
        if volumes.iter().all(|it| it.name.as_ref().is_none_or(|it| it.value != name.value)) {
            let message = format!("no volume `{}` in this preset", name.value);
            let help = "a preset mounts only its own `volumes`";
            found.push(PresetProblem { span: Some(name.span), name: Arc::clone(&name.value), message, help });
        }
    }
    found
}

fn selector_flaws(selector: &Selector, found: &mut Vec<PresetProblem>) {
    let mut push = |span: Span, name: &str, message: String, help: &'static str| {
        found.push(PresetProblem { span: Some(span), name: name.into(), message, help });
    };
    for other in &selector.others {
        let message = format!("`{}` is no part of a selector", other.value);
        push(other.span, &other.value, message, "write `matchLabels` or `matchExpressions`");
    }
    let keys = selector.labels.iter().map(|(key, _)| key);
    for key in keys.chain(selector.expressions.iter().filter_map(|it| it.key.as_ref())) {
        if !is_qualified_name(&key.value) && !key.value.contains("${") {
            let message = format!("`{}` cannot be the key of a label", key.value);
            push(key.span, &key.value, message, "write `name` or `prefix/name`");
        }
    }
    for it in &selector.expressions {
        if it.key.is_none() {
            push(it.span, "key", "a requirement needs the `key` of a label".into(), "add `key`");
        }
        let Some(operator) = &it.operator else {
            let message = "a requirement needs an `operator`".into();
            push(it.span, "operator", message, "write In, NotIn, Exists or DoesNotExist");
            continue;
        };
        match (&*operator.value, it.values.first()) {
            ("In" | "NotIn", None) => {
                let message = format!("`{}` needs `values`", operator.value);
                push(operator.span, &operator.value, message, "add the values of the label");
            }
            ("Exists" | "DoesNotExist", Some(value)) => {
                push(value.span, "values", format!("`{}` takes no `values`", operator.value), "remove them");
            }
            ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
            (other, _) => {
                let message = format!("`{other}` is no operator of a selector");
                push(operator.span, other, message, "write In, NotIn, Exists or DoesNotExist");
            }
        }
    }
}
