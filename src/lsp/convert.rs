//! Conversions between protocol types and podlens types that several files need.

use tower_lsp_server::ls_types::{DiagnosticSeverity, MarkupContent, MarkupKind, Position, Range};

use crate::diagnostic::Severity;
use crate::text::{self, Buffer, Encoding, Span};

/// A position of the protocol as a position of `text`.
pub(crate) fn from_position(position: Position) -> text::Position {
    text::Position::new(position.line, position.character)
}

/// A position of `text` as a position of the protocol.
pub(crate) fn to_position(position: text::Position) -> Position {
    Position::new(position.line, position.character)
}

/// The bytes of a range in a buffer.
pub(crate) fn span_in(buffer: &Buffer, range: Range, encoding: Encoding) -> Span {
    // Some clients send the end before the start.
    let (start, end) = if range.start <= range.end { (range.start, range.end) } else { (range.end, range.start) };
    buffer.span(from_position(start), from_position(end), encoding)
}

/// The protocol's severity of a finding.
pub(crate) fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Info => DiagnosticSeverity::INFORMATION,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}

/// Text as Markdown or as plain text.
pub(crate) fn markup_content(value: String, markdown: bool) -> MarkupContent {
    MarkupContent { kind: if markdown { MarkupKind::Markdown } else { MarkupKind::PlainText }, value }
}
