//! Checks documents after edits and publishes their diagnostics.
//!
//! A check starts when no message waits. It checks the documents that have changed first, then all other open documents,
//! since an edit in one file can change the findings of another. The next edit cancels the second part.
//!
//! - Clients that do not request diagnostics get those of a changed document once per text, always with its version, and
//!   those of another document when they differ from the last ones.
//! - Clients that request diagnostics get a refresh request when those of another document differ.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::json;
use tower_lsp_server::ls_types::notification::PublishDiagnostics;
use tower_lsp_server::ls_types::request::{
    CodeLensRefresh, InlayHintRefreshRequest, SemanticTokensRefresh, WorkspaceDiagnosticRefresh,
};

use crate::lsp::hooks::Hooks;
use crate::lsp::session::{DiagnosticReport, ReportIds, Session, SessionSnapshot, TaskSender};

/// Starts a check if documents are out of date and none is running.
pub(crate) fn start(session: &mut Session) {
    if !session.checks.is_due() || !session.readiness.status().is_ready {
        return;
    }
    let snapshot = session.snapshot();
    let changed = session.checks.start(snapshot.cancel_token.clone());
    let others = session.documents.keys().filter(|it| !changed.contains(*it)).cloned().collect();
    let check = Check {
        snapshot,
        changed: changed.into_iter().collect(),
        others,
        report_ids: session.checks.report_ids().clone(),
        tasks: session.tasks.clone(),
        hooks: session.hooks.clone(),
    };
    tokio::task::spawn_blocking(move || check.run());
}

/// A check of a snapshot, on another thread.
struct Check {
    snapshot: SessionSnapshot,
    changed: Vec<Arc<str>>,
    others: Vec<Arc<str>>,
    report_ids: ReportIds,
    tasks: TaskSender,
    hooks: Hooks,
}

/// The diagnostics of a text of a document.
#[derive(Debug)]
struct CheckedDocument {
    name: Arc<str>,
    generation: u64,
    report: DiagnosticReport,
}

impl Check {
    fn run(self) {
        // A client that requests diagnostics requests those of a changed document itself.
        if !self.snapshot.client.pulls_diagnostics {
            let checked = self.changed.iter().filter_map(|name| self.check(name)).collect();
            self.tasks.send(|session| publish_changed(session, checked));
        }
        let mut checked = Vec::new();
        let mut is_cancelled = false;
        for name in &self.others {
            is_cancelled = self.snapshot.cancel_token.is_cancelled();
            if is_cancelled {
                break;
            }
            if !self.is_up_to_date(name) {
                checked.extend(self.check(name));
            }
        }
        self.tasks.send(move |session| finish(session, checked, is_cancelled));
    }

    fn check(&self, name: &Arc<str>) -> Option<CheckedDocument> {
        let generation = self.snapshot.documents.get(name)?.generation;
        let report = || {
            self.hooks.run("diagnostics", &self.snapshot.cancel_token);
            DiagnosticReport::new(&self.snapshot, name)
        };
        // If a rule panics, this text gets no diagnostics.
        let report = catch_unwind(AssertUnwindSafe(report)).ok()?;
        Some(CheckedDocument { name: Arc::clone(name), generation, report })
    }

    /// Whether the client has the current findings of a document: nothing they depend on has changed.
    fn is_up_to_date(&self, name: &Arc<str>) -> bool {
        let Some(document) = self.snapshot.documents.get(name) else { return true };
        let report_id = {
            let cache = document.cache();
            cache.report_id.clone().filter(|_| cache.findings.is_current(&self.snapshot.workspace))
        };
        report_id.is_some_and(|id| client_has(&self.report_ids, name, &id, self.snapshot.client.pulls_diagnostics))
    }
}

/// Whether the client has a report. A client that requests diagnostics will request those that it does not have.
fn client_has(report_ids: &ReportIds, name: &str, id: &str, pulls_diagnostics: bool) -> bool {
    report_ids.get(name).map_or(pulls_diagnostics, |it| it == id)
}

/// Publishes the diagnostics of documents that have changed.
fn publish_changed(session: &mut Session, checked: Vec<CheckedDocument>) {
    for CheckedDocument { name, generation, report } in checked {
        // A newer text is checked next.
        if session.generation(&name) == Some(generation) {
            session.checks.set_report_id(&name, &report.id);
            publish(session, &name, &report);
        }
    }
}

/// Publishes the diagnostics of the other documents, or asks the client to request them, if they have changed.
fn finish(session: &mut Session, checked: Vec<CheckedDocument>, is_cancelled: bool) {
    let client = Arc::clone(&session.client);
    let mut has_changed = false;
    for CheckedDocument { name, generation, report } in checked {
        let is_known = client_has(session.checks.report_ids(), &name, &report.id, client.pulls_diagnostics);
        if session.generation(&name) == Some(generation) && !is_known {
            has_changed = true;
            session.checks.set_report_id(&name, &report.id);
            if !client.pulls_diagnostics {
                publish(session, &name, &report);
            }
        }
    }
    if has_changed && client.pulls_diagnostics && client.refreshes_diagnostics {
        session.outbox.request::<WorkspaceDiagnosticRefresh>((), drop);
    }
    if session.checks.finish(is_cancelled) {
        refresh_views(session);
    }
}

fn publish(session: &Session, name: &str, report: &DiagnosticReport) {
    if let Some(document) = session.documents.get(name) {
        let (uri, version) = (json!(document.uri), document.version());
        let params = format_args!(r#"{{"uri":{uri},"diagnostics":{},"version":{version}}}"#, report.json);
        session.outbox.notify_json::<PublishDiagnostics>(params);
    }
}

/// Asks the client to request hints, lenses and tokens again.
fn refresh_views(session: &Session) {
    if session.client.refreshes_hints {
        session.outbox.request::<InlayHintRefreshRequest>((), drop);
    }
    if session.client.refreshes_lenses {
        session.outbox.request::<CodeLensRefresh>((), drop);
    }
    if session.client.refreshes_tokens {
        session.outbox.request::<SemanticTokensRefresh>((), drop);
    }
}
