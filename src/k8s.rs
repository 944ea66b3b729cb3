//! Kubernetes objects in a tree: plain, tolerant views with a span on everything a person may be pointed at.
//!
//! Spans in an object are relative to the object's own first byte, so an object that was not edited stays as it is
//! wherever it moves; [`Object::file_span`] leads back to the file. A document that is being edited is read with [`ObjectCache`].

#![warn(clippy::disallowed_methods)]

mod container_field;
mod content_hash;
mod identity;
mod kustomization;
mod model;
mod object_cache;
mod object_data;
mod pod;
mod pod_specs;
mod preset;
mod read;
mod reader;
mod relevance;
mod service_dependencies;
mod template;
mod workloads;

pub use container_field::{ContainerField, VariableScope};
pub use content_hash::ContentHash;
pub use model::{
    Container, ContainerRole, DataEntry, DataValue, EnvFrom, EnvFromSource, EnvVar, KeyRef, KeyedData, Kustomization,
    Model, Mount, Object, ObjectData, Pod, Probe, Service, ServicePort, Text, ValueFrom, ValueSource, Volume,
};
pub use object_cache::ObjectCache;
pub use preset::{PodPreset, PresetAdmitter, Requirement, Selector, WrittenHashes};
pub use read::{objects, objects_of, template_in};
pub use relevance::may_hold_objects;
pub use service_dependencies::{ServiceDependencies, ServiceDependency};
pub use template::{
    Dialect, MistypedField, Parameter, ParameterDefault, ParameterNames, ParameterizedText, Parameters,
    SubstitutedPart, Template, format_parameter_reference, is_parameter_name, names_after_dollar,
};
pub use workloads::{
    Controller, DeploymentHook, Indexing, InjectedValue, InjectedVariable, InjectionTarget, WORKLOAD_KINDS,
    WorkloadKind,
};

#[cfg(test)]
mod tests;
