//! One file a method: protocol types in, a feature of `ide`, protocol types out.

pub(crate) mod code_action;
pub(crate) mod code_lens;
pub(crate) mod completion;
pub(crate) mod definition;
pub(crate) mod diagnostics;
pub(crate) mod document_highlight;
pub(crate) mod document_link;
pub(crate) mod document_symbol;
pub(crate) mod environment;
pub(crate) mod execute_command;
pub(crate) mod hover;
pub(crate) mod inlay_hint;
pub(crate) mod preview;
pub(crate) mod references;
pub(crate) mod rename;
pub(crate) mod semantic_tokens;
pub(crate) mod server_capabilities;
pub(crate) mod workspace_symbol;

use std::sync::Arc;

use tower_lsp_server::ls_types::{Command, TextDocumentPositionParams};

use crate::ide;
use crate::ide::PreviewKind;
use crate::lsp::session::snapshot::SessionSnapshot;

/// The file and the offset that a position stands for.
fn target(snapshot: &SessionSnapshot, params: &TextDocumentPositionParams) -> (Arc<str>, usize) {
    let name = snapshot.name(&params.text_document.uri);
    let offset = snapshot.offset(&name, params.position);
    (name, offset)
}

/// A list, or nothing where it is empty.
fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// A command that the editor's own side carries out.
fn command(snapshot: &SessionSnapshot, title: String, command: &ide::EditorCommand) -> Option<Command> {
    let at = |location: &crate::diagnostic::Location| {
        let location = snapshot.location(location)?;
        Some((serde_json::to_value(location.uri).ok()?, serde_json::to_value(location.range.start).ok()?))
    };
    let (name, arguments) = match command {
        ide::EditorCommand::ShowEnvironment(location) => {
            let (uri, position) = at(location)?;
            ("podlens.showEnvironment", vec![uri, position])
        }
        ide::EditorCommand::ShowPreview(location, kind) => {
            let (uri, position) = at(location)?;
            let kind = match kind {
                PreviewKind::Render => "render",
                PreviewKind::Process => "process",
            };
            ("podlens.showPreview", vec![uri, position, kind.into()])
        }
        ide::EditorCommand::ShowLocations(location, locations) => {
            let (uri, position) = at(location)?;
            let locations: Vec<_> = locations.iter().filter_map(|it| snapshot.location(it)).collect();
            ("podlens.showLocations", vec![uri, position, serde_json::to_value(locations).ok()?])
        }
    };
    Some(Command::new(title, name.to_owned(), Some(arguments)))
}
