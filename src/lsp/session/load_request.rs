//! The interface between the session and the loader: what to read, and what was read.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tower_lsp_server::ls_types::ProgressToken;

use crate::lsp::cancellation::CancelToken;
use crate::lsp::session::file_names::FileNames;
use crate::workspace::File;

/// What the loader does. Requests are done one after the other.
#[derive(Debug)]
pub(crate) enum LoadRequest {
    /// Watches all directories that later requests read.
    WatchDirectories,
    /// Reads all manifests below some directories.
    Index { run: IndexRun, directories: Vec<PathBuf>, names: Arc<FileNames> },
    /// Reads paths that may have changed.
    Read {
        /// Files and directories.
        paths: BTreeSet<PathBuf>,
        /// The directories that are indexed. Other paths are not read.
        roots: Vec<PathBuf>,
        names: Arc<FileNames>,
    },
}

/// A run of the loader over directories, which the user can stop.
#[derive(Clone, Debug)]
pub(crate) struct IndexRun {
    /// The token under which the client shows its progress.
    pub(crate) token: ProgressToken,
    /// Whether the client shows progress.
    pub(crate) shows_progress: bool,
    /// Stops the run. Files that were read before stay in the workspace.
    pub(crate) stop: CancelToken,
}

/// A file that the loader has read.
pub(crate) enum LoadedFile {
    /// Its name and content.
    Found(Arc<str>, Box<File>),
    /// The name of a file or directory that does not exist or is not a manifest.
    Missing(Arc<str>),
}

impl fmt::Debug for LoadedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(name, _) => f.debug_tuple("Found").field(name).finish(),
            Self::Missing(name) => f.debug_tuple("Missing").field(name).finish(),
        }
    }
}
