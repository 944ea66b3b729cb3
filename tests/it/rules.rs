//! The literate suites in `fixtures/rules`: headings are cases, fences are files, and under a line with a finding stands
//! a label.
//!
//! A label is a row of `#` blanks and carets, `#   ^^^^ rule-name`, optionally `: part of the message`. It is removed
//! before the file is read, and its carets cover exactly the finding; `^…` says only where it begins. Every finding has
//! a label, and every label a finding. A `diff` fence holds what the first fix of every finding does. `UPDATE=1`
//! rewrites labels and `diff` fences; a label that still fits is kept as it is written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use podlens::diagnostic::{Diagnostic, Edit};
use podlens::resolve::Resolver;
use podlens::rules::{self, ParsedText, RULES, SettingsLevels, Sources};
use podlens::workspace::{File, Workspace};

/// The files of a case, as the rules read them.
pub(crate) struct Texts(pub(crate) BTreeMap<String, Arc<ParsedText>>);

impl Sources for Texts {
    fn source(&self, path: &str) -> Option<Arc<ParsedText>> {
        self.0.get(path).cloned()
    }
}

impl Texts {
    pub(crate) fn new(files: &BTreeMap<String, String>) -> Self {
        let source = |path: &str, text: &str| Arc::new(ParsedText::new(&File::read(path, text), text.into()));
        Self(files.iter().map(|(path, text)| (path.clone(), source(path, text))).collect())
    }
}

/// The findings in some files, with the settings among them.
pub(crate) fn lint(files: &BTreeMap<String, String>) -> Vec<Diagnostic> {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, File::read(path, text));
    }
    let snapshot = workspace.snapshot();
    let resolver = Resolver::new(&snapshot, None);
    let texts = Texts::new(files);
    let paths: Vec<Arc<str>> = snapshot.files().map(|(path, _)| Arc::clone(path)).collect();
    let check = |path| rules::check(&snapshot, &resolver, path, &texts, &SettingsLevels(&snapshot));
    paths.iter().flat_map(check).collect()
}

/// The files after the first fix of every finding, as far as the fixes do not overlap.
pub(crate) fn fixed(files: &BTreeMap<String, String>, findings: &[Diagnostic]) -> BTreeMap<String, String> {
    let mut edits: Vec<&Edit> = Vec::new();
    for fix in findings.iter().filter_map(|finding| finding.fixes.first()) {
        let overlaps = |edit: &Edit| {
            edits.iter().any(|other| {
                other.location.file == edit.location.file
                    && other.location.span.start < edit.location.span.end.max(edit.location.span.start + 1)
                    && edit.location.span.start < other.location.span.end.max(other.location.span.start + 1)
            })
        };
        if !fix.edits.iter().any(overlaps) {
            edits.extend(&fix.edits);
        }
    }
    edits.sort_by(|a, b| b.location.cmp(&a.location));
    let mut result = files.clone();
    for edit in edits {
        let text = result.get_mut(&*edit.location.file).expect("a fix in a file of the case");
        text.replace_range(edit.location.span.range(), &edit.text);
    }
    result
}

