//! The volumes of a pod and who mounts them, as the kubelet sees them: after presets had their say.

use crate::k8s::{Mount, Pod, Volume};
use crate::resolve::admission::{Admission, MatchingPreset, PossiblePreset};

/// The volumes of a pod with their mounts.
#[derive(Clone, Debug)]
pub struct PodVolumes<'p> {
    volumes: Vec<MountedVolume<'p>>,
    mounts: Vec<Vec<&'p Mount>>,
    /// What presets have that may be applied or not.
    open: Vec<&'p Pod>,
    /// Whether what the pod says itself is lost to a webhook (A21).
    is_lost: bool,
}

/// A volume of a pod.
#[derive(Clone, Copy, Debug)]
pub struct MountedVolume<'p> {
    /// The volume.
    pub volume: &'p Volume,
    /// The preset that brings it.
    pub preset: Option<&'p MatchingPreset>,
}

impl<'p> PodVolumes<'p> {
    /// The volumes and mounts of a pod.
    pub fn new(pod: &'p Pod, admission: Option<&'p Admission>) -> Self {
        let mut volumes: Vec<MountedVolume<'p>> =
            pod.volumes.iter().map(|volume| MountedVolume { volume, preset: None }).collect();
        let mut mounts: Vec<Vec<&'p Mount>> = pod.containers.iter().map(|it| it.mounts.iter().collect()).collect();
        let Some(admission) = admission else { return Self { volumes, mounts, open: Vec::new(), is_lost: false } };
        // One preset that may not be meant may also be what keeps the others from being applied.
        let is_sure = admission.presets.iter().all(|it| it.is_sure);
        if is_sure {
            let brought = admission.volumes.iter().filter_map(|it| admission.volume(*it));
            volumes.extend(brought.map(|(preset, volume)| MountedVolume { volume, preset: Some(preset) }));
            for (own, effect) in mounts.iter_mut().zip(&admission.containers) {
                own.extend(effect.mounts.iter().filter_map(|it| admission.mount(*it)).map(|(_, mount)| mount));
            }
        }
        let unsure = admission.presets.iter().filter(|_| !is_sure).filter_map(MatchingPreset::preset);
        let possible = admission.possible.iter().filter_map(PossiblePreset::preset);
        let open = unsure.chain(possible).map(|it| &it.pod).collect();
        let is_lost = !admission.keeps_volumes || admission.containers.iter().any(|it| !it.keeps_mounts);
        Self { volumes, mounts, open, is_lost }
    }

    /// Every volume.
    pub fn volumes(&self) -> &[MountedVolume<'p>] {
        &self.volumes
    }

    /// The mounts of a container, by its position in the pod.
    pub fn mounts(&self, at: usize) -> &[&'p Mount] {
        self.mounts.get(at).map_or(&[], Vec::as_slice)
    }

    /// The mounts of all containers.
    pub fn all_mounts(&self) -> impl Iterator<Item = &'p Mount> {
        self.mounts.iter().flatten().copied()
    }

    /// Whether a container mounts a volume.
    pub fn has(&self, at: usize, volume: &str) -> bool {
        self.mounts(at).iter().any(|it| is_named(it, volume))
    }

    /// Whether a container mounts a volume so that it can write to it.
    pub fn writes(&self, at: usize, volume: &str) -> bool {
        self.mounts(at).iter().any(|it| !it.read_only && is_named(it, volume))
    }

    /// Whether more may be mounted than can be seen, or less.
    pub fn is_open(&self) -> bool {
        self.is_lost || self.open.iter().any(|it| it.containers.iter().any(|it| !it.mounts.is_empty()))
    }

    /// Whether a preset that may be applied or not has to do with a volume.
    pub fn is_open_for(&self, volume: &str) -> bool {
        let brings = |pod: &&Pod| {
            pod.volumes.iter().any(|it| it.name.as_ref().is_some_and(|it| &*it.value == volume))
                || pod.containers.iter().flat_map(|it| &it.mounts).any(|it| is_named(it, volume))
        };
        self.is_lost || self.open.iter().any(brings)
    }
}

fn is_named(mount: &Mount, volume: &str) -> bool {
    mount.name.as_ref().is_some_and(|it| &*it.value == volume)
}
