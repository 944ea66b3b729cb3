//! The progress that the client shows while directories are read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tower_lsp_server::ls_types::notification::Progress;
use tower_lsp_server::ls_types::request::WorkDoneProgressCreate;
use tower_lsp_server::ls_types::{
    ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};

use crate::lsp::session::IndexRun;
use crate::lsp::transport::Outbox;

/// The progress of an index run. The client shows it once it has accepted the token, which may be after the end of the
/// run.
#[derive(Clone, Debug)]
pub(super) struct IndexingProgress(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    outbox: Outbox,
    token: ProgressToken,
    is_shown: bool,
    is_finished: bool,
    done: usize,
    percentage: u32,
}

impl IndexingProgress {
    /// Asks the client to show progress, if it supports that.
    pub(super) fn start(outbox: &Outbox, run: &IndexRun) -> Self {
        let (outbox, token) = (outbox.clone(), run.token.clone());
        let state = State { outbox, token, is_shown: false, is_finished: false, done: 0, percentage: 0 };
        let progress = Self(Arc::new(Mutex::new(state)));
        if run.shows_progress {
            let accepted = progress.clone();
            let params = WorkDoneProgressCreateParams { token: run.token.clone() };
            progress.state().outbox.request::<WorkDoneProgressCreate>(params, move |answer| {
                if answer.is_ok() {
                    accepted.show();
                }
            });
        }
        progress
    }

    fn show(&self) {
        let mut state = self.state();
        state.is_shown = true;
        state.send(WorkDoneProgress::Begin(WorkDoneProgressBegin {
            title: "podlens: reading manifests".into(),
            cancellable: Some(true),
            message: None,
            percentage: Some(0),
        }));
        if state.is_finished {
            state.send_end();
        }
    }

    /// `done` of `total` files are read.
    pub(super) fn report(&self, done: usize, total: usize) {
        let mut state = self.state();
        state.done = done;
        let percentage = u32::try_from(done * 100 / total.max(1)).unwrap_or(100);
        if state.is_shown && percentage > state.percentage {
            state.percentage = percentage;
            state.send(WorkDoneProgress::Report(WorkDoneProgressReport {
                cancellable: Some(true),
                message: Some(format!("{done} of {total}")),
                percentage: Some(percentage),
            }));
        }
    }

    /// The run is over.
    pub(super) fn finish(&self) {
        let mut state = self.state();
        state.is_finished = true;
        if state.is_shown {
            state.send_end();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn send_end(&self) {
        let message = Some(format!("{} manifests", self.done));
        self.send(WorkDoneProgress::End(WorkDoneProgressEnd { message }));
    }

    fn send(&self, value: WorkDoneProgress) {
        let value = ProgressParamsValue::WorkDone(value);
        self.outbox.notify::<Progress>(ProgressParams { token: self.token.clone(), value });
    }
}
