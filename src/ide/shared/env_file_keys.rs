//! Keys of env files: where they are defined and where `fileKeyRef` uses them.
//!
//! An env file is written by a script of the pod, or is a file of the workspace whose name a `fileKeyRef` nearby has.

use std::sync::Arc;

use crate::build::BuiltContainer;
use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::located_container::LocatedContainer;
use crate::k8s::{Text, ValueSource};
use crate::resolve::{EnvFile, path_in_volume};
use crate::rules::env_file_readers;
use crate::syntax::parse_env_file;

/// A key of an env file.
#[derive(Clone, Debug)]
pub(crate) struct EnvFileKey {
    /// The key.
    pub(crate) key: Arc<str>,
    /// The definitions, in scripts and in files.
    pub(crate) definitions: Vec<Location>,
    /// The uses in `fileKeyRef`.
    pub(crate) uses: Vec<Location>,
}

/// A complete `fileKeyRef`.
struct CompleteFileKeyRef<'s> {
    volume: &'s str,
    path: String,
    key: &'s Text,
}

fn file_key_ref(source: &ValueSource) -> Option<CompleteFileKeyRef<'_>> {
    let ValueSource::File { volume, path, key, .. } = source else { return None };
    let path = path_in_volume(&path.as_ref()?.value)?;
    Some(CompleteFileKeyRef { volume: &volume.as_ref()?.value, path, key: key.as_ref()? })
}

/// The key of an entry of an env file in the workspace.
pub(crate) fn key_of_entry(analysis: &Analysis<'_>, file: &Arc<str>, name: &str) -> EnvFileKey {
    let readers = env_file_readers(analysis.snapshot, file).into_iter().filter(|it| *it.key == *name);
    let uses = readers.map(|it| without_quotes(analysis, it.location)).collect();
    EnvFileKey { key: name.into(), definitions: entries(analysis, file, name), uses }
}

/// The key that an entry of `env` uses.
pub(crate) fn key_of_reference(analysis: &Analysis<'_>, at: &LocatedContainer<'_>, index: usize) -> Option<EnvFileKey> {
    let own = file_key_ref(at.container.env.get(index)?.from.as_ref()?.sources.first()?)?;
    let mut found = EnvFileKey { key: Arc::clone(&own.key.value), definitions: Vec::new(), uses: Vec::new() };
    for container in &at.pod.containers {
        let sources = container.env.iter().filter_map(|it| file_key_ref(it.from.as_ref()?.sources.first()?));
        let is_same = |it: &CompleteFileKeyRef<'_>| {
            it.volume == own.volume && it.path == own.path && it.key.value == own.key.value
        };
        let same: Vec<CompleteFileKeyRef<'_>> = sources.filter(is_same).collect();
        if same.is_empty() {
            continue;
        }
        found.uses.extend(same.iter().map(|it| without_quotes(analysis, at.at(it.key.span))));
        let files = analysis.resolver.env_files(BuiltContainer { container, ..at.handle() });
        let EnvFile::Written(content) = files.file(own.volume, &own.path) else { continue };
        let names = content.names(analysis.resolver.env_file_syntax(&at.file));
        for (_, range) in names.into_iter().filter(|(name, _)| **name == *own.key.value) {
            let Some((part, file_text)) = content.script_part(range).zip(analysis.file_text(&at.file)) else {
                continue;
            };
            let span = file_text.inside(at.object, &part.text, part.range);
            found.definitions.push(Location { file: Arc::clone(&at.file), span });
        }
    }
    let here = at.at(own.key.span);
    for (file, _) in analysis.snapshot.files().filter(|(_, it)| it.is_env_format()) {
        if env_file_readers(analysis.snapshot, file).iter().any(|it| it.location == here) {
            found.definitions.extend(entries(analysis, file, &own.key.value));
        }
    }
    Some(found)
}

/// The entries with a name in an env file.
fn entries(analysis: &Analysis<'_>, file: &Arc<str>, name: &str) -> Vec<Location> {
    let Some(file_text) = analysis.file_text(file) else { return Vec::new() };
    let reading = analysis.resolver.env_file_syntax(file);
    let (entries, _) = parse_env_file(&file_text.source.text, reading.dialect, reading.is_name);
    let same = entries.into_iter().filter(|it| it.name == name);
    same.map(|it| Location { file: Arc::clone(file), span: it.name_span }).collect()
}

/// The location of a scalar without its quotes.
fn without_quotes(analysis: &Analysis<'_>, location: Location) -> Location {
    let quotes = analysis.file_text(&location.file).and_then(|it| {
        let text = it.text().get(location.span.range())?;
        let is_quoted = text.len() >= 2 && text.starts_with(['"', '\'']) && text.ends_with(['"', '\'']);
        Some(usize::from(is_quoted))
    });
    let quotes = quotes.unwrap_or(0);
    let span = crate::text::Span::new(location.span.start + quotes, location.span.end - quotes);
    Location { span, ..location }
}
