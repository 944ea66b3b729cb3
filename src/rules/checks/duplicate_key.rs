//! The rule `duplicate-key`.

use crate::rules::engine::{FileContext, Finding, Findings, declare_rule};
use crate::rules::shared::item_removal::remove_field;

declare_rule! {
    /// Reports a key that appears twice in one mapping.
    ///
    /// ## What it does
    /// Looks at every mapping of a Kubernetes object and reports a key that the mapping already has. Keys of a merge
    /// (`<<`) may be repeated, and templates of Helm and other engines are not checked. The finding covers the later
    /// key.
    ///
    /// ## Why it matters
    /// Only the last one is used, and there is no warning; `kubectl apply` rejects the object or drops the first.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data:
    ///   LOG_LEVEL: info
    ///   LOG_LEVEL: debug
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data:
    ///   LOG_LEVEL: debug
    /// ```
    ///
    /// ## Fix
    /// Editors offer to remove the earlier or the later key. Only the author knows which of the two is meant.
    name: "duplicate-key",
    level: Error,
    checks: [File(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    if file.facts.duplicate_keys.is_empty() || file.is_template() {
        return;
    }
    let Some(source) = file.parsed_text() else { return };
    for (before, again) in &file.facts.duplicate_keys {
        let key = source.text.get(again.range()).unwrap_or_default().trim_matches(['"', '\'']);
        findings.push(
            Finding::new(
                file.at(*again),
                key,
                format!("the key `{key}` appears twice in this mapping: only the last one is used"),
            )
            .related(file.at(*before), "the earlier key")
            .help("remove one of the two")
            .choice(remove_field(file, &file.at(*before), format!("Remove the earlier `{key}`")))
            .choice(remove_field(file, &file.at(*again), format!("Remove this `{key}`"))),
        );
    }
}
