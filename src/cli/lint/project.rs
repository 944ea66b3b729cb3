//! The loaded files of a `lint` run, with fixes that are not written yet.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use crate::build;
use crate::cli::lint::Arguments;
use crate::cli::lint::fix::StagedFile;
use crate::cli::lint::levels::FlagLevels;
use crate::cli::lint::repository::{Repository, below};
use crate::cli::progress::{Progress, Step};
use crate::cli::selection::{ViewFlag, view_names};
use crate::cli::{Exit, notice};
use crate::diagnostic::{Diagnostic, Location};
use crate::ide::ExcerptText;
use crate::load::{self, Loaded, STDIN_NAME};
use crate::report::{PassedOver, PathsAndRanges, Range, ReportedProblem};
use crate::resolve::Resolver;
use crate::rules::{self, TextProvider};
use crate::text::LineIndex;
use crate::workspace::{FileKind, ParsedText, SETTINGS_FILE, Snapshot};

pub(super) struct Project {
    pub(super) loaded: Loaded,
    /// Files whose text differs from the one on disk.
    pub(super) changed: BTreeMap<Arc<str>, Change>,
    pub(super) repository: Repository,
    /// The directory of the baseline.
    pub(super) baseline: Option<PathBuf>,
    pub(super) progress: Progress,
    /// See [`PathsAndRanges::stable`].
    stable: RefCell<HashMap<String, String>>,
}

/// A text that is not written yet.
pub(super) struct Change {
    pub(super) old: Arc<str>,
    pub(super) new: Arc<str>,
}

/// The findings of a run.
pub(super) struct Checked {
    /// In the order of files, positions and rules.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether a file could not be checked.
    pub(super) failed: bool,
}

impl Project {
    pub(super) fn load(request: load::Request<'_>) -> Self {
        let directory = request.directory;
        let progress = Progress::new();
        let loaded = load::load_with_progress(request, &progress);
        progress.end();
        let repository = Repository::find(loaded.base(), directory);
        Self { loaded, changed: BTreeMap::new(), repository, baseline: None, progress, stable: RefCell::default() }
    }

    /// The text of a file as it is now.
    pub(super) fn text(&self, file: &str) -> Option<Arc<str>> {
        text(&self.loaded, &self.changed, file)
    }

    /// Texts for the excerpts of a report. The last few are cached: findings of one file follow each other and refer to
    /// few other files.
    pub(super) fn excerpts(&self) -> impl Fn(&str) -> Option<Arc<ExcerptText>> {
        const CACHED: usize = 8;
        let recent: RefCell<VecDeque<(String, Option<Arc<ExcerptText>>)>> = RefCell::default();
        move |file| {
            let mut recent = recent.borrow_mut();
            if let Some((_, text)) = recent.iter().find(|(name, _)| name == file) {
                return text.clone();
            }
            let text = self.excerpt(file).map(Arc::new);
            recent.push_front((file.to_owned(), text.clone()));
            recent.truncate(CACHED);
            text
        }
    }

    /// The text of a file with the values of Secrets hidden, unless the settings allow showing them.
    fn excerpt(&self, file: &str) -> Option<ExcerptText> {
        let text = self.text(file)?;
        let snapshot = self.loaded.workspace.snapshot();
        Some(match snapshot.file(file) {
            Some(known) if !snapshot.settings(file).show_secrets => ExcerptText::redacted(known, text),
            _ => ExcerptText::open(text),
        })
    }

    /// Changes the text of a file in memory.
    pub(super) fn change(&mut self, file: &Arc<str>, old: Arc<str>, new: Arc<str>) {
        self.loaded.change(file, &new);
        match self.changed.get_mut(file) {
            Some(change) if change.old == new => drop(self.changed.remove(file)),
            Some(change) => change.new = new,
            None => drop(self.changed.insert(Arc::clone(file), Change { old, new })),
        }
    }

