//! Where PodPresets and workloads meet: whom a preset is for, what its entries become there, and the other way round.
//!
//! Whether a preset is applied is decided by `resolve`; here it is looked at from both sides.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::describe::{location_link, workload_title};
use crate::ide::shared::located_container::{LocatedContainer, preset_of};
use crate::ide::shared::markup::Inline;
use crate::ide::shared::named_objects::name_location;
use crate::k8s::{EnvVar, Object, Pod};
use crate::resolve::{
    Binding, Conflict, ConflictKind, Environment, MatchingPreset, SelectorMatch, is_exempt_from_presets,
    preset_problems,
};

/// A workload that a preset selects.
#[derive(Clone, Debug)]
pub(crate) struct SelectedWorkload<'s> {
    /// The file.
    pub(crate) file: Arc<str>,
    /// The object.
    pub(crate) object: &'s Object,
    /// The pod.
    pub(crate) pod: &'s Pod,
    /// What comes of it.
    pub(crate) outcome: PresetOutcome,
}

/// What comes of a preset that selects a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PresetOutcome {
    /// It is applied, and takes lists away where it has conflicts (A8, A21).
    Applied(Vec<Conflict>),
    /// It is in conflict, and not applied.
    Conflicting(Vec<Conflict>),
    /// Another preset for the pod is in conflict, so none is applied.
    Blocked,
    /// An annotation of the pod keeps presets away.
    Exempt,
    /// It cannot be told: a label is not known, or several presets have this name.
    Unknown,
}

impl PresetOutcome {
    /// Of a preset that is for a pod.
    pub(crate) fn of(matched: &MatchingPreset) -> Self {
        match (matched.applied, matched.conflicts.is_empty()) {
            (true, _) => Self::Applied(matched.conflicts.clone()),
            (false, false) => Self::Conflicting(matched.conflicts.clone()),
            (false, true) => Self::Blocked,
        }
    }

    /// Whether the preset reaches the pod.
    pub(crate) fn is_applied(&self) -> bool {
        matches!(self, Self::Applied(_))
    }

    /// In words: `applied`, `not applied: variable DB differs, web.yaml:3`.
    pub(crate) fn describe(&self, analysis: &Analysis<'_>, from: &str) -> Vec<Inline> {
        let text = |text: &str| vec![Inline::Text(text.into())];
        match self {
            Self::Applied(lost) if lost.is_empty() => text("applied"),
            Self::Applied(lost) => and_conflicts(analysis, from, "applied, and a list is lost: ", lost),
            Self::Conflicting(all) => and_conflicts(analysis, from, "not applied: ", all),
            Self::Blocked => text("not applied: another preset is in conflict"),
            Self::Exempt => text("kept away by an annotation"),
            Self::Unknown => text("not known whether it is applied"),
        }
    }
}

fn and_conflicts(analysis: &Analysis<'_>, from: &str, what: &str, all: &[Conflict]) -> Vec<Inline> {
    let mut line = vec![Inline::Text(what.into())];
    for (at, conflict) in all.iter().take(3).enumerate() {
        let word = match conflict.kind {
            ConflictKind::Env => "variable ",
            ConflictKind::Volume => "volume ",
            ConflictKind::MountName => "the mount of volume ",
            ConflictKind::MountPath => "the mount at ",
            ConflictKind::EnvFrom => "source or key ",
        };
        line.push(Inline::Text(format!("{}{word}", if at == 0 { "" } else { "; " })));
        line.push(Inline::Code(conflict.name.to_string()));
        line.push(Inline::Text(" differs, ".into()));
        line.push(location_link(analysis, from, &conflict.with));
    }
    if all.len() > 3 {
        line.push(Inline::Text(format!("; {} more", all.len() - 3)));
    }
    line
}

/// The workloads that a preset selects, by file and place.
pub(crate) fn selected_workloads<'s>(
    analysis: &Analysis<'s>,
    file: &Arc<str>,
    preset: &Object,
) -> Vec<SelectedWorkload<'s>> {
    let Some(data) =
        preset_of(preset).filter(|it| preset_problems(it, analysis.snapshot.settings(file).proposals).is_empty())
    else {
        return Vec::new();
    };
    let is_it = |it: &Object| it.offset == preset.offset && Arc::ptr_eq(&it.model, &preset.model);
    let snapshot = analysis.snapshot;
    let mut all = Vec::new();
    for (path, facts) in snapshot.files() {
        if snapshot.is_patch(path) || snapshot.is_excluded(path) {
            continue;
        }
        for object in &facts.objects {
            for pod in &object.model.pods {
                let admission = analysis.resolver.admission(path, object, pod);
                let found = admission.as_ref().and_then(|admission| {
                    let mut matched = admission.presets.iter();
                    let matched = matched.find(|it| it.file == *file && is_it(&it.object)).map(PresetOutcome::of);
                    let is_open = || admission.possible.iter().any(|it| is_it(&it.object));
                    matched.or_else(|| is_open().then_some(PresetOutcome::Unknown))
                });
                let is_kept_away = || {
                    let (one, other) = (object.namespace(), preset.namespace());
                    admission.is_none()
                        && is_exempt_from_presets(pod)
                        && (one.is_none() || other.is_none() || one == other)
                        && analysis.resolver.selector_match(path, object, pod, data) == SelectorMatch::Yes
                };
                if let Some(outcome) = found.or_else(|| is_kept_away().then_some(PresetOutcome::Exempt)) {
                    all.push(SelectedWorkload { file: Arc::clone(path), object, pod, outcome });
                }
            }
        }
    }
    all
}

