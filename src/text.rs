//! Text and positions: the buffer that an editor edits, all conversions between offsets, lines and columns, and similar
//! names.
//!
//! All other layers use byte offsets.

#![warn(clippy::disallowed_methods)]

mod buffer;
mod line_index;
mod position;
mod similar_names;

pub use buffer::{Buffer, TextChange};
pub use line_index::{LineColumn, LineIndex};
pub use position::{Encoding, Position};
pub use similar_names::{is_slip_of, nearest_name};

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl Span {
    /// The span from `start` up to `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The length in bytes.
    pub const fn len(self) -> usize {
        self.end.wrapping_sub(self.start)
    }

    /// Whether it contains no byte.
    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }

    /// Whether `offset` is in the span or at its end, like a cursor after the last character.
    pub const fn touches(self, offset: usize) -> bool {
        self.start <= offset && offset <= self.end
    }

    /// The span relative to `base`. Wraps around if the span is before `base`, so that [`Span::shifted`] restores it.
    pub const fn relative_to(self, base: usize) -> Self {
        Self { start: self.start.wrapping_sub(base), end: self.end.wrapping_sub(base) }
    }

    /// The span moved by some bytes.
    pub const fn shifted(self, by: usize) -> Self {
        Self { start: self.start.wrapping_add(by), end: self.end.wrapping_add(by) }
    }

    /// The span as a range, for slicing.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start..self.end
    }
}
