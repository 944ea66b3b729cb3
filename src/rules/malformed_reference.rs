//! `malformed-reference`

use std::ops::Range;

use crate::resolve::Lookup;
use crate::rules::references::{Expanded, Flaw, Verdict, judged, texts};
use crate::rules::shape::{Shell, leading_name, whole};
use crate::rules::{ContainerContext, Finding, Findings, declare_rule, fixes};
use crate::syntax::{DollarTokenKind, dollar_tokens};

declare_rule! {
    /// Reports a reference that is written in a way Kubernetes does not read.
    ///
    /// ## What it does
    /// Looks at `$(X` without an end, a reference inside a reference (`$(A$(B))`), blanks around the name (`$( X )`) and
    /// shell defaults (`$(X:-y)`). The name is always everything up to the first `)`, character for character. The
    /// finding covers the reference as it is written; of one without end, `$(` and the name. Scripts are the shell's.
    ///
    /// ## Why it matters
    /// None of these is refused. The program gets the text as it is written, although the variable exists.
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
    /// Closes the reference, removes the blanks, or drops the default, if a variable of that name exists here. Only
    /// removing blanks is safe.
    MALFORMED_REFERENCE = "malformed-reference", Warning, Container(check);
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for (text, step, verdict) in judged(container) {
        let Verdict::Malformed(flaw) = verdict else { continue };
        let value = &text.text.value;
        let range = match &flaw {
            Flaw::Nested => whole(value, step.range.clone()),
            Flaw::Unclosed(name) => step.range.start..step.range.start + 2 + name.len(),
            Flaw::Padded(_) | Flaw::Default(_) => step.range.clone(),
        };
        report(container, &text, range, &flaw, findings);
    }
    for text in texts(container).iter().filter(|it| it.shell == Shell::No) {
        let value = &text.text.value;
        for token in dollar_tokens(value).filter(|it| it.kind == DollarTokenKind::Unterminated) {
            let name = leading_name(&value[token.range.end..]);
            // Without a name it is rather a pattern that ends with `$`.
            if name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') {
                let range = token.range.start..token.range.end + name.len();
                report(container, text, range, &Flaw::Unclosed(name.to_owned()), findings);
            }
        }
    }
}

fn report(
    container: &ContainerContext<'_>,
    text: &Expanded<'_>,
    range: Range<usize>,
    flaw: &Flaw,
    findings: &mut Findings<'_>,
) {
    let written = &text.text.value[range.clone()];
    let (message, help, name, safe) = match flaw {
        Flaw::Padded(name) => {
            (format!("`{written}` stays as it is: blanks count as part of the name"), None, Some(name), true)
        }
        Flaw::Default(name) => (
            format!("`{written}` stays as it is: Kubernetes knows no defaults in a reference"),
            Some(format!("declare `{name}` with its default in `env`, and write `$({name})`")),
            Some(name),
            false,
        ),
        Flaw::Nested => (
            format!("`{written}` stays as it is: a reference cannot stand in a reference"),
            Some("put the inner value together in an entry of `env` of its own".to_owned()),
            None,
            false,
        ),
        Flaw::Unclosed(name) => (
            format!("`{written}` stays as it is: the reference is not closed"),
            Some(format!("write `$({name})`")),
            Some(name),
            false,
        ),
    };
    let is_bound = |name: &&String| matches!(container.environment.lookup(text.field.site(), name), Lookup::Bound(_));
    let fix = name.filter(is_bound).and_then(|name| {
        let new = format!("$({name})");
        let fix = fixes::replace(container, text.text, range.clone(), &new, format!("Write `{new}`"))?;
        Some(crate::diagnostic::Fix { safe, ..fix })
    });
    let about = name.map_or_else(|| leading_name(written.trim_start_matches("$(")), |it| it);
    let help = help.or_else(|| name.map(|name| format!("write `$({name})`")));
    let finding = Finding::new(container.inside(text.text, range), about, message).fix(fix);
    findings.push(match help {
        Some(help) => finding.help(help),
        None => finding,
    });
}
