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

/// The text that expands to a text with a reference, as it is written: every dollar sign is doubled (E3).
pub(in crate::rules) fn escaped(text: &str) -> String {
    text.replace('$', "$$")
}

/// Escapes a reference as `$$(X)`, so that the text is kept. `range` may end after the reference, at its last parenthesis.
pub(in crate::rules) fn escape(
    container: &ContainerContext<'_>,
    text: &Text,
    step: &ExpansionStep,
    range: Range<usize>,
) -> Option<Fix> {
    // A reference after this one would not be expanded any more.
    if text.value[step.range.end..range.end].contains('$') {
        return None;
    }
    let title = format!("Write `{}` to keep the text", escaped(&text.value[range]));
    let last = text.value[step.range.clone()].rfind('$')?;
    let changed = step.range.start..step.range.start + last + 1;
    replace(container, text, changed.clone(), &escaped(&text.value[changed]), title)
}

/// Adds the most similar name in scope to a finding as help and fix, or the help `otherwise` if there is none.
pub(in crate::rules) fn suggest(
    finding: Finding,
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    step: &ExpansionStep,
    otherwise: String,
) -> Finding {
    let Some(new) = did_you_mean(container, text, &step.name) else { return finding.help(otherwise) };
    let title = format!("Write `{new}`");
    let fix = replace(container, text.text, step.range.clone(), &new, title);
    finding.help(format!("did you mean `{new}`?")).fix(fix)
}

/// The most similar reference in scope: to a variable, or to a parameter of the template.
fn did_you_mean(container: &ContainerContext<'_>, text: &ExpandedText<'_>, name: &str) -> Option<String> {
    let site = text.variables();
    let is_visible = |candidate: &str| match container.lookup(candidate, site) {
        // Some variables are empty in a probe (P3).
        Lookup::Bound(binding) => !text.field.is_probe() || !binding.value.is_empty(),
        _ => false,
    };
    let near = container.similar_names(name).into_iter().find(|it| is_visible(it));
    near.map(|name| format!("$({name})")).or_else(|| near_parameter(container, name))
}

/// The reference to the most similar parameter. Where `$(P)` does not refer to parameters, only to one of the same name.
fn near_parameter(container: &ContainerContext<'_>, name: &str) -> Option<String> {
    let parameters = &container.object.object.source.template.as_ref()?.parameters;
    match parameters.dialect.is_proposal() {
        true => parameter_texts::near(parameters, name).map(|it| format!("$({it})")),
        false => parameters.contains(name).then(|| format!("${{{name}}}")),
    }
}
