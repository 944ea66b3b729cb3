//! The presets that may change a pod, found by its labels: a pod costs the presets that select it, not all presets.

use crate::build::admission::Admission;
use crate::build::lookup::BuiltMatch;
use crate::build::object::BuiltPod;
use crate::build::preset_selector::{self, PodLabels, SelectorMatch};
use crate::k8s::PresetAdmitter;

/// More presets than this for one pod are not applied: each of them may apply. No cluster has so many, and the cost of their
/// combinations would be that of the presets times the pods.
pub(super) const MOST_PRESETS: usize = 32;

impl<'s> Admission<'s> {
    /// The presets of the namespace that may change a pod. Of more than [`MOST_PRESETS`] that select it some are left out.
    pub(super) fn presets_for(pod: BuiltPod<'s>) -> Vec<BuiltMatch<'s>> {
        let labels = PodLabels::new(pod.pod, pod.object.may_have_more_labels());
        let Some(all) = labels.all() else { return pod.object.presets() };
        let mut selecting = 0;
        let found = pod.object.presets_for(all, |found| {
            let preset = found.object.preset();
            selecting +=
                usize::from(preset.is_some_and(|it| preset_selector::match_pod(it, &labels) == SelectorMatch::Yes));
            selecting > MOST_PRESETS
        });
        let is_webhook =
            |it: &BuiltMatch<'s>| it.object.preset().is_some_and(|it| it.admission == PresetAdmitter::Webhook);
        // A22: the webhook may apply any of its presets, if it applies one.
        if found.iter().any(is_webhook) { pod.object.presets() } else { found }
    }
}
