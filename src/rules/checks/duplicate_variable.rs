//! The rule `duplicate-variable`.

use crate::k8s::{ContainerRole, EnvVar};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};

declare_rule! {
    /// Reports a variable that is declared twice in one container.
    ///
    /// ## What it does
    /// Reports an entry of `env` whose name an earlier entry has, exactly where the API server warns: a value that
    /// builds on the earlier one, such as `$(OPTIONS) --more`, is fine. The finding covers the later entry's name.
    ///
    /// ## Why it matters
    /// The later entry wins, so the earlier one is dead. `env` is a list keyed by name: `kubectl apply` may drop one
    /// of the two, and server-side apply refuses them.
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
    /// Removes the earlier entry. Unsafe: entries between the two see the earlier value.
    name: "duplicate-variable",
    level: Warning,
    checks: [Container(check)],
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    // A patch may delete and set one name; a hook is no list of a pod.
    if container.container.role == ContainerRole::Hook || container.is_partial() {
        return;
    }
    let env = &container.container.env;
    for (at, entry) in env.iter().enumerate() {
        let Some(name) = entry.name.as_ref().filter(|it| !it.value.is_empty()) else { continue };
        let same = |other: &&EnvVar| other.name.as_ref().is_some_and(|it| it.value == name.value);
        let Some(before) = env[..at].iter().rposition(|other| same(&other)) else { continue };
        let earlier = &env[before];
        if builds_on_earlier(entry, &name.value) || container.pod.object.file.is_template() {
            continue;
        }
        let finding = Finding::new(
            container.at(name.span),
            &name.value,
            format!("`{}` hides an earlier entry of the same name, which `kubectl apply` may drop", name.value),
        );
        // Where the earlier one refers to anything, something between mentions the name, or a third entry stands above,
        // a person decides.
        let mentions = |it: &EnvVar, what: &str| it.value.as_ref().is_some_and(|it| it.value.contains(what));
        let is_seen = mentions(earlier, "$") || env[before + 1..at].iter().any(|it| mentions(it, &name.value));
        let title = || format!("Remove the earlier entry of `{}`", name.value);
        let is_plain = !is_seen && env[..at].iter().filter(same).count() == 1;
        let fix = is_plain.then(|| container.removal(earlier.span, title())).flatten();
        let earlier_name = earlier.name.as_ref().map_or(earlier.span, |it| it.span);
        findings.push(
            finding
                .related(container.at(earlier_name), "declared here before")
                .help(format!("keep one of the two, or build on the earlier one with `$({})`", name.value))
                .fix(fix),
        );
    }
}

/// V20.
fn builds_on_earlier(entry: &EnvVar, name: &str) -> bool {
    let own = format!("$({name})");
    let value = entry.value.as_ref().map_or("", |it| &it.value);
    entry.from.is_none() && value.contains(&own) && value != own
}
