//! The rule `preset-conflict`.

use std::collections::BTreeMap;

use crate::build::{Conflict, ConflictKind, MatchingPreset};
use crate::diagnostic::{Edit, Fix, Label, Location};
use crate::k8s::{EnvVar, ObjectData, Pod, PodPreset, PresetAdmitter, Text};
use crate::rules::engine::{FileContext, Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::item_removal;
use crate::syntax::dollar_tokens;
use crate::text::Span;

declare_rule! {
    /// Reports a PodPreset and a pod that define the same variable, volume or mount differently.
    ///
    /// ## What it does
    /// Compares the entries of `env`, `volumes` and `volumeMounts` of a preset with those of a pod it selects, and with
    /// those of other presets for the same pod. Reports entries that are not equal: variables of the same name, volumes
    /// of the same name, mounts of the same volume or at the same path. Also reports a source of `envFrom` that differs
    /// only in `optional`, which empties the whole list. The finding covers the name or path in the pod. Of two presets it
    /// covers that of the later one, and of a mount with the volume and the path of another that of the volume.
    ///
    /// ## Why it matters
    /// A single conflict is enough, and no preset is applied to the pod. There is no error: the pod starts without the
    /// variables and volumes it needs. (In 1.6 and 1.7 presets were applied one after the other, up to the first
    /// conflict.) The webhook that replaced the admission plugin applies the preset, and the container loses the whole
    /// list.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: settings.k8s.io/v1alpha1
    /// kind: PodPreset
    /// metadata: {name: database}
    /// spec:
    ///   selector: {matchLabels: {role: web}}
    ///   env:
    ///     - {name: DB_PORT, value: "5432"}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web, labels: {role: web}}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - {name: DB_PORT, value: "6432"}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: settings.k8s.io/v1alpha1
    /// kind: PodPreset
    /// metadata: {name: database}
    /// spec:
    ///   selector: {matchLabels: {role: web}}
    ///   env:
    ///     - {name: DB_PORT, value: "5432"}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web, labels: {role: web}}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    /// ```
    ///
    /// ## Fix
    /// Editors offer to exclude the pod from presets with an annotation, to remove its own entry, or to rename the variable
    /// or volume and its uses in the preset; in a preset, to remove a repeated entry. Commands do not: only the author knows
    /// which of the two is meant.
    name: "preset-conflict",
    level: Error,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    match &object.object.model.data {
        ObjectData::Preset(preset) => check_preset(object, preset, findings),
        _ => object.object.model.pods.iter().for_each(|pod| check_pod(object, pod, findings)),
    }
}

fn check_pod<'a>(object: &ObjectContext<'a>, pod: &'a Pod, findings: &mut Findings<'_>) {
    let Some(admission) = object.certain_admission(pod) else { return };
    for matched in &admission.presets {
        for conflict in matched.conflicts.iter().filter(|it| it.other.is_none()) {
            let is_same_variable = |it: &Conflict| it.kind == ConflictKind::Env && it.with == conflict.with;
            // A variable that differs from that of a preset may differ from a key of its sources too.
            if conflict.kind == ConflictKind::EnvFrom && matched.conflicts.iter().any(is_same_variable) {
                continue;
            }
            let preset = &matched.name;
            let message = format!(
                "{} preset `{preset}`, {}",
                difference(conflict),
                effect(object, object.file.path, matched, conflict)
            );
            let finding = Finding::new(conflict.with.clone(), about(conflict, preset), message)
                .related(conflict.entry.clone(), format!("the entry of preset `{preset}`"))
                .help("make the two equal, rename one, or exclude this pod from presets")
                .choice(object.exclude_presets_fix(pod))
                .choice(remove_from_pod(object, pod, conflict))
                .choice(rename_in_preset(object, matched, conflict));
            findings.push(finding);
        }
    }
}

/// The name that a finding is about. One entry may have several conflicts.
fn about(conflict: &Conflict, other: &str) -> String {
    format!("{} {} {other}", conflict.kind.as_str(), conflict.name)
}

/// The start of the message, up to the name of the preset.
fn difference(conflict: &Conflict) -> String {
    let name = &conflict.name;
    match conflict.kind {
        ConflictKind::Env => format!("variable `{name}` differs from that of"),
        ConflictKind::Volume => format!("volume `{name}` differs from that of"),
        ConflictKind::MountName => format!("the mount of volume `{name}` differs from that of"),
        ConflictKind::MountPath => format!("the mount at `{name}` differs from that of"),
        ConflictKind::EnvFrom => format!("`{name}` in `env` or `envFrom` conflicts with"),
    }
}

