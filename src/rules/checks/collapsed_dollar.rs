//! The rule `collapsed-dollar`.

use std::ops::Range;

use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::expanded_texts;
use crate::rules::shared::shell_detection::ShellUse;

declare_rule! {
    /// Reports `$$` that does not escape a reference: one `$` is lost.
    ///
    /// ## What it does
    /// Looks at env values, command, args, exec probes and `subPathExpr`. `$$(X)` is how a reference is escaped, `$$$$` how
    /// two dollar signs are written, and `$${X}` how other tools escape; these are fine, and so is `$$X` in a script, where
    /// the shell then reads `$X`. The finding covers the dollar signs.
    ///
    /// ## Why it matters
    /// Kubernetes writes one `$` for every two, wherever they stand: a password `pa$$word` becomes `pa$word`, and the
    /// process id `$$` of a script becomes `$`.
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
    /// Doubles the dollar signs, so that they arrive as they were written. Unsafe: the loss may be known and wanted.
    name: "collapsed-dollar",
    level: Info,
    checks: [Container(check)],
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
                .help(format!("write `{doubled}` if `{written}` is meant, `{kept}` if not"))
                .fix(reference_fixes::replace(container, text.text, run, &doubled, title)),
            );
        }
    }
}

/// The two or three dollar signs in a row that lose one and escape nothing. More of them were written by someone who
/// knows.
fn lossy_runs(value: &str, shell: ShellUse) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(start) = value[at..].find('$').map(|found| at + found) {
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
