//! Plain types to protocol types, where more than one method needs it.

use tower_lsp_server::ls_types::{DiagnosticSeverity, MarkupContent, MarkupKind, Position, Range};

use crate::diagnostic::Severity;
use crate::text::{self, Buffer, Encoding, Span};

/// A place of the protocol as ours.
pub(crate) fn place(position: Position) -> text::Position {
    text::Position::new(position.line, position.character)
}

/// A place of ours as the protocol's.
pub(crate) fn position(place: text::Position) -> Position {
    Position::new(place.line, place.character)
}

/// The bytes of a range in a buffer.
pub(crate) fn span_in(buffer: &Buffer, range: Range, encoding: Encoding) -> Span {
    // Ends that are the wrong way round are meant the right way round.
    let (start, end) = if range.start <= range.end { (range.start, range.end) } else { (range.end, range.start) };
    buffer.span(place(start), place(end), encoding)
}

/// How bad a finding is.
pub(crate) fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Info => DiagnosticSeverity::INFORMATION,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}

/// A text in one of the two formats.
pub(crate) fn content(value: String, markdown: bool) -> MarkupContent {
    MarkupContent { kind: if markdown { MarkupKind::Markdown } else { MarkupKind::PlainText }, value }
}
