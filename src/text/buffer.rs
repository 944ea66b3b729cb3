//! The text that an editor edits: a rope with a version.
//!
//! Every position is clamped to the text and moved to the start of the character it is in, so that no request of a client
//! can fail.

use std::borrow::Cow;
use std::fmt;

use ropey::Rope;

use super::position::count;
use super::{Encoding, Position, Span};

/// A text with a version. Cheap to clone: clones share their text until it is edited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    rope: Rope,
    version: i32,
}

/// What an edit changed, for a reparse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// The replaced bytes of the text before the edit.
    pub old: Span,
    /// The length of the new text, which begins at `old.start`.
    pub new_len: usize,
}

impl Buffer {
    /// A text with the version in which it was opened.
    pub fn new(text: &str, version: i32) -> Self {
        Self { rope: Rope::from_str(text), version }
    }

    /// The version the client gave to this text.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// Sets the version, after edits.
    pub fn set_version(&mut self, version: i32) {
        self.version = version;
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.rope.len_bytes()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Replaces `span` with `text`.
    pub fn edit(&mut self, span: Span, text: &str) -> TextChange {
        let old = self.clamp(span);
        let start = self.rope.byte_to_char(old.start);
        self.rope.remove(start..self.rope.byte_to_char(old.end));
        self.rope.insert(start, text);
        TextChange { old, new_len: text.len() }
    }

    /// Replaces the whole text.
    pub fn replace(&mut self, text: &str) -> TextChange {
        let old = Span::new(0, self.len());
        self.rope = Rope::from_str(text);
        TextChange { old, new_len: text.len() }
    }

    /// The text in `span`, borrowed if it is contiguous in the rope.
    pub fn slice(&self, span: Span) -> Cow<'_, str> {
        self.rope.byte_slice(self.clamp(span).range()).into()
    }

    /// The whole text.
    pub fn text(&self) -> String {
        String::from(&self.rope)
    }

