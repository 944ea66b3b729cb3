//! Hovers on PodPresets: the workloads they select, the values of their entries there, and the presets of a workload.

use crate::build::BuiltObject;
use crate::ide::Analysis;
use crate::ide::features::hover::{LONGEST, code, limited, text};
use crate::ide::shared::describe::{self, one_line, workload_title};
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::markup::{Block, Inline, Markup};
use crate::ide::shared::preset_workloads::{
    PresetRecipient, presets_of_workload, recipients, selected_workloads, workload_link,
};
use crate::k8s::EnvVar;
use crate::resolve::{ExpansionStep, Lookup, PresetLocation, ResolvedValue, UnknownReason};
use crate::syntax::{has_placeholder, show_placeholders};

/// The hover on the name or selector of a preset: the workloads it selects, and whether it is applied.
pub(super) fn preset(analysis: &Analysis<'_>, object: BuiltObject<'_>) -> Option<Markup> {
    let file = object.file;
    object.preset()?;
    let name = show_placeholders(object.model.reference_name().unwrap_or("?")).into_owned();
    let head = || vec![text("Preset "), code(name.clone())];
    if let Some(reason) = analysis.resolver.preset_refusal(object) {
        let mut line = head();
        line.push(text(&format!(" is refused, and applies to no pod: {}.", reason.replace('`', ""))));
        return Some(Markup { blocks: vec![Block::Paragraph(line)] });
    }
    let all = selected_workloads(analysis, object);
    let mut line = head();
    line.push(text(match all.len() {
        0 => " selects no workload in this workspace.",
        1 => " selects one workload:",
        _ => " selects these workloads:",
    }));
    let mut blocks = vec![Block::Paragraph(line)];
    let lines = all.iter().map(|it| {
        let mut line = workload_link(analysis, file, it.object);
        line.push(text(": "));
        line.extend(it.outcome.describe(analysis, file));
        line
    });
    let lines = limited(lines.collect());
    if !lines.is_empty() {
        blocks.push(Block::List(lines));
    }
    Some(Markup { blocks })
}

/// The hover on the name of a workload: its presets; `None` without presets.
pub(super) fn workload(analysis: &Analysis<'_>, object: BuiltObject<'_>) -> Option<Markup> {
    let file = object.file;
    let all = presets_of_workload(analysis, object);
    let lines = all.iter().map(|(name, location, outcome)| {
        let mut line = vec![text("preset "), code(name.to_string()), text(", ")];
        line.extend([describe::location_link(analysis, file, location), text(": ")]);
        line.extend(outcome.describe(analysis, file));
        line
    });
    let lines = limited(lines.collect());
    let line = vec![text("Presets for the pods of "), code(workload_title(object)), text(":")];
    (!lines.is_empty()).then(|| Markup { blocks: vec![Block::Paragraph(line), Block::List(lines)] })
}

/// The hover on a variable of a preset: its value in each container that the preset applies to.
pub(super) fn variable(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, index: usize) -> Option<Markup> {
    let entry = at.container.env.get(index)?;
    let name = show_placeholders(&entry.name.as_ref()?.value).into_owned();
    let mut blocks = Vec::new();
    if let Some(value) = entry.value.as_ref().filter(|it| !it.value.contains('$')) {
        let text = format!("{name}={}", one_line(&value.value, 4 * LONGEST));
        blocks.push(Block::Code { language: "ini", text });
    }
    let all = recipients(analysis, at, Some(index));
    let line = vec![text("Variable "), code(name), text(" of preset "), code(preset_name(at)), text(list_intro(&all))];
    blocks.push(Block::Paragraph(line));
    let reveal = analysis.reveals(&at.file);
    let is_it = |it: &EnvVar| it.name.as_ref().map(|it| &it.value) == entry.name.as_ref().map(|it| &it.value);
    let has_it = |it: &PresetRecipient<'_>| it.at.container.env.iter().any(is_it);
    let lines = all.iter().map(|it| {
        let mut line = container(analysis, at, it);
        match &it.binding {
            Some(binding) => line.extend([text(" gets "), code(describe::short_binding(binding, reveal, LONGEST))]),
            None if has_it(it) => line.push(text(" declares the variable itself")),
            None => line.push(text(" does not get it: presets skip this kind of container")),
        }
        line
    });
    push_list(&mut blocks, lines.collect());
    Some(Markup { blocks })
}

