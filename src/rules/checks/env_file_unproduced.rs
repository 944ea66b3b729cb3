//! The rule `env-file-unproduced`.

use std::sync::Arc;

use crate::k8s::{ContainerRole, Text};
use crate::resolve::{EnvFile, EnvFiles, path_in_volume};
use crate::rules::engine::{Finding, Findings, PodContext, declare_rule};
use crate::rules::shared::file_key_refs::{FileKeyRef, PodFiles, describe_container};
use crate::rules::shared::similar_names::rename_fix;

declare_rule! {
    /// Reports an env file that nothing writes before it is needed.
    ///
    /// ## What it does
    /// Follows the scripts of the containers that start earlier, if they are simple: `echo`, `printf`, `cat` with a
    /// here-document, `tee`, redirections. Reports a file that none of them writes, a file that is written at another
    /// path, and a file that only a later init container writes. If a container does anything that cannot be followed,
    /// nothing is reported. With `proposals: true` it also reports a container that both mounts the volume and reads a
    /// value from it, and regular containers that mount it. The finding covers the path, or the name of the volume.
    ///
    /// ## Why it matters
    /// The container does not start until the file exists. This is also true for an optional key: released kubelets
    /// treat a missing file as an error.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   initContainers:
    ///     - name: setup
    ///       image: busybox
    ///       command: [sh, -c, "echo \"COLOUR='red'\" > /config/web.env"]
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
    /// ## Use instead
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata: {name: web}
    /// spec:
    ///   initContainers:
    ///     - name: setup
    ///       image: busybox
    ///       command: [sh, -c, "echo \"COLOUR='red'\" > /config/app.env"]
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
    /// Writes the path of the only file in the volume. Unsafe: only the author knows which side is wrong.
    name: "env-file-unproduced",
    level: Warning,
    checks: [Pod(check)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(pod: &PodContext<'_>, findings: &mut Findings<'_>) {
    let mut consumed: Vec<&Text> = Vec::new();
    let mut pod_files = PodFiles::new(pod);
    for reference in pod.file_key_refs() {
        if let Some((files, file)) = pod_files.final_file(&reference)
            && matches!(*file, EnvFile::Absent)
            && let (Some(volume), Some(path)) = (reference.volume, reference.path)
            // PF4: only in the proposal may an optional file be missing (F4).
            && !(reference.optional && pod.is_draft())
        {
            findings.push(missing_file(pod, &reference, &mut pod_files, &files, volume, path));
        }
        if let Some(volume) = reference.volume.filter(|_| pod.is_draft()) {
            if pod.mounts(reference.at, &volume.value) {
                let message = format!(
                    "{} mounts volume `{}` and reads an env file from it: the proposal does not allow both",
                    describe_container(reference.container),
                    volume.value
                );
                findings
                    .push(Finding::new(pod.object.at(volume.span), &volume.value, message).help("remove the mount"));
            }
            consumed.push(volume);
        }
    }
    check_other_mounts(pod, &consumed, findings);
}

/// PF13: in the proposal only init containers mount a volume with an env file.
fn check_other_mounts(pod: &PodContext<'_>, consumed: &[&Text], findings: &mut Findings<'_>) {
    for (at, container) in pod.pod.containers.iter().enumerate() {
        if !matches!(container.role, ContainerRole::Container | ContainerRole::Ephemeral) {
            continue;
        }
        // A container that reads a value from the volume is already reported.
        let takes =
            |name: &str| pod.file_key_refs().any(|it| it.at == at && it.volume.is_some_and(|it| &*it.value == name));
        for name in container.mounts.iter().filter_map(|it| it.name.as_ref()) {
            if let Some(volume) = consumed.iter().find(|it| it.value == name.value)
                && !takes(&name.value)
            {
                let message = format!(
                    "volume `{}` contains an env file: in the proposal only init containers may mount it",
                    name.value
                );
                findings.push(
                    Finding::new(pod.object.at(name.span), &name.value, message)
                        .related(pod.object.at(volume.span), "the env file"),
                );
            }
        }
    }
}

fn missing_file(
    pod: &PodContext<'_>,
    reference: &FileKeyRef<'_>,
    pod_files: &mut PodFiles<'_, '_>,
    files: &EnvFiles,
    volume: &Text,
    path: &Text,
) -> Finding {
    let at = pod.object.at(path.span);
    let name = &*volume.value;
    // A later init container writes it.
    let is_init = matches!(reference.container.role, ContainerRole::Init | ContainerRole::Sidecar);
    for (later, container) in pod.pod.containers.iter().enumerate().skip(reference.at + 1).filter(|_| is_init) {
        if matches!(container.role, ContainerRole::Init | ContainerRole::Sidecar)
            && pod.writes(later, name)
            && let EnvFile::Written(content) = pod_files.left_by(later).file(name, &path.value)
        {
            let message = format!(
                "{} starts before {} writes `{}`",
                describe_container(reference.container),
                describe_container(container),
                path.value
            );
            let help = format!("move {} before this container", describe_container(container));
            let finding = Finding::new(at, &path.value, message).help(help);
            return match content.script_part(0..content.text().chars().next().map_or(0, char::len_utf8)) {
                Some(part) => finding.related(pod.script_location(&part), "written here"),
                None => finding,
            };
        }
    }
    let starts_before = |(index, container): &(usize, &Arc<crate::k8s::Container>)| match container.role {
        ContainerRole::Init | ContainerRole::Sidecar => !is_init || *index < reference.at,
        ContainerRole::Container | ContainerRole::Ephemeral => !is_init && *index != reference.at,
        ContainerRole::Hook => false,
    };
    let mut before = pod.pod.containers.iter().enumerate().filter(starts_before);
    if !before.any(|(at, _)| pod.writes(at, name)) {
        let message = format!(
            "nothing writes `{}` before {} starts: no earlier container mounts volume `{name}`",
            path.value,
            describe_container(reference.container)
        );
        return Finding::new(at, &path.value, message).help("write the file in an earlier init container");
    }
    let message = format!(
        "nothing writes `{}` to volume `{name}` before {} starts",
        path.value,
        describe_container(reference.container)
    );
    let finding = Finding::new(at, &path.value, message);
    match files.paths(name).as_slice() {
        [] => finding.help("write the file in an earlier init container"),
        [other] => {
            let place = match files.file(name, other) {
                EnvFile::Written(content) => {
                    content.script_part(0..content.text().chars().next().map_or(0, char::len_utf8))
                }
                _ => None,
            };
            let finding =
                finding.help(format!("the volume contains `{other}`")).fix(rename_fix(&pod.object, path, other));
            match place {
                Some(part) => finding.related(pod.script_location(&part), "written here"),
                None => finding,
            }
        }
        others => {
            let own = path_in_volume(&path.value).unwrap_or_default();
            let near = crate::rules::shared::similar_names::nearest_name(&own, others.iter().map(String::as_str));
            match near {
                Some(near) => finding.help(format!("did you mean `{near}`?")).fix(rename_fix(&pod.object, path, near)),
                None => finding.help(format!(
                    "the volume contains {}",
                    others.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
                )),
            }
        }
    }
}
