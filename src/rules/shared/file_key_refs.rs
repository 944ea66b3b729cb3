//! Code for the rules on env files: every `fileKeyRef` of a pod, with the known state of its volume and its file.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::build::BuiltContainer;
use crate::diagnostic::{Edit, Fix, Location};
use crate::k8s::{Container, ContainerRole, EnvVar, ObjectData, ObjectSpan, Text, ValueSource};
use crate::resolve::{
    EnvFile, EnvFileContent, EnvFileReading, EnvFileSyntax, EnvFiles, FileKeyOutcome, PodVolumes, ScriptPart,
};
use crate::rules::engine::{FileContext, Finding, Findings, ObjectContext, PodContext};
use crate::rules::shared::preset_targets::PresetTarget;
use crate::syntax::may_be_replaced;
use crate::workspace::Snapshot;

/// A `fileKeyRef`.
pub(in crate::rules) struct FileKeyRef<'p> {
    /// The object that contains it: that of the pod, or a preset.
    pub(in crate::rules) owner: ObjectContext<'p>,
    /// The index in the pod of the container that gets the value.
    pub(in crate::rules) at: usize,
    pub(in crate::rules) container: &'p Container,
    /// The variable that gets the value; empty if it has no name.
    pub(in crate::rules) variable: &'p str,
    /// Whether the shape of the entry is not that of an entry. Then a field may be there under another name.
    pub(in crate::rules) is_malformed: bool,
    /// The span of the key `fileKeyRef`.
    pub(in crate::rules) field: ObjectSpan,
    pub(in crate::rules) volume: Option<&'p Text>,
    pub(in crate::rules) path: Option<&'p Text>,
    pub(in crate::rules) key: Option<&'p Text>,
    pub(in crate::rules) optional: bool,
}

impl<'p> FileKeyRef<'p> {
    /// The `fileKeyRef` of an entry that a container gets, if it is one that the kubelet would read.
    pub(in crate::rules) fn new(
        owner: ObjectContext<'p>,
        at: usize,
        container: &'p Container,
        entry: &'p EnvVar,
    ) -> Option<Self> {
        let ValueSource::File { field, volume, path, key, optional } = entry.from.as_ref()?.sources.first()? else {
            return None;
        };
        Some(Self {
            owner,
            at,
            container,
            variable: entry.name.as_ref().map_or("", |it| &it.value),
            is_malformed: entry.is_malformed,
            field: *field,
            volume: volume.as_ref(),
            path: path.as_ref(),
            key: key.as_ref(),
            optional: *optional,
        })
    }

    /// The place of a span of its object.
    pub(in crate::rules) fn location(&self, span: ObjectSpan) -> Location {
        self.owner.at(span)
    }
}

/// A check of one `fileKeyRef` in the pod that reads it.
pub(in crate::rules) type FileKeyCheck = fn(&mut PodFiles<'_, '_>, &FileKeyRef<'_>) -> Vec<Finding>;

/// Checks every `fileKeyRef` of an object: those of its pods, or, in a preset, those that it adds to the pods it applies
/// to.
pub(in crate::rules) fn check_file_key_refs(
    object: &ObjectContext<'_>,
    check: FileKeyCheck,
    findings: &mut Findings<'_>,
) {
    for pod in &object.object.model.pods {
        let pod = PodContext { object: *object, pod };
        let mut files = PodFiles::new(&pod);
        pod.file_key_refs().iter().flat_map(|it| check(&mut files, it)).for_each(|it| findings.push(it));
    }
    let added = object.object.preset_container().filter(|_| !object.file.snapshot.is_patch(object.file.path));
    if !added.is_some_and(|it| it.container.env.iter().any(reads_env_file)) {
        return;
    }
    let mut found = Vec::new();
    for target in object.preset_targets() {
        let path = target.object.file;
        let Some(facts) = object.file.snapshot.file(path).filter(|_| object.file.resolver.serves_env_files(path))
        else {
            continue;
        };
        let file = FileContext { path, facts, ..*object.file };
        let pod = PodContext { object: ObjectContext { file: &file, object: target.object }, pod: target.pod };
        let mut files = PodFiles::new(&pod);
        for reference in added_file_key_refs(object, &target) {
            found.extend(check(&mut files, &reference).into_iter().map(|it| (target.title(), it)));
        }
    }
    Finding::for_workloads(found).into_iter().for_each(|it| findings.push(it));
}

/// Each `fileKeyRef` that a preset adds to the containers of a pod.
fn added_file_key_refs<'p>(preset: &ObjectContext<'p>, target: &'p PresetTarget<'p>) -> Vec<FileKeyRef<'p>> {
    let mut all = Vec::new();
    for (at, (changes, container)) in target.admission.containers.iter().zip(&target.pod.containers).enumerate() {
        let added = changes.env.iter().filter(|it| it.preset == target.at);
        let entries = added.filter_map(|it| Some(target.admission.env(*it)?.1));
        all.extend(entries.filter_map(|entry| FileKeyRef::new(*preset, at, container, entry)));
    }
    all
}

