//! Lowers the severity of findings that the file itself announces: an example of a mistake.

use std::sync::Arc;

use crate::diagnostic::Severity;
use crate::rules::engine::FileContext;
use crate::rules::engine::findings::ViewedFinding;
use crate::workspace::ParsedText;

/// Words in a comment that say that the text is wrong and is meant to be.
const ANNOUNCEMENTS: [&str; 10] = [
    "on purpose",
    "intentional",
    "deliberate",
    "will fail",
    "should fail",
    "must fail",
    "this fails",
    "this is wrong",
    "this is invalid",
    "this is broken",
];

/// Makes findings infos whose line, or the comment above it, announces a mistake.
pub(super) fn lower_announced(file: &FileContext<'_>, found: &mut [ViewedFinding]) {
    if !found.iter().any(|it| it.diagnostic().severity > Severity::Info) {
        return;
    }
    let Some(source) = file.parsed_text() else { return };
    for viewed in found.iter_mut() {
        let diagnostic = viewed.diagnostic();
        let is_here = diagnostic.location.file == *file.path && diagnostic.severity > Severity::Info;
        if is_here && is_announced(&source, diagnostic.location.span.start) {
            Arc::make_mut(&mut viewed.finding).diagnostic.severity = Severity::Info;
        }
    }
}

/// Whether the comment in the line of an offset, or the comment lines above it, announce a mistake.
fn is_announced(source: &ParsedText, offset: usize) -> bool {
    let text = &*source.text;
    let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let own = line.split_once(" #").map(|(_, comment)| comment);
    let above = text[..start].lines().rev().map(str::trim_start).take_while(|it| it.starts_with('#')).take(3);
    own.into_iter().chain(above).any(|comment| {
        let comment = comment.to_ascii_lowercase();
        ANNOUNCEMENTS.iter().any(|it| comment.contains(it))
    })
}
