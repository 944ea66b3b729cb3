//! Measures processing and editing of templates: `cargo bench --bench templates`, with `-- --quick` for fewer rounds.
//!
//! For a template of 1 MB with 500 objects and 200 parameters, it measures processing relative to parsing, and a keystroke
//! in one object with its findings relative to an analysis of the whole text. A budget limits the ratio of two times that
//! are measured alternately in one run; each is the best of several rounds. The exit code is 1 if a budget is exceeded.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use podlens::build::{ProcessOptions, process_template, select_template};
use podlens::resolve::Resolver;
use podlens::rules::{FindingsCache, SettingsLevels, TextProvider, check};
use podlens::syntax;
use podlens::text::Span;
use podlens::workspace::ParsedText;
use podlens::workspace::{Document, File, Snapshot, Workspace};

const OBJECTS: usize = 500;
const PARAMETERS: usize = 200;
const BYTES: usize = 1_000_000;

/// The time to parse and process a template, relative to parsing it.
const PROCESS_BUDGET: f64 = 2.0;

/// The time from a keystroke to the findings of the file, relative to an analysis of the whole text.
const EDIT_BUDGET: f64 = 1.0 / 20.0;

fn main() -> ExitCode {
    let rounds = if std::env::args().any(|it| it == "--quick") { 5 } else { 25 };
    let mut exceeded = Vec::new();
    println!("{:<36}{:>12}{:>12}{:>10}", "1 MB, 500 objects, 200 parameters", "whole", "part", "ratio");
    for (name, text) in [("YAML", template()), ("JSON", json())] {
        let [parse, processed] =
            best(rounds, [&mut || timed(|| syntax::parse(&text)), &mut || timed(|| objects(&text))]);
        row(&format!("{name}: parse, process"), parse, processed, PROCESS_BUDGET, &mut exceeded);
        for (position, at) in [("first", 0), ("middle", OBJECTS / 2), ("last", OBJECTS - 1)] {
            let [full, edit] = editing(&text, at, rounds);
            row(&format!("{name}: analysis, edit in the {position} object"), full, edit, EDIT_BUDGET, &mut exceeded);
        }
    }
    for exceeded in &exceeded {
        println!("budget exceeded: {exceeded}");
    }
    if exceeded.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn row(name: &str, whole: Duration, part: Duration, budget: f64, exceeded: &mut Vec<String>) {
    let ratio = part.as_secs_f64() / whole.as_secs_f64();
    println!("{name:<48}{:>9.2} ms{:>9.2} ms{ratio:>10.3}", millis(whole), millis(part));
    if ratio > budget {
        exceeded.push(format!("{name}: {ratio:.3}, at most {budget:.3}"));
    }
}

/// Parses and processes a template; returns the number of objects, so that the work is not optimized away.
fn objects(text: &str) -> usize {
    let tree = syntax::parse(text);
    let Ok(selected) = select_template(&tree) else { return 0 };
    let outcome = process_template(&selected, &ProcessOptions::default(), &mut |_| 0);
    assert!(outcome.errors.is_empty() && outcome.objects.len() == OBJECTS, "processing the template failed");
    black_box(&outcome.objects).len()
}

/// The state of one open file in the server.
struct Editor {
    workspace: Workspace,
    document: Document,
    path: Arc<str>,
    cache: FindingsCache,
}

struct Open<'e>(&'e Snapshot, &'e Document);

impl TextProvider for Open<'_> {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        Some(self.1.parsed_text_of(self.0.file(path)?))
    }
}

impl Editor {
    fn new(text: &str) -> Self {
        let path: Arc<str> = "template.yaml".into();
        let mut editor = Self {
            workspace: Workspace::default(),
            document: Document::new(&path, text, 0),
            path,
            cache: FindingsCache::default(),
        };
        editor.update();
        editor
    }

    /// Updates the workspace after a change; returns the number of findings.
    fn update(&mut self) -> usize {
        self.workspace.set_editor(&self.path, self.document.file());
        let snapshot = self.workspace.snapshot();
        let sources = Open(&snapshot, &self.document);
        self.cache.check(&snapshot, None, &self.path, &sources, &SettingsLevels(&snapshot)).len()
    }
}

