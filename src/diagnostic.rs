//! Findings as plain data: what is wrong, where, and which edits fix it.
//!
//! This module does not know the rules or the output formats.

#![warn(clippy::disallowed_methods)]

use std::fmt;
use std::sync::Arc;

use crate::text::Span;

/// A range in a file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The file's path in the workspace.
    pub file: Arc<str>,
    /// The bytes.
    pub span: Span,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A suggestion.
    Hint,
    /// Does not need a change.
    Info,
    /// Probably a mistake.
    Warning,
    /// Does not work.
    Error,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The name of the rule.
    pub rule: &'static str,
    /// The severity, after the settings were applied.
    pub severity: Severity,
    /// What it is about: the name of a variable, parameter, key, object or field. Unlike the message it does not change
    /// with the wording, so it identifies the finding; it is never a value.
    pub name: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Where it is.
    pub location: Location,
    /// Other places that the message refers to.
    pub related: Vec<Label>,
    /// Fixes, the best one first.
    pub fixes: Vec<Fix>,
    /// Changes that only a person can choose, in an editor: they contradict each other or another finding's, or only
    /// silence the finding. No command applies them.
    pub choices: Vec<Fix>,
    /// The object it is about, such as `Deployment/web`.
    pub object: Option<String>,
    /// The same object after the build, if its title differs: `Deployment/mongodb` for `Deployment/${NAME}`.
    pub built_object: Option<String>,
    /// The names of the views in which it holds. Empty if it holds in every view of its place.
    pub views: Vec<Arc<str>>,
    /// The path in that object, such as `spec.containers[0].env[1].value`.
    pub path: Option<String>,
    /// Whether the text has no effect. Editors show it faded.
    pub unnecessary: bool,
}

/// A place with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where it is.
    pub location: Location,
    /// The message.
    pub message: String,
}

/// A change that fixes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, in the imperative: `Move DB_HOST above DB_URL`.
    pub title: String,
    /// Whether it can be applied without review. Never true for a choice.
    pub safe: bool,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
}

/// A replacement of a part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The part that is replaced.
    pub location: Location,
    /// The new text.
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

impl Diagnostic {
    /// All locations in the finding.
    pub fn locations(&self) -> impl Iterator<Item = &Location> {
        let fixes = self.fixes.iter().chain(&self.choices);
        let edits = fixes.flat_map(|fix| &fix.edits).map(|edit| &edit.location);
        let related = self.related.iter().map(|label| &label.location);
        std::iter::once(&self.location).chain(related).chain(edits)
    }

    /// All locations in the finding.
    pub fn locations_mut(&mut self) -> impl Iterator<Item = &mut Location> {
        let fixes = self.fixes.iter_mut().chain(&mut self.choices);
        let edits = fixes.flat_map(|fix| &mut fix.edits).map(|edit| &mut edit.location);
        let related = self.related.iter_mut().map(|label| &mut label.location);
        std::iter::once(&mut self.location).chain(related).chain(edits)
    }
}

impl Severity {
    /// The name in outputs and settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}
