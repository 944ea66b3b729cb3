//! How far loading is, for a display.

/// A step of loading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadStep {
    /// Directories are walked. Each file that is found is reported.
    Walk,
    /// Files are read and parsed.
    Read,
    /// The objects of the files become an index.
    Index,
}

/// Is called while files are loaded, from several threads.
pub trait LoadProgress: Sync {
    /// A step begins, with the number of its files if that is known.
    fn begin(&self, step: LoadStep, total: Option<usize>);
    /// One more file of the step is done.
    fn advance(&self);
}

/// Shows nothing.
pub(super) struct NoProgress;

impl LoadProgress for NoProgress {
    fn begin(&self, _step: LoadStep, _total: Option<usize>) {}

    fn advance(&self) {}
}
