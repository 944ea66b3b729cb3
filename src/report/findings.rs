//! The findings of `lint` as all formats show them: display paths, lines and columns from 1, and fingerprints.
//!
//! The fields are those of `podlens/lint/v1`, in its order. Fields that only other formats need are not serialized.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::diagnostic::{Diagnostic, InputProblem, Location, Severity};
use crate::text::{Encoding, LineIndex, Span};

/// The name of the JSON contract.
pub(super) const SCHEMA: &str = "podlens/lint/v1";

/// The findings of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// `podlens/lint/v1`.
    pub schema: &'static str,
    /// In the order of files, offsets and rules.
    pub findings: Vec<Finding>,
    /// Counts.
    pub summary: Summary,
    /// Inputs that could not be read.
    #[serde(skip)]
    pub problems: Vec<ReportedProblem>,
    /// The URI of the root of the repository.
    #[serde(skip)]
    pub root: Option<String>,
    /// The number of Kubernetes objects that were checked.
    #[serde(skip)]
    pub objects: usize,
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The name of the rule.
    pub rule: &'static str,
    /// Its severity.
    #[serde(serialize_with = "level")]
    pub level: Severity,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// The path as it is shown.
    pub file: String,
    /// Where.
    pub range: Range,
    /// The object, such as `Deployment/web`.
    pub object: Option<String>,
    /// The same object after the build, if its title differs.
    #[serde(rename = "builtObject", skip_serializing_if = "Option::is_none")]
    pub built_object: Option<String>,
    /// The views in which it holds; absent if it holds in every view of its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<Arc<str>>,
    /// The path in the object.
    pub path: Option<String>,
    /// Identifies the finding, independent of its line.
    pub fingerprint: String,
    /// Related places.
    pub related: Vec<Related>,
    /// The fix that `--fix` would apply, or the first unsafe one.
    pub fix: Option<Fix>,
    /// The file name in the workspace.
    #[serde(skip)]
    pub source: Arc<str>,
    /// See [`PathsAndRanges::in_repository`].
    #[serde(skip)]
    pub repository_file: String,
}

/// An input that could not be read.
#[derive(Clone, Debug)]
pub struct ReportedProblem {
    /// What is wrong.
    pub problem: InputProblem,
    /// See [`PathsAndRanges::in_repository`].
    pub repository_file: String,
}

/// A related location with a message.
#[derive(Clone, Debug, Serialize)]
pub struct Related {
    /// Why it is related.
    pub message: String,
    /// The path as it is shown.
    pub file: String,
    /// Where.
    pub range: Range,
    /// The file name in the workspace.
    #[serde(skip)]
    pub source: Arc<str>,
    /// See [`PathsAndRanges::in_repository`].
    #[serde(skip)]
    pub repository_file: String,
}

/// A change that fixes a finding.
#[derive(Clone, Debug, Serialize)]
pub struct Fix {
    /// What it does.
    pub title: String,
    /// Whether it cannot change the meaning of the manifest.
    pub safe: bool,
    /// The edits.
    pub edits: Vec<Edit>,
}

/// A replacement of some text.
#[derive(Clone, Debug, Serialize)]
pub struct Edit {
    /// The path as it is shown.
    pub file: String,
    /// The replaced text.
    pub range: Range,
    /// The new text.
    pub text: String,
    /// See [`PathsAndRanges::in_repository`].
    #[serde(skip)]
    pub repository_file: String,
}

/// A range of text.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Range {
    /// The first character.
    pub start: Position,
    /// The position after the last character.
    pub end: Position,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The offset in bytes.
    pub offset: usize,
    /// The column in bytes, from 1.
    #[serde(skip)]
    pub byte_column: u32,
}

/// The counts of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Files that were checked.
    pub files: usize,
    /// Documents in them.
    pub documents: usize,
    /// Findings with severity error.
    pub errors: usize,
    /// Findings with severity warning.
    pub warnings: usize,
    /// Findings with severity info.
    pub infos: usize,
    /// Findings with severity hint.
    pub hints: usize,
    /// What was not checked, by reason; absent if there is nothing.
    #[serde(rename = "passedOver", skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOver>,
}

