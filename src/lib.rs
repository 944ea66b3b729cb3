//! podlens answers one question about Kubernetes manifests: **what will this container really get?**
//!
//! This is the tour. Data goes one way, from text to what a person sees, and a layer uses only the layers before it:
//!
//! ```text
//! text ─▶ diagnostic ─▶ syntax ─▶ k8s ─▶ workspace ─▶ resolve ─▶ rules ─▶ ide ─▶ lsp, cli, report
//! ```
//!
//! - [`text`]: a buffer to edit, and the only column arithmetic there is. Everywhere else a place is a byte offset.
//! - [`diagnostic`]: findings, labels and fixes as plain data.
//! - [`syntax`]: YAML and JSON to a tree that always exists. A document is cut into pieces by indentation; each is read
//!   alone, so a mistake costs a piece and so does an edit. Scalars lead back to their bytes, `$(VAR)` is found in them.
//! - [`k8s`]: objects in a tree: pods with their containers, config maps, secrets, services. Their spans count from the
//!   object's own first byte, as the tree's do from their parents'.
//! - [`workspace`]: files with their facts, an index over them, the settings. A change goes in, a snapshot comes out.
//! - [`resolve`]: the environment of a container: what every name means at every place, with the way of each value.
//! - [`rules`]: what will not work; one file a rule.
//! - [`ide`]: the answers for editors and commands, one file per feature. The item under the cursor is found in one
//!   place, `ide/shared/cursor.rs`.
//! - [`lsp`]: the language server. Messages in order, answers from snapshots, one file a method.
//! - [`load`] is the only code that walks and reads directories; [`cli`] and [`report`] are the edge.
//!
//! Everything up to `ide` is pure: text in, values out; no files, no clock, no environment. To see how a value comes
//! about, start at [`resolve::Resolver::environment`]; to see how text becomes a tree, at [`syntax::parse`].

#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnostic;
pub mod ide;
pub mod k8s;
#[cfg(any(feature = "cli", feature = "lsp"))]
pub mod load;
#[cfg(feature = "lsp")]
pub mod lsp;
#[cfg(feature = "cli")]
pub mod report;
pub mod resolve;
pub mod rules;
pub mod syntax;
pub mod text;
pub mod workspace;

#[cfg(test)]
#[path = "../tests/support/fixture.rs"]
#[expect(dead_code, reason = "the suites use the rest of the parser")]
mod fixture;