fn reads_env_file(entry: &EnvVar) -> bool {
    matches!(entry.from.as_ref().and_then(|it| it.sources.first()), Some(ValueSource::File { .. }))
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
    /// Every `fileKeyRef` of the pod itself that the kubelet would read.
    pub(in crate::rules) fn file_key_refs(&self) -> Vec<FileKeyRef<'a>> {
        let file = self.object.file;
        if !file.resolver.serves_env_files(file.path) {
            return Vec::new();
        }
        let all = self.pod.containers.iter().enumerate();
        let entries = all.flat_map(|(at, container)| container.env.iter().map(move |entry| (at, container, entry)));
        entries.filter_map(|(at, container, entry)| FileKeyRef::new(self.object, at, container, entry)).collect()
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
        if may_be_replaced(name) || self.may_lack_parts() || self.handle().may_patch_volume(name) {
            return VolumeUse::Unknown;
        }
        self.mounting(|mounting| self.volume_use_in(name, mounting))
    }

    fn volume_use_in(&self, name: &str, mounting: &PodVolumes<'_>) -> VolumeUse {
        let known = |text: &Option<Text>| text.as_ref().is_some_and(|it| &*it.value == name);
        let vague = |text: &Option<Text>| text.as_ref().is_none_or(|it| may_be_replaced(&it.value));
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

    /// How env files are parsed for this pod.
    pub(in crate::rules) fn reading(&self) -> EnvFileSyntax {
        self.object.file.resolver.env_file_syntax(self.object.file.path)
    }

    /// Whether the settings enable proposals.
    pub(in crate::rules) fn is_draft(&self) -> bool {
        self.object.file.snapshot.settings(self.object.file.path).proposals
    }

    fn container_handle(&self, container: &'a Container) -> BuiltContainer<'a> {
        BuiltContainer { object: self.object.object, pod: self.pod, container }
    }

    /// The env files that one container writes.
    fn files_written_by(&self, at: usize) -> EnvFiles {
        self.object.file.resolver.env_files_written_by(self.handle(), at)
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
    pub(in crate::rules) pod: &'p PodContext<'a>,
    volumes: HashMap<Arc<str>, Rc<VolumeUse>>,
    found: HashMap<usize, (Rc<EnvFiles>, EnvFileReading)>,
    left: HashMap<usize, Rc<EnvFiles>>,
    files: HashMap<(usize, Arc<str>, Arc<str>), Rc<EnvFile>>,
}

impl<'p, 'a> PodFiles<'p, 'a> {
    pub(in crate::rules) fn new(pod: &'p PodContext<'a>) -> Self {
        let (volumes, found, left, files) = (HashMap::new(), HashMap::new(), HashMap::new(), HashMap::new());
        Self { pod, volumes, found, left, files }
    }

    /// Whether the volume with a name can hold env files.
    pub(in crate::rules) fn volume_use(&mut self, name: &Arc<str>) -> Rc<VolumeUse> {
        let pod = self.pod;
        Rc::clone(self.volumes.entry(Arc::clone(name)).or_insert_with_key(|name| Rc::new(pod.volume_use(name))))
    }

    /// The env files that exist when the container of a reference starts, and how it reads them.
    pub(in crate::rules) fn files_before(&mut self, reference: &FileKeyRef<'_>) -> (Rc<EnvFiles>, EnvFileReading) {
        let pod = self.pod;
        let (files, reading) = self.found.entry(reference.at).or_insert_with(|| {
            let resolver = pod.object.file.resolver;
            let handle = pod.container_handle(&pod.pod.containers[reference.at]);
            (Rc::new(resolver.env_files(handle)), resolver.env_file_reading(handle))
        });
        (Rc::clone(files), *reading)
    }

    /// The env files that one container writes.
    pub(in crate::rules) fn left_by(&mut self, at: usize) -> Rc<EnvFiles> {
        let pod = self.pod;
        Rc::clone(self.left.entry(at).or_insert_with(|| Rc::new(pod.files_written_by(at))))
    }

    /// The file of a reference, and what its container gets from it. `None` if the volume cannot hold env files.
    pub(in crate::rules) fn outcome(&mut self, reference: &FileKeyRef<'_>) -> Option<(Rc<EnvFile>, FileKeyOutcome)> {
        let (volume, path) = (reference.volume?, reference.path?);
        if !matches!(*self.volume_use(&volume.value), VolumeUse::Usable) {
            return None;
        }
        let (files, reading) = self.files_before(reference);
        let id = (reference.at, Arc::clone(&volume.value), Arc::clone(&path.value));
        let file = self.files.entry(id).or_insert_with(|| Rc::new(files.file(&volume.value, &path.value)));
        let key = reference.key.map_or("", |it| &it.value);
        Some((Rc::clone(file), file.outcome(key, reference.optional, reading)))
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
            let preset = match &object.model.data {
                ObjectData::Preset(preset) => Some(&preset.pod),
                _ => None,
            };
            let containers = object.model.pods.iter().chain(preset).flat_map(|it| &it.containers);
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
