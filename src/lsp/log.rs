//! `--log FILE`: what the server did and how long it took. Never what is in the documents.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::panic;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A log, or nothing.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    file: Option<Arc<Mutex<File>>>,
    start: Instant,
}

impl Log {
    /// A log that is added to a file, or none.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let open = |path: &Path| File::options().create(true).append(true).open(path);
        let file = path.map(open).transpose()?.map(|file| Arc::new(Mutex::new(file)));
        let log = Self { file, start: Instant::now() };
        log.write(format_args!("podlens {} is started", env!("CARGO_PKG_VERSION")));
        Ok(log)
    }

    /// Writes a line.
    pub(crate) fn write(&self, line: impl Display) {
        let Some(file) = &self.file else { return };
        let seconds = self.start.elapsed().as_secs_f64();
        // A full disk is no reason to stop serving.
        let _ = writeln!(file.lock().unwrap_or_else(PoisonError::into_inner), "[{seconds:10.4}] {line}");
    }
}

/// Panics are logged by their place alone: their message may hold what a document says.
pub(crate) fn panics_to(log: &Log) {
    let log = log.clone();
    panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        log.write(format_args!("internal error at {place}"));
        // Editors show this stream; if it is closed, nobody is there to be told.
        let _ = writeln!(io::stderr().lock(), "podlens: internal error at {place}");
    }));
}
