//! Applies PodPresets to a pod, as admission does before the kubelet sees it (A1 to A14, A20 to A23).
//!
//! The plugin of the API server checks all matching presets for conflicts, and applies none of them if there is one. Up
//! to release 1.7 it applied them one by one and stopped at the first conflict. The webhook applies presets in spite of
//! conflicts; a list with a conflict becomes empty. The order of presets in a cluster is undefined (A3): see `order`.

mod candidates;
mod compared_entry;
mod duplicates;
mod order;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::build::object::{BuiltContainer, BuiltObject, BuiltPod};
use crate::build::preset_problems;
use crate::build::preset_selector::{self, PodLabels, SelectorMatch};
use crate::diagnostic::Location;
use crate::k8s::{
    Container, ContainerRole, EnvFrom, EnvFromSource, EnvVar, Mount, ObjectSpan, Pod, PodPreset, PresetAdmitter, Volume,
};
use crate::workspace::KubernetesVersion;

use candidates::CandidatePresets;
use compared_entry::{ComparedEntry, compared_entry, source_name};
pub use duplicates::DuplicateEntry;

/// The names of the variables that an entry of `envFrom` gives, looked up from an object. A function of a later layer.
pub type EnvFromNames = fn(BuiltObject<'_>, KubernetesVersion, &EnvFrom) -> BTreeSet<Arc<str>>;

/// What admission needs besides the pod and the presets.
#[derive(Clone, Copy, Debug)]
pub struct AdmissionContext {
    /// The release.
    pub release: KubernetesVersion,
    /// See [`EnvFromNames`].
    pub env_from_names: EnvFromNames,
}

/// The result of admission for a pod.
#[derive(Clone, Debug, Default)]
pub struct Admission<'s> {
    /// The presets that apply: first those of the API server, the oldest first if all show their age and otherwise by
    /// name, then those of the webhook by name.
    pub presets: Vec<MatchingPreset<'s>>,
    /// Whether the API server's presets show in which order they were created (PA10).
    is_ordered: bool,
    /// The presets that select the pod and are invalid, so that the API server refuses them.
    pub refused: Vec<RefusedPreset<'s>>,
    /// Presets that may apply: a label, the order of presets, or which of several presets with one name exists is
    /// unknown, or the webhook chooses one of several.
    pub possible: Vec<PossiblePreset<'s>>,
    /// Whether further presets may apply: too many may select the pod.
    pub has_others: bool,
    /// The changes of each container, in the order of the pod.
    pub containers: Vec<ContainerChanges>,
    /// The added volumes.
    pub volumes: Vec<PresetEntry>,
    /// Whether the pod's own volumes are kept (A21).
    pub keeps_volumes: bool,
}

/// A preset that applies to a pod.
#[derive(Clone, Debug)]
pub struct MatchingPreset<'s> {
    /// `metadata.name`.
    pub name: Arc<str>,
    /// The PodPreset object.
    pub object: BuiltObject<'s>,
    /// Whether it is applied: a conflict can prevent that.
    pub applied: bool,
    /// Whether it is certainly in the pod's namespace: both have the same one, or both files are in one directory and
    /// at least one object has none.
    pub is_certain: bool,
    /// Its conflicts with the pod or another preset.
    pub conflicts: Vec<Conflict>,
    /// The annotation that it adds to the pods it is applied to (A10).
    pub annotation: String,
}

impl<'s> MatchingPreset<'s> {
    /// The contents of the preset.
    pub fn preset(&self) -> Option<&'s PodPreset> {
        self.object.preset()
    }

    /// Whether the cluster completes its name, so that the names of its annotations are not known either.
    pub fn has_generated_name(&self) -> bool {
        self.preset().is_some_and(|it| it.has_generated_name)
    }

    /// Its entries for containers, in the form of a container.
    pub fn container(&self) -> Option<&'s Container> {
        self.preset()?.container()
    }

    /// The location of a span of the object.
    pub fn location(&self, span: ObjectSpan) -> Location {
        self.object.location(span)
    }
}

