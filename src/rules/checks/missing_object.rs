//! The rule `missing-object`.

use crate::build::is_dns_subdomain_prefix;
use crate::k8s::{Text, ValueSource};
use crate::resolve::{OriginKind, other_namespace};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::similar_names::{nearest_name, rename_fix};
use crate::rules::shared::source_objects::{imported_object, kind_name};
use crate::syntax::may_be_replaced;

declare_rule! {
    /// Reports a ConfigMap or Secret that is not in the workspace.
    ///
    /// ## What it does
    /// Looks at `envFrom`, `configMapKeyRef` and `secretKeyRef`, and reports a name that no object in the workspace has
    /// and that is not optional. Off by default, because most workspaces do not contain all objects. Objects that exist
    /// elsewhere can be listed in `externals` of the settings. The finding covers the name.
    ///
    /// ## Why it matters
    /// The container does not start until the object exists.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data: {banner: Hello}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - configMapRef: {name: setings}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: settings}
    /// data: {banner: Hello}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       envFrom:
    ///         - configMapRef: {name: settings}
    /// ```
    ///
    /// ## Fix
    /// Writes the most similar name in the workspace. Unsafe: only the author knows what was meant.
    name: "missing-object",
    level: Off,
    checks: [ContainerOrPreset(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for entry in &container.container.env_from {
        if let Some((kind, Some(name), false)) = imported_object(entry) {
            check_reference(container, kind, name, findings);
        }
    }
    for source in container.container.env.iter().filter_map(|it| it.from.as_ref()?.sources.first()) {
        let (kind, key) = match source {
            ValueSource::ConfigMap(key) => (OriginKind::ConfigMap, key),
            ValueSource::Secret(key) => (OriginKind::Secret, key),
            _ => continue,
        };
        if let (Some(name), false) = (&key.name, key.optional) {
            check_reference(container, kind, name, findings);
        }
    }
}

fn check_reference(container: &ContainerContext<'_>, kind: OriginKind, name: &Text, findings: &mut Findings<'_>) {
    // `invalid-value-source` reports a name that no object can have.
    let can_exist = is_dns_subdomain_prefix(&name.value) && !may_be_replaced(&name.value);
    if !can_exist || !container.objects(kind, &name.value).is_empty() {
        return;
    }
    let object = container.object;
    let names = match kind {
        OriginKind::Secret => object.file.snapshot.secret_names(object.lookup_site()),
        _ => object.file.snapshot.config_map_names(object.lookup_site()),
    };
    let what = kind_name(kind);
    let other = other_namespace(object.object, kind, &name.value);
    let message = match &other {
        Some(other) => format!("{what} `{}` is {other}", name.value),
        None => format!("there is no {what} `{}` in the workspace", name.value),
    };
    let finding = Finding::new(container.at(name.span), &name.value, message);
    if other.is_some() {
        findings.push(finding.help("a pod sees only objects of its own namespace"));
        return;
    }
    findings.push(match nearest_name(&name.value, names.iter().map(|it| &**it)) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).fix(rename_fix(&object, name, near)),
        None => finding.help("add it, set `optional: true`, or list it in `externals` of the settings"),
    });
}
