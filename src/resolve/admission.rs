//! What PodPresets make of a pod before the kubelet sees it (A1 to A14, A20 to A23).
//!
//! The API server's plugin looks for conflicts over all presets that fit; one is enough, and none of them is applied (up
//! to 1.7 they came one after the other, and the first conflict was the end). The webhook applies what it has, and a list with a conflict is lost. Presets come in the order of their names: which
//! order a cluster takes is open (A3), and only the order of what is added depends on it.

mod duplicates;

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostic::Location;
use crate::k8s::{
    Container, ContainerRole, EnvFrom, EnvFromSource, EnvVar, Mount, Object, ObjectData, Pod, PodPreset,
    PresetAdmitter, Text, Volume,
};
use crate::resolve::env_sources::{self, EnvFromEntry};
use crate::resolve::lookup_scope::LookupScope;
use crate::resolve::preset_selector::{self, PodLabels, SelectorMatch};
use crate::resolve::service_variables::ServiceVariables;
use crate::text::Span;
use crate::workspace::KubernetesVersion;

pub use duplicates::DuplicateEntry;

/// What admission does with a pod.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// The presets that fit, by name: first those of the API server, then those of the webhook.
    pub presets: Vec<MatchingPreset>,
    /// Presets that may count: a label of the pod, which of several presets is meant, or their order is not known.
    pub possible: Vec<PossiblePreset>,
    /// What becomes of each container, in the order of the pod's.
    pub containers: Vec<ContainerChanges>,
    /// The volumes that are added.
    pub volumes: Vec<PresetEntry>,
    /// Whether the pod's own volumes stay (A21).
    pub keeps_volumes: bool,
}

/// A preset that fits a pod.
#[derive(Clone, Debug)]
pub struct MatchingPreset {
    /// Its name.
    pub name: Arc<str>,
    /// The file it stands in.
    pub file: Arc<str>,
    /// The object.
    pub object: Object,
    /// Whether it is applied.
    pub applied: bool,
    /// Whether its selector fits. A22: the webhook may apply another one than fits.
    pub fits: bool,
    /// Whether it surely shares the pod's namespace: both name it, or they stand side by side and do not disagree.
    pub is_sure: bool,
    /// What it has in conflict with the pod or another preset.
    pub conflicts: Vec<Conflict>,
    /// The annotation it leaves on a pod it is applied to (A10).
    pub annotation: String,
}

impl MatchingPreset {
    /// What it says.
    pub fn preset(&self) -> Option<&PodPreset> {
        match &self.object.model.data {
            ObjectData::Preset(preset) => Some(preset),
            _ => None,
        }
    }

    /// What it brings to containers.
    pub fn container(&self) -> Option<&Container> {
        self.preset()?.container()
    }

    /// A range of it in its file.
    pub fn location(&self, span: Span) -> Location {
        Location { file: Arc::clone(&self.file), span: self.object.file_span(span) }
    }
}

/// A preset that may count.
#[derive(Clone, Debug)]
pub struct PossiblePreset {
    /// Its name.
    pub name: Arc<str>,
    /// The object.
    pub object: Object,
}

impl PossiblePreset {
    /// What it says.
    pub fn preset(&self) -> Option<&PodPreset> {
        match &self.object.model.data {
            ObjectData::Preset(preset) => Some(preset),
            _ => None,
        }
    }
}

/// Something that a preset and a pod, or two presets, define in different ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// What it is about.
    pub kind: ConflictKind,
    /// The name or path both have.
    pub name: Arc<str>,
    /// The container, by its index in the pod; nothing for volumes.
    pub container: Option<usize>,
    /// What the preset says.
    pub entry: Location,
    /// The other definition.
    pub with: Location,
    /// The other preset, by its index, where it is none of the pod's.
    pub other: Option<usize>,
}

/// What a conflict is about.
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
    /// A source of variables (A8), or a key of one (PA9).
    EnvFrom,
}

