//! The number and size of the service variables in a pod, for all namespaces at once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::build::{self, BuiltObject};
use crate::k8s::ObjectData;
use crate::resolve::service_variables::approximate_size;
use crate::syntax::has_placeholder;
use crate::workspace::Snapshot;

/// The number and size of the service variables in a pod, counting services that are certainly in its namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceVariableTotals {
    /// The number of services.
    pub services: usize,
    /// The approximate size of their variables in bytes.
    pub bytes: usize,
}

/// The totals of each group of services that are certainly in one namespace.
#[derive(Debug)]
pub(super) struct ServiceTotals(HashMap<Group, ServiceVariableTotals>);

/// Objects that are certainly in one namespace: they name it, or they name none and are in one directory. A large tree has
/// many objects without a namespace that are never deployed together.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Group {
    /// The directory of the project.
    root: Option<Arc<str>>,
    namespace: Option<Arc<str>>,
    /// Empty if there is a namespace.
    directory: Box<str>,
}

impl Group {
    fn of(object: BuiltObject<'_>) -> Self {
        let namespace = object.namespace().cloned();
        let directory = match namespace {
            Some(_) => "",
            None => &object.file[..object.file.rfind('/').map_or(0, |slash| slash + 1)],
        };
        Self { root: object.snapshot.root_of(object.file).cloned(), namespace, directory: directory.into() }
    }
}

impl ServiceTotals {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut sizes: HashMap<Group, HashMap<Arc<str>, usize>> = HashMap::new();
        for object in build::all_services(snapshot) {
            let (ObjectData::Service(service), Some(name)) = (&object.model.data, &object.model.name) else { continue };
            if has_placeholder(&name.value) {
                continue;
            }
            let size = sizes.entry(Group::of(object)).or_default().entry(Arc::clone(&name.value)).or_default();
            *size = approximate_size(&name.value, service).max(*size);
        }
        let total =
            |it: HashMap<Arc<str>, usize>| ServiceVariableTotals { services: it.len(), bytes: it.into_values().sum() };
        Self(sizes.into_iter().map(|(group, it)| (group, total(it))).collect())
    }

    /// The totals of the pods of an object.
    pub(super) fn of_object(&self, object: BuiltObject<'_>) -> ServiceVariableTotals {
        self.0.get(&Group::of(object)).copied().unwrap_or_default()
    }
}
