//! podlens answers one question about Kubernetes manifests: what will this container really get?

pub mod k8s;
pub mod load;
pub mod resolve;
pub mod syntax;
pub mod text;
pub mod workspace;
