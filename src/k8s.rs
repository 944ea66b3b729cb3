//! Kubernetes objects as plain data, read from a syntax tree. Every field that a finding can point at has a span.
//!
//! Spans are relative to the first byte of the object, so an edit elsewhere does not change the object.
//! [`Object::file_span`] converts them to spans of the file. [`ObjectCache`] reads a document again after an edit.

#![warn(clippy::disallowed_methods)]

mod container_field;
mod content_hash;
mod identity;
mod kustomization;
mod model;
mod node_reader;
mod object_cache;
mod object_data;
mod objects;
mod pod;
mod pod_specs;
mod preset;
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
pub use objects::{read_document_objects, read_objects, read_template};
pub use preset::{PodPreset, PresetAdmitter, Requirement, Selector, WrittenHashes};
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
