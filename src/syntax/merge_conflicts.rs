//! Merge conflicts: the markers are read as comments, so that both sides keep their meaning, and each conflict is one
//! error.

use memchr::memmem;

use crate::syntax::tree::{SyntaxError, SyntaxErrorKind};
use crate::text::Span;

/// A text whose markers are comments. Offsets are those of the text with the markers.
pub(super) struct Resolved {
    pub(super) text: String,
    /// At least one, so that an edit reads the whole document again.
    pub(super) errors: Vec<SyntaxError>,
}

/// Makes comments of the markers of a document, if it has any.
pub(super) fn without_markers(text: &str) -> Option<Resolved> {
    let is_suspect = |mark: &str| text.starts_with(mark) || memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
    if !is_suspect(OURS) && !is_suspect(THEIRS) {
        return None;
    }
    if !text.lines().any(is_marker) {
        return None;
    }
    let mut resolved = Resolved { text: String::with_capacity(text.len()), errors: Vec::new() };
    let mut is_open = false;
    for line in text.split_inclusive('\n') {
        let code = line.trim_end_matches(['\r', '\n']);
        if !is_marker(code) && !is_divider(code) {
            resolved.text.push_str(line);
            continue;
        }
        let at = resolved.text.len();
        let begins = code.starts_with(OURS);
        // The end of a conflict whose beginning was removed by hand is a mistake of its own.
        if begins || (code.starts_with(THEIRS) && !is_open) {
            let message = "this merge conflict is not resolved";
            resolved.errors.push(SyntaxError::new(
                Span::new(at, at + code.len()),
                SyntaxErrorKind::MergeConflict,
                message,
            ));
        }
        is_open = begins || (is_open && !code.starts_with(THEIRS));
        resolved.text.push('#');
        resolved.text.push_str(&line[1..]);
    }
    Some(resolved)
}

const OURS: &str = "<<<<<<< ";
const THEIRS: &str = ">>>>>>> ";

/// Whether a line begins or ends a conflict.
pub(super) fn is_marker(line: &str) -> bool {
    line.starts_with(OURS) || line.starts_with(THEIRS)
}

/// Whether a line stands between the sides of a conflict, if there is one.
fn is_divider(line: &str) -> bool {
    line == "=======" || line.starts_with("||||||| ")
}
