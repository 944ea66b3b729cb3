//! Completion: what can stand at a place, what is valid there first.
//!
//! Items are cheap; their documentation and the edits they bring along are made for the one that is looked at.

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
use context::{Context, Reference, context};

/// What can stand at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// In the order they should be shown.
    pub items: Vec<CompletionItem>,
    /// Whether more typing may bring items that are not here.
    pub is_incomplete: bool,
}

/// Something that can stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionItem {
    /// The bare name, by which it is also resolved.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// A preview in one line.
    pub detail: Option<String>,
    /// What it replaces: within one line, the cursor in it or at its end.
    pub replace: Span,
    /// What is written there.
    pub text: String,
    /// What is compared with the text that `replace` covers.
    pub filter_text: String,
    /// Puts the items in their order.
    pub sort_text: String,
    /// Whether it brings edits elsewhere, which [`resolve`] gives.
    pub has_edits: bool,
}

/// The kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A variable that has a value here.
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
    /// A volume, container or another name in the same pod.
    Name,
    /// One of a few words.
    Value,
}

/// What is known of an item only when it is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletionDetails {
    /// What it is.
    pub documentation: Option<Markup>,
    /// Edits elsewhere that belong to it; none of them touches what the item replaces.
    pub additional_edits: Vec<Edit>,
}

/// What can stand at an offset; nothing where podlens has nothing to say.
pub fn completion(analysis: &Analysis<'_>, file: &Arc<str>, offset: usize) -> Option<Completion> {
    let mut completion = match context(analysis, file, offset)? {
        Context::Reference(reference) => variables(analysis, &reference),
        Context::Parameter(typing) => parameters::items(&typing),
        Context::Both(reference, typing) => {
            let mut both = variables(analysis, &reference);
            both.items.extend(parameters::items(&typing).items);
            both
        }
        Context::Value(value) => values::items(analysis, &value),
        Context::ParamFile(setting) => setting.items(),
        Context::Rule(span) => rule_names(span),
    };
    // Clients sort by the text alone.
    completion.items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
    (!completion.items.is_empty()).then_some(completion)
}

/// The details of an item that [`completion`] gave for the same offset.
pub fn resolve_completion(
    analysis: &Analysis<'_>,
    file: &Arc<str>,
    offset: usize,
    label: &str,
) -> Option<CompletionDetails> {
    match context(analysis, file, offset)? {
        Context::Reference(reference) => details(analysis, &reference, label),
        Context::Parameter(typing) => Some(parameters::details(&typing, label)),
        Context::Both(_, typing) if typing.place.template.exported.contains(label) => {
            Some(parameters::details(&typing, label))
        }
        Context::Both(reference, _) => details(analysis, &reference, label),
        Context::Value(value) => values::details(analysis, &value, label),
        Context::ParamFile(setting) => Some(setting.details(label)),
        Context::Rule(_) => {
            let documentation = rules::find_rule(label).map(hover::documentation);
            Some(CompletionDetails { documentation, additional_edits: Vec::new() })
        }
    }
}

/// Variables; in a preset those of the containers that get it too.
fn variables(analysis: &Analysis<'_>, reference: &Reference<'_>) -> Completion {
    let mut completion = variables::items(analysis, reference);
    if reference.at.is_preset() {
        let more = presets::names(analysis, reference, &completion.items);
        completion.items.extend(more);
        completion.items.sort_by(|a, b| a.sort_text.cmp(&b.sort_text));
    }
    completion
}

fn details(analysis: &Analysis<'_>, reference: &Reference<'_>, label: &str) -> Option<CompletionDetails> {
    let given = reference.at.is_preset().then(|| presets::details(analysis, reference, label)).flatten();
    let own = variables::details(analysis, reference, label)?;
    Some(CompletionDetails { documentation: given.and_then(|it| it.documentation).or(own.documentation), ..own })
}

fn rule_names(span: Span) -> Completion {
    let items = RULES.iter().map(|rule| CompletionItem {
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
