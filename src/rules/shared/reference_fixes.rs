//! Fixes of one reference: another text, an escape, or a similar name.

use std::ops::Range;

use crate::diagnostic::Fix;
use crate::k8s::Text;
use crate::resolve::{ExpansionStep, Lookup};
use crate::rules::engine::{ContainerContext, Finding};
use crate::rules::shared::parameter_texts;
use crate::rules::shared::reference_verdicts::ExpandedText;

/// Replaces a part of a scalar's value.
pub(in crate::rules) fn replace(
    container: &ContainerContext<'_>,
    text: &Text,
    range: Range<usize>,
    new: &str,
    title: impl Into<String>,
) -> Option<Fix> {
    let object = container.object;
    let edits = vec![object.replace_edit(text, range, new)?];
    Some(Fix { title: title.into(), safe: false, edits })
}

/// Escapes a reference as `$$(X)`, so that the text is kept.
pub(in crate::rules) fn escape(container: &ContainerContext<'_>, text: &Text, range: Range<usize>) -> Option<Fix> {
    let reference = &text.value[range.clone()];
    // Dollar signs inside the reference would then be expanded.
    if reference.get(1..)?.contains('$') {
        return None;
    }
    let title = format!("Write `${reference}` to keep the text");
    replace(container, text, range.start..range.start + 1, "$$", title)
}

/// Adds the most similar name in scope to a finding as help and fix, or the help `otherwise` if there is none.
pub(in crate::rules) fn suggest(
    finding: Finding,
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    step: &ExpansionStep,
    otherwise: String,
) -> Finding {
    let Some(near) = did_you_mean(container, text, &step.name) else { return finding.help(otherwise) };
    let new = format!("$({near})");
    let title = format!("Write `{new}`");
    let fix = replace(container, text.text, step.range.clone(), &new, title);
    finding.help(format!("did you mean `{new}`?")).fix(fix)
}

/// The most similar name in scope: a variable, or a parameter of the template.
fn did_you_mean(container: &ContainerContext<'_>, text: &ExpandedText<'_>, name: &str) -> Option<String> {
    let site = text.variables();
    let is_visible = |candidate: &str| match container.lookup(candidate, site) {
        // Some variables are empty in a probe (P3).
        Lookup::Bound(binding) => !text.field.is_probe() || !binding.value.is_empty(),
        _ => false,
    };
    let near = container.variable_names().filter_map(|it| {
        let limit = it.len().min(name.len()) / 3;
        // Compare the lengths first: a namespace may have very many names.
        if it.chars().count().abs_diff(name.chars().count()) > limit {
            return None;
        }
        let distance = if it.eq_ignore_ascii_case(name) { 0 } else { strsim::osa_distance(name, it) };
        (distance <= limit && is_visible(it)).then(|| (distance, it.to_string()))
    });
    near.min().map(|(_, name)| name).or_else(|| near_parameter(container, name))
}

/// The most similar parameter, if `$(P)` refers to parameters here.
fn near_parameter(container: &ContainerContext<'_>, name: &str) -> Option<String> {
    let parameters = &container.object.object.source.template.as_ref()?.parameters;
    let near = parameters.dialect.is_proposal().then(|| parameter_texts::near(parameters, name));
    near.flatten().map(str::to_owned)
}
