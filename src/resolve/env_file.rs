//! `fileKeyRef`: the content of env files that containers write for each other, and the values of their keys.
//!
//! The content may be secret: it is shown where values are shown, and never in a message.

use std::ops::Range;
use std::sync::Arc;

use crate::build::{BuiltContainer, BuiltPod};
use crate::k8s::Text;
use crate::resolve::lookup_scope::LookupScope;
use crate::resolve::script_runner::{self, FileState, ScriptSource, TracedCharacter, VolumeFiles};
use crate::resolve::service_variables::ServiceVariables;
use crate::resolve::value::ResolvedValue;
use crate::resolve::variable_names;
use crate::syntax::{EnvFileDialect, EnvFileError, EnvFileProblem, ShellQuote, find_env_file_entry, parse_env_file};
use crate::text::Span;
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
    /// Whether other content was written to the file before.
    pub was_rewritten: bool,
    scripts: Arc<[ScriptSource]>,
}

/// Does not print the text: it may be secret.
impl std::fmt::Debug for EnvFileContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} bytes>", self.text.len())
    }
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
    pub(super) fn before(scope: &LookupScope<'_>, of: BuiltContainer<'_>, services: &Arc<ServiceVariables>) -> Self {
        Self { files: script_runner::files_before(scope, of, services) }
    }

    /// The files that one container would write into empty volumes.
    pub(super) fn written_by(
        scope: &LookupScope<'_>,
        pod: BuiltPod<'_>,
        at: usize,
        services: &Arc<ServiceVariables>,
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
    let Some(path) = path_in_volume(path) else { return EnvFile::Unknown };
    match files.file(volume, &path) {
        FileState::Absent => EnvFile::Absent,
        FileState::Unknown => EnvFile::Unknown,
        FileState::Known(text) => {
            let mut content = EnvFileContent {
                text: String::new(),
                characters: text.characters.clone(),
                offsets: Vec::with_capacity(text.characters.len()),
                is_open: text.is_open,
                was_rewritten: files.was_rewritten(volume, &path),
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
