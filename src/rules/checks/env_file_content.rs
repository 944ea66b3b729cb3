//! The rule `env-file-content`.

use std::sync::Arc;

use crate::diagnostic::Fix;
use crate::resolve::{ContainerUser, EnvFile, EnvFileContent, FileKeyOutcome, is_relaxed_variable_name};
use crate::rules::engine::{FileContext, Finding, Findings, ObjectContext, PodContext, declare_rule, edit};
use crate::rules::shared::file_key_refs::{
    FileKeyRef, PodFiles, check_file_key_refs, describe_container, env_file_readers, quote_values,
};
use crate::rules::shared::rename_fix::rename_fix;
use crate::syntax::{EnvFileDialect, EnvFileError, EnvFileProblem, parse_env_file};
use crate::text::Span;
use crate::text::nearest_name;

declare_rule! {
    /// Reports an env file whose known content does not have the key, or that the kubelet cannot read.
    ///
    /// ## What it does
    /// Follows the scripts that write the file, if they are simple, and reads the result as the kubelet of the target
    /// release does: in 1.34 as `KEY=value`; from 1.35 on as `KEY='value'`, where the quotes are required; with
    /// `proposals: true` as a common `.env` file whose names are checked too. An error counts only if the kubelet
    /// reaches it before the key. With `proposals: true` it also reports a file that the user of the container may not
    /// read, if `runAsUser` or `runAsNonRoot` and the `chmod` or `umask` of the script decide that; in releases the
    /// kubelet reads the file as root. A file in the workspace that ends with `.env` is checked in the same way, if a
    /// `fileKeyRef` near it names such a file. The finding covers the key, or the invalid part of the file. Messages
    /// never quote the content of a file.
    ///
    /// ## Why it matters
    /// The container does not start. If the key is optional, a missing key only leaves the variable out, but a file
    /// that cannot be read still stops the container.
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
    ///       command: [sh, -c, 'echo "COLOUR=red" > /config/app.env']
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
    ///       command: [sh, -c, 'echo "COLOUR=''red''" > /config/app.env']
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
    /// Puts the values of the file in single quotes, in the script that writes it. If the file has a similar key,
    /// writes that key; this is unsafe: only the author knows which side is wrong.
    name: "env-file-content",
    level: Error,
    checks: [Object(check), File(check_env_file)],
    sees: Built,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    check_file_key_refs(object, |files, it| written_file(files, it).into_iter().collect(), findings);
}

/// The finding about a file that containers write (PF3 to PF7).
fn written_file(files: &mut PodFiles<'_, '_>, reference: &FileKeyRef<'_>) -> Option<Finding> {
    let (key, path) = (reference.key?, reference.path?);
    // V12: an invalid key is reported by `invalid-env-file`.
    if !is_relaxed_variable_name(&key.value) {
        return None;
    }
    let pod = files.pod;
    let (file, outcome) = files.outcome(reference)?;
    let EnvFile::Written(content) = &*file else { return None };
    let at = reference.location(key.span);
    match outcome {
        FileKeyOutcome::MissingKey => Some(missing_key(pod, reference, content)),
        FileKeyOutcome::Refused(error) => {
            let what =
                if error.problem == EnvFileProblem::InvalidName { "has an invalid name" } else { "cannot be read" };
            let message = format!("the container does not start: env file `{}` {what}: {error}", path.value);
            let mut finding = Finding::new(at, &key.value, message);
            if let Some(part) = content.script_part(error.span.range()) {
                finding = finding.related(pod.script_location(&part), "written here");
            }
            if error.problem == EnvFileProblem::NotQuoted {
                let release = pod.object.file.resolver.release(pod.object.file.path);
                finding = finding.help(format!("Kubernetes {release} requires single quotes around values"));
            }
            // The script is in the file of the pod, which a fix of a preset does not change.
            let is_own = reference.owner.object.preset().is_none();
            Some(finding.fix(quote_values(&pod.object, content, pod.reading()).filter(|_| is_own)))
        }
        FileKeyOutcome::Unreadable(user) => {
            let container = describe_container(reference.container);
            let who = match user {
                ContainerUser::Id(id) => format!("{container} runs as user {id}"),
                ContainerUser::NonRoot | ContainerUser::Unknown => format!("{container} does not run as root"),
            };
            let message = format!("the container does not start: {who} and may not read env file `{}`", path.value);
            let finding = Finding::new(at, &key.value, message)
                .help("let all users read the file, or run both containers as the same user");
            Some(match content.permissions_part(user) {
                Some(part) => finding.related(pod.script_location(&part), "its permissions are set here"),
                None => finding,
            })
        }
        _ => None,
    }
}

