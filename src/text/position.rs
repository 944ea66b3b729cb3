//! Positions of the language server protocol: a line, and a character in it, both from 0.
//!
//! The unit of a character depends on the [`Encoding`] that the client requests.

/// The unit in which a client counts characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units: a character outside the basic plane counts as two. The default of the protocol.
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
    /// The number of characters of the [`Encoding`] before it on the line.
    pub character: u32,
}

impl Position {
    /// The position before character `character` of line `line`.
    pub const fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }
}

/// A number as the protocol writes it. The largest possible number if it does not fit.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