/// The end of the message: the effect of the conflict.
fn effect(object: &ObjectContext<'_>, file: &str, matched: &MatchingPreset<'_>, conflict: &Conflict) -> &'static str {
    let is_webhook = matched.preset().is_some_and(|it| it.admission == PresetAdmitter::Webhook);
    match conflict.kind {
        _ if !matched.applied && object.takes_one_by_one(file) => {
            "and the rest of this preset and all later presets are not applied"
        }
        _ if !matched.applied => "and no preset is applied",
        ConflictKind::EnvFrom => "and the container loses its whole `envFrom`",
        ConflictKind::Env if is_webhook => "and the container loses its whole `env`",
        ConflictKind::Volume if is_webhook => "and the pod loses its `volumes`",
        _ => "and the container loses its `volumeMounts`",
    }
}

/// The fix that removes the pod's own entry, if no other value of the container uses it.
fn remove_from_pod(object: &ObjectContext<'_>, pod: &Pod, conflict: &Conflict) -> Option<Fix> {
    let container = pod.containers.get(conflict.container?)?;
    let is_it = |text: &Option<Text>| text.as_ref().is_some_and(|it| object.at(it.span) == conflict.with);
    let span = match conflict.kind {
        ConflictKind::Env => {
            let reference = format!("$({})", conflict.name);
            let uses = |it: &EnvVar| it.value.as_ref().is_some_and(|it| it.value.contains(&reference));
            let entry = container.env.iter().find(|it| is_it(&it.name))?;
            (!container.env.iter().any(uses)).then_some(entry.span)?
        }
        ConflictKind::MountName | ConflictKind::MountPath => {
            container.mounts.iter().find(|it| is_it(&it.name) || is_it(&it.mount_path))?.span
        }
        _ => return None,
    };
    item_removal::remove_entry(object, span, format!("Remove `{}` from the pod", conflict.name))
}

fn check_preset(object: &ObjectContext<'_>, preset: &PodPreset, findings: &mut Findings<'_>) {
    // An invalid preset is never applied.
    let file = object.file;
    if file.snapshot.is_patch(file.path) || file.resolver.preset_refusal(object.object).is_some() {
        return;
    }
    let own = object.file.resolver.own_conflicts(object.object);
    for conflict in &own {
        let what = match object.takes_one_by_one(object.file.path) {
            true => "the rest of the preset is not applied to any pod",
            false => "no preset is applied to any pod",
        };
        let message = format!("{} the entry above, and {what}", difference(conflict));
        let finding = Finding::new(conflict.entry.clone(), about(conflict, "itself"), message)
            .related(conflict.with.clone(), "the entry above");
        findings.push(finding.help("remove one of the two").choice(remove_repetition(object, preset, conflict)));
    }
    // A conflict with another preset in several pods is reported once, with the first of them. One with a pod is reported
    // there.
    let mut found: BTreeMap<(Location, String), SharedConflict> = BTreeMap::new();
    for target in object.preset_targets() {
        let Some(matched) = target.matched() else { continue };
        for conflict in &matched.conflicts {
            let Some(other) = conflict.other.filter(|it| *it < target.at) else { continue };
            let Some(other) = target.admission.presets.get(other) else { continue };
            let key = (conflict.entry.clone(), format!("{} preset `{}`", difference(conflict), other.name));
            let shared = found.entry(key).or_insert_with(|| SharedConflict {
                name: about(conflict, &other.name),
                labels: Vec::new(),
                titles: Vec::new(),
                conflict: conflict.clone(),
                outcome: effect(object, target.object.file, matched, conflict),
            });
            let title = target.title();
            let label =
                Label { location: conflict.with.clone(), message: format!("the entry of preset `{}`", other.name) };
            if !shared.labels.contains(&label) {
                shared.labels.push(label);
            }
            if !shared.titles.contains(&title) {
                shared.titles.push(title);
            }
        }
    }
    for ((place, message), SharedConflict { name, labels, titles, conflict, outcome }) in found {
        let more = if titles.len() > 1 { format!(" and {} more", titles.len() - 1) } else { String::new() };
        let message = format!("{message}, {outcome}: {}{more}", titles[0]);
        let mut finding = Finding::new(place, name, message).help("make the two equal, or rename one");
        for label in labels.into_iter().take(3) {
            finding = finding.related(label.location, label.message);
        }
        findings.push(finding.choice(rename_in_object(object, preset, &conflict)));
    }
}

