//! An index of a text's lines and multi-byte characters, to convert offsets without the text.
//!
//! The text of closed files is not kept, but findings and definitions still refer to them. Gives the same positions as
//! [`Buffer`](super::Buffer) for every offset of every text.

use super::position::count;
use super::{Buffer, Encoding, Position, Span, TextChange};

/// An index of a text's lines that outlives the text. Offsets have 32 bits: text after the first 4 GiB is not indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    /// The start of each line.
    starts: Box<[u32]>,
    /// The lines that end with CRLF. The line breaks of all other lines have one byte.
    crlf: Box<[u32]>,
    /// The characters of more than one byte.
    wide: Box<[WideRun]>,
    /// The text's length in bytes.
    len: u32,
}

/// A position as it is shown to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// Consecutive characters of the same width, with the length of the text before them in each encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WideRun {
    start: u32,
    start_utf16: u32,
    start_utf32: u32,
    characters: u32,
    /// The bytes of each character: 2, 3 or 4.
    width: u8,
}

impl Default for LineIndex {
    fn default() -> Self {
        Self::new("")
    }
}

impl LineIndex {
    /// The index of `text`.
    pub fn new(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(u32::MAX as usize)];
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        let mut crlf = Vec::new();
        for end in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            match bytes[end] {
                b'\r' if bytes.get(end + 1) == Some(&b'\n') => crlf.push(count(starts.len() - 1)),
                _ => starts.push(count(end + 1)),
            }
        }
        Self { starts: starts.into(), crlf: crlf.into(), wide: wide_runs(text).into(), len: count(text.len()) }
    }

    /// The index after an edit. `text` is the text after the edit, of which only the lines around it are read.
    pub fn edited(&self, change: TextChange, text: &Buffer) -> Self {
        if text.len().max(self.text_len()) >= u32::MAX as usize {
            return Self::new(&text.to_string());
        }
        // One more line on either side: the edit may join a CR and an LF.
        let first = self.line(change.old.start).saturating_sub(1) as usize;
        let after = self.line(change.old.end) as usize + 2;
        let start = self.starts[first];
        let end = self.starts.get(after).copied().unwrap_or(self.len);
        let by = |offset: u32| count((offset as usize + change.new_len).saturating_sub(change.old.len()));
        let new = Self::new(&text.slice(Span::new(start as usize, by(end) as usize)));
        let is_last = after >= self.starts.len();
        // A text that ends with a line break has an empty last line. Here it is the first line after the edit.
        let lines = if is_last { new.starts.len() } else { new.starts.len() - 1 };
        let mut starts = Vec::with_capacity(self.starts.len() + lines);
        starts.extend_from_slice(&self.starts[..first]);
        starts.extend(new.starts[..lines].iter().map(|it| it + start));
        starts.extend(self.starts.iter().skip(after).map(|it| by(*it)));
        let mut crlf: Vec<u32> = self.crlf.iter().copied().take_while(|it| (*it as usize) < first).collect();
        crlf.extend(new.crlf.iter().map(|it| it + count(first)));
        let later = self.crlf.iter().skip_while(|it| (**it as usize) < after);
        crlf.extend(later.map(|it| count(*it as usize + first + lines - after)));
        Self { starts: starts.into(), crlf: crlf.into(), wide: self.edited_runs(&new, start..end), len: by(self.len) }
    }

    /// The runs of wide characters after the runs of a range are replaced with those of `new`.
    fn edited_runs(&self, new: &Self, range: std::ops::Range<u32>) -> Box<[WideRun]> {
        let moved = |run: &WideRun, at: u32, utf16: u32, utf32: u32, from: [u32; 3]| WideRun {
            start: run.start - from[0] + at,
            start_utf16: run.start_utf16 - from[1] + utf16,
            start_utf32: run.start_utf32 - from[2] + utf32,
            ..*run
        };
        let all = |lines: &Self, at: u32| {
            [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32].map(|encoding| lines.units(at, encoding))
        };
        let start = all(self, range.start);
        let old_end = all(self, range.end);
        let inner = all(new, new.len);
        let new_end = [0, 1, 2].map(|at| start[at] + inner[at]);
        let before = self.wide.partition_point(|run| run.start < range.start);
        let after = self.wide.partition_point(|run| run.start < range.end);
        let mut runs = self.wide[..before].to_vec();
        runs.extend(new.wide.iter().map(|run| moved(run, start[0], start[1], start[2], [0; 3])));
        runs.extend(self.wide[after..].iter().map(|run| moved(run, new_end[0], new_end[1], new_end[2], old_end)));
        runs.into()
    }

    /// The length of the text in bytes.
    pub fn text_len(&self) -> usize {
        self.len as usize
    }

    /// The number of lines. A text that ends with a line break has an empty last line.
    pub fn line_count(&self) -> u32 {
        count(self.starts.len())
    }

    /// The line of `offset`, from 0.
    pub fn line(&self, offset: usize) -> u32 {
        let offset = count(offset).min(self.len);
        count(self.starts.partition_point(|&start| start <= offset) - 1)
    }

    /// The bytes of a line (from 0) without its line break. For a line after the last one, the end of the text.
    pub fn line_span(&self, line: u32) -> Span {
        let Some(&start) = self.starts.get(line as usize) else {
            return Span::new(self.text_len(), self.text_len());
        };
        let end = match self.starts.get(line as usize + 1) {
            Some(next) => next - if self.crlf.binary_search(&line).is_ok() { 2 } else { 1 },
            None => self.len,
        };
        Span::new(start as usize, end as usize)
    }

    /// The line and column of `offset` as people count them.
    pub fn line_column(&self, offset: usize) -> LineColumn {
        let Position { line, character } = self.position(offset, Encoding::Utf32);
        LineColumn { line: line.saturating_add(1), column: character.saturating_add(1) }
    }

    /// The position of `offset`, as [`Buffer::position`](super::Buffer::position) gives it.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let offset = self.floor(count(offset).min(self.len));
        let line = self.line(offset as usize);
        let content = self.line_span(line);
        let end = offset.min(count(content.end));
        Position::new(line, self.units(end, encoding) - self.units(count(content.start), encoding))
    }

    /// The offset of `position`, as [`Buffer::offset`](super::Buffer::offset) gives it.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let content = self.line_span(position.line);
        let wanted = self.units(count(content.start), encoding).saturating_add(position.character);
        if wanted >= self.units(count(content.end), encoding) {
            return content.end;
        }
        self.byte(wanted, encoding) as usize
    }

    /// The number of characters of an encoding before a byte, which must be the start of a character.
    fn units(&self, offset: u32, encoding: Encoding) -> u32 {
        let after = self.wide.partition_point(|run| run.start <= offset);
        let Some(run) = after.checked_sub(1).map(|index| self.wide[index]) else {
            return offset;
        };
        let characters = ((offset - run.start) / u32::from(run.width)).min(run.characters);
        let rest = offset - run.start - characters * u32::from(run.width);
        run.start_in(encoding) + characters * run.units_each(encoding) + rest
    }

    /// The start of the character that contains unit `wanted` of an encoding.
    fn byte(&self, wanted: u32, encoding: Encoding) -> u32 {
        let after = self.wide.partition_point(|run| run.start_in(encoding) <= wanted);
        let Some(run) = after.checked_sub(1).map(|index| self.wide[index]) else {
            return wanted;
        };
        let into = wanted - run.start_in(encoding);
        let characters = (into / run.units_each(encoding)).min(run.characters);
        let rest = if characters < run.characters { 0 } else { into - characters * run.units_each(encoding) };
        run.start + characters * u32::from(run.width) + rest
    }

    fn floor(&self, offset: u32) -> u32 {
        self.byte(offset, Encoding::Utf8)
    }
}

