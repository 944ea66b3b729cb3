//! The lines an edit touched, and the lines around them that decide where chunks begin.

use crate::syntax::chunk_boundaries::{LOOKAHEAD_LINES, is_lookahead_dependent};
use crate::syntax::content_lines::lines_from;
use crate::syntax::text_slices::{TextSlices, line_end, line_start};
use crate::text::{Span, TextChange};

/// An edit, extended to whole lines.
pub(super) struct EditedLines {
    /// The start of the first edited line.
    pub(super) start: usize,
    /// The end of the last edited line, in the old text.
    pub(super) end: usize,
    /// How far the text after it moved.
    pub(super) by: i64,
    /// Where the edit itself begins.
    pub(super) edit: usize,
    /// The edited lines with the lines around them that decide which of them start chunks.
    around: String,
    /// Where `around` begins.
    pub(super) around_start: usize,
    /// Starts (in `around`) of lines before the edit that may start a chunk because of it, or no longer start one.
    pub(super) lookahead_dependent: Vec<usize>,
    /// Whether there is a quote or bracket in the edited lines.
    pub(super) may_open: bool,
}

impl EditedLines {
    pub(super) fn new(edit: TextChange, text: &(impl TextSlices + ?Sized)) -> Self {
        let by = signed(edit.new_len) - signed(edit.old.len());
        let start = line_start(text, edit.old.start);
        let new_end = line_end(text, edit.old.start + edit.new_len);
        let end = usize::try_from(signed(new_end) - by).unwrap_or_default();
        let around_start = lines_back(text, start);
        let around = text.slice(Span::new(around_start, lines_ahead(text, new_end))).into_owned();
        let before = &around[..start - around_start];
        let mut lookahead_dependent: Vec<usize> =
            lines_from(before, 0).filter(|line| is_lookahead_dependent(before, line)).map(|line| line.start).collect();
        // Whether the first of them starts a chunk depends on the line before it, which is not in `around`.
        if around_start > 0 {
            lookahead_dependent.retain(|at| *at > 0);
        }
        lookahead_dependent.extend(lines_from(before, 0).last().map(|line| line.start));
        let lines = &around[start - around_start..new_end - around_start];
        let may_open = lines.contains(['"', '\'', '[', '{']);
        Self { start, end, by, edit: edit.old.start, around, around_start, lookahead_dependent, may_open }
    }

    /// The new offset of text after the edited lines.
    pub(super) fn moved(&self, offset: usize) -> usize {
        usize::try_from(signed(offset) + self.by).unwrap_or_default()
    }

    /// The end of the last edited line, in the new text.
    pub(super) fn new_end(&self) -> usize {
        self.moved(self.end)
    }

    /// The lines around the edit, up to the end of a block in the old text.
    pub(super) fn around_in(&self, block_end: usize) -> &str {
        let end = self.moved(block_end).saturating_sub(self.around_start);
        self.around.get(..end).unwrap_or(&self.around)
    }
}

/// The start of the lines that may depend on the line at `offset`, where it begins.
fn lines_back(text: &(impl TextSlices + ?Sized), offset: usize) -> usize {
    let mut width = 8 * 1024;
    loop {
        let from = text.floor_char(offset.saturating_sub(width));
        let window = text.slice(Span::new(from, offset));
        // Only whole lines count.
        let first_line = if from == 0 { Some(0) } else { window.find('\n').map(|end| end + 1) };
        let first_line = first_line.unwrap_or(window.len());
        let mut start = window.len();
        let mut content_lines = 0;
        while start > first_line && content_lines <= LOOKAHEAD_LINES + 1 {
            let line = window[..start - 1].rfind('\n').map_or(0, |end| end + 1);
            content_lines += usize::from(lines_from(&window[line..start], 0).next().is_some());
            start = line;
        }
        if content_lines > LOOKAHEAD_LINES + 1 || from == 0 {
            return from + start;
        }
        width *= 4;
    }
}

/// The end of the lines that decide whether the line at `offset`, where it begins, starts a chunk.
pub(super) fn lines_ahead(text: &(impl TextSlices + ?Sized), offset: usize) -> usize {
    let mut width = 4096;
    loop {
        let end = line_end(text, text.floor_char((offset + width).min(text.len())));
        let window = text.slice(Span::new(offset, end));
        // The line itself and the lookahead after it.
        let found = lines_from(&window, 0).nth(LOOKAHEAD_LINES + 1).map(|line| offset + line.start);
        match found {
            Some(end) => return end,
            None if end >= text.len() => return end,
            None => width *= 4,
        }
    }
}

pub(super) fn signed(offset: usize) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}
