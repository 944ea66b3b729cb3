//! The rule `missing-key`.

use crate::build::BuiltMatch;
use crate::k8s::{EnvVar, KeyRef, ObjectData, Text, ValueSource};
use crate::resolve::OriginKind;
use crate::rules::engine::{ContainerContext, Finding, Findings, declare_rule};
use crate::rules::shared::rename_fix::rename_fix;
use crate::rules::shared::source_objects::{keys, kind_name};
use crate::syntax::may_be_replaced;
use crate::text::nearest_name;

declare_rule! {
    /// Reports a key that its ConfigMap or Secret does not have.
    ///
    /// ## What it does
    /// Looks at `configMapKeyRef` and `secretKeyRef` whose object is in the workspace, and reports a key that is not in
    /// it and is not optional. If the name may refer to several objects, none of them has the key. Objects that are
    /// sealed, generated from files, patched or filled by a controller may have any key. The finding covers the key.
    ///
    /// ## Why it matters
    /// The container does not start: `CreateContainerConfigError`.
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
    ///       env:
    ///         - name: BANNER
    ///           valueFrom: {configMapKeyRef: {name: settings, key: baner}}
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
    ///       env:
    ///         - name: BANNER
    ///           valueFrom: {configMapKeyRef: {name: settings, key: banner}}
    /// ```
    ///
    /// ## Fix
    /// Writes the most similar key of the object. Unsafe: only the author knows what was meant. Editors also offer to
    /// add the key to the object, to make the reference optional, and to list the key in `externals`.
    name: "missing-key",
    level: Error,
    checks: [ContainerOrPreset(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(container: &ContainerContext<'_>, findings: &mut Findings<'_>) {
    for finding in container.container.env.iter().filter_map(|it| check_entry(container, it)) {
        findings.push(finding);
    }
}

/// Whether the object of an entry lacks its key.
pub(in crate::rules) fn lacks_key(container: &ContainerContext<'_>, entry: &EnvVar) -> bool {
    check_entry(container, entry).is_some()
}

fn check_entry(container: &ContainerContext<'_>, entry: &EnvVar) -> Option<Finding> {
    let (kind, reference) = match entry.from.as_ref()?.sources.first()? {
        ValueSource::ConfigMap(reference) => (OriginKind::ConfigMap, reference),
        ValueSource::Secret(reference) => (OriginKind::Secret, reference),
        _ => return None,
    };
    let KeyRef { name: Some(name), key: Some(key), optional: false } = reference else { return None };
    let is_known = !may_be_replaced(&name.value) && !may_be_replaced(&key.value) && !key.value.is_empty();
    let finding = if is_known { check_reference(container, kind, name, key) } else { None };
    let variable = entry.name.as_ref().map_or("", |it| &it.value);
    finding.filter(|_| !container.may_be_set_by_patch(variable))
}

fn check_reference(container: &ContainerContext<'_>, kind: OriginKind, name: &Text, key: &Text) -> Option<Finding> {
    let found = container.objects(kind, &name.value);
    let has = |it: &BuiltMatch<'_>| keys(it).any(|other| other.key.value == key.value);
    // A ConfigMap or Secret without keys is probably filled by another tool.
    let is_empty = |it: &BuiltMatch<'_>| keys(it).next().is_none() && binary_key(it, &key.value).is_none();
    if found.is_empty() || found.iter().any(|it| it.may_have_more_keys || has(it) || is_empty(it)) {
        return None;
    }
    let file = container.object.file;
    let is_template = |it: &BuiltMatch<'_>| file.snapshot.file(it.object.file).is_some_and(|facts| facts.is_template());
    if found.iter().any(is_template) {
        return None;
    }
    let what = kind_name(kind);
    let binary = found.iter().find_map(|it| Some((it, binary_key(it, &key.value)?)));
    let mut finding = Finding::new(
        container.at(key.span),
        format!("{}/{}", name.value, key.value),
        match binary {
            Some(_) => {
                format!("`{}` is binary data of {what} `{}`: binary data cannot be a variable", key.value, name.value)
            }
            None => format!("{what} `{}` has no key `{}`", name.value, key.value),
        },
    );
    if let Some((it, binary)) = binary {
        finding = finding.related(it.location(binary.span), "this key").help("only keys of `data` can be variables");
    } else if let Some(near) = near_key(&key.value, found.iter().flat_map(keys).map(|it| &*it.key.value)) {
        finding = finding.help(format!("did you mean `{near}`?")).fix(rename_fix(&container.object, key, near));
    } else {
        finding = finding.help("add the key, or set `optional: true`");
    }
    let first = &found[0];
    if binary.is_none()
        && let Some(title) = first.object.model.reference_name_text()
    {
        finding = finding.related(first.location(title.span), format!("the {what}"));
    }
    Some(finding)
}

/// The key that was probably meant. One that lacks the first word of the other is the same key of something else:
/// `cache-password` and `password`.
fn near_key<'k>(written: &str, keys: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let lacks_word = |key: &str| written.strip_suffix(key).is_some_and(|word| word.ends_with(['-', '_', '.']));
    nearest_name(written, keys.filter(|it| !lacks_word(it)))
}

/// The key in `binaryData`, which `configMapKeyRef` does not read (B18).
fn binary_key<'s>(found: &BuiltMatch<'s>, key: &str) -> Option<&'s Text> {
    match &found.object.model.data {
        ObjectData::ConfigMap(source) => source.binary_keys.iter().find(|it| &*it.value == key),
        _ => None,
    }
}
