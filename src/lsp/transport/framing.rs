//! Bytes to messages and back: headers, lengths, and finding the next message after a broken one.
//!
//! Nothing a client sends ends the reading but the end of the stream. What cannot be read is told once, and the next
//! header is looked for.

use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc as channel;

/// A body above this size is no message.
const MAX_LENGTH: usize = 256 * 1024 * 1024;

/// How many messages may wait to be handled before the client has to.
const BACKLOG: usize = 4096;

const LENGTH: &[u8] = b"content-length:";

/// What comes in.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// A body that is JSON.
    Message(Value),
    /// Something that is no message, and why.
    Broken(String),
}

/// Reads messages on a thread of its own. The channel ends with the stream.
pub(crate) fn read(stream: impl Read + Send + 'static) -> channel::Receiver<Incoming> {
    let (sender, receiver) = channel::channel(BACKLOG);
    thread::spawn(move || {
        let mut frames = Frames::new(stream);
        while let Some(incoming) = frames.next() {
            if sender.blocking_send(incoming).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Writes messages on a thread of its own, so that a client that does not read holds up nothing.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Vec<u8>>,
    /// Ends with the thread.
    writing: mpsc::Receiver<()>,
}

/// How long a client that does not read is waited for at the end.
const FAREWELL: Duration = Duration::from_secs(3);

impl Writer {
    /// A writer that tells `gone` when nobody reads any more.
    pub(crate) fn new(mut stream: impl Write + Send + 'static, gone: impl FnOnce() + Send + 'static) -> Self {
        let (queue, bodies) = mpsc::channel::<Vec<u8>>();
        let (alive, writing) = mpsc::channel();
        thread::spawn(move || {
            let _alive = alive;
            for body in bodies {
                let header = format!("Content-Length: {}\r\n\r\n", body.len());
                let written = stream.write_all(header.as_bytes()).and_then(|()| stream.write_all(&body));
                if written.and_then(|()| stream.flush()).is_err() {
                    gone();
                    return;
                }
            }
        });
        Self { queue, writing }
    }

    /// Writes a message.
    pub(crate) fn send(&self, message: &impl serde::Serialize) {
        // What we write is made of maps with text keys, which always are JSON.
        if let Ok(body) = serde_json::to_vec(message) {
            // Nobody reads: the pump has been told.
            let _ = self.queue.send(body);
        }
    }

    /// Waits until everything is written, or nobody seems to read it.
    pub(crate) fn finish(self) {
        drop(self.queue);
        let _ = self.writing.recv_timeout(FAREWELL);
    }
}

/// A stream cut into messages.
struct Frames<R> {
    stream: R,
    buffer: Vec<u8>,
    /// What of the buffer is used up.
    start: usize,
    /// Whether the last thing told was that something is broken: what follows from it is not told again.
    is_lost: bool,
}

impl<R: Read> Frames<R> {
    fn new(stream: R) -> Self {
        Self { stream, buffer: Vec::new(), start: 0, is_lost: false }
    }

    /// The next message; nothing at the end of the stream.
    fn next(&mut self) -> Option<Incoming> {
        loop {
            match self.header() {
                Ok(Some(length)) => match self.body(length)? {
                    Ok(message) => {
                        self.is_lost = false;
                        return Some(Incoming::Message(message));
                    }
                    Err(reason) => {
                        self.is_lost = true;
                        return Some(Incoming::Broken(reason));
                    }
                },
                Ok(None) => return None,
                Err(reason) => {
                    let was_lost = std::mem::replace(&mut self.is_lost, true);
                    if !was_lost {
                        return Some(Incoming::Broken(reason));
                    }
                }
            }
        }
    }

    /// Reads headers up to the empty line. Where they are wrong, the stream stands at the next line.
    fn header(&mut self) -> Result<Option<usize>, String> {
        let mut length = None;
        let mut is_begun = false;
        loop {
            let Some(line) = self.line() else { return Ok(None) };
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if text.is_empty() {
                match length {
                    Some(length) => return Ok(Some(length)),
                    None if is_begun && !self.is_lost => return Err("a header without Content-Length".into()),
                    // Empty lines between messages are nothing.
                    None => continue,
                }
            }
            is_begun = true;
            match text.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = Some(length_of(value)?);
                }
                Some((name, _)) if is_header_name(name) && !self.is_lost => {}
                // The end of a body that was longer than said, perhaps, with a header behind it.
                _ => match last_length(&line) {
                    Some(found) if self.is_lost => length = Some(found),
                    Some(found) => {
                        self.unread(format!("Content-Length: {found}\r\n").as_bytes());
                        return Err("text between messages".into());
                    }
                    None if self.is_lost => {}
                    None => return Err("a header that is none".into()),
                },
            }
        }
    }

    /// Reads a body. If it is no JSON but holds a header, its length was too large: what stands there is read next.
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

    /// The next line with its end; what is left at the end of the stream is no line.
    fn line(&mut self) -> Option<Vec<u8>> {
        let mut looked = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[looked..]) {
                let line = self.buffer[self.start..=looked + at].to_vec();
                self.start = looked + at + 1;
                return Some(line);
            }
            looked = self.buffer.len() - self.start;
            if !self.fill() {
                return None;
            }
            looked += self.start;
        }
    }

    /// Reads more; whether there is any.
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

    fn unread(&mut self, bytes: &[u8]) {
        self.buffer.splice(..self.start, bytes.iter().copied());
        self.start = 0;
    }
}

fn length_of(value: &str) -> Result<usize, String> {
    match value.trim().parse() {
        Ok(length) if length <= MAX_LENGTH => Ok(length),
        Ok(length) => Err(format!("a message of {length} bytes; {MAX_LENGTH} are the most")),
        Err(_) => Err("a Content-Length that is no number".into()),
    }
}

fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The length in the last header that a line holds.
fn last_length(line: &[u8]) -> Option<usize> {
    let value = &line[find_last(line, LENGTH)? + LENGTH.len()..];
    length_of(std::str::from_utf8(value).ok()?).ok()
}

/// Where a text, written in small letters, stands last, in letters of any case.
fn find_last(text: &[u8], small: &[u8]) -> Option<usize> {
    text.windows(small.len()).rposition(|part| part.eq_ignore_ascii_case(small))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read from a stream that comes in small pieces: messages as they are, broken ones as `!`.
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
                Incoming::Message(message) => message.to_string(),
                Incoming::Broken(_) => "!".to_owned(),
            })
        };
        std::iter::from_fn(next).collect()
    }

    fn frame(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn headers_are_read_in_any_spelling() {
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
    fn a_broken_message_is_told_once_and_the_next_one_is_read() {
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
    fn the_end_of_the_stream_is_the_end() {
        for stream in ["", "Content-Length: 5", "Content-Length: 5\r\n\r\n{", "\n"] {
            assert!(read_all(stream).iter().all(|it| it == "!"), "{stream:?}");
        }
    }
}
