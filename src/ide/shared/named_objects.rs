//! Config maps, secrets and services by name, and their keys.

use crate::build::{BuiltMatch, BuiltObject};
use crate::diagnostic::Location;
use crate::k8s::{DataEntry, ObjectData};
use crate::resolve::{OriginKind, ResolvedValue};

/// The objects that a name in `user` may refer to. Template parameters with a known value in the name are replaced.
pub(crate) fn objects_named<'s>(kind: OriginKind, name: &str, user: BuiltObject<'s>) -> Vec<BuiltMatch<'s>> {
    match kind {
        OriginKind::ConfigMap => user.config_maps(name),
        OriginKind::Secret => user.secrets(name),
        OriginKind::Service => user.services_named(name),
        _ => Vec::new(),
    }
}

/// The keys of a ConfigMap or Secret; none for other objects.
pub(crate) fn object_keys(object: BuiltObject<'_>) -> &[DataEntry] {
    match &object.model.data {
        ObjectData::ConfigMap(source) | ObjectData::Secret(source) => &source.keys,
        _ => &[],
    }
}

/// The location of an object's name, or of the object if it has no name.
pub(crate) fn name_location(object: BuiltObject<'_>) -> Location {
    object.location(object.model.reference_name_text().map_or(object.model.span, |it| it.span))
}

/// The value of a key.
pub(crate) fn key_value(kind: OriginKind, object: &str, key: &DataEntry) -> Option<ResolvedValue> {
    let content = key.value.as_ref()?;
    Some(match kind {
        OriginKind::Secret => ResolvedValue::secret(content.shared(), format!("{object}/{}", key.key.value)),
        _ => ResolvedValue::written(content.shared()),
    })
}
