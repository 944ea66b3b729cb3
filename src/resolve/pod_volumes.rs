//! The volumes and mounts of a pod after its PodPresets are applied.

use crate::build::{Admission, MatchingPreset, PossiblePreset};
use crate::k8s::{Mount, Pod, Volume};

/// The volumes of a pod with their mounts.
#[derive(Clone, Debug)]
pub struct PodVolumes<'p> {
    volumes: Vec<MountedVolume<'p>>,
    mounts: Vec<Vec<&'p Mount>>,
    /// The entries of presets that may apply.
    uncertain: Vec<&'p Pod>,
    /// Whether a conflict with a webhook's preset removes volumes or mounts of the pod (A21).
    is_removed: bool,
}

/// A volume of a pod.
#[derive(Clone, Copy, Debug)]
pub struct MountedVolume<'p> {
    /// The volume.
    pub volume: &'p Volume,
    /// The preset that adds it.
    pub preset: Option<&'p MatchingPreset<'p>>,
}

impl<'p> PodVolumes<'p> {
    /// Collects the volumes and mounts of a pod.
    pub fn new(pod: &'p Pod, admission: Option<&'p Admission<'p>>) -> Self {
        let mut volumes: Vec<MountedVolume<'p>> =
            pod.volumes.iter().map(|volume| MountedVolume { volume, preset: None }).collect();
        let mut mounts: Vec<Vec<&'p Mount>> = pod.containers.iter().map(|it| it.mounts.iter().collect()).collect();
        let Some(admission) = admission else {
            return Self { volumes, mounts, uncertain: Vec::new(), is_removed: false };
        };
        // An uncertain preset could also have a conflict that keeps the other presets from being applied.
        let is_certain = admission.presets.iter().all(|it| it.is_certain);
        if is_certain {
            let added = admission.volumes.iter().filter_map(|it| admission.volume(*it));
            volumes.extend(added.map(|(preset, volume)| MountedVolume { volume, preset: Some(preset) }));
            for (own, changes) in mounts.iter_mut().zip(&admission.containers) {
                own.extend(changes.mounts.iter().filter_map(|it| admission.mount(*it)).map(|(_, mount)| mount));
            }
        }
        let unconfirmed = admission.presets.iter().filter(|_| !is_certain).filter_map(MatchingPreset::preset);
        let possible = admission.possible.iter().filter_map(PossiblePreset::preset);
        let uncertain = unconfirmed.chain(possible).map(|it| &it.pod).collect();
        let is_removed = !admission.keeps_volumes || admission.containers.iter().any(|it| !it.keeps_mounts);
        Self { volumes, mounts, uncertain, is_removed }
    }

    /// All volumes.
    pub fn volumes(&self) -> &[MountedVolume<'p>] {
        &self.volumes
    }

    /// The mounts of a container, by its index in the pod.
    pub fn mounts(&self, at: usize) -> &[&'p Mount] {
        self.mounts.get(at).map_or(&[], Vec::as_slice)
    }

    /// The mounts of all containers.
    pub fn all_mounts(&self) -> impl Iterator<Item = &'p Mount> {
        self.mounts.iter().flatten().copied()
    }

    /// Whether a container mounts a volume.
    pub fn is_mounted(&self, at: usize, volume: &str) -> bool {
        self.mounts(at).iter().any(|it| is_named(it, volume))
    }

    /// Whether a container mounts a volume writable.
    pub fn is_writable(&self, at: usize, volume: &str) -> bool {
        self.mounts(at).iter().any(|it| !it.read_only && is_named(it, volume))
    }

    /// Whether the mounts may differ from the visible ones.
    pub fn may_differ(&self) -> bool {
        self.is_removed || self.uncertain.iter().any(|it| it.containers.iter().any(|it| !it.mounts.is_empty()))
    }

    /// Whether the mounts of this volume may differ from the visible ones.
    pub fn may_differ_for(&self, volume: &str) -> bool {
        let concerns = |pod: &&Pod| {
            pod.volumes.iter().any(|it| it.name.as_ref().is_some_and(|it| &*it.value == volume))
                || pod.containers.iter().flat_map(|it| &it.mounts).any(|it| is_named(it, volume))
        };
        self.is_removed || self.uncertain.iter().any(concerns)
    }
}

fn is_named(mount: &Mount, volume: &str) -> bool {
    mount.name.as_ref().is_some_and(|it| &*it.value == volume)
}
