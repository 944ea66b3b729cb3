//! Computes the env files that init containers and sidecars write with simple shell scripts.
//!
//! The containers are run in order, on volumes that are empty at first. If a script cannot be followed, every file that
//! its container can write becomes unknown; nothing is guessed.

mod commands;
mod echo_printf;
mod file_modes;
mod file_system;
mod interpreter;
mod traced_text;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::build::{Admission, BuiltContainer, BuiltPod};
use crate::k8s::{Container, ContainerRole, Mount, Text, VariableScope};
use crate::resolve::binding::Lookup;
use crate::resolve::container_user::ContainerUser;
use crate::resolve::env_sources;
use crate::resolve::environment::{Environment, ExpandedScalar};
use crate::resolve::lookup_scope::LookupScope;
use crate::resolve::pod_volumes::PodVolumes;
use crate::resolve::value::{ResolvedValue, ValuePart};
use crate::resolve::visible_services::VisibleServices;
use crate::syntax::{DollarTokenKind, ShellQuote, dollar_tokens, has_placeholder, parse_shell_script};
use crate::text::Span;
use commands::ShellVariant;
use file_system::{FileSystem, MountPoint, normalize};
use interpreter::ScriptContext;
use traced_text::TracedText;

pub(super) use file_modes::FilePermissions;
pub(super) use file_system::FileState;
pub(super) use traced_text::{ScriptPosition, TracedCharacter};

/// The files are unknown after more containers than this.
const MAX_CONTAINERS: usize = 64;

/// The files are unknown if containers that run at the same time change them in more rounds than this.
const MAX_ROUNDS: usize = 4;

/// The files in the volumes of a pod at the start of a container.
#[derive(Clone, Debug)]
pub(super) struct VolumeFiles {
    file_system: FileSystem,
    /// The scripts that were run; a [`ScriptPosition`] has the index of its script.
    pub(super) scripts: Vec<ScriptSource>,
    /// Whether all files are unknown, because a container cannot be followed.
    is_unknown: bool,
    /// Volumes that a sidecar can write. It may still be running when the container starts.
    sidecar_volumes: BTreeSet<Arc<str>>,
    /// The containers that start at the same time.
    concurrent: Option<ConcurrentWrites>,
}

/// What the containers write that start at the same time as a container.
#[derive(Clone, Debug)]
struct ConcurrentWrites {
    /// The volumes before any of them has run.
    before: FileSystem,
    /// The volumes after each of them, by its index in the pod.
    after: BTreeMap<usize, FileSystem>,
}

/// The origin of a script.
#[derive(Clone, Debug)]
pub(super) struct ScriptSource {
    /// The index of the container in the pod.
    pub(super) container: usize,
    /// The item of the command line that contains the script; `None` for a program with arguments.
    pub(super) text: Option<Text>,
    segments: Vec<ScriptSegment>,
}

/// A range of an expanded script and the range of the item it comes from.
#[derive(Clone, Debug)]
struct ScriptSegment {
    script: Range<usize>,
    item: Range<usize>,
}

impl ScriptSource {
    /// Converts a range of the script to a range of the item's value.
    pub(super) fn item_range(&self, span: Span) -> Range<usize> {
        let start = self.item_offset(span.start, false);
        start..self.item_offset(span.end, true).max(start)
    }

    fn item_offset(&self, offset: usize, is_end: bool) -> usize {
        let contains = |it: &&ScriptSegment| {
            if is_end {
                it.script.start < offset && offset <= it.script.end
            } else {
                it.script.start <= offset && offset < it.script.end
            }
        };
        let Some(segment) = self.segments.iter().find(contains) else {
            return self.segments.last().map_or(0, |it| it.item.end);
        };
        match segment.script.len() == segment.item.len() {
            true => segment.item.start + (offset - segment.script.start),
            false if is_end => segment.item.end,
            false => segment.item.start,
        }
    }
}

impl VolumeFiles {
    /// Volumes about whose files nothing is known.
    fn unknown() -> Self {
        let file_system = FileSystem::new(Vec::new());
        let sidecar_volumes = BTreeSet::new();
        Self { file_system, scripts: Vec::new(), is_unknown: true, sidecar_volumes, concurrent: None }
    }

    /// The known state of a file.
    pub(super) fn file(&self, volume: &str, path: &str) -> FileState {
        if self.is_unknown { FileState::Unknown } else { self.file_system.file(volume, path) }
    }

