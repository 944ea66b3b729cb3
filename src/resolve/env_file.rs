//! `fileKeyRef`: the content of env files that containers write for each other, and the values of their keys.
//!
//! The content may be secret: it is shown where values are shown, and never in a message.

use std::ops::Range;
use std::sync::Arc;

use crate::build::{BuiltContainer, BuiltPod};
use crate::k8s::{Container, Text};
use crate::resolve::container_user::ContainerUser;
use crate::resolve::lookup_scope::LookupScope;
use crate::resolve::script_runner::{
    self, FilePermissions, FileState, ScriptPosition, ScriptSource, TracedCharacter, VolumeFiles,
};
use crate::resolve::value::ResolvedValue;
use crate::resolve::variable_names;
use crate::resolve::visible_services::VisibleServices;
use crate::syntax::{
    EnvFileDialect, EnvFileError, EnvFileProblem, ShellQuote, find_env_file_entry, may_be_replaced, parse_env_file,
};
use crate::workspace::KubernetesVersion;

/// How a release, or the proposal, parses env files.
#[derive(Clone, Copy, Debug)]
pub struct EnvFileSyntax {
    /// The dialect of the file format.
    pub dialect: EnvFileDialect,
    /// Whether the proposal accepts a variable name (PF9, V3).
    pub is_name: fn(&str) -> bool,
}

impl EnvFileSyntax {
    /// The syntax that the kubelet of a release accepts.
    pub fn for_release(release: KubernetesVersion, proposals: bool) -> Self {
        let dialect = if proposals { EnvFileDialect::Proposed } else { EnvFileDialect::for_kubernetes(release.minor) };
        Self {
            dialect,
            is_name: if release.is_at_least(32) {
                variable_names::is_relaxed_variable_name
            } else {
                variable_names::is_strict_variable_name
            },
        }
    }
}

/// V14: whether a release serves `fileKeyRef`. The gate of 1.34 is assumed to be on.
pub(super) fn serves_env_files(release: KubernetesVersion, proposals: bool) -> bool {
    proposals || release.is_at_least(34)
}

/// How one container reads env files.
#[derive(Clone, Copy, Debug)]
pub struct EnvFileReading {
    /// The syntax of the files.
    pub syntax: EnvFileSyntax,
    /// The user who must be able to read the file, if it matters (PF7).
    user: ContainerUser,
    /// Whether parts of the pod may be missing: it is a template or a patch. Then nothing is certainly missing.
    is_partial: bool,
}

impl EnvFileReading {
    /// How a container reads env files.
    pub(super) fn of(scope: &LookupScope<'_>, container: BuiltContainer<'_>) -> Self {
        let is_pod = scope.object.model.kind.as_ref().is_some_and(|it| &*it.value == "Pod");
        let is_open = |it: &Container| it.may_have_more_variables || it.image.is_none() && !is_pod;
        Self {
            syntax: scope.env_file_syntax(),
            user: ContainerUser::who_reads(scope, container),
            is_partial: scope.is_any_template()
                || scope.is_patch()
                || container.pod.containers.iter().any(|it| is_open(it)),
        }
    }
}

/// The files in the volumes of a pod at the start of one of its containers.
#[derive(Clone, Debug)]
pub struct EnvFiles {
    files: VolumeFiles,
}

/// The known state of an env file.
#[derive(Clone, Debug)]
pub enum EnvFile {
    /// No container writes it before this one starts.
    Absent,
    /// It is written with this content.
    Written(EnvFileContent),
    /// Only a container that starts at the same time writes it, the one with this index in the pod.
    Late(usize),
    /// It may exist with any content.
    Unknown,
}

/// The content of a file, as far as it is known.
#[derive(Clone)]
pub struct EnvFileContent {
    /// The known text.
    text: String,
    /// The origin of each character of the text.
    characters: Vec<TracedCharacter>,
    /// The offset of each character in the text.
    offsets: Vec<usize>,
    /// Whether more text may follow.
    is_open: bool,
    /// Whether it may still change when the container starts.
    may_change: bool,
    /// Of the file and its directories.
    permissions: Vec<FilePermissions>,
    scripts: Arc<[ScriptSource]>,
}

/// Does not print the text: it may be secret.
impl std::fmt::Debug for EnvFileContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} bytes>", self.text.len())
    }
}

