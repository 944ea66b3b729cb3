//! podlens answers one question about Kubernetes manifests: what will this container really get?

pub mod cli;
pub mod diagnostic;
pub mod ide;
pub mod k8s;
pub mod load;
pub mod report;
pub mod resolve;
pub mod rules;
pub mod syntax;
pub mod text;
pub mod workspace;
