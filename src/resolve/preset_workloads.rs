//! The workloads that each PodPreset may change, found for all presets at once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use crate::build::{self, BuiltObject};
use crate::resolve::Resolver;

/// Workloads by preset; both are a file and the index of an object in it.
type WorkloadsByPreset = HashMap<(Arc<str>, usize), Vec<(Arc<str>, usize)>>;

/// For each preset, which is a file and an offset, the file and position of each workload that it may change.
#[derive(Debug, Default)]
pub(super) struct PresetWorkloads(OnceLock<WorkloadsByPreset>);

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
        let known = all.get(&(Arc::clone(preset.file), preset.source.offset)).into_iter().flatten();
        let entries = known.filter_map(|(path, position)| Some((snapshot.entry(path)?, *position)));
        entries.flat_map(|((path, facts), position)| build::views_of(snapshot, path, facts, position)).collect()
    }
}

fn find_all(resolver: &Resolver<'_>, any: BuiltObject<'_>) -> WorkloadsByPreset {
    let snapshot = any.snapshot;
    let mut all = WorkloadsByPreset::new();
    for (path, facts) in snapshot.files() {
        for (position, source) in facts.objects.iter().enumerate() {
            if source.model.pods.is_empty() && source.template.is_none() {
                continue;
            }
            let mut mentioned: HashSet<(Arc<str>, usize)> = HashSet::new();
            for pod in build::views_of(snapshot, path, facts, position).flat_map(BuiltObject::pods) {
                let Some(admission) = resolver.admission(pod) else { continue };
                let presets = admission.presets.iter().map(|it| it.object);
                let possible = admission.possible.iter().map(|it| it.object);
                for preset in presets.chain(possible) {
                    let key = (Arc::clone(preset.file), preset.source.offset);
                    if mentioned.insert(key.clone()) {
                        all.entry(key).or_default().push((Arc::clone(path), position));
                    }
                }
            }
        }
    }
    all
}