/// What a container gets for a key of an env file. The one answer for values, findings and failures.
#[derive(Clone, Debug)]
pub enum FileKeyOutcome {
    /// The value, and its range in the text.
    Value(ResolvedValue, Range<usize>),
    /// Nothing: the entry is left out (B17, PF4).
    Skipped,
    /// No container writes the file: the container does not start (PF3, F4).
    MissingFile,
    /// Only a container that starts at the same time writes the file, the one with this index in the pod.
    LateFile(usize),
    /// The file does not have the key, or its value is empty: the container does not start (PF3, F5).
    MissingKey,
    /// The kubelet refuses the file: the container does not start (PF5, PF6).
    Refused(EnvFileError),
    /// The user of the container may not read the file: the container does not start (PF7).
    Unreadable(ContainerUser),
    /// It is not known.
    Unknown,
}

/// The result of looking up a key in an env file.
#[derive(Clone, Debug)]
pub enum EnvFileLookup {
    /// The value, and its range in the text.
    Value(ResolvedValue, Range<usize>),
    /// The key is not in the file, or its value is empty (F5).
    Missing,
    /// The kubelet refuses the file.
    Refused(EnvFileError),
    /// The content is not known well enough.
    Unknown,
}

/// A part of a script in a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptPart {
    /// The index of the container in the pod.
    pub container: usize,
    /// The item of the command line that contains the script.
    pub text: Text,
    /// The range in the item's value.
    pub range: Range<usize>,
    /// The quotes around the part.
    pub quote: ShellQuote,
}

impl EnvFiles {
    /// The files at the start of a container.
    pub(super) fn before(scope: &LookupScope<'_>, of: BuiltContainer<'_>, services: &VisibleServices<'_>) -> Self {
        Self { files: script_runner::files_before(scope, of, services) }
    }

    /// The files that one container would write into empty volumes.
    pub(super) fn written_by(
        scope: &LookupScope<'_>,
        pod: BuiltPod<'_>,
        at: usize,
        services: &VisibleServices<'_>,
    ) -> Self {
        Self { files: script_runner::files_written_by(scope, pod, at, services) }
    }

    /// The file at a path in a volume, as `fileKeyRef` names it.
    pub fn file(&self, volume: &str, path: &str) -> EnvFile {
        find_file(&self.files, volume, path)
    }

    /// The paths of the files that certainly exist in a volume.
    pub fn paths(&self, volume: &str) -> Vec<String> {
        self.files.paths(volume)
    }

    /// Whether all files of a volume are known.
    pub fn is_known(&self, volume: &str) -> bool {
        self.files.is_known(volume)
    }
}

/// See [`EnvFiles::file`].
pub(super) fn find_file(files: &VolumeFiles, volume: &str, path: &str) -> EnvFile {
    let path = path_in_volume(path).filter(|_| !may_be_replaced(path) && !may_be_replaced(volume));
    let Some(path) = path else { return EnvFile::Unknown };
    match files.file(volume, &path) {
        FileState::Absent => EnvFile::Absent,
        FileState::Unknown => files.late_writer(volume, &path).map_or(EnvFile::Unknown, EnvFile::Late),
        FileState::Known(text) => {
            let mut content = EnvFileContent {
                text: String::new(),
                characters: text.characters.clone(),
                offsets: Vec::with_capacity(text.characters.len()),
                is_open: text.is_open,
                may_change: files.may_change(volume, &path),
                permissions: files.permissions(volume, &path),
                scripts: files.scripts.as_slice().into(),
            };
            for it in &text.characters {
                content.offsets.push(content.text.len());
                content.text.push(it.value);
            }
            EnvFile::Written(content)
        }
    }
}

/// F3: a path relative to the volume; `None` if it leaves the volume.
pub fn path_in_volume(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    (!parts.is_empty() && !parts.contains(&"..")).then(|| parts.join("/"))
}

impl EnvFile {
    /// What a container gets for a key.
    pub fn outcome(&self, key: &str, optional: bool, reading: EnvFileReading) -> FileKeyOutcome {
        let is_draft = reading.syntax.dialect == EnvFileDialect::Proposed;
        let outcome = match self {
            Self::Unknown => FileKeyOutcome::Unknown,
            // F4: the container does not start without the file, even if `optional` is true; only PF4 differs.
            Self::Absent if optional && is_draft => FileKeyOutcome::Skipped,
            Self::Absent => FileKeyOutcome::MissingFile,
            Self::Late(_) if optional && is_draft => FileKeyOutcome::Unknown,
            Self::Late(writer) => FileKeyOutcome::LateFile(*writer),
            Self::Written(content) if content.may_change => FileKeyOutcome::Unknown,
            Self::Written(content) if is_draft && content.denial(reading.user).is_some() => {
                FileKeyOutcome::Unreadable(reading.user)
            }
            Self::Written(content) => match content.find(key, reading.syntax) {
                EnvFileLookup::Value(value, range) => FileKeyOutcome::Value(value, range),
                EnvFileLookup::Missing if may_be_replaced(key) => FileKeyOutcome::Unknown,
                EnvFileLookup::Missing if optional => FileKeyOutcome::Skipped,
                EnvFileLookup::Missing => FileKeyOutcome::MissingKey,
                EnvFileLookup::Refused(error) => FileKeyOutcome::Refused(error),
                EnvFileLookup::Unknown => FileKeyOutcome::Unknown,
            },
        };
        match outcome {
            FileKeyOutcome::Value(..) => outcome,
            _ if reading.is_partial => FileKeyOutcome::Unknown,
            _ => outcome,
        }
    }
}

