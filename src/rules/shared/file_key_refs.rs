//! Code for the rules on env files: every `fileKeyRef` of a pod, with the known state of its volume and its file.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::build::BuiltContainer;
use crate::diagnostic::{Edit, Fix, Location};
use crate::k8s::{Container, ContainerRole, ObjectSpan, Text, ValueSource};
use crate::resolve::{EnvFile, EnvFileContent, EnvFileSyntax, EnvFiles, PodVolumes, ScriptPart, path_in_volume};
use crate::rules::engine::{ObjectContext, PodContext};
use crate::rules::shared::placeholders::is_placeholder;
use crate::workspace::Snapshot;

/// A `fileKeyRef`.
pub(in crate::rules) struct FileKeyRef<'p> {
    /// The index in the pod of the container that gets the value.
    pub(in crate::rules) at: usize,
    pub(in crate::rules) container: &'p Container,
    /// The variable that gets the value; empty if it has no name.
    pub(in crate::rules) variable: &'p str,
    /// The span of the key `fileKeyRef`.
    pub(in crate::rules) field: ObjectSpan,
    pub(in crate::rules) volume: Option<&'p Text>,
    pub(in crate::rules) path: Option<&'p Text>,
    pub(in crate::rules) key: Option<&'p Text>,
    pub(in crate::rules) optional: bool,
}

/// Whether a volume can hold env files.
pub(in crate::rules) enum VolumeUse {
    /// The pod has no volume of this name.
    Missing,
    /// It is not an `emptyDir`.
    Other {
        /// The kind of volume.
        kind: Arc<str>,
        /// The location of the kind.
        place: Location,
    },
    /// No container mounts it. Contains its location.
    Unmounted(Location),
    /// It is an `emptyDir` that is mounted.
    Usable,
    /// It is not known.
    Unknown,
}

impl<'a> PodContext<'a> {
    /// Every `fileKeyRef` that the kubelet would read.
    pub(in crate::rules) fn file_key_refs(&self) -> impl Iterator<Item = FileKeyRef<'a>> + use<'a> {
        self.pod.containers.iter().enumerate().flat_map(|(at, container)| {
            container.env.iter().filter_map(move |entry| {
                let from = entry.from.as_ref()?;
                let ValueSource::File { field, volume, path, key, optional } = from.sources.first()? else {
                    return None;
                };
                Some(FileKeyRef {
                    at,
                    container,
                    variable: entry.name.as_ref().map_or("", |it| &it.value),
                    field: *field,
                    volume: volume.as_ref(),
                    path: path.as_ref(),
                    key: key.as_ref(),
                    optional: *optional,
                })
            })
        })
    }

    /// Whether parts of the pod may be missing: it is a template or a patch.
    pub(in crate::rules) fn may_lack_parts(&self) -> bool {
        self.object.file.is_template()
            || self.pod.containers.iter().any(|it| it.may_have_more_variables || self.is_partial_container(it))
    }

