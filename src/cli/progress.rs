//! Progress on a terminal while a large workspace is read.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that takes less than this shows no progress.
const DELAY: Duration = Duration::from_millis(400);
/// How often the display changes.
const TICK: Duration = Duration::from_millis(100);

/// Runs `work`, with a spinner on stderr if it takes long.
pub(super) fn with_spinner<T>(message: &'static str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let spinner = Spinner::start(message);
    let result = work();
    spinner.stop();
    result
}

/// Runs `work`, which calls its argument `total` times, with a bar on stderr if it takes long.
pub(super) fn with_bar<T>(message: &'static str, total: usize, work: impl FnOnce(&(dyn Fn() + Sync)) -> T) -> T {
    if !io::stderr().is_terminal() {
        return work(&|| {});
    }
    let done = AtomicUsize::new(0);
    let (finished, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(|| {
            // Owned here, so that dropping the sender ends the loop.
            let wait = wait;
            if wait.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(message);
            while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.set_position(done.load(Ordering::Relaxed) as u64);
            }
            bar.finish_and_clear();
        });
        let result = work(&|| _ = done.fetch_add(1, Ordering::Relaxed));
        drop(finished);
        result
    })
}

struct Spinner {
    done: Sender<()>,
    thread: JoinHandle<()>,
}

impl Spinner {
    fn start(message: &'static str) -> Self {
        let (done, wait) = mpsc::channel();
        let thread = thread::spawn(move || {
            if wait.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The default style draws a bar of unknown length as `0/0`.
            let style = ProgressStyle::with_template("{spinner} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_message(message);
            bar.enable_steady_tick(TICK);
            // Returns when the sender is dropped.
            let _ = wait.recv();
            bar.finish_and_clear();
        });
        Self { done, thread }
    }

    fn stop(self) {
        drop(self.done);
        let _ = self.thread.join();
    }
}
