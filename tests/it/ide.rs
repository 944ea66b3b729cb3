//! The suites in `fixtures/ide`, one a feature: headings are cases, fences are files, `$0` is the cursor, and the last
//! fence of a case (`~~~`) is what the feature answers. `UPDATE=1` rewrites it.
//!
//! A fence's info names the file (`yaml web.yaml`); `crlf` behind it gives the file Windows line ends.

mod features;
mod robust;
mod speed;
mod styles;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use podlens::diagnostic::{Edit, Location};
use podlens::ide::Analysis;
use podlens::resolve::Resolver;
use podlens::rules::{ParsedText, Sources};
use podlens::text::Span;
use podlens::workspace::{File, Snapshot, Workspace};

/// Some files, one of them with a cursor.
pub(crate) struct Fixture {
    pub(crate) title: String,
    /// Texts without cursors.
    pub(crate) files: BTreeMap<String, String>,
    /// The file with the cursor, or the first.
    pub(crate) file: Arc<str>,
    /// The cursors; a second one ends a range.
    pub(crate) cursors: Vec<usize>,
    snapshot: Snapshot,
    sources: Texts,
}

/// Texts and trees of a fixture.
struct Texts(BTreeMap<String, Arc<ParsedText>>);

impl Sources for Texts {
    fn source(&self, path: &str) -> Option<Arc<ParsedText>> {
        self.0.get(path).cloned()
    }
}

impl Fixture {
    /// Reads files in which `$0` is the cursor.
    pub(crate) fn new(title: &str, marked: &[(String, String)]) -> Self {
        let mut files = BTreeMap::new();
        let (mut file, mut cursors) = (marked.first().map_or("", |(path, _)| path), Vec::new());
        for (path, text) in marked {
            let mut parts = text.split("$0");
            let mut plain = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                file = path;
                cursors.push(plain.len());
                plain.push_str(part);
            }
            files.insert(path.clone(), plain);
        }
        let mut workspace = Workspace::default();
        for (path, text) in &files {
            workspace.set_disk(path, File::read_whole(path, text));
        }
        let snapshot = workspace.snapshot();
        let source = |path: &str, text: &str| {
            let known = snapshot.file(path).expect("a file of the fixture");
            Arc::new(ParsedText::new(known, text.into()))
        };
        let sources = Texts(files.iter().map(|(path, text)| (path.clone(), source(path, text))).collect());
        Self { title: title.into(), file: file.into(), cursors, files: files.clone(), snapshot, sources }
    }

    /// Lets a feature look at it.
    pub(crate) fn analysis<T>(&self, look: impl FnOnce(&Analysis<'_>) -> T) -> T {
        let resolver = Resolver::new(&self.snapshot, None);
        look(&Analysis { snapshot: &self.snapshot, resolver: &resolver, sources: &self.sources })
    }

    /// The cursor.
    pub(crate) fn offset(&self) -> usize {
        *self.cursors.first().unwrap_or_else(|| panic!("{}: no cursor", self.title))
    }

    /// The text of the file with the cursor.
    pub(crate) fn text(&self) -> &str {
        &self.files[&*self.file]
    }

    /// `web.yaml:3:5 text`, with the file left out for the one with the cursor.
    pub(crate) fn place(&self, location: &Location) -> String {
        let place = self.snapshot.file(&location.file).expect("a known file").lines.line_column(location.span.start);
        let file = if location.file == self.file { String::new() } else { format!("{}:", location.file) };
        let text = &self.files[&*location.file][location.span.range()];
        let text = text.lines().next().unwrap_or_default();
        format!("{file}{}:{} {text}", place.line, place.column).trim_end().to_owned()
    }

    /// See [`Fixture::place`].
    pub(crate) fn here(&self, span: Span) -> String {
        self.place(&Location { file: Arc::clone(&self.file), span })
    }

    /// What some edits change, as a unified diff of all files.
    pub(crate) fn diff(&self, edits: &[Edit]) -> String {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by(|a, b| b.location.cmp(&a.location));
        let mut result = self.files.clone();
        for edit in edits {
            let text = result.get_mut(&*edit.location.file).expect("an edit of a file of the fixture");
            text.replace_range(edit.location.span.range(), &edit.text);
        }
        let mut shown = String::new();
        for (path, old) in &self.files {
            if *old != result[path] {
                let diff = similar::TextDiff::from_lines(old, &result[path]);
                let _ = write!(shown, "{}", diff.unified_diff().context_radius(0).header(path, path));
            }
        }
        shown.lines().filter(|line| !line.starts_with("@@")).fold(String::new(), |shown, line| shown + line + "\n")
    }
}

/// Runs the suite of a feature.
pub(crate) fn check(feature: &str, answer: impl Fn(&Fixture) -> String) {
    let path = folder().join(format!("{feature}.md"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut rewritten = text.clone();
    let (mut failures, mut cases) = (String::new(), 0);
    for case in cases_of(&text) {
        cases += 1;
        let fixture = Fixture::new(&case.title, &case.files);
        let answer = answer(&fixture).replace('\r', "␍");
        let answer = if answer.is_empty() { "nothing\n".to_owned() } else { format!("{}\n", answer.trim_end()) };
        if answer != case.expected {
            let _ = writeln!(failures, "## {}\nexpected:\n{}\nfound:\n{answer}", case.title, case.expected);
            let title = format!("\n## {}\n", case.title);
            let start = rewritten.find(&title).expect("the case stands in its suite") + title.len();
            let end = rewritten[start..].find("\n## ").map_or(rewritten.len(), |len| start + len + 1);
            let body = rewritten[start..end].split("\n~~~").next().unwrap_or_default().trim_end().to_owned();
            let gap = if end == rewritten.len() { "" } else { "\n" };
            rewritten.replace_range(start..end, &format!("{body}\n\n~~~text\n{answer}~~~\n{gap}"));
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, rewritten).expect("writing a suite");
    } else {
        assert!(failures.is_empty(), "{}\n{failures}", path.display());
    }
    assert!(cases > 0, "no cases in {}", path.display());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ide")
}

struct Case {
    title: String,
    files: Vec<(String, String)>,
    expected: String,
}

fn cases_of(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            cases.push(Case { title: title.trim().into(), files: Vec::new(), expected: String::new() });
        }
        let Some(case) = cases.last_mut() else { continue };
        if line.starts_with("~~~") {
            case.expected = lines.by_ref().take_while(|line| line.trim_end() != "~~~").collect();
        } else if let Some(info) = line.strip_prefix("```") {
            let mut body: String = lines.by_ref().take_while(|line| line.trim_end() != "```").collect();
            let mut words = info.split_whitespace().skip(1);
            let path = words.next().unwrap_or("web.yaml").to_owned();
            for flag in words {
                match flag {
                    "crlf" => body = body.replace('\n', "\r\n"),
                    // The file ends where the cursor stands.
                    "open" => body.truncate(body.trim_end_matches('\n').len()),
                    other => panic!("{}: what is `{other}`?", case.title),
                }
            }
            case.files.push((path, body));
        }
    }
    cases
}
