//! Entries of a pod that an applied preset brings in the same words (A5 to A8): they are not added a second time.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{ContainerRole, Object, Pod};
use crate::resolve::admission::{Admission, ConflictKind, MergedEntry, PresetEntry, PresetMerge};
use crate::resolve::lookup_scope::LookupScope;

/// An entry of a pod that a preset has too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateEntry {
    /// The list it stands in; a mount is `MountName`.
    pub kind: ConflictKind,
    /// The container, by its index in the pod; nothing for volumes.
    pub container: Option<usize>,
    /// The entry, by its index in the list.
    pub index: usize,
    /// The preset.
    pub preset: Arc<str>,
    /// What the preset says.
    pub with: Location,
}

impl Admission {
    /// What a pod has in common with the presets that are applied to it.
    pub(in crate::resolve) fn duplicates(scope: &LookupScope<'_>, object: &Object, pod: &Pod) -> Vec<DuplicateEntry> {
        let Some(mut admission) = Self::of(scope, object, pod) else { return Vec::new() };
        let presets = admission.presets.iter().enumerate().filter(|(_, it)| it.applied && it.is_sure);
        let presets: Vec<(usize, Arc<str>)> = presets.map(|(at, it)| (at, Arc::clone(&it.name))).collect();
        let merge = PresetMerge::new(&mut admission, scope, object, pod);
        let mut found = Vec::new();
        for (preset, name) in presets {
            merge.equal(ConflictKind::Volume, None, pod.volumes.len(), preset, &name, &mut found);
            for (at, it) in pod.containers.iter().enumerate() {
                if matches!(it.role, ContainerRole::Ephemeral | ContainerRole::Hook) || !merge.is_reached(it) {
                    continue;
                }
                merge.equal(ConflictKind::Env, Some(at), it.env.len(), preset, &name, &mut found);
                merge.equal(ConflictKind::MountName, Some(at), it.mounts.len(), preset, &name, &mut found);
                // A8: before 1.15 nothing was compared.
                if scope.release().is_at_least(15) {
                    merge.equal(ConflictKind::EnvFrom, Some(at), it.env_from.len(), preset, &name, &mut found);
                }
            }
        }
        found
    }
}

impl PresetMerge<'_, '_> {
    fn equal(
        &self,
        kind: ConflictKind,
        container: Option<usize>,
        own: usize,
        preset: usize,
        name: &Arc<str>,
        found: &mut Vec<DuplicateEntry>,
    ) {
        for entry in 0..self.count(kind, preset) {
            let Some(given) = self.compared_entry(kind, container, MergedEntry::Brought(PresetEntry { preset, entry }))
            else {
                continue;
            };
            for index in 0..own {
                let compared = self.compared_entry(kind, container, MergedEntry::Own(index));
                if compared.is_some_and(|it| it.key.is_some() && it.key == given.key && it.content == given.content) {
                    let (preset, with) = (Arc::clone(name), given.place.clone());
                    found.push(DuplicateEntry { kind, container, index, preset, with });
                }
            }
        }
    }
}
