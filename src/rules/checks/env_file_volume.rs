//! The rule `env-file-volume`.

use std::collections::HashMap;

use crate::k8s::Text;
use crate::rules::engine::{Finding, Findings, PodContext, declare_rule};
use crate::rules::shared::file_key_refs::VolumeUse;
use crate::rules::shared::similar_names::{nearest_name, rename_fix};

declare_rule! {
    /// Reports an env file in a volume that cannot hold it: missing, not an `emptyDir`, or not mounted.
    ///
    /// ## What it does
    /// Looks up the `volumeName` of every `fileKeyRef` in the volumes of the pod, including those of presets. Volumes
    /// and mounts that a template or a Kustomize patch may add are unknown, and nothing is reported then. The finding
    /// covers the name of the volume.
    ///
    /// ## Why it matters
    /// The API server rejects a pod whose env file is in a volume that does not exist or is not an `emptyDir`. A volume
    /// that no container mounts is accepted, but the kubelet never sets it up, and the container does not start.
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
    ///         - name: COLOUR
    ///           valueFrom: {fileKeyRef: {volumeName: confg, path: app.env, key: COLOUR}}
    ///   volumes:
    ///     - {name: config, emptyDir: {}}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   initContainers:
    ///     - name: setup
    ///       image: setup
    ///       volumeMounts:
    ///         - {name: config, mountPath: /config}
    ///   containers:
    ///     - name: web
    ///       image: web
    ///       env:
    ///         - name: COLOUR
    ///           valueFrom: {fileKeyRef: {volumeName: config, path: app.env, key: COLOUR}}
    ///   volumes:
    ///     - {name: config, emptyDir: {}}
    /// ```
    ///
    /// ## Fix
    /// Writes the most similar name of an `emptyDir` volume. Unsafe: only the author knows what was meant.
    name: "env-file-volume",
    level: Error,
    checks: [Pod(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(pod: &PodContext<'_>, findings: &mut Findings<'_>) {
    let mut known: HashMap<&str, VolumeUse> = HashMap::new();
    for name in pod.file_key_refs().filter_map(|it| it.volume).filter(|it| !it.value.is_empty()) {
        let found = known.entry(&name.value).or_insert_with(|| pod.volume_use(&name.value));
        if let Some(finding) = check_volume(pod, name, found) {
            findings.push(finding);
        }
    }
}

fn check_volume(pod: &PodContext<'_>, name: &Text, found: &VolumeUse) -> Option<Finding> {
    let at = pod.object.at(name.span);
    match found {
        VolumeUse::Usable | VolumeUse::Unknown => None,
        // V13, PF1.
        VolumeUse::Missing => {
            let finding = Finding::new(at, &name.value, format!("the pod has no volume `{}`", name.value));
            let empty = pod.pod.volumes.iter().filter(|it| it.kind.as_ref().is_some_and(|it| &*it.value == "emptyDir"));
            let names: Vec<&str> = empty.filter_map(|it| it.name.as_ref()).map(|it| &*it.value).collect();
            Some(match nearest_name(&name.value, names) {
                Some(near) => finding.help(format!("did you mean `{near}`?")).fix(rename_fix(&pod.object, name, near)),
                None => finding.help("add it to `volumes` as an `emptyDir`"),
            })
        }
        // V13, PF2.
        VolumeUse::Other { kind, place } => {
            let kind = match &**kind {
                "volumeClaimTemplates" => "volume claim".to_owned(),
                kind => format!("`{kind}`"),
            };
            let message = format!("volume `{}` is a {kind}: env files are read only from an `emptyDir`", name.value);
            let finding =
                Finding::new(at, &name.value, message).help("write the file to an `emptyDir` in an init container");
            Some(finding.related(place.clone(), "the volume"))
        }
        // F1.
        VolumeUse::Unmounted(place) => {
            let message = format!("no container mounts volume `{}`, so the kubelet does not find the file", name.value);
            let finding = Finding::new(at, &name.value, message).help("mount it in the container that writes the file");
            Some(finding.related(place.clone(), "the volume"))
        }
    }
}
