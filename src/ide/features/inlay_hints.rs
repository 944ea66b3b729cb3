//! Inlay hints: the expanded value after a text with references.

use std::sync::Arc;

use crate::ide::Analysis;
use crate::ide::shared::describe::{one_line, short_binding, value_text};
use crate::ide::shared::file_text::FileText;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::markup::{Block, Markup};
use crate::ide::shared::preset_workloads::recipients;
use crate::k8s::{ContainerField, Text};
use crate::resolve::{Environment, ExpansionStep, Lookup, ResolvedValue};
use crate::syntax::has_placeholder;
use crate::text::Span;
use crate::workspace::File;

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

/// The hints in a range of a file.
pub fn inlay_hints(analysis: &Analysis<'_>, file: &Arc<str>, range: Span) -> Vec<InlayHint> {
    let (Some(facts), Some(file_text)) = (analysis.snapshot.file(file), analysis.file_text(file)) else {
        return Vec::new();
    };
    let reveal = analysis.reveals(file);
    let mut hints = Vec::new();
    for at in LocatedContainer::all(analysis, file) {
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
                    hinted.each(steps, &mut hints);
                } else {
                    hints.extend(hinted.whole(value, steps));
                }
            }
        }
    }
    presets(analysis, file, range, &mut hints);
    parameters(facts, &file_text, range, &mut hints);
    hints.retain(|it| range.touches(it.offset));
    hints.sort_by(|a, b| (a.offset, &a.label).cmp(&(b.offset, &b.label)));
    // Containers that share a text through an alias may expand it differently: then no hint is shown.
    hints.dedup();
    let offsets: Vec<usize> = hints.iter().map(|it| it.offset).collect();
    hints.retain(|it| offsets.iter().filter(|other| **other == it.offset).count() == 1);
    hints
}

/// Hints after values of presets, if the value is the same in every container that gets it.
fn presets(analysis: &Analysis<'_>, file: &Arc<str>, range: Span, hints: &mut Vec<InlayHint>) {
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
                hints.push(hint(span.end, &value_text(&first.value, reveal)));
            }
        }
    }
}

/// Hints after texts with template parameters: the text with the parameters' defaults. Texts with `$(X)` have a hint
/// for their variables instead.
fn parameters(facts: &File, file_text: &FileText, range: Span, hints: &mut Vec<InlayHint>) {
    for object in facts.objects.iter().filter(|it| it.template.is_some()) {
        let whole = object.file_span(object.model.span);
        if whole.end < range.start || range.end < whole.start {
            continue;
        }
        for text in object.model.parameterized_texts.iter().filter(|it| !it.is_key).map(|it| &it.text) {
            let span = object.file_span(text.span);
            let Some(template) = &object.template else { continue };
            let known = template.parameters.substituted_text(&text.value);
            let is_short = span.end <= file_text.line(span.start).end;
            if is_short && known != text.value && !has_placeholder(&known) && !text.value.contains("$(") {
                hints.push(hint(span.end, &known));
            }
        }
    }
}

/// The expanded value of a field and its expansion steps.
fn expansion(environment: &Environment, field: ContainerField) -> Option<(&ResolvedValue, &[ExpansionStep])> {
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

impl HintedText<'_> {
    /// The hint after a text on one line.
    fn whole(&self, value: &ResolvedValue, steps: &[ExpansionStep]) -> Option<InlayHint> {
        // Without a replaced reference the hint would repeat the text.
        if !steps.iter().any(|it| matches!(it.outcome, Lookup::Bound(_))) {
            return None;
        }
        let full = value_text(value, self.reveal);
        Some(hint(self.at.object.file_span(self.text.span).end, &full))
    }

    /// Whether the text spans several lines.
    fn is_multiline(&self) -> bool {
        let span = self.at.object.file_span(self.text.span);
        span.end > self.file_text.line(span.start).end
    }

    /// A hint after each reference of a text that spans several lines.
    fn each(&self, steps: &[ExpansionStep], hints: &mut Vec<InlayHint>) {
        let Some(map) = self.file_text.map(self.at.object, self.text) else { return };
        for step in steps {
            if let Lookup::Bound(binding) = &step.outcome {
                let end = map.source_span(step.range.clone()).end;
                hints.push(hint(end, &short_binding(binding, self.reveal, 10 * LONGEST)));
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
