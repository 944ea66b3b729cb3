//! Which pods a PodPreset selects (A1, A2, A14).

use crate::k8s::{Pod, PodPreset, Requirement};
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

    /// All labels that are shown or known to be added, with their values if they are known. Of equal keys the last one counts.
    pub(super) fn all(&self) -> Vec<(&'p str, Option<&'p str>)> {
        let known = |value: &'p str| Some(value).filter(|it| !has_placeholder(it) && !it.contains("${"));
        let own = self.pod.labels.iter().map(|(key, value)| (&*key.value, known(&value.value)));
        own.chain(self.added.iter().map(|it| (*it, None))).collect()
    }

    /// Whether the pods may have others.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
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