/// The presets that are for a workload, with what comes of each: by name, with the place of its name.
pub(crate) fn presets_of_workload(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    object: &Object,
) -> Vec<(Arc<str>, Location, PresetOutcome)> {
    let mut all: Vec<(Arc<str>, Location, PresetOutcome)> = Vec::new();
    for pod in &object.model.pods {
        let Some(admission) = analysis.resolver.admission(file, object, pod) else { continue };
        for matched in &admission.presets {
            let place = name_location(&matched.file, &matched.object);
            if !all.iter().any(|(_, known, _)| *known == place) {
                all.push((Arc::clone(&matched.name), place, PresetOutcome::of(matched)));
            }
        }
    }
    all
}

/// A container that gets an entry of a preset, with its environment.
#[derive(Debug)]
pub(crate) struct PresetRecipient<'s> {
    /// The workload.
    pub(crate) reach: SelectedWorkload<'s>,
    /// The container.
    pub(crate) at: LocatedContainer<'s>,
    /// What it gets.
    pub(crate) environment: Environment,
    /// The variable that the entry becomes; nothing where the container has the same one of its own.
    pub(crate) binding: Option<Arc<Binding>>,
}

impl PresetRecipient<'_> {
    /// The variable that the entry at a place becomes.
    fn variable(environment: &Environment, place: &Location) -> Option<Arc<Binding>> {
        let own = environment.own_bindings().into_iter();
        own.filter(|it| it.preset.is_some()).find(|it| entry_of(it) == Some(place)).cloned()
    }

    /// The variable that another entry of the preset becomes.
    pub(crate) fn of_entry(&self, place: &Location) -> Option<Arc<Binding>> {
        Self::variable(&self.environment, place)
    }
}

/// The most containers that are looked at for one answer.
const MOST: usize = 200;

/// The containers that get what a preset brings; `index` is one of its entries of `env`.
pub(crate) fn recipients<'s>(
    analysis: &Analysis<'s>,
    at: &LocatedContainer<'s>,
    index: Option<usize>,
) -> Vec<PresetRecipient<'s>> {
    let entry = index.and_then(|it| at.container.env.get(it)).and_then(|it| it.name.as_ref());
    let place = entry.map(|it| at.at(it.span));
    let mut all = Vec::new();
    for reach in selected_workloads(analysis, &at.file, at.object).into_iter().filter(|it| it.outcome.is_applied()) {
        let Some(facts) = analysis.snapshot.file(&reach.file) else { continue };
        let containers = LocatedContainer::of_object(&reach.file, facts, reach.object);
        for to in containers.filter(|it| std::ptr::eq(it.pod, reach.pod)) {
            if all.len() == MOST {
                return all;
            }
            let environment = to.environment(analysis);
            let binding = place.as_ref().and_then(|it| PresetRecipient::variable(&environment, it));
            all.push(PresetRecipient { reach: reach.clone(), at: to, environment, binding });
        }
    }
    all
}

/// Where the entry of `env` stands that gives a variable.
fn entry_of(binding: &Binding) -> Option<&Location> {
    binding.entry.as_ref().or(binding.origin.location.as_ref())
}

/// The preset's entry that a variable of a container comes from.
pub(crate) fn preset_entry_of<'s>(analysis: &Analysis<'s>, binding: &Binding) -> Option<(LocatedContainer<'s>, usize)> {
    binding.preset.as_ref()?;
    preset_entry_at(analysis, entry_of(binding)?)
}

/// The entry of `env` of a preset whose name stands at a location.
pub(crate) fn preset_entry_at<'s>(
    analysis: &Analysis<'s>,
    location: &Location,
) -> Option<(LocatedContainer<'s>, usize)> {
    let facts = analysis.snapshot.file(&location.file)?;
    let mut all = LocatedContainer::all_with_presets(&location.file, facts).filter(LocatedContainer::is_preset);
    all.find_map(|at| {
        let (index, _) = at.entry_at(location)?;
        Some((at, index))
    })
}

/// `Deployment/web`, as a way to it.
pub(crate) fn workload_link(analysis: &Analysis<'_>, from: &str, file: &Arc<str>, object: &Object) -> Vec<Inline> {
    vec![
        Inline::Code(workload_title(object)),
        Inline::Text(", ".into()),
        location_link(analysis, from, &name_location(file, object)),
    ]
}

/// The entries of `env` that a preset brings, by name, behind one of them.
pub(crate) fn is_declared_after(at: &LocatedContainer<'_>, index: usize, name: &str) -> bool {
    let named = |it: &EnvVar| it.name.as_ref().is_some_and(|it| &*it.value == name);
    let (before, behind) = at.container.env.split_at(index.min(at.container.env.len()));
    behind.iter().any(named) && !before.iter().any(named)
}
