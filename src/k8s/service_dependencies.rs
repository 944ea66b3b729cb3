//! The fields that the explicit links proposal adds to a pod (PS1 to PS9): `serviceDependencies`, and `service` in
//! `envFrom`.

use crate::k8s::model::{EnvFromSource, Pod, Text};
use crate::k8s::node_reader::NodeReader;
use crate::k8s::object_span::ObjectSpan;
use crate::syntax::Node;

/// `serviceDependencies`: the services that must exist before the pod starts.
#[derive(Clone, Debug, Default)]
pub struct ServiceDependencies {
    /// The key.
    pub field: ObjectSpan,
    /// Its items, as declared.
    pub services: Vec<ServiceDependency>,
}

/// An item of `serviceDependencies`.
#[derive(Clone, Debug)]
pub struct ServiceDependency {
    /// The whole item.
    pub span: ObjectSpan,
    /// `name`, or the item itself if it is a scalar.
    pub name: Option<Text>,
    /// Whether it is a mapping, as the proposal requires (PS5).
    pub is_reference: bool,
}

impl Pod {
    /// Whether a container names a service in `envFrom`. Then no other service adds variables to the pod (PS3).
    pub fn links_explicitly(&self) -> bool {
        *self.explicit_links.get_or_init(|| {
            let sources = self.containers.iter().flat_map(|it| &it.env_from).filter_map(|it| it.source.as_ref());
            sources.into_iter().any(|it| matches!(it, EnvFromSource::Service { .. }))
        })
    }
}

/// Reads the dependencies of a pod spec.
pub(super) fn dependencies(reader: NodeReader<'_>, spec: Node<'_>) -> Option<Box<ServiceDependencies>> {
    let (field, list) = spec.entry("serviceDependencies")?;
    let services = list.into_iter().flat_map(|it| reader.items(it)).map(|item| ServiceDependency {
        span: reader.span(item),
        name: reader.text(item).or_else(|| reader.text_at(item, "name")),
        is_reference: item.is_mapping(),
    });
    Some(Box::new(ServiceDependencies { field: reader.span(field), services: services.collect() }))
}
