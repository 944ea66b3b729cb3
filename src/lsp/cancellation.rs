//! Cancellation of work on other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set when the result of some work is not needed any more. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Whether the work is cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Cancels the work.
    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag, for layers that do not know this type.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// A guard that cancels the work when it is dropped, for example with the future that waits for the result.
    pub(crate) fn cancel_on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }
}

/// See [`CancelToken::cancel_on_drop`].
#[derive(Debug)]
pub(crate) struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
