//! The rule `invalid-env-from-key`.

use crate::build;
use crate::build::EnvFromRefusal;
use crate::diagnostic::Location;
use crate::k8s::{DataEntry, EnvFrom, ObjectData};
use crate::resolve::{OriginKind, is_strict_variable_name};
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};
use crate::rules::shared::source_objects::{imported_object, keys, kind_name, objects};
use crate::syntax::may_be_replaced;

declare_rule! {
    /// Reports a key that `envFrom` skips because it is not a valid name of a variable, and an invalid `prefix`.
    ///
    /// ## What it does
    /// For releases up to 1.29, looks at the keys of ConfigMaps and Secrets that a container imports with `envFrom`,
    /// and reports keys that the kubelet skips: together with the prefix they are not a valid name. Later releases
    /// import every key. For all releases, reports a `prefix` that the API server rejects. The finding covers the key
    /// or the prefix.
    ///
    /// ## Why it matters
    /// The container starts without the variable. Only an event of the pod mentions it.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: kiosk}
    /// spec:
    ///   containers:
    ///     - name: kiosk
    ///       image: kiosk
    ///       envFrom:
    ///         - prefix: "FLOOR="
    ///           configMapRef: {name: floors}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: kiosk}
    /// spec:
    ///   containers:
    ///     - name: kiosk
    ///       image: kiosk
    ///       envFrom:
    ///         - prefix: FLOOR_
    ///           configMapRef: {name: floors}
    /// ```
    ///
    /// ## Fix
    /// None: a `prefix` that makes the name valid changes the name that the program has to read.
    name: "invalid-env-from-key",
    level: Warning,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    check_prefixes(object, findings);
    let (kind, source) = match &object.object.model.data {
        ObjectData::ConfigMap(source) => (OriginKind::ConfigMap, source),
        ObjectData::Secret(source) => (OriginKind::Secret, source),
        _ => return,
    };
    // Few keys are invalid as names, so the search for their users is rare.
    for key in
        source.keys.iter().filter(|it| !is_strict_variable_name(&it.key.value) && !may_be_replaced(&it.key.value))
    {
        if let Some(user) = first_user(object, kind, key) {
            let key = &key.key;
            findings.push(
                Finding::new(
                    object.at(key.span),
                    &key.value,
                    format!("`envFrom` skips `{}`: it is not a valid name of a variable", key.value),
                )
                .related(user, format!("this {} is imported here", kind_name(kind)))
                .help("rename it, add a `prefix` to the entry of `envFrom`, or use `valueFrom`"),
            );
        }
    }
}

/// Reports invalid prefixes (V5).
fn check_prefixes(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let release = object.file.resolver.release(object.file.path);
    let preset = object.object.preset();
    let release = preset.map_or(release, |it| build::entry_release(it, release));
    let preset = preset.map(|it| &it.pod);
    let containers = object.object.model.pods.iter().chain(preset).flat_map(|pod| &pod.containers);
    for refusal in containers.flat_map(|it| &it.env_from).flat_map(|it| EnvFromRefusal::all(it, release)) {
        if let EnvFromRefusal::InvalidPrefix(prefix) = refusal {
            let message = format!("`{}` is not a valid prefix: no name of a variable can start with it", prefix.value);
            findings.push(Finding::new(object.at(prefix.span), &prefix.value, message));
        }
    }
}

/// The first container whose kubelet skips the key (B10), whichever of several objects its name refers to.
fn first_user(object: &ObjectContext<'_>, kind: OriginKind, key: &DataEntry) -> Option<Location> {
    let file = object.file;
    // The search goes through every file, so it is skipped if no release of the workspace skips keys.
    if file.resolver.oldest_release().is_at_least(30) {
        return None;
    }
    let reference_name_text = object.object.model.reference_name()?;
    for (path, facts) in file.snapshot.files() {
        if file.resolver.release(path).is_at_least(30) {
            continue;
        }
        for user in build::objects(file.snapshot, path, facts) {
            let containers = user.model.pods.iter().flat_map(|pod| &pod.containers);
            for entry in containers.flat_map(|it| &it.env_from) {
                let Some((used, Some(name), _)) = imported_object(entry) else { continue };
                if used != kind || &*name.value != reference_name_text || is_valid_with_prefix(entry, key) {
                    continue;
                }
                let found = objects(user, kind, reference_name_text);
                let is_here = found.iter().any(|it| it.object.is_same(object.object));
                if is_here && found.iter().all(|it| keys(it).any(|other| other.key.value == key.key.value)) {
                    return Some(user.location(name.span));
                }
            }
        }
    }
    None
}

fn is_valid_with_prefix(entry: &EnvFrom, key: &DataEntry) -> bool {
    let prefix = entry.prefix.as_ref().map_or("", |it| &it.value);
    may_be_replaced(prefix) || is_strict_variable_name(&format!("{prefix}{}", key.key.value))
}