/// A preset that may apply to a pod.
#[derive(Clone, Debug)]
pub struct PossiblePreset<'s> {
    /// `metadata.name`.
    pub name: Arc<str>,
    /// The PodPreset object.
    pub object: BuiltObject<'s>,
}

impl<'s> From<MatchingPreset<'s>> for PossiblePreset<'s> {
    fn from(matched: MatchingPreset<'s>) -> Self {
        Self { name: matched.name, object: matched.object }
    }
}

impl<'s> PossiblePreset<'s> {
    /// The contents of the preset.
    pub fn preset(&self) -> Option<&'s PodPreset> {
        self.object.preset()
    }
}

/// A preset that selects a pod and is invalid (A13). Nothing of it is applied.
#[derive(Clone, Debug)]
pub struct RefusedPreset<'s> {
    /// `metadata.name`.
    pub name: Arc<str>,
    /// The PodPreset object.
    pub object: BuiltObject<'s>,
    /// Why the API server refuses it.
    pub reason: String,
}

/// An entry that a preset and the pod, or two presets, define differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The kind of entry.
    pub kind: ConflictKind,
    /// The name or path that both definitions have.
    pub name: Arc<str>,
    /// The index of the container in the pod; `None` for volumes.
    pub container: Option<usize>,
    /// The definition in the preset.
    pub entry: Location,
    /// The other definition.
    pub with: Location,
    /// The index of the other preset; `None` if the other definition is in the pod.
    pub other: Option<usize>,
}

/// The kind of entry that a conflict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// A variable (A5).
    Env,
    /// A volume (A6).
    Volume,
    /// A mount of the same volume (A7).
    MountName,
    /// A mount at the same path (A7).
    MountPath,
    /// A source of variables (A8), or a variable of one (PA9).
    EnvFrom,
}

impl ConflictKind {
    /// The name in the JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Volume => "volume",
            Self::MountName => "mountName",
            Self::MountPath => "mountPath",
            Self::EnvFrom => "envFrom",
        }
    }
}

/// The changes that presets make to a container.
#[derive(Clone, Debug)]
pub struct ContainerChanges {
    /// Entries added to the end of `env`.
    pub env: Vec<PresetEntry>,
    /// Entries added to the end of `envFrom`.
    pub env_from: Vec<PresetEntry>,
    /// Entries added to the end of `volumeMounts`.
    pub mounts: Vec<PresetEntry>,
    /// Whether its own `env` is kept (A21).
    pub keeps_env: bool,
    /// Whether its own `envFrom` is kept (A8, A21).
    pub keeps_env_from: bool,
    /// Whether its own `volumeMounts` are kept (A21).
    pub keeps_mounts: bool,
}

/// Identifies an entry of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetEntry {
    /// The index of the preset in [`Admission::presets`].
    pub preset: usize,
    /// The index of the entry in the preset's list.
    pub entry: usize,
}

impl<'s> Admission<'s> {
    /// Applies presets to a pod; `None` if no preset applies or may apply to it.
    pub fn for_pod(pod: BuiltPod<'s>, context: AdmissionContext) -> Option<Self> {
        let object = pod.object;
        // The pod of a preset object only holds its entries.
        if object.preset().is_some() {
            return None;
        }
        let CandidatePresets { found, is_complete } = CandidatePresets::of(pod);
        let (release, proposals) = (context.release, object.settings().proposals);
        // A4: 1.6 ignored both annotations.
        if found.is_empty()
            || ((release.is_at_least(7) || proposals) && preset_selector::is_exempt_from_presets(pod.pod))
        {
            return None;
        }
        let mut admission = Self { keeps_volumes: true, ..Self::default() };
        // The webhook sees pods after the API server's plugin has changed them.
        for by in [PresetAdmitter::ApiServer, PresetAdmitter::Webhook] {
            let of_kind =
                found.iter().map(|it| it.object).filter(|it| it.preset().is_some_and(|it| it.admission == by));
            let listed = of_kind.filter_map(|it| admission.list_preset(it, pod, context)).collect();
            admission.select_presets(by, listed);
        }
        if !is_complete {
            let presets = std::mem::take(&mut admission.presets).into_iter().map(PossiblePreset::from);
            admission.possible.extend(presets);
            admission.has_others = true;
        }
        admission.sort_by_age();
        if admission.presets.is_empty() && admission.possible.is_empty() && admission.refused.is_empty() {
            return None;
        }
        // The result depends on all containers of the pod, and on the files of presets.
        object.snapshot.depend_on_siblings();
        let applied = admission.presets.iter().map(|it| it.object);
        for preset in applied.chain(admission.refused.iter().map(|it| it.object)) {
            object.snapshot.depend_on_file(preset.file);
        }
        PresetMerge::new(&mut admission, pod, context).run();
        Some(admission)
    }

