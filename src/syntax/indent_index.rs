//! An index of the lines of a document and their columns, with which nested blocks are divided into chunks quickly.
//!
//! Each line is read once, no matter how many nested blocks contain it. The index changes no result: every function
//! that takes one gives the same answer without it.

use crate::syntax::content_lines;
use crate::syntax::green::offset32;

/// The content lines of a text with their columns.
#[derive(Debug)]
pub(super) struct IndentIndex {
    lines: Vec<IndentedLine>,
}

#[derive(Debug, Clone, Copy)]
struct IndentedLine {
    start: u32,
    column: u32,
    /// The index of the next line that is indented less; larger than any index if there is none.
    next_shallower: u32,
}

impl IndentIndex {
    /// The index of a text. `None` if a line is indented with tabs: its column then depends on whether it is between
    /// brackets.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut lines: Vec<IndentedLine> = Vec::with_capacity(text.len() / 32);
        // Lines that no shallower line has followed yet. Each is at least as deep as the one before it in this list.
        let mut waiting: Vec<u32> = Vec::new();
        for line in content_lines::lines_from(text, 0) {
            if line.is_tab_indented() {
                return None;
            }
            let (index, column) = (offset32(lines.len()), offset32(line.column));
            while let Some(last) = waiting.pop_if(|last| lines[*last as usize].column > column) {
                lines[last as usize].next_shallower = index;
            }
            waiting.push(index);
            lines.push(IndentedLine { start: offset32(line.start), column, next_shallower: u32::MAX });
        }
        Some(Self { lines })
    }
}

/// The index for a part of the indexed text.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndentIndexView<'o> {
    index: &'o IndentIndex,
    /// Where the part begins in the indexed text.
    start: usize,
}

impl<'o> IndentIndexView<'o> {
    pub(super) fn new(index: &'o IndentIndex) -> Self {
        Self { index, start: 0 }
    }

    /// The view for the part that begins at an offset of this one.
    pub(super) fn at(self, offset: usize) -> Self {
        Self { start: self.start + offset, ..self }
    }

    /// The first line that begins after an offset of the part.
    pub(super) fn first_after(self, offset: usize) -> LineCursor<'o> {
        let at = self.start + offset;
        LineCursor { view: self, line: self.index.lines.partition_point(|line| line.start as usize <= at) }
    }
}

/// A line of the index, or the position after the last one.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineCursor<'o> {
    view: IndentIndexView<'o>,
    line: usize,
}

impl LineCursor<'_> {
    /// The start of the line in the part, if it begins before `len`.
    pub(super) fn start(self, len: usize) -> Option<usize> {
        let line = self.view.index.lines.get(self.line)?;
        Some(line.start as usize - self.view.start).filter(|start| *start < len)
    }

    pub(super) fn next(self) -> Self {
        self.skip(1)
    }

    pub(super) fn skip(self, lines: usize) -> Self {
        Self { line: self.line + lines, ..self }
    }

    /// The first line from here on that is not deeper than `column`.
    pub(super) fn skip_deeper_than(mut self, column: usize) -> Self {
        while let Some(line) = self.view.index.lines.get(self.line).filter(|line| line.column as usize > column) {
            self.line = line.next_shallower as usize;
        }
        self
    }

    /// The next line that is indented less than this one, if it is within so many lines.
    pub(super) fn next_shallower_within(self, lines: usize) -> Option<Self> {
        let next = self.view.index.lines.get(self.line)?.next_shallower as usize;
        (next <= self.line + lines).then_some(Self { line: next, ..self })
    }
}