/// Analyses a text without a cache; returns the number of findings.
fn analysis(text: &str) -> usize {
    struct Texts(BTreeMap<Arc<str>, Arc<ParsedText>>);
    impl TextProvider for Texts {
        fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
            self.0.get(path).cloned()
        }
    }
    let path: Arc<str> = "template.yaml".into();
    let tree = syntax::parse(text);
    let mut workspace = Workspace::default();
    workspace.set_editor(&path, File::from_tree(&path, text, &tree));
    let snapshot = workspace.snapshot();
    let sources = Texts([(Arc::clone(&path), Arc::new(ParsedText::from_tree(text.into(), tree)))].into());
    check(&snapshot, &Resolver::new(&snapshot, None), &path, &sources, &SettingsLevels(&snapshot)).len()
}

/// Measures an analysis of the whole text, and a keystroke in one object with its findings.
fn editing(text: &str, object: usize, rounds: usize) -> [Duration; 2] {
    let mut editor = Editor::new(text);
    let marker = format!("hello-{object}-");
    let at = text.find(&marker).map_or(0, |it| it + marker.len());
    let mut keystroke = |span: Span, typed: &str| {
        timed(|| {
            editor.document.edit(span, typed);
            editor.update()
        })
    };
    // The first edit fills the caches.
    keystroke(Span::new(at, at), "x");
    keystroke(Span::new(at, at + 1), "");
    best(
        rounds,
        [&mut || timed(|| analysis(text)), &mut || {
            let typed = keystroke(Span::new(at, at), "x");
            typed.max(keystroke(Span::new(at, at + 1), ""))
        }],
    )
}

/// A template with Deployments.
fn template() -> String {
    let mut out =
        String::from("apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: giant\nobjects:\n");
    for number in 0..OBJECTS {
        let parameter = |at: usize| (number * 7 + at) % PARAMETERS;
        let _ = write!(
            out,
            "- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: ${{P{}}}-app-{number}\n    labels: {{app: app-{number}, tier: \"${{P{}}}\"}}\n  spec:\n    replicas: 3\n    template:\n      metadata:\n        labels: {{app: app-{number}}}\n      spec:\n        containers:\n        - name: main\n          image: registry.example.com/team/app-{number}:${{P{}}}\n          env:\n          - name: GREETING\n            value: hello-{number}-$(PORT)-${{P{}}}\n          - name: PORT\n            value: \"${{P{}}}\"\n",
            parameter(0),
            parameter(1),
            parameter(2),
            parameter(3),
            parameter(4)
        );
        let mut entry = 0;
        // All objects have the same size.
        while out.len() < BYTES / OBJECTS * (number + 1) {
            let _ = write!(
                out,
                "          - name: SETTING_{entry}\n            value: 'a setting with $(GREETING) and ${{P{}}}'\n",
                parameter(entry)
            );
            entry += 1;
        }
    }
    out.push_str("parameters:\n");
    for number in 0..PARAMETERS {
        let _ = write!(out, "- name: P{number}\n  description: The parameter {number}\n  value: value-{number}\n");
    }
    out
}

/// The same template as JSON.
fn json() -> String {
    let tree = syntax::parse(&template());
    let root = tree.documents().next().and_then(|it| it.root());
    let plain = root.and_then(|it| syntax::YamlValue::from_node(it, "", &|_| None));
    plain.and_then(|it| serde_json::to_string_pretty(&it).ok()).unwrap_or_default()
}

/// The time that `work` takes. Its result is dropped after the measurement.
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let time = start.elapsed();
    drop(result);
    time
}

/// The shortest time of each task; the tasks run alternately.
fn best<const N: usize>(rounds: usize, mut tasks: [&mut dyn FnMut() -> Duration; N]) -> [Duration; N] {
    let mut shortest = [Duration::MAX; N];
    for _ in 0..rounds {
        for (task, shortest) in tasks.iter_mut().zip(&mut shortest) {
            *shortest = task().min(*shortest);
        }
    }
    shortest
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