    /// A preset of the namespace, and whether it selects the pod. One that the API server refuses is recorded instead.
    fn list_preset(
        &mut self,
        found: BuiltObject<'s>,
        pod: BuiltPod<'s>,
        context: AdmissionContext,
    ) -> Option<(MatchingPreset<'s>, SelectorMatch)> {
        let (preset, name) = (found.preset()?, &found.model.name.as_ref()?.value);
        let (release, proposals) = (context.release, pod.object.settings().proposals);
        let labels = PodLabels::new(pod.pod, pod.object.may_have_more_labels());
        let selected = preset_selector::match_pod(preset, &labels);
        if let Some(reason) = preset_problems::preset_refusal(found, release, proposals) {
            let name = Arc::clone(name);
            let (is_partial, is_masked) = (found.snapshot.is_patch(found.file), found.is_helm_template());
            match selected {
                // The branches of a template are side by side, and an action may print what is missing.
                SelectorMatch::Yes | SelectorMatch::Maybe if is_masked => {
                    self.possible.push(PossiblePreset { name, object: found });
                }
                SelectorMatch::Yes if !is_partial => self.refused.push(RefusedPreset { name, object: found, reason }),
                _ => {}
            }
            return None;
        }
        let is_certain = is_in_same_namespace(found, pod.object);
        // The webhook's presets only cause findings. If the namespace is uncertain, the preset only may apply.
        let selected = match preset.admission {
            PresetAdmitter::Webhook if !is_certain => selected.min(SelectorMatch::Maybe),
            _ => selected,
        };
        // A4: 1.6 had no prefix before the name.
        let infix = if release.is_at_least(7) || proposals { "podpreset-" } else { "" };
        let matched = MatchingPreset {
            name: Arc::clone(name),
            object: found,
            applied: false,
            is_certain,
            conflicts: Vec::new(),
            annotation: format!("podpreset.admission.kubernetes.io/{infix}{name}"),
        };
        Some((matched, selected))
    }

    /// The conflicts between entries of one preset, for any pod (A7).
    pub fn own_conflicts(object: BuiltObject<'s>, context: AdmissionContext) -> Vec<Conflict> {
        let Some(name) = &object.model.name else { return Vec::new() };
        let name = Arc::clone(&name.value);
        let (applied, is_certain) = (false, true);
        let (conflicts, annotation) = (Vec::new(), String::new());
        let matched = MatchingPreset { name, object, applied, is_certain, conflicts, annotation };
        let mut admission = Admission { presets: vec![matched], ..Admission::default() };
        let pod = Pod { containers: vec![Arc::default()], ..Pod::default() };
        PresetMerge::new(&mut admission, BuiltPod { object, pod: &pod }, context).run();
        admission.presets.pop().map(|it| it.conflicts).unwrap_or_default()
    }

