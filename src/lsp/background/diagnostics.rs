//! Diagnostics that nobody asked for: told to clients that do not ask, once for each text that settles, always with its
//! version; and the word to ask again, when something in one file changes what is found in another.
//!
//! A change is checked when no message waits any more. The documents that changed come first; then all others that are
//! open are looked at, and told only if what is found in them has changed. The next edit cuts that short.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tower_lsp_server::ls_types::notification::PublishDiagnostics;
use tower_lsp_server::ls_types::request::{
    CodeLensRefresh, InlayHintRefreshRequest, SemanticTokensRefresh, WorkspaceDiagnosticRefresh,
};
use tower_lsp_server::ls_types::{Diagnostic, PublishDiagnosticsParams, Uri};

use crate::lsp::cancellation::CancelToken;
use crate::lsp::requests::diagnostics::{self, Report};
use crate::lsp::router::{Event, Inner};
use crate::lsp::session::snapshot::SessionSnapshot;

/// What is to be checked.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// Documents with a text that was not told about.
    changed: BTreeSet<Arc<str>>,
    /// Whether all others must be looked at.
    others: bool,
    /// Whether what is shown in other documents may have changed.
    shown: bool,
    /// What runs.
    running: Option<CancelToken>,
    /// The id of what was last told of a document.
    told: HashMap<Arc<str>, String>,
}

/// What was found in a document.
#[derive(Debug)]
pub(crate) struct Found {
    name: Arc<str>,
    generation: u64,
    report: Report,
}

impl Checks {
    /// A document has a text that must be told about.
    pub(crate) fn changed(&mut self, name: Arc<str>, is_shared: bool) {
        self.changed.insert(name);
        self.anything_changed(is_shared);
    }

    /// Something has changed that all documents may depend on.
    pub(crate) fn anything_changed(&mut self, is_shared: bool) {
        self.others = true;
        self.shown |= is_shared;
        if let Some(token) = &self.running {
            token.cancel();
        }
    }

    /// A document is closed.
    pub(crate) fn closed(&mut self, name: &str) {
        self.changed.remove(name);
        self.told.remove(name);
    }

    /// A client that asks was told this.
    pub(crate) fn told(&mut self, name: &Arc<str>, id: &str) {
        self.told.insert(Arc::clone(name), id.to_owned());
    }
}

impl Inner {
    /// No message waits: checks what has changed.
    pub(crate) fn settle(self: &Arc<Self>) {
        let (snapshot, changed, others, token) = {
            let state = self.state();
            let mut checks = self.checks();
            let is_idle = checks.changed.is_empty() && !checks.others;
            if checks.running.is_some() || is_idle || !state.is_ready() {
                return;
            }
            let snapshot = state.snapshot();
            let token = snapshot.token.clone();
            checks.running = Some(token.clone());
            checks.others = false;
            let changed = std::mem::take(&mut checks.changed);
            let others = state.others(&changed);
            (snapshot, changed, others, token)
        };
        let inner = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            // A client that asks will ask for what it changed.
            if !snapshot.client.pulls {
                inner.tell(Event::Found(inner.check(&snapshot, changed.into_iter().collect())));
            }
            let mut rest = others.into_iter();
            let mut found = Vec::new();
            while !token.is_cancelled() {
                match rest.next() {
                    Some(name) if inner.is_told(&snapshot, &name) => {}
                    Some(name) => found.extend(inner.check(&snapshot, vec![name])),
                    None => break,
                }
            }
            let is_cut_short = rest.next().is_some();
            inner.tell(Event::OthersFound { found, is_cut_short });
        });
    }

    /// Whether nothing has changed that the findings of a document rest on, and they are what the client was told last.
    fn is_told(&self, snapshot: &SessionSnapshot, name: &Arc<str>) -> bool {
        let Some(document) = snapshot.documents.get(name) else { return true };
        let reported = {
            let memory = document.memory();
            memory.reported.clone().filter(|_| memory.kept.is_current(&snapshot.workspace))
        };
        reported
            .is_some_and(|reported| self.checks().told.get(name).map_or(snapshot.client.pulls, |it| *it == reported))
    }

    fn check(&self, snapshot: &SessionSnapshot, names: Vec<Arc<str>>) -> Vec<Found> {
        let check = |name: Arc<str>| {
            let generation = snapshot.documents.get(&name)?.generation;
            let check = || {
                self.hooks.run("diagnostics", &snapshot.token);
                diagnostics::report(snapshot, &name)
            };
            // A rule that fails costs what it would have said of this text.
            let report = catch_unwind(AssertUnwindSafe(check)).ok()?;
            Some(Found { name, generation, report })
        };
        names.into_iter().filter_map(check).collect()
    }

    /// What was found in documents that changed: always told.
    pub(crate) fn found(&self, found: Vec<Found>) {
        for Found { name, generation, report } in found {
            // A newer text is about to be told about.
            if self.state().generation(&name) == Some(generation) {
                self.checks().told(&name, &report.id);
                self.publish(&name, report.items);
            }
        }
    }

    /// What was found in the others: told if it is new.
    pub(crate) fn others_found(self: &Arc<Self>, found: Vec<Found>, is_cut_short: bool) {
        let client = Arc::clone(&self.state().client);
        let mut is_new = false;
        for Found { name, generation, report } in found {
            let is_current = self.state().generation(&name) == Some(generation);
            // What a client that asks has not asked about yet, it will.
            let is_same = self.checks().told.get(&name).map_or(client.pulls, |it| *it == report.id);
            if is_current && !is_same {
                is_new = true;
                self.checks().told(&name, &report.id);
                if !client.pulls {
                    self.publish(&name, report.items);
                }
            }
        }
        if is_new && client.pulls && client.refreshes_diagnostics {
            self.outbox.request::<WorkspaceDiagnosticRefresh>((), drop);
        }
        let is_shown = {
            let mut checks = self.checks();
            checks.running = None;
            checks.others |= is_cut_short;
            !checks.others && std::mem::take(&mut checks.shown)
        };
        if is_shown {
            self.refresh_shown(&client);
        }
        self.settle();
    }

    /// The client shows texts of ours that may be old.
    fn refresh_shown(&self, client: &crate::lsp::session::client_features::ClientFeatures) {
        if client.refreshes_hints {
            self.outbox.request::<InlayHintRefreshRequest>((), drop);
        }
        if client.refreshes_lenses {
            self.outbox.request::<CodeLensRefresh>((), drop);
        }
        if client.refreshes_tokens {
            self.outbox.request::<SemanticTokensRefresh>((), drop);
        }
    }

    fn publish(&self, name: &str, diagnostics: Vec<Diagnostic>) {
        let document = self.state().documents.get(name).cloned();
        if let Some(document) = document {
            self.publish_at(document.uri.clone(), diagnostics, Some(document.version()));
        }
    }

    /// Tells diagnostics.
    pub(crate) fn publish_at(&self, uri: Uri, diagnostics: Vec<Diagnostic>, version: Option<i32>) {
        self.outbox.notify::<PublishDiagnostics>(PublishDiagnosticsParams { uri, diagnostics, version });
    }
}