#[test]
fn the_suites_hold() {
    let mut failures = String::new();
    let mut cases = 0;
    for path in suites() {
        let text = std::fs::read_to_string(&path).expect("a suite");
        let suite = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if rules::rule(&suite).is_none() {
            let _ = writeln!(failures, "{}: there is no rule `{suite}`", path.display());
        }
        let mut rewritten = text.clone();
        for case in read_cases(&text) {
            cases += 1;
            if let Err(message) = case.check(&mut rewritten) {
                let _ = writeln!(failures, "{}: {}\n{message}", path.display(), case.title);
            }
        }
        if std::env::var_os("UPDATE").is_some() && rewritten != text {
            std::fs::write(&path, rewritten).expect("writing a suite");
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(cases > 0, "no cases in fixtures/rules");
}

#[test]
fn every_rule_has_a_suite_and_its_examples_are_true() {
    let mut failures = String::new();
    for rule in RULES {
        let suite = folder().join(format!("{}.md", rule.name));
        if !suite.exists() {
            let _ = writeln!(failures, "{} is missing", suite.display());
        }
        for (heading, finds) in [("## Example", true), ("## Use instead", false)] {
            let Some(files) = example(rule.docs, heading) else { continue };
            let findings = lint(&files);
            let found = findings.iter().any(|finding| finding.rule == rule.name);
            // A rule that is off by default, or that a comment cannot show, is not found in its example.
            if found != (finds && rule.level != podlens::workspace::LintLevel::Off) {
                let _ = writeln!(failures, "{}: `{heading}` finds {findings:#?}", rule.name);
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rules")
}

fn suites() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("fixtures/rules");
    let mut all: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    all.sort();
    all
}

/// The YAML files of an example in a rule's documentation; a comment `#- path` on its first line names a file.
fn example(docs: &str, heading: &str) -> Option<BTreeMap<String, String>> {
    let lines: Vec<&str> = docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let start = lines.iter().position(|line| *line == heading)? + 1;
    let body = lines[start..].iter().take_while(|line| !line.starts_with("## "));
    let text: String = body.map(|line| format!("{line}\n")).collect();
    let case = read_cases(&format!("## example\n{text}")).pop()?;
    let mut files = BTreeMap::new();
    for (path, labelled) in &case.files {
        let mut path = path.clone();
        let mut content = String::new();
        for line in labelled.split_inclusive('\n') {
            match line.strip_prefix("#- ") {
                Some(name) => {
                    if !content.is_empty() {
                        files.insert(std::mem::replace(&mut path, name.trim().into()), std::mem::take(&mut content));
                    }
                    path = name.trim().into();
                }
                None => content.push_str(line),
            }
        }
        files.insert(path, content);
    }
    (!files.is_empty()).then_some(files)
}

/// A case of a suite.
struct Case {
    title: String,
    /// Path and text, labels included.
    files: Vec<(String, String)>,
    /// The text in its `diff` fence.
    diff: Option<String>,
}

/// What a label says.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Expected {
    file: String,
    line: u32,
    start: u32,
    /// Nothing when only the beginning is told.
    end: Option<u32>,
    rule: String,
    message: String,
}

fn read_cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            cases.push(Case { title: title.trim().into(), files: Vec::new(), diff: None });
        }
        let Some(info) = line.strip_prefix("```").map(str::trim).filter(|info| !info.is_empty()) else { continue };
        let body: String = lines.by_ref().take_while(|line| line.trim_end() != "```").collect();
        let Some(case) = cases.last_mut() else { continue };
        let mut words = info.split_whitespace();
        match words.next() {
            Some("diff") => case.diff = Some(body),
            Some(kind @ ("yaml" | "json" | "env")) => {
                let unnamed = match case.files.len() {
                    0 => format!("manifest.{kind}"),
                    more => format!("manifest-{}.{kind}", more + 1),
                };
                case.files.push((words.next().map_or(unnamed, str::to_owned), body));
            }
            _ => {}
        }
    }
    cases.retain(|case| !case.files.is_empty());
    cases
}