    fn select_presets(&mut self, by: PresetAdmitter, listed: Vec<(MatchingPreset<'s>, SelectorMatch)>) {
        let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
        listed.iter().for_each(|(it, _)| *counts.entry(Arc::clone(&it.name)).or_default() += 1);
        // A22: the webhook applies the last preset of its list, whose order is undefined, as soon as any of them matches.
        let certain = || listed.iter().filter(|(it, _)| it.is_certain);
        let is_any_applied = by == PresetAdmitter::Webhook
            && certain().count() > 1
            && certain().any(|(_, selected)| *selected != SelectorMatch::No);
        for (matched, selected) in listed {
            match selected {
                _ if is_any_applied && matched.is_certain => self.possible.push(matched.into()),
                SelectorMatch::No => {}
                SelectorMatch::Yes if counts[&matched.name] == 1 || matched.has_generated_name() => {
                    self.presets.push(matched);
                }
                _ => self.possible.push(matched.into()),
            }
        }
    }

    /// The changes of a container of the pod.
    pub fn container_changes(&self, container: BuiltContainer<'_>) -> Option<&ContainerChanges> {
        self.containers.get(container.index()?)
    }

    /// An added entry of `env`, with its preset.
    pub fn env(&self, added: PresetEntry) -> Option<(&MatchingPreset<'s>, &'s EnvVar)> {
        let matched = self.presets.get(added.preset)?;
        Some((matched, matched.container()?.env.get(added.entry)?))
    }

    /// An added entry of `envFrom`, with its preset.
    pub fn env_from(&self, added: PresetEntry) -> Option<(&MatchingPreset<'s>, &'s EnvFrom)> {
        let matched = self.presets.get(added.preset)?;
        Some((matched, matched.container()?.env_from.get(added.entry)?))
    }

    /// An added mount, with its preset.
    pub fn mount(&self, added: PresetEntry) -> Option<(&MatchingPreset<'s>, &'s Mount)> {
        let matched = self.presets.get(added.preset)?;
        Some((matched, matched.container()?.mounts.get(added.entry)?))
    }

    /// An added volume, with its preset.
    pub fn volume(&self, added: PresetEntry) -> Option<(&MatchingPreset<'s>, &'s Volume)> {
        let matched = self.presets.get(added.preset)?;
        Some((matched, matched.preset()?.pod.volumes.get(added.entry)?))
    }

    /// Whether presets change the pod. Up to 1.7 a preset that is not applied may have added some of its entries.
    pub fn changes_something(&self) -> bool {
        let is_changed = |it: &ContainerChanges| !it.env.is_empty() || !it.env_from.is_empty() || !it.mounts.is_empty();
        self.presets.iter().any(|it| it.applied) || self.containers.iter().any(is_changed)
    }

    /// Whether a preset adds an explicit link to a service.
    pub fn links_explicitly(&self) -> bool {
        let all = self.containers.iter().flat_map(|it| &it.env_from);
        all.filter_map(|it| self.env_from(*it)).any(|(_, it)| matches!(it.source, Some(EnvFromSource::Service { .. })))
    }
}

/// Whether presets are applied one by one (A4), as in 1.6 and 1.7. In the proposal all are applied or none (PA8).
pub fn presets_apply_one_by_one(release: KubernetesVersion, proposals: bool) -> bool {
    !release.is_at_least(8) && !proposals
}

/// The two keys of a mount (A7).
const MOUNTS: [ConflictKind; 2] = [ConflictKind::MountName, ConflictKind::MountPath];

/// An entry of a list during the merge: the pod's own, or one of a preset.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MergedEntry {
    Own(usize),
    Preset(PresetEntry),
}

/// Merges presets into a pod.
struct PresetMerge<'a, 's> {
    admission: &'a mut Admission<'s>,
    object: BuiltObject<'s>,
    pod: &'a Pod,
    context: AdmissionContext,
    volumes: Vec<MergedEntry>,
    containers: Vec<MergedLists>,
    /// Whether a value that is not known decides if there is a conflict.
    is_uncertain: Cell<bool>,
}

#[derive(Clone, Default)]
struct MergedLists {
    env: Vec<MergedEntry>,
    env_from: Vec<MergedEntry>,
    mounts: Vec<MergedEntry>,
}