    /// The files that certainly exist in a volume.
    pub(super) fn paths(&self, volume: &str) -> Vec<String> {
        if self.is_unknown { Vec::new() } else { self.file_system.paths(volume).map(str::to_owned).collect() }
    }

    /// Whether all files of a volume are known.
    pub(super) fn is_known(&self, volume: &str) -> bool {
        !self.is_unknown && self.file_system.is_known(volume)
    }

    /// Whether the content of a file may still change: a sidecar writes it in several steps, and the kubelet does not
    /// wait for the last one.
    pub(super) fn may_change(&self, volume: &str, path: &str) -> bool {
        self.sidecar_volumes.contains(volume) && self.file_system.was_rewritten(volume, path)
    }

    /// The permissions of a file and its directories.
    pub(super) fn permissions(&self, volume: &str, path: &str) -> Vec<FilePermissions> {
        self.file_system.file_permissions(volume, path)
    }

    /// The index of a container that starts at the same time and certainly writes a file that no earlier container
    /// writes.
    pub(super) fn late_writer(&self, volume: &str, path: &str) -> Option<usize> {
        let ConcurrentWrites { before, after } = self.concurrent.as_ref().filter(|_| !self.is_unknown)?;
        let writes = |it: &FileSystem| matches!(it.file(volume, path), FileState::Known(_));
        let mut writers = after.iter().filter(|(_, after)| writes(after)).map(|(at, _)| *at);
        writers.next().filter(|_| before.file(volume, path) == FileState::Absent)
    }
}

/// The volumes at the start of a container.
pub(super) fn files_before(
    scope: &LookupScope<'_>,
    of: BuiltContainer<'_>,
    services: &VisibleServices<'_>,
) -> VolumeFiles {
    let (own, pod, container) = (of.index().unwrap_or(0), of.in_pod(), of.container);
    let is_init = |role: ContainerRole| matches!(role, ContainerRole::Init | ContainerRole::Sidecar);
    // Whatever the others write, there are too many of them.
    let mut last = pod.pod.containers.iter().enumerate().skip(MAX_CONTAINERS);
    if !is_init(container.role) && last.any(|(at, it)| at != own && starts_with_others(it)) {
        return VolumeFiles::unknown();
    }
    let mut files = empty_volumes(scope, pod, container);
    for (at, other) in pod.pod.containers.iter().enumerate() {
        if !is_init(other.role) || is_init(container.role) && at >= own {
            continue;
        }
        if files.is_unknown || at >= MAX_CONTAINERS {
            files.is_unknown = true;
            return files;
        }
        run_container(scope, pod, at, services, &mut files);
        files.file_system.start_next_container();
    }
    if !is_init(container.role) {
        run_concurrent(scope, of, services, &mut files);
    }
    files
}

/// Whether a container starts when the init containers have ended.
fn starts_with_others(container: &Container) -> bool {
    matches!(container.role, ContainerRole::Container | ContainerRole::Ephemeral)
}

/// Runs the containers that start at the same time as a regular container, in any order: their files may exist or not.
/// The kubelet tries to start a container again until its env files exist.
fn run_concurrent(
    scope: &LookupScope<'_>,
    of: BuiltContainer<'_>,
    services: &VisibleServices<'_>,
    files: &mut VolumeFiles,
) {
    let (own, pod) = (of.index(), of.in_pod());
    let is_beside = |(at, it): &(usize, &Arc<Container>)| Some(*at) != own && starts_with_others(it);
    let beside: Vec<usize> = pod.pod.containers.iter().enumerate().filter(is_beside).map(|(at, _)| at).collect();
    let mut concurrent = ConcurrentWrites { before: files.file_system.clone(), after: BTreeMap::new() };
    // One of them may use the files of another, so they are run until nothing changes.
    for _ in 0..MAX_ROUNDS {
        let start = files.file_system.clone();
        for at in beside.iter().copied() {
            if files.is_unknown || at >= MAX_CONTAINERS {
                files.is_unknown = true;
                return;
            }
            let before = files.file_system.clone();
            run_container(scope, pod, at, services, files);
            concurrent.after.insert(at, files.file_system.clone());
            files.file_system = files.file_system.merged(&before);
            files.file_system.start_next_container();
        }
        if files.file_system == start {
            // A container that is added to a running pod does not start at the same time.
            let is_late = |at: &usize| pod.pod.containers[*at].role == ContainerRole::Container;
            concurrent.after.retain(|at, _| of.container.role == ContainerRole::Container && is_late(at));
            files.concurrent = Some(concurrent);
            return;
        }
    }
    files.is_unknown = true;
}

