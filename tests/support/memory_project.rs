//! A project in memory with a cursor, analysed as an editor does it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use podlens::diagnostic::{Edit, Location};
use podlens::ide::Analysis;
use podlens::resolve::Resolver;
use podlens::rules::TextProvider;
use podlens::text::Span;
use podlens::workspace::ParsedText;
use podlens::workspace::{File, Snapshot, Workspace};

use crate::findings::with_edits;
use crate::fixture;

/// Some files, one of them with a cursor.
pub(crate) struct MemoryProject {
    pub(crate) title: String,
    /// Texts without cursors.
    pub(crate) files: BTreeMap<String, String>,
    /// The file with the cursor, or the first.
    pub(crate) file: Arc<str>,
    /// The offsets of the cursors; a second one ends a selection.
    pub(crate) cursors: Vec<usize>,
    snapshot: Snapshot,
    sources: Texts,
}

/// The texts of the files with their trees.
struct Texts(BTreeMap<String, Arc<ParsedText>>);

impl TextProvider for Texts {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        self.0.get(path).cloned()
    }
}

impl MemoryProject {
    /// A project with these files. The title is for messages.
    pub(crate) fn new(title: &str, written: &[fixture::File]) -> Self {
        let files: BTreeMap<String, String> = written.iter().map(|it| (it.path.clone(), it.text.clone())).collect();
        let marked = written.iter().rev().find(|file| !file.cursors.is_empty()).or(written.first());
        let (file, cursors) = marked.map_or(("", Vec::new()), |file| (&*file.path, file.cursors.clone()));
        let mut workspace = Workspace::default();
        for (path, text) in &files {
            workspace.set_disk(path, File::read_whole(path, text));
        }
        let snapshot = workspace.snapshot();
        let source = |path: &str, text: &str| {
            let known = snapshot.file(path).expect("all files are in the snapshot");
            Arc::new(ParsedText::new(known, text.into()))
        };
        let sources = Texts(files.iter().map(|(path, text)| (path.clone(), source(path, text))).collect());
        Self { title: title.into(), file: file.into(), cursors, files, snapshot, sources }
    }

    /// Calls a feature with the analysis of the project.
    pub(crate) fn analysis<T>(&self, feature: impl FnOnce(&Analysis<'_>) -> T) -> T {
        let resolver = Resolver::new(&self.snapshot, None);
        feature(&Analysis { snapshot: &self.snapshot, resolver: &resolver, texts: &self.sources })
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
        let place = self
            .snapshot
            .file(&location.file)
            .expect("all files are in the snapshot")
            .lines
            .line_column(location.span.start);
        let file = if location.file == self.file { String::new() } else { format!("{}:", location.file) };
        let text = &self.files[&*location.file][location.span.range()];
        let text = text.lines().next().unwrap_or_default();
        format!("{file}{}:{} {text}", place.line, place.column).trim_end().to_owned()
    }

    /// See [`MemoryProject::place`].
    pub(crate) fn here(&self, span: Span) -> String {
        self.place(&Location { file: Arc::clone(&self.file), span })
    }

    /// The changes of some edits, as a unified diff of all files without line numbers.
    pub(crate) fn diff(&self, edits: &[Edit]) -> String {
        let result = with_edits(&self.files, edits);
        let mut shown = String::new();
        for (path, new) in &result {
            let old = self.files.get(path).map_or("", String::as_str);
            if old != new {
                let diff = similar::TextDiff::from_lines(old, new);
                let _ = write!(shown, "{}", diff.unified_diff().context_radius(0).header(path, path));
            }
        }
        shown.lines().filter(|line| !line.starts_with("@@")).fold(String::new(), |shown, line| shown + line + "\n")
    }
}