impl<'a, 's> PresetMerge<'a, 's> {
    fn new(admission: &'a mut Admission<'s>, pod: BuiltPod<'s>, context: AdmissionContext) -> Self
    where
        's: 'a,
    {
        let BuiltPod { object, pod } = pod;
        let own = |count: usize| (0..count).map(MergedEntry::Own).collect();
        let lists = |it: &Arc<Container>| MergedLists {
            env: own(it.env.len()),
            env_from: own(it.env_from.len()),
            mounts: own(it.mounts.len()),
        };
        let (volumes, containers) = (own(pod.volumes.len()), pod.containers.iter().map(lists).collect());
        Self { admission, object, pod, context, volumes, containers, is_uncertain: Cell::new(false) }
    }

    fn run(mut self) {
        let presets_of = |by: PresetAdmitter, admission: &Admission<'_>| -> Vec<usize> {
            let all = admission.presets.iter().enumerate();
            all.filter(|(_, it)| it.preset().is_some_and(|it| it.admission == by)).map(|(at, _)| at).collect()
        };
        let (volumes, containers) = (self.volumes.clone(), self.containers.clone());
        let plugin = presets_of(PresetAdmitter::ApiServer, self.admission);
        self.apply_by_api_server(&plugin);
        let webhook = presets_of(PresetAdmitter::Webhook, self.admission);
        webhook.into_iter().for_each(|it| self.apply_by_webhook(it));
        let has_conflicts = self.admission.presets.iter().any(|it| !it.conflicts.is_empty());
        if self.is_uncertain.get() && !has_conflicts {
            (self.volumes, self.containers) = (volumes, containers);
            let presets = std::mem::take(&mut self.admission.presets).into_iter();
            self.admission.possible.extend(presets.map(PossiblePreset::from));
        }
        self.finish();
    }

    /// Whether the API server's plugin changes a container. A9: init containers since 1.14, ephemeral containers never.
    fn is_changed_by_plugin(&self, container: &Container) -> bool {
        match container.role {
            ContainerRole::Ephemeral | ContainerRole::Hook => false,
            ContainerRole::Container => true,
            ContainerRole::Init | ContainerRole::Sidecar => self.context.release.is_at_least(14),
        }
    }

    /// The indexes of the containers that the API server's plugin changes.
    fn containers_changed_by_plugin(&self) -> Vec<usize> {
        let all = self.pod.containers.iter().enumerate();
        all.filter(|(_, it)| self.is_changed_by_plugin(it)).map(|(at, _)| at).collect()
    }

    /// A4: applies all presets, or none if there is a conflict.
    fn apply_by_api_server(&mut self, presets: &[usize]) {
        if presets_apply_one_by_one(self.context.release, self.object.settings().proposals) {
            return self.apply_one_by_one(presets);
        }
        let mut conflicts = Vec::new();
        let volumes = self.merge_list(&self.volumes, presets, &[ConflictKind::Volume], None, &mut conflicts);
        let mut containers = self.containers.clone();
        let reached = self.containers_changed_by_plugin();
        for at in reached.iter().copied() {
            let own = &self.containers[at];
            let env = self.merge_list(&own.env, presets, &[ConflictKind::Env], Some(at), &mut conflicts);
            let mounts = self.merge_list(&own.mounts, presets, &MOUNTS, Some(at), &mut conflicts);
            if self.object.settings().proposals {
                self.find_key_conflicts(at, presets, &mut conflicts);
            }
            containers[at] = MergedLists { env, mounts, env_from: own.env_from.clone() };
        }
        let applied = conflicts.is_empty();
        self.record(conflicts);
        if !applied {
            return;
        }
        self.volumes = volumes;
        self.containers = containers;
        for at in reached {
            self.merge_sources(at, presets);
        }
        for at in presets {
            self.admission.presets[*at].applied = true;
        }
    }

    /// A4, up to 1.7: applies one preset after the other and list after list, until the first conflict.
    fn apply_one_by_one(&mut self, presets: &[usize]) {
        for (at, preset) in presets.iter().copied().enumerate() {
            if !self.apply_one(preset) {
                // A3: in another order, the presets after this one would have come first.
                let open = if presets.len() > 1 { &presets[at..] } else { &[] };
                let Admission { presets, possible, .. } = &mut *self.admission;
                possible.extend(open.iter().map(|it| PossiblePreset::from(presets[*it].clone())));
                return;
            }
            self.admission.presets[preset].applied = true;
        }
    }