    /// The inputs that could not be read.
    pub(super) fn problems(&self) -> Vec<ReportedProblem> {
        let problems = self.loaded.problems.iter().map(|it| ReportedProblem {
            problem: it.clone(),
            repository_file: match &*it.file {
                STDIN_NAME => it.file.clone(),
                file => self.repository.relative(&self.loaded.absolute(file)),
            },
        });
        problems.collect()
    }

    /// The number of documents in the reported files.
    pub(super) fn documents(&self) -> usize {
        let snapshot = self.loaded.workspace.snapshot();
        self.loaded.reported.iter().filter_map(|file| snapshot.file(file)).map(|file| file.document_count).sum()
    }

    /// The number of Kubernetes objects in the reported files.
    pub(super) fn objects(&self) -> usize {
        let snapshot = self.loaded.workspace.snapshot();
        self.loaded.reported.iter().filter_map(|file| snapshot.file(file)).map(|file| file.objects.len()).sum()
    }

    /// What is not checked, by reason.
    pub(super) fn passed_over(&self) -> Vec<PassedOver> {
        let counts = self.loaded.passed_over;
        let snapshot = self.loaded.workspace.snapshot();
        let is_other_template =
            |file: &&Arc<str>| snapshot.file(file).is_some_and(|it| it.kind == FileKind::OtherTemplate);
        let templates = self.loaded.reported.iter().filter(is_other_template).count();
        let all = [
            (counts.ignored_files, counts.ignored_directories, "ignored by git"),
            (counts.hidden_files, 0, "with a hidden name"),
            (0, counts.tool_directories, "of tools, such as `node_modules`"),
            (counts.excluded_files, 0, "excluded by the settings"),
            (templates, 0, "written for other template tools"),
        ];
        let some = all.into_iter().filter(|(files, directories, _)| files + directories > 0);
        some.map(|(files, directories, why)| PassedOver { why, files, directories }).collect()
    }

    /// Prints a notice for each chosen view that no selected file is in.
    pub(super) fn report_unmatched_views(&self, chosen: &ViewFlag) -> Exit {
        if !chosen.is_given() {
            return Exit::Clean;
        }
        let snapshot = self.loaded.workspace.snapshot();
        let files = self.loaded.reported.iter().filter_map(|it| snapshot.entry(it));
        let all: Vec<_> = files.flat_map(|(path, file)| build::all_views(&snapshot, path, file)).collect();
        chosen.report_unmatched(&view_names(&all))
    }

    /// Checks every selected file, and the settings.
    pub(super) fn check(&self, arguments: &Arguments) -> Checked {
        let snapshot = self.loaded.workspace.snapshot();
        let resolver = Resolver::new(&snapshot, arguments.project.kubernetes);
        let levels = FlagLevels { flags: &arguments.levels, snapshot: &snapshot };
        let files = &self.loaded.reported;
        let changed = &self.changed;
        let loaded = &self.loaded;
        let progress = &self.progress;
        progress.begin(Step::Check, Some(files.len()));
        let check = |file: &Arc<str>| -> Result<Vec<Diagnostic>, Arc<str>> {
            let sources = FileSources { snapshot: &snapshot, loaded, changed, known: Mutex::default() };
            let check = || rules::check(&snapshot, &resolver, file, &sources, &levels);
            let found = catch_unwind(AssertUnwindSafe(check));
            progress.advance();
            found.map_err(|_| Arc::clone(file))
        };
        let found: Vec<_> = files.par_iter().map(check).collect();
        progress.hide();
        let mut checked = Checked { diagnostics: self.settings_mistakes(), failed: false };
        for found in found {
            match found {
                Ok(found) => checked.diagnostics.extend(found),
                Err(file) => {
                    notice(format_args!(
                        "{}: internal error while checking this file; the other files are checked",
                        self.loaded.display(&file)
                    ));
                    checked.failed = true;
                }
            }
        }
        if arguments.view.is_given() {
            checked.diagnostics.retain(|it| holds_in_view(&snapshot, it, &arguments.view));
        }
        checked.diagnostics.sort_by(|a, b| (&a.location, a.rule, &a.message).cmp(&(&b.location, b.rule, &b.message)));
        checked.diagnostics.dedup();
        progress.end();
        checked
    }

