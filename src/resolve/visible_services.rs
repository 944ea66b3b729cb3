//! The services that a pod sees, looked up by the names of their variables.
//!
//! The name of a variable shows which services may define it, so a reference costs a few look-ups in the index of services,
//! however many there are. All variables of all services are computed only where they are shown.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use crate::build::{BuiltMatch, BuiltObject};
use crate::k8s::{Model, ObjectData, Text, service_prefix};
use crate::resolve::binding::{Binding, Origin};
use crate::resolve::lookup_scope::service_origin;
use crate::resolve::service_totals::ServiceTotals;
use crate::resolve::service_variables::{
    DEFAULT_SERVICE, READ_ONLY_SERVICE, ServiceCandidate, ServiceLinks, ServiceVariables, has_cluster_ip, prefixes_in,
};

/// The services that add their variables to a pod without being named in it (S1, S2).
#[derive(Clone, Debug)]
pub(super) struct VisibleServices<'s> {
    object: BuiltObject<'s>,
    links: ServiceLinks,
    cache: Arc<Mutex<ServiceVariableCache>>,
    /// The services that may define a variable, by its name.
    known: RefCell<HashMap<Box<str>, Arc<ServiceVariables>>>,
    all: OnceCell<Arc<ServiceVariables>>,
}

/// Cache of all service variables of a pod. Pods that see the same services share them, in any file. They are kept from
/// snapshot to snapshot until a service changes.
#[derive(Debug, Default)]
pub(super) struct ServiceVariableCache {
    /// By namespace, directory and links, which decide the visible services.
    by_site: HashMap<ServiceVariableKey, Arc<ServiceVariables>>,
    /// By links and services; a service is identified by the address of its model.
    by_services: HashMap<(Vec<usize>, ServiceLinks), Arc<ServiceVariables>>,
    /// See [`ServiceTotals`].
    pub(super) totals: Option<ServiceTotals>,
    /// The models whose addresses are used as keys. They are kept alive so that no address is reused.
    models: Vec<Arc<Model>>,
}

/// Namespace, directory and links; for an object of a template also its file and view.
type ServiceVariableKey = (Option<Arc<str>>, Box<str>, ServiceLinks, Option<(Arc<str>, Option<Arc<str>>)>);

impl<'s> VisibleServices<'s> {
    pub(super) fn new(object: BuiltObject<'s>, links: ServiceLinks, cache: &Arc<Mutex<ServiceVariableCache>>) -> Self {
        Self { object, links, cache: Arc::clone(cache), known: RefCell::default(), all: OnceCell::new() }
    }

