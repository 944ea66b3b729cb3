//! Files from disk and stdin to a workspace: the only code that walks and reads directories.
//!
//! The paths that are asked for select what is reported; around them the whole project is read, since a pod's
//! ConfigMap may stand anywhere in it. Nothing is printed here, and one bad file never hides another.

mod editor;
mod roots;
mod stdin;
mod walk;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::workspace::{File, SETTINGS_FILE, Settings, Workspace};
use crate::workspace::{PathStyle, display_path, join_path, relative_path};

pub use editor::{Layout, Selected, files_below, project_of, selected};

/// Files above this size are refused: nobody writes such a manifest.
const MAX_SIZE: u64 = 64 * 1024 * 1024;

/// The settings that count in a directory, if its project has any: the file as it is shown there, and its text or what is
/// wrong with it.
pub fn settings_of(directory: &Path) -> Option<(String, Result<String, String>)> {
    let project = directory.ancestors().find(|it| roots::is_project(it))?;
    let path = project.join(SETTINGS_FILE);
    path.is_file().then(|| (shown(&path, directory), read(&path)))
}

/// What is told about a path that leads nowhere.
pub const NO_SUCH_FILE: &str = "no such file or directory";

/// What to load.
pub struct Request<'r> {
    /// The working directory, absolute: paths are relative to it.
    pub directory: &'r Path,
    /// Files and directories; `-` is stdin. None at all is the root, or the working directory.
    pub paths: &'r [PathBuf],
    /// The project's directory, instead of looking for it.
    pub root: Option<&'r Path>,
    /// The file that `-` stands for where nothing in the stream names it: its project is looked at, and the stream
    /// takes its place.
    pub stdin_name: Option<&'r Path>,
    /// Where `-` reads from.
    pub stdin: Option<&'r mut dyn Read>,
}