impl EnvFileContent {
    /// Looks up a key.
    pub fn find(&self, key: &str, syntax: EnvFileSyntax) -> EnvFileLookup {
        // Only complete lines of incomplete text are certain.
        let text = match (self.is_open, self.text.rfind('\n')) {
            (false, _) => &self.text[..],
            (true, Some(end)) => &self.text[..=end],
            (true, None) => "",
        };
        match find_env_file_entry(text, key, syntax.dialect, syntax.is_name) {
            // In this dialect the last of equal names wins, and an error in a later line makes the file invalid.
            Ok(_) if self.is_open && syntax.dialect == EnvFileDialect::Proposed => EnvFileLookup::Unknown,
            Ok(Some(entry)) => {
                let range = entry.value_span.range();
                let exact = self.text[range.clone()] == *entry.value;
                let characters = self.characters(range.clone());
                let value = match characters.iter().all(|it| it.origin.is_none()) {
                    true => ResolvedValue::text(&*entry.value),
                    false if exact => script_runner::to_value(characters),
                    // Joined from several lines, with parts that are secret or unknown.
                    false => return EnvFileLookup::Unknown,
                };
                EnvFileLookup::Value(value, range)
            }
            Ok(None) if self.is_open => EnvFileLookup::Unknown,
            Ok(None) => EnvFileLookup::Missing,
            Err(error) if self.is_open && error.problem.is_unfinished() => EnvFileLookup::Unknown,
            Err(error) => EnvFileLookup::Refused(error),
        }
    }

    /// The names in the file with their ranges in the text, as far as the file can be parsed.
    pub fn names(&self, syntax: EnvFileSyntax) -> Vec<(String, Range<usize>)> {
        let (entries, _) = parse_env_file(&self.text, syntax.dialect, syntax.is_name);
        entries.into_iter().map(|it| (it.name.into_owned(), it.name_span.range())).collect()
    }

    /// The ranges of all values that lack required quotes; `None` if the file has other errors too.
    pub fn unquoted_values(&self, syntax: EnvFileSyntax) -> Option<Vec<Range<usize>>> {
        let (_, errors) = parse_env_file(&self.text, syntax.dialect, syntax.is_name);
        let is_quoting = |it: &EnvFileError| it.problem == EnvFileProblem::NotQuoted;
        (!self.is_open && errors.iter().all(is_quoting)).then(|| errors.iter().map(|it| it.span.range()).collect())
    }

    /// Whether the complete content is known.
    pub fn is_complete(&self) -> bool {
        !self.is_open
    }

    /// The known text. It may be secret.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of a script that writes a range of the text.
    pub fn script_part(&self, range: Range<usize>) -> Option<ScriptPart> {
        let characters = self.characters(range);
        let (first, last) = (characters.first()?.place, characters.last()?.place);
        let end = if first.script == last.script { last.end.max(first.end) } else { first.end };
        self.part_at(ScriptPosition { end, ..first })
    }

    /// The part of a script that writes the first character.
    pub fn first_part(&self) -> Option<ScriptPart> {
        self.part_at(self.characters.first()?.place)
    }

    /// The permissions that certainly keep a user from reading the file.
    fn denial(&self, user: ContainerUser) -> Option<&FilePermissions> {
        self.permissions.iter().find(|it| it.denies(user))
    }

    /// The part of a script that sets the permissions which keep a user from reading the file.
    pub fn permissions_part(&self, user: ContainerUser) -> Option<ScriptPart> {
        self.part_at(self.denial(user)?.place()?)
    }

    fn part_at(&self, place: ScriptPosition) -> Option<ScriptPart> {
        let source = self.scripts.get(place.script as usize)?;
        let text = source.text.clone()?;
        let range = source.item_range(place.span());
        Some(ScriptPart { container: source.container, text, range, quote: place.quote })
    }

    fn characters(&self, range: Range<usize>) -> &[TracedCharacter] {
        let at = |offset: usize| self.offsets.partition_point(|it| *it < offset);
        self.characters.get(at(range.start)..at(range.end)).unwrap_or_default()
    }
}
