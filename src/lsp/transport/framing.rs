//! Bytes to messages: headers, lengths, and the next message after one that cannot be read.
//!
//! Only the end of the stream ends the reading. A message that cannot be read is reported once, and the reader looks for
//! the next header.

use std::io::{self, Read};
use std::thread;

use serde_json::Value;
use tokio::sync::mpsc;

use crate::lsp::transport::message::Message;

/// The largest message body, in bytes.
const MAX_LENGTH: usize = 256 * 1024 * 1024;

/// How many messages may wait for the main loop before the reader stops reading.
const BACKLOG: usize = 4096;

const LENGTH: &[u8] = b"content-length:";

/// Reads messages on another thread. The channel ends with the stream.
pub(crate) fn read_messages(stream: impl Read + Send + 'static) -> mpsc::Receiver<Message> {
    let (sender, receiver) = mpsc::channel(BACKLOG);
    thread::spawn(move || {
        let mut frames = Frames::new(stream);
        while let Some(body) = frames.next() {
            let message = body.map_or_else(Message::Unreadable, Message::from_json);
            if sender.blocking_send(message).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A stream divided into message bodies.
struct Frames<R> {
    stream: R,
    buffer: Vec<u8>,
    /// The end of the part of the buffer that has been used.
    start: usize,
    /// Whether the reader is looking for the next header after an error: errors that follow from it are not reported.
    is_lost: bool,
}

impl<R: Read> Frames<R> {
    fn new(stream: R) -> Self {
        Self { stream, buffer: Vec::new(), start: 0, is_lost: false }
    }

    /// The next body, or why it cannot be read; `None` at the end of the stream.
    fn next(&mut self) -> Option<Result<Value, String>> {
        loop {
            match self.header() {
                Ok(Some(length)) => {
                    let body = self.body(length)?;
                    self.is_lost = body.is_err();
                    return Some(body);
                }
                Ok(None) => return None,
                Err(reason) => {
                    let was_lost = std::mem::replace(&mut self.is_lost, true);
                    if !was_lost {
                        return Some(Err(reason));
                    }
                }
            }
        }
    }

    /// Reads headers up to the empty line and returns the length. After an error the stream is at the next line.
    fn header(&mut self) -> Result<Option<usize>, String> {
        let mut length = None;
        let mut is_started = false;
        loop {
            let Some(line) = self.line() else { return Ok(None) };
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if text.is_empty() {
                match length {
                    Some(length) => return Ok(Some(length)),
                    None if is_started && !self.is_lost => return Err("header without `Content-Length`".into()),
                    // Empty lines between messages are ignored.
                    None => continue,
                }
            }
            is_started = true;
            match text.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = Some(parse_length(value)?);
                }
                Some((name, _)) if is_header_name(name) && !self.is_lost => {}
                // Possibly the rest of a body whose length was too small, with the next header after it.
                _ => match last_length(&line) {
                    Some(found) if self.is_lost => length = Some(found),
                    Some(found) => {
                        self.unread(format!("Content-Length: {found}\r\n").as_bytes());
                        return Err("text between messages".into());
                    }
                    None if self.is_lost => {}
                    None => return Err("not a header".into()),
                },
            }
        }
    }

    /// Reads a body. If it is not JSON but contains a header, its length was too large: that header is read next.
    fn body(&mut self, length: usize) -> Option<Result<Value, String>> {
        while self.buffer.len() - self.start < length {
            if !self.fill() {
                return None;
            }
        }
        let body = &self.buffer[self.start..self.start + length];
        match serde_json::from_slice(body) {
            Ok(message) => {
                self.start += length;
                Some(Ok(message))
            }
            Err(error) => {
                let inner = find_last(body, LENGTH).filter(|at| *at > 0);
                self.start += inner.unwrap_or(length);
                Some(Err(format!("not JSON: {error}")))
            }
        }
    }

    /// The next line with its line break. Text without a line break at the end of the stream is not a line.
    fn line(&mut self) -> Option<Vec<u8>> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..]) {
                let line = self.buffer[self.start..=searched + at].to_vec();
                self.start = searched + at + 1;
                return Some(line);
            }
            searched = self.buffer.len() - self.start;
            if !self.fill() {
                return None;
            }
            searched += self.start;
        }
    }

    /// Reads more bytes. Returns false at the end of the stream.
    fn fill(&mut self) -> bool {
        self.buffer.drain(..self.start);
        self.start = 0;
        let mut chunk = [0; 64 * 1024];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return false,
                Ok(count) => {
                    self.buffer.extend_from_slice(&chunk[..count]);
                    return true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Makes `bytes` the next bytes to read.
    fn unread(&mut self, bytes: &[u8]) {
        self.buffer.splice(..self.start, bytes.iter().copied());
        self.start = 0;
    }
}

fn parse_length(value: &str) -> Result<usize, String> {
    match value.trim().parse() {
        Ok(length) if length <= MAX_LENGTH => Ok(length),
        Ok(length) => Err(format!("message of {length} bytes, the limit is {MAX_LENGTH}")),
        Err(_) => Err("`Content-Length` is not a number".into()),
    }
}

fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The length in the last header that a line contains.
fn last_length(line: &[u8]) -> Option<usize> {
    let value = &line[find_last(line, LENGTH)? + LENGTH.len()..];
    parse_length(std::str::from_utf8(value).ok()?).ok()
}

/// The offset of the last occurrence of `lowercase` in `text`, ignoring ASCII case.
fn find_last(text: &[u8], lowercase: &[u8]) -> Option<usize> {
    text.windows(lowercase.len()).rposition(|part| part.eq_ignore_ascii_case(lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bodies in a stream that arrives in small pieces. `!` is one that cannot be read.
    fn read_all(stream: &str) -> Vec<String> {
        struct Slow<'s>(&'s [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = self.0.len().min(7).min(buffer.len());
                buffer[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let mut frames = Frames::new(Slow(stream.as_bytes()));
        let next = || {
            frames.next().map(|it| match it {
                Ok(body) => body.to_string(),
                Err(_) => "!".to_owned(),
            })
        };
        std::iter::from_fn(next).collect()
    }

    fn frame(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn header_names_are_case_insensitive() {
        for header in [
            "Content-Length: 2\r\n",
            "content-length:2\r\n",
            "CONTENT-LENGTH:   2  \r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n",
            "Content-Type: x\nContent-Length: 2\n",
        ] {
            let end = if header.contains('\r') { "\r\n" } else { "\n" };
            let stream = format!("{header}{end}{{}}{}", frame("[1]"));
            assert_eq!(read_all(&stream), ["{}", "[1]"], "{header:?}");
        }
    }

    #[test]
    fn an_unreadable_message_is_reported_once_and_the_next_one_is_read() {
        let good = frame("[1]");
        for broken in [
            "Content-Length: x\r\n\r\n{}\r\n",
            "Content-Length: 99999999999999999999\r\n\r\n{}",
            "Content-Length: 999999999999\r\n\r\n{}",
            "Content-Length: -1\r\n\r\n{}",
            "Content-Type: y\r\n\r\n{}",
            "\r\n{}",
            "{}\r\n",
            "nonsense\r\nmore: nonsense\r\n\r\nagain",
            "Content-Length: 3\r\n\r\n{\"a\":[1,2]}", // too short
            "Content-Length: 20\r\n\r\n{}",           // too long
            "Content-Length: 4\r\n\r\n{no}",
            "Content-Length: 2\r\n\r\n\u{e9}",
        ] {
            assert_eq!(read_all(&format!("{good}{broken}{good}{good}")), ["[1]", "!", "[1]", "[1]"], "{broken:?}");
        }
    }

    #[test]
    fn reading_stops_at_the_end_of_the_stream() {
        for stream in ["", "Content-Length: 5", "Content-Length: 5\r\n\r\n{", "\n"] {
            assert!(read_all(stream).iter().all(|it| it == "!"), "{stream:?}");
        }
    }
}
