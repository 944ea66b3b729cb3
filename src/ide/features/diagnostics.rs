//! The findings of one file: what the rules say, and mistakes if it is a settings file.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::ide::Analysis;
use crate::rules::{self, FindingsCache, SettingsLevels, TextProvider};
use crate::workspace::{Settings, Snapshot};

/// The rule that mistakes in the settings count as.
pub const INVALID_SETTINGS: &str = "invalid-settings";

/// The findings of a file, in the order of the text.
pub fn diagnostics(analysis: &Analysis<'_>, file: &Arc<str>) -> Vec<Diagnostic> {
    let snapshot = analysis.snapshot;
    if let Some(settings) = snapshot.file(file).and_then(|it| it.settings.as_ref()) {
        return settings_diagnostics(settings);
    }
    if snapshot.is_excluded(file) {
        return Vec::new();
    }
    rules::check(snapshot, analysis.resolver, file, analysis.sources, &SettingsLevels(snapshot))
}

/// The findings of a file that is being edited: those that an edit does not concern are kept.
pub fn cached_diagnostics(
    kept: &mut FindingsCache,
    snapshot: &Snapshot,
    file: &Arc<str>,
    sources: &dyn TextProvider,
) -> Vec<Diagnostic> {
    if let Some(settings) = snapshot.file(file).and_then(|it| it.settings.as_ref()) {
        return settings_diagnostics(settings);
    }
    if snapshot.is_excluded(file) {
        return Vec::new();
    }
    kept.check(snapshot, None, file, sources, &SettingsLevels(snapshot))
}

/// The mistakes in settings.
pub fn settings_diagnostics(settings: &Settings) -> Vec<Diagnostic> {
    let found = rules::settings_errors(settings).into_iter().map(|mistake| Diagnostic {
        rule: INVALID_SETTINGS,
        severity: Severity::Error,
        name: mistake.path.rsplit('.').next().unwrap_or_default().to_owned(),
        message: mistake.message,
        help: None,
        location: Location { file: Arc::clone(&settings.file), span: mistake.span },
        related: Vec::new(),
        fixes: Vec::new(),
        object: None,
        path: Some(mistake.path).filter(|it| !it.is_empty()),
        unnecessary: false,
    });
    found.collect()
}