/// The volumes after one container has run on empty volumes.
pub(super) fn files_written_by(
    scope: &LookupScope<'_>,
    pod: BuiltPod<'_>,
    at: usize,
    services: &VisibleServices<'_>,
) -> VolumeFiles {
    let mut files = empty_volumes(scope, pod, &pod.pod.containers[at]);
    if !files.is_unknown {
        run_container(scope, pod, at, services, &mut files);
    }
    files
}

fn empty_volumes(scope: &LookupScope<'_>, built: BuiltPod<'_>, container: &Container) -> VolumeFiles {
    scope.depend_on_siblings();
    let admission = Admission::for_pod(built, scope.admission_context());
    let pod = built.pod;
    let pod_volumes = PodVolumes::new(pod, admission.as_ref());
    let is_empty_dir = |kind: &Option<Text>| kind.as_ref().is_some_and(|it| &*it.value == "emptyDir");
    let volumes = pod_volumes.volumes().iter().map(|it| it.volume).filter(|it| is_empty_dir(&it.kind));
    let names = volumes.filter_map(|it| it.name.as_ref()).map(|it| Arc::clone(&it.value));
    let names: Vec<Arc<str>> = names.filter(|it| !built.may_patch_volume(it)).collect();
    let is_sidecar = |at: &usize| pod.containers[*at].role == ContainerRole::Sidecar;
    let sidecars: Vec<usize> = (0..pod.containers.len()).filter(is_sidecar).collect();
    let is_written = |it: &&Arc<str>| sidecars.iter().any(|at| pod_volumes.is_writable(*at, it));
    let sidecar_volumes = names.iter().filter(is_written).cloned().collect();
    // Patches, templates and uncertain presets may add mounts or containers.
    let is_incomplete = |it: &Container| it.may_have_more_variables || env_sources::is_part_of_patch(scope, it);
    let is_unknown = pod.containers.iter().any(|it| is_incomplete(it))
        || container.role == ContainerRole::Hook
        || pod_volumes.may_differ()
        // The entries of a preset are added to pods with other containers.
        || built.object.preset().is_some();
    let file_system = FileSystem::new(names);
    VolumeFiles { file_system, scripts: Vec::new(), is_unknown, sidecar_volumes, concurrent: None }
}

fn run_container(
    scope: &LookupScope<'_>,
    pod: BuiltPod<'_>,
    at: usize,
    services: &VisibleServices<'_>,
    files: &mut VolumeFiles,
) {
    let container = &*pod.pod.containers[at];
    let admission = Admission::for_pod(pod, scope.admission_context());
    let pod_volumes = PodVolumes::new(pod.pod, admission.as_ref());
    let mounted = pod_volumes.mounts(at);
    if mounted.iter().all(|it| it.read_only) {
        return;
    }
    let scope = scope.with_files(files);
    let of = BuiltContainer { object: pod.object, pod: pod.pod, container };
    let user = ContainerUser::who_reads(&scope, of);
    // The values do not depend on why a reference is not expanded.
    let environment = Environment::resolve(&scope, of, services, admission.as_ref(), &|_| None);
    let Some(mounts) = mount_points(container.mounts.len(), mounted, &environment) else {
        files.is_unknown = true;
        return;
    };
    // The kubelet creates the directories of `subPath`.
    for mount in mounts.iter().filter(|it| !it.sub_path.is_empty()) {
        files.file_system.make_directory(&FileSystem::locate(&mounts, &mount.path), FilePermissions::default());
    }
    let result = (|| {
        let command_line = ContainerScript::from_container(container, &environment).filter(|_| !container.has_hooks)?;
        let script = parse_shell_script(&command_line.text)?;
        let number = u32::try_from(files.scripts.len()).ok()?;
        let lookup = |name: &str| match environment.lookup(VariableScope::All, name) {
            Lookup::Bound(binding) => Some(binding.value.clone()),
            _ => None,
        };
        let context = ScriptContext {
            script: number,
            origins: &command_line.origins,
            shell: command_line.shell,
            mounts: &mounts,
            lookup: &lookup,
            must_succeed: container.role == ContainerRole::Init,
            stops_at_failure: command_line.stops_at_failure,
            user,
        };
        let directory = container.working_directory.as_ref().map(|it| it.value.to_string());
        let left = interpreter::run(&context, &script, files.file_system.clone(), directory).ok()?;
        Some((left, ScriptSource { container: at, text: command_line.item, segments: command_line.segments }))
    })();
    match result {
        Some((left, source)) => {
            files.file_system = left;
            files.scripts.push(source);
        }
        None => files.file_system.make_unknown(&mounts),
    }
}

