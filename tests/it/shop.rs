//! The demo workspaces and the linter agree: every marked mistake is found on its line, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use podlens::resolve::Resolver;
use podlens::rules::{self, Levels, Rule};
use podlens::workspace::{File, LintLevel, Workspace};

use crate::rules::Texts;

/// Every rule speaks, also those that are off by default.
struct All;

impl Levels for All {
    fn level(&self, rule: &Rule, _: &str) -> LintLevel {
        rule.level.max(LintLevel::Hint)
    }
}

/// File, line and rule.
type Place = (String, u32, String);

fn found(files: &BTreeMap<String, String>) -> Vec<Place> {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, File::read(path, text));
    }
    let snapshot = workspace.snapshot();
    let resolver = Resolver::new(&snapshot, None);
    let texts = Texts::new(files);
    let mut found = Vec::new();
    for path in files.keys() {
        let path: Arc<str> = path.as_str().into();
        for finding in rules::check(&snapshot, &resolver, &path, &texts, &All) {
            let lines = &snapshot.file(&finding.location.file).expect("a file of the workspace").lines;
            let line = lines.line_column(finding.location.span.start).line;
            found.push((finding.location.file.to_string(), line, finding.rule.to_owned()));
        }
    }
    found.sort();
    found
}

/// What the comments say.
fn marked(files: &BTreeMap<String, String>) -> Vec<Place> {
    let mut marked = Vec::new();
    for (path, text) in files {
        for (line, text) in (2..).zip(text.lines()) {
            let rule = text.trim().strip_prefix("# mistake: ");
            marked.extend(rule.map(|rule| (path.clone(), line, rule.to_owned())));
        }
    }
    marked.sort();
    marked
}

fn files(workspace: &str) -> BTreeMap<String, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(workspace);
    let entries = fs::read_dir(directory).expect("a demo workspace");
    let paths = entries.map(|entry| entry.expect("a fixture is readable").path());
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.map(|path| (name(&path), fs::read_to_string(path).expect("a fixture is text"))).collect()
}

#[test]
fn every_mistake_is_found_and_nothing_else() {
    for workspace in ["shop", "shop-broken", "shop-legacy"] {
        let files = files(workspace);
        // On the line of a mistake whose rule does not exist yet another rule may speak.
        let (marked, without_rule): (Vec<Place>, Vec<Place>) =
            marked(&files).into_iter().partition(|place| rules::rule(&place.2).is_some());
        let is_open = |place: &Place| without_rule.iter().any(|it| (&it.0, it.1) == (&place.0, place.1));
        let found: Vec<Place> = found(&files).into_iter().filter(|place| !is_open(place)).collect();
        assert_eq!(found, marked, "{workspace}");
    }
}
