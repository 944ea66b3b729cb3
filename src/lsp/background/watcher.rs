//! Changes of files on disk, for clients that do not watch files.
//!
//! Each directory that was read is watched on its own, so that ignored directories cost nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Editors write a file in several steps. Changes are reported when there was none for this time.
const QUIET_TIME: Duration = Duration::from_millis(50);

/// Watches directories until it is dropped.
pub(super) struct Watcher {
    watcher: RecommendedWatcher,
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

impl Watcher {
    /// Calls `on_change` with the paths that have changed.
    pub(super) fn new(on_change: impl Fn(Vec<PathBuf>) + Send + 'static) -> notify::Result<Self> {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if let Ok(event) = event {
                // An error means that the server ends.
                let _ = sender.send(event);
            }
        })?;
        thread::spawn(move || listen(&events, &on_change));
        Ok(Self { watcher })
    }

    /// Watches a directory. Nothing happens if it is watched already or does not exist.
    pub(super) fn add(&mut self, directory: &Path) {
        let _ = self.watcher.watch(directory, RecursiveMode::NonRecursive);
    }
}

fn listen(events: &Receiver<Event>, on_change: &dyn Fn(Vec<PathBuf>)) {
    let mut changed: Vec<PathBuf> = Vec::new();
    loop {
        let wait = if changed.is_empty() { Duration::from_secs(3600) } else { QUIET_TIME };
        match events.recv_timeout(wait) {
            Ok(event) if matches!(event.kind, EventKind::Access(_) | EventKind::Other) => {}
            Ok(event) => changed.extend(event.paths),
            Err(RecvTimeoutError::Timeout) if changed.is_empty() => {}
            Err(RecvTimeoutError::Timeout) => {
                changed.sort();
                changed.dedup();
                on_change(std::mem::take(&mut changed));
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
