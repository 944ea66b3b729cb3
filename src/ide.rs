//! What is shown to people and programs: one file a feature over a snapshot.
//!
//! Every feature takes an [`Analysis`], a file and byte offsets, and gives plain structs. What stands under a cursor is
//! decided once, in [`target`]; what it means is decided by `resolve` and `rules` alone. Protocol types and URIs are the
//! business of those who ask.

#![warn(clippy::disallowed_methods)]

pub mod code_actions;
pub mod code_lens;
pub mod completion;
pub mod definition;
pub mod diagnostics;
pub mod env_files;
pub mod environment;
pub mod environment_at;
pub mod excerpts;
pub mod highlight;
pub mod hover;
pub mod inlay_hints;
pub mod links;
pub mod markup;
pub mod objects;
pub mod origin;
pub mod param_files;
pub mod parameters;
pub mod place;
pub mod presets;
pub mod preview;
pub mod process;
pub mod references;
pub mod rename;
pub mod render;
pub mod semantic_tokens;
pub mod services;
pub mod symbols;
pub mod target;
pub mod uses;
pub mod volumes;
pub mod wrap;

use crate::diagnostic::Location;
use crate::resolve::Resolver;
use crate::rules::Sources;
use crate::workspace::Snapshot;

/// What every feature works on: one moment of the workspace.
#[derive(Clone, Copy)]
pub struct Analysis<'a> {
    /// Everything that is known.
    pub snapshot: &'a Snapshot,
    /// Gives environments.
    pub resolver: &'a Resolver<'a>,
    /// Texts and trees.
    pub sources: &'a dyn Sources,
}

impl std::fmt::Debug for Analysis<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analysis").finish_non_exhaustive()
    }
}

/// Something that an editor does when it is clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `podlens.showEnvironment`: the environment of the container at a place.
    ShowEnvironment(Location),
    /// `podlens.showPreview`: a preview of the object at a place.
    ShowPreview(Location, preview::PreviewKind),
    /// `podlens.showLocations`: the places that belong to one.
    ShowLocations(Location, Vec<Location>),
}
