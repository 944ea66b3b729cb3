//! Access to parts of a text, so that a reparse reads only the lines around an edit.

use std::borrow::Cow;

use crate::text::{Buffer, Span};

/// A text that can be read in parts.
pub trait TextSlices {
    /// Its length in bytes.
    fn len(&self) -> usize;
    /// The text in `span`, whose ends must be character boundaries.
    fn slice(&self, span: Span) -> Cow<'_, str>;
    /// Whether it has no text.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The nearest character boundary at or before `offset`.
    fn floor_char(&self, offset: usize) -> usize;
}

impl TextSlices for str {
    fn len(&self) -> usize {
        str::len(self)
    }

    fn slice(&self, span: Span) -> Cow<'_, str> {
        Cow::Borrowed(self.get(span.range()).unwrap_or_default())
    }

    fn floor_char(&self, offset: usize) -> usize {
        self.floor_char_boundary(offset)
    }
}

impl TextSlices for Buffer {
    fn len(&self) -> usize {
        Buffer::len(self)
    }

    fn slice(&self, span: Span) -> Cow<'_, str> {
        Buffer::slice(self, span)
    }

    fn floor_char(&self, offset: usize) -> usize {
        Buffer::floor_char(self, offset)
    }
}

/// The start of the line that contains `offset`.
pub(super) fn line_start(text: &(impl TextSlices + ?Sized), offset: usize) -> usize {
    let mut width = 256;
    loop {
        let start = text.floor_char(offset.saturating_sub(width));
        let window = text.slice(Span::new(start, offset));
        match window.rfind('\n') {
            Some(at) => return start + at + 1,
            None if start == 0 => return 0,
            None => width *= 4,
        }
    }
}

/// The end of the line that contains `offset`, line break included.
pub(super) fn line_end(text: &(impl TextSlices + ?Sized), offset: usize) -> usize {
    let mut width = 256;
    loop {
        let end = text.floor_char((offset + width).min(text.len()));
        let window = text.slice(Span::new(offset, end.max(offset)));
        match window.find('\n') {
            Some(at) => return offset + at + 1,
            None if end >= text.len() => return text.len(),
            None => width *= 4,
        }
    }
}

/// A span extended to whole lines, the last line break included.
pub fn lines_around(text: &(impl TextSlices + ?Sized), span: Span) -> Span {
    Span::new(line_start(text, span.start), line_end(text, span.end))
}
