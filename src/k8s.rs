//! Kubernetes objects in a tree: plain, tolerant views with a span on everything a person may be pointed at.
//!
//! Spans in an object are relative to the object's own first byte, so an object that was not edited stays as it is
//! wherever it moves; [`Object::place`] leads back to the file.

#![warn(clippy::disallowed_methods)]

mod model;

pub use model::*;