/// A conflict of a preset with another one in one or more pods.
struct SharedConflict {
    /// The name that the finding is about.
    name: String,
    labels: Vec<Label>,
    /// The workloads, without duplicates.
    titles: Vec<String>,
    conflict: Conflict,
    outcome: &'static str,
}

/// The fix that removes an entry which repeats another of the same preset.
fn remove_repetition(object: &ObjectContext<'_>, preset: &PodPreset, conflict: &Conflict) -> Option<Fix> {
    let given = preset.container()?;
    let is_it = |text: &Option<Text>| text.as_ref().is_some_and(|it| object.at(it.span) == conflict.entry);
    let span = match conflict.kind {
        ConflictKind::Env => given.env.iter().find(|it| is_it(&it.name))?.span,
        ConflictKind::Volume => preset.pod.volumes.iter().find(|it| is_it(&it.name))?.span,
        _ => given.mounts.iter().find(|it| is_it(&it.name) || is_it(&it.mount_path))?.span,
    };
    item_removal::remove_entry(object, span, format!("Remove this entry of `{}`", conflict.name))
}

/// See [`rename_in_object`], for a preset that may be in another file than the checked pod.
fn rename_in_preset(pod: &ObjectContext<'_>, matched: &MatchingPreset<'_>, conflict: &Conflict) -> Option<Fix> {
    let path = matched.object.file;
    let file = FileContext { path, facts: pod.file.snapshot.file(path)?, ..*pod.file };
    rename_in_object(&ObjectContext { file: &file, object: matched.object }, matched.preset()?, conflict)
}

/// The fix that renames a variable or volume of the preset, with its uses in the preset.
fn rename_in_object(object: &ObjectContext<'_>, preset: &PodPreset, conflict: &Conflict) -> Option<Fix> {
    let given = preset.container()?;
    let name = object.object.model.name.as_ref()?.value.trim_end_matches(['*', '-', '.']);
    let is_old = |text: &&Text| text.value == conflict.name;
    let (new, places): (String, Vec<&Text>) = match conflict.kind {
        ConflictKind::Env => {
            let prefix = name.replace(['-', '.'], "_").to_ascii_uppercase();
            (format!("{prefix}_{}", conflict.name), given.env.iter().filter_map(|it| it.name.as_ref()).collect())
        }
        ConflictKind::Volume => {
            let volumes = preset.pod.volumes.iter().filter_map(|it| it.name.as_ref());
            let mounts = given.mounts.iter().filter_map(|it| it.name.as_ref());
            (format!("{name}-{}", conflict.name), volumes.chain(mounts).collect())
        }
        _ => return None,
    };
    let source = object.file.parsed_text()?;
    let mut edits = Vec::new();
    for text in places.into_iter().filter(is_old) {
        let place = object.file.at(object.literal_span(text)?);
        let written = source.text.get(place.span.range())?;
        let quote = written.chars().next().filter(|it| matches!(it, '"' | '\'')).map_or(String::new(), String::from);
        edits.push(edit(place, format!("{quote}{new}{quote}")));
    }
    if conflict.kind == ConflictKind::Env {
        for text in given.env.iter().filter_map(|it| it.value.as_ref()) {
            edits.extend(renamed_references(object, &source.text, text, &conflict.name, &new)?);
        }
    }
    let title = format!("Rename `{}` in the preset to `{new}`", conflict.name);
    (!edits.is_empty()).then_some(Fix { title, safe: false, edits })
}

/// The edits that rename the references to a variable in a text. None if a reference is not found in the source, because
/// it is written with escapes.
fn renamed_references(
    object: &ObjectContext<'_>,
    source: &str,
    text: &Text,
    name: &str,
    new: &str,
) -> Option<Vec<Edit>> {
    let wanted = dollar_tokens(&text.value).filter(|it| it.name(&text.value) == Some(name)).count();
    if wanted == 0 {
        return Some(Vec::new());
    }
    let place = object.file.at(object.literal_span(text)?);
    let written = source.get(place.span.range())?;
    let edits: Vec<Edit> = dollar_tokens(written)
        .filter(|it| it.name(written) == Some(name))
        .map(|it| {
            let range = it.name_range();
            let span = Span::new(place.span.start + range.start, place.span.start + range.end);
            edit(Location { span, ..place.clone() }, new)
        })
        .collect();
    (edits.len() == wanted).then_some(edits)
}
