//! PodPresets and the workloads they select: from a preset to its workloads and containers, and from a workload to its
//! presets. Whether a preset is applied is decided in `resolve`.

use std::sync::Arc;

use crate::build::{BuiltObject, Conflict, ConflictKind, MatchingPreset, SelectorMatch, is_exempt_from_presets};
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::describe::{location_link, workload_title};
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::markup::Inline;
use crate::ide::shared::named_objects::name_location;
use crate::k8s::{EnvVar, Pod};
use crate::resolve::{Binding, Environment};

/// A workload that a preset selects.
#[derive(Clone, Debug)]
pub(crate) struct SelectedWorkload<'s> {
    /// The object.
    pub(crate) object: BuiltObject<'s>,
    /// The pod.
    pub(crate) pod: &'s Pod,
    /// Whether the preset is applied.
    pub(crate) outcome: PresetOutcome,
}

/// Whether a preset that selects a pod is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PresetOutcome {
    /// It is applied; with conflicts, lists of the pod are dropped (A8, A21).
    Applied(Vec<Conflict>),
    /// It has conflicts and is not applied.
    Conflicting(Vec<Conflict>),
    /// Another preset for the pod has conflicts, so none is applied.
    Blocked,
    /// It is invalid, for this reason.
    Refused(String),
    /// An annotation excludes the pod from presets.
    Exempt,
    /// Unknown, because a label is not known or several presets have this name.
    Unknown,
}

impl PresetOutcome {
    /// The outcome of a preset that matches a pod.
    pub(crate) fn of(matched: &MatchingPreset<'_>) -> Self {
        match (matched.applied, matched.conflicts.is_empty()) {
            (true, _) => Self::Applied(matched.conflicts.clone()),
            (false, false) => Self::Conflicting(matched.conflicts.clone()),
            (false, true) => Self::Blocked,
        }
    }

    /// Whether the preset is applied to the pod.
    pub(crate) fn is_applied(&self) -> bool {
        matches!(self, Self::Applied(_))
    }

    /// The outcome as text: `applied`, `not applied: variable DB differs, web.yaml:3`.
    pub(crate) fn describe(&self, analysis: &Analysis<'_>, from: &str) -> Vec<Inline> {
        let text = |text: &str| vec![Inline::Text(text.into())];
        match self {
            Self::Applied(lost) if lost.is_empty() => text("applied"),
            Self::Applied(lost) => with_conflicts(analysis, from, "applied, but a list of the pod is dropped: ", lost),
            Self::Conflicting(all) => with_conflicts(analysis, from, "not applied: ", all),
            Self::Blocked => text("not applied: another preset has a conflict"),
            Self::Refused(reason) => text(&format!("refused: {}", reason.replace('`', ""))),
            Self::Exempt => text("excluded by an annotation"),
            Self::Unknown => text("unknown whether it is applied"),
        }
    }
}

fn with_conflicts(analysis: &Analysis<'_>, from: &str, intro: &str, all: &[Conflict]) -> Vec<Inline> {
    let mut line = vec![Inline::Text(intro.into())];
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

/// The workloads that a preset selects, sorted by location.
pub(crate) fn selected_workloads<'s>(analysis: &Analysis<'s>, preset: BuiltObject<'_>) -> Vec<SelectedWorkload<'s>> {
    let Some(data) = preset.preset() else { return Vec::new() };
    let snapshot = analysis.snapshot;
    let mut all = Vec::new();
    for object in analysis.all_objects() {
        if object.model.pods.is_empty() || snapshot.is_patch(object.file) || snapshot.is_excluded(object.file) {
            continue;
        }
        for handle in object.pods() {
            let pod = handle.pod;
            let admission = analysis.resolver.admission(handle);
            let found = admission.as_ref().and_then(|admission| {
                let mut matched = admission.presets.iter();
                let matched = matched.find(|it| it.object.is_same(preset)).map(PresetOutcome::of);
                let is_possible = || admission.possible.iter().any(|it| it.object.is_same(preset));
                let refused = || admission.refused.iter().find(|it| it.object.is_same(preset));
                let refused = || refused().map(|it| PresetOutcome::Refused(it.reason.clone()));
                matched.or_else(refused).or_else(|| is_possible().then_some(PresetOutcome::Unknown))
            });
            let is_excluded = || {
                let (one, other) = (object.namespace(), preset.namespace());
                admission.is_none()
                    && is_exempt_from_presets(pod)
                    && analysis.resolver.preset_refusal(preset).is_none()
                    && (one.is_none() || other.is_none() || one == other)
                    && analysis.resolver.selector_match(handle, data) == SelectorMatch::Yes
            };
            if let Some(outcome) = found.or_else(|| is_excluded().then_some(PresetOutcome::Exempt)) {
                all.push(SelectedWorkload { object, pod, outcome });
            }
        }
    }
    all
}

/// The presets that match a workload: name, location of the name, and outcome.
pub(crate) fn presets_of_workload(
    analysis: &Analysis<'_>,
    object: BuiltObject<'_>,
) -> Vec<(Arc<str>, Location, PresetOutcome)> {
    let mut all: Vec<(Arc<str>, Location, PresetOutcome)> = Vec::new();
    for pod in object.pods() {
        let Some(admission) = analysis.resolver.admission(pod) else { continue };
        let matched = admission.presets.iter().map(|it| (&it.name, it.object, PresetOutcome::of(it)));
        let refused = admission.refused.iter();
        let refused = refused.map(|it| (&it.name, it.object, PresetOutcome::Refused(it.reason.clone())));
        for (name, object, outcome) in matched.chain(refused) {
            let location = name_location(object);
            if !all.iter().any(|(_, known, _)| *known == location) {
                all.push((Arc::clone(name), location, outcome));
            }
        }
    }
    all
}

/// A container that a preset is applied to, with its environment.
#[derive(Debug)]
pub(crate) struct PresetRecipient<'s> {
    /// Its workload.
    pub(crate) workload: SelectedWorkload<'s>,
    /// The container.
    pub(crate) at: LocatedContainer<'s>,
    /// Its environment.
    pub(crate) environment: Environment<'s>,
    /// The variable from the entry; `None` if the container declares the variable itself.
    pub(crate) binding: Option<Arc<Binding>>,
}

