//! Reads files and stdin into a workspace. No other code walks or reads directories.
//!
//! The given paths select what is reported. The whole project around them is read, because the ConfigMap of a pod can be
//! anywhere in it. Nothing is printed here, and a file that cannot be read does not hide another.

mod editor;
mod included;
mod progress;
mod read;
mod roots;
mod stdin;
mod walk;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::diagnostic::InputProblem;
use crate::k8s::ParameterValue;
use crate::workspace::{File, SETTINGS_FILE, Settings, Workspace};
use crate::workspace::{PathStyle, display_path, join_path, relative_path};

pub use editor::{EditorFolders, FilesBelow, files_below, files_of_paths, project_of};
pub use progress::{LoadProgress, LoadStep};
pub use read::{ReadError, read, read_stream};
pub use stdin::NAME as STDIN_NAME;
pub use walk::{PassedOver, is_manifest};

/// The settings file of the project around a directory, if it has one: its path relative to the directory, and its text.
pub fn settings_of(directory: &Path) -> Option<Result<(String, String), InputProblem>> {
    let project = directory.ancestors().find(|it| roots::is_project(it))?;
    let path = project.join(SETTINGS_FILE);
    path.is_file().then(|| {
        let file = shown(&path, directory);
        match read(&path) {
            Ok(text) => Ok((file, text)),
            Err(error) => Err(error.in_file(file)),
        }
    })
}

/// What to load.
pub struct Request<'r> {
    /// The working directory, absolute: paths are relative to it.
    pub directory: &'r Path,
    /// Files and directories; `-` is stdin. Empty means the root, or the working directory.
    pub paths: &'r [PathBuf],
    /// The project's directory, instead of searching for it.
    pub root: Option<&'r Path>,
    /// The file that `-` replaces where nothing in the stream names a file. Its project is loaded.
    pub stdin_name: Option<&'r Path>,
    /// Where `-` reads from, instead of the process's stdin.
    pub stdin: Option<&'r mut dyn Read>,
}

/// A workspace read from files and stdin.
#[derive(Debug)]
pub struct Loaded {
    /// Every file of the projects around the paths.
    pub workspace: Workspace,
    /// The files selected by the paths and not excluded, in order.
    pub reported: Vec<Arc<str>>,
    /// The selected files that could not be read, in order.
    pub problems: Vec<InputProblem>,
    /// What was passed over in the selected directories.
    pub passed_over: PassedOver,
    /// The directory that file names are relative to.
    base: String,
    directory: String,
    /// Texts that came from stdin, by file name.
    piped: BTreeMap<Arc<str>, Arc<str>>,
    /// Texts that can be read only once (named pipes), by file name.
    once: BTreeMap<Arc<str>, Arc<str>>,
    /// The workspace name of [`Request::stdin_name`].
    stdin_name: Option<Arc<str>>,
    /// The values given to the parameters of templates.
    given: Vec<(Arc<str>, ParameterValue)>,
}

impl Loaded {
    /// Whether the name of a file is not a path: it came from stdin, which names it or not.
    pub fn is_unnamed(&self, file: &str) -> bool {
        self.is_piped(file) && self.stdin_name.as_deref() != Some(file)
    }

    /// The absolute path of one that is relative to the working directory.
    pub fn absolute(&self, shown: &str) -> String {
        text_of(&roots::absolute(Path::new(&self.directory), Path::new(shown)))
    }

    /// A file's path relative to the working directory.
    pub fn display(&self, file: &str) -> String {
        if self.is_unnamed(file) {
            return file.to_owned();
        }
        display_path(&self.path(file), &self.directory, PathStyle::CURRENT)
    }

    /// Gives values to the parameters of the templates in the selected files.
    pub fn give_parameter_values(&mut self, values: Vec<(Arc<str>, ParameterValue)>) {
        self.given = values;
        let snapshot = self.workspace.snapshot();
        for path in &self.reported {
            let Some(file) = snapshot.file(path) else { continue };
            if file.objects.iter().any(|it| it.template.is_some()) {
                self.workspace.set_editor(path, file.with_parameter_values(&self.given));
            }
        }
    }

