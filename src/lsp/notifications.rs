//! One file per notification of the client. Each has a function `apply` that changes the session.

pub(crate) mod cancel_progress;
pub(crate) mod did_change;
pub(crate) mod did_change_configuration;
pub(crate) mod did_change_watched_files;
pub(crate) mod did_change_workspace_folders;
pub(crate) mod did_close;
pub(crate) mod did_open;
pub(crate) mod initialized;
pub(crate) mod set_trace;
