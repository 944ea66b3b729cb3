//! The objects whose containers take variables from a ConfigMap or Secret.
//!
//! In a large tree thousands of applications have a ConfigMap with one name. All users of a name are resolved once, and not
//! once for each object of that name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::build::{self, BuiltMatch, BuiltObject, View};
use crate::k8s::ObjectData;
use crate::resolve::binding::OriginKind;

/// An object whose containers may take variables from a ConfigMap or Secret.
#[derive(Clone, Copy, Debug)]
pub struct DataUser<'s> {
    /// The object with the containers.
    pub object: BuiltObject<'s>,
    /// Whether the name that it uses can only mean that ConfigMap or Secret.
    pub is_certain: bool,
}

/// The users of the objects of one name: for each object, which is a file and an offset, the file and position of each user,
/// and whether it is certain.
type UsersOfName = HashMap<(Arc<str>, usize), Vec<(Arc<str>, usize, bool)>>;

/// The users of each object by its kind and name.
type UsersByName = HashMap<(OriginKind, Arc<str>), Arc<OnceLock<UsersOfName>>>;

/// The users of all names that were asked for.
#[derive(Debug, Default)]
pub(super) struct DataUsers(Mutex<UsersByName>);

impl DataUsers {
    /// The users of an object.
    pub(super) fn of<'s>(&self, object: BuiltObject<'s>) -> Vec<DataUser<'s>> {
        let kind = match &object.model.data {
            ObjectData::ConfigMap(_) => OriginKind::ConfigMap,
            ObjectData::Secret(_) => OriginKind::Secret,
            _ => return Vec::new(),
        };
        // Users see the object that its own template makes.
        let Some(name) = object.model.reference_name().filter(|_| !matches!(object.view, View::Named(_))) else {
            return Vec::new();
        };
        if object.snapshot.is_recording() {
            // The dependencies belong to this object.
            let found = |user: &BuiltObject<'s>| objects(*user, kind, name);
            let is_it = |it: &BuiltMatch<'_>| it.object.is_same(object);
            let users = object.users().into_iter().map(|user| (user, found(&user)));
            let users = users.filter(|(_, found)| found.iter().any(is_it));
            return users.map(|(object, found)| DataUser { object, is_certain: found.len() == 1 }).collect();
        }
        let cell = {
            let all = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry((kind, name.into())).or_default())
        };
        let users = cell.get_or_init(|| users_of_name(object, kind, name));
        let users = users.get(&(Arc::clone(object.file), object.source.offset)).into_iter().flatten();
        let built = users.filter_map(|(file, position, is_certain)| {
            let object = build::object_in_file(object.snapshot, file, *position)?;
            Some(DataUser { object, is_certain: *is_certain })
        });
        built.collect()
    }
}

/// The users of all objects with the name of an object.
fn users_of_name(object: BuiltObject<'_>, kind: OriginKind, name: &str) -> UsersOfName {
    let mut users = UsersOfName::new();
    for (user, position) in object.users_with_positions() {
        let found = objects(user, kind, name);
        for it in &found {
            let key = (Arc::clone(it.object.file), it.object.source.offset);
            users.entry(key).or_default().push((Arc::clone(user.file), position, found.len() == 1));
        }
    }
    users
}

fn objects<'s>(user: BuiltObject<'s>, kind: OriginKind, name: &str) -> Vec<BuiltMatch<'s>> {
    if kind == OriginKind::Secret { user.secrets(name) } else { user.config_maps(name) }
}
