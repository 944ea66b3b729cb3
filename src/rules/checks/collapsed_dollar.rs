//! The rule `collapsed-dollar`.

use std::ops::Range;

use crate::resolve::ShellUse;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::expanded_texts;
use crate::syntax::{DollarTokenKind, dollar_tokens};

declare_rule! {
    /// Reports `$$` that does not escape a reference: one `$` is lost.
    ///
    /// ## What it does
    /// Looks at env values, `command`, `args`, exec probes and `subPathExpr`. Not reported are `$$(X)`, an escaped
    /// reference; `$(X$$Y)`, where `$$` is a part of the name; `$$$$`, two dollar signs; `$${X}`, an escape of other
    /// tools; and `$$X` in a script, where the shell reads `$X`. The finding covers the dollar signs.
    ///
    /// ## Why it matters
    /// Kubernetes replaces every `$$` by one `$`: a password `pa$$word` becomes `pa$word`, and the process id `$$` in a
    /// script becomes `$`.
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
    ///         - {name: PASSWORD, value: "pa$$word"}
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
    ///         - {name: PASSWORD, value: "pa$$$$word"}
    /// ```
    ///
    /// ## Fix
    /// Editors offer to double the dollar signs, so that the text arrives as written, or to write those that arrive. Only
    /// the author knows which of the two is meant.
    name: "collapsed-dollar",
    level: Info,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for text in expanded_texts(container) {
        let value = &text.text.value;
        for run in lossy_runs(value, text.shell) {
            let (written, kept) = (&value[run.clone()], &value[run.start + 1..run.end]);
            let doubled = written.repeat(2);
            let keep = format!("Write `{doubled}` to keep `{written}`");
            // A single dollar sign is kept; two would lose one again.
            let simple = if kept.len() == 1 { kept.to_owned() } else { kept.repeat(2) };
            let accept = format!("Write `{simple}`, which arrives as `{kept}`");
            // Before a letter, one dollar sign looks like a variable of a shell.
            let is_name = value[run.end..].starts_with(|it: char| it.is_alphanumeric() || it == '_');
            let accepted = reference_fixes::replace(container, text.text, run.clone(), &simple, accept);
            findings.push(
                Finding::new(
                    container.inside(text.text, run.clone()),
                    text.name(),
                    format!("`{written}` becomes `{kept}`: `$$` is an escaped dollar sign"),
                )
                .help(match is_name {
                    true => format!("write `{doubled}` to keep `{written}`"),
                    false => format!("write `{doubled}` to keep `{written}`, or `{simple}` if `{kept}` is meant"),
                })
                .choice(reference_fixes::replace(container, text.text, run.clone(), &doubled, keep))
                .choice(accepted.filter(|_| !is_name)),
            );
        }
    }
}

/// Two or three dollar signs in a row that lose one and escape nothing. A longer row is written on purpose.
fn lossy_runs(value: &str, shell: ShellUse) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut at = 0;
    // E4: dollar signs inside a reference are a part of the name.
    for token in dollar_tokens(value).filter(|it| it.kind == DollarTokenKind::Escape) {
        let start = token.range.start;
        if start < at {
            continue;
        }
        let length = value[start..].bytes().take_while(|it| *it == b'$').count();
        at = start + length;
        let next = value[at..].chars().next();
        let escapes = match next {
            Some('(' | '{') => true,
            Some(it) if shell != ShellUse::No => {
                it.is_ascii_alphanumeric() || matches!(it, '_' | '@' | '*' | '#' | '?')
            }
            _ => false,
        };
        if matches!(length, 2 | 3) && !escapes {
            runs.push(start..at);
        }
    }
    runs
}
