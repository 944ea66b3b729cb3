//! What the merge of presets compares: the key of an entry and its content.

use std::sync::Arc;

use crate::build::admission::{ConflictKind, MatchingPreset};
use crate::diagnostic::Location;
use crate::k8s::{Container, ContentHash, EnvFrom, EnvFromSource, ObjectSpan, Text, Volume, WrittenHashes};
use crate::syntax::has_placeholder;

/// The properties of an entry that the merge compares, and the location of its key.
pub(super) struct ComparedEntry {
    pub(super) key: Option<Arc<str>>,
    /// Equal for equal entries.
    pub(super) content: (Option<Arc<str>>, Option<ContentHash>),
    pub(super) location: Location,
}

impl ComparedEntry {
    /// Whether a part of the content is not known.
    pub(super) fn has_unknown_parts(&self) -> bool {
        let (value, hash) = &self.content;
        value.as_ref().is_some_and(|it| has_placeholder(it)) || hash.is_some_and(|it| it.has_unknown_parts())
    }
}

/// The compared properties of an entry of a container or of the volumes. `written` has the hashes of a custom resource.
pub(super) fn compared_entry(
    kind: ConflictKind,
    container: Option<&Container>,
    volumes: &[Volume],
    at: usize,
    written: Option<&WrittenHashes>,
    locate: &dyn Fn(ObjectSpan) -> Location,
) -> Option<ComparedEntry> {
    let keyed = |key: &Option<Text>, span: ObjectSpan, content| {
        let location = locate(key.as_ref().map_or(span, |it| it.span));
        Some(ComparedEntry { key: key.as_ref().map(|it| Arc::clone(&it.value)), content, location })
    };
    match kind {
        ConflictKind::Env => {
            let it = container?.env.get(at)?;
            let value = it.value.as_ref().map(|it| Arc::clone(&it.value)).filter(|it| !it.is_empty());
            let hash = match written {
                Some(written) => written.env.get(at).copied().flatten(),
                None => it.from.as_ref().map(|it| it.content_hash),
            };
            keyed(&it.name, it.span, (value, hash))
        }
        ConflictKind::MountName | ConflictKind::MountPath => {
            let it = container?.mounts.get(at)?;
            let hash = written.and_then(|written| written.mounts.get(at).copied()).unwrap_or(it.content_hash);
            let key = if kind == ConflictKind::MountName { &it.name } else { &it.mount_path };
            keyed(key, it.span, (None, Some(hash)))
        }
        ConflictKind::Volume => {
            let it = volumes.get(at)?;
            let hash = written.and_then(|written| written.volumes.get(at).copied()).unwrap_or(it.content_hash);
            keyed(&it.name, it.span, (None, Some(hash)))
        }
        ConflictKind::EnvFrom => {
            let it = container?.env_from.get(at)?;
            let hash = written.and_then(|written| written.env_from.get(at).copied()).unwrap_or(it.content_hash);
            let key = source_key(it);
            let name = source(it).and_then(|(_, name)| name);
            let location = locate(name.map_or(it.span, |it| it.span));
            Some(ComparedEntry { key: Some(key), content: (None, Some(hash)), location })
        }
    }
}

/// A8: a source is identified by its prefix, kind and name.
fn source_key(entry: &EnvFrom) -> Arc<str> {
    let prefix = entry.prefix.as_ref().map_or("", |it| &it.value);
    let (kind, name) = source(entry).map_or(("", ""), |(kind, name)| (kind, name.map_or("", |it| &it.value)));
    format!("{prefix}\n{kind}\n{name}").into()
}

fn source(entry: &EnvFrom) -> Option<(&'static str, Option<&Text>)> {
    Some(match entry.source.as_ref()? {
        EnvFromSource::ConfigMap { name, .. } => ("configMap", name.as_ref()),
        EnvFromSource::Secret { name, .. } => ("secret", name.as_ref()),
        EnvFromSource::Service { name, .. } => ("service", name.as_ref()),
    })
}

pub(super) fn source_name(matched: &MatchingPreset<'_>, entry: usize) -> Arc<str> {
    let entry = matched.container().and_then(|it| it.env_from.get(entry));
    let name = entry.and_then(|it| source(it)?.1);
    name.map_or_else(|| "".into(), |it| Arc::clone(&it.value))
}
