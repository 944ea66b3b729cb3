//! The log of `--log FILE`: what the server did and how long it took, without any text of the documents.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::panic;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The log file, if there is one. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    file: Option<Arc<Mutex<File>>>,
    start: Instant,
}

impl Log {
    /// A log that appends to a file; without a path it writes nothing.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let open = |path: &Path| File::options().create(true).append(true).open(path);
        let file = path.map(open).transpose()?.map(|file| Arc::new(Mutex::new(file)));
        let log = Self { file, start: Instant::now() };
        log.write(format_args!("podlens {} started", env!("CARGO_PKG_VERSION")));
        Ok(log)
    }

    /// Writes a line.
    pub(crate) fn write(&self, line: impl Display) {
        let Some(file) = &self.file else { return };
        let seconds = self.start.elapsed().as_secs_f64();
        // A log that cannot be written, for example because the disk is full, must not stop the server.
        let _ = writeln!(file.lock().unwrap_or_else(PoisonError::into_inner), "[{seconds:10.4}] {line}");
    }
}

/// Logs panics with their location only: a panic message may contain text of a document.
pub(crate) fn log_panics(log: &Log) {
    let log = log.clone();
    panic::set_hook(Box::new(move |panic| {
        let location = panic.location().map_or_else(String::new, ToString::to_string);
        log.write(format_args!("internal error at {location}"));
        // Editors show stderr. If it is closed, the message is lost.
        let _ = writeln!(io::stderr().lock(), "podlens: internal error at {location}");
    }));
}