impl PresetRecipient<'_> {
    /// The variable from the preset's entry at a location.
    fn variable(environment: &Environment<'_>, location: &Location) -> Option<Arc<Binding>> {
        let own = environment.own_bindings().into_iter();
        own.filter(|it| it.preset.is_some()).find(|it| entry_of(it) == Some(location)).cloned()
    }

    /// The variable from another entry of the preset.
    pub(crate) fn binding_of(&self, location: &Location) -> Option<Arc<Binding>> {
        Self::variable(&self.environment, location)
    }
}

/// The maximum number of containers for one answer.
const MOST: usize = 200;

/// The containers that a preset is applied to; `index` is the entry of `env` to look up in them.
pub(crate) fn recipients<'s>(
    analysis: &Analysis<'s>,
    at: &LocatedContainer<'s>,
    index: Option<usize>,
) -> Vec<PresetRecipient<'s>> {
    containers_of(analysis, at, index, PresetOutcome::is_applied)
}

/// The containers that a preset is applied to, or will be once it is valid: it may be half typed.
pub(crate) fn future_recipients<'s>(
    analysis: &Analysis<'s>,
    at: &LocatedContainer<'s>,
    index: Option<usize>,
) -> Vec<PresetRecipient<'s>> {
    containers_of(analysis, at, index, |it| matches!(it, PresetOutcome::Applied(_) | PresetOutcome::Refused(_)))
}

fn containers_of<'s>(
    analysis: &Analysis<'s>,
    at: &LocatedContainer<'s>,
    index: Option<usize>,
    is_wanted: fn(&PresetOutcome) -> bool,
) -> Vec<PresetRecipient<'s>> {
    let entry = index.and_then(|it| at.container.env.get(it)).and_then(|it| it.name.as_ref());
    let location = entry.map(|it| at.at(it.span));
    let mut all = Vec::new();
    for workload in selected_workloads(analysis, at.object).into_iter().filter(|it| is_wanted(&it.outcome)) {
        let containers = LocatedContainer::of_object(workload.object);
        for to in containers.filter(|it| std::ptr::eq(it.pod, workload.pod)) {
            if all.len() == MOST {
                return all;
            }
            let environment = to.environment(analysis);
            let binding = location.as_ref().and_then(|it| PresetRecipient::variable(&environment, it));
            all.push(PresetRecipient { workload: workload.clone(), at: to, environment, binding });
        }
    }
    all
}

/// The location of the entry of `env` that defines a variable.
fn entry_of(binding: &Binding) -> Option<&Location> {
    binding.entry.as_ref().or(binding.origin.location.as_ref())
}

/// The entry of a preset that defines a variable of a container.
pub(crate) fn preset_entry_of<'s>(analysis: &Analysis<'s>, binding: &Binding) -> Option<(LocatedContainer<'s>, usize)> {
    binding.preset.as_ref()?;
    preset_entry_at(analysis, entry_of(binding)?)
}

/// The entry of `env` of a preset whose name is at a location.
pub(crate) fn preset_entry_at<'s>(
    analysis: &Analysis<'s>,
    location: &Location,
) -> Option<(LocatedContainer<'s>, usize)> {
    let mut all = LocatedContainer::all_with_presets(analysis, &location.file).filter(LocatedContainer::is_preset);
    all.find_map(|at| {
        let (index, _) = at.entry_at(location)?;
        Some((at, index))
    })
}

/// `Deployment/web, web.yaml:3`, with a link.
pub(crate) fn workload_link(analysis: &Analysis<'_>, from: &str, object: BuiltObject<'_>) -> Vec<Inline> {
    vec![
        Inline::Code(workload_title(object)),
        Inline::Text(", ".into()),
        location_link(analysis, from, &name_location(object)),
    ]
}

/// Whether a preset declares a name after an entry of its `env`, and not before it.
pub(crate) fn is_declared_after(at: &LocatedContainer<'_>, index: usize, name: &str) -> bool {
    let named = |it: &EnvVar| it.name.as_ref().is_some_and(|it| &*it.value == name);
    let (before, after) = at.container.env.split_at(index.min(at.container.env.len()));
    after.iter().any(named) && !before.iter().any(named)
}
