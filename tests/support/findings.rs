//! Runs the rules on files in memory, and applies their fixes.

use std::collections::BTreeMap;
use std::sync::Arc;

use podlens::diagnostic::{Diagnostic, Edit, Fix};
use podlens::resolve::Resolver;
use podlens::rules::{self, Levels, SettingsLevels, TextProvider};
use podlens::workspace::ParsedText;
use podlens::workspace::{File, Workspace};

/// Paths and texts.
pub(crate) type Files = BTreeMap<String, String>;

/// The files as the rules read them.
struct Texts(BTreeMap<String, Arc<ParsedText>>);

impl TextProvider for Texts {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        self.0.get(path).cloned()
    }
}

/// The findings in some files. A `podlens.yaml` among them has the settings.
pub(crate) fn lint(files: &Files) -> Vec<Diagnostic> {
    lint_with(files, File::read, None)
}

/// The findings in files that are read by this function, with levels other than those of the settings.
pub(crate) fn lint_with(files: &Files, read: fn(&str, &str) -> File, levels: Option<&dyn Levels>) -> Vec<Diagnostic> {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, read(path, text));
    }
    let snapshot = workspace.snapshot();
    let resolver = Resolver::new(&snapshot, None);
    let text = |path: &str, text: &str| {
        let file = snapshot.file(path).expect("all files are in the snapshot");
        Arc::new(ParsedText::new(file, text.into()))
    };
    let texts = Texts(files.iter().map(|(path, it)| (path.clone(), text(path, it))).collect());
    let paths: Vec<Arc<str>> = snapshot.files().map(|(path, _)| Arc::clone(path)).collect();
    let settings = SettingsLevels(&snapshot);
    let check = |path| rules::check(&snapshot, &resolver, path, &texts, levels.unwrap_or(&settings));
    paths.iter().flat_map(check).collect()
}

/// The fixes of one rank (0 is the first of each finding) that can be applied together, because no two overlap.
pub(crate) fn fixes_of_rank(findings: &[Diagnostic], rank: usize) -> Vec<(&Diagnostic, &Fix)> {
    let mut fixes: Vec<(&Diagnostic, &Fix)> = Vec::new();
    for finding in findings {
        let Some(fix) = finding.fixes.iter().chain(&finding.choices).nth(rank) else { continue };
        let overlaps = |a: &Edit, b: &Edit| {
            let (a, b) = (&a.location, &b.location);
            a.file == b.file
                && a.span.start < b.span.end.max(b.span.start + 1)
                && b.span.start < a.span.end.max(a.span.start + 1)
        };
        let mut others = fixes.iter().flat_map(|(_, other)| &other.edits);
        if !others.any(|other| fix.edits.iter().any(|edit| overlaps(edit, other))) {
            fixes.push((finding, fix));
        }
    }
    fixes
}

/// The files after some edits, which do not overlap.
pub(crate) fn with_edits<'e>(files: &Files, edits: impl IntoIterator<Item = &'e Edit>) -> Files {
    let mut edits: Vec<&Edit> = edits.into_iter().collect();
    edits.sort_by(|a, b| b.location.cmp(&a.location));
    let mut result = files.clone();
    for edit in edits {
        // An edit of a file that does not exist creates it.
        let text = result.entry(edit.location.file.to_string()).or_default();
        text.replace_range(edit.location.span.range(), &edit.text);
    }
    result
}
