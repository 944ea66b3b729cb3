//! One file a method: protocol types in, a feature of `ide`, protocol types out.

pub(super) mod code_action;
pub(super) mod code_lens;
pub(super) mod completion;
pub(super) mod definition;
pub(super) mod diagnostics;
pub(super) mod document_highlight;
pub(super) mod document_link;
pub(super) mod document_symbol;
pub(super) mod environment;
pub(super) mod execute_command;
pub(super) mod hover;
pub(super) mod inlay_hint;
pub(super) mod preview;
pub(super) mod references;
pub(super) mod rename;
pub(super) mod semantic_tokens;
pub(super) mod workspace_symbol;

use std::sync::Arc;

use tower_lsp_server::ls_types::{Command, TextDocumentPositionParams};

use crate::ide;
use crate::ide::preview::PreviewKind;
use crate::lsp::world::World;

/// The file and the offset that a position stands for.
fn target(world: &World, params: &TextDocumentPositionParams) -> (Arc<str>, usize) {
    let name = world.name(&params.text_document.uri);
    let offset = world.offset(&name, params.position);
    (name, offset)
}

/// A list, or nothing where it is empty.
fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// A command that the editor's own side carries out.
fn command(world: &World, title: String, command: &ide::Command) -> Option<Command> {
    let at = |location: &crate::diagnostic::Location| {
        let location = world.location(location)?;
        Some((serde_json::to_value(location.uri).ok()?, serde_json::to_value(location.range.start).ok()?))
    };
    let (name, arguments) = match command {
        ide::Command::ShowEnvironment(location) => {
            let (uri, position) = at(location)?;
            ("podlens.showEnvironment", vec![uri, position])
        }
        ide::Command::ShowPreview(location, kind) => {
            let (uri, position) = at(location)?;
            let kind = match kind {
                PreviewKind::Render => "render",
                PreviewKind::Process => "process",
            };
            ("podlens.showPreview", vec![uri, position, kind.into()])
        }
        ide::Command::ShowLocations(location, locations) => {
            let (uri, position) = at(location)?;
            let locations: Vec<_> = locations.iter().filter_map(|it| world.location(it)).collect();
            ("podlens.showLocations", vec![uri, position, serde_json::to_value(locations).ok()?])
        }
    };
    Some(Command::new(title, name.to_owned(), Some(arguments)))
}