impl WideRun {
    fn start_in(&self, encoding: Encoding) -> u32 {
        match encoding {
            Encoding::Utf8 => self.start,
            Encoding::Utf16 => self.start_utf16,
            Encoding::Utf32 => self.start_utf32,
        }
    }

    fn units_each(&self, encoding: Encoding) -> u32 {
        match encoding {
            Encoding::Utf8 => u32::from(self.width),
            Encoding::Utf16 if self.width == 4 => 2,
            Encoding::Utf16 | Encoding::Utf32 => 1,
        }
    }

    fn end(&self) -> u32 {
        self.start + self.characters * u32::from(self.width)
    }
}

fn wide_runs(text: &str) -> Vec<WideRun> {
    let mut runs: Vec<WideRun> = Vec::new();
    if text.is_ascii() {
        return runs;
    }
    // The difference between the number of bytes and the number of units before the current character.
    let (mut difference_utf16, mut difference_utf32) = (0, 0);
    for (start, character) in text.char_indices().filter(|(_, character)| !character.is_ascii()) {
        let (start, width) = (count(start), character.len_utf8() as u8);
        match runs.last_mut() {
            Some(run) if run.width == width && run.end() == start => run.characters += 1,
            _ => runs.push(WideRun {
                start,
                start_utf16: start - difference_utf16,
                start_utf32: start - difference_utf32,
                characters: 1,
                width,
            }),
        }
        difference_utf16 += u32::from(width) - count(character.len_utf16());
        difference_utf32 += u32::from(width) - 1;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_column_count_from_one() {
        let lines = LineIndex::new("name: é😀😀x\r\nb\n");
        let at = |offset| (lines.line_column(offset).line, lines.line_column(offset).column);
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(6), (1, 7));
        assert_eq!(at(8), (1, 8));
        assert_eq!(at(12), (1, 9));
        assert_eq!(at(16), (1, 10));
        assert_eq!(at(18), (1, 11), "between CR and LF");
        assert_eq!(at(19), (2, 1));
        assert_eq!(at(99), (3, 1));
        assert_eq!((lines.line_count(), lines.text_len()), (3, 21));
        assert_eq!(lines.line_span(0), Span::new(0, 17));
        assert_eq!(lines.line_span(1), Span::new(19, 20));
        assert_eq!(lines.line_span(7), Span::new(21, 21));
    }

    #[test]
    fn consecutive_characters_of_one_width_share_an_entry() {
        assert_eq!(LineIndex::new("设置 的值 é").wide.len(), 3);
        assert!(LineIndex::new("plain\ntext\n").wide.is_empty());
    }

    #[test]
    fn an_edited_index_equals_a_new_one() {
        let parts = ["a", "\n", "\r", "\r\n", "é", "😀", "", "b\nc", "设\r"];
        let mut seed: usize = 1;
        let mut below = |limit: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005 & usize::MAX).wrapping_add(1_442_695_041);
            (seed >> 16) % limit.max(1)
        };
        for _ in 0..200 {
            let text: String = (0..below(12)).map(|_| parts[below(parts.len())]).collect();
            let mut buffer = Buffer::new(&text, 0);
            let mut lines = LineIndex::new(&text);
            for _ in 0..12 {
                let start = below(buffer.len() + 1);
                let typed: String = (0..below(3)).map(|_| parts[below(parts.len())]).collect();
                let before = buffer.to_string();
                let change = buffer.edit(Span::new(start, start + below(4)), &typed);
                lines = lines.edited(change, &buffer);
                assert_eq!(lines, LineIndex::new(&buffer.to_string()), "{before:?} {change:?} {typed:?}");
            }
        }
    }
}
