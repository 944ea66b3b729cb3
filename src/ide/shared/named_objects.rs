//! Config maps, secrets and services by name, and their keys.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::ide::Analysis;
use crate::ide::shared::located_container::lookup_site;
use crate::k8s::{DataEntry, Object, ObjectData};
use crate::resolve::{OriginKind, ResolvedValue};
use crate::workspace::ObjectMatch;

/// The objects that a name in `user` may refer to. Template parameters with a known value in the name are replaced.
pub(crate) fn objects_named<'s>(
    analysis: &Analysis<'s>,
    kind: OriginKind,
    name: &str,
    file: &str,
    user: &Object,
) -> Vec<ObjectMatch<'s>> {
    let (snapshot, from) = (analysis.snapshot, lookup_site(file, user));
    let name: Arc<str> = name.into();
    let name = user.with_known_parameters(&name);
    match kind {
        OriginKind::ConfigMap => snapshot.config_maps(&name, from),
        OriginKind::Secret => snapshot.secrets(&name, from),
        OriginKind::Service => snapshot.services_named(&name, from),
        _ => Vec::new(),
    }
}

/// The keys of a ConfigMap or Secret; none for other objects.
pub(crate) fn object_keys(object: &Object) -> &[DataEntry] {
    match &object.model.data {
        ObjectData::ConfigMap(source) | ObjectData::Secret(source) => &source.keys,
        _ => &[],
    }
}

/// The location of an object's name, or of the object if it has no name.
pub(crate) fn name_location(file: &Arc<str>, object: &Object) -> Location {
    let span = object.model.reference_name_text().map_or(object.model.span, |it| it.span);
    Location { file: Arc::clone(file), span: object.file_span(span) }
}

/// The value of a key.
pub(crate) fn key_value(kind: OriginKind, object: &str, key: &DataEntry) -> Option<ResolvedValue> {
    let content = key.value.as_ref()?;
    Some(match kind {
        OriginKind::Secret => ResolvedValue::secret(content.shared(), format!("{object}/{}", key.key.value)),
        _ => ResolvedValue::text(content.shared()),
    })
}
