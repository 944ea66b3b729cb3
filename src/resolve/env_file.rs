//! `fileKeyRef`: what the file holds that a container writes for another, and what a key in it gives.
//!
//! A file's content may be secret: it is shown as a value where values are shown, and never in a message.

use std::ops::Range;
use std::sync::Arc;

use crate::k8s::{Container, Object, Pod, Text};
use crate::resolve::lookup_scope::LookupScope;
use crate::resolve::script_runner::{self, FileState, ScriptSource, TracedCharacter, VolumeFiles};
use crate::resolve::service_variables::ServiceVariables;
use crate::resolve::value::ResolvedValue;
use crate::resolve::variable_names;
use crate::syntax::{EnvFileDialect, EnvFileError, EnvFileProblem, ShellQuote, find_env_file_entry, parse_env_file};
use crate::text::Span;
use crate::workspace::KubernetesVersion;

/// How a release, or the proposal, reads env files.
#[derive(Clone, Copy, Debug)]
pub struct EnvFileSyntax {
    /// The syntax.
    pub dialect: EnvFileDialect,
    /// What the proposal takes for a name (PF9, V3).
    pub is_name: fn(&str) -> bool,
}

impl EnvFileSyntax {
    /// How the kubelet of a release reads.
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

/// The files in the volumes of a pod when one of its containers starts.
#[derive(Clone, Debug)]
pub struct EnvFiles {
    produced: VolumeFiles,
}

/// What is known of a file.
#[derive(Clone, Debug)]
pub enum EnvFile {
    /// Nobody writes it before the container starts.
    Absent,
    /// It is written, and this is in it.
    Written(EnvFileContent),
    /// It may exist, and hold anything.
    Unknown,
}

/// What is in a file, as far as it is known.
#[derive(Clone)]
pub struct EnvFileContent {
    /// The known text.
    text: String,
    /// Each character of the text with its way.
    characters: Vec<TracedCharacter>,
    /// The offset in the text of each character.
    offsets: Vec<usize>,
    /// Whether more may follow.
    is_open: bool,
    /// Whether it has held something else before.
    pub was_rewritten: bool,
    scripts: Arc<[ScriptSource]>,
}

/// It may be secret.
impl std::fmt::Debug for EnvFileContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} bytes>", self.text.len())
    }
}

/// What a key gives.
#[derive(Clone, Debug)]
pub enum EnvFileLookup {
    /// This value; written here, in the text.
    Value(ResolvedValue, Range<usize>),
    /// The key is not in the file, or empty (F5).
    Missing,
    /// The kubelet refuses the file.
    Refused(EnvFileError),
    /// That cannot be told.
    Unknown,
}

/// A part of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptPart {
    /// The container, by its position in the pod.
    pub container: usize,
    /// The item of its command line.
    pub text: Text,
    /// The part of the item's value.
    pub range: Range<usize>,
    /// What stands around it in the script.
    pub quote: ShellQuote,
}

impl EnvFiles {
    /// The files as a container finds them.
    pub(super) fn of(
        scope: &LookupScope<'_>,
        object: &Object,
        pod: &Pod,
        container: &Container,
        services: &Arc<ServiceVariables>,
    ) -> Self {
        Self { produced: script_runner::before(scope, object, pod, container, services) }
    }

    /// The files that one container alone would leave.
    pub(super) fn left_by(
        scope: &LookupScope<'_>,
        object: &Object,
        pod: &Pod,
        at: usize,
        services: &Arc<ServiceVariables>,
    ) -> Self {
        Self { produced: script_runner::alone(scope, object, pod, at, services) }
    }

    /// A file by its path in a volume, as `fileKeyRef` has it.
    pub fn file(&self, volume: &str, path: &str) -> EnvFile {
        file(&self.produced, volume, path)
    }

    /// The paths of the files that are surely in a volume.
    pub fn paths(&self, volume: &str) -> Vec<String> {
        self.produced.paths(volume)
    }

    /// Whether everything that is in a volume is known.
    pub fn is_followed(&self, volume: &str) -> bool {
        self.produced.is_followed(volume)
    }
}

