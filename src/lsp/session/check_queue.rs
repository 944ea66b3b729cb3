//! The documents whose diagnostics are out of date, and the reports that the client has.

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::OrdMap;

use crate::lsp::cancellation::CancelToken;

/// The ids of the reports that the client has, by document.
pub(crate) type ReportIds = OrdMap<Arc<str>, String>;

/// What is to be checked in the background.
#[derive(Debug, Default)]
pub(crate) struct CheckQueue {
    /// Documents with a text whose diagnostics were not published.
    changed: BTreeSet<Arc<str>>,
    /// Whether all other documents must be checked.
    others: bool,
    /// Whether hints, lenses and tokens that the client shows may be out of date.
    is_view_outdated: bool,
    /// Cancels the running check.
    running: Option<CancelToken>,
    report_ids: ReportIds,
}

impl CheckQueue {
    /// A document has a new text. `is_shared`: other files may depend on it.
    pub(crate) fn document_changed(&mut self, name: Arc<str>, is_shared: bool) {
        self.changed.insert(name);
        self.anything_changed(is_shared);
    }

    /// Something has changed that all documents may depend on.
    pub(crate) fn anything_changed(&mut self, is_shared: bool) {
        self.others = true;
        self.is_view_outdated |= is_shared;
        if let Some(token) = &self.running {
            token.cancel();
        }
    }

    /// A document is closed.
    pub(crate) fn document_closed(&mut self, name: &str) {
        self.changed.remove(name);
        self.report_ids.remove(name);
    }

    /// Whether a check has to be started.
    pub(crate) fn is_due(&self) -> bool {
        self.running.is_none() && (self.others || !self.changed.is_empty())
    }

    /// A check starts. Returns the documents that have changed; all others must be checked too.
    pub(crate) fn start(&mut self, token: CancelToken) -> BTreeSet<Arc<str>> {
        self.running = Some(token);
        self.others = false;
        std::mem::take(&mut self.changed)
    }

    /// The check is over; the others must be checked again if it was cancelled. Returns whether the hints, lenses and
    /// tokens that the client shows are out of date.
    pub(crate) fn finish(&mut self, is_cancelled: bool) -> bool {
        self.running = None;
        self.others |= is_cancelled;
        !self.others && std::mem::take(&mut self.is_view_outdated)
    }

    /// The client has a report.
    pub(crate) fn set_report_id(&mut self, name: &Arc<str>, id: &str) {
        self.report_ids.insert(Arc::clone(name), id.to_owned());
    }

    /// The reports that the client has.
    pub(crate) fn report_ids(&self) -> &ReportIds {
        &self.report_ids
    }
}
