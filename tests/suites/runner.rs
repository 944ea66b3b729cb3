//! Makes a test of each heading, compares the case with its actual results, and writes them with `UPDATE=1`.

use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Failed, Trial};

use crate::command::project;
use crate::fixture::{Case, Suite};
use crate::labels::label_changes;

/// A folder of suites that are checked in the same way.
pub(crate) struct Folder {
    /// Its name below `fixtures`.
    pub(crate) name: &'static str,
    /// The languages of the blocks that hold results.
    pub(crate) results: &'static [&'static str],
    pub(crate) has_labels: bool,
    pub(crate) has_cursors: bool,
    /// Gives the case, from a suite of this name, with its actual labels and results. An error is a failure that
    /// `UPDATE=1` cannot repair.
    pub(crate) check: fn(suite: &str, case: &Case) -> Result<Case, String>,
}

/// The file of a suite, of which tests may rewrite their cases.
struct SuiteFile {
    path: PathBuf,
    head: String,
    cases: Mutex<Vec<String>>,
}

impl SuiteFile {
    fn rewrite(&self, case: usize, text: String) {
        let mut cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        cases[case] = text;
        let text = format!("{}{}", self.head, cases.concat());
        // Other tests read the file meanwhile, so it is replaced as a whole.
        let new = self.path.with_extension("md.new");
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, &self.path));
        written.unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
    }
}

/// The tests of a folder.
pub(crate) fn trials(folder: Folder) -> Vec<Trial> {
    let folder: &'static Folder = Box::leak(Box::new(folder));
    let mut all = Vec::new();
    for path in entries(folder.name) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match read(folder, &path) {
            Ok(suite) => add(folder, path, &name, suite, &mut all),
            Err(message) => {
                all.push(Trial::test(format!("{}::{name}", folder.name), move || Err(message.into())));
            }
        }
    }
    all
}

/// What is in a folder of `fixtures`.
pub(crate) fn entries(folder: &str) -> Vec<PathBuf> {
    let directory = project().join("fixtures").join(folder);
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a fixture is readable").path()).collect();
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "new"));
    paths.sort();
    paths
}

/// Reads a suite and checks that it has only what its folder uses.
pub(crate) fn read(folder: &Folder, path: &Path) -> Result<Suite, String> {
    let shown = shown(path);
    if path.extension().is_none_or(|extension| extension != "md") {
        return Err(format!("{shown}: expected a suite, `NAME.md`: see fixtures/README.md"));
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
    let suite = Suite::parse(&shown, &text, |rule| podlens::rules::find_rule(rule).is_some())?;
    if suite.cases.is_empty() {
        return Err(format!("{shown}: no test: expected a `## ` heading"));
    }
    for case in &suite.cases {
        for file in case.files() {
            if !folder.has_cursors && !file.cursors.is_empty() {
                return Err(format!("{shown}:{}: `$0` in `{}`: no cursor is used here", file.line, file.path));
            }
            if !folder.has_labels && !file.labels.is_empty() {
                return Err(format!("{shown}:{}: a label in `{}`: no finding is shown here", file.line, file.path));
            }
        }
        if case.files().filter(|file| !file.cursors.is_empty()).count() > 1 {
            return Err(format!("{shown}:{}: `$0` in two files: expected one", case.line));
        }
        if let Some(result) = case.results().find(|it| !folder.results.contains(&&*it.kind)) {
            let expected = folder.results.join("`, `");
            return Err(format!("{shown}:{}: a `{}` block: expected `{expected}`", result.line, result.kind));
        }
    }
    Ok(suite)
}

/// The path as it is from the root of the repository.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(project()).unwrap_or(path).display().to_string()
}

fn add(folder: &'static Folder, path: PathBuf, suite_name: &str, suite: Suite, all: &mut Vec<Trial>) {
    let cases = suite.cases.iter().map(Case::to_string).collect();
    let file = Arc::new(SuiteFile { path, head: suite.head, cases: Mutex::new(cases) });
    for (number, case) in suite.cases.into_iter().enumerate() {
        let name = format!("{}::{suite_name}::{}", folder.name, case.title);
        let (file, suite_name, test) = (Arc::clone(&file), suite_name.to_owned(), name.clone());
        let run = move || {
            let checked = catch_unwind(AssertUnwindSafe(|| (folder.check)(&suite_name, &case)));
            let failure = match checked.unwrap_or_else(|panic| Err(panicked(&*panic))) {
                Ok(actual) => {
                    let labels = label_changes(&case, &actual);
                    let (expected, actual) = (case.to_string(), actual.to_string());
                    if expected == actual {
                        return Ok(());
                    }
                    let accepting = if labels.is_empty() { Update::Results } else { Update::Labels };
                    if Update::requested().is_some_and(|it| it >= accepting) {
                        file.rewrite(number, actual);
                        announce(&format!("updated: {}:{}: {}", shown(&file.path), case.line, case.title));
                        return Ok(());
                    }
                    format!("{}\n{labels}{}", difference(&expected, &actual), accepting.command(&test))
                }
                Err(failure) => failure,
            };
            let place = format!("{}:{}: {}", shown(&file.path), case.line, case.title);
            Err(Failed::from(format!("{place}\n{failure}\n{}", repeat(&test))))
        };
        all.push(Trial::test(name, run));
    }
}

/// What a run with `UPDATE` writes into the suites.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Update {
    /// `UPDATE=1`: results, and the columns and messages of labels. Where findings are is decided by the author of a
    /// case, so no label is added or removed.
    Results,
    /// `UPDATE=labels`: also labels that are missing or have no finding. For one case at a time, after its failure has
    /// shown them.
    Labels,
}

impl Update {
    pub(crate) fn requested() -> Option<Self> {
        let value = std::env::var_os("UPDATE")?;
        Some(if value == "labels" { Self::Labels } else { Self::Results })
    }

    /// How to accept the actual result of a test.
    fn command(self, test: &str) -> String {
        let (when, value) = match self {
            Self::Results => ("To accept the actual result:  ", "1"),
            Self::Labels => ("UPDATE=1 adds and removes no labels. If these changes are right:\n    ", "labels"),
        };
        format!("{when}UPDATE={value} cargo test --test suites -- --exact {}", quoted(test))
    }
}

/// Prints a line that is not a failure.
#[expect(clippy::print_stderr, reason = "a test that passes has no other output")]
pub(crate) fn announce(line: &str) {
    eprintln!("{line}");
}

fn difference(expected: &str, actual: &str) -> String {
    let diff = similar::TextDiff::from_lines(expected, actual);
    diff.unified_diff().context_radius(4).header("expected", "actual").to_string()
}

fn repeat(test: &str) -> String {
    format!("To run only this test:        cargo test --test suites -- --exact {}", quoted(test))
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("no message"))
}