    /// The object whose pods see them.
    pub(super) fn object(&self) -> BuiltObject<'s> {
        self.object
    }

    /// The variable of a name.
    pub(super) fn get(&self, name: &str) -> Option<Arc<Binding>> {
        self.defining(name)?.variables.get(name).cloned()
    }

    /// The service that would define this name if it had a cluster IP.
    pub(super) fn without_address(&self, name: &str) -> Option<Origin> {
        self.defining(name)?.without_address(name).cloned()
    }

    /// Whether a service outside this workspace may define this name.
    pub(super) fn may_define(&self, name: &str) -> bool {
        self.defining(name).is_some_and(|it| it.may_define(name))
    }

    /// The variables of the services that may define a name; `None` if no service can.
    fn defining(&self, name: &str) -> Option<Arc<ServiceVariables>> {
        let prefixes = prefixes_in(name);
        if prefixes.is_empty() {
            return None;
        }
        if let Some(known) = self.known.borrow().get(name) {
            return Some(Arc::clone(known));
        }
        let mut found = match self.links {
            ServiceLinks::All => self.object.services_with_prefixes(&prefixes),
            ServiceLinks::Explicit | ServiceLinks::Off => Vec::new(),
        };
        let is_asked = |service: &str| prefixes.contains(&*service_prefix(service));
        self.add_default_services(&mut found, is_asked);
        let new = Arc::new(self.variables_of(&found, is_asked(DEFAULT_SERVICE)));
        self.known.borrow_mut().insert(name.into(), Arc::clone(&new));
        Some(new)
    }

    /// The names of variables of services that a name may be a slip of: it starts like them, or the name of the service is
    /// a slip.
    pub(super) fn similar_names(&self, name: &str) -> Vec<Arc<str>> {
        if self.links != ServiceLinks::All {
            return Vec::new();
        }
        let starts = name.char_indices().skip(1).map(|(at, _)| &name[..at]);
        let meant: Vec<String> = prefixes_in(name)
            .into_iter()
            .filter_map(|it| {
                let service = it.to_ascii_lowercase().replace('_', "-");
                Some(service_prefix(&self.object.snapshot.service_slip(&service, self.object.lookup_site())?))
            })
            .collect();
        let prefixes = starts.chain(meant.iter().map(String::as_str)).collect();
        let found = self.object.services_with_prefixes(&prefixes);
        self.variables_of(&found, false).variables.into_keys().collect()
    }

    /// All variables.
    pub(super) fn all(&self) -> &Arc<ServiceVariables> {
        self.all.get_or_init(|| {
            let object = self.object;
            let directory = &object.file[..object.file.rfind('/').map_or(0, |slash| slash + 1)];
            // The objects of a template see the services of that template first.
            let template = object.source.template.as_ref().map(|_| (Arc::clone(object.file), object.view_name()));
            let key = (object.namespace().cloned(), directory.into(), self.links, template);
            object.snapshot.depend_on_services();
            let cache = &mut *self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            let variables = cache.by_site.entry(key).or_insert_with(|| {
                let found = self.services();
                let addresses = found.iter().map(|it| Arc::as_ptr(it.object.model).addr()).collect();
                let variables = || {
                    cache.models.extend(found.iter().map(|it| Arc::clone(it.object.model)));
                    Arc::new(self.variables_of(&found, true))
                };
                Arc::clone(cache.by_services.entry((addresses, self.links)).or_insert_with(variables))
            });
            Arc::clone(variables)
        })
    }

    /// One of all variables with the current location of its service: services move when the text before them is edited,
    /// but the cache is kept.
    pub(super) fn at_current_location(&self, binding: &Arc<Binding>) -> Arc<Binding> {
        match self.object.snapshot.has_moved_services() {
            true => self.all().at_current_location(self.object.snapshot, binding),
            false => Arc::clone(binding),
        }
    }

    /// The names of the services that define variables.
    pub(super) fn names(&self) -> BTreeSet<Arc<str>> {
        let found = self.services();
        let has_variables =
            |it: &&BuiltMatch<'s>| matches!(&it.object.model.data, ObjectData::Service(it) if has_cluster_ip(it));
        let shown = found.iter().filter(has_variables).filter_map(|it| it.object.model.name.as_ref());
        let mut names: BTreeSet<Arc<str>> = shown.map(|it| Arc::clone(&it.value)).collect();
        if !found.iter().any(|it| is_called(it, DEFAULT_SERVICE)) {
            names.insert(DEFAULT_SERVICE.into());
        }
        names
    }

    fn services(&self) -> Vec<BuiltMatch<'s>> {
        let mut found = if self.links == ServiceLinks::All { self.object.services() } else { Vec::new() };
        self.add_default_services(&mut found, |_| true);
        found
    }

    /// Adds those services of the cluster's own API that a pod sees in every namespace.
    fn add_default_services(&self, found: &mut Vec<BuiltMatch<'s>>, is_asked: impl Fn(&str) -> bool) {
        if is_asked(DEFAULT_SERVICE) && !found.iter().any(|it| is_called(it, DEFAULT_SERVICE)) {
            let is = |text: &Option<Text>, value: &str| text.as_ref().is_some_and(|it| &*it.value == value);
            let mut default = self.object.services_named_in(DEFAULT_SERVICE, Some("default"));
            default.retain(|it| is(&it.object.model.namespace, "default"));
            found.extend(default);
        }
        if self.links == ServiceLinks::Explicit && is_asked(READ_ONLY_SERVICE) {
            found.extend(self.object.services_named_in(READ_ONLY_SERVICE, Some("default")));
        }
    }

    fn variables_of(&self, found: &[BuiltMatch<'_>], with_default: bool) -> ServiceVariables {
        let candidates: Vec<ServiceCandidate<'_>> = found
            .iter()
            .filter_map(|found| {
                let ObjectData::Service(service) = &found.object.model.data else { return None };
                let name = &found.object.model.name.as_ref()?.value;
                let origin = service_origin(found, name);
                Some(ServiceCandidate { name: Arc::clone(name), service, origin })
            })
            .collect();
        let places = found.iter().map(|it| (it.location(it.object.model.span), Arc::clone(&it.object.source.model)));
        let mut variables = ServiceVariables::new(&candidates, self.links == ServiceLinks::All, with_default);
        variables.places = places.collect();
        variables
    }
}

fn is_called(found: &BuiltMatch<'_>, name: &str) -> bool {
    found.object.model.name.as_ref().is_some_and(|it| &*it.value == name)
}
