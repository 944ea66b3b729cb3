//! The rule `invalid-variable-name`.

use crate::resolve::{is_relaxed_variable_name, is_strict_variable_name};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::syntax::{may_be_replaced, show_placeholders};

declare_rule! {
    /// Reports a name that the API server rejects for a variable.
    ///
    /// ## What it does
    /// Checks each `name` in `env` by the rules of the target release: up to 1.31 letters, digits, `-`, `.` and `_`,
    /// not starting with a digit; since 1.32 any printable ASCII characters except `=`. The finding covers the name.
    ///
    /// ## Why it matters
    /// The API server rejects the whole object.
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
    ///         - {name: SHOP=NAME, value: Vegetables}
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
    ///         - {name: SHOP_NAME, value: Vegetables}
    /// ```
    ///
    /// ## Fix
    /// None: the program decides the names of its variables.
    name: "invalid-variable-name",
    level: Error,
    checks: [ContainerOrPreset(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    let file = container.object.file;
    let release = container.entry_release();
    // V3.
    let relaxed = release.is_at_least(32);
    for entry in &container.container.env {
        let Some(name) = &entry.name else {
            // V4. `malformed-env` reports an entry that is empty, or has another shape.
            let span = entry.value.as_ref().map(|it| it.span).or(entry.from.as_ref().map(|it| it.span));
            if let Some(span) = span.filter(|_| !entry.is_malformed && !file.is_template()) {
                findings.push(Finding::new(container.at(span), "name", "this entry of `env` has no `name`"));
            }
            continue;
        };
        let valid = if relaxed { is_relaxed_variable_name(&name.value) } else { is_strict_variable_name(&name.value) };
        if valid || !name.is_string || (may_be_replaced(&name.value) && !name.value.contains('=')) {
            continue;
        }
        let rule = if relaxed {
            "printable ASCII characters except `=`"
        } else {
            "letters, digits, `-`, `.` and `_`, not starting with a digit"
        };
        let message = match &*name.value {
            "" => "the name of the variable is empty".to_owned(),
            other => format!("`{}` is not a valid name of a variable", show_placeholders(other).escape_debug()),
        };
        let help = format!("Kubernetes {release} allows {rule}");
        findings.push(Finding::new(container.at(name.span), &name.value, message).help(help));
    }
}
