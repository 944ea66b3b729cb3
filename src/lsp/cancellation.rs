//! Cancellation: a word from the pump to a thread that works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says whether work is still wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Whether nobody wants the result any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Nobody wants the result any more.
    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag itself, for those who know nothing of the protocol.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Cancels when it is dropped: with the future that waits for the result.
    pub(crate) fn guard(&self) -> Guard {
        Guard(self.clone())
    }
}

/// See [`CancelToken::guard`].
#[derive(Debug)]
pub(crate) struct Guard(CancelToken);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
