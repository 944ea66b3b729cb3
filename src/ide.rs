//! The answers for editors and commands, computed from one snapshot of the workspace.
//!
//! Features take an [`Analysis`], a file and byte offsets, and return plain structs; `lsp` turns them into protocol
//! types. The item under a cursor is found in one place, `shared::cursor`; its meaning comes from `resolve` and `rules`.
//!
//! - `features`: one file per editor feature.
//! - `shared`: code that several features use.
//! - `commands`: the engine of `podlens render`, and of the excerpts in reports.

#![warn(clippy::disallowed_methods)]

mod commands;
mod features;
mod shared;

pub use commands::excerpts::{ExcerptText, SECRET_MASK, ShownText};
pub use commands::render::Renderer;
pub use features::code_actions::{CodeAction, CodeActionKind, code_actions};
pub use features::code_lens::{CodeLens, CodeLensKind, CodeLensTitle, code_lenses, resolve_code_lens};
pub use features::completion::{
    Completion, CompletionDetails, CompletionItem, CompletionKind, completion, resolve_completion,
};
pub use features::definition::{Navigation, NavigationTarget, definition};
pub use features::diagnostics::{cached_diagnostics, diagnostics};
pub use features::environment::{
    AlternativeView, ConflictView, ContainerView, ENVIRONMENT_SCHEMA, EnvironmentView, EnvironmentViewer,
    ExecProbeView, ExpandedView, FailureView, FileLine, OpaqueView, PresetView, SourceView, SubPathView,
    UnresolvedView, VariableView, WorkloadView, environment_at,
};
pub use features::highlight::{Highlight, HighlightKind, highlights};
pub use features::hover::{Hover, hover};
pub use features::inlay_hints::{InlayHint, inlay_hints};
pub use features::links::{DocumentLink, document_links};
pub use features::preview::{Preview, PreviewError, PreviewKind, preview};
pub use features::references::references;
pub use features::rename::{Renamable, RenameError, prepare_rename, rename};
pub use features::semantic_tokens::{SemanticKind, SemanticToken, semantic_tokens};
pub use features::symbols::{DocumentSymbol, SymbolKind, WorkspaceSymbol, document_symbols, workspace_symbols};
pub use shared::markup::{Block, Inline, Markup};

use crate::diagnostic::Location;
use crate::resolve::Resolver;
use crate::rules::TextProvider;
use crate::workspace::Snapshot;

/// The input of every feature: one state of the workspace.
#[derive(Clone, Copy)]
pub struct Analysis<'a> {
    /// The files and their objects.
    pub snapshot: &'a Snapshot,
    /// Computes environments.
    pub resolver: &'a Resolver<'a>,
    /// Provides the texts and trees of files.
    pub texts: &'a dyn TextProvider,
}

impl std::fmt::Debug for Analysis<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analysis").finish_non_exhaustive()
    }
}

/// A command that an editor runs on a click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditorCommand {
    /// `podlens.showEnvironment`: the environment of the container at a location.
    ShowEnvironment(Location),
    /// `podlens.showPreview`: a preview of the object at a location.
    ShowPreview(Location, PreviewKind),
    /// `podlens.showLocations`: the locations that belong to the first one.
    ShowLocations(Location, Vec<Location>),
}