impl ConflictKind {
    /// As the JSON output writes it.
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

/// What becomes of a container.
#[derive(Clone, Debug)]
pub struct ContainerChanges {
    /// Entries behind its own `env`.
    pub env: Vec<PresetEntry>,
    /// Entries behind its own `envFrom`.
    pub env_from: Vec<PresetEntry>,
    /// Entries behind its own `volumeMounts`.
    pub mounts: Vec<PresetEntry>,
    /// Whether its own `env` stays (A21).
    pub keeps_env: bool,
    /// Whether its own `envFrom` stays (A8, A21).
    pub keeps_env_from: bool,
    /// Whether its own `volumeMounts` stay (A21).
    pub keeps_mounts: bool,
}

/// An entry of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetEntry {
    /// The preset, by its index.
    pub preset: usize,
    /// The entry, by its index in the preset's list.
    pub entry: usize,
}

impl Admission {
    /// What admission does with a pod; nothing where no preset is, or may be, for it.
    pub(super) fn of(scope: &LookupScope<'_>, object: &Object, pod: &Pod) -> Option<Self> {
        // What a preset brings is no pod.
        if matches!(object.model.data, ObjectData::Preset(_)) {
            return None;
        }
        let found = scope.presets();
        let proposals = scope.settings().proposals;
        // A4: 1.6 asked for neither of the annotations.
        if found.is_empty()
            || ((scope.release().is_at_least(7) || proposals) && preset_selector::is_exempt_from_presets(pod))
        {
            return None;
        }
        let labels = PodLabels::of(pod, scope.is_template() || scope.is_patch());
        // A4: in 1.6 nothing stood before the name.
        let infix = if scope.release().is_at_least(7) || proposals { "podpreset-" } else { "" };
        let mut admission = Self { keeps_volumes: true, ..Self::default() };
        // The webhook of a cluster sees the pods that the API server has been through.
        for by in [PresetAdmitter::ApiServer, PresetAdmitter::Webhook] {
            let mut listed: Vec<(MatchingPreset, SelectorMatch)> = Vec::new();
            for found in &found {
                let ObjectData::Preset(preset) = &found.object.model.data else { continue };
                let Some(name) = &found.object.model.name else { continue };
                // What is not valid is refused, and so never there.
                if preset.admission != by || !preset_selector::preset_problems(preset, proposals).is_empty() {
                    continue;
                }
                let mut fit = preset_selector::fit(preset, &labels);
                // Of the webhook only trouble is told, so nothing is guessed.
                if by == PresetAdmitter::Webhook && !scope.meets(found, &object.model) {
                    fit = fit.min(SelectorMatch::Maybe);
                }
                let matched = MatchingPreset {
                    name: Arc::clone(&name.value),
                    file: Arc::clone(found.file),
                    object: found.object.clone(),
                    applied: false,
                    fits: fit == SelectorMatch::Yes,
                    is_sure: scope.meets(found, &object.model),
                    conflicts: Vec::new(),
                    annotation: format!("podpreset.admission.kubernetes.io/{infix}{}", name.value),
                };
                listed.push((matched, fit));
            }
            admission.choose(by, listed);
        }
        if admission.presets.is_empty() && admission.possible.is_empty() {
            return None;
        }
        scope.note_admission(&admission);
        PresetMerge::new(&mut admission, scope, object, pod).run();
        Some(admission)
    }

    /// What a preset has in conflict with itself, whatever the pod (A7).
    pub(super) fn alone(scope: &LookupScope<'_>, file: &Arc<str>, object: &Object) -> Vec<Conflict> {
        let Some(name) = &object.model.name else { return Vec::new() };
        let (name, file, object) = (Arc::clone(&name.value), Arc::clone(file), object.clone());
        let (applied, fits, is_sure) = (false, true, true);
        let (conflicts, annotation) = (Vec::new(), String::new());
        let matched = MatchingPreset { name, file, object, applied, fits, is_sure, conflicts, annotation };
        let mut admission = Self { presets: vec![matched], ..Self::default() };
        let pod = Pod { containers: vec![Arc::default()], ..Pod::default() };
        let nobody = Object { offset: 0, model: Arc::default(), parameters: None };
        PresetMerge::new(&mut admission, scope, &nobody, &pod).run();
        admission.presets.pop().map(|it| it.conflicts).unwrap_or_default()
    }