    /// Replaces the text of a selected file in memory.
    pub fn change(&mut self, path: &str, text: &str) {
        self.workspace.set_editor(path, File::read(path, text).with_parameter_values(&self.given));
    }

    /// Reads all documents of the selected files, those without relevant objects too.
    pub fn read_whole_files(&mut self) {
        for path in &self.reported {
            if let Some(text) = self.text(path) {
                self.workspace.set_editor(path, File::read_whole(path, &text));
            }
        }
    }

    /// Whether a file came from stdin.
    pub fn is_piped(&self, file: &str) -> bool {
        self.piped.contains_key(file)
    }

    /// Whether a file is a pipe, which can be read only once and not be written.
    pub fn is_pipe(&self, file: &str) -> bool {
        self.once.contains_key(file)
    }

    /// The directory that contains everything loaded.
    pub fn base(&self) -> &Path {
        Path::new(&self.base)
    }

    /// Reads a file's text again, since the workspace keeps no text. `None` if the file no longer exists.
    pub fn text(&self, file: &str) -> Option<Arc<str>> {
        match self.piped.get(file).or_else(|| self.once.get(file)) {
            Some(text) => Some(Arc::clone(text)),
            None => read(Path::new(&self.path(file))).ok().map(Arc::from),
        }
    }

    /// The absolute path of a file. For a file from stdin nothing exists there.
    pub fn path(&self, file: &str) -> String {
        join_path(&self.base, file, PathStyle::CURRENT)
    }
}

/// Loads the projects around the paths.
pub fn load(request: Request<'_>) -> Loaded {
    load_with_progress(request, &progress::NoProgress)
}

/// Loads the projects around the paths, and reports how far that is.
pub fn load_with_progress(request: Request<'_>, progress: &dyn LoadProgress) -> Loaded {
    let here = [request.root.unwrap_or(Path::new(".")).to_owned()];
    let paths = if request.paths.is_empty() { &here } else { request.paths };
    let is_stdin = |path: &PathBuf| path.as_os_str() == "-";
    let directory = roots::absolute(request.directory, Path::new(""));
    let mut problems = Vec::new();
    let mut selected = Vec::new();
    for path in paths.iter().filter(|path| !is_stdin(path)) {
        let full = roots::absolute(&directory, path);
        match fs::metadata(&full) {
            Ok(data) => selected.push(roots::SelectedPath { path: full, is_directory: data.is_dir() }),
            Err(error) => problems.push(ReadError::from(error).in_file(shown(&full, &directory))),
        }
    }
    if let Some(root) = request.root.map(|root| roots::absolute(&directory, root))
        && !root.is_dir()
    {
        let error = match root.exists() {
            true => ReadError::new("the root is not a directory"),
            false => ReadError::missing("the root does not exist"),
        };
        problems.push(error.in_file(shown(&root, &directory)));
    }
    let reads_stdin = paths.iter().any(is_stdin);
    let stdin_path = request.stdin_name.filter(|_| reads_stdin).map(|name| roots::absolute(&directory, name));
    let around = stdin_path.iter().map(|path| roots::SelectedPath { path: path.clone(), is_directory: false });
    selected.extend(around);
    let projects = roots::projects(&directory, &selected, request.root);
    selected.truncate(selected.len() - usize::from(stdin_path.is_some()));
    let mut loaded = Loaded {
        workspace: Workspace::default(),
        reported: Vec::new(),
        problems,
        passed_over: PassedOver::default(),
        base: text_of(&projects.base),
        directory: text_of(&directory),
        piped: BTreeMap::new(),
        once: BTreeMap::new(),
        stdin_name: stdin_path.and_then(|path| name(&path, &projects.base)),
        given: Vec::new(),
    };
    if let Some(settings) = settings_above(&projects.base) {
        loaded.workspace.set_defaults(settings);
    }
    loaded.read_files(&projects, &selected, progress);
    if reads_stdin {
        match request.stdin {
            Some(stdin) => loaded.read_stdin(stdin),
            None => loaded.read_stdin(&mut io::stdin().lock()),
        }
    }
    loaded.workspace.set_roots(projects.borders());
    let snapshot = loaded.workspace.snapshot();
    let all = loaded.reported.len();
    loaded.reported.retain(|file| !snapshot.is_excluded(file));
    loaded.passed_over.excluded_files = all - loaded.reported.len();
    loaded.reported.sort();
    loaded.reported.dedup();
    loaded.problems.sort();
    loaded.problems.dedup();
    loaded
}

