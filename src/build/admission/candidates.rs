//! The presets that may change a pod, found by its labels: a pod costs the presets that select it, not all presets.

use crate::build::lookup::BuiltMatch;
use crate::build::object::BuiltPod;
use crate::build::preset_selector::{self, PodLabels, SelectorMatch};
use crate::k8s::PresetAdmitter;

/// More presets than this for one pod are not applied: each of them may apply. No cluster has so many, and the cost of their
/// combinations would be that of the presets times the pods.
const MOST_PRESETS: usize = 32;

/// The presets of a namespace that may change a pod.
pub(super) struct CandidatePresets<'s> {
    pub(super) found: Vec<BuiltMatch<'s>>,
    /// Whether there are none besides these.
    pub(super) is_complete: bool,
}

impl<'s> CandidatePresets<'s> {
    /// The presets for a pod. Of more than [`MOST_PRESETS`] that may select it some are left out.
    pub(super) fn of(pod: BuiltPod<'s>) -> Self {
        let labels = PodLabels::new(pod.pod, pod.object.may_have_more_labels());
        let mut selecting = 0;
        let found = pod.object.presets_for(&labels.all(), labels.is_open(), |found| {
            let preset = found.object.preset();
            let may_select = |it| preset_selector::match_pod(it, &labels) != SelectorMatch::No;
            selecting += usize::from(preset.is_some_and(may_select));
            selecting > MOST_PRESETS
        });
        let is_webhook =
            |it: &BuiltMatch<'s>| it.object.preset().is_some_and(|it| it.admission == PresetAdmitter::Webhook);
        // A22: the webhook may apply any of its presets, if it applies one.
        if found.iter().any(is_webhook) {
            return Self { found: pod.object.presets(), is_complete: true };
        }
        Self { found, is_complete: selecting <= MOST_PRESETS }
    }
}