    fn choose(&mut self, by: PresetAdmitter, listed: Vec<(MatchingPreset, SelectorMatch)>) {
        let names: Vec<Arc<str>> = listed.iter().map(|(it, _)| Arc::clone(&it.name)).collect();
        let is_sure = |at: usize| names.iter().filter(|it| **it == names[at]).count() == 1;
        let any_fits = listed.iter().enumerate().any(|(at, (_, fit))| *fit == SelectorMatch::Yes && is_sure(at));
        let last = listed.len().saturating_sub(1);
        for (at, (matched, fit)) in listed.into_iter().enumerate() {
            match (fit, is_sure(at)) {
                (SelectorMatch::Yes, true) => self.presets.push(matched),
                // A22: as soon as one fits, the last one is what is applied.
                (_, true) if by == PresetAdmitter::Webhook && any_fits && at == last => self.presets.push(matched),
                (SelectorMatch::No, _) => {}
                _ => self.possible.push(PossiblePreset { name: matched.name, object: matched.object }),
            }
        }
    }

    /// What becomes of a container of the pod.
    pub fn effect(&self, pod: &Pod, container: &Container) -> Option<&ContainerChanges> {
        self.containers.get(pod.containers.iter().position(|it| it.path == container.path)?)
    }

    /// An entry that a preset brings, with the preset.
    pub fn env(&self, brought: PresetEntry) -> Option<(&MatchingPreset, &EnvVar)> {
        let matched = self.presets.get(brought.preset)?;
        Some((matched, matched.container()?.env.get(brought.entry)?))
    }

    /// A source that a preset brings, with the preset.
    pub fn env_from(&self, brought: PresetEntry) -> Option<(&MatchingPreset, &EnvFrom)> {
        let matched = self.presets.get(brought.preset)?;
        Some((matched, matched.container()?.env_from.get(brought.entry)?))
    }

    /// A mount that a preset brings, with the preset.
    pub fn mount(&self, brought: PresetEntry) -> Option<(&MatchingPreset, &Mount)> {
        let matched = self.presets.get(brought.preset)?;
        Some((matched, matched.container()?.mounts.get(brought.entry)?))
    }

    /// A volume that a preset brings, with the preset.
    pub fn volume(&self, brought: PresetEntry) -> Option<(&MatchingPreset, &Volume)> {
        let matched = self.presets.get(brought.preset)?;
        Some((matched, matched.preset()?.pod.volumes.get(brought.entry)?))
    }

    /// Whether a preset changes the pod. Up to 1.7 one that is not applied may have left a part of itself.
    pub fn changes_something(&self) -> bool {
        let is_changed = |it: &ContainerChanges| !it.env.is_empty() || !it.env_from.is_empty() || !it.mounts.is_empty();
        self.presets.iter().any(|it| it.applied) || self.containers.iter().any(is_changed)
    }

    /// Whether a preset brings an explicit link to a service.
    pub fn links_explicitly(&self) -> bool {
        let all = self.containers.iter().flat_map(|it| &it.env_from);
        all.filter_map(|it| self.env_from(*it)).any(|(_, it)| matches!(it.source, Some(EnvFromSource::Service { .. })))
    }
}

/// Whether presets are applied one after the other (A4), as 1.6 and 1.7 do. By the proposal it is all or nothing (PA8).
pub fn presets_apply_one_by_one(release: KubernetesVersion, proposals: bool) -> bool {
    !release.is_at_least(8) && !proposals
}