/// The mount points of a container, first its own, then those of presets; `None` if one of them is unknown.
fn mount_points(own: usize, mounts: &[&Mount], environment: &Environment<'_>) -> Option<Vec<MountPoint>> {
    let mut expanded = environment.sub_paths.iter();
    let mut points = Vec::new();
    for (at, mount) in mounts.iter().enumerate() {
        let Mount { name, mount_path, sub_path, sub_path_expr, read_only, .. } = mount;
        let sub_path = match sub_path_expr {
            Some(_) if at >= own => return None,
            Some(_) => expanded.next()?.item.expansion.value.known()?,
            None => sub_path.as_ref().map_or(String::new(), |it| it.value.to_string()),
        };
        let (Some(name), Some(path)) = (name, mount_path) else { continue };
        if [&name.value, &path.value].into_iter().any(|it| has_placeholder(it))
            || sub_path.split('/').any(|it| it == "..")
        {
            return None;
        }
        points.push(MountPoint {
            volume: Arc::clone(&name.value),
            path: normalize(&path.value),
            sub_path: normalize(&sub_path).trim_start_matches('/').to_owned(),
            read_only: *read_only,
        });
    }
    Some(points)
}

/// The script that a container runs.
struct ContainerScript {
    text: String,
    item: Option<Text>,
    segments: Vec<ScriptSegment>,
    origins: Vec<(Span, Arc<ValuePart>)>,
    shell: ShellVariant,
    stops_at_failure: bool,
}

impl ContainerScript {
    fn from_container(container: &Container, environment: &Environment<'_>) -> Option<Self> {
        let items: Vec<&ExpandedScalar> = environment.command.iter().chain(&environment.args).collect();
        // Without a command the image decides what runs.
        if environment.command.is_empty() || items.iter().any(|it| has_placeholder(&it.text.value)) {
            return None;
        }
        let image = container.image.as_ref().map_or("", |it| &it.value);
        let Some(at) = items.iter().position(|it| it.is_script()) else { return Self::program(&items, image) };
        let mut before = items[..at].iter().map(|it| &*it.text.value);
        let name = before.by_ref().find(|it| !WRAPPERS.contains(it))?;
        let (mut reads_script, mut stops_at_failure) = (false, false);
        for option in before {
            if let Some(flags) = option.strip_prefix('-').filter(|it| it.bytes().all(|it| it.is_ascii_alphabetic())) {
                reads_script |= flags.contains('c');
                stops_at_failure |= flags.contains('e');
            }
        }
        let (text, segments, origins) = expand_script(items[at])?;
        let shell = shell_variant(name, image, items[0])?;
        let item = Some(items[at].text.clone());
        reads_script.then_some(Self { text, item, segments, origins, shell, stops_at_failure })
    }

    /// A program with arguments, as a script that runs it.
    fn program(items: &[&ExpandedScalar], image: &str) -> Option<Self> {
        let mut text = String::new();
        for item in items {
            let value = item.expansion.value.known()?;
            text.push_str(&format!("'{}' ", value.replace('\'', "'\\''")));
        }
        let shell = shell_variant("sh", image, items.first()?)?;
        // Shell builtins cannot run without a shell.
        let name = items.first()?.expansion.value.known()?;
        let is_program =
            name.contains('/') || ["sleep", "true", "cp", "mv", "touch", "mkdir", "rm", "tee"].contains(&&*name);
        is_program.then_some(Self {
            text,
            item: None,
            segments: Vec::new(),
            origins: Vec::new(),
            shell,
            stops_at_failure: false,
        })
    }
}

/// Programs that run a shell given in their arguments.
const WRAPPERS: [&str; 8] =
    ["/usr/bin/env", "env", "busybox", "/bin/busybox", "tini", "/sbin/tini", "--", "/usr/bin/dumb-init"];

