//! The rule `invalid-settings`.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Edit, Fix, Location, Severity};
use crate::rules::engine::declare_rule;
use crate::rules::engine::settings::settings_errors;
use crate::text::Span;
use crate::workspace::Settings;

declare_rule! {
    /// Reports errors in `podlens.yaml`.
    ///
    /// ## What it does
    /// Reports unknown keys, values of the wrong type, names of rules that do not exist, and levels, releases and globs
    /// that cannot be read. The finding covers the key or the value. Its level cannot be changed, comments do not
    /// suppress it, and a baseline does not hide it.
    ///
    /// ## Why it matters
    /// The settings decide what all other rules report. An invalid part is ignored, so findings may be missing or
    /// wrong.
    ///
    /// ## Example
    /// ```yaml
    /// #- podlens.yaml
    /// kubernetes: "1.31"
    /// rules:
    ///   forward-referense: warning
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// #- podlens.yaml
    /// kubernetes: "1.31"
    /// rules:
    ///   forward-reference: warning
    /// ```
    ///
    /// ## Fix
    /// Editors offer the most similar key, value or rule.
    name: "invalid-settings",
    level: Error,
    checks: [],
    sees: Source,
    helm: AnyScalar,
    suppressible: false,
    configurable: false,
}

/// The name of the rule.
pub const INVALID_SETTINGS: &str = RULE.name;

/// The findings in settings. The engine reports nothing else in a settings file.
pub fn check_settings(settings: &Settings) -> Vec<Diagnostic> {
    let findings = settings_errors(settings).into_iter().map(|error| Diagnostic {
        rule: RULE.name,
        severity: Severity::Error,
        name: error.path.rsplit('.').next().unwrap_or_default().to_owned(),
        message: error.message,
        help: None,
        location: Location { file: Arc::clone(&settings.file), span: error.span },
        related: Vec::new(),
        fixes: Vec::new(),
        choices: error.meant.map(|it| write_fix(settings, error.span, it)).into_iter().collect(),
        object: None,
        built_object: None,
        views: Vec::new(),
        path: Some(error.path).filter(|it| !it.is_empty()),
        unnecessary: false,
    });
    findings.collect()
}

/// Writes the word that is probably meant.
fn write_fix(settings: &Settings, span: Span, word: &str) -> Fix {
    let location = Location { file: Arc::clone(&settings.file), span };
    Fix { title: format!("Write `{word}`"), safe: false, edits: vec![Edit { location, text: word.to_owned() }] }
}