/// By what a mount is known (A7).
const MOUNTS: [ConflictKind; 2] = [ConflictKind::MountName, ConflictKind::MountPath];

/// An entry of a list while it is merged: the pod's own, or one that a preset brought.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MergedEntry {
    Own(usize),
    Brought(PresetEntry),
}

/// What is compared of an entry: its key, whether it equals another, and where its key stands.
struct ComparedEntry {
    key: Option<Arc<str>>,
    /// Equal for equal entries.
    content: (Option<Arc<str>>, Option<crate::k8s::ContentHash>),
    place: Location,
}

/// Merges presets into a pod.
struct PresetMerge<'a, 's> {
    admission: &'a mut Admission,
    scope: &'a LookupScope<'s>,
    object: &'a Object,
    pod: &'a Pod,
    volumes: Vec<MergedEntry>,
    containers: Vec<MergedLists>,
}

#[derive(Clone, Default)]
struct MergedLists {
    env: Vec<MergedEntry>,
    env_from: Vec<MergedEntry>,
    mounts: Vec<MergedEntry>,
}

impl<'a, 's> PresetMerge<'a, 's> {
    fn new(admission: &'a mut Admission, scope: &'a LookupScope<'s>, object: &'a Object, pod: &'a Pod) -> Self {
        let own = |count: usize| (0..count).map(MergedEntry::Own).collect();
        let lists = |it: &Arc<Container>| MergedLists {
            env: own(it.env.len()),
            env_from: own(it.env_from.len()),
            mounts: own(it.mounts.len()),
        };
        let (volumes, containers) = (own(pod.volumes.len()), pod.containers.iter().map(lists).collect());
        Self { admission, scope, object, pod, volumes, containers }
    }

    fn run(mut self) {
        let of = |by: PresetAdmitter, admission: &Admission| -> Vec<usize> {
            let all = admission.presets.iter().enumerate();
            all.filter(|(_, it)| it.preset().is_some_and(|it| it.admission == by)).map(|(at, _)| at).collect()
        };
        let plugin = of(PresetAdmitter::ApiServer, self.admission);
        self.by_api_server(&plugin);
        let webhook = of(PresetAdmitter::Webhook, self.admission);
        // A22: the last one is applied in the place of each that fits.
        if let Some(last) = webhook.last() {
            self.by_webhook(*last);
        }
        self.finish();
    }

    /// Whether a container is looked at and gets anything. A9: init containers since 1.14, ephemeral ones never.
    fn is_reached(&self, container: &Container) -> bool {
        match container.role {
            ContainerRole::Ephemeral | ContainerRole::Hook => false,
            ContainerRole::Container => true,
            ContainerRole::Init | ContainerRole::Sidecar => self.scope.release().is_at_least(14),
        }
    }

    /// The containers that the API server's plugin reaches.
    fn reached(&self) -> Vec<usize> {
        let all = self.pod.containers.iter().enumerate();
        all.filter(|(_, it)| self.is_reached(it)).map(|(at, _)| at).collect()
    }