    /// Calls `look` with the volumes and mounts of the pod, including those that presets add.
    pub(in crate::rules) fn mounting<T>(&self, look: impl FnOnce(&PodVolumes<'_>) -> T) -> T {
        let file = self.object.file;
        let admission = file.resolver.admission(self.handle());
        look(&PodVolumes::new(self.pod, admission.as_ref()))
    }

    /// Whether the volume with a name can hold env files.
    pub(in crate::rules) fn volume_use(&self, name: &str) -> VolumeUse {
        if is_placeholder(name) || self.may_lack_parts() || self.may_patch_volume(name) {
            return VolumeUse::Unknown;
        }
        self.mounting(|mounting| self.volume_use_in(name, mounting))
    }

    fn volume_use_in(&self, name: &str, mounting: &PodVolumes<'_>) -> VolumeUse {
        let known = |text: &Option<Text>| text.as_ref().is_some_and(|it| &*it.value == name);
        let vague = |text: &Option<Text>| text.as_ref().is_none_or(|it| is_placeholder(&it.value));
        let Some(found) = mounting.volumes().iter().find(|it| known(&it.volume.name)) else {
            let is_vague = mounting.volumes().iter().any(|it| vague(&it.volume.name)) || mounting.may_differ_for(name);
            return if is_vague { VolumeUse::Unknown } else { VolumeUse::Missing };
        };
        let place = |span: ObjectSpan| match found.preset {
            Some(preset) => preset.location(span),
            None => self.object.at(span),
        };
        match &found.volume.kind {
            None => return VolumeUse::Unknown,
            Some(kind) if &*kind.value != "emptyDir" => {
                return VolumeUse::Other { kind: Arc::clone(&kind.value), place: place(kind.span) };
            }
            Some(_) => {}
        }
        if mounting.all_mounts().any(|it| known(&it.name)) {
            return VolumeUse::Usable;
        }
        let is_vague = mounting.all_mounts().any(|it| vague(&it.name)) || mounting.may_differ_for(name);
        match (&found.volume.name, is_vague) {
            (Some(name), false) => VolumeUse::Unmounted(place(name.span)),
            _ => VolumeUse::Unknown,
        }
    }

    /// Whether a Kustomize patch may add the volume or mount it.
    fn may_patch_volume(&self, name: &str) -> bool {
        let known = |text: &Option<Text>| text.as_ref().is_some_and(|it| &*it.value == name);
        self.may_be_patched(|patch| {
            patch.volumes.iter().any(|it| known(&it.name))
                || patch.containers.iter().flat_map(|it| &it.mounts).any(|it| known(&it.name))
        })
    }

    /// How env files are parsed for this pod.
    pub(in crate::rules) fn reading(&self) -> EnvFileSyntax {
        self.object.file.resolver.env_file_syntax(self.object.file.path)
    }

    /// Whether the settings enable proposals.
    pub(in crate::rules) fn is_draft(&self) -> bool {
        self.object.file.snapshot.settings(self.object.file.path).proposals
    }

    /// The env files that exist when a container starts.
    fn env_files(&self, container: &Container) -> EnvFiles {
        self.object.file.resolver.env_files(BuiltContainer { object: self.object.object, pod: self.pod, container })
    }

    /// The env files that one container writes.
    fn files_written_by(&self, at: usize) -> EnvFiles {
        self.object.file.resolver.env_files_written_by(self.handle(), at)
    }

    /// Containers that run while the container of a reference waits, and can write to the volume.
    fn concurrent_writers(&self, reference: &FileKeyRef<'_>, volume: &str) -> Vec<usize> {
        let is_beside = |at: usize, it: &Container| {
            at != reference.at && matches!(it.role, ContainerRole::Container | ContainerRole::Ephemeral)
        };
        self.mounting(|mounting| {
            let all = self.pod.containers.iter().enumerate();
            all.filter(|(at, it)| is_beside(*at, it) && mounting.is_writable(*at, volume)).map(|(at, _)| at).collect()
        })
    }

    /// Whether the container with an index can write to a volume.
    pub(in crate::rules) fn writes(&self, at: usize, volume: &str) -> bool {
        self.mounting(|mounting| mounting.is_writable(at, volume))
    }

    /// Whether the container with an index mounts a volume.
    pub(in crate::rules) fn mounts(&self, at: usize, volume: &str) -> bool {
        self.mounting(|mounting| mounting.is_mounted(at, volume))
    }

    /// The location of a part of a script.
    pub(in crate::rules) fn script_location(&self, part: &ScriptPart) -> Location {
        self.object.inside(&part.text, part.range.clone())
    }
}

/// The env files of a pod. Each is computed once, for any number of keys.
pub(in crate::rules) struct PodFiles<'p, 'a> {
    pod: &'p PodContext<'a>,
    volumes: HashMap<Arc<str>, bool>,
    found: HashMap<usize, Rc<EnvFiles>>,
    left: HashMap<usize, Rc<EnvFiles>>,
    files: HashMap<(usize, Arc<str>, Arc<str>), Rc<EnvFile>>,
}

impl<'p, 'a> PodFiles<'p, 'a> {
    pub(in crate::rules) fn new(pod: &'p PodContext<'a>) -> Self {
        let (volumes, found, left, files) = (HashMap::new(), HashMap::new(), HashMap::new(), HashMap::new());
        Self { pod, volumes, found, left, files }
    }

    /// The env files that exist when the container of a reference starts.
    fn files_before(&mut self, reference: &FileKeyRef<'_>) -> Rc<EnvFiles> {
        let pod = self.pod;
        Rc::clone(self.found.entry(reference.at).or_insert_with(|| Rc::new(pod.env_files(reference.container))))
    }

    /// The env files that one container writes.
    pub(in crate::rules) fn left_by(&mut self, at: usize) -> Rc<EnvFiles> {
        let pod = self.pod;
        Rc::clone(self.left.entry(at).or_insert_with(|| Rc::new(pod.files_written_by(at))))
    }

