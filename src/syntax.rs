//! YAML and JSON text to a tree that always exists.
//!
//! Parsing cannot fail: it gives a [`Tree`] and its errors. Trees are position-independent, so an edit shares all it
//! did not touch.

#![warn(clippy::disallowed_methods)]

mod build;
mod documents;
pub mod env_file;
mod patch;
pub mod reference;
mod scalar;
mod tree;

pub use documents::parse;
pub use scalar::{ScalarStyle, Typed};
pub use tree::{Collection, Document, Node, Shape, SyntaxError, Tree};