/// What was loaded.
#[derive(Debug)]
pub struct Loaded {
    /// Every file of the projects around the paths.
    pub workspace: Workspace,
    /// The files that were asked for and not excluded, in order.
    pub reported: Vec<Arc<str>>,
    /// What could not be read of what was asked for, in order.
    pub problems: Vec<Problem>,
    /// The directory the names of files are relative to.
    base: String,
    directory: String,
    /// What stdin holds, by name.
    piped: BTreeMap<Arc<str>, Arc<str>>,
    /// What can be read only once, by name: pipes.
    once: BTreeMap<Arc<str>, Arc<str>>,
    /// The name in the workspace of the file that stdin stands for.
    stdin_name: Option<Arc<str>>,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The path as it is shown.
    pub file: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Loaded {
    /// A file's name as a person in the working directory would write it.
    pub fn display(&self, file: &str) -> String {
        if self.is_piped(file) && self.stdin_name.as_deref() != Some(file) {
            return file.to_owned();
        }
        display_path(&self.path(file), &self.directory, PathStyle::CURRENT)
    }

    /// Whether a file came with stdin.
    pub fn is_piped(&self, file: &str) -> bool {
        self.piped.contains_key(file)
    }

    /// Whether a file can be read only once: a pipe. There is nothing to write back to.
    pub fn is_pipe(&self, file: &str) -> bool {
        self.once.contains_key(file)
    }

    /// The directory of all that was loaded.
    pub fn base(&self) -> &Path {
        Path::new(&self.base)
    }

    /// A file's text once more: closed files keep none. Nothing if it is gone meanwhile.
    pub fn text(&self, file: &str) -> Option<Arc<str>> {
        match self.piped.get(file).or_else(|| self.once.get(file)) {
            Some(text) => Some(Arc::clone(text)),
            None => read(Path::new(&self.path(file))).ok().map(Arc::from),
        }
    }

    /// The absolute path of a file; that of a name which came with stdin leads nowhere.
    pub fn path(&self, file: &str) -> String {
        join_path(&self.base, file, PathStyle::CURRENT)
    }
}

/// Loads the projects around the paths.
pub fn load(request: Request<'_>) -> Loaded {
    let here = [request.root.unwrap_or(Path::new(".")).to_owned()];
    let paths = if request.paths.is_empty() { &here } else { request.paths };
    let is_stdin = |path: &PathBuf| path.as_os_str() == "-";
    let directory = roots::absolute(request.directory, Path::new(""));
    let mut problems = Vec::new();
    let mut asked = Vec::new();
    for path in paths.iter().filter(|path| !is_stdin(path)) {
        let full = roots::absolute(&directory, path);
        match fs::metadata(&full) {
            Ok(data) => asked.push(roots::Asked { path: full, is_directory: data.is_dir() }),
            Err(error) => {
                let message = match error.kind() {
                    io::ErrorKind::NotFound => NO_SUCH_FILE.to_owned(),
                    _ => format!("cannot be read: {error}"),
                };
                problems.push(Problem { file: shown(&full, &directory), message });
            }
        }
    }
    if let Some(root) = request.root.map(|root| roots::absolute(&directory, root))
        && !root.is_dir()
    {
        problems.push(Problem { file: shown(&root, &directory), message: "the root is no directory".into() });
    }
    let reads_stdin = paths.iter().any(is_stdin);
    let stdin_path = request.stdin_name.filter(|_| reads_stdin).map(|name| roots::absolute(&directory, name));
    let around = stdin_path.iter().map(|path| roots::Asked { path: path.clone(), is_directory: false });
    asked.extend(around);
    let projects = roots::projects(&directory, &asked, request.root);
    asked.truncate(asked.len() - usize::from(stdin_path.is_some()));
    let mut loaded = Loaded {
        workspace: Workspace::default(),
        reported: Vec::new(),
        problems,
        base: text_of(&projects.base),
        directory: text_of(&directory),
        piped: BTreeMap::new(),
        once: BTreeMap::new(),
        stdin_name: stdin_path.and_then(|path| name(&path, &projects.base)),
    };
    if let Some(settings) = settings_above(&projects.base) {
        loaded.workspace.set_defaults(settings);
    }
    loaded.read_files(&projects, &asked);
    if reads_stdin {
        match request.stdin {
            Some(stdin) => loaded.read_stdin(stdin),
            None => loaded.read_stdin(&mut io::stdin().lock()),
        }
    }
    loaded.workspace.set_roots(projects.borders());
    let snapshot = loaded.workspace.snapshot();
    loaded.reported.retain(|file| !snapshot.is_excluded(file));
    loaded.reported.sort();
    loaded.reported.dedup();
    loaded.problems.sort();
    loaded.problems.dedup();
    loaded
}

/// The nearest settings at or above the directory of all that is loaded: they stand where no nearer ones do.
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
    fn read_files(&mut self, projects: &roots::Projects, asked: &[roots::Asked]) {
        let (selected, errors) = walk::select(projects, asked);
        for (path, message) in errors {
            self.problems.push(Problem { file: shown(&path, Path::new(&self.directory)), message });
        }
        let read: Vec<_> = selected
            .into_par_iter()
            .map(|(path, is_asked)| match name(&path, &projects.base) {
                Some(name) => {
                    let file = read(&path).map(|text| {
                        let file = File::read(&name, &text);
                        (file, (!path.is_file()).then(|| text.into()))
                    });
                    Ok((name, is_asked, file))
                }
                None => Err((path, is_asked)),
            })
            .collect();
        for read in read {
            let (name, is_asked, file) = match read {
                Ok(read) => read,
                Err((path, is_asked)) => {
                    if is_asked {
                        let file = shown(&path, Path::new(&self.directory));
                        self.problems.push(Problem { file, message: "its path is not UTF-8; rename it".into() });
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
                    if is_asked && !is_settings {
                        self.reported.push(name);
                    }
                }
                // Settings that cannot be read change what is reported elsewhere, so they always count.
                Err(message) if is_asked || is_settings => {
                    self.problems.push(Problem { file: self.display(&name), message });
                }
                Err(_) => {}
            }
        }
    }

    fn read_stdin(&mut self, stdin: &mut dyn Read) {
        match decoded(stdin) {
            Ok(text) => {
                let unnamed = self.stdin_name.clone().unwrap_or_else(|| stdin::NAME.into());
                for (name, text) in stdin::named(text, &unnamed) {
                    self.workspace.set_editor(&name, File::read(&name, &text));
                    self.reported.push(Arc::clone(&name));
                    self.piped.insert(name, text.into());
                }
            }
            Err(message) => self.problems.push(Problem { file: stdin::NAME.into(), message }),
        }
    }
}

/// The text of a file, or what to tell about it.
pub fn read(path: &Path) -> Result<String, String> {
    let cannot = |error: io::Error| format!("cannot be read: {error}");
    let size = fs::metadata(path).map_err(cannot)?.len();
    if size > MAX_SIZE {
        return Err(too_large());
    }
    text_in(&mut fs::File::open(path).map_err(cannot)?, usize::try_from(size).unwrap_or_default())
}

/// The text of a stream, or what to tell about it.
pub fn decoded(stream: &mut dyn Read) -> Result<String, String> {
    text_in(stream, 0)
}

/// The text of a stream of about so many bytes. No more is read than counts: a device may never end.
fn text_in(stream: &mut dyn Read, size: usize) -> Result<String, String> {
    // One byte more, to see that it ends.
    let mut bytes = Vec::with_capacity(size + 1);
    stream.take(MAX_SIZE + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    decode(bytes)
}

fn decode(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() as u64 > MAX_SIZE {
        return Err(too_large());
    }
    let wide = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let hint = if wide { "; it looks like UTF-16, save it as UTF-8" } else { "" };
        format!("not UTF-8: the byte at offset {offset} fits no character{hint}")
    })
}

fn too_large() -> String {
    format!("larger than {} MB; it is not read. Split it, or exclude it in {SETTINGS_FILE}", MAX_SIZE / (1024 * 1024))
}

/// The name of a file in the workspace.
fn name(path: &Path, base: &Path) -> Option<Arc<str>> {
    relative_path(path.to_str()?, base.to_str()?, PathStyle::CURRENT).map(Arc::from)
}

fn shown(path: &Path, directory: &Path) -> String {
    display_path(&text_of(path), &text_of(directory), PathStyle::CURRENT)
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
