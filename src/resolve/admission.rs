//! Applies PodPresets to a pod, as admission does before the kubelet sees it (A1 to A14, A20 to A23).
//!
//! The plugin of the API server checks all matching presets for conflicts, and applies none of them if there is one. Up
//! to release 1.7 it applied them one by one and stopped at the first conflict. The webhook applies presets in spite of
//! conflicts; a list with a conflict becomes empty. Presets are sorted by name: the order in a cluster is undefined
//! (A3), and only affects the order of added entries.

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

/// The result of admission for a pod.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// The presets that apply, sorted by name: first those of the API server, then those of the webhook.
    pub presets: Vec<MatchingPreset>,
    /// Presets that may apply: a label, the order of presets, or which of several presets with one name exists is
    /// unknown.
    pub possible: Vec<PossiblePreset>,
    /// The changes of each container, in the order of the pod.
    pub containers: Vec<ContainerChanges>,
    /// The added volumes.
    pub volumes: Vec<PresetEntry>,
    /// Whether the pod's own volumes are kept (A21).
    pub keeps_volumes: bool,
}

/// A preset that applies to a pod.
#[derive(Clone, Debug)]
pub struct MatchingPreset {
    /// `metadata.name`.
    pub name: Arc<str>,
    /// The file that declares it.
    pub file: Arc<str>,
    /// The PodPreset object.
    pub object: Object,
    /// Whether it is applied: a conflict can prevent that.
    pub applied: bool,
    /// Whether its selector matches. A22: the webhook may apply a preset whose selector does not.
    pub selector_matches: bool,
    /// Whether it is certainly in the pod's namespace: both have the same one, or both files are in one directory and
    /// at least one object has none.
    pub is_certain: bool,
    /// Its conflicts with the pod or another preset.
    pub conflicts: Vec<Conflict>,
    /// The annotation that it adds to the pods it is applied to (A10).
    pub annotation: String,
}

impl MatchingPreset {
    /// The contents of the preset.
    pub fn preset(&self) -> Option<&PodPreset> {
        match &self.object.model.data {
            ObjectData::Preset(preset) => Some(preset),
            _ => None,
        }
    }

    /// Its entries for containers, in the form of a container.
    pub fn container(&self) -> Option<&Container> {
        self.preset()?.container()
    }

    /// The location of a span of the object.
    pub fn location(&self, span: Span) -> Location {
        Location { file: Arc::clone(&self.file), span: self.object.file_span(span) }
    }
}

/// A preset that may apply to a pod.
#[derive(Clone, Debug)]
pub struct PossiblePreset {
    /// `metadata.name`.
    pub name: Arc<str>,
    /// The PodPreset object.
    pub object: Object,
}

impl PossiblePreset {
    /// The contents of the preset.
    pub fn preset(&self) -> Option<&PodPreset> {
        match &self.object.model.data {
            ObjectData::Preset(preset) => Some(preset),
            _ => None,
        }
    }
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

impl Admission {
    /// Applies presets to a pod; `None` if no preset applies or may apply to it.
    pub(super) fn for_pod(scope: &LookupScope<'_>, object: &Object, pod: &Pod) -> Option<Self> {
        // The pod of a preset object only holds its entries.
        if matches!(object.model.data, ObjectData::Preset(_)) {
            return None;
        }
        let found = scope.presets();
        let proposals = scope.settings().proposals;
        // A4: 1.6 ignored both annotations.
        if found.is_empty()
            || ((scope.release().is_at_least(7) || proposals) && preset_selector::is_exempt_from_presets(pod))
        {
            return None;
        }
        let labels = PodLabels::new(pod, scope.is_template() || scope.is_patch());
        // A4: 1.6 had no prefix before the name.
        let infix = if scope.release().is_at_least(7) || proposals { "podpreset-" } else { "" };
        let mut admission = Self { keeps_volumes: true, ..Self::default() };
        // The webhook sees pods after the API server's plugin has changed them.
        for by in [PresetAdmitter::ApiServer, PresetAdmitter::Webhook] {
            let mut listed: Vec<(MatchingPreset, SelectorMatch)> = Vec::new();
            for found in &found {
                let ObjectData::Preset(preset) = &found.object.model.data else { continue };
                let Some(name) = &found.object.model.name else { continue };
                // An invalid preset is refused, so it does not exist in a cluster.
                if preset.admission != by || !preset_selector::preset_problems(preset, proposals).is_empty() {
                    continue;
                }
                let mut selected = preset_selector::match_pod(preset, &labels);
                // The webhook's presets only cause findings. If the namespace is uncertain, the preset only may apply.
                if by == PresetAdmitter::Webhook && !scope.is_in_same_namespace(found, &object.model) {
                    selected = selected.min(SelectorMatch::Maybe);
                }
                let matched = MatchingPreset {
                    name: Arc::clone(&name.value),
                    file: Arc::clone(found.file),
                    object: found.object.clone(),
                    applied: false,
                    selector_matches: selected == SelectorMatch::Yes,
                    is_certain: scope.is_in_same_namespace(found, &object.model),
                    conflicts: Vec::new(),
                    annotation: format!("podpreset.admission.kubernetes.io/{infix}{}", name.value),
                };
                listed.push((matched, selected));
            }
            admission.select_presets(by, listed);
        }
        if admission.presets.is_empty() && admission.possible.is_empty() {
            return None;
        }
        scope.depend_on_admission(&admission);
        PresetMerge::new(&mut admission, scope, object, pod).run();
        Some(admission)
    }

