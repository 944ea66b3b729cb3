//! `forward-reference`

use crate::resolve::{Lookup, Why};
use crate::rules::{ContainerContext, Finding, Findings, declare_rule};

declare_rule! {
    /// Reports `$(X)` in an env value where X is declared only later.
    ///
    /// ## What it does
    /// Entries of `env` are expanded in order, and each sees only those before it. Reports a reference to an entry
    /// further down, or to one that a controller adds at the end (an indexed Job's `JOB_COMPLETION_INDEX`). The finding
    /// covers the reference.
    ///
    /// ## Why it matters
    /// The value silently keeps the text `$(X)`, although X exists in the container.
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
    ///         - name: URL
    ///           value: http://$(HOST)/
    ///         - name: HOST
    ///           value: example.com
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
    ///         - name: HOST
    ///           value: example.com
    ///         - name: URL
    ///           value: http://$(HOST)/
    /// ```
    ///
    /// ## Fix
    /// Moves the declaration above its first use, with its comments.
    FORWARD_REFERENCE = "forward-reference", Error, Container(check);
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for unresolved in container.environment.unresolved.iter().filter(|it| it.why == Why::Forward) {
        let name = &unresolved.name;
        let finding = Finding::new(
            container.inside(&unresolved.text, unresolved.range.clone()),
            format!("`$({name})` stays as it is: `{name}` is declared only later"),
        );
        let declared = match &unresolved.outcome {
            Lookup::Later(origin) => origin.location.clone(),
            _ => None,
        };
        findings.push(match declared {
            Some(location) => finding.related(location, "declared here").help(format!("move `{name}` above its use")),
            None => {
                finding.help(format!("`{name}` is added behind all entries of `env`: use it in `command` or `args`"))
            }
        });
    }
}
