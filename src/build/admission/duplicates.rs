//! Entries of a pod that an applied preset repeats unchanged (A5 to A8); they are not added a second time.

use std::sync::Arc;

use crate::build::admission::{Admission, AdmissionContext, ConflictKind, MergedEntry, PresetEntry, PresetMerge};
use crate::build::object::BuiltPod;
use crate::diagnostic::Location;
use crate::k8s::ContainerRole;

/// An entry of a pod that a preset repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateEntry {
    /// The kind of list; mounts are `MountName`.
    pub kind: ConflictKind,
    /// The index of the container in the pod; `None` for volumes.
    pub container: Option<usize>,
    /// The index of the entry in the list.
    pub index: usize,
    /// The name of the preset.
    pub preset: Arc<str>,
    /// The entry of the preset.
    pub with: Location,
}

impl Admission<'_> {
    /// Finds the entries of a pod that applied presets repeat.
    pub fn duplicates(pod: BuiltPod<'_>, context: AdmissionContext) -> Vec<DuplicateEntry> {
        let Some(mut admission) = Admission::for_pod(pod, context) else { return Vec::new() };
        let presets = admission.presets.iter().enumerate().filter(|(_, it)| it.applied && it.is_certain);
        let presets: Vec<(usize, Arc<str>)> = presets.map(|(at, it)| (at, Arc::clone(&it.name))).collect();
        let merge = PresetMerge::new(&mut admission, pod, context);
        let pod = pod.pod;
        let mut found = Vec::new();
        for (preset, name) in presets {
            merge.find_equal(ConflictKind::Volume, None, pod.volumes.len(), preset, &name, &mut found);
            for (at, it) in pod.containers.iter().enumerate() {
                if matches!(it.role, ContainerRole::Ephemeral | ContainerRole::Hook) || !merge.is_changed_by_plugin(it)
                {
                    continue;
                }
                merge.find_equal(ConflictKind::Env, Some(at), it.env.len(), preset, &name, &mut found);
                merge.find_equal(ConflictKind::MountName, Some(at), it.mounts.len(), preset, &name, &mut found);
                // A8: before 1.15 nothing is compared.
                if context.release.is_at_least(15) {
                    merge.find_equal(ConflictKind::EnvFrom, Some(at), it.env_from.len(), preset, &name, &mut found);
                }
            }
        }
        found
    }
}

impl PresetMerge<'_, '_> {
    fn find_equal(
        &self,
        kind: ConflictKind,
        container: Option<usize>,
        own: usize,
        preset: usize,
        name: &Arc<str>,
        found: &mut Vec<DuplicateEntry>,
    ) {
        for entry in 0..self.entry_count(kind, preset) {
            let Some(added) = self.compared_entry(kind, container, MergedEntry::Preset(PresetEntry { preset, entry }))
            else {
                continue;
            };
            for index in 0..own {
                let compared = self.compared_entry(kind, container, MergedEntry::Own(index));
                if compared.is_some_and(|it| it.key.is_some() && it.key == added.key && it.content == added.content) {
                    let (preset, with) = (Arc::clone(name), added.location.clone());
                    found.push(DuplicateEntry { kind, container, index, preset, with });
                }
            }
        }
    }
}
