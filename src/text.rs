//! Text and places in it: the buffer an editor edits, and the only column arithmetic there is.
//!
//! Everywhere else a place is a byte offset.

#![warn(clippy::disallowed_methods)]

mod buffer;
mod line_index;
mod position;

pub use buffer::{Buffer, TextChange};
pub use line_index::{LineColumn, LineIndex};
pub use position::{Encoding, Position};

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

    /// Its length in bytes.
    pub const fn len(self) -> usize {
        self.end.wrapping_sub(self.start)
    }

    /// Whether it covers no byte.
    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }

    /// Whether `offset` lies in it; the end counts, as a cursor behind the last character does.
    pub const fn touches(self, offset: usize) -> bool {
        self.start <= offset && offset <= self.end
    }

    /// The same span counted from another place. Wraps, so that what stands before `base` comes back from
    /// [`Span::shifted`] unharmed.
    pub const fn relative_to(self, base: usize) -> Self {
        Self { start: self.start.wrapping_sub(base), end: self.end.wrapping_sub(base) }
    }

    /// The same span further on in the text.
    pub const fn shifted(self, by: usize) -> Self {
        Self { start: self.start.wrapping_add(by), end: self.end.wrapping_add(by) }
    }

    /// As a range, for slicing.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start..self.end
    }
}
