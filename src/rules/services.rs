//! Why a service variable does not exist.

use crate::resolve::{Origin, is_service_shaped};
use crate::rules::ContainerContext;

/// Why no service gives a name.
#[derive(Clone, Debug)]
pub(super) enum Absent {
    /// The service has no address (S3).
    Headless(Origin),
    /// Service links are off (S1).
    LinksOff,
}

impl ContainerContext<'_> {
    /// Why nothing defines a name that looks like a service variable, if that can be told.
    pub(super) fn absent_service(&self, name: &str) -> Option<Absent> {
        if !name.contains('_') {
            return None;
        }
        let object = self.pod.object;
        let services = object.file.resolver.service_variables(object.file.path, object.object, true);
        if let Some(origin) = services.without_address(name) {
            return Some(Absent::Headless(origin.clone()));
        }
        let links = self.pod.pod.service_links.map_or(self.pod.pod.default_service_links, |(it, _)| it);
        let is_given = is_service_shaped(name) || services.variables.contains_key(name);
        (!links && is_given).then_some(Absent::LinksOff)
    }
}
