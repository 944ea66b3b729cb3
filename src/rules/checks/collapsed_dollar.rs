//! The rule `collapsed-dollar`.

use std::ops::Range;

use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::expanded_texts;
use crate::rules::shared::shell_detection::ShellUse;
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
    /// Doubles the dollar signs, so that the text arrives as written. Unsafe: the loss may be intended.
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
            let title = format!("Write `{doubled}` to keep `{written}`");
            findings.push(
                Finding::new(
                    container.inside(text.text, run.clone()),
                    text.name(),
                    format!("`{written}` becomes `{kept}`: `$$` is an escaped dollar sign"),
                )
                .help(format!("write `{doubled}` to keep `{written}`, or `{kept}` if that is meant"))
                .fix(reference_fixes::replace(container, text.text, run, &doubled, title)),
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
