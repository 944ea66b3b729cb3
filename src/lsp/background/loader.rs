//! Reads files on its own thread, one order after the other: what it sends is in the order it was asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;

use rayon::prelude::*;

use crate::load::{self, FilesBelow};
use crate::lsp::cancellation::CancelToken;
use crate::lsp::session::file_names::FileNames;
use crate::workspace::File;

/// How many files are read before they are sent on: enough for all cores, little enough to show progress.
const BATCH: usize = 128;

/// A file as it is on disk.
pub(crate) enum Loaded {
    /// Its name and what is in it.
    File(Arc<str>, Box<File>),
    /// A file or directory that is not there, or does not count.
    Gone(Arc<str>),
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(name, _) => f.debug_tuple("File").field(name).finish(),
            Self::Gone(name) => f.debug_tuple("Gone").field(name).finish(),
        }
    }
}

/// Something to read.
pub(crate) enum Order {
    /// Everything below some directories.
    Index {
        roots: Vec<PathBuf>,
        names: Arc<FileNames>,
        /// Stops it; what was read until then stays.
        stop: CancelToken,
        /// Comes back with the news.
        number: u64,
    },
    /// Some paths that may have changed.
    Read { paths: BTreeSet<PathBuf>, roots: Vec<PathBuf>, names: Arc<FileNames> },
}

/// News of the loader.
#[derive(Debug)]
pub(crate) enum News {
    /// Some files were read, and named so.
    Files(Vec<Loaded>, Arc<FileNames>),
    /// An index is so far.
    Progress { number: u64, done: usize, total: usize },
    /// Directories that were looked into.
    Directories(Vec<PathBuf>),
    /// An index is done; whether it is whole.
    Indexed { number: u64, whole: bool },
    /// Paths were read.
    Read,
}

/// Takes orders. The thread ends with it.
#[derive(Debug)]
pub(crate) struct Loader {
    orders: mpsc::Sender<Order>,
}

impl Loader {
    /// A loader that tells `tell`.
    pub(crate) fn new(tell: impl Fn(News) + Send + Sync + 'static) -> Self {
        let (orders, received) = mpsc::channel();
        thread::spawn(move || {
            for order in received {
                // Whatever happens, whoever waits for the end of it is told.
                match order {
                    Order::Index { roots, names, stop, number } => {
                        let index = AssertUnwindSafe(|| index(&roots, &names, &stop, number, &tell));
                        let whole = catch_unwind(index).unwrap_or(false);
                        tell(News::Indexed { number, whole });
                    }
                    Order::Read { paths, roots, names } => {
                        let _ = catch_unwind(AssertUnwindSafe(|| read(paths, &roots, &names, &tell)));
                        tell(News::Read);
                    }
                }
            }
        });
        Self { orders }
    }

    /// Gives an order.
    pub(crate) fn order(&self, order: Order) {
        // The thread lives as long as this.
        let _ = self.orders.send(order);
    }
}

/// Reads everything below some directories; whether that is all of it.
fn index(
    roots: &[PathBuf],
    names: &Arc<FileNames>,
    stop: &CancelToken,
    number: u64,
    tell: &(dyn Fn(News) + Sync),
) -> bool {
    let mut found = FilesBelow::default();
    for root in roots {
        let below = load::files_below(root, stop.flag());
        found.files.extend(below.files);
        found.directories.extend(below.directories);
    }
    tell(News::Directories(found.directories));
    let total = found.files.len();
    let mut done = 0;
    for batch in found.files.chunks(BATCH) {
        if stop.is_cancelled() {
            break;
        }
        let loaded = batch.par_iter().filter_map(|path| load(path, names)).collect();
        done += batch.len();
        tell(News::Files(loaded, Arc::clone(names)));
        tell(News::Progress { number, done, total });
    }
    done == total && !stop.is_cancelled()
}

fn read(paths: BTreeSet<PathBuf>, roots: &[PathBuf], names: &Arc<FileNames>, tell: &(dyn Fn(News) + Sync)) {
    // A project inside a project is walked with it: the outermost one decides.
    let mut by_root: BTreeMap<&Path, BTreeSet<PathBuf>> = BTreeMap::new();
    for path in paths {
        if let Some(root) = roots.iter().filter(|root| path.starts_with(root)).min_by_key(|root| root.as_os_str().len())
        {
            by_root.entry(root).or_default().insert(path);
        }
    }
    for (root, paths) in by_root {
        let found = load::files_of_paths(root, &paths);
        let mut loaded: Vec<Loaded> = found.files.par_iter().filter_map(|path| load(path, names)).collect();
        let read: BTreeSet<PathBuf> = found.files.into_iter().collect();
        for path in paths.difference(&read) {
            // A directory that is there is no file that is gone.
            if !found.directories.contains(path)
                && let Some(name) = names.of_path(path)
            {
                loaded.push(Loaded::Gone(name));
            }
        }
        if !found.directories.is_empty() {
            tell(News::Directories(found.directories));
        }
        tell(News::Files(loaded, Arc::clone(names)));
    }
}

/// Reads a file. What cannot be read is not there.
fn load(path: &Path, names: &FileNames) -> Option<Loaded> {
    let name = names.of_path(path)?;
    let read = || load::read(path).ok().map(|text| File::read(&name, &text));
    let file = catch_unwind(AssertUnwindSafe(read)).ok().flatten();
    Some(match file {
        Some(file) => Loaded::File(name, Box::new(file)),
        None => Loaded::Gone(name),
    })
}
