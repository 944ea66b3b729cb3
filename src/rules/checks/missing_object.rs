//! The rule `missing-object`.

use crate::build::is_dns_subdomain_prefix;
use crate::build::{BuiltMatch, Elsewhere};
use crate::k8s::{ObjectData, Text, ValueSource};
use crate::resolve::{OriginKind, elsewhere, meant_objects};
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::rename_fix::rename_fix;
use crate::rules::shared::source_objects::{imported_object, kind_name};
use crate::syntax::may_be_replaced;
use crate::text::nearest_name;

declare_rule! {
    /// Reports a ConfigMap or Secret that is not in the workspace.
    ///
    /// ## What it does
    /// Looks at `envFrom`, `configMapKeyRef` and `secretKeyRef`, and reports a name that no object in the workspace has
    /// and that is not optional. Off by default, because most workspaces do not contain all objects. It is a warning by
    /// default where the name is probably misspelled: an object in scope has a name that differs in a letter, such as
    /// `shop-config` for `shop-conifg`; names that differ in a number or in a short word are not compared. A level in the settings holds for all findings. Objects that exist elsewhere
    /// can be listed in `externals` of the settings. The finding covers the name.
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
    /// Writes the most similar name in the workspace. Unsafe: only the author knows what was meant. Editors also
    /// offer to add the object, to make the reference optional, and to list the object in `externals`.
    name: "missing-object",
    level: Off,
    evident: Warning,
    checks: [ContainerOrPreset(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for entry in &container.container.env_from {
        if let Some((kind, Some(name), false)) = imported_object(entry) {
            check_reference(container, kind, name, None, findings);
        }
    }
    for source in container.container.env.iter().filter_map(|it| it.from.as_ref()?.sources.first()) {
        let (kind, key) = match source {
            ValueSource::ConfigMap(key) => (OriginKind::ConfigMap, key),
            ValueSource::Secret(key) => (OriginKind::Secret, key),
            _ => continue,
        };
        if let (Some(name), false) = (&key.name, key.optional) {
            check_reference(container, kind, name, key.key.as_ref(), findings);
        }
    }
}

fn check_reference(
    container: &ContainerContext<'_>,
    kind: OriginKind,
    name: &Text,
    key: Option<&Text>,
    findings: &mut Findings<'_>,
) {
    // `invalid-value-source` reports a name that no object can have.
    let can_exist = is_dns_subdomain_prefix(&name.value) && !may_be_replaced(&name.value);
    if !can_exist || !container.objects(kind, &name.value).is_empty() {
        return;
    }
    let object = container.object;
    let env_from = container.container.env_from.iter();
    let meant = meant_objects(object.object, kind, &name.value, env_from);
    let meant = meant.first().and_then(|it| it.object.model.reference_name());
    let other = elsewhere(object.object, kind, &name.value);
    // Whether the cluster has it is unknown.
    if matches!(other, Some(Elsewhere::File(_))) {
        return;
    }
    if let Some(other_kind) = key.and_then(|key| other_kind_with_key(container, kind, &name.value, &key.value))
        && other.is_none()
    {
        let (what, is) = (kind_name(kind), kind_name(other_kind));
        let message = format!("there is no {what} `{0}` in the workspace: `{0}` is a {is}", name.value);
        let reference = if other_kind == OriginKind::Secret { "secretKeyRef" } else { "configMapKeyRef" };
        let finding = Finding::new(container.at(name.span), &name.value, message);
        findings.push(finding.help(format!("did you mean `{reference}`?")));
        return;
    }
    if findings.only_evident && (meant.is_none() || other.is_some()) {
        return;
    }
    let what = kind_name(kind);
    let message = match &other {
        Some(other) => format!("{what} `{}` is {other}", name.value),
        None => format!("there is no {what} `{}` in the workspace", name.value),
    };
    let finding = Finding::new(container.at(name.span), &name.value, message);
    if other.is_some() {
        findings.push(finding.help("a pod sees only objects of its own namespace"));
        return;
    }
    let names = || match kind {
        OriginKind::Secret => object.file.snapshot.secret_names(object.lookup_site()),
        _ => object.file.snapshot.config_map_names(object.lookup_site()),
    };
    let near = match meant {
        Some(meant) => Some(meant.to_owned()),
        None => nearest_name(&name.value, names().iter().map(|it| &**it)).map(str::to_owned),
    };
    findings.push(match near {
        Some(near) => finding.help(format!("did you mean `{near}`?")).fix(rename_fix(&object, name, &near)),
        None => finding.help("add it, set `optional: true`, or list it in `externals` of the settings"),
    });
}

/// The other kind, if an object of it has this name and this key.
fn other_kind_with_key(
    container: &ContainerContext<'_>,
    kind: OriginKind,
    name: &str,
    key: &str,
) -> Option<OriginKind> {
    let other = if kind == OriginKind::Secret { OriginKind::ConfigMap } else { OriginKind::Secret };
    let has_key = |it: &BuiltMatch<'_>| match &it.object.model.data {
        ObjectData::ConfigMap(data) | ObjectData::Secret(data) => data.keys.iter().any(|it| &*it.key.value == key),
        _ => false,
    };
    container.objects(other, name).iter().any(has_key).then_some(other)
}