/// The nearest settings at or above the directory of everything loaded. They apply where no nearer settings do.
fn settings_above(base: &Path) -> Option<Settings> {
    let mut up = String::new();
    for directory in base.ancestors() {
        let file = directory.join(SETTINGS_FILE);
        if file.is_file()
            && let Ok(text) = read(&file)
        {
            let between = base.strip_prefix(directory).map(text_of).unwrap_or_default().replace('\\', "/");
            let name = format!("{up}{SETTINGS_FILE}");
            return Some(Settings::read(&name, &text).for_subdirectory(&between));
        }
        up.push_str("../");
    }
    None
}

impl Loaded {
    fn read_files(
        &mut self,
        projects: &roots::Projects,
        selected: &[roots::SelectedPath],
        progress: &dyn LoadProgress,
    ) {
        progress.begin(LoadStep::Walk, None);
        let found = walk::project_files(projects, selected, progress);
        for (path, error) in found.failures {
            self.problems.push(error.in_file(shown(&path, Path::new(&self.directory))));
        }
        self.passed_over = found.passed_over;
        let other = found.with_other_files.iter().filter_map(|it| directory_name(it, &projects.base));
        self.workspace.add_directories_with_other_files(other);
        progress.begin(LoadStep::Read, Some(found.files.len()));
        let read: Vec<_> = found
            .files
            .into_par_iter()
            .map(|(path, is_selected)| {
                let Some(name) = name(&path, &projects.base) else { return Err((path, is_selected)) };
                let file = read::read_file(&path).map(|(text, is_regular)| {
                    let file = Arc::new(File::read(&name, &text));
                    (file, (!is_regular).then(|| text.into()))
                });
                progress.advance();
                Ok((name, is_selected, file))
            })
            .collect();
        progress.begin(LoadStep::Index, Some(read.len()));
        for read in read {
            progress.advance();
            let (name, is_selected, file) = match read {
                Ok(read) => read,
                Err((path, is_selected)) => {
                    if is_selected {
                        let file = shown(&path, Path::new(&self.directory));
                        self.problems.push(ReadError::new("its path is not UTF-8; rename it").in_file(file));
                    }
                    continue;
                }
            };
            let is_settings = name.rsplit('/').next() == Some(SETTINGS_FILE);
            match file {
                Ok((file, once)) => {
                    self.workspace.set_disk(&name, file);
                    if let Some(text) = once {
                        self.once.insert(Arc::clone(&name), text);
                    }
                    if is_selected && !is_settings {
                        self.reported.push(name);
                    }
                }
                // Settings change what is reported elsewhere, so they are a problem even where they are not selected.
                Err(error) if is_selected || is_settings => self.problems.push(error.in_file(self.display(&name))),
                Err(_) => {}
            }
        }
    }

    fn read_stdin(&mut self, stdin: &mut dyn Read) {
        match read_stream(stdin) {
            Ok(text) => {
                let unnamed = self.stdin_name.clone().unwrap_or_else(|| STDIN_NAME.into());
                for (name, text) in stdin::split_by_source(text, &unnamed) {
                    self.workspace.set_editor(&name, File::read(&name, &text));
                    self.reported.push(Arc::clone(&name));
                    self.piped.insert(name, text.into());
                }
            }
            Err(error) => self.problems.push(error.in_file(STDIN_NAME)),
        }
    }
}

/// The name of a file in the workspace.
fn name(path: &Path, base: &Path) -> Option<Arc<str>> {
    relative_path(path.to_str()?, base.to_str()?, PathStyle::CURRENT).map(Arc::from)
}

/// The name of a directory in the workspace: empty, or with a final `/`.
fn directory_name(path: &Path, base: &Path) -> Option<Arc<str>> {
    name(path, base).map(|it| if it.is_empty() { it } else { format!("{it}/").into() })
}

fn shown(path: &Path, directory: &Path) -> String {
    display_path(&text_of(path), &text_of(directory), PathStyle::CURRENT)
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
