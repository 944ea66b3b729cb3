//! Receives the messages of the language server.

use std::io::{BufRead, BufReader};
use std::process::ChildStdout;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use serde_json::Value;

/// Reads the messages in a thread, until the end of the output. Each comes with the time at which its last byte was read.
pub(crate) fn receive_messages(stdout: ChildStdout) -> Receiver<(Value, Instant)> {
    let (sender, incoming) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        while let Some(message) = read(&mut reader) {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    incoming
}

/// The next message; `None` at the end of the output.
fn read(reader: &mut impl BufRead) -> Option<(Value, Instant)> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().expect("a length"),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let arrival = Instant::now();
    Some((serde_json::from_slice(&body).expect("the server writes JSON"), arrival))
}