    /// The file of a reference at the start of its container. `None` if containers that run at the same time may still
    /// write it: the kubelet tries again until the container starts.
    pub(in crate::rules) fn final_file(&mut self, reference: &FileKeyRef<'_>) -> Option<(Rc<EnvFiles>, Rc<EnvFile>)> {
        let (volume, path) = (reference.volume?, reference.path?);
        let pod = self.pod;
        let is_usable = |name: &Arc<str>| matches!(pod.volume_use(name), VolumeUse::Usable);
        let is_usable = *self.volumes.entry(Arc::clone(&volume.value)).or_insert_with_key(is_usable);
        if !is_usable || is_placeholder(&path.value) {
            return None;
        }
        path_in_volume(&path.value)?;
        let is_final = match reference.container.role {
            ContainerRole::Init | ContainerRole::Sidecar => true,
            ContainerRole::Hook => false,
            ContainerRole::Container | ContainerRole::Ephemeral => {
                pod.concurrent_writers(reference, &volume.value).into_iter().all(|at| {
                    let left = self.left_by(at);
                    matches!(left.file(&volume.value, &path.value), EnvFile::Absent)
                })
            }
        };
        let files = self.files_before(reference);
        let key = (reference.at, Arc::clone(&volume.value), Arc::clone(&path.value));
        let file = self.files.entry(key).or_insert_with(|| Rc::new(files.file(&volume.value, &path.value)));
        let file = Rc::clone(file);
        is_final.then_some((files, file))
    }
}

/// The role and the name of a container: ``init container `web` ``.
pub(in crate::rules) fn describe_container(container: &Container) -> String {
    let role = match container.role {
        ContainerRole::Init => "init container",
        ContainerRole::Sidecar => "sidecar",
        ContainerRole::Ephemeral => "ephemeral container",
        ContainerRole::Container | ContainerRole::Hook => "container",
    };
    format!("{role} `{}`", container.name.as_ref().map_or("?", |it| &it.value))
}

/// Puts single quotes around every unquoted value of a file that a script writes. `None` if the file has other errors
/// too.
pub(in crate::rules) fn quote_values(
    object: &ObjectContext<'_>,
    content: &EnvFileContent,
    reading: EnvFileSyntax,
) -> Option<Fix> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut seen = BTreeSet::new();
    let text = content.text();
    for range in content.unquoted_values(reading)? {
        for (part, range, new) in quotes_around(content, text, range)? {
            let new = new.replace('\'', part.quote.escaped_single_quote());
            // A loop writes several lines from one part of the script.
            if seen.insert((part.text.span, range.start, range.end)) {
                edits.push(script_edit(object, &part.text, range, &new)?);
            }
        }
    }
    edits.sort_by(|a, b| a.location.cmp(&b.location));
    let title = if edits.len() > 2 { "Put the values in single quotes" } else { "Put the value in single quotes" };
    (!edits.is_empty()).then(|| Fix { title: title.into(), safe: true, edits })
}

type Replacement = (ScriptPart, Range<usize>, String);

/// The replacements in the script that put single quotes around a value.
fn quotes_around(content: &EnvFileContent, text: &str, range: Range<usize>) -> Option<Vec<Replacement>> {
    let value = text[range.clone()].trim_end();
    // It is not clear whether ` #` begins a comment or is part of the value.
    if value.contains('\'') || value.contains(" #") {
        return None;
    }
    let end = range.start + value.len();
    let equals = content.script_part(range.start.checked_sub(1)?..range.start)?;
    let Some(first) = value.chars().next() else {
        let at = equals.range.end;
        return Some(vec![(equals, at..at, "''".into())]);
    };
    let last = value.chars().next_back()?;
    let head = content.script_part(range.start..range.start + first.len_utf8())?;
    let tail = content.script_part(end - last.len_utf8()..end)?;
    // If name and value come from one expansion, they cannot be separated in the script.
    if head.text == equals.text && head.range.start < equals.range.end && equals.range.start < head.range.end {
        return None;
    }
    if value.len() > 1 && first == '"' && last == '"' {
        let (head_range, tail_range) = (head.range.clone(), tail.range.clone());
        // Only quotes that are written in the script: those from a variable cannot be changed here.
        let is_own = |part: &ScriptPart| part.range.len() <= 2;
        return (is_own(&head) && is_own(&tail))
            .then(|| vec![(head, head_range, "'".into()), (tail, tail_range, "'".into())]);
    }
    let (before, after) = (head.range.start, tail.range.end);
    // A quote next to the end of the shell's own string is hard to read, but correct.
    Some(vec![(head, before..before, "'".into()), (tail, after..after, "'".into())])
}

/// Replaces a part of a script.
pub(in crate::rules) fn script_edit(
    object: &ObjectContext<'_>,
    text: &Text,
    range: Range<usize>,
    new: &str,
) -> Option<Edit> {
    object.replace_edit(text, range, new)
}

/// A `fileKeyRef` to a file of some name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvFileReader {
    /// The key that it reads.
    pub key: Arc<str>,
    /// The location of the key.
    pub location: Location,
}

/// Every `fileKeyRef` to a file with the name of an env file of the workspace, in the directories above and below that
/// file. A file without one belongs to other tools, which read env files in other ways.
pub fn env_file_readers(snapshot: &Snapshot, file: &str) -> Vec<EnvFileReader> {
    let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
    let below = |one: &str, above: &str| {
        above.is_empty() || one.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut readers = Vec::new();
    for (path, facts) in snapshot.files() {
        let other = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        if !below(other, directory) && !below(directory, other) {
            continue;
        }
        for object in &facts.objects {
            let containers = object.model.pods.iter().flat_map(|it| &it.containers);
            let sources = containers.flat_map(|it| &it.env).filter_map(|it| it.from.as_ref()?.sources.first());
            for source in sources {
                if let ValueSource::File { path: Some(read), key: Some(key), .. } = source
                    && read.value.rsplit('/').next() == Some(name)
                {
                    let location = Location { file: Arc::clone(path), span: object.file_span(key.span) };
                    readers.push(EnvFileReader { key: Arc::clone(&key.value), location });
                }
            }
        }
    }
    readers
}
