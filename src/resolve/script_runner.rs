//! The env files of a pod, as its init containers and sidecars write them with plain scripts.
//!
//! Containers are run in their order on volumes that begin empty. A container that cannot be followed leaves whatever it
//! can write unknown; nothing is guessed.

mod commands;
mod echo_printf;
mod file_system;
mod interpreter;
mod traced_text;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use crate::k8s::{Container, ContainerRole, Mount, Object, Pod, Text, VariableScope};
use crate::resolve::admission::Admission;
use crate::resolve::binding::Lookup;
use crate::resolve::env_sources;
use crate::resolve::environment::{Environment, ExpandedScalar};
use crate::resolve::lookup_scope::LookupScope;
use crate::resolve::pod_volumes::PodVolumes;
use crate::resolve::service_variables::ServiceVariables;
use crate::resolve::value::{ResolvedValue, ValuePart};
use crate::syntax::{DollarTokenKind, ShellQuote, dollar_tokens, has_helm_placeholder, parse_shell_script};
use crate::text::Span;
use commands::ShellVariant;
use file_system::{FileSystem, MountPoint, normal};
use interpreter::ScriptContext;
use traced_text::TracedText;

pub(super) use file_system::FileState;
pub(super) use traced_text::{ScriptPosition, TracedCharacter};

/// More containers than this before one are not followed.
const MOST_CONTAINERS: usize = 64;

/// What the volumes of a pod hold when a container starts.
#[derive(Clone, Debug)]
pub(super) struct VolumeFiles {
    disk: FileSystem,
    /// Everything that was run, by number.
    pub(super) scripts: Vec<ScriptSource>,
    /// Volumes that something writes which cannot be followed.
    is_lost: bool,
}

/// Where a script stands.
#[derive(Clone, Debug)]
pub(super) struct ScriptSource {
    /// The container that runs it, by its position in the pod.
    pub(super) container: usize,
    /// The item of its command line, where it is one.
    pub(super) text: Option<Text>,
    segments: Vec<ScriptSegment>,
}

/// Some bytes of a script with those of the item they come from.
#[derive(Clone, Debug)]
struct ScriptSegment {
    script: Range<usize>,
    item: Range<usize>,
}

impl ScriptSource {
    /// A range of the script as a range of the item's value.
    pub(super) fn item_range(&self, span: Span) -> Range<usize> {
        let start = self.item_offset(span.start, false);
        start..self.item_offset(span.end, true).max(start)
    }

