//! The rule `duplicate-variable`.

use std::collections::HashMap;

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

/// Between entries with more others between them no reference is looked for.
const FAR: usize = 1_000;

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    // A patch may delete and set the same name.
    if container.is_partial() || container.object.file.is_template() {
        return;
    }
    let env = &container.container.env;
    let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, entry) in env.iter().enumerate() {
        if let Some(name) = entry.name.as_ref().filter(|it| !it.value.is_empty()) {
            positions.entry(&name.value).or_default().push(at);
        }
    }
    // The last repeat is reported, with all entries before it.
    let last_repeat = |name: &str, all: &[usize]| {
        all.iter().skip(1).rposition(|at| !uses_earlier_value(&env[*at], name)).map(|it| it + 1)
    };
    let mut repeated: Vec<(usize, &[usize])> = Vec::new();
    for (at, entry) in env.iter().enumerate() {
        let Some(all) = entry.name.as_ref().and_then(|it| positions.get(&*it.value)) else { continue };
        if all.len() > 1 && all[0] == at {
            let name = entry.name.as_ref().map_or("", |it| &it.value);
            repeated.extend(last_repeat(name, all).map(|last| (all[last], &all[..last])));
        }
    }
    repeated.sort_unstable();
    // The entries may be the two sides of a merge conflict.
    if repeated.is_empty() || !container.object.has_certain_structure() {
        return;
    }
    for (at, earlier) in repeated {
        let entry = &env[at];
        let (Some(name), Some(before)) = (&entry.name, earlier.last().copied()) else { continue };
        let message = format!(
            "`{}` is declared again: this entry hides the earlier one, and `kubectl apply` may drop one of them",
            name.value
        );
        let finding = Finding::new(container.at(name.span), &name.value, message);
        // No fix if the earlier value has references, if an entry between the two mentions the name, or if there is a
        // third entry: removing one may then change other values.
        let mentions = |it: &EnvVar, what: &str| it.value.as_ref().is_some_and(|it| it.value.contains(what));
        let is_seen = mentions(&env[before], "$")
            || at - before > FAR
            || env[before + 1..at].iter().any(|it| mentions(it, &name.value));
        let title = || format!("Remove the earlier entry of `{}`", name.value);
        let is_plain = !is_seen && earlier.len() == 1;
        let fix = is_plain.then(|| container.removal(env[before].span, title())).flatten();
        let names = earlier.iter().filter_map(|it| env[*it].name.as_ref());
        let finding = names.fold(finding, |it, name| it.related(container.at(name.span), "an earlier entry"));
        findings.push(
            finding
                .help(if earlier.len() == 1 { "remove one of the two" } else { "remove all but one" })
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