    /// The position of `offset`. An offset between CR and LF is at the end of the line.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let offset = self.floor_char(offset);
        let line = self.rope.byte_to_line(offset);
        let content = self.line_content(line);
        let end = offset.min(content.end);
        Position::new(count(line), count(self.units(end, encoding) - self.units(content.start, encoding)))
    }

    /// The offset of `position`. After the end of its line it is the end of the line, after the last line the end of the
    /// text, inside a character the start of the character.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let line = position.line as usize;
        if line >= self.rope.len_lines() {
            return self.len();
        }
        let content = self.line_content(line);
        let wanted = self.units(content.start, encoding).saturating_add(position.character as usize);
        if wanted >= self.units(content.end, encoding) {
            return content.end;
        }
        match encoding {
            Encoding::Utf8 => self.floor_char(wanted),
            Encoding::Utf16 => self.rope.char_to_byte(self.rope.utf16_cu_to_char(wanted)),
            Encoding::Utf32 => self.rope.char_to_byte(wanted),
        }
    }

    /// The bytes from `start` up to `end`.
    pub fn span(&self, start: Position, end: Position, encoding: Encoding) -> Span {
        self.clamp(Span::new(self.offset(start, encoding), self.offset(end, encoding)))
    }

    /// A line without its line break.
    fn line_content(&self, line: usize) -> Span {
        let start = self.rope.line_to_byte(line);
        let next = self.rope.line_to_byte(line + 1);
        let byte_before = |end: usize| (end > start).then(|| self.rope.byte(end - 1));
        let end = match byte_before(next) {
            Some(b'\n') if byte_before(next - 1) == Some(b'\r') => next - 2,
            Some(b'\n' | b'\r') => next - 1,
            _ => next,
        };
        Span::new(start, end)
    }

    /// The number of characters of an encoding before a byte.
    fn units(&self, offset: usize, encoding: Encoding) -> usize {
        match encoding {
            Encoding::Utf8 => offset,
            Encoding::Utf16 => self.rope.char_to_utf16_cu(self.rope.byte_to_char(offset)),
            Encoding::Utf32 => self.rope.byte_to_char(offset),
        }
    }

    fn clamp(&self, span: Span) -> Span {
        let start = self.floor_char(span.start);
        Span::new(start, self.floor_char(span.end).max(start))
    }

    /// The start of the character that contains `offset`.
    pub fn floor_char(&self, offset: usize) -> usize {
        self.rope.char_to_byte(self.rope.byte_to_char(offset.min(self.len())))
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rope.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The position of each offset of a text, in each encoding.
    #[test]
    fn positions_depend_on_the_encoding() {
        // A byte order mark, characters of two and four bytes, and each kind of line break.
        let buffer = Buffer::new("\u{feff}é😀x\r\ny\rz\u{2028}\u{b}\n", 1);
        let cases = [
            (0, (0, 0), (0, 0), (0, 0)),
            (1, (0, 0), (0, 0), (0, 0)), // in the byte order mark
            (3, (0, 3), (0, 1), (0, 1)),
            (5, (0, 5), (0, 2), (0, 2)),
            (7, (0, 5), (0, 2), (0, 2)), // in the character of four bytes
            (9, (0, 9), (0, 4), (0, 3)),
            (10, (0, 10), (0, 5), (0, 4)),
            (11, (0, 10), (0, 5), (0, 4)), // between CR and LF
            (12, (1, 0), (1, 0), (1, 0)),
            (13, (1, 1), (1, 1), (1, 1)),
            (14, (2, 0), (2, 0), (2, 0)),
            (18, (2, 4), (2, 2), (2, 2)), // U+2028 is not a line break
            (19, (2, 5), (2, 3), (2, 3)), // a vertical tab is not either
            (20, (3, 0), (3, 0), (3, 0)),
            (99, (3, 0), (3, 0), (3, 0)),
        ];
        for (offset, utf8, utf16, utf32) in cases {
            for (encoding, (line, character)) in
                [(Encoding::Utf8, utf8), (Encoding::Utf16, utf16), (Encoding::Utf32, utf32)]
            {
                assert_eq!(buffer.position(offset, encoding), Position::new(line, character), "{offset} {encoding:?}");
            }
        }
    }

    #[test]
    fn positions_outside_the_text_are_clamped() {
        let buffer = Buffer::new("a😀\r\nb", 1);
        let at = |line, character, encoding| buffer.offset(Position::new(line, character), encoding);
        assert_eq!(at(0, 2, Encoding::Utf16), 1, "inside a surrogate pair");
        assert_eq!(at(0, 3, Encoding::Utf8), 1, "inside a character");
        assert_eq!(at(0, 99, Encoding::Utf16), 5, "after the end of the line");
        assert_eq!(at(0, 6, Encoding::Utf8), 5, "between CR and LF");
        assert_eq!(at(1, u32::MAX, Encoding::Utf32), 8, "after the end of the last line");
        assert_eq!(at(2, 0, Encoding::Utf16), 8, "after the last line");
        assert_eq!(at(u32::MAX, u32::MAX, Encoding::Utf16), 8);
        assert_eq!(Buffer::default().offset(Position::new(0, 1), Encoding::Utf16), 0);
    }

    #[test]
    fn edits_return_what_they_changed() {
        let mut buffer = Buffer::new("name: é\n", 3);
        assert_eq!(buffer.edit(Span::new(7, 99), "x\n"), TextChange { old: Span::new(6, 9), new_len: 2 });
        assert_eq!(buffer.to_string(), "name: x\n");
        assert_eq!(buffer.edit(Span::new(6, 2), "y"), TextChange { old: Span::new(6, 6), new_len: 1 });
        assert_eq!(buffer.slice(Span::new(6, 8)), "yx");
        assert_eq!(buffer.replace("gone"), TextChange { old: Span::new(0, 9), new_len: 4 });
        assert_eq!((buffer.len(), buffer.version()), (4, 3));
        buffer.set_version(4);
        assert_eq!(buffer.version(), 4);
    }
}