/// Files and directories that were not checked, for one reason. The files in a directory are not counted.
#[derive(Clone, Debug, Serialize)]
pub struct PassedOver {
    /// The reason, as words after the number of files.
    pub why: &'static str,
    /// The number of files.
    pub files: usize,
    /// The number of directories.
    pub directories: usize,
}

/// Converts file names and spans for display.
pub trait PathsAndRanges {
    /// Is called before each finding, for progress.
    fn begin_finding(&self) {}
    /// A file's path as it is shown.
    fn display(&self, file: &str) -> String;
    /// A file's path relative to the project, the same on every machine.
    fn stable(&self, file: &str) -> String;
    /// A file's path relative to the root of the repository, as code hosting services expect it.
    fn in_repository(&self, file: &str) -> String;
    /// A location in lines and columns.
    fn range(&self, location: &Location) -> Range;
}

impl Report {
    /// Converts findings, in their order.
    pub fn new(diagnostics: &[Diagnostic], files: &dyn PathsAndRanges) -> Self {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let findings = diagnostics.iter().map(|it| Finding::new(it, files, &mut seen)).collect();
        Self { schema: SCHEMA, findings, summary: Summary::default(), problems: Vec::new(), root: None, objects: 0 }
    }

    /// Counts the findings, and sets the numbers of files, documents and objects.
    pub fn count(&mut self, files: usize, documents: usize, objects: usize) {
        self.objects = objects;
        let passed_over = std::mem::take(&mut self.summary.passed_over);
        let of = |level| self.findings.iter().filter(|it| it.level == level).count();
        self.summary = Summary {
            files,
            documents,
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            infos: of(Severity::Info),
            hints: of(Severity::Hint),
            passed_over,
        };
    }
}

impl Finding {
    fn new(diagnostic: &Diagnostic, files: &dyn PathsAndRanges, seen: &mut HashMap<String, usize>) -> Self {
        let Diagnostic { rule, severity, message, help, location, related, fixes, object, path, .. } = diagnostic;
        files.begin_finding();
        let (built_object, views) = (diagnostic.built_object.clone(), diagnostic.views.clone());
        let key = identity(diagnostic, &files.stable(&location.file));
        let before = seen.entry(key.clone()).or_default();
        let fingerprint = fingerprint(&key, *before);
        *before += 1;
        let related = related.iter().map(|it| Related {
            message: it.message.clone(),
            file: files.display(&it.location.file),
            range: files.range(&it.location),
            source: Arc::clone(&it.location.file),
            repository_file: files.in_repository(&it.location.file),
        });
        // `--fix` applies a safe fix even where an unsafe one comes first.
        let fix = fixes.iter().find(|it| it.safe).or(fixes.first()).map(|fix| Fix {
            title: fix.title.clone(),
            safe: fix.safe,
            edits: fix
                .edits
                .iter()
                .map(|it| Edit {
                    file: files.display(&it.location.file),
                    range: files.range(&it.location),
                    text: it.text.clone(),
                    repository_file: files.in_repository(&it.location.file),
                })
                .collect(),
        });
        Self {
            rule,
            level: *severity,
            message: message.clone(),
            help: help.clone(),
            file: files.display(&location.file),
            range: files.range(location),
            object: object.clone(),
            built_object,
            views,
            path: path.clone(),
            fingerprint,
            related: related.collect(),
            fix,
            source: Arc::clone(&location.file),
            repository_file: files.in_repository(&location.file),
        }
    }
}

impl Range {
    /// A span of a text with these lines.
    pub fn new(span: Span, lines: &LineIndex) -> Self {
        let place = |offset: usize| {
            let shown = lines.line_column(offset);
            let bytes = lines.position(offset, Encoding::Utf8).character;
            Position { line: shown.line, column: shown.column, offset, byte_column: bytes.saturating_add(1) }
        };
        Self { start: place(span.start), end: place(span.end) }
    }
}

