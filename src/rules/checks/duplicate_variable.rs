//! The rule `duplicate-variable`.

use crate::k8s::EnvVar;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};

declare_rule! {
    /// Reports a variable that is declared twice in one container.
    ///
    /// ## What it does
    /// Reports an entry of `env` that has the name of an earlier entry, exactly where the API server warns. A value
    /// that uses the earlier one, such as `$(OPTIONS) --more`, is not reported. The finding covers the name of the
    /// later entry.
    ///
    /// ## Why it matters
    /// The later entry wins, so the earlier one has no effect. `env` is a list keyed by name: `kubectl apply` may drop
    /// one of the two entries, and server-side apply rejects them.
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
    ///         - {name: LOG_LEVEL, value: info}
    ///         - {name: LOG_LEVEL, value: debug}
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
    ///         - {name: LOG_LEVEL, value: debug}
    /// ```
    ///
    /// ## Fix
    /// Removes the earlier entry. Unsafe: entries between the two use the earlier value. Editors also offer to remove
    /// the later one.
    name: "duplicate-variable",
    level: Warning,
    checks: [Container(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    // A patch may delete and set the same name.
    if container.is_partial() {
        return;
    }
    let env = &container.container.env;
    for (at, entry) in env.iter().enumerate() {
        let Some(name) = entry.name.as_ref().filter(|it| !it.value.is_empty()) else { continue };
        let same = |other: &&EnvVar| other.name.as_ref().is_some_and(|it| it.value == name.value);
        let Some(before) = env[..at].iter().rposition(|other| same(&other)) else { continue };
        let earlier = &env[before];
        let is_repeat = |other: &EnvVar| same(&other) && !uses_earlier_value(other, &name.value);
        // The last repeat is reported, with all entries before it.
        if !is_repeat(entry) || env[at + 1..].iter().any(is_repeat) || container.object.file.is_template() {
            continue;
        }
        // The entries may be the two sides of a merge conflict.
        if !container.object.has_certain_structure() {
            return;
        }
        let count = env[..at].iter().filter(same).count();
        let (times, hidden) = match count {
            1 => ("twice".to_owned(), "the earlier one"),
            _ => (format!("{} times", count + 1), "the earlier ones"),
        };
        let message = format!(
            "`{}` is declared {times}: this entry hides {hidden}, and `kubectl apply` may drop one of them",
            name.value
        );
        let finding = Finding::new(container.at(name.span), &name.value, message);
        // No fix if the earlier value has references, if an entry between the two mentions the name, or if there is a
        // third entry: removing one may then change other values.
        let mentions = |it: &EnvVar, what: &str| it.value.as_ref().is_some_and(|it| it.value.contains(what));
        let is_seen = mentions(earlier, "$") || env[before + 1..at].iter().any(|it| mentions(it, &name.value));
        let title = || format!("Remove the earlier entry of `{}`", name.value);
        let is_plain = !is_seen && count == 1;
        let fix = is_plain.then(|| container.removal(earlier.span, title())).flatten();
        let names = env[..at].iter().filter(same).filter_map(|it| it.name.as_ref());
        let finding = names.fold(finding, |it, name| it.related(container.at(name.span), "an earlier entry"));
        findings.push(
            finding
                .help(if count == 1 { "remove one of the two" } else { "remove all but one" })
                .fix(fix)
                .choice(container.removal(entry.span, format!("Remove this entry of `{}`", name.value))),
        );
    }
}

/// Whether the value uses the earlier one, so that the API server does not warn (V20).
fn uses_earlier_value(entry: &EnvVar, name: &str) -> bool {
    let own = format!("$({name})");
    let value = entry.value.as_ref().map_or("", |it| &it.value);
    entry.from.is_none() && value.contains(&own) && value != own
}
