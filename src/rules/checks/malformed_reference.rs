//! The rule `malformed-reference`.

use std::ops::Range;

use crate::diagnostic::Fix;
use crate::resolve::{Lookup, ShellUse, leading_name, whole_reference};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{
    ExpandedText, ReferenceFlaw, ReferenceVerdict, expanded_texts, judge_references,
};
use crate::syntax::{DollarTokenKind, dollar_tokens};

declare_rule! {
    /// Reports a reference with a syntax that Kubernetes does not support.
    ///
    /// ## What it does
    /// Reports `$(X` without a `)` after it, a reference inside a reference (`$(A$(B))`), spaces around the name (`$( X )`),
    /// defaults (`$(X:-y)`, `$(X:"y")`), and a name with an operator of a shell or with other text (`$(X%y)`, `$(X[0])`,
    /// `$(X y)`, `$(X$$y)`). For Kubernetes the name is everything up to the first `)`. The finding covers the reference as
    /// written; without an end, it covers `$(` and the name. Shell scripts are not checked, nor text of other languages
    /// such as `$('#id')`.
    ///
    /// ## Why it matters
    /// Kubernetes accepts all of these. The program gets the text as written, although the variable exists.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - {name: HOST, value: db}
    ///       args: ["--url=http://$(HOST:-localhost)/"]
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - {name: HOST, value: db}
    ///       args: ["--url=http://$(HOST)/"]
    /// ```
    ///
    /// ## Fix
    /// Closes the reference, removes the spaces, or removes the default, if a variable of that name exists. Only
    /// removing spaces is safe. Editors also offer to remove other text after the name.
    name: "malformed-reference",
    level: Warning,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: LineWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judge_references(container) {
        let ReferenceVerdict::Malformed(flaw) = verdict else { continue };
        let range = match &flaw {
            // The default ends with its last parenthesis: `$(X:-f(y))`.
            ReferenceFlaw::Nested | ReferenceFlaw::Default(_) => whole_reference(&text.text.value, step.range.clone()),
            _ => step.range.clone(),
        };
        report(container, &text, range, &flaw, findings);
    }
    for text in expanded_texts(container).iter().filter(|it| it.shell == ShellUse::No) {
        let value = &text.text.value;
        for token in dollar_tokens(value).filter(|it| it.kind == DollarTokenKind::Unterminated) {
            let name = leading_name(&value[token.range.end..]);
            // Without a name it is probably a pattern that ends with `$`.
            if name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') {
                let range = token.range.start..token.range.end + name.len();
                report(container, text, range, &ReferenceFlaw::Unclosed(name.to_owned()), findings);
            }
        }
    }
}

fn report(
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    range: Range<usize>,
    flaw: &ReferenceFlaw,
    findings: &mut Findings<'_>,
) {
    let written = &text.text.value[range.clone()];
    let (why, help, name) = match flaw {
        ReferenceFlaw::Padded(name) => ("spaces count as a part of the name", format!("write `$({name})`"), Some(name)),
        ReferenceFlaw::Default(name) => (
            "Kubernetes does not support defaults in a reference",
            format!("write `$({name})`, and give `{name}` its default in `env`"),
            Some(name),
        ),
        ReferenceFlaw::Extended(name) if ends_early(text, &range) => {
            ("everything up to the first `)` is the name", format!("write `$({name})`"), Some(name))
        }
        ReferenceFlaw::Extended(name) => (
            "everything between the parentheses is the name",
            format!("write `$({name})`: Kubernetes does not support operators in a reference"),
            Some(name),
        ),
        ReferenceFlaw::Nested => {
            ("a reference cannot contain a reference", "build the value in a separate entry of `env`".to_owned(), None)
        }
        ReferenceFlaw::Unclosed(name) => ("the closing `)` is missing", format!("write `$({name})`"), Some(name)),
    };
    let about = name.map_or_else(|| leading_name(written.trim_start_matches("$(")), String::as_str);
    let message = format!("`{written}` is not expanded: {why}");
    let fix = fix(container, text, range.clone(), flaw);
    let choice = match flaw {
        ReferenceFlaw::Extended(name) if fix.is_none() => write_name(container, text, range.clone(), name),
        _ => None,
    };
    let finding = Finding::new(container.inside(text.text, range), about, message);
    findings.push(finding.help(help).fix(fix).choice(choice));
}

/// The fix that writes `$(X)`, if a variable of that name exists and no other text is lost.
fn fix(
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    range: Range<usize>,
    flaw: &ReferenceFlaw,
) -> Option<Fix> {
    let opened = |name: &str| range.start..range.start + 2 + name.len();
    let (name, replaced) = match flaw {
        ReferenceFlaw::Padded(name) | ReferenceFlaw::Unclosed(name) => (name, range.clone()),
        ReferenceFlaw::Default(name) if !ends_early(text, &range) => (name, range.clone()),
        // The `)` belongs to the text after the name.
        ReferenceFlaw::Extended(name) if ends_early(text, &range) => (name, opened(name)),
        ReferenceFlaw::Default(_) | ReferenceFlaw::Extended(_) | ReferenceFlaw::Nested => return None,
    };
    let fix = write_name(container, text, replaced, name)?;
    Some(Fix { safe: matches!(flaw, ReferenceFlaw::Padded(_)), ..fix })
}

/// The edit that writes `$(X)` in place of a range, if there is such a variable.
fn write_name(
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    replaced: Range<usize>,
    name: &str,
) -> Option<Fix> {
    let new = format!("$({name})");
    let is_bound = matches!(container.lookup(name, text.variables()), Lookup::Bound(_));
    let title = format!("Write `{new}`");
    is_bound.then(|| reference_fixes::replace(container, text.text, replaced, &new, title))?
}

/// Whether the `)` that ends a reference closes another parenthesis, and none closes the reference: `$(X/ (y)`.
fn ends_early(text: &ExpandedText<'_>, range: &Range<usize>) -> bool {
    let (value, written) = (&text.text.value, &text.text.value[range.clone()]);
    let is_balanced = written.matches('(').count() == written.matches(')').count();
    !is_balanced && whole_reference(value, range.clone()) == *range
}