/// The shell variant, by the name of the shell and of the image.
fn shell_variant(name: &str, image: &str, first: &ExpandedScalar) -> Option<ShellVariant> {
    // The image name contains the name of the distribution.
    let has = |words: &[&str]| words.iter().any(|word| image.contains(word));
    Some(match name.rsplit('/').next()? {
        "bash" => ShellVariant::Bash,
        "dash" => ShellVariant::Dash,
        "ash" => ShellVariant::Ash,
        "sh" if first.text.value.ends_with("busybox") || has(&["busybox", "alpine"]) => ShellVariant::Ash,
        "sh" if has(&["debian", "ubuntu"]) => ShellVariant::Dash,
        "sh" if has(&["fedora", "centos", "ubi8", "ubi9", "ubi10", "rockylinux", "almalinux", "amazonlinux"]) => {
            ShellVariant::Bash
        }
        "sh" | "ksh" => ShellVariant::Any,
        // Other shells, such as zsh, do not split words and have a different `echo`.
        _ => return None,
    })
}

type ExpandedScript = (String, Vec<ScriptSegment>, Vec<(Span, Arc<ValuePart>)>);

/// The script after expansion by the kubelet.
fn expand_script(item: &ExpandedScalar) -> Option<ExpandedScript> {
    let raw: &str = &item.text.value;
    let (mut text, mut segments, mut origins) = (String::new(), Vec::new(), Vec::new());
    let mut steps = item.expansion.steps.iter();
    let mut at = 0;
    let push = |text: &mut String, segments: &mut Vec<ScriptSegment>, new: &str, from: Range<usize>| {
        let start = text.len();
        text.push_str(new);
        segments.push(ScriptSegment { script: start..text.len(), item: from });
    };
    for token in dollar_tokens(raw) {
        push(&mut text, &mut segments, &raw[at..token.range.start], at..token.range.start);
        at = token.range.end;
        match token.kind {
            DollarTokenKind::Reference => match &steps.next()?.outcome {
                Lookup::Bound(binding) => {
                    let whole = TracedText::from_value(
                        &binding.value,
                        ScriptPosition::new(0, Span::default(), ShellQuote::Bare),
                        true,
                    );
                    if whole.is_open {
                        return None;
                    }
                    let start = text.len();
                    for it in &whole.characters {
                        if let Some(origin) = &it.origin {
                            let span = Span::new(text.len(), text.len() + it.value.len_utf8());
                            origins.push((span, Arc::clone(origin)));
                        }
                        text.push(it.value);
                    }
                    segments.push(ScriptSegment { script: start..text.len(), item: token.range });
                }
                Lookup::Maybe(_) => return None,
                Lookup::Later(_) | Lookup::Unbound => {
                    push(&mut text, &mut segments, &raw[token.range.clone()], token.range);
                }
            },
            DollarTokenKind::Escape => push(&mut text, &mut segments, "$", token.range),
            DollarTokenKind::Unterminated | DollarTokenKind::Plain => {
                push(&mut text, &mut segments, &raw[token.range.clone()], token.range);
            }
        }
    }
    push(&mut text, &mut segments, &raw[at..], at..raw.len());
    segments.retain(|it| !it.script.is_empty());
    Some((text, segments, origins))
}

/// Converts traced characters to a value.
pub(super) fn to_value(characters: &[TracedCharacter]) -> ResolvedValue {
    let mut value = ResolvedValue::default();
    let mut text = String::new();
    let mut secret: Option<(Arc<str>, String)> = None;
    for it in characters {
        if let Some(ValuePart::Secret { of, .. }) = it.origin.as_deref() {
            value.push(ValuePart::Text(std::mem::take(&mut text).into()));
            match &mut secret {
                Some((known, text)) if known == of => text.push(it.value),
                _ => {
                    value.extend_secret(secret.take());
                    secret = Some((Arc::clone(of), it.value.into()));
                }
            }
            continue;
        }
        value.extend_secret(secret.take());
        match it.origin.as_deref() {
            Some(piece) => {
                value.push(ValuePart::Text(std::mem::take(&mut text).into()));
                value.push(piece.clone());
            }
            None => text.push(it.value),
        }
    }
    value.extend_secret(secret);
    value.push(ValuePart::Text(text.into()));
    value
}

impl ResolvedValue {
    fn extend_secret(&mut self, secret: Option<(Arc<str>, String)>) {
        if let Some((of, text)) = secret {
            self.push(ValuePart::Secret { text: text.into(), of });
        }
    }
}