impl Case {
    fn check(&self, suite: &mut String) -> Result<(), String> {
        let mut files = BTreeMap::new();
        let mut expected = Vec::new();
        for (path, labelled) in &self.files {
            let (text, mut labels) = take_labels(path, labelled);
            files.insert(path.clone(), text);
            expected.append(&mut labels);
        }
        let findings = lint(&files);
        let mut problems = String::new();
        let mut left: Vec<&Expected> = expected.iter().collect();
        for finding in &findings {
            let is = place(&files, finding);
            let fits = |it: &&Expected| {
                (&it.file, it.line, it.start, &it.rule) == (&is.file, is.line, is.start, &is.rule)
                    && (it.end.is_none() || it.end == is.end)
                    && is.message.contains(&it.message)
            };
            match left.iter().position(fits) {
                Some(at) => drop(left.remove(at)),
                None => {
                    let _ = writeln!(problems, "  not labelled: {}", shown(&files, &is));
                }
            }
        }
        for missing in left {
            let _ = writeln!(problems, "  not found: {}", shown(&files, missing));
        }
        if !problems.is_empty() && std::env::var_os("UPDATE").is_some() {
            let case = suite.find(&format!("## {}\n", self.title)).unwrap_or(0);
            let (before, after) = suite.split_at(case);
            let after = self.files.iter().fold(after.to_owned(), |after, (path, labelled)| {
                after.replacen(labelled, &with_labels(&files, path, &findings, &expected), 1)
            });
            *suite = format!("{before}{after}");
            problems.clear();
        }
        if let Some(diff) = &self.diff {
            let is = difference(&files, &fixed(&files, &findings));
            if is != *diff {
                if std::env::var_os("UPDATE").is_some() {
                    let case = suite.find(&format!("## {}", self.title)).unwrap_or(0);
                    let (before, after) = suite.split_at(case);
                    let after = after.replacen(&format!("```diff\n{diff}"), &format!("```diff\n{is}"), 1);
                    *suite = format!("{before}{after}");
                } else {
                    let _ = writeln!(problems, "  the fixes do\n{is}");
                }
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// Takes the label rows out of a text.
fn take_labels(path: &str, labelled: &str) -> (String, Vec<Expected>) {
    let mut text = String::new();
    let mut labels = Vec::new();
    let mut line = 0;
    for row in labelled.split_inclusive('\n') {
        match label(row) {
            Some((start, end, rule, message)) => {
                labels.push(Expected { file: path.to_owned(), line, start, end, rule, message });
            }
            None => {
                text.push_str(row);
                line += 1;
            }
        }
    }
    (text, labels)
}

fn label(row: &str) -> Option<(u32, Option<u32>, String, String)> {
    let body = row.trim_end();
    let at = body.find('^')?;
    if !body[..at].trim_start().starts_with('#') || !body[..at].chars().all(|it| matches!(it, ' ' | '#')) {
        return None;
    }
    let carets = body[at..].chars().take_while(|it| *it == '^').count();
    let rest = &body[at + carets..];
    let open = rest.starts_with('…');
    let (rule, message) =
        rest.trim_start_matches('…').trim().split_once(": ").unwrap_or((rest.trim_start_matches('…').trim(), ""));
    let start = u32::try_from(at).ok()? + 1;
    let end = if open { None } else { Some(start + u32::try_from(carets).ok()?) };
    Some((start, end, rule.to_owned(), message.to_owned()))
}

/// A file with a label row for each of its findings. A label that fits its finding is kept as it was written.
fn with_labels(files: &BTreeMap<String, String>, path: &str, findings: &[Diagnostic], written: &[Expected]) -> String {
    let mut labels: Vec<Expected> = findings.iter().map(|finding| place(files, finding)).collect();
    labels.retain(|label| label.file == path);
    labels.sort();
    let mut out = String::new();
    for (number, line) in (1..).zip(files[path].split_inclusive('\n')) {
        out.push_str(line);
        for label in labels.iter().filter(|label| label.line == number) {
            let kept = written.iter().find(|it| {
                (&it.file, it.line, it.start, &it.rule) == (&label.file, label.line, label.start, &label.rule)
                    && (it.end.is_none() || it.end == label.end)
                    && label.message.contains(&it.message)
            });
            let label = kept.unwrap_or(label);
            let carets = match label.end {
                Some(end) => "^".repeat(end.saturating_sub(label.start).max(1) as usize),
                None => "^…".to_owned(),
            };
            let message = if label.message.is_empty() { String::new() } else { format!(": {}", label.message) };
            let spaces = " ".repeat(label.start.saturating_sub(2) as usize);
            let _ = writeln!(out, "#{spaces}{carets} {}{message}", label.rule);
        }
    }
    out
}

/// Where a finding is, as a label would say it.
fn place(files: &BTreeMap<String, String>, finding: &Diagnostic) -> Expected {
    let text = files.get(&*finding.location.file).map_or("", String::as_str);
    let lines = podlens::text::LineIndex::new(text);
    let start = lines.line_column(finding.location.span.start);
    let end = lines.line_column(finding.location.span.end);
    Expected {
        file: finding.location.file.to_string(),
        line: start.line,
        start: start.column,
        end: (end.line == start.line).then_some(end.column),
        rule: finding.rule.to_owned(),
        message: finding.message.clone(),
    }
}

fn shown(files: &BTreeMap<String, String>, it: &Expected) -> String {
    let line = files.get(&it.file).and_then(|text| text.lines().nth(it.line.saturating_sub(1) as usize)).unwrap_or("");
    let carets = it.end.map_or("^…".to_owned(), |end| "^".repeat((end.saturating_sub(it.start)).max(1) as usize));
    let blanks = " ".repeat(it.start.saturating_sub(2) as usize);
    format!("{}:{}:{}\n{line}\n#{blanks}{carets} {}: {}", it.file, it.line, it.start, it.rule, it.message)
}

/// A unified diff of all files.
pub(crate) fn difference(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    for (path, old) in before {
        let new = &after[path];
        if old != new {
            let diff = similar::TextDiff::from_lines(old.as_str(), new.as_str());
            out.push_str(&diff.unified_diff().context_radius(1).header(path, path).to_string());
        }
    }
    out
}
