//! Why a service variable does not exist.

use std::sync::Arc;

use crate::resolve::{Origin, ServiceLinks, is_service_variable_name};
use crate::rules::engine::ContainerContext;

/// Why no service defines a name.
#[derive(Clone, Debug)]
pub(in crate::rules) enum ServiceVariableAbsence {
    /// The service has no cluster IP (S3).
    Headless(Origin),
    /// Service links are disabled (S1).
    LinksOff,
    /// The pod links other services in `envFrom`. Contains the service that it does not link, if it is known.
    NotLinked(Option<Arc<str>>),
}

/// Whether a name is a service variable that a container lacks only because service links are off.
pub fn needs_service_links(container: &ContainerContext<'_>, name: &str) -> bool {
    let absence = container.absent_service(name);
    matches!(absence, Some(ServiceVariableAbsence::LinksOff | ServiceVariableAbsence::NotLinked(_)))
}

impl ContainerContext<'_> {
    /// Why nothing defines a name that looks like a service variable; `None` if that is not known.
    pub(in crate::rules) fn absent_service(&self, name: &str) -> Option<ServiceVariableAbsence> {
        if !name.contains('_') {
            return None;
        }
        let resolver = self.object.file.resolver;
        let services = resolver.service_variables(self.handle().object, ServiceLinks::All);
        let given = services.variables.get(name);
        // The same name can be a variable of two services, `foo` and `foo-service`.
        if given.is_none()
            && let Some(origin) = services.without_address(name)
        {
            return Some(ServiceVariableAbsence::Headless(origin.clone()));
        }
        if given.is_none() && !is_service_variable_name(name) {
            return None;
        }
        match resolver.service_links(self.handle().in_pod()) {
            ServiceLinks::All => None,
            ServiceLinks::Explicit => {
                Some(ServiceVariableAbsence::NotLinked(given.and_then(|it| it.origin.object.clone())))
            }
            ServiceLinks::Off => Some(ServiceVariableAbsence::LinksOff),
        }
    }
}
