//! Inlay hints: the expanded value after a text with references.

use std::sync::Arc;

use crate::build::{self, BuiltObject};
use crate::ide::Analysis;
use crate::ide::shared::describe::{one_line, short_binding, value_text};
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::markup::{Block, Inline, Markup};
use crate::ide::shared::per_view::{grouped, rows_block};
use crate::ide::shared::preset_workloads::recipients;
use crate::k8s::{ContainerField, Text};
use crate::resolve::{Environment, ExpansionStep, Lookup, ResolvedValue};
use crate::syntax::has_placeholder;
use crate::text::Span;

/// A hint shown inside the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlayHint {
    /// The offset it is shown at.
    pub offset: usize,
    /// Its text, one short line.
    pub label: String,
    /// The full value, if the label is shortened.
    pub tooltip: Option<Markup>,
}

/// The maximum length of a label, in characters.
const LONGEST: usize = 40;

/// A value to show at an offset.
struct FoundValue {
    offset: usize,
    /// The view that has the value; empty if it is the same in all views.
    view: Arc<str>,
    full: String,
}

/// The hints in a range of a file.
pub fn inlay_hints(analysis: &Analysis<'_>, file: &Arc<str>, range: Span) -> Vec<InlayHint> {
    let (Some((path, facts)), Some(file_text)) = (analysis.snapshot.entry(file), analysis.file_text(file)) else {
        return Vec::new();
    };
    let reveal = analysis.reveals(file);
    let mut found = Vec::new();
    let objects = || build::all_views(analysis.snapshot, path, facts);
    for at in objects().flat_map(LocatedContainer::of_object) {
        let overlaps = |text: &Text| {
            let span = at.object.file_span(text.span);
            span.start <= range.end && range.start <= span.end
        };
        let mut environment = None;
        for (field, text) in at.container.texts() {
            if field.variable_scope().is_none() || !text.value.contains("$(") || !overlaps(text) {
                continue;
            }
            let environment = environment.get_or_insert_with(|| at.environment(analysis));
            if let Some((value, steps)) = expansion(environment, field) {
                let hinted = HintedText { at: &at, file_text: &file_text, text, reveal };
                if hinted.is_multiline() {
                    hinted.each(steps, &mut found);
                } else {
                    found.extend(hinted.whole(value, steps));
                }
            }
        }
    }
    presets(analysis, file, range, &mut found);
    objects().for_each(|it| parameters(it, &file_text, range, &mut found));
    found.retain(|it| range.touches(it.offset));
    found.sort_by_key(|it| it.offset);
    found.chunk_by(|a, b| a.offset == b.offset).filter_map(hint_of).collect()
}

/// The hint for the values at one offset. Values that differ between views are all shown, with their views in the tooltip.
fn hint_of(values: &[FoundValue]) -> Option<InlayHint> {
    let rows = grouped(values.iter().map(|it| (Arc::clone(&it.view), &it.full)));
    if let [(_, full)] = &rows[..] {
        return Some(hint(values[0].offset, full));
    }
    // Containers that share a text through an alias may expand it differently: then no hint is shown.
    let is_ambiguous = rows
        .iter()
        .flat_map(|(views, _)| views)
        .any(|view| rows.iter().filter(|(views, _)| views.contains(view)).count() > 1);
    if is_ambiguous {
        return None;
    }
    let all = rows.iter().map(|(_, full)| full.as_str()).collect::<Vec<_>>().join(" | ");
    let code = |full: &String| vec![Inline::Code(one_line(full, 10 * LONGEST))];
    let rows = rows_block(values.iter().map(|it| (Arc::clone(&it.view), code(&it.full))));
    let tooltip = rows.map(|it| Markup { blocks: vec![it] });
    Some(InlayHint { tooltip, ..hint(values[0].offset, &all) })
}

/// Hints after values of presets, if the value is the same in every container that gets it.
fn presets(analysis: &Analysis<'_>, file: &Arc<str>, range: Span, found: &mut Vec<FoundValue>) {
    let reveal = analysis.reveals(file);
    for at in LocatedContainer::all_with_presets(analysis, file).filter(LocatedContainer::is_preset) {
        let mut all = None;
        for entry in &at.container.env {
            let (Some(name), Some(text)) = (&entry.name, &entry.value) else { continue };
            let span = at.object.file_span(text.span);
            if !text.value.contains("$(") || span.end < range.start || range.end < span.start {
                continue;
            }
            let recipients = all.get_or_insert_with(|| recipients(analysis, &at, None));
            let mut values = recipients.iter().filter_map(|it| it.binding_of(&at.at(name.span)));
            let Some(first) = values.next() else { continue };
            let is_replaced = first.steps.iter().any(|it| matches!(it.outcome, Lookup::Bound(_)));
            if is_replaced && values.all(|it| it.value.same_text(&first.value)) {
                found.push(FoundValue::in_all_views(span.end, value_text(&first.value, reveal)));
            }
        }
    }
}

