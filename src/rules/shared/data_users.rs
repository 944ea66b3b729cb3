//! The containers that get a key of a ConfigMap or Secret as a variable.

use std::sync::Arc;

use crate::build::BuiltContainer;
use crate::k8s::{EnvFromSource, KeyRef, Text, ValueSource};
use crate::resolve::OriginKind;
use crate::rules::engine::ObjectContext;

/// The containers in the workspace that take variables from the object, if the name they use can only mean this object.
pub(in crate::rules) fn data_users<'a>(object: &ObjectContext<'a>) -> impl Iterator<Item = BuiltContainer<'a>> {
    let users = object.data_users().into_iter().filter(|it| it.is_certain);
    users.flat_map(|it| it.object.containers())
}

/// The variable that a container makes of a key of an object, and the scalar with the name of the object.
pub(in crate::rules) fn variable_of<'a>(
    container: BuiltContainer<'a>,
    kind: OriginKind,
    object: &str,
    key: &str,
) -> Option<(Arc<str>, &'a Text)> {
    let is_it = |name: &Option<Text>| name.as_ref().is_some_and(|it| &*it.value == object);
    let entries = container.container.env.iter();
    let mut values = entries.filter_map(|entry| {
        let reference: &KeyRef = match entry.from.as_ref()?.sources.first()? {
            ValueSource::ConfigMap(it) if kind == OriginKind::ConfigMap => it,
            ValueSource::Secret(it) if kind == OriginKind::Secret => it,
            _ => return None,
        };
        let is_key = reference.key.as_ref().is_some_and(|it| &*it.value == key);
        let variable = Arc::clone(&entry.name.as_ref()?.value);
        (is_it(&reference.name) && is_key).then_some((variable, reference.name.as_ref()?))
    });
    let imports = container.container.env_from.iter();
    let mut imports = imports.filter_map(|entry| {
        let name = match entry.source.as_ref()? {
            EnvFromSource::ConfigMap { name, .. } if kind == OriginKind::ConfigMap => name,
            EnvFromSource::Secret { name, .. } if kind == OriginKind::Secret => name,
            _ => return None,
        };
        let prefix = entry.prefix.as_ref().map_or("", |it| &it.value);
        is_it(name).then(|| Some((format!("{prefix}{key}").into(), name.as_ref()?)))?
    });
    values.next().or_else(|| imports.next())
}
