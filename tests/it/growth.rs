//! The work for an input grows as its text does: no step is done for every pair of two things that are written.
//!
//! Steps are counted, not timed, so that the result is the same on every machine. The benchmark `lint` measures the same
//! inputs, larger, with the program.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use podlens::resolve::Resolver;
use podlens::rules::{self, SettingsLevels, TextProvider};
use podlens::work::{Counts, Step, counted};
use podlens::workspace::{File, ParsedText, Snapshot, Workspace};

use crate::large_inputs::{LARGE_INPUTS, LargeInput};
use crate::monorepo::Monorepo;

/// How much more work an input that is four times as large may need.
const GROWTH: f64 = 4.4;
/// Fewer steps than this are not compared.
const FEW: u64 = 500;
/// The smaller of the two sizes.
const SIZE: usize = 40;

/// Not compared yet: something reads all presets for each preset.
const NOT_LINEAR: &str = "monorepo with presets";

#[test]
fn work_grows_as_the_text_does() {
    let mut problems = Vec::new();
    for input in LARGE_INPUTS {
        let of = |size| check((input.files)(size).into_iter());
        compare(input.name, SIZE, of(SIZE), of(4 * SIZE), &mut problems);
        compare_findings(input, &mut problems);
    }
    type Variant = (&'static str, fn(usize) -> Monorepo);
    let variants: [Variant; 3] = [
        ("monorepo", |files| Monorepo::of_files(files, true, true)),
        ("monorepo without namespaces", |files| Monorepo::of_files(files, false, true)),
        ("monorepo with presets", |files| Monorepo { presets: files / 10, ..Monorepo::of_files(files, true, true) }),
    ];
    for (name, of) in variants.into_iter().filter(|(name, _)| *name != NOT_LINEAR) {
        let [small, large] = [120, 480].map(|files| {
            // CRDs are passed over, and only their length matters.
            let files = of(files).files().filter(|it| !it.path.ends_with("/crd.yaml"));
            check(files.map(|it| (it.path, it.text)))
        });
        compare(name, 120, small, large, &mut problems);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn compare(name: &str, size: usize, small: Checked, large: Checked, problems: &mut Vec<String>) {
    for step in Step::ALL {
        let (few, many) = (small.steps[step as usize], large.steps[step as usize]);
        let growth = many as f64 / few.max(1) as f64;
        if many > FEW && growth > GROWTH {
            problems.push(format!(
                "{name}: {step:?} {few} times for {size}, {many} times ({growth:.1}x) for four times as much"
            ));
        }
    }
}

fn compare_findings(input: &LargeInput, problems: &mut Vec<String>) {
    let mut found = check((input.files)(SIZE).into_iter()).found;
    let mut expected: Vec<_> =
        (input.findings)(SIZE).into_iter().flat_map(|(rule, number)| vec![rule; number]).collect();
    found.sort_unstable();
    expected.sort_unstable();
    if found != expected {
        problems.push(format!("{}: {} findings instead of {}: {found:?}", input.name, found.len(), expected.len()));
    }
}

/// The rules of the findings, and the steps that reading and checking took.
struct Checked {
    found: Vec<&'static str>,
    steps: Counts,
}

/// Reads and checks files in memory, on this thread.
fn check(files: impl Iterator<Item = (String, String)>) -> Checked {
    let files: BTreeMap<String, String> = files.collect();
    let (found, steps) = counted(|| {
        let mut workspace = Workspace::default();
        for (path, text) in &files {
            workspace.set_disk(path, File::read(path, text));
        }
        let snapshot = workspace.snapshot();
        let resolver = Resolver::new(&snapshot, None);
        let texts = Texts { files: &files, snapshot: &snapshot, parsed: Mutex::default() };
        let levels = SettingsLevels(&snapshot);
        let check = |path: &String| rules::check(&snapshot, &resolver, &Arc::from(&**path), &texts, &levels);
        files.keys().flat_map(check).map(|it| it.rule).collect()
    });
    Checked { found, steps }
}

/// Texts and trees, each parsed once, as in `lint`.
struct Texts<'t> {
    files: &'t BTreeMap<String, String>,
    snapshot: &'t Snapshot,
    parsed: Mutex<HashMap<String, Option<Arc<ParsedText>>>>,
}

impl TextProvider for Texts<'_> {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        let parse = || Some(Arc::new(ParsedText::new(self.snapshot.file(path)?, Arc::from(&**self.files.get(path)?))));
        let mut parsed = self.parsed.lock().expect("no check panics");
        parsed.entry(path.to_owned()).or_insert_with(parse).clone()
    }
}