/// The hover on `$(NAME)` in a value of a preset: its value in each container that the preset applies to.
pub(super) fn reference(
    analysis: &Analysis<'_>,
    at: &LocatedContainer<'_>,
    index: usize,
    name: &str,
) -> Option<Markup> {
    if has_placeholder(name) {
        return None;
    }
    let all = recipients(analysis, at, Some(index));
    let line = vec![code(format!("$({name})")), text(" in preset "), code(preset_name(at)), text(list_intro(&all))];
    let mut blocks = vec![Block::Paragraph(line)];
    let lines = all.iter().filter_map(|it| {
        let binding = it.binding.as_ref()?;
        let mut line = container(analysis, at, it);
        let Some(step) = binding.steps.iter().find(|it| &*it.name == name) else {
            // Only references whose outcome depends on the order are not among the steps.
            let is_open = binding.value == ResolvedValue::unknown(UnknownReason::PresetOrder);
            line.push(text(": whether it is expanded depends on the order of presets, which is not defined"));
            return is_open.then_some(line);
        };
        line.extend(outcome(analysis, at, step));
        Some(line)
    });
    push_list(&mut blocks, lines.collect());
    Some(Markup { blocks })
}

/// The hover on `$(NAME)` in a `subPathExpr` of a preset: its value in each container that the preset applies to.
pub(super) fn path_reference(
    analysis: &Analysis<'_>,
    at: &LocatedContainer<'_>,
    index: usize,
    name: &str,
) -> Option<Markup> {
    let path = at.container.mounts.get(index)?.sub_path_expr.as_ref().filter(|_| !has_placeholder(name))?;
    let preset = Some(PresetLocation::of(at.object));
    let all = recipients(analysis, at, None);
    let line = vec![code(format!("$({name})")), text(" in preset "), code(preset_name(at)), text(list_intro(&all))];
    let mut blocks = vec![Block::Paragraph(line)];
    let lines = all.iter().filter_map(|it| {
        let environment = it.at.environment(analysis);
        let mut paths = environment.sub_paths.iter();
        let found = paths.find(|it| it.within == preset && it.item.text.span == path.span)?;
        let step = found.item.expansion.steps.iter().find(|it| &*it.name == name)?;
        let mut line = container(analysis, at, it);
        line.extend(outcome(analysis, at, step));
        Some(line)
    });
    push_list(&mut blocks, lines.collect());
    Some(Markup { blocks })
}

/// What a reference becomes: `: value from …`.
fn outcome(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, step: &ExpansionStep) -> Vec<Inline> {
    let mut line = vec![text(": ")];
    match &step.outcome {
        Lookup::Bound(binding) => {
            line.extend(describe::value_from(analysis, at, binding, (analysis.reveals(&at.file), LONGEST)));
        }
        Lookup::Later(_) | Lookup::Unbound => line.extend(describe::unresolved_words(analysis, &at.file, step)),
        Lookup::Maybe(reason) => line.push(code(format!("<{reason}>"))),
    }
    line
}

fn push_list(blocks: &mut Vec<Block>, lines: Vec<Vec<Inline>>) {
    if !lines.is_empty() {
        blocks.push(Block::List(limited(lines)));
    }
}

fn list_intro(all: &[PresetRecipient<'_>]) -> &'static str {
    if all.is_empty() { ", which applies to no workload in this workspace." } else { ":" }
}

fn preset_name(at: &LocatedContainer<'_>) -> String {
    show_placeholders(at.object.model.reference_name().unwrap_or("?")).into_owned()
}

/// `Deployment/web, web.yaml:3, container main`.
fn container(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, recipient: &PresetRecipient<'_>) -> Vec<Inline> {
    let mut line = workload_link(analysis, &at.file, recipient.workload.object);
    if let Some(name) = &recipient.at.container.name {
        line.extend([text(", container "), code(name.value.to_string())]);
    }
    line
}
