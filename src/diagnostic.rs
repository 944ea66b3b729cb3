//! Findings as plain data: what is wrong, where, why it matters, and what would mend it.
//!
//! Nothing here knows how a finding is found or shown.

#![warn(clippy::disallowed_methods)]

use std::fmt;
use std::sync::Arc;

use crate::text::Span;

/// A range in a file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The file's path in the workspace.
    pub file: Arc<str>,
    /// The bytes meant.
    pub span: Span,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A remark.
    Hint,
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// Will not work.
    Error,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The name of the rule.
    pub rule: &'static str,
    /// How bad it is, after the settings.
    pub severity: Severity,
    /// What it is about: the name of a variable, parameter, key, object or field. Unlike the message it does not change
    /// with the wording, so it identifies the finding; it is never a value.
    pub name: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Where.
    pub location: Location,
    /// Other places that belong to it.
    pub related: Vec<Label>,
    /// What would mend it; the best first.
    pub fixes: Vec<Fix>,
    /// The object it is about, such as `Deployment/web`.
    pub object: Option<String>,
    /// The path in that object, such as `spec.containers[0].env[1].value`.
    pub path: Option<String>,
    /// Whether the text does nothing, so that an editor may grey it out.
    pub unnecessary: bool,
}

/// A place with a word about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub location: Location,
    /// What about it.
    pub message: String,
}

/// A change that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as a command: `Move DB_HOST above DB_URL`.
    pub title: String,
    /// Whether it only does what its author surely wants.
    pub safe: bool,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
}

/// A replacement of some text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub location: Location,
    /// By what.
    pub text: String,
}

/// An input that could not be read, or only in part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputProblem {
    /// The path as it is shown.
    pub file: String,
    /// The line and column, where the problem is at one place.
    pub position: Option<(u32, u32)>,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether the path does not exist.
    pub is_missing: bool,
}

impl fmt::Display for InputProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some((line, column)) => write!(f, "{}:{line}:{column}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl Severity {
    /// As outputs and settings write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}
