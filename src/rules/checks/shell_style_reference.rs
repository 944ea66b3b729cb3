//! The rule `shell-style-reference`.

use std::ops::Range;

use crate::diagnostic::Severity;
use crate::k8s::VariableScope;
use crate::resolve::{Lookup, ShellUse, is_expanded_by_programs};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::reference_fixes;
use crate::rules::shared::reference_verdicts::{ExpandedText, expanded_texts};
use crate::syntax::{DollarTokenKind, dollar_tokens};

declare_rule! {
    /// Reports `${X}` or `$X` of a variable of the container where no shell runs.
    ///
    /// ## What it does
    /// Looks at env values, `command`, `args`, exec probes and `subPathExpr`, and reports `${X}`, `${X:-default}` and
    /// `$X` if `X` is a variable of the container. Not reported are shell scripts, `${P}` of a parameter in a template,
    /// and `X: ${X}`, which a tool fills in before Kubernetes reads it. A list of directories that is extended, as in
    /// `PATH: $PATH:/opt/bin`, is reported: the list of the image is lost. In the value of a variable that programs are known to
    /// expand themselves, such as `JAVA_OPTS`, the finding is a hint. The finding covers the reference.
    ///
    /// ## Why it matters
    /// Kubernetes expands only `$(X)`. Without a shell the program gets the text `${X}`.
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
    ///         - {name: QUEUE, value: mail}
    ///       args: ["--queue=${QUEUE}"]
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
    ///         - {name: QUEUE, value: mail}
    ///       args: ["--queue=$(QUEUE)"]
    /// ```
    ///
    /// ## Fix
    /// Writes `$(X)`, if `X` has a value at this place. Unsafe: some programs expand `${X}` themselves.
    name: "shell-style-reference",
    level: Warning,
    checks: [ContainerOrPresetInPod(check)],
    sees: Built,
    helm: AnyScalar,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for text in expanded_texts(container).iter().filter(|it| it.shell == ShellUse::No) {
        for (range, name, form) in shell_references(&text.text.value) {
            if is_reported(container, text, name, form) {
                report(container, text, range, name, form, findings);
            }
        }
    }
}

/// The syntax of a reference in a shell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShellSyntax {
    /// `$X`
    Bare,
    /// `${X}`
    Braces,
    /// `${X:-y}`
    Operator,
}

/// The references in shell syntax in a text, each with its name.
fn shell_references(value: &str) -> Vec<(Range<usize>, &str, ShellSyntax)> {
    let mut all = Vec::new();
    for token in dollar_tokens(value).filter(|it| it.kind == DollarTokenKind::Plain) {
        let start = token.range.start;
        let rest = &value[start + 1..];
        let (inner, braces) = rest.strip_prefix('{').map_or((rest, false), |inner| (inner, true));
        let length = inner.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        let name = &inner[..length];
        if !name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') {
            continue;
        }
        let after = &inner[length..];
        let (form, length) = match after.find('}') {
            _ if !braces => (ShellSyntax::Bare, 1 + length),
            Some(0) => (ShellSyntax::Braces, 3 + length),
            Some(close) if after.starts_with(":-") || after.starts_with(":=") || after.starts_with('-') => {
                (ShellSyntax::Operator, 3 + length + close)
            }
            _ => continue,
        };
        all.push((start..start + length, name, form));
    }
    all
}

fn is_reported(container: &ContainerContext<'_>, text: &ExpandedText<'_>, name: &str, form: ShellSyntax) -> bool {
    let Lookup::Bound(_) = container.lookup(name, VariableScope::All) else { return false };
    // `X: ${X}` is filled in by a tool, and the same tool fills in the other uses of `${X}`.
    let own = container.container.env.iter().filter(|it| it.name.as_ref().is_some_and(|it| &*it.value == name));
    let is_filled = |value: &str| {
        shell_references(value).iter().any(|(range, it, _)| *it == name && !extends_path(value, range, name))
    };
    let filled = own.filter_map(|it| it.value.as_ref()).any(|it| is_filled(&it.value));
    let template = container.object.object.source.template.as_ref();
    let is_parameter = || form == ShellSyntax::Braces && template.is_some_and(|it| it.parameters.contains(name));
    let reaches = || text.variable.is_some_and(|own| container.reaches_shell(own));
    !filled && !is_parameter() && !reaches()
}

/// Whether a value adds directories to a list of them that the image has: `PATH: $PATH:/opt/bin`. No tool fills in such a
/// reference, since it would be the list of another machine.
fn extends_path(value: &str, reference: &Range<usize>, name: &str) -> bool {
    let (before, after) = (&value[..reference.start], &value[reference.end..]);
    name.ends_with("PATH") && (after.starts_with(":/") || before.starts_with('/') && before.ends_with(':'))
}

fn report(
    container: &ContainerContext<'_>,
    text: &ExpandedText<'_>,
    range: Range<usize>,
    name: &str,
    form: ShellSyntax,
    findings: &mut Findings<'_>,
) {
    let written = &text.text.value[range.clone()];
    let new = format!("$({name})");
    let visible = container.lookup(name, text.variables());
    let has_value = match &visible {
        Lookup::Bound(binding) => !text.field.is_probe() && !binding.value.is_empty(),
        _ => false,
    };
    let fix = (has_value && text.variable != Some(name) && form != ShellSyntax::Operator)
        .then(|| reference_fixes::replace(container, text.text, range.clone(), &new, format!("Write `{new}`")))
        .flatten();
    let is_own = text.variable == Some(name);
    let message = if is_own {
        format!("`{written}` is not expanded: no shell runs here, so the value of the image is lost")
    } else {
        format!("`{written}` is not expanded: no shell runs here, and Kubernetes expands only `{new}`")
    };
    let finding = Finding::new(container.inside(text.text, range), name, message).fix(fix);
    // Above the declaration of its variable `$(X)` is not expanded either.
    let finding = match (visible, text.variable) {
        (Lookup::Bound(_), _) | (_, None) if !is_own => finding.help(format!("write `{new}`")),
        _ => finding,
    };
    let is_hint = text.variable.is_some_and(is_expanded_by_programs);
    findings.push(if is_hint { finding.at_most(Severity::Hint) } else { finding });
}
