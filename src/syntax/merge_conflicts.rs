//! Merge conflicts: the markers are parsed as comments, so that both sides are still analysed, and each conflict is one
//! error.

use memchr::memmem;

use crate::syntax::syntax_error::{SyntaxError, SyntaxErrorKind};
use crate::text::Span;

/// A text whose conflict markers are replaced with comments of the same length.
pub(super) struct CommentedMarkers {
    pub(super) text: String,
    /// At least one, so that an edit parses the whole document again.
    pub(super) errors: Vec<SyntaxError>,
}

/// Replaces the conflict markers of a document with comments, if it has any.
pub(super) fn comment_markers(text: &str) -> Option<CommentedMarkers> {
    let is_suspect = |mark: &str| text.starts_with(mark) || memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
    if !is_suspect(OURS) && !is_suspect(THEIRS) {
        return None;
    }
    if !text.lines().any(is_marker) {
        return None;
    }
    let mut result = CommentedMarkers { text: String::with_capacity(text.len()), errors: Vec::new() };
    let mut is_open = false;
    for line in text.split_inclusive('\n') {
        let code = line.trim_end_matches(['\r', '\n']);
        if !is_marker(code) && !is_divider(code) {
            result.text.push_str(line);
            continue;
        }
        let at = result.text.len();
        let begins = code.starts_with(OURS);
        // An end marker whose begin marker was removed is a separate error.
        if begins || (code.starts_with(THEIRS) && !is_open) {
            let message = "unresolved merge conflict: remove the conflict markers";
            result.errors.push(SyntaxError::new(
                Span::new(at, at + code.len()),
                SyntaxErrorKind::MergeConflict,
                message,
            ));
        }
        is_open = begins || (is_open && !code.starts_with(THEIRS));
        result.text.push('#');
        result.text.push_str(&line[1..]);
    }
    Some(result)
}

const OURS: &str = "<<<<<<< ";
const THEIRS: &str = ">>>>>>> ";

/// Whether a line is the begin or end marker of a conflict.
pub(super) fn is_marker(line: &str) -> bool {
    line.starts_with(OURS) || line.starts_with(THEIRS)
}

/// Whether a line separates the sides of a conflict, if there is one.
fn is_divider(line: &str) -> bool {
    line == "=======" || line.starts_with("||||||| ")
}
