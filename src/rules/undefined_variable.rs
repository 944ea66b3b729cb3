//! `undefined-variable`

use crate::resolve::Why;
use crate::rules::{ContainerContext, Finding, Findings, declare_rule};

declare_rule! {
    /// Reports `$(X)` that nothing defines, so the text stays as it is.
    ///
    /// ## What it does
    /// Looks at every `$(X)` that Kubernetes expands (env values, command, args, `subPathExpr`, exec probes) and
    /// reports those whose name is not in the container's environment. The finding covers the reference.
    ///
    /// ## Why it matters
    /// Kubernetes does not refuse such a reference: the program gets the text `$(X)` itself. A name that something
    /// outside the workspace may define is never reported, nor is command substitution in a shell script.
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
    ///         - {name: DB_HOST, value: db}
    ///         - {name: DB_URL, value: "postgres://$(DB_HSOT)/shop"}
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
    ///         - {name: DB_HOST, value: db}
    ///         - {name: DB_URL, value: "postgres://$(DB_HOST)/shop"}
    /// ```
    ///
    /// ## Fix
    /// Writes the name in scope that differs least, or escapes the reference as `$$(X)`. Both are unsafe: only the
    /// author knows what was meant.
    UNDEFINED_VARIABLE = "undefined-variable", Warning, Container(check);
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for unresolved in container.environment.unresolved.iter().filter(|it| it.why == Why::Undefined) {
        let name = &unresolved.name;
        findings.push(
            Finding::new(
                container.inside(&unresolved.text, unresolved.range.clone()),
                format!("`$({name})` stays as it is: nothing defines `{name}`"),
            )
            .help(format!("declare `{name}` in `env`, or write `$$({name})` if the text is meant")),
        );
    }
}
