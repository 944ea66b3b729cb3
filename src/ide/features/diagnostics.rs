//! The findings of one file: those of the rules, or the errors of a settings file.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::ide::Analysis;
use crate::rules::{self, FindingsCache, SettingsLevels, SharedFinding, TextProvider};
use crate::workspace::Snapshot;

/// The findings of a file, in the order of the text.
pub fn diagnostics(analysis: &Analysis<'_>, file: &Arc<str>) -> Vec<Diagnostic> {
    let snapshot = analysis.snapshot;
    if let Some(settings) = snapshot.file(file).and_then(|it| it.settings.as_ref()) {
        return rules::check_settings(settings);
    }
    if snapshot.is_excluded(file) {
        return Vec::new();
    }
    rules::check(snapshot, analysis.resolver, file, analysis.texts, &SettingsLevels(snapshot))
}

/// The findings of a file that is being edited. Findings that the edit does not affect are reused.
pub fn cached_diagnostics(
    cache: &mut FindingsCache,
    snapshot: &Snapshot,
    file: &Arc<str>,
    texts: &dyn TextProvider,
) -> Vec<Arc<SharedFinding>> {
    if let Some(settings) = snapshot.file(file).and_then(|it| it.settings.as_ref()) {
        return rules::check_settings(settings).into_iter().map(|it| Arc::new(it.into())).collect();
    }
    if snapshot.is_excluded(file) {
        return Vec::new();
    }
    cache.check(snapshot, None, file, texts, &SettingsLevels(snapshot))
}
