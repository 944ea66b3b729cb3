//! Findings in Helm templates: only what holds whatever the actions give, and no fixes.
//!
//! Branches of an `{{ if }}` stand side by side in a masked template. A rule that looks at one scalar and at the names in
//! scope is right all the same; one that compares entries or misses something is not.

use crate::rules::FileContext;
use crate::rules::context::Found;
use crate::syntax::has_helm_placeholder;
use crate::text::Span;

/// Rules that look at one scalar, and at the environment, in which what a template may add is known to be unknown.
const OF_ONE_SCALAR: &[&str] = &[
    "undefined-variable",
    "forward-reference",
    "self-reference",
    "malformed-reference",
    "shell-style-reference",
    "command-substitution-outside-shell",
    "collapsed-dollar",
    "unexpanded-field",
    "probe-literal-only",
    "non-string-value",
    "invalid-variable-name",
    "unused-suppression",
];

/// Leaves out what a template's actions may make untrue.
pub(super) fn settled(file: &FileContext<'_>, found: Vec<Found>) -> Vec<Found> {
    if !file.facts.is_helm_template() || found.is_empty() {
        return found;
    }
    let Some(mask) = file.source().and_then(|source| source.mask.clone()) else { return found };
    let holds = |finding: &Found| {
        let at = finding.location();
        if at.file != *file.path {
            return true;
        }
        if OF_ONE_SCALAR.contains(&finding.rule.name) {
            // The end of `$(X` may be what an action prints.
            let line = line_around(&mask.text, at.span);
            return finding.rule.name != "malformed-reference" || !has_helm_placeholder(&mask.text[line.range()]);
        }
        let around = surroundings(file, at.span);
        let text = mask.text.get(around.range()).unwrap_or_default();
        !has_helm_placeholder(text) && mask.lines.iter().all(|it| it.end <= around.start || around.end <= it.start)
    };
    found.into_iter().filter(holds).map(Found::without_fixes).collect()
}

/// The container around a place, or the object.
fn surroundings(file: &FileContext<'_>, at: Span) -> Span {
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