    /// Merges one preset up to its first conflict; returns whether it was merged completely.
    fn apply_one(&mut self, preset: usize) -> bool {
        let (one, reached) = ([preset], self.containers_changed_by_plugin());
        for at in reached.iter().copied() {
            let mut found = Vec::new();
            let env = self.merge_list(&self.containers[at].env, &one, &[ConflictKind::Env], Some(at), &mut found);
            if self.record_own(preset, found) {
                return false;
            }
            self.containers[at].env = env;
        }
        for at in reached.iter().copied() {
            self.merge_sources(at, &one);
        }
        for at in reached {
            let mut found = Vec::new();
            let mounts = self.merge_list(&self.containers[at].mounts, &one, &MOUNTS, Some(at), &mut found);
            if self.record_own(preset, found) {
                return false;
            }
            self.containers[at].mounts = mounts;
        }
        let mut found = Vec::new();
        let volumes = self.merge_list(&self.volumes, &one, &[ConflictKind::Volume], None, &mut found);
        if self.record_own(preset, found) {
            return false;
        }
        self.volumes = volumes;
        true
    }

    /// Records the conflicts of one preset, and returns whether there are any. The other side of each is already
    /// applied.
    fn record_own(&mut self, preset: usize, found: Vec<(usize, Conflict)>) -> bool {
        let found: Vec<_> = found.into_iter().filter(|(it, _)| *it == preset).collect();
        let is_stopped = !found.is_empty();
        self.record(found);
        is_stopped
    }

    /// A20 and A21: applies a preset; a list with a conflict becomes empty.
    fn apply_by_webhook(&mut self, preset: usize) {
        let presets = [preset];
        let mut conflicts = Vec::new();
        let volumes = self.merge_list(&self.volumes, &presets, &[ConflictKind::Volume], None, &mut conflicts);
        self.volumes = if conflicts.is_empty() { volumes } else { Vec::new() };
        self.record(conflicts);
        for (at, container) in self.pod.containers.iter().enumerate() {
            if matches!(container.role, ContainerRole::Ephemeral | ContainerRole::Hook) {
                continue;
            }
            let mut found = Vec::new();
            let env = self.merge_list(&self.containers[at].env, &presets, &[ConflictKind::Env], Some(at), &mut found);
            self.containers[at].env = if found.is_empty() { env } else { Vec::new() };
            self.record(found);
            let mut found = Vec::new();
            let mounts = self.merge_list(&self.containers[at].mounts, &presets, &MOUNTS, Some(at), &mut found);
            self.containers[at].mounts = if found.is_empty() { mounts } else { Vec::new() };
            self.record(found);
            self.merge_sources(at, &presets);
        }
        self.admission.presets[preset].applied = true;
    }

    /// A5 to A7: adds entries with a new key; entries with a known key have to be equal.
    fn merge_list(
        &self,
        own: &[MergedEntry],
        presets: &[usize],
        kinds: &[ConflictKind],
        container: Option<usize>,
        conflicts: &mut Vec<(usize, Conflict)>,
    ) -> Vec<MergedEntry> {
        let mut result = own.to_vec();
        // For each kind, the entries by key. The last of equal keys wins.
        let mut known: Vec<HashMap<Arc<str>, MergedEntry>> = Vec::new();
        for kind in kinds {
            let keyed = |merged: &MergedEntry| Some((self.compared_entry(*kind, container, *merged)?.key?, *merged));
            known.push(own.iter().filter_map(keyed).collect());
        }
        for preset in presets.iter().copied() {
            for entry in 0..self.entry_count(kinds[0], preset) {
                let merged = MergedEntry::Preset(PresetEntry { preset, entry });
                let mut is_new = true;
                // A mount with the name and the path of another is one conflict.
                let mut differs_from: Option<MergedEntry> = None;
                for (kind, known) in kinds.iter().zip(&mut known) {
                    let Some(compared) = self.compared_entry(*kind, container, merged) else { continue };
                    let Some(key) = compared.key.clone() else { continue };
                    let Some(before) = known.get(&key) else {
                        known.insert(key, merged);
                        continue;
                    };
                    // Only the first key decides whether the entry is added.
                    is_new &= *kind != kinds[0];
                    let Some(other) = self.compared_entry(*kind, container, *before) else { continue };
                    if other.content != compared.content && (other.has_unknown_parts() || compared.has_unknown_parts())
                    {
                        self.is_uncertain.set(true);
                    } else if other.content != compared.content && differs_from.replace(*before) != Some(*before) {
                        let conflict = |entry: &ComparedEntry, with: &ComparedEntry, other| Conflict {
                            kind: *kind,
                            name: Arc::clone(&key),
                            container,
                            entry: entry.location.clone(),
                            with: with.location.clone(),
                            other,
                        };
                        let with = match before {
                            MergedEntry::Own(_) => None,
                            MergedEntry::Preset(it) => Some(it.preset),
                        };
                        conflicts.push((preset, conflict(&compared, &other, with)));
                        if let Some(with) = with.filter(|it| *it != preset) {
                            conflicts.push((with, conflict(&other, &compared, Some(preset))));
                        }
                    }
                }
                if is_new {
                    result.push(merged);
                }
            }
        }
        result
    }

