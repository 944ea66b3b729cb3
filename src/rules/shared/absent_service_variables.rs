//! Why a service variable does not exist.

use std::sync::Arc;

use crate::resolve::{Origin, ServiceLinks, is_service_variable_name};
use crate::rules::engine::ContainerContext;

/// Why no service gives a name.
#[derive(Clone, Debug)]
pub(in crate::rules) enum ServiceVariableAbsence {
    /// The service has no address (S3).
    Headless(Origin),
    /// Service links are off (S1).
    LinksOff,
    /// The pod links other services in `envFrom`, not this one, if it is known.
    NotLinked(Option<Arc<str>>),
}

impl ContainerContext<'_> {
    /// Why nothing defines a name that looks like a service variable, if that can be told.
    pub(in crate::rules) fn absent_service(&self, name: &str) -> Option<ServiceVariableAbsence> {
        if !name.contains('_') {
            return None;
        }
        let object = self.pod.object;
        let services = object.file.resolver.service_variables(object.file.path, object.object, ServiceLinks::All);
        if let Some(origin) = services.without_address(name) {
            return Some(ServiceVariableAbsence::Headless(origin.clone()));
        }
        let given = services.variables.get(name);
        if given.is_none() && !is_service_variable_name(name) {
            return None;
        }
        match object.file.resolver.service_links(object.file.path, object.object, self.pod.pod) {
            ServiceLinks::All => None,
            ServiceLinks::Explicit => {
                Some(ServiceVariableAbsence::NotLinked(given.and_then(|it| it.origin.object.clone())))
            }
            ServiceLinks::Off => Some(ServiceVariableAbsence::LinksOff),
        }
    }
}
