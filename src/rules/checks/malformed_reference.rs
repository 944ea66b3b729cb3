//! The rule `malformed-reference`.

use std::ops::Range;

use crate::resolve::Lookup;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_text::{leading_name, whole_reference};
use crate::rules::shared::reference_verdicts::{
    ExpandedText, ReferenceFlaw, ReferenceVerdict, expanded_texts, judge_references,
};
use crate::rules::shared::shell_detection::ShellUse;
use crate::syntax::{DollarTokenKind, dollar_tokens};

declare_rule! {
    /// Reports a reference with a syntax that Kubernetes does not support.
    ///
    /// ## What it does
    /// Reports `$(X` without its end, a reference inside a reference (`$(A$(B))`), spaces around the name (`$( X )`),
    /// defaults (`$(X:-y)`, `$(X:"y")`), and a name with an operator of a shell or with other text after it (`$(X%y)`,
    /// `$(X/a/b)`, `$(X$$y)`). For Kubernetes the name is everything up to the first `)`. The finding covers the
    /// reference as written; without an end, it covers `$(` and the name. Shell scripts are not checked.
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
    /// removing spaces is safe.
    name: "malformed-reference",
    level: Warning,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: LineWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judge_references(container) {
        let ReferenceVerdict::Malformed(flaw) = verdict else { continue };
        let value = &text.text.value;
        let range = match &flaw {
            ReferenceFlaw::Nested => whole_reference(value, step.range.clone()),
            ReferenceFlaw::Unclosed(name) => step.range.start..step.range.start + 2 + name.len(),
            ReferenceFlaw::Padded(_) | ReferenceFlaw::Default(_) | ReferenceFlaw::Extended(_) => step.range.clone(),
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
    let (message, help, name, safe) = match flaw {
        ReferenceFlaw::Padded(name) => {
            (format!("`{written}` is not expanded: spaces count as a part of the name"), None, Some(name), true)
        }
        ReferenceFlaw::Default(name) => (
            format!("`{written}` is not expanded: Kubernetes does not support defaults in a reference"),
            Some(format!("declare `{name}` with its default in `env`, and write `$({name})`")),
            Some(name),
            false,
        ),
        ReferenceFlaw::Extended(name) => (
            format!("`{written}` is not expanded: everything between the parentheses is the name"),
            Some(format!("write `$({name})`: Kubernetes does not support operators in a reference")),
            // The text after the name would be lost.
            None,
            false,
        ),
        ReferenceFlaw::Nested => (
            format!("`{written}` is not expanded: a reference cannot contain a reference"),
            Some("build the value in a separate entry of `env`".to_owned()),
            None,
            false,
        ),
        ReferenceFlaw::Unclosed(name) => (
            format!("`{written}` is not expanded: the closing `)` is missing"),
            Some(format!("write `$({name})`")),
            Some(name),
            false,
        ),
    };
    let is_bound = |name: &&String| matches!(container.lookup(name, text.variables()), Lookup::Bound(_));
    let fix = name.filter(is_bound).and_then(|name| {
        let new = format!("$({name})");
        let fix = reference_fixes::replace(container, text.text, range.clone(), &new, format!("Write `{new}`"))?;
        Some(crate::diagnostic::Fix { safe, ..fix })
    });
    let about = name.map_or_else(|| leading_name(written.trim_start_matches("$(")), String::as_str);
    let help = help.or_else(|| name.map(|name| format!("write `$({name})`")));
    let finding = Finding::new(container.inside(text.text, range), about, message).fix(fix);
    findings.push(match help {
        Some(help) => finding.help(help),
        None => finding,
    });
}
