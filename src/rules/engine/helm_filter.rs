//! Filters the findings in Helm templates: keeps those that are true for every output of the actions, without their
//! fixes.

use crate::rules::engine::findings::RawFinding;
use crate::rules::engine::rule::HelmScope;
use crate::rules::engine::{ContainerContext, FileContext};
use crate::syntax::{HelmMask, has_placeholder};
use crate::text::Span;

/// Removes the findings that may be wrong because of the actions of a Helm template.
pub(super) fn certain_findings(file: &FileContext<'_>, found: Vec<RawFinding>) -> Vec<RawFinding> {
    if !file.facts.is_helm_template() || found.is_empty() {
        return found;
    }
    let Some(mask) = file.parsed_text().and_then(|source| source.mask.clone()) else { return found };
    let is_certain = |finding: &RawFinding| {
        let at = finding.location();
        if at.file != *file.path {
            return true;
        }
        match finding.rule.helm {
            HelmScope::AnyScalar => true,
            HelmScope::LineWithoutAction => !has_placeholder(&mask.text[line_around(&mask.text, at.span).range()]),
            HelmScope::ContainerWithoutAction => !has_action(&mask, enclosing_span(file, at.span)),
        }
    };
    found.into_iter().filter(is_certain).map(RawFinding::without_fixes).collect()
}

/// Whether a container of a Helm template contains an action.
pub(in crate::rules) fn has_helm_action(container: &ContainerContext<'_>) -> bool {
    let object = container.object;
    let mask = || object.file.parsed_text()?.mask.clone();
    let span = object.object.file_span(container.container.span);
    object.file.facts.is_helm_template() && mask().is_some_and(|mask| has_action(&mask, span))
}

fn has_action(mask: &HelmMask, around: Span) -> bool {
    let text = mask.text.get(around.range()).unwrap_or_default();
    let is_outside = |it: &Span| it.end <= around.start || around.end <= it.start;
    has_placeholder(text) || !mask.lines.iter().all(is_outside)
}

/// The span of the container around an offset, or else of the object.
fn enclosing_span(file: &FileContext<'_>, at: Span) -> Span {
    let holds = |span: &Span| span.start <= at.start && at.end <= span.end;
    let objects = file.facts.objects.iter().filter(|it| holds(&it.file_span(it.model.span)));
    let Some(object) = objects.max_by_key(|it| it.offset) else { return at };
    let containers = object.model.pods.iter().flat_map(|pod| &pod.containers).map(|it| object.file_span(it.span));
    containers.filter(holds).min_by_key(|it| it.len()).unwrap_or(object.file_span(object.model.span))
}

fn line_around(text: &str, at: Span) -> Span {
    let start = text[..at.start].rfind('\n').map_or(0, |end| end + 1);
    Span::new(start, text[at.end..].find('\n').map_or(text.len(), |len| at.end + len))
}