    /// A8: adds sources that the container does not have; a source that differs empties the list.
    fn merge_sources(&mut self, at: usize, presets: &[usize]) {
        let mut result = self.containers[at].env_from.clone();
        let mut found = Vec::new();
        let keyed =
            |merged: &MergedEntry| Some((self.compared_entry(ConflictKind::EnvFrom, Some(at), *merged)?.key?, *merged));
        let own: HashMap<Arc<str>, MergedEntry> = self.containers[at].env_from.iter().filter_map(keyed).collect();
        for preset in presets.iter().copied() {
            for entry in 0..self.entry_count(ConflictKind::EnvFrom, preset) {
                let merged = MergedEntry::Preset(PresetEntry { preset, entry });
                let Some(compared) = self.compared_entry(ConflictKind::EnvFrom, Some(at), merged) else { continue };
                let before = compared.key.as_ref().and_then(|it| own.get(it));
                // Before 1.15 the plugin compares nothing.
                let compares = self.context.release.is_at_least(15) || self.is_of_webhook(preset);
                match before.and_then(|it| Some((it, self.compared_entry(ConflictKind::EnvFrom, Some(at), *it)?))) {
                    Some((_, other)) if compares && other.content == compared.content => {}
                    Some((_, other)) if compares && (other.has_unknown_parts() || compared.has_unknown_parts()) => {
                        self.is_uncertain.set(true);
                    }
                    Some((before, other)) if compares => {
                        let with = match before {
                            MergedEntry::Own(_) => None,
                            MergedEntry::Preset(it) => Some(it.preset),
                        };
                        let kind = ConflictKind::EnvFrom;
                        let name = source_name(&self.admission.presets[preset], entry);
                        let (entry, container) = (compared.location, Some(at));
                        found.push((
                            preset,
                            Conflict { kind, name, container, entry, with: other.location, other: with },
                        ));
                    }
                    _ => result.push(merged),
                }
            }
        }
        // The list is only emptied if that is certain: otherwise every use of its variables would be reported.
        let is_certain = presets.iter().all(|it| self.admission.presets[*it].is_certain);
        match (found.is_empty(), is_certain) {
            (true, _) => self.containers[at].env_from = result,
            (false, true) => self.containers[at].env_from.clear(),
            (false, false) => {}
        }
        self.record(found);
    }

    /// PA9: finds variables of the container that are also keys of a source of the preset, and the reverse.
    fn find_key_conflicts(&self, at: usize, presets: &[usize], conflicts: &mut Vec<(usize, Conflict)>) {
        let container = &self.pod.containers[at];
        let names = |entry: &EnvFrom| (self.context.env_from_names)(self.object, self.context.release, entry);
        // The entry that gives each name; the last one wins.
        let mut own: HashMap<Arc<str>, Location> = HashMap::new();
        for entry in &container.env_from {
            own.extend(names(entry).into_iter().map(|name| (name, self.object.location(entry.span))));
        }
        for preset in presets.iter().copied() {
            let matched = &self.admission.presets[preset];
            let Some(added) = matched.container() else { continue };
            let kind = ConflictKind::EnvFrom;
            for name in added.env.iter().filter_map(|it| it.name.as_ref()) {
                if let Some(with) = own.get(&name.value).cloned() {
                    let entry = matched.location(name.span);
                    let name = Arc::clone(&name.value);
                    conflicts.push((preset, Conflict { kind, name, container: Some(at), entry, with, other: None }));
                }
            }
            for source in &added.env_from {
                let location = matched.location(source.span);
                let keys = names(source);
                for name in container.env.iter().filter_map(|it| it.name.as_ref()) {
                    if keys.contains(&name.value) {
                        let with = self.object.location(name.span);
                        let (name, entry) = (Arc::clone(&name.value), location.clone());
                        let container = Some(at);
                        conflicts.push((preset, Conflict { kind, name, container, entry, with, other: None }));
                    }
                }
            }
        }
    }

