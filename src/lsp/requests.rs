//! One file per request of the client: protocol types to a feature of `ide` and back.
//!
//! A handler is a function from a [`SessionSnapshot`] and the parameters to the result. It runs on another thread, so that
//! a slow one delays nothing else.

pub(crate) mod code_action;
pub(crate) mod code_action_resolve;
pub(crate) mod code_lens;
pub(crate) mod code_lens_resolve;
pub(crate) mod completion;
pub(crate) mod completion_resolve;
pub(crate) mod definition;
pub(crate) mod document_diagnostic;
pub(crate) mod document_highlight;
pub(crate) mod document_link;
pub(crate) mod document_symbol;
pub(crate) mod environment;
pub(crate) mod execute_command;
pub(crate) mod hover;
pub(crate) mod initialize;
pub(crate) mod inlay_hint;
pub(crate) mod prepare_rename;
pub(crate) mod preview;
pub(crate) mod references;
pub(crate) mod rename;
mod semantic_tokens;
pub(crate) mod semantic_tokens_full;
pub(crate) mod semantic_tokens_full_delta;
pub(crate) mod semantic_tokens_range;
mod server_capabilities;
pub(crate) mod workspace_diagnostic;
pub(crate) mod workspace_symbol;

use std::sync::Arc;
use std::time::Instant;

use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::notification::LogTrace;
use tower_lsp_server::ls_types::request::Request;
use tower_lsp_server::ls_types::{Command, LogTraceParams, TextDocumentPositionParams, TraceValue, Uri};

use crate::diagnostic::Location;
use crate::ide;
use crate::ide::PreviewKind;
use crate::lsp::session::{SessionSnapshot, SharedSession};

/// Answers a request from a snapshot that is taken now. If `document` changes before the answer is ready, the result is
/// the error `ContentModified`.
pub(crate) async fn answer_from_snapshot<R: Request>(
    session: &SharedSession,
    document: Option<Uri>,
    params: R::Params,
    handler: fn(&SessionSnapshot, R::Params) -> Result<R::Result>,
) -> Result<R::Result> {
    let work = move |snapshot: &SessionSnapshot| handler(snapshot, params);
    compute(session, R::METHOD, document.as_ref(), work, Error::content_modified).await
}

/// Computes an answer on another thread, from a snapshot that is taken now. The result is `stale` if `document` has
/// changed meanwhile. Dropping the future cancels the work.
async fn compute<T: Send + 'static>(
    session: &SharedSession,
    method: &'static str,
    document: Option<&Uri>,
    work: impl FnOnce(&SessionSnapshot) -> Result<T> + Send + 'static,
    stale: fn() -> Error,
) -> Result<T> {
    let start = Instant::now();
    let (snapshot, hooks, name, generation) = {
        let session = session.lock();
        let name = document.map(|uri| session.name(uri));
        let generation = name.as_deref().and_then(|name| session.generation(name));
        (session.snapshot(), session.hooks.clone(), name, generation)
    };
    let cancel_token = snapshot.cancel_token.clone();
    let _cancel_on_drop = cancel_token.cancel_on_drop();
    let computed = tokio::task::spawn_blocking(move || {
        hooks.run(method, &cancel_token);
        if cancel_token.is_cancelled() {
            return Err(Error::request_cancelled());
        }
        work(&snapshot)
    });
    // An error means that the work has panicked.
    let computed = computed.await;
    let is_stale = name.as_deref().and_then(|name| session.lock().generation(name)) != generation;
    let (answer, outcome) = match computed {
        Ok(_) if is_stale => (Err(stale()), "stale"),
        Ok(Ok(answer)) => (Ok(answer), "answered"),
        Ok(Err(error)) => (Err(error), "refused"),
        Err(_) => (Err(Error::internal_error()), "failed"),
    };
    trace(session, method, outcome, start);
    answer
}

/// Logs how a request was answered, for the client too if it has asked for that.
fn trace(session: &SharedSession, method: &str, outcome: &str, start: Instant) {
    let session = session.lock();
    let message = format!("{method}: {outcome} after {:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
    session.log.write(&message);
    if session.trace != TraceValue::Off {
        let verbose = (session.trace == TraceValue::Verbose).then(|| {
            let (documents, revision) = (session.documents.len(), session.readiness.status().revision);
            format!("{documents} open documents, revision {revision}")
        });
        session.outbox.notify::<LogTrace>(LogTraceParams { message, verbose });
    }
}

/// The file and the offset of a position.
fn file_position(snapshot: &SessionSnapshot, params: &TextDocumentPositionParams) -> (Arc<str>, usize) {
    let name = snapshot.name(&params.text_document.uri);
    let offset = snapshot.offset(&name, params.position);
    (name, offset)
}

/// A list; `None` if it is empty.
fn non_empty<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// A command that the editor's extension carries out.
fn command(snapshot: &SessionSnapshot, title: String, command: &ide::EditorCommand) -> Option<Command> {
    let at = |location: &Location| {
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