    /// The conflicts between entries of one preset, for any pod (A7).
    pub(super) fn own_conflicts(scope: &LookupScope<'_>, file: &Arc<str>, object: &Object) -> Vec<Conflict> {
        let Some(name) = &object.model.name else { return Vec::new() };
        let (name, file, object) = (Arc::clone(&name.value), Arc::clone(file), object.clone());
        let (applied, selector_matches, is_certain) = (false, true, true);
        let (conflicts, annotation) = (Vec::new(), String::new());
        let matched =
            MatchingPreset { name, file, object, applied, selector_matches, is_certain, conflicts, annotation };
        let mut admission = Self { presets: vec![matched], ..Self::default() };
        let pod = Pod { containers: vec![Arc::default()], ..Pod::default() };
        let no_object = Object { offset: 0, model: Arc::default(), parameters: None };
        PresetMerge::new(&mut admission, scope, &no_object, &pod).run();
        admission.presets.pop().map(|it| it.conflicts).unwrap_or_default()
    }

    fn select_presets(&mut self, by: PresetAdmitter, listed: Vec<(MatchingPreset, SelectorMatch)>) {
        let names: Vec<Arc<str>> = listed.iter().map(|(it, _)| Arc::clone(&it.name)).collect();
        let is_unique = |at: usize| names.iter().filter(|it| **it == names[at]).count() == 1;
        let any_matches =
            listed.iter().enumerate().any(|(at, (_, selected))| *selected == SelectorMatch::Yes && is_unique(at));
        let last = listed.len().saturating_sub(1);
        for (at, (matched, selected)) in listed.into_iter().enumerate() {
            match (selected, is_unique(at)) {
                (SelectorMatch::Yes, true) => self.presets.push(matched),
                // A22: as soon as one matches, the last one is applied.
                (_, true) if by == PresetAdmitter::Webhook && any_matches && at == last => self.presets.push(matched),
                (SelectorMatch::No, _) => {}
                _ => self.possible.push(PossiblePreset { name: matched.name, object: matched.object }),
            }
        }
    }

    /// The changes of a container of the pod.
    pub fn container_changes(&self, pod: &Pod, container: &Container) -> Option<&ContainerChanges> {
        self.containers.get(pod.containers.iter().position(|it| it.path == container.path)?)
    }

    /// An added entry of `env`, with its preset.
    pub fn env(&self, added: PresetEntry) -> Option<(&MatchingPreset, &EnvVar)> {
        let matched = self.presets.get(added.preset)?;
        Some((matched, matched.container()?.env.get(added.entry)?))
    }

    /// An added entry of `envFrom`, with its preset.
    pub fn env_from(&self, added: PresetEntry) -> Option<(&MatchingPreset, &EnvFrom)> {
        let matched = self.presets.get(added.preset)?;
        Some((matched, matched.container()?.env_from.get(added.entry)?))
    }

    /// An added mount, with its preset.
    pub fn mount(&self, added: PresetEntry) -> Option<(&MatchingPreset, &Mount)> {
        let matched = self.presets.get(added.preset)?;
        Some((matched, matched.container()?.mounts.get(added.entry)?))
    }