    fn is_of_webhook(&self, preset: usize) -> bool {
        self.admission.presets[preset].preset().is_some_and(|it| it.admission == PresetAdmitter::Webhook)
    }

    fn record(&mut self, conflicts: Vec<(usize, Conflict)>) {
        for (preset, conflict) in conflicts {
            self.admission.presets[preset].conflicts.push(conflict);
        }
    }

    /// The number of entries of a kind in a preset.
    fn entry_count(&self, kind: ConflictKind, preset: usize) -> usize {
        let matched = &self.admission.presets[preset];
        let count = |list: fn(&Container) -> usize| matched.container().map_or(0, list);
        match kind {
            ConflictKind::Env => count(|it| it.env.len()),
            ConflictKind::EnvFrom => count(|it| it.env_from.len()),
            ConflictKind::MountName | ConflictKind::MountPath => count(|it| it.mounts.len()),
            ConflictKind::Volume => matched.preset().map_or(0, |it| it.pod.volumes.len()),
        }
    }

    /// The compared properties of an entry.
    fn compared_entry(
        &self,
        kind: ConflictKind,
        container: Option<usize>,
        merged: MergedEntry,
    ) -> Option<ComparedEntry> {
        match merged {
            MergedEntry::Own(at) => {
                let own = container.and_then(|it| self.pod.containers.get(it)).map(|it| &**it);
                let locate = |span: ObjectSpan| self.object.location(span);
                compared_entry(kind, own, &self.pod.volumes, at, None, &locate)
            }
            MergedEntry::Preset(PresetEntry { preset, entry }) => {
                let matched = self.admission.presets.get(preset)?;
                let preset = matched.preset()?;
                let locate = |span: ObjectSpan| matched.location(span);
                // A23.
                let written = (preset.admission == PresetAdmitter::Webhook).then_some(&preset.written);
                compared_entry(kind, matched.container(), &preset.pod.volumes, entry, written, &locate)
            }
        }
    }

    fn finish(self) {
        let added = |entries: &[MergedEntry]| -> Vec<PresetEntry> {
            let added = entries.iter().filter_map(|it| match it {
                MergedEntry::Preset(it) => Some(*it),
                MergedEntry::Own(_) => None,
            });
            added.collect()
        };
        let keeps = |entries: &[MergedEntry], own: usize| {
            entries.iter().filter(|it| matches!(it, MergedEntry::Own(_))).count() == own
        };
        let changes = |(lists, it): (&MergedLists, &Arc<Container>)| ContainerChanges {
            env: added(&lists.env),
            env_from: added(&lists.env_from),
            mounts: added(&lists.mounts),
            keeps_env: keeps(&lists.env, it.env.len()),
            keeps_env_from: keeps(&lists.env_from, it.env_from.len()),
            keeps_mounts: keeps(&lists.mounts, it.mounts.len()),
        };
        self.admission.containers = self.containers.iter().zip(&self.pod.containers).map(changes).collect();
        self.admission.volumes = added(&self.volumes);
        self.admission.keeps_volumes = keeps(&self.volumes, self.pod.volumes.len());
    }
}

/// Whether an object is certainly in the namespace of another: both have the same namespace, or both files are in one
/// directory and at least one object has none.
pub fn is_in_same_namespace(found: BuiltObject<'_>, object: BuiltObject<'_>) -> bool {
    let directory = |file: &str| file.rfind('/').map_or(0, |slash| slash + 1);
    match (&found.model.namespace, &object.model.namespace) {
        (Some(one), Some(other)) => one.value == other.value,
        _ => found.file[..directory(found.file)] == object.file[..directory(object.file)],
    }
}
