//! `--watch`: runs again when a file changes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use notify::{Event, EventKind, RecursiveMode, Watcher};

use crate::cli::{Exit, notice};
use crate::load;
use crate::workspace::{PathStyle, display_path};

/// Editors write a file in several steps; after this long without an event it is complete.
const SETTLED: Duration = Duration::from_millis(120);

/// Runs `once` now and after each change below `base`. Files in `own` are written by it and are ignored. Paths are shown
/// relative to `directory`.
pub(super) fn run(
    base: &Path,
    directory: &Path,
    own: Vec<PathBuf>,
    mut once: impl FnMut() -> io::Result<Exit>,
) -> io::Result<Exit> {
    let (sender, events) = mpsc::channel();
    let watcher = notify::recommended_watcher(move |event| {
        // The receiver is gone only when the program ends.
        let _ = sender.send(event);
    });
    let watching = watcher.and_then(|mut watcher| watcher.watch(base, RecursiveMode::Recursive).map(|()| watcher));
    // Watching starts before the first run, so that no change is lost, and lasts until this is dropped.
    let _watcher = match watching {
        Ok(watcher) => watcher,
        Err(error) => {
            notice(format_args!("cannot watch for changes: {error}"));
            return Ok(Exit::Failure);
        }
    };
    once()?;
    notice("watching for changes; press Ctrl-C to stop");
    while let Some(changed) = next(&events, &own) {
        let shown = display_path(&changed.to_string_lossy(), &directory.to_string_lossy(), PathStyle::CURRENT);
        notice(format_args!("──── {shown} changed"));
        once()?;
    }
    Ok(Exit::Clean)
}

/// Waits for a relevant change, then until no more events follow. `None` if the watcher ended.
fn next(events: &Receiver<notify::Result<Event>>, own: &[PathBuf]) -> Option<PathBuf> {
    let first = loop {
        if let Some(path) = relevant(events.recv().ok()?, own) {
            break path;
        }
    };
    while events.recv_timeout(SETTLED).is_ok() {}
    Some(first)
}

/// The manifest changed by an event.
fn relevant(event: notify::Result<Event>, own: &[PathBuf]) -> Option<PathBuf> {
    let event = event.ok().filter(|it| !matches!(it.kind, EventKind::Access(_) | EventKind::Other))?;
    event.paths.into_iter().find(|path| load::is_manifest(path) && !own.contains(path))
}