    /// An added volume, with its preset.
    pub fn volume(&self, added: PresetEntry) -> Option<(&MatchingPreset, &Volume)> {
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

/// The properties of an entry that the merge compares, and the location of its key.
struct ComparedEntry {
    key: Option<Arc<str>>,
    /// Equal for equal entries.
    content: (Option<Arc<str>>, Option<crate::k8s::ContentHash>),
    location: Location,
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
        let presets_of = |by: PresetAdmitter, admission: &Admission| -> Vec<usize> {
            let all = admission.presets.iter().enumerate();
            all.filter(|(_, it)| it.preset().is_some_and(|it| it.admission == by)).map(|(at, _)| at).collect()
        };
        let plugin = presets_of(PresetAdmitter::ApiServer, self.admission);
        self.apply_by_api_server(&plugin);
        let webhook = presets_of(PresetAdmitter::Webhook, self.admission);
        // A22: the last preset is applied instead of each that matches.
        if let Some(last) = webhook.last() {
            self.apply_by_webhook(*last);
        }
        self.finish();
    }

    /// Whether the API server's plugin changes a container. A9: init containers since 1.14, ephemeral containers never.
    fn is_changed_by_plugin(&self, container: &Container) -> bool {
        match container.role {
            ContainerRole::Ephemeral | ContainerRole::Hook => false,
            ContainerRole::Container => true,
            ContainerRole::Init | ContainerRole::Sidecar => self.scope.release().is_at_least(14),
        }
    }

    /// The indexes of the containers that the API server's plugin changes.
    fn containers_changed_by_plugin(&self) -> Vec<usize> {
        let all = self.pod.containers.iter().enumerate();
        all.filter(|(_, it)| self.is_changed_by_plugin(it)).map(|(at, _)| at).collect()
    }

    /// A4: applies all presets, or none if there is a conflict.
    fn apply_by_api_server(&mut self, presets: &[usize]) {
        if presets_apply_one_by_one(self.scope.release(), self.scope.settings().proposals) {
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
            if self.scope.settings().proposals {
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
                for matched in open.iter().map(|it| &self.admission.presets[*it]) {
                    let (name, object) = (Arc::clone(&matched.name), matched.object.clone());
                    self.admission.possible.push(PossiblePreset { name, object });
                }
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
                    if other.content != compared.content {
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
                // Before 1.15 nothing is compared.
                let compares = self.scope.release().is_at_least(15);
                match before.and_then(|it| Some((it, self.compared_entry(ConflictKind::EnvFrom, Some(at), *it)?))) {
                    Some((_, other)) if compares && other.content == compared.content => {}
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
        let no_services = ServiceVariables::default();
        let own: Vec<EnvFromEntry<'_>> = container
            .env_from
            .iter()
            .map(|entry| EnvFromEntry { entry, location: self.scope.location(self.object, entry.span), preset: None })
            .collect();
        let own = env_sources::env_from(self.scope, &own, &no_services).bindings;
        for preset in presets.iter().copied() {
            let matched = &self.admission.presets[preset];
            let Some(added) = matched.container() else { continue };
            let kind = ConflictKind::EnvFrom;
            for name in added.env.iter().filter_map(|it| it.name.as_ref()) {
                if let Some(with) = own.get(&name.value).and_then(|it| it.entry.clone()) {
                    let entry = matched.location(name.span);
                    let name = Arc::clone(&name.value);
                    conflicts.push((preset, Conflict { kind, name, container: Some(at), entry, with, other: None }));
                }
            }
            for source in &added.env_from {
                let location = matched.location(source.span);
                let entry = EnvFromEntry { entry: source, location: location.clone(), preset: None };
                let keys = env_sources::env_from(self.scope, &[entry], &no_services).bindings;
                for name in container.env.iter().filter_map(|it| it.name.as_ref()) {
                    if keys.contains_key(&name.value) {
                        let with = self.scope.location(self.object, name.span);
                        let (name, entry) = (Arc::clone(&name.value), location.clone());
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
                let locate = |span: Span| self.scope.location(self.object, span);
                compared_entry(kind, own, &self.pod.volumes, at, None, &locate)
            }
            MergedEntry::Preset(PresetEntry { preset, entry }) => {
                let matched = self.admission.presets.get(preset)?;
                let preset = matched.preset()?;
                let locate = |span: Span| matched.location(span);
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

/// The compared properties of an entry of a container or of the volumes. `written` has the hashes of a custom resource.
fn compared_entry(
    kind: ConflictKind,
    container: Option<&Container>,
    volumes: &[Volume],
    at: usize,
    written: Option<&crate::k8s::WrittenHashes>,
    locate: &dyn Fn(Span) -> Location,
) -> Option<ComparedEntry> {
    let keyed = |key: &Option<Text>, span: Span, content| {
        let location = locate(key.as_ref().map_or(span, |it| it.span));
        Some(ComparedEntry { key: key.as_ref().map(|it| Arc::clone(&it.value)), content, location })
    };
    match kind {
        ConflictKind::Env => {
            let it = container?.env.get(at)?;
            let value = it.value.as_ref().map(|it| Arc::clone(&it.value)).filter(|it| !it.is_empty());
            let hash = match written {
                Some(written) => written.env.get(at).copied().flatten(),
                None => it.from.as_ref().map(|it| it.content_hash),
            };
            keyed(&it.name, it.span, (value, hash))
        }
        ConflictKind::MountName | ConflictKind::MountPath => {
            let it = container?.mounts.get(at)?;
            let hash = written.and_then(|written| written.mounts.get(at).copied()).unwrap_or(it.content_hash);
            let key = if kind == ConflictKind::MountName { &it.name } else { &it.mount_path };
            keyed(key, it.span, (None, Some(hash)))
        }
        ConflictKind::Volume => {
            let it = volumes.get(at)?;
            let hash = written.and_then(|written| written.volumes.get(at).copied()).unwrap_or(it.content_hash);
            keyed(&it.name, it.span, (None, Some(hash)))
        }
        ConflictKind::EnvFrom => {
            let it = container?.env_from.get(at)?;
            let hash = written.and_then(|written| written.env_from.get(at).copied()).unwrap_or(it.content_hash);
            let key = source_key(it);
            let name = source(it).and_then(|(_, name)| name);
            let location = locate(name.map_or(it.span, |it| it.span));
            Some(ComparedEntry { key: Some(key), content: (None, Some(hash)), location })
        }
    }
}

/// A8: a source is identified by its prefix, kind and name.
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
