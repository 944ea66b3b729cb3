//! Places as an editor counts them: a line, and a character in it.
//!
//! What a character is depends on the [`Encoding`] the client asked for; lines and characters count from 0.

/// What a client counts as one character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units: an astral character counts as two. The protocol's default.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

/// A line and a character in it, both from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The line. Lines end at LF, CRLF and CR.
    pub line: u32,
    /// How many characters of the [`Encoding`] stand before it on the line.
    pub character: u32,
}

impl Position {
    /// The place before character `character` of line `line`.
    pub const fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }
}

/// A count as the protocol writes it; what does not fit is as far away as can be said.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