    /// A4: everything or nothing.
    fn by_api_server(&mut self, presets: &[usize]) {
        if presets_apply_one_by_one(self.scope.release(), self.scope.settings().proposals) {
            return self.one_by_one(presets);
        }
        let mut conflicts = Vec::new();
        let volumes = self.merged(&self.volumes, presets, &[ConflictKind::Volume], None, &mut conflicts);
        let mut containers = self.containers.clone();
        let reached = self.reached();
        for at in reached.iter().copied() {
            let own = &self.containers[at];
            let env = self.merged(&own.env, presets, &[ConflictKind::Env], Some(at), &mut conflicts);
            let mounts = self.merged(&own.mounts, presets, &MOUNTS, Some(at), &mut conflicts);
            if self.scope.settings().proposals {
                self.keys_in_conflict(at, presets, &mut conflicts);
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
            self.sources(at, presets);
        }
        for at in presets {
            self.admission.presets[*at].applied = true;
        }
    }

    /// A4, up to 1.7: one preset after the other and list after list, until the first conflict.
    fn one_by_one(&mut self, presets: &[usize]) {
        for (at, preset) in presets.iter().copied().enumerate() {
            if !self.one(preset) {
                // A3: in another order those behind it would have come first.
                let open = if presets.len() > 1 { &presets[at..] } else { &[] };
                for matched in open.iter().map(|it| &self.admission.presets[*it]) {
                    let (name, object) = (Arc::clone(&matched.name), matched.object.clone());
                    self.admission.possible.push(PossiblePreset { name, object });
                }
                return;
            }
            self.admission.presets[preset].applied = true;
        }
    }

    /// Merges one preset as far as it goes; whether that is all of it.
    fn one(&mut self, preset: usize) -> bool {
        let (one, reached) = ([preset], self.reached());
        for at in reached.iter().copied() {
            let mut found = Vec::new();
            let env = self.merged(&self.containers[at].env, &one, &[ConflictKind::Env], Some(at), &mut found);
            if self.is_stopped(preset, found) {
                return false;
            }
            self.containers[at].env = env;
        }
        for at in reached.iter().copied() {
            self.sources(at, &one);
        }
        for at in reached {
            let mut found = Vec::new();
            let mounts = self.merged(&self.containers[at].mounts, &one, &MOUNTS, Some(at), &mut found);
            if self.is_stopped(preset, found) {
                return false;
            }
            self.containers[at].mounts = mounts;
        }
        let mut found = Vec::new();
        let volumes = self.merged(&self.volumes, &one, &[ConflictKind::Volume], None, &mut found);
        if self.is_stopped(preset, found) {
            return false;
        }
        self.volumes = volumes;
        true
    }

    /// Notes the conflicts of one preset. The other side of a conflict is applied already.
    fn is_stopped(&mut self, preset: usize, found: Vec<(usize, Conflict)>) -> bool {
        let found: Vec<_> = found.into_iter().filter(|(it, _)| *it == preset).collect();
        let is_stopped = !found.is_empty();
        self.record(found);
        is_stopped
    }

    /// A20 and A21: what is in conflict is lost, and the rest is applied.
    fn by_webhook(&mut self, preset: usize) {
        let presets = [preset];
        let mut conflicts = Vec::new();
        let volumes = self.merged(&self.volumes, &presets, &[ConflictKind::Volume], None, &mut conflicts);
        self.volumes = if conflicts.is_empty() { volumes } else { Vec::new() };
        self.record(conflicts);
        for (at, container) in self.pod.containers.iter().enumerate() {
            if matches!(container.role, ContainerRole::Ephemeral | ContainerRole::Hook) {
                continue;
            }
            let mut lost = Vec::new();
            let env = self.merged(&self.containers[at].env, &presets, &[ConflictKind::Env], Some(at), &mut lost);
            self.containers[at].env = if lost.is_empty() { env } else { Vec::new() };
            self.record(lost);
            let mut lost = Vec::new();
            let mounts = self.merged(&self.containers[at].mounts, &presets, &MOUNTS, Some(at), &mut lost);
            self.containers[at].mounts = if lost.is_empty() { mounts } else { Vec::new() };
            self.record(lost);
            self.sources(at, &presets);
        }
        self.admission.presets[preset].applied = true;
    }

    /// A5 to A7: entries are added where their key is new, and have to be equal where it is not.
    fn merged(
        &self,
        own: &[MergedEntry],
        presets: &[usize],
        kinds: &[ConflictKind],
        container: Option<usize>,
        conflicts: &mut Vec<(usize, Conflict)>,
    ) -> Vec<MergedEntry> {
        let mut result = own.to_vec();
        // By kind and key; the last of equal keys counts.
        let mut known: Vec<HashMap<Arc<str>, MergedEntry>> = Vec::new();
        for kind in kinds {
            let keyed = |slot: &MergedEntry| Some((self.compared_entry(*kind, container, *slot)?.key?, *slot));
            known.push(own.iter().filter_map(keyed).collect());
        }
        for preset in presets.iter().copied() {
            for entry in 0..self.count(kinds[0], preset) {
                let slot = MergedEntry::Brought(PresetEntry { preset, entry });
                let mut is_new = true;
                for (kind, known) in kinds.iter().zip(&mut known) {
                    let Some(compared) = self.compared_entry(*kind, container, slot) else { continue };
                    let Some(key) = compared.key.clone() else { continue };
                    let Some(before) = known.get(&key) else {
                        known.insert(key, slot);
                        continue;
                    };
                    // Whether it is added is decided by the first key alone.
                    is_new &= *kind != kinds[0];
                    let Some(other) = self.compared_entry(*kind, container, *before) else { continue };
                    if other.content != compared.content {
                        let conflict = |entry: &ComparedEntry, with: &ComparedEntry, other| Conflict {
                            kind: *kind,
                            name: Arc::clone(&key),
                            container,
                            entry: entry.place.clone(),
                            with: with.place.clone(),
                            other,
                        };
                        let with = match before {
                            MergedEntry::Own(_) => None,
                            MergedEntry::Brought(it) => Some(it.preset),
                        };
                        conflicts.push((preset, conflict(&compared, &other, with)));
                        if let Some(with) = with.filter(|it| *it != preset) {
                            conflicts.push((with, conflict(&other, &compared, Some(preset))));
                        }
                    }
                }
                if is_new {
                    result.push(slot);
                }
            }
        }
        result
    }

    /// A8: a source that the container has is not added again; one that differs empties the list.
    fn sources(&mut self, at: usize, presets: &[usize]) {
        let mut result = self.containers[at].env_from.clone();
        let mut lost = Vec::new();
        let keyed =
            |slot: &MergedEntry| Some((self.compared_entry(ConflictKind::EnvFrom, Some(at), *slot)?.key?, *slot));
        let own: HashMap<Arc<str>, MergedEntry> = self.containers[at].env_from.iter().filter_map(keyed).collect();
        for preset in presets.iter().copied() {
            for entry in 0..self.count(ConflictKind::EnvFrom, preset) {
                let slot = MergedEntry::Brought(PresetEntry { preset, entry });
                let Some(compared) = self.compared_entry(ConflictKind::EnvFrom, Some(at), slot) else { continue };
                let before = compared.key.as_ref().and_then(|it| own.get(it));
                // Before 1.15 nothing was compared.
                let compares = self.scope.release().is_at_least(15);
                match before.and_then(|it| Some((it, self.compared_entry(ConflictKind::EnvFrom, Some(at), *it)?))) {
                    Some((_, other)) if compares && other.content == compared.content => {}
                    Some((before, other)) if compares => {
                        let with = match before {
                            MergedEntry::Own(_) => None,
                            MergedEntry::Brought(it) => Some(it.preset),
                        };
                        let kind = ConflictKind::EnvFrom;
                        let name = source_name(&self.admission.presets[preset], entry);
                        let (entry, container) = (compared.place, Some(at));
                        lost.push((preset, Conflict { kind, name, container, entry, with: other.place, other: with }));
                    }
                    _ => result.push(slot),
                }
            }
        }
        // A list is lost only where it surely is: whoever counts on it would be told so.
        let is_sure = presets.iter().all(|it| self.admission.presets[*it].is_sure);
        match (lost.is_empty(), is_sure) {
            (true, _) => self.containers[at].env_from = result,
            (false, true) => self.containers[at].env_from.clear(),
            (false, false) => {}
        }
        self.record(lost);
    }

    /// PA9: a variable of the container that is also a key of a source the preset brings, or the other way round.
    fn keys_in_conflict(&self, at: usize, presets: &[usize], conflicts: &mut Vec<(usize, Conflict)>) {
        let container = &self.pod.containers[at];
        let nothing = ServiceVariables::default();
        let own: Vec<EnvFromEntry<'_>> = container
            .env_from
            .iter()
            .map(|entry| EnvFromEntry { entry, location: self.scope.location(self.object, entry.span), preset: None })
            .collect();
        let own = env_sources::env_from(self.scope, &own, &nothing).bindings;
        for preset in presets.iter().copied() {
            let matched = &self.admission.presets[preset];
            let Some(given) = matched.container() else { continue };
            let kind = ConflictKind::EnvFrom;
            for name in given.env.iter().filter_map(|it| it.name.as_ref()) {
                if let Some(with) = own.get(&name.value).and_then(|it| it.entry.clone()) {
                    let entry = matched.location(name.span);
                    let name = Arc::clone(&name.value);
                    conflicts.push((preset, Conflict { kind, name, container: Some(at), entry, with, other: None }));
                }
            }
            for source in &given.env_from {
                let place = matched.location(source.span);
                let entry = EnvFromEntry { entry: source, location: place.clone(), preset: None };
                let keys = env_sources::env_from(self.scope, &[entry], &nothing).bindings;
                for name in container.env.iter().filter_map(|it| it.name.as_ref()) {
                    if keys.contains_key(&name.value) {
                        let with = self.scope.location(self.object, name.span);
                        let (name, entry) = (Arc::clone(&name.value), place.clone());
                        let container = Some(at);
                        conflicts.push((preset, Conflict { kind, name, container, entry, with, other: None }));
                    }
                }
            }
        }
    }

    fn record(&mut self, conflicts: Vec<(usize, Conflict)>) {
        for (preset, conflict) in conflicts {
            self.admission.presets[preset].conflicts.push(conflict);
        }
    }

    /// How many entries of a kind a preset has.
    fn count(&self, kind: ConflictKind, preset: usize) -> usize {
        let matched = &self.admission.presets[preset];
        let of = |list: fn(&Container) -> usize| matched.container().map_or(0, list);
        match kind {
            ConflictKind::Env => of(|it| it.env.len()),
            ConflictKind::EnvFrom => of(|it| it.env_from.len()),
            ConflictKind::MountName | ConflictKind::MountPath => of(|it| it.mounts.len()),
            ConflictKind::Volume => matched.preset().map_or(0, |it| it.pod.volumes.len()),
        }
    }

    /// An entry as it is compared.
    fn compared_entry(&self, kind: ConflictKind, container: Option<usize>, slot: MergedEntry) -> Option<ComparedEntry> {
        match slot {
            MergedEntry::Own(at) => {
                let given = container.and_then(|it| self.pod.containers.get(it)).map(|it| &**it);
                let place = |span: Span| self.scope.location(self.object, span);
                compared_entry(kind, given, &self.pod.volumes, at, None, &place)
            }
            MergedEntry::Brought(PresetEntry { preset, entry }) => {
                let matched = self.admission.presets.get(preset)?;
                let preset = matched.preset()?;
                let place = |span: Span| matched.location(span);
                // A23.
                let written = (preset.admission == PresetAdmitter::Webhook).then_some(&preset.written);
                compared_entry(kind, matched.container(), &preset.pod.volumes, entry, written, &place)
            }
        }
    }

    fn finish(self) {
        let brought = |slots: &[MergedEntry]| -> Vec<PresetEntry> {
            let brought = slots.iter().filter_map(|it| match it {
                MergedEntry::Brought(it) => Some(*it),
                MergedEntry::Own(_) => None,
            });
            brought.collect()
        };
        let keeps = |slots: &[MergedEntry], own: usize| {
            slots.iter().filter(|it| matches!(it, MergedEntry::Own(_))).count() == own
        };
        let effect = |(lists, it): (&MergedLists, &Arc<Container>)| ContainerChanges {
            env: brought(&lists.env),
            env_from: brought(&lists.env_from),
            mounts: brought(&lists.mounts),
            keeps_env: keeps(&lists.env, it.env.len()),
            keeps_env_from: keeps(&lists.env_from, it.env_from.len()),
            keeps_mounts: keeps(&lists.mounts, it.mounts.len()),
        };
        self.admission.containers = self.containers.iter().zip(&self.pod.containers).map(effect).collect();
        self.admission.volumes = brought(&self.volumes);
        self.admission.keeps_volumes = keeps(&self.volumes, self.pod.volumes.len());
    }
}

/// An entry of a list: of a container, or of volumes. `written` has the shapes of a custom resource.
fn compared_entry(
    kind: ConflictKind,
    container: Option<&Container>,
    volumes: &[Volume],
    at: usize,
    written: Option<&crate::k8s::WrittenHashes>,
    place: &dyn Fn(Span) -> Location,
) -> Option<ComparedEntry> {
    let keyed = |key: &Option<Text>, span: Span, content| {
        let place = place(key.as_ref().map_or(span, |it| it.span));
        Some(ComparedEntry { key: key.as_ref().map(|it| Arc::clone(&it.value)), content, place })
    };
    match kind {
        ConflictKind::Env => {
            let it = container?.env.get(at)?;
            let value = it.value.as_ref().map(|it| Arc::clone(&it.value)).filter(|it| !it.is_empty());
            let shape = match written {
                Some(written) => written.env.get(at).copied().flatten(),
                None => it.from.as_ref().map(|it| it.content_hash),
            };
            keyed(&it.name, it.span, (value, shape))
        }
        ConflictKind::MountName | ConflictKind::MountPath => {
            let it = container?.mounts.get(at)?;
            let shape = written.and_then(|written| written.mounts.get(at).copied()).unwrap_or(it.content_hash);
            let key = if kind == ConflictKind::MountName { &it.name } else { &it.mount_path };
            keyed(key, it.span, (None, Some(shape)))
        }
        ConflictKind::Volume => {
            let it = volumes.get(at)?;
            let shape = written.and_then(|written| written.volumes.get(at).copied()).unwrap_or(it.content_hash);
            keyed(&it.name, it.span, (None, Some(shape)))
        }
        ConflictKind::EnvFrom => {
            let it = container?.env_from.get(at)?;
            let shape = written.and_then(|written| written.env_from.get(at).copied()).unwrap_or(it.content_hash);
            let key = source_key(it);
            let name = source(it).and_then(|(_, name)| name);
            let place = place(name.map_or(it.span, |it| it.span));
            Some(ComparedEntry { key: Some(key), content: (None, Some(shape)), place })
        }
    }
}

/// A8: a source is known by its prefix and the names of its objects.
fn source_key(entry: &EnvFrom) -> Arc<str> {
    let prefix = entry.prefix.as_ref().map_or("", |it| &it.value);
    let (kind, name) = source(entry).map_or(("", ""), |(kind, name)| (kind, name.map_or("", |it| &it.value)));
    format!("{prefix}\n{kind}\n{name}").into()
}

fn source(entry: &EnvFrom) -> Option<(&'static str, Option<&Text>)> {
    Some(match entry.source.as_ref()? {
        EnvFromSource::ConfigMap { name, .. } => ("configMap", name.as_ref()),
        EnvFromSource::Secret { name, .. } => ("secret", name.as_ref()),
        EnvFromSource::Service { name, .. } => ("service", name.as_ref()),
    })
}

fn source_name(matched: &MatchingPreset, entry: usize) -> Arc<str> {
    let entry = matched.container().and_then(|it| it.env_from.get(entry));
    let name = entry.and_then(|it| source(it)?.1);
    name.map_or_else(|| "".into(), |it| Arc::clone(&it.value))
}
