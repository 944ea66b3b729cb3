//! Work that no message waits for: reading files, watching them, checking documents.

pub(crate) mod client_process;
pub(crate) mod diagnostics;
pub(crate) mod loader;
pub(crate) mod watcher;
