//! The rule `env-file-volume`.

use crate::build::is_volume_name;
use crate::diagnostic::Fix;
use crate::k8s::{Pod, Volume};
use crate::resolve::PodVolumes;
use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule, edit};
use crate::rules::shared::file_key_refs::{FileKeyRef, PodFiles, VolumeUse, check_file_key_refs};
use crate::rules::shared::rename_fix::rename_fix;
use crate::syntax::{InsertPosition, YamlValue, add_entry, add_items, may_be_replaced};
use crate::text::nearest_name;

declare_rule! {
    /// Reports an env file in a volume that cannot hold it: missing, not an `emptyDir`, or not mounted.
    ///
    /// ## What it does
    /// Looks up the `volumeName` of every `fileKeyRef` in the volumes of the pod, including those of presets. Volumes
    /// and mounts that a template or a Kustomize patch may add are unknown, and nothing is reported then. The finding
    /// covers the name of the volume. A `fileKeyRef` of a preset is looked up in every pod that the preset applies to;
    /// the finding is in the preset and names the workloads.
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
    /// Writes the most similar name of an `emptyDir` volume. Unsafe: only the author knows what was meant. If there
    /// is none, editors offer to add the volume.
    name: "env-file-volume",
    level: Error,
    checks: [Object(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    check_file_key_refs(object, |files, it| check_volume(files, it).into_iter().collect(), findings);
}

fn check_volume(files: &mut PodFiles<'_, '_>, reference: &FileKeyRef<'_>) -> Option<Finding> {
    // `invalid-env-file` reports a name that no volume can have.
    let name = reference.volume.filter(|it| is_volume_name(&it.value) || may_be_replaced(&it.value))?;
    let at = reference.location(name.span);
    match &*files.volume_use(&name.value) {
        VolumeUse::Usable | VolumeUse::Unknown => None,
        // V13, PF1.
        VolumeUse::Missing => {
            let finding = Finding::new(at, &name.value, format!("the pod has no volume `{}`", name.value));
            let near = files.pod.mounting(|mounting| nearest_volume(mounting, &name.value));
            Some(match near {
                Some(near) => {
                    finding.help(format!("did you mean `{near}`?")).fix(rename_fix(&reference.owner, name, &near))
                }
                None => finding.help("add it to `volumes` as an `emptyDir`").choice(add_volume_fix(
                    &files.pod.object,
                    files.pod.pod,
                    &name.value,
                )),
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

/// Adds a volume to the pod.
fn add_volume_fix(object: &ObjectContext<'_>, pod: &Pod, name: &str) -> Option<Fix> {
    let volume = YamlValue::map([("name", YamlValue::text(name)), ("emptyDir", YamlValue::Map(Vec::new()))]);
    let change = object.change(pod.span, |text, spec| match spec.get("volumes") {
        Some(list) => add_items(text, list, std::slice::from_ref(&volume), InsertPosition::Last),
        None => add_entry(text, spec, "volumes", &YamlValue::List(vec![volume.clone()])),
    })?;
    let edits = vec![edit(object.file.at(change.span), change.text)];
    Some(Fix { title: format!("Add the volume `{name}` as an `emptyDir`"), safe: false, edits })
}

/// The `emptyDir` volume with the most similar name.
fn nearest_volume(mounting: &PodVolumes<'_>, name: &str) -> Option<String> {
    let is_empty_dir = |it: &&Volume| it.kind.as_ref().is_some_and(|it| &*it.value == "emptyDir");
    let volumes = mounting.volumes().iter().map(|it| it.volume).filter(is_empty_dir);
    let names: Vec<&str> = volumes.filter_map(|it| it.name.as_ref()).map(|it| &*it.value).collect();
    nearest_name(name, names).map(str::to_owned)
}
