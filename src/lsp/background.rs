//! Work that no message waits for: reading files, watching them, checking documents, and watching the client's process.
//!
//! It runs on other threads and changes the session through tasks for the main loop.

pub(crate) mod client_process;
pub(crate) mod diagnostics;
mod indexing_progress;
pub(crate) mod loader;
mod watcher;
