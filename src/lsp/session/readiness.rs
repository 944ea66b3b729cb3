//! Whether the workspace and the settings are known, and how often anything has changed; requests can wait for both.
//!
//! Diagnostics are not computed before that: they might be wrong.

use tokio::sync::watch;

/// The state of the session that requests wait for.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    /// Load requests that are not finished.
    reads: usize,
    /// Whether the editor's settings have arrived or are not expected any more.
    is_configured: bool,
    revision: u64,
    published: watch::Sender<Status>,
}

/// The readiness of the session at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// Whether all files and settings are known.
    pub(crate) is_ready: bool,
    /// Counts the changes of documents, files and settings.
    pub(crate) revision: u64,
}

impl Readiness {
    /// A load request starts.
    pub(crate) fn start_read(&mut self) {
        self.reads += 1;
    }

    /// A load request is finished.
    pub(crate) fn finish_read(&mut self) {
        self.reads = self.reads.saturating_sub(1);
    }

    /// The editor's settings have arrived or are not expected any more.
    pub(crate) fn set_configured(&mut self) {
        self.is_configured = true;
    }

    /// A document, a file or a setting has changed.
    pub(crate) fn count_change(&mut self) {
        self.revision += 1;
    }

    /// The current status.
    pub(crate) fn status(&self) -> Status {
        Status { is_ready: self.reads == 0 && self.is_configured, revision: self.revision }
    }

    /// Wakes the requests that wait for a status.
    pub(crate) fn publish(&self) {
        let status = self.status();
        self.published.send_if_modified(|published| std::mem::replace(published, status) != status);
    }

    /// The published status, to wait for its changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Status> {
        self.published.subscribe()
    }
}
