//! Changes on disk, for clients that do not watch files.
//!
//! Every directory that was looked into is watched by itself, and no other: what is ignored costs nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Editors write a file in several steps; after this much silence it is done.
const SETTLED: Duration = Duration::from_millis(50);

/// Watches while it lives.
pub(crate) struct Watcher {
    watcher: RecommendedWatcher,
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

impl Watcher {
    /// A watch that tells `tell` which paths have changed, once they are quiet.
    pub(crate) fn new(tell: impl Fn(Vec<PathBuf>) + Send + 'static) -> notify::Result<Self> {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if let Ok(event) = event {
                // Nobody listens any more only when the server ends.
                let _ = sender.send(event);
            }
        })?;
        thread::spawn(move || listen(&events, &tell));
        Ok(Self { watcher })
    }

    /// Watches a directory too. One that is watched already, or is gone, is no trouble.
    pub(crate) fn add(&mut self, directory: &Path) {
        let _ = self.watcher.watch(directory, RecursiveMode::NonRecursive);
    }
}

fn listen(events: &Receiver<Event>, tell: &dyn Fn(Vec<PathBuf>)) {
    let mut changed: Vec<PathBuf> = Vec::new();
    loop {
        let wait = if changed.is_empty() { Duration::from_secs(3600) } else { SETTLED };
        match events.recv_timeout(wait) {
            Ok(event) if matches!(event.kind, EventKind::Access(_) | EventKind::Other) => {}
            Ok(event) => changed.extend(event.paths),
            Err(RecvTimeoutError::Timeout) if changed.is_empty() => {}
            Err(RecvTimeoutError::Timeout) => {
                changed.sort();
                changed.dedup();
                tell(std::mem::take(&mut changed));
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