/// See [`EnvFiles::file`].
pub(super) fn file(produced: &VolumeFiles, volume: &str, path: &str) -> EnvFile {
    let Some(path) = path_in_volume(path) else { return EnvFile::Unknown };
    match produced.file(volume, &path) {
        FileState::Absent => EnvFile::Absent,
        FileState::Unknown => EnvFile::Unknown,
        FileState::Known(text) => {
            let mut content = EnvFileContent {
                text: String::new(),
                characters: text.characters.clone(),
                offsets: Vec::with_capacity(text.characters.len()),
                is_open: text.is_open,
                was_rewritten: produced.was_rewritten(volume, &path),
                scripts: produced.scripts.as_slice().into(),
            };
            for it in &text.characters {
                content.offsets.push(content.text.len());
                content.text.push(it.value);
            }
            EnvFile::Written(content)
        }
    }
}

/// F3: a path from the top of the volume; nothing if it leads out of it.
pub fn path_in_volume(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    (!parts.is_empty() && !parts.contains(&"..")).then(|| parts.join("/"))
}

impl EnvFileContent {
    /// What a key gives.
    pub fn find(&self, key: &str, reading: EnvFileSyntax) -> EnvFileLookup {
        // Of what is cut off only whole lines are certain.
        let text = match (self.is_open, self.text.rfind('\n')) {
            (false, _) => &self.text[..],
            (true, Some(end)) => &self.text[..=end],
            (true, None) => "",
        };
        match find_env_file_entry(text, key, reading.dialect, reading.is_name) {
            // The last of equal names counts there, and a later line may be wrong.
            Ok(_) if self.is_open && reading.dialect == EnvFileDialect::Proposed => EnvFileLookup::Unknown,
            Ok(Some(entry)) => {
                let range = entry.value_span.range();
                let exact = self.text[range.clone()] == *entry.value;
                let characters = self.characters(range.clone());
                let value = match characters.iter().all(|it| it.origin.is_none()) {
                    true => ResolvedValue::text(&*entry.value),
                    false if exact => script_runner::value_of(characters),
                    // Joined from several lines, with parts that are not for everyone.
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

    /// The names in the file, each with its place in the text, as far as they can be read.
    pub fn names(&self, reading: EnvFileSyntax) -> Vec<(String, Range<usize>)> {
        let (entries, _) = parse_env_file(&self.text, reading.dialect, reading.is_name);
        entries.into_iter().map(|it| (it.name.into_owned(), it.name_span.range())).collect()
    }

    /// Every value that stands without the quotes it needs, as ranges of the text; nothing if something else is wrong.
    pub fn unquoted(&self, reading: EnvFileSyntax) -> Option<Vec<Range<usize>>> {
        let (_, errors) = parse_env_file(&self.text, reading.dialect, reading.is_name);
        let is_quoting = |it: &EnvFileError| it.problem == EnvFileProblem::NotQuoted;
        (!self.is_open && errors.iter().all(is_quoting)).then(|| errors.iter().map(|it| it.span.range()).collect())
    }

    /// Whether all of it is known.
    pub fn is_whole(&self) -> bool {
        !self.is_open
    }

    /// The known text. It may be secret.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a part of the text is written.
    pub fn place(&self, range: Range<usize>) -> Option<ScriptPart> {
        let characters = self.characters(range);
        let (first, last) = (characters.first()?, characters.last()?);
        let source = self.scripts.get(first.place.script as usize)?;
        let end = if first.place.script == last.place.script { last.place.end } else { first.place.end };
        let span = Span::new(first.place.start as usize, (end as usize).max(first.place.end as usize));
        let text = source.text.clone()?;
        Some(ScriptPart { container: source.container, text, range: source.item_range(span), quote: first.place.quote })
    }

    fn characters(&self, range: Range<usize>) -> &[TracedCharacter] {
        let at = |offset: usize| self.offsets.partition_point(|it| *it < offset);
        self.characters.get(at(range.start)..at(range.end)).unwrap_or_default()
    }
}
