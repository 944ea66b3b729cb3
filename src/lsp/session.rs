//! The state of the server: documents, workspace and settings, and snapshots of them.

pub(crate) mod client_features;
pub(crate) mod document;
pub(crate) mod editor_settings;
pub(crate) mod file_names;
pub(crate) mod snapshot;
pub(crate) mod state;