    fn item_offset(&self, offset: usize, is_end: bool) -> usize {
        let holds = |it: &&ScriptSegment| {
            if is_end {
                it.script.start < offset && offset <= it.script.end
            } else {
                it.script.start <= offset && offset < it.script.end
            }
        };
        let Some(segment) = self.segments.iter().find(holds) else {
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
    /// What is known of a file.
    pub(super) fn file(&self, volume: &str, path: &str) -> FileState {
        if self.is_lost { FileState::Unknown } else { self.disk.file(volume, path) }
    }

    /// The files that are known to be in a volume.
    pub(super) fn paths(&self, volume: &str) -> Vec<String> {
        if self.is_lost { Vec::new() } else { self.disk.paths(volume).map(str::to_owned).collect() }
    }

    /// Whether all that is in a volume is known.
    pub(super) fn is_followed(&self, volume: &str) -> bool {
        !self.is_lost && self.disk.is_followed(volume)
    }

    /// Whether a file has held something else before.
    pub(super) fn was_rewritten(&self, volume: &str, path: &str) -> bool {
        self.disk.was_rewritten(volume, path)
    }
}

/// The volumes as a container finds them when it starts.
pub(super) fn before(
    scope: &LookupScope<'_>,
    object: &Object,
    pod: &Pod,
    container: &Container,
    services: &Arc<ServiceVariables>,
) -> VolumeFiles {
    let own = pod.containers.iter().position(|it| ptr::eq(&**it, container)).unwrap_or(0);
    let mut produced = empty(scope, object, pod, container);
    for (at, producer) in pod.containers.iter().enumerate() {
        let starts_before = match (producer.role, container.role) {
            (ContainerRole::Init | ContainerRole::Sidecar, ContainerRole::Init | ContainerRole::Sidecar) => at < own,
            (ContainerRole::Init | ContainerRole::Sidecar, _) => true,
            (ContainerRole::Container, ContainerRole::Container) => at < own,
            (ContainerRole::Container, ContainerRole::Ephemeral) => true,
            _ => false,
        };
        if !starts_before {
            continue;
        }
        if produced.is_lost || at >= MOST_CONTAINERS {
            produced.is_lost = true;
            return produced;
        }
        let before = produced.disk.clone();
        run_container(scope, object, pod, at, services, &mut produced);
        // Regular containers run on while others start: what they write may be there or not.
        if producer.role == ContainerRole::Container {
            produced.disk = produced.disk.merged(&before);
        }
        produced.disk.leave_container();
    }
    produced
}

/// The volumes as one container alone would leave them, were they empty.
pub(super) fn alone(
    scope: &LookupScope<'_>,
    object: &Object,
    pod: &Pod,
    at: usize,
    services: &Arc<ServiceVariables>,
) -> VolumeFiles {
    let mut produced = empty(scope, object, pod, &pod.containers[at]);
    if !produced.is_lost {
        run_container(scope, object, pod, at, services, &mut produced);
    }
    produced
}

fn empty(scope: &LookupScope<'_>, object: &Object, pod: &Pod, container: &Container) -> VolumeFiles {
    scope.depend_on_siblings();
    let admission = Admission::of(scope, object, pod);
    let mounting = PodVolumes::new(pod, admission.as_ref());
    let is_empty_dir = |kind: &Option<Text>| kind.as_ref().is_some_and(|it| &*it.value == "emptyDir");
    let volumes = mounting.volumes().iter().map(|it| it.volume).filter(|it| is_empty_dir(&it.kind));
    let names = volumes.filter_map(|it| it.name.as_ref()).map(|it| Arc::clone(&it.value));
    // What a patch or a template adds cannot be seen, nor what a preset brings that may be applied or not.
    let is_part = |it: &Container| it.may_have_more_variables || env_sources::is_part(scope, object, it);
    let is_lost =
        pod.containers.iter().any(|it| is_part(it)) || container.role == ContainerRole::Hook || mounting.is_open();
    VolumeFiles { disk: FileSystem::new(names), scripts: Vec::new(), is_lost }
}

fn run_container(
    scope: &LookupScope<'_>,
    object: &Object,
    pod: &Pod,
    at: usize,
    services: &Arc<ServiceVariables>,
    produced: &mut VolumeFiles,
) {
    let container = &pod.containers[at];
    let admission = Admission::of(scope, object, pod);
    let mounting = PodVolumes::new(pod, admission.as_ref());
    let mounted = mounting.mounts(at);
    if mounted.iter().all(|it| it.read_only) {
        return;
    }
    let (scope, services) = (scope.with_files(produced), Arc::clone(services));
    let environment = Environment::of(&scope, object, pod, container, services, admission.as_ref());
    let Some(mounts) = mount_points(container.mounts.len(), mounted, &environment) else {
        produced.is_lost = true;
        return;
    };
    // The kubelet makes the directories that are mounted.
    for mount in mounts.iter().filter(|it| !it.sub_path.is_empty()) {
        produced.disk.make_directory(&FileSystem::place(&mounts, &mount.path));
    }
    let result = (|| {
        let command_line = ContainerScript::of(container, &environment).filter(|_| !container.has_hooks)?;
        let script = parse_shell_script(&command_line.text)?;
        let number = u32::try_from(produced.scripts.len()).ok()?;
        let lookup = |name: &str| match environment.lookup(VariableScope::All, name) {
            Lookup::Bound(binding) => Some(binding.value.clone()),
            _ => None,
        };
        let around = ScriptContext {
            script: number,
            origins: &command_line.origins,
            shell: command_line.shell,
            mounts: &mounts,
            lookup: &lookup,
            must_succeed: container.role == ContainerRole::Init,
            stops_at_failure: command_line.stops_at_failure,
        };
        let directory = container.working_directory.as_ref().map(|it| it.value.to_string());
        let left = interpreter::run(&around, &script, produced.disk.clone(), directory).ok()?;
        Some((left, ScriptSource { container: at, text: command_line.item, segments: command_line.segments }))
    })();
    match result {
        Some((left, source)) => {
            produced.disk = left;
            produced.scripts.push(source);
        }
        None => produced.disk.forget(&mounts),
    }
}

/// Where the volumes of a container are, if all of that is known: its own mounts come first, then those of presets.
fn mount_points(own: usize, mounts: &[&Mount], environment: &Environment) -> Option<Vec<MountPoint>> {
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
        if [&name.value, &path.value].into_iter().any(|it| has_helm_placeholder(it))
            || sub_path.split('/').any(|it| it == "..")
        {
            return None;
        }
        points.push(MountPoint {
            volume: Arc::clone(&name.value),
            path: normal(&path.value),
            sub_path: normal(&sub_path).trim_start_matches('/').to_owned(),
            read_only: *read_only,
        });
    }
    Some(points)
}

/// What a container runs, as a script.
struct ContainerScript {
    text: String,
    item: Option<Text>,
    segments: Vec<ScriptSegment>,
    origins: Vec<(Span, Arc<ValuePart>)>,
    shell: ShellVariant,
    stops_at_failure: bool,
}

impl ContainerScript {
    fn of(container: &Container, environment: &Environment) -> Option<Self> {
        let items: Vec<&ExpandedScalar> = environment.command.iter().chain(&environment.args).collect();
        // Otherwise the image decides what runs.
        if environment.command.is_empty() || items.iter().any(|it| has_helm_placeholder(&it.text.value)) {
            return None;
        }
        let image = container.image.as_ref().map_or("", |it| &it.value);
        let Some(at) = items.iter().position(|it| it.is_script) else { return Self::program(&items, image) };
        let mut before = items[..at].iter().map(|it| &*it.text.value);
        let name = before.by_ref().find(|it| !WRAPPERS.contains(it))?;
        let (mut reads_script, mut stops_at_failure) = (false, false);
        for option in before {
            if let Some(flags) = option.strip_prefix('-').filter(|it| it.bytes().all(|it| it.is_ascii_alphabetic())) {
                reads_script |= flags.contains('c');
                stops_at_failure |= flags.contains('e');
            }
        }
        let (text, segments, origins) = script(items[at])?;
        let shell = shell_of(name, image, items[0])?;
        let item = Some(items[at].text.clone());
        reads_script.then_some(Self { text, item, segments, origins, shell, stops_at_failure })
    }

