//! The stream: where documents begin, and each of them parsed alone, so that a broken one never affects its neighbours.
//!
//! A boundary is a property of its own line (`---` or `...` at column 0), so an edit moves only boundaries it touches.

use crate::syntax::build::{self, Refusal};
use crate::syntax::patch::Patched;
use crate::syntax::tree::{GreenDocument, Placed, SyntaxError, Tree};
use crate::text::Span;

/// Parses a whole file.
pub fn parse(text: &str) -> Tree {
    let documents = cut(text)
        .into_iter()
        .map(|at| Placed::new(u32::try_from(at.start).unwrap_or(u32::MAX), document(&text[at.range()])))
        .collect();
    Tree { documents, len: text.len() }
}

fn document(text: &str) -> GreenDocument {
    let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
    match build::read(&Patched::plain(text)) {
        Ok(root) => GreenDocument { len, root, ..Default::default() },
        Err(refusal) => {
            let message = match refusal {
                Refusal::Scan(error) => error.to_string(),
                Refusal::SecondDocument => "second document".into(),
            };
            GreenDocument { len, errors: vec![SyntaxError::new(Span::new(0, 0), message)], ..Default::default() }
        }
    }
}

/// The spans of the documents; together they cover the text.
pub(super) fn cut(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut start = 0;
    // Directives stand before their `---`, which then begins no new document.
    let mut preamble = Preamble::Nothing;
    let mut line = 0;
    while line < text.len() {
        let rest = &text.as_bytes()[line..];
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        match kind(&rest[..len]) {
            Line::Start => {
                if line > start && preamble != Preamble::Directive {
                    spans.push(Span::new(start, line));
                    start = line;
                }
                preamble = Preamble::Over;
            }
            Line::End => {
                spans.push(Span::new(start, line + len));
                start = line + len;
                preamble = Preamble::Nothing;
            }
            Line::Directive if preamble != Preamble::Over => preamble = Preamble::Directive,
            Line::Blank => {}
            Line::Directive | Line::Content => preamble = Preamble::Over,
        }
        line += len;
    }
    if start < text.len() || spans.is_empty() {
        spans.push(Span::new(start, text.len()));
    }
    spans
}

#[derive(PartialEq, Eq)]
enum Preamble {
    Nothing,
    Directive,
    Over,
}

/// What a line means for the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// `---`
    Start,
    /// `...`
    End,
    /// `%YAML`
    Directive,
    /// Nothing, or a comment.
    Blank,
    Content,
}

pub(super) fn kind(line: &[u8]) -> Line {
    let marker = |mark: &[u8]| {
        line.strip_prefix(mark).is_some_and(|rest| rest.first().is_none_or(|byte| b" \t\r\n".contains(byte)))
    };
    match line.first() {
        Some(b'-') if marker(b"---") => Line::Start,
        Some(b'.') if marker(b"...") => Line::End,
        Some(b'%') => Line::Directive,
        _ => match line.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None | Some(b'#') => Line::Blank,
            Some(_) => Line::Content,
        },
    }
}
