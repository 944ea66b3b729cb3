//! Work that other threads hand to the main loop: only the main loop changes the session.

use tokio::sync::mpsc;

use crate::lsp::session::Session;

/// A change of the session.
pub(crate) type Task = Box<dyn FnOnce(&mut Session) + Send>;

/// Hands tasks to the main loop. Clones share one queue.
#[derive(Clone, Debug)]
pub(crate) struct TaskSender(mpsc::UnboundedSender<Task>);

impl TaskSender {
    /// A sender, and the queue that the main loop reads.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Task>) {
        let (sender, tasks) = mpsc::unbounded_channel();
        (Self(sender), tasks)
    }

    /// Runs a task on the main loop, after those that were sent before.
    pub(crate) fn send(&self, task: impl FnOnce(&mut Session) + Send + 'static) {
        // An error means that the main loop has ended.
        let _ = self.0.send(Box::new(task));
    }
}
