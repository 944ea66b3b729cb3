//! Reads one file or stream: UTF-8 text up to a size limit.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::diagnostic::InputProblem;
use crate::text::LineIndex;
use crate::workspace::SETTINGS_FILE;

/// Larger files are refused: no manifest has this size.
const MAX_SIZE: u64 = 64 * 1024 * 1024;

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    message: String,
    position: Option<(u32, u32)>,
    is_missing: bool,
}

impl ReadError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), position: None, is_missing: false }
    }

    /// The error of a path that does not exist.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        Self { is_missing: true, ..Self::new(message) }
    }

    /// The problem of the file with this path, as it is shown.
    pub fn in_file(self, file: impl Into<String>) -> InputProblem {
        let Self { message, position, is_missing } = self;
        InputProblem { file: file.into(), position, message, is_missing }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::missing("no such file or directory"),
            _ => Self::new(format!("cannot be read: {error}")),
        }
    }
}

/// The text of a file.
pub fn read(path: &Path) -> Result<String, ReadError> {
    read_file(path).map(|(text, _)| text)
}

/// The text of a file, and whether it is a regular file: a pipe can be read only once.
pub(super) fn read_file(path: &Path) -> Result<(String, bool), ReadError> {
    let mut file = fs::File::open(path)?;
    let about = file.metadata()?;
    if about.len() > MAX_SIZE {
        return Err(too_large());
    }
    let text = read_limited(&mut file, usize::try_from(about.len()).unwrap_or_default())?;
    Ok((text, about.is_file()))
}

/// The text of a stream.
pub fn read_stream(stream: &mut dyn Read) -> Result<String, ReadError> {
    read_limited(stream, 0)
}

/// Reads a stream of about `size` bytes. It stops at the limit, since a device may never end.
fn read_limited(stream: &mut dyn Read, size: usize) -> Result<String, ReadError> {
    // One byte more than expected, so that the end is found without growing the buffer.
    let mut bytes = Vec::with_capacity(size + 1);
    stream.take(MAX_SIZE + 1).read_to_end(&mut bytes)?;
    decode(bytes)
}

fn decode(bytes: Vec<u8>) -> Result<String, ReadError> {
    if bytes.len() as u64 > MAX_SIZE {
        return Err(too_large());
    }
    if let Some(encoding) = wide_encoding(&bytes) {
        return Err(ReadError::new(format!("is {encoding}; save the file as UTF-8")));
    }
    String::from_utf8(bytes).map_err(|error| not_utf8(error.as_bytes(), error.utf8_error().valid_up_to()))
}

/// The encoding of a text with several bytes for every character, by its byte order mark or by its first characters: the
/// manifests that Kubernetes reads begin with ASCII.
fn wide_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] | [1..=255, 0, 0, 0, ..] | [0, 0, 0, 1..=255, ..] => {
            Some("UTF-32")
        }
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [1..=255, 0, 1..=255, 0, ..] | [0, 1..=255, 0, 1..=255, ..] => {
            Some("UTF-16")
        }
        _ => None,
    }
}

/// The error of a file whose byte at `offset` is the first that is not UTF-8.
fn not_utf8(bytes: &[u8], offset: usize) -> ReadError {
    let valid = String::from_utf8_lossy(&bytes[..offset]);
    let place = LineIndex::new(&valid).line_column(valid.len());
    let byte = bytes.get(offset).map_or_else(String::new, |byte| format!(" (byte 0x{byte:02X})"));
    ReadError {
        position: Some((place.line, place.column)),
        ..ReadError::new(format!("not UTF-8{byte}; save the file as UTF-8"))
    }
}

fn too_large() -> ReadError {
    let limit = MAX_SIZE / (1024 * 1024);
    ReadError::new(format!("is larger than {limit} MB and was not read; split it, or exclude it in {SETTINGS_FILE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> String {
        decode(bytes.to_vec()).expect_err("refused").in_file("a.yaml").to_string()
    }

    #[test]
    fn bytes_that_are_not_utf8_have_a_position() {
        assert_eq!(refused(b"a: 1\nb: \xFCber"), "a.yaml:2:4: not UTF-8 (byte 0xFC); save the file as UTF-8");
        assert_eq!(refused(&[0xFF]), "a.yaml:1:1: not UTF-8 (byte 0xFF); save the file as UTF-8");
        for wide in [&[0xFF, 0xFE, b'a', 0][..], &[0xFE, 0xFF, 0, b'a'], b"a\0:\0", b"\0a\0:"] {
            assert_eq!(refused(wide), "a.yaml: is UTF-16; save the file as UTF-8");
        }
        for wide in [&[0xFF, 0xFE, 0, 0, b'a', 0, 0, 0][..], b"a\0\0\0", b"\0\0\0a"] {
            assert_eq!(refused(wide), "a.yaml: is UTF-32; save the file as UTF-8");
        }
    }
}
