//! Reads files on one thread, in the order of the requests.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;

use rayon::prelude::*;
use tower_lsp_server::ls_types::notification::LogMessage;
use tower_lsp_server::ls_types::{LogMessageParams, MessageType};

use crate::load::{self, FilesBelow};
use crate::lsp::background::indexing_progress::IndexingProgress;
use crate::lsp::background::watcher::Watcher;
use crate::lsp::log::Log;
use crate::lsp::session::{FileNames, IndexRun, LoadRequest, LoadedFile, Session, TaskSender};
use crate::lsp::transport::Outbox;
use crate::workspace::File;

/// How many files are read before the session gets them: enough for all cores, few enough to show progress.
const BATCH: usize = 128;

/// Starts the thread. It ends when the sender is dropped.
pub(crate) fn start(tasks: TaskSender, outbox: Outbox, log: Log) -> mpsc::Sender<LoadRequest> {
    let (sender, requests) = mpsc::channel();
    let mut loader = Loader { tasks, outbox, log, watcher: None };
    thread::spawn(move || requests.into_iter().for_each(|request| loader.run(request)));
    sender
}

struct Loader {
    tasks: TaskSender,
    outbox: Outbox,
    log: Log,
    /// Watches the directories that were read, if the client does not.
    watcher: Option<Watcher>,
}

/// How far an index run got.
#[derive(Clone, Copy, Debug, Default)]
struct Indexed {
    done: usize,
    total: usize,
    /// Whether everything was read.
    is_complete: bool,
}

impl Loader {
    fn run(&mut self, request: LoadRequest) {
        // The session waits for the end of each request, so a panic must not skip the task that reports it.
        match request {
            LoadRequest::WatchDirectories => self.watch_directories(),
            LoadRequest::Index { run, directories, names } => {
                let progress = IndexingProgress::start(&self.outbox, &run);
                let index = AssertUnwindSafe(|| self.index(&run, &directories, &names, &progress));
                let indexed = catch_unwind(index).unwrap_or_default();
                progress.finish();
                self.tasks.send(move |session| finish_index(session, &run, indexed));
            }
            LoadRequest::Read { paths, roots, names } => {
                let _ = catch_unwind(AssertUnwindSafe(|| self.read(paths, &roots, &names)));
                self.tasks.send(Session::finish_load);
            }
        }
    }

    fn watch_directories(&mut self) {
        let tasks = self.tasks.clone();
        let watcher = Watcher::new(move |paths| tasks.send(|session| session.read_files(paths)));
        if let Err(error) = &watcher {
            self.log.write(format_args!("cannot watch files: {error}"));
        }
        self.watcher = watcher.ok();
    }

    /// Reads all manifests below some directories.
    fn index(
        &mut self,
        run: &IndexRun,
        directories: &[PathBuf],
        names: &Arc<FileNames>,
        progress: &IndexingProgress,
    ) -> Indexed {
        let mut selected = FilesBelow::default();
        for directory in directories {
            let below = load::files_below(directory, run.stop.flag());
            selected.files.extend(below.files);
            selected.directories.extend(below.directories);
            selected.with_other_files.extend(below.with_other_files);
        }
        self.watch(&selected.directories);
        self.add_other_files(&selected, names);
        let total = selected.files.len();
        let mut done = 0;
        for batch in selected.files.chunks(BATCH) {
            if run.stop.is_cancelled() {
                break;
            }
            let files = batch.par_iter().filter_map(|path| read_file(path, names)).collect();
            done += batch.len();
            self.apply(files, names);
            progress.report(done, total);
        }
        Indexed { done, total, is_complete: done == total && !run.stop.is_cancelled() }
    }

    /// Reads paths that may have changed.
    fn read(&mut self, paths: BTreeSet<PathBuf>, roots: &[PathBuf], names: &Arc<FileNames>) {
        // A project inside another one is walked with it, so the outermost one decides what is ignored.
        let mut by_root: BTreeMap<&Path, BTreeSet<PathBuf>> = BTreeMap::new();
        for path in paths {
            let around = roots.iter().filter(|root| path.starts_with(root));
            if let Some(root) = around.min_by_key(|root| root.as_os_str().len()) {
                by_root.entry(root).or_default().insert(path);
            }
        }
        for (root, paths) in by_root {
            let selected = load::files_of_paths(root, &paths);
            let mut files: Vec<LoadedFile> =
                selected.files.par_iter().filter_map(|path| read_file(path, names)).collect();
            let found: BTreeSet<&PathBuf> = selected.files.iter().chain(&selected.directories).collect();
            let missing = paths.iter().filter(|path| !found.contains(path));
            files.extend(missing.filter_map(|path| names.path_to_name(path)).map(LoadedFile::Missing));
            self.watch(&selected.directories);
            self.add_other_files(&selected, names);
            self.apply(files, names);
        }
    }

    fn watch(&mut self, directories: &[PathBuf]) {
        if let Some(watcher) = &mut self.watcher {
            directories.iter().for_each(|it| watcher.add(it));
        }
    }

    /// Tells the session which directories hold other files.
    fn add_other_files(&self, found: &FilesBelow, names: &Arc<FileNames>) {
        let directories = found.with_other_files.iter().filter_map(|it| names.path_to_name(it));
        let directories: Vec<Arc<str>> =
            directories.map(|it| if it.is_empty() { it } else { format!("{it}/").into() }).collect();
        let names = Arc::clone(names);
        self.tasks.send(move |session| session.add_directories_with_other_files(directories, &names));
    }

    fn apply(&self, files: Vec<LoadedFile>, names: &Arc<FileNames>) {
        let names = Arc::clone(names);
        self.tasks.send(move |session| session.apply_loaded(files, &names));
    }
}

/// Reads a file. A file that cannot be read is missing.
fn read_file(path: &Path, names: &FileNames) -> Option<LoadedFile> {
    let name = names.path_to_name(path)?;
    let read = || load::read(path).ok().map(|text| File::read(&name, &text));
    let file = catch_unwind(AssertUnwindSafe(read)).ok().flatten();
    Some(match file {
        Some(file) => LoadedFile::Found(name, Box::new(file)),
        None => LoadedFile::Missing(name),
    })
}

/// Ends an index run. If the user has stopped it, a message says so.
fn finish_index(session: &mut Session, run: &IndexRun, indexed: Indexed) {
    let Indexed { done, total, is_complete } = indexed;
    // A run that is not in the list was stopped by a change of the folders.
    let is_current = session.index_runs.iter().any(|it| it.token == run.token);
    session.index_runs.retain(|it| it.token != run.token);
    if is_complete {
        session.log.write(format_args!("read {total} manifests"));
    } else if is_current {
        let message = format!("stopped after {done} of {total} manifests");
        session.log.write(&message);
        let message = format!("podlens: {message}; objects in the others are unknown");
        session.outbox.notify::<LogMessage>(LogMessageParams { typ: MessageType::INFO, message });
    }
    session.finish_load();
}