    /// A program with its arguments, which a shell would run as well.
    fn program(items: &[&ExpandedScalar], image: &str) -> Option<Self> {
        let mut text = String::new();
        for item in items {
            let value = item.expansion.value.known()?;
            text.push_str(&format!("'{}' ", value.replace('\'', "'\\''")));
        }
        let shell = shell_of("sh", image, items.first()?)?;
        // What is part of the shell does not run alone.
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

/// What may stand before a shell.
const WRAPPERS: [&str; 8] =
    ["/usr/bin/env", "env", "busybox", "/bin/busybox", "tini", "/sbin/tini", "--", "/usr/bin/dumb-init"];

/// Which rules a shell follows, by its name and by its image.
fn shell_of(name: &str, image: &str, first: &ExpandedScalar) -> Option<ShellVariant> {
    // Registry, path, name, tag: the words of the name tell what it is made of.
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
        // It splits no words, and its `echo` is another.
        _ => return None,
    })
}

type ExpandedScript = (String, Vec<ScriptSegment>, Vec<(Span, Arc<ValuePart>)>);

/// A script after the kubelet has expanded it.
fn script(item: &ExpandedScalar) -> Option<ExpandedScript> {
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
                    let whole = TracedText::of_value(
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

/// Parts of a traced text as a value.
pub(super) fn value_of(characters: &[TracedCharacter]) -> ResolvedValue {
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