/// Hints after texts with template parameters: the text with the values of the parameters. Texts with `$(X)` have a hint
/// for their variables instead.
fn parameters(object: BuiltObject<'_>, file_text: &FileText, range: Span, found: &mut Vec<FoundValue>) {
    let Some(parameters) = object.parameters() else { return };
    let source = object.source;
    let whole = source.file_span(source.model.span);
    if whole.end < range.start || range.end < whole.start {
        return;
    }
    for text in source.model.parameterized_texts.iter().filter(|it| !it.is_key).map(|it| &it.text) {
        let span = source.file_span(text.span);
        let known = parameters.substituted_text(&text.value);
        let is_short = span.end <= file_text.line(span.start).end;
        if is_short && known != text.value && !has_placeholder(&known) && !text.value.contains("$(") {
            found.push(FoundValue::in_view(object, span.end, known.to_string()));
        }
    }
}

/// The expanded value of a field and its expansion steps.
fn expansion<'e>(
    environment: &'e Environment<'_>,
    field: ContainerField,
) -> Option<(&'e ResolvedValue, &'e [ExpansionStep])> {
    let item = match field {
        ContainerField::EnvValue(index) => {
            let binding = environment.entry(index).filter(|it| it.raw.is_some())?;
            return Some((&binding.value, &binding.steps));
        }
        ContainerField::Command(at) => environment.command.get(at)?,
        ContainerField::Args(at) => environment.args.get(at)?,
        ContainerField::ProbeCommand(probe, at) => environment.probes.get(probe)?.command.get(at)?,
        ContainerField::SubPathExpr(_) | ContainerField::Unexpanded(_) => return None,
    };
    Some((&item.expansion.value, &item.expansion.steps))
}

struct HintedText<'h> {
    at: &'h LocatedContainer<'h>,
    file_text: &'h FileText,
    text: &'h Text,
    reveal: bool,
}

impl FoundValue {
    fn in_all_views(offset: usize, full: String) -> Self {
        Self { offset, view: Arc::from(""), full }
    }

    fn in_view(object: BuiltObject<'_>, offset: usize, full: String) -> Self {
        Self { offset, view: object.view_name().unwrap_or_default(), full }
    }
}

impl HintedText<'_> {
    fn value(&self, offset: usize, full: String) -> FoundValue {
        FoundValue::in_view(self.at.object, offset, full)
    }

    /// The hint after a text on one line.
    fn whole(&self, value: &ResolvedValue, steps: &[ExpansionStep]) -> Option<FoundValue> {
        // Without a replaced reference the hint would repeat the text.
        if !steps.iter().any(|it| matches!(it.outcome, Lookup::Bound(_))) {
            return None;
        }
        Some(self.value(self.at.object.file_span(self.text.span).end, value_text(value, self.reveal)))
    }

    /// Whether the text spans several lines.
    fn is_multiline(&self) -> bool {
        let span = self.at.object.file_span(self.text.span);
        span.end > self.file_text.line(span.start).end
    }

    /// A hint after each reference of a text that spans several lines.
    fn each(&self, steps: &[ExpansionStep], found: &mut Vec<FoundValue>) {
        let Some(map) = self.file_text.map(self.at.object, self.text) else { return };
        for step in steps {
            if let Lookup::Bound(binding) = &step.outcome {
                let end = map.source_span(step.range.clone()).end;
                found.push(self.value(end, short_binding(binding, self.reveal, 10 * LONGEST)));
            }
        }
    }
}

fn hint(offset: usize, full: &str) -> InlayHint {
    let label = one_line(full, LONGEST);
    let tooltip = (label != full)
        .then(|| Markup { blocks: vec![Block::Code { language: "text", text: full.chars().take(2_000).collect() }] });
    InlayHint { offset, label: format!("→ {label}"), tooltip }
}
