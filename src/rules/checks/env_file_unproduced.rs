//! The rule `env-file-unproduced`.

use std::sync::Arc;

use crate::diagnostic::{Fix, Location};
use crate::k8s::{Container, ContainerRole, Mount, Text};
use crate::resolve::{EnvFile, FileKeyOutcome, path_in_volume};
use crate::rules::engine::{Finding, Findings, ObjectContext, PodContext, declare_rule, edit};
use crate::rules::shared::file_key_refs::{FileKeyRef, PodFiles, check_file_key_refs, describe_container};
use crate::rules::shared::item_removal::remove_entry;
use crate::rules::shared::rename_fix::rename_fix;
use crate::syntax::reorder_items;
use crate::text::{Span, nearest_name};

declare_rule! {
    /// Reports an env file that nothing writes before it is needed.
    ///
    /// ## What it does
    /// Follows the scripts of the containers that start earlier, if they are simple: `echo`, `printf`, `cat` with a
    /// here-document, `tee`, redirections. Reports a file that none of them writes, a file that is written at another
    /// path, a file that only a later init container or the reader itself writes, and a file that only a regular
    /// container writes, which starts at the same time. If a container does anything that cannot be followed, nothing
    /// is reported. A `fileKeyRef` of a preset is checked in every pod that the preset applies to. With `proposals:
    /// true` it also reports a container that both mounts the volume and reads a value from it, and regular containers
    /// that mount it. The finding covers the path, or the name of the volume.
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
    /// Writes the path of the only file in the volume. Unsafe: only the author knows which side is wrong. Editors
    /// also offer to move the init container that writes the file, and to remove a mount that the proposal does not
    /// allow.
    name: "env-file-unproduced",
    level: Warning,
    checks: [Object(check), Pod(check_other_mounts)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    check_file_key_refs(object, check_reference, findings);
}

fn check_reference(files: &mut PodFiles<'_, '_>, reference: &FileKeyRef<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let pod = files.pod;
    // Whether the container would have to write the file before it starts. Then the mount is not the cause.
    let mut is_own = false;
    if let (Some(volume), Some(path)) = (reference.volume, reference.path) {
        match files.outcome(reference) {
            Some((_, FileKeyOutcome::MissingFile)) => {
                is_own = init_writer(files, reference, &volume.value, &path.value) == Some(reference.at);
                found.push(missing_file(files, reference, volume, path));
            }
            // PF13: in the proposal the mount of the other container is reported.
            Some((_, FileKeyOutcome::LateFile(writer))) if !pod.is_draft() => {
                found.push(late_file(files, reference, volume, path, writer));
            }
            _ => {}
        }
    }
    let is_checked = pod.is_draft() && !is_own;
    if let Some(volume) = reference.volume.filter(|it| is_checked && pod.mounts(reference.at, &it.value)) {
        let message = format!(
            "{} mounts volume `{}` and reads an env file from it: the proposal does not allow both",
            describe_container(reference.container),
            volume.value
        );
        let at = reference.location(volume.span);
        let is_it = |it: &&Mount| it.name.as_ref().is_some_and(|it| it.value == volume.value);
        let mount = reference.container.mounts.iter().find(is_it);
        let title = format!("Remove the mount of `{}`", volume.value);
        let removal = mount.and_then(|it| remove_entry(&pod.object, it.span, title));
        found.push(Finding::new(at, &volume.value, message).help("remove the mount").choice(removal));
    }
    found
}

/// PF13: in the proposal only init containers mount a volume with an env file.
fn check_other_mounts(pod: &PodContext<'_>, findings: &mut Findings<'_>) {
    if !pod.is_draft() {
        return;
    }
    let references = pod.file_key_refs();
    for (at, container) in pod.pod.containers.iter().enumerate() {
        if !matches!(container.role, ContainerRole::Container | ContainerRole::Ephemeral) {
            continue;
        }
        // A container that reads a value from the volume is already reported.
        for name in container.mounts.iter().filter_map(|it| it.name.as_ref()) {
            let reads = |it: &FileKeyRef<'_>| it.volume.is_some_and(|it| it.value == name.value);
            if let Some(volume) = references.iter().find(|it| reads(it)).and_then(|it| it.volume)
                && !references.iter().any(|it| it.at == at && reads(it))
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

/// The finding about a file that only a container writes which starts at the same time.
fn late_file(
    files: &mut PodFiles<'_, '_>,
    reference: &FileKeyRef<'_>,
    volume: &Text,
    path: &Text,
    writer: usize,
) -> Finding {
    let pod = files.pod;
    let message = format!(
        "{} does not wait for `{}`: {} writes it, and both start at the same time",
        describe_container(reference.container),
        path.value,
        describe_container(&pod.pod.containers[writer]),
    );
    let finding = Finding::new(reference.location(path.span), &path.value, message).help(WRITE_EARLIER);
    let written = files.left_by(writer).file(&volume.value, &path.value);
    written_here(pod, finding, &written)
}

const WRITE_EARLIER: &str = "write the file in an earlier init container";

/// Moves an init container before another one.
fn move_fix(pod: &PodContext<'_>, moved: usize, before: usize) -> Option<Fix> {
    let containers = &pod.pod.containers;
    let names = [moved, before].map(|it| containers[it].name.as_ref().map(|it| &*it.value));
    let [Some(name), Some(other)] = names else { return None };
    let object = pod.object;
    let source = object.file.parsed_text()?;
    let spans = [moved, before].map(|it| object.at(containers[it].span));
    let path = source.tree.document_at(spans[0].span.start)?.root()?.path_to(spans[0].span.start);
    let list = path.iter().rev().find(|it| it.is_sequence())?;
    let items: Vec<Span> = list.items().map(|it| it.span()).collect();
    let position = |at: &Location| items.iter().position(|it| *it == at.span && at.file == *object.file.path);
    let (from, to) = (position(&spans[0])?, position(&spans[1])?);
    let mut order: Vec<usize> = (0..items.len()).filter(|it| *it != from).collect();
    order.insert(to, from);
    let change = reorder_items(&source.text, *list, &order)?;
    let edits = vec![edit(object.file.at(change.span), change.text)];
    Some(Fix { title: format!("Move `{name}` before `{other}`"), safe: false, edits })
}

/// Adds the place of a script that writes a file.
fn written_here(pod: &PodContext<'_>, finding: Finding, file: &EnvFile) -> Finding {
    let EnvFile::Written(content) = file else { return finding };
    match content.first_part() {
        Some(part) => finding.related(pod.script_location(&part), "written here"),
        None => finding,
    }
}

/// The init container that writes a file, although the file is needed before: a later one, or the reader itself.
fn init_writer(files: &mut PodFiles<'_, '_>, reader: &FileKeyRef<'_>, volume: &str, path: &str) -> Option<usize> {
    let pod = files.pod;
    let is_init = |at: usize| matches!(pod.pod.containers[at].role, ContainerRole::Init | ContainerRole::Sidecar);
    let mut after = (reader.at..pod.pod.containers.len()).filter(|at| is_init(reader.at) && is_init(*at));
    after.find(|at| pod.writes(*at, volume) && matches!(files.left_by(*at).file(volume, path), EnvFile::Written(_)))
}

/// The finding about a file that nothing writes before it is needed.
fn missing_file(files: &mut PodFiles<'_, '_>, reference: &FileKeyRef<'_>, volume: &Text, path: &Text) -> Finding {
    let pod = files.pod;
    let name = &*volume.value;
    let reader = describe_container(reference.container);
    let finding = |message: String| Finding::new(reference.location(path.span), &path.value, message);
    if let Some(writer) = init_writer(files, reference, name, &path.value) {
        let written = files.left_by(writer).file(name, &path.value);
        let container = describe_container(&pod.pod.containers[writer]);
        let finding = match writer == reference.at {
            true => {
                finding(format!("{reader} writes `{}`, but does not start without it", path.value)).help(WRITE_EARLIER)
            }
            false => finding(format!("{reader} starts before {container} writes `{}`", path.value))
                .help(format!("move {container} before this container"))
                .choice(move_fix(pod, writer, reference.at)),
        };
        return written_here(pod, finding, &written);
    }
    let is_init = matches!(reference.container.role, ContainerRole::Init | ContainerRole::Sidecar);
    let starts_before = |(index, container): &(usize, &Arc<Container>)| match container.role {
        ContainerRole::Init | ContainerRole::Sidecar => !is_init || *index < reference.at,
        ContainerRole::Container | ContainerRole::Ephemeral => !is_init && *index != reference.at,
        ContainerRole::Hook => false,
    };
    let mut before = pod.pod.containers.iter().enumerate().filter(starts_before);
    if !before.any(|(at, _)| pod.writes(at, name)) {
        let message = format!(
            "nothing writes `{}` before {reader} starts: no earlier container mounts volume `{name}`",
            path.value
        );
        return finding(message).help(WRITE_EARLIER);
    }
    let finding = finding(format!("nothing writes `{}` to volume `{name}` before {reader} starts", path.value));
    let (written, _) = files.files_before(reference);
    match written.paths(name).as_slice() {
        [] => finding.help(WRITE_EARLIER),
        [other] => {
            let fix = rename_fix(&reference.owner, path, other);
            let finding = finding.help(format!("the volume contains `{other}`")).fix(fix);
            written_here(pod, finding, &written.file(name, other))
        }
        others => {
            let own = path_in_volume(&path.value).unwrap_or_default();
            match nearest_name(&own, others.iter().map(String::as_str)) {
                Some(near) => {
                    finding.help(format!("did you mean `{near}`?")).fix(rename_fix(&reference.owner, path, near))
                }
                None => finding.help(format!(
                    "the volume contains {}",
                    others.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
                )),
            }
        }
    }
}
