//! Completion in PodPresets: variables of the containers they apply to, undefined names there, and labels of pods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::build::BuiltObject;
use crate::ide::Analysis;
use crate::ide::features::completion::context::TypedReference;
use crate::ide::features::completion::variables::{binding_detail, item};
use crate::ide::features::completion::{CompletionDetails, CompletionItem, CompletionKind};
use crate::ide::features::hover;
use crate::ide::shared::describe::workload_title;
use crate::ide::shared::located_container::LocatedContainer;
use crate::ide::shared::preset_workloads::{PresetRecipient, future_recipients, is_declared_after};
use crate::k8s::VariableScope;
use crate::resolve::{Lookup, UnresolvedReason, is_strict_variable_name};
use crate::syntax::has_placeholder;

/// The operators of a selector.
pub(super) const OPERATORS: [(&str, &str); 4] = [
    ("In", "the label has one of the values"),
    ("NotIn", "the label has none of the values, or does not exist"),
    ("Exists", "the label exists"),
    ("DoesNotExist", "the label does not exist"),
];

/// The variables of the containers that a preset applies to, without those in `known`.
pub(super) fn names(
    analysis: &Analysis<'_>,
    reference: &TypedReference<'_>,
    known: &[CompletionItem],
) -> Vec<CompletionItem> {
    let at = &reference.at;
    let Some(VariableScope::EarlierEntries(index)) = reference.field.variable_scope() else { return Vec::new() };
    let reveal = analysis.reveals(&at.file);
    let mut found: BTreeMap<Arc<str>, BTreeSet<String>> = BTreeMap::new();
    for it in future_recipients(analysis, at, Some(index)) {
        for binding in it.environment.own_bindings() {
            let is_from_preset = binding.preset.as_deref() == at.object.model.reference_name();
            let is_not_visible = is_from_preset && is_declared_after(at, index, &binding.name);
            if !is_not_visible && !has_placeholder(&binding.name) {
                found.entry(Arc::clone(&binding.name)).or_default().insert(binding_detail(binding, reveal));
            }
        }
    }
    let is_new = |name: &Arc<str>| !known.iter().any(|it| it.label == **name);
    let new = found.into_iter().filter(|(name, _)| is_new(name)).map(|(name, values)| {
        let detail = match values.len() {
            1 => values.into_iter().next().unwrap_or_default(),
            _ => "differs between containers".to_owned(),
        };
        item(reference, false, &name, CompletionKind::Variable, detail, 1, false)
    });
    new.collect()
}

/// The documentation of a variable, for the first container that has it.
pub(super) fn details(
    analysis: &Analysis<'_>,
    reference: &TypedReference<'_>,
    label: &str,
) -> Option<CompletionDetails> {
    let Some(VariableScope::EarlierEntries(index)) = reference.field.variable_scope() else { return None };
    let all = future_recipients(analysis, &reference.at, Some(index));
    let has_it =
        |it: &&PresetRecipient<'_>| matches!(it.environment.lookup(VariableScope::All, label), Lookup::Bound(_));
    let PresetRecipient { at, environment, .. } = all.iter().find(has_it)?;
    let documentation = hover::variable_markup(analysis, at, environment, VariableScope::All, label);
    Some(CompletionDetails { documentation, additional_edits: Vec::new() })
}

/// The undefined variables that containers of a preset reference, each with one such workload.
pub(super) fn undefined_names(analysis: &Analysis<'_>, at: &LocatedContainer<'_>) -> Vec<(Arc<str>, String)> {
    let mut found: BTreeMap<Arc<str>, String> = BTreeMap::new();
    let own = at.environment(analysis);
    for it in future_recipients(analysis, at, None) {
        for unresolved in it
            .environment
            .unresolved
            .iter()
            .filter(|it| it.reason == UnresolvedReason::Undefined && is_strict_variable_name(&it.name))
        {
            // A preset that is half typed is not applied.
            if matches!(own.lookup(VariableScope::All, &unresolved.name), Lookup::Bound(_)) {
                continue;
            }
            let title = || format!("referenced in {}, not declared", workload_title(it.workload.object));
            found.entry(Arc::clone(&unresolved.name)).or_insert_with(title);
        }
    }
    found.into_iter().collect()
}

/// The labels of the pods in a preset's namespace, each with its values.
pub(super) fn labels(analysis: &Analysis<'_>, preset: BuiltObject<'_>) -> BTreeMap<Arc<str>, BTreeSet<Arc<str>>> {
    let mut found: BTreeMap<Arc<str>, BTreeSet<Arc<str>>> = BTreeMap::new();
    for object in analysis.all_objects() {
        let (one, other) = (object.namespace(), preset.namespace());
        if one.is_some() && other.is_some() && one != other {
            continue;
        }
        for (key, value) in object.model.pods.iter().flat_map(|it| &it.labels) {
            if !has_placeholder(&key.value) && !has_placeholder(&value.value) {
                found.entry(Arc::clone(&key.value)).or_default().insert(Arc::clone(&value.value));
            }
        }
    }
    found
}
