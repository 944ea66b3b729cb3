//! Completion: the names and values that fit at the cursor, valid ones first.
//!
//! The list holds what an editor needs to show it; documentation and additional edits are computed for one item at a
//! time, by [`resolve_completion`].

mod context;
mod parameters;
mod presets;
mod values;
mod variables;

use std::sync::Arc;

use crate::diagnostic::Edit;
use crate::ide::Analysis;
use crate::ide::features::hover;
use crate::ide::shared::markup::Markup;
use crate::rules::{self, RULES};
use crate::text::Span;
use context::{CompletionContext, TypedReference, completion_context};

/// The items for a cursor position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The items, in the order to show them.
    pub items: Vec<CompletionItem>,
    /// Whether more items may match after more typed.
    pub is_incomplete: bool,
}

/// One item of a completion list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionItem {
    /// The bare name; also the key for [`resolve_completion`].
    pub label: String,
    /// Its kind.
    pub kind: CompletionKind,
    /// The value or source, in one line.
    pub detail: Option<String>,
    /// The span it replaces: within one line, with the cursor inside or at its end.
    pub replace: Span,
    /// The text to insert.
    pub text: String,
    /// The text that an editor compares with the text in `replace`.
    pub filter_text: String,
    /// The sort key of the item.
    pub sort_text: String,
    /// Whether [`resolve_completion`] returns additional edits for it.
    pub has_edits: bool,
}

/// The kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A variable with a value at the cursor.
    Variable,
    /// A variable that is declared later.
    Forward,
    /// A template's parameter.
    Parameter,
    /// A ConfigMap, Secret, Service or preset by name.
    Object,
    /// A key of an object or file.
    Key,
    /// A field path or resource.
    Field,
    /// A volume, container or other name in the same pod.
    Name,
    /// One of a fixed set of words.
    Value,
}

/// The documentation and additional edits of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletionDetails {
    /// The documentation.
    pub documentation: Option<Markup>,
    /// Edits to apply with the item, outside of the span it replaces.
    pub additional_edits: Vec<Edit>,
}

/// The completion list for an offset; `None` where podlens has no items.
pub fn completion(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Option<Completion> {
    let mut completion = match completion_context(analysis, file, offset)? {
        CompletionContext::Reference(reference) => variables(analysis, &reference),
        CompletionContext::Parameter(typed) => parameters::items(&typed),
        CompletionContext::Both(reference, typed) => {
            let mut both = variables(analysis, &reference);
            let mut parameters = parameters::items(&typed).items;
            for parameter in &mut parameters {
                if let Some(variable) = both.items.iter_mut().find(|it| it.label == parameter.label) {
                    parameters::disambiguate(parameter, variable);
                }
            }
            both.items.append(&mut parameters);
            both
        }
        CompletionContext::Value(value) => values::items(analysis, &value),
        CompletionContext::ParamFile(entry) => entry.items(),
        CompletionContext::Rule(span) => rule_names(span),
    };
    // Editors sort by `sort_text`.
    completion.items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
    (!completion.items.is_empty()).then_some(completion)
}

/// The details of an item that [`completion`] returned for the same offset.
pub fn resolve_completion(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: usize,
    label: &str,
) -> Option<CompletionDetails> {
    match completion_context(analysis, file, offset)? {
        CompletionContext::Reference(reference) => details(analysis, &reference, label),
        CompletionContext::Parameter(typed) => Some(parameters::details(&typed, label)),
        CompletionContext::Both(reference, typed) => {
            let variable = || variables(analysis, &reference).items.iter().any(|it| it.label == label);
            match parameters::disambiguated(label) {
                Some(name) => Some(parameters::details(&typed, name)),
                None if variable() => details(analysis, &reference, label),
                None => Some(parameters::details(&typed, label)),
            }
        }
        CompletionContext::Value(value) => values::details(analysis, &value, label),
        CompletionContext::ParamFile(entry) => Some(entry.details(label)),
        CompletionContext::Rule(_) => {
            let documentation = rules::find_rule(label).map(hover::rule_markup);
            Some(CompletionDetails { documentation, additional_edits: Vec::new() })
        }
    }
}

/// The variables for a reference; in a preset also those of the containers that the preset is applied to.
fn variables(analysis: &Analysis<'_>, reference: &TypedReference<'_>) -> Completion {
    let mut completion = variables::items(analysis, reference);
    if reference.at.is_preset() {
        let more = presets::names(analysis, reference, &completion.items);
        completion.items.extend(more);
        completion.items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
    }
    completion
}

fn details(analysis: &Analysis<'_>, reference: &TypedReference<'_>, label: &str) -> Option<CompletionDetails> {
    let preset = reference.at.is_preset().then(|| presets::details(analysis, reference, label)).flatten();
    let own = variables::details(analysis, reference, label)?;
    Some(CompletionDetails { documentation: preset.and_then(|it| it.documentation).or(own.documentation), ..own })
}

fn rule_names(span: Span) -> Completion {
    let items = RULES.iter().filter(|rule| rule.configurable).map(|rule| CompletionItem {
        label: rule.name.into(),
        kind: CompletionKind::Value,
        detail: Some(rule.summary().into()),
        replace: span,
        text: rule.name.into(),
        filter_text: rule.name.into(),
        sort_text: rule.name.into(),
        has_edits: false,
    });
    Completion { items: items.collect(), is_incomplete: false }
}
