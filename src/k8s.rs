//! Kubernetes objects as plain data, read from a syntax tree. Every field that a finding can point at has a span.
//!
//! Spans are relative to the first byte of the object, so an edit elsewhere does not change the object.
//! [`Object::file_span`] converts them to spans of the file. [`ObjectCache`] reads a document again after an edit.

#![warn(clippy::disallowed_methods)]

mod container_field;
mod container_shape;
mod content_hash;
mod derived;
mod field_types;
mod identity;
mod key_index;
mod kustomization;
mod model;
mod node_reader;
mod object_cache;
mod object_data;
mod object_span;
mod objects;
mod parameters;
mod pod;
mod pod_specs;
mod preset;
mod relevance;
mod service_dependencies;
mod service_prefix;
mod stand_in;
mod template;
mod workloads;

pub use container_field::{ContainerField, VariableScope};
pub use container_shape::{ContainerShape, JsonType, MisplacedField, ShapeEntry, ShapeMistake, ShapeMistakeKind};
pub use content_hash::ContentHash;
pub use derived::Derived;
pub use field_types::{FieldType, ScalarType};
pub use key_index::KeyIndex;
pub use model::{
    Container, ContainerRole, DataEntry, DataValue, EnvFrom, EnvFromSource, EnvVar, KeyRef, KeyedData, Kustomization,
    Model, Mount, Object, ObjectData, Pod, Probe, RefusedValue, Service, ServicePort, Text, UserFields, ValueFlaw,
    ValueFrom, ValueSource, Volume,
};
pub use object_cache::ObjectCache;
pub use object_span::ObjectSpan;
pub use objects::{read_built_object, read_document_objects, read_objects, read_template};
pub use parameters::{
    DeclaredParameter, ParameterType, ParameterValue, Parameters, SubstitutedText, TemplateMember, TextPiece,
};
pub use preset::{PRESET_LISTS, PodPreset, PresetAdmitter, Requirement, Selector, WrittenHashes};
pub use relevance::may_hold_objects;
pub use service_dependencies::{ServiceDependencies, ServiceDependency};
pub use service_prefix::service_prefix;
pub use template::{
    Dialect, MistypedField, Parameter, ParameterNames, ParameterizedText, Template, format_parameter_reference,
    is_parameter_name, names_after_dollar,
};
pub use workloads::{
    Controller, DeploymentHook, Indexing, InjectedValue, InjectedVariable, InjectionTarget, WORKLOAD_KINDS,
    WorkloadKind,
};

#[cfg(test)]
mod tests;