    fn settings_mistakes(&self) -> Vec<Diagnostic> {
        let snapshot = self.loaded.workspace.snapshot();
        snapshot.all_settings().flat_map(|it| rules::check_settings(it)).collect()
    }

    /// The new text of a file, ready to be written. The error says why it cannot be written.
    pub(super) fn stage(&self, file: &str, change: &Change) -> Result<StagedFile, String> {
        if self.loaded.is_pipe(file) {
            return Err("it is a pipe".to_owned());
        }
        if self.loaded.text(file).as_ref() != Some(&change.old) {
            return Err("it has changed since it was read".to_owned());
        }
        StagedFile::write(Path::new(&self.loaded.path(file)), &change.new).map_err(|error| error.to_string())
    }
}

/// Whether a finding holds in a chosen view. One without views holds in every view of its file.
fn holds_in_view(snapshot: &Snapshot, finding: &Diagnostic, chosen: &ViewFlag) -> bool {
    if !finding.views.is_empty() {
        return finding.views.iter().any(|it| chosen.contains(it));
    }
    let Some((path, file)) = snapshot.entry(&finding.location.file) else { return false };
    build::all_views(snapshot, path, file).filter_map(|it| it.view_name()).any(|it| chosen.contains(&it))
}

fn text(loaded: &Loaded, changed: &BTreeMap<Arc<str>, Change>, file: &str) -> Option<Arc<str>> {
    changed.get(file).map(|it| Arc::clone(&it.new)).or_else(|| loaded.text(file))
}

/// Texts and trees while one file is checked.
struct FileSources<'p> {
    snapshot: &'p Snapshot,
    loaded: &'p Loaded,
    changed: &'p BTreeMap<Arc<str>, Change>,
    known: Mutex<HashMap<String, Option<Arc<ParsedText>>>>,
}

impl TextProvider for FileSources<'_> {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let text = text(self.loaded, self.changed, path)?;
            Some(Arc::new(ParsedText::new(self.snapshot.file(path)?, text)))
        };
        known.entry(path.to_owned()).or_insert_with(read).clone()
    }
}

impl PathsAndRanges for Project {
    fn begin_finding(&self) {
        self.progress.advance();
    }

    fn display(&self, file: &str) -> String {
        self.loaded.display(file)
    }

    /// Relative to the repository of the file, else to the checkout of a CI service, to the directory of the settings or to
    /// that of the baseline. Only without all of these, to the working directory.
    fn stable(&self, file: &str) -> String {
        if self.loaded.is_unnamed(file) {
            return file.to_owned();
        }
        let find = || {
            let path = self.loaded.path(file);
            let path = Path::new(&path);
            let above = |mark: &str| path.ancestors().skip(1).find(|it| it.join(mark).exists());
            let checkout = || self.repository.checkout.as_deref().filter(|it| path.starts_with(it));
            let top = above(".git").or_else(checkout).or_else(|| above(SETTINGS_FILE));
            let name = top.or(self.baseline.as_deref()).and_then(|top| below(path.to_str()?, top));
            name.unwrap_or_else(|| self.loaded.display(file))
        };
        self.stable.borrow_mut().entry(file.to_owned()).or_insert_with(find).clone()
    }

    fn in_repository(&self, file: &str) -> String {
        match self.loaded.is_unnamed(file) {
            true => file.to_owned(),
            false => self.repository.relative(&self.loaded.path(file)),
        }
    }

    fn range(&self, location: &Location) -> Range {
        let snapshot = self.loaded.workspace.snapshot();
        match snapshot.file(&location.file) {
            Some(file) => Range::new(location.span, &file.lines),
            // Settings above the workspace.
            None => Range::new(location.span, &LineIndex::new(&self.text(&location.file).unwrap_or_default())),
        }
    }
}