/// What identifies a finding from run to run: rule, file, object, path and name. Not its line and its index in a list,
/// which change with the text above it, nor its message, whose wording changes with the release.
fn identity(diagnostic: &Diagnostic, file: &str) -> String {
    let path = without_numbers(diagnostic.path.as_deref().unwrap_or_default());
    [diagnostic.rule, file, diagnostic.object.as_deref().unwrap_or_default(), &path, &diagnostic.name].join("\0")
}

/// `env[3].value` as `env[].value`.
fn without_numbers(path: &str) -> String {
    let mut result = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(open) = rest.find('[') {
        let (before, after) = rest.split_at(open + 1);
        result.push_str(before);
        rest = after.trim_start_matches(|it: char| it.is_ascii_digit());
    }
    result + rest
}

/// A hash of an identity; equal ones in a file are numbered in their order.
fn fingerprint(identity: &str, before: usize) -> String {
    let hash = Sha256::digest(format!("{identity}\0{before}"));
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn level<S: serde::Serializer>(level: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(level.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_paths_do_not_count() {
        assert_eq!(without_numbers("spec.containers[10].env[3].value"), "spec.containers[].env[].value");
        assert_eq!(without_numbers("data['a[1]']"), "data['a[]']");
        assert_eq!(without_numbers(""), "");
    }

    /// Locations as they are: no file is read.
    struct Plain;

    impl PathsAndRanges for Plain {
        fn display(&self, file: &str) -> String {
            file.to_owned()
        }

        fn stable(&self, file: &str) -> String {
            file.to_owned()
        }

        fn in_repository(&self, file: &str) -> String {
            file.to_owned()
        }

        fn range(&self, location: &Location) -> Range {
            Range::new(location.span, &LineIndex::new(""))
        }
    }

    fn diagnostic(name: &str, message: &str) -> Diagnostic {
        Diagnostic {
            rule: "undefined-variable",
            severity: Severity::Warning,
            name: name.to_owned(),
            message: message.to_owned(),
            help: Some(message.to_owned()),
            location: Location { file: "a.yaml".into(), span: Span::new(0, 0) },
            related: Vec::new(),
            fixes: Vec::new(),
            choices: Vec::new(),
            object: Some("Pod/web".to_owned()),
            built_object: None,
            views: Vec::new(),
            path: Some("spec.containers[0].args[0]".to_owned()),
            unnecessary: false,
        }
    }

    fn fingerprints(diagnostics: &[Diagnostic]) -> Vec<String> {
        Report::new(diagnostics, &Plain).findings.into_iter().map(|it| it.fingerprint).collect()
    }

    #[test]
    fn the_name_identifies_a_finding_and_the_message_does_not() {
        let original = fingerprints(&[diagnostic("HOST", "nothing defines `HOST`")]);
        for message in ["", "`$(HOST)` is not expanded", "another wording of another release"] {
            assert_eq!(fingerprints(&[diagnostic("HOST", message)]), original, "{message}");
        }
        assert_ne!(fingerprints(&[diagnostic("PORT", "nothing defines `HOST`")]), original);
        let other_index = Some("spec.containers[3].args[7]".to_owned());
        assert_eq!(fingerprints(&[Diagnostic { path: other_index, ..diagnostic("HOST", "") }]), original);
        let other_field = Some("spec.containers[0].command[0]".to_owned());
        assert_ne!(fingerprints(&[Diagnostic { path: other_field, ..diagnostic("HOST", "") }]), original);
        assert_ne!(
            fingerprints(&[Diagnostic { object: Some("Pod/api".to_owned()), ..diagnostic("HOST", "") }]),
            original
        );
        assert_ne!(fingerprints(&[Diagnostic { rule: "forward-reference", ..diagnostic("HOST", "") }]), original);
    }

    #[test]
    fn two_findings_of_one_report_never_share_a_fingerprint() {
        let all = fingerprints(&[diagnostic("HOST", "a"), diagnostic("HOST", "b"), diagnostic("PORT", "a")]);
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
    }

    #[test]
    fn equal_findings_are_numbered() {
        assert_eq!(fingerprint("a", 0), fingerprint("a", 0));
        assert_ne!(fingerprint("a", 0), fingerprint("a", 1));
        assert_eq!(fingerprint("a", 0).len(), 32);
    }
}
