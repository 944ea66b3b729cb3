//! YAML and JSON text to a tree that always exists.
//!
//! Parsing cannot fail: it gives a [`Tree`] and its errors. Trees are position-independent, so an edit shares all it
//! did not touch.

#![warn(clippy::disallowed_methods)]

mod build;
mod comments;
mod conflict;
mod cut;
mod documents;
pub mod edit;
pub mod env_file;
pub mod helm;
pub mod insert;
mod memory;
mod outline;
pub mod param_file;
mod patch;
mod pieces;
pub mod plain;
pub mod quote;
pub mod reference;
mod repair;
mod reparse;
mod scalar;
mod scan;
pub mod shell;
mod source_map;
mod tree;

pub use documents::{parse, parse_some};
pub use reparse::Source;
pub use scalar::{ScalarStyle, Typed};
pub use source_map::SourceMap;
pub use tree::{Collection, Document, Node, Shape, Subtree, SyntaxError, Tree};

#[cfg(test)]
pub(crate) mod tests;