fn missing_key(pod: &PodContext<'_>, reference: &FileKeyRef<'_>, content: &EnvFileContent) -> Finding {
    let (key, path) = (reference.key.map_or("", |it| &it.value), reference.path.map_or("", |it| &it.value));
    let names = content.names(pod.reading());
    let place = |range| content.script_part(range).map(|part| pod.script_location(&part));
    let at = reference.location(reference.key.map_or(reference.field, |it| it.span));
    // F5: an empty value counts as missing.
    if let Some((_, range)) = names.iter().find(|(name, _)| name == key) {
        let message = format!("`{key}` is empty in env file `{path}`: the kubelet treats it as missing");
        let finding = Finding::new(at, key, message).help("give it a value, or set `optional: true`");
        return match place(range.clone()) {
            Some(location) => finding.related(location, "written here"),
            None => finding,
        };
    }
    let finding = Finding::new(at, key, format!("env file `{path}` has no key `{key}`"));
    // F12: `export` is a part of the name.
    let exported = names.iter().find(|(name, _)| name.strip_prefix("export ").is_some_and(|it| it.trim() == key));
    let near = nearest_name(key, names.iter().map(|(name, _)| name.as_str()));
    let (finding, location) = match (exported, near) {
        (Some((_, range)), _) => {
            (finding.help("the kubelet reads `export` as a part of the name"), place(range.clone()))
        }
        (None, Some(near)) => {
            // Names are content of the file, so the title does not quote them.
            let fix = reference.key.and_then(|it| rename_fix(&reference.owner, it, near));
            let fix = fix.map(|it| Fix { title: "Write the most similar key".into(), ..it });
            let range = names.iter().find(|(name, _)| name == near).map(|(_, range)| range.clone());
            (finding.help("the file has a similar key").fix(fix), range.and_then(place))
        }
        (None, None) => {
            let first = content.first_part().map(|part| pod.script_location(&part));
            (finding.help("write the key to the file, or set `optional: true`"), first)
        }
    };
    match location {
        Some(location) => finding.related(location, "the file is written here"),
        None => finding,
    }
}

/// Checks an env file of the workspace, if a `fileKeyRef` near it names such a file.
fn check_env_file(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    if !file.facts.is_env_format() || !file.resolver.serves_env_files(file.path) {
        return;
    }
    let keys: Vec<Arc<str>> = env_file_readers(file.snapshot, file.path).into_iter().map(|it| it.key).collect();
    let Some(source) = file.parsed_text().filter(|_| !keys.is_empty()) else { return };
    let reading = file.resolver.env_file_syntax(file.path);
    let (entries, errors) = parse_env_file(&source.text, reading.dialect, reading.is_name);
    // F15: the text after the last key that a pod looks up is never read.
    let begins = |error: &EnvFileError, key: &str| {
        let line = source.text[..error.span.start].rfind('\n').map_or(0, |end| end + 1);
        source.text[line..].trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with('='))
    };
    let line_of = |key: &str| {
        let read = entries.iter().filter(|it| it.name == key).map(|it| it.line);
        // An error in the line of the key is the last one that matters for it.
        let refused = errors.iter().filter(|it| begins(it, key)).map(|it| it.line + 1);
        read.chain(refused).min()
    };
    let is_draft = reading.dialect == EnvFileDialect::Proposed;
    let last = keys.iter().map(|key| line_of(key).filter(|_| !is_draft).unwrap_or(u32::MAX)).max().unwrap_or(u32::MAX);
    for error in errors.iter().filter(|it| it.line < last) {
        let fix = (error.problem == EnvFileProblem::NotQuoted).then(|| quote_fix(file, &source.text, error)).flatten();
        // A line that cannot be read may be a part of a secret, so the finding is about the kind of problem.
        let problem = error.problem;
        findings.push(Finding::new(file.at(error.span), problem.code(), problem.to_string()).fix(fix));
    }
}

fn quote_fix(file: &FileContext<'_>, text: &str, error: &EnvFileError) -> Option<Fix> {
    let value = text.get(error.span.range())?.trim_end();
    if value.contains('\'') || value.contains(" #") {
        return None;
    }
    let bare = value.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(value);
    let span = Span::new(error.span.start, error.span.start + value.len());
    let edits = vec![edit(file.at(span), format!("'{bare}'"))];
    Some(Fix { title: "Put the value in single quotes".into(), safe: true, edits })
}
