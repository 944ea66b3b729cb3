//! A sign of life on a terminal while a large workspace is read.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

/// What takes less than this is not worth a word.
const MOMENT: Duration = Duration::from_millis(400);

/// Runs something, with a spinner on stderr if it takes longer than a moment.
pub(super) fn with_spinner<T>(message: &'static str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let spinner = Spinner::start(message);
    let result = work();
    spinner.stop();
    result
}

struct Spinner {
    done: Sender<()>,
    thread: JoinHandle<()>,
}

impl Spinner {
    fn start(message: &'static str) -> Self {
        let (done, wait) = mpsc::channel();
        let thread = thread::spawn(move || {
            if wait.recv_timeout(MOMENT) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_message(message);
            bar.enable_steady_tick(Duration::from_millis(100));
            // Ends with a message or with the sender.
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
