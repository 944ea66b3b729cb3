//! podlens answers one question about Kubernetes manifests: **what will this container really get?**
//!
//! This is an overview; `docs/architecture.md` follows an edit and a `lint` run through the files. Data flows in one
//! direction, and a layer uses only the layers before it, through their root file:
//!
//! ```text
//! text ─▶ diagnostic ─▶ syntax ─▶ k8s ─▶ workspace ─▶ build ─▶ resolve ─▶ rules ─▶ ide ─▶ lsp, cli, report
//! ```
//!
//! - [`work`]: counts of steps, with which tests compare the growth of work and text.
//! - [`text`]: the editable buffer, and the only conversion of offsets to lines and columns.
//! - [`diagnostic`]: findings, labels and fixes as plain data.
//! - [`syntax`]: parses YAML and JSON to a tree, even if the text has mistakes. A document with a mistake is divided
//!   into chunks by indentation: the mistake affects only its chunk, and an edit parses only its chunk again. Scalars
//!   map back to their bytes.
//! - [`k8s`]: objects in a tree: pods with their containers, ConfigMaps, Secrets, services, presets, templates. Their spans
//!   are relative to the first byte of the object.
//! - [`workspace`]: files, an index over their objects, the settings. A change goes in, a snapshot comes out.
//! - [`build`]: what the files become on their way to the cluster: views, and built objects that know where every part
//!   comes from. Templates are processed here, and presets are admitted. Where nothing builds, the built object is the
//!   source object.
//! - [`resolve`]: the environment of a container: the binding of each name at each position, with its source.
//! - [`rules`]: findings; one file per rule.
//! - [`ide`]: the answers for editors and commands; one file per feature. The item under the cursor is found in one place,
//!   `ide/shared/cursor.rs`.
//! - `lsp`: the language server. Messages in order, answers from snapshots, one file per method.
//! - `load` is the only code that walks and reads directories; `cli` has one file per command, `report` one per format.
//!
//! Everything up to `ide` is pure: text in, values out; no files, no clock, no environment. The features `cli` and `lsp`
//! add the rest. To see how a value is resolved, start at [`resolve::Resolver::environment`]; to see how text becomes a
//! tree, at [`syntax::parse`].

pub mod build;
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
pub mod work;
pub mod workspace;

#[cfg(test)]
#[path = "../tests/support/fixture.rs"]
#[expect(dead_code, reason = "the suites use the rest of the parser")]
mod fixture;
