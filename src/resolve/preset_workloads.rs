//! The workloads that each PodPreset may change, found for all presets at once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use crate::build::{self, BuiltObject};
use crate::resolve::Resolver;

/// The workloads of all presets; each is a file and the index of an object in it.
#[derive(Debug, Default)]
struct AllWorkloads {
    /// By preset, which is a file and an offset.
    by_preset: HashMap<ObjectIndex, Vec<ObjectIndex>>,
    /// One that so many presets may select that some were left out.
    crowded: Option<ObjectIndex>,
}

/// The file of an object, and its offset or its index there.
type ObjectIndex = (Arc<str>, usize);

/// The workloads of all presets.
#[derive(Debug, Default)]
pub(super) struct PresetWorkloads(OnceLock<AllWorkloads>);

impl PresetWorkloads {
    /// The workloads that a preset may change, in all views and in the order of the files.
    pub(super) fn of<'s>(&self, resolver: &Resolver<'_>, preset: BuiltObject<'s>) -> Vec<BuiltObject<'s>> {
        let snapshot = preset.snapshot;
        if snapshot.is_recording() {
            // The dependencies belong to this preset.
            let all = snapshot.files().flat_map(|(path, facts)| build::all_views(snapshot, path, facts));
            return all.filter(|it| !it.model.pods.is_empty()).collect();
        }
        let all = self.0.get_or_init(|| find_all(resolver, preset));
        let known = all.by_preset.get(&(Arc::clone(preset.file), preset.source.offset)).map_or(&[][..], Vec::as_slice);
        let known = known.iter().chain(all.crowded.iter().filter(|it| !known.contains(it)));
        let entries = known.filter_map(|(path, position)| Some((snapshot.entry(path)?, *position)));
        entries.flat_map(|((path, facts), position)| build::views_of(snapshot, path, facts, position)).collect()
    }
}

fn find_all(resolver: &Resolver<'_>, any: BuiltObject<'_>) -> AllWorkloads {
    let snapshot = any.snapshot;
    let mut all = AllWorkloads::default();
    for (path, facts) in snapshot.files() {
        for (position, source) in facts.objects.iter().enumerate() {
            if source.model.pods.is_empty() && source.template.is_none() {
                continue;
            }
            let mut mentioned: HashSet<ObjectIndex> = HashSet::new();
            for pod in build::views_of(snapshot, path, facts, position).flat_map(BuiltObject::pods) {
                let Some(admission) = resolver.admission(pod) else { continue };
                if admission.has_others && all.crowded.is_none() {
                    all.crowded = Some((Arc::clone(path), position));
                }
                let presets = admission.presets.iter().map(|it| it.object);
                let possible = admission.possible.iter().map(|it| it.object);
                for preset in presets.chain(possible) {
                    let key = (Arc::clone(preset.file), preset.source.offset);
                    if mentioned.insert(key.clone()) {
                        all.by_preset.entry(key).or_default().push((Arc::clone(path), position));
                    }
                }
            }
        }
    }
    all
}
