//! The lines of a document and how deep they stand, so that its levels are cut without a look at what they hold.
//!
//! A line is looked at once, however many levels it stands in. What is told with an outline is what the lines themselves
//! tell: it is only quicker.

use crate::syntax::chunk_boundaries;
use crate::syntax::chunks::offset32;

/// Every line of a text that says something.
#[derive(Debug)]
pub(super) struct IndentIndex {
    lines: Vec<IndentedLine>,
}

#[derive(Debug, Clone, Copy)]
struct IndentedLine {
    start: u32,
    column: u32,
    /// The first line behind it that stands further left; behind the last if there is none.
    left: u32,
}

impl IndentIndex {
    /// The outline of a text, unless tabs indent something in it: then columns mean one thing in a block and another
    /// between brackets.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut lines: Vec<IndentedLine> = Vec::with_capacity(text.len() / 32);
        // Lines that nothing further left has followed yet, each deeper than the one before it or beside it.
        let mut waiting: Vec<u32> = Vec::new();
        for line in chunk_boundaries::lines_from(text, 0) {
            if line.column == usize::MAX {
                return None;
            }
            let (index, column) = (offset32(lines.len()), offset32(line.column));
            while let Some(last) = waiting.pop_if(|last| lines[*last as usize].column > column) {
                lines[last as usize].left = index;
            }
            waiting.push(index);
            lines.push(IndentedLine { start: offset32(line.start), column, left: u32::MAX });
        }
        Some(Self { lines })
    }
}

/// A part of the text that has an outline.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndentIndexView<'o> {
    outline: &'o IndentIndex,
    /// Where the part begins.
    start: usize,
}

impl<'o> IndentIndexView<'o> {
    pub(super) fn new(outline: &'o IndentIndex) -> Self {
        Self { outline, start: 0 }
    }

    /// For a part that begins further on.
    pub(super) fn at(self, offset: usize) -> Self {
        Self { start: self.start + offset, ..self }
    }

    /// The first line that begins behind an offset of the part.
    pub(super) fn first_after(self, offset: usize) -> LineCursor<'o> {
        let at = self.start + offset;
        LineCursor { of: self, index: self.outline.lines.partition_point(|line| line.start as usize <= at) }
    }
}

/// A line of an outline, or behind all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineCursor<'o> {
    of: IndentIndexView<'o>,
    index: usize,
}

impl LineCursor<'_> {
    /// Where the line begins in the part, if it begins before `len`.
    pub(super) fn start(self, len: usize) -> Option<usize> {
        let line = self.of.outline.lines.get(self.index)?;
        Some(line.start as usize - self.of.start).filter(|start| *start < len)
    }

    pub(super) fn next(self) -> Self {
        self.skip(1)
    }

    pub(super) fn skip(self, lines: usize) -> Self {
        Self { index: self.index + lines, ..self }
    }

    /// The first line from here on that does not stand behind a column.
    pub(super) fn skip_deeper_than(mut self, column: usize) -> Self {
        while let Some(line) = self.of.outline.lines.get(self.index).filter(|line| line.column as usize > column) {
            self.index = line.left as usize;
        }
        self
    }

    /// The first line behind this one that stands further left, among so many lines.
    pub(super) fn next_shallower_within(self, among: usize) -> Option<Self> {
        let left = self.of.outline.lines.get(self.index)?.left as usize;
        (left <= self.index + among).then_some(Self { index: left, ..self })
    }
}
