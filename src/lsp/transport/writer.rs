//! A thread that writes message bodies with their headers, so that a client that does not read blocks nothing else.

use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long [`Writer::finish`] waits for a client that does not read.
const FINISH_TIMEOUT: Duration = Duration::from_secs(3);

/// The queue of the writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Item>,
}

#[derive(Debug)]
enum Item {
    Body(Vec<u8>),
    /// Ends the thread, which confirms it.
    End(mpsc::Sender<()>),
}

impl Writer {
    /// Starts the thread. `on_closed` is called when the client has closed the stream.
    pub(super) fn new(mut stream: impl Write + Send + 'static, on_closed: impl FnOnce() + Send + 'static) -> Self {
        let (queue, items) = mpsc::channel();
        thread::spawn(move || {
            for item in items {
                let body = match item {
                    Item::Body(body) => body,
                    Item::End(ended) => {
                        // An error means that no caller waits any more.
                        let _ = ended.send(());
                        return;
                    }
                };
                let header = format!("Content-Length: {}\r\n\r\n", body.len());
                let written = stream.write_all(header.as_bytes()).and_then(|()| stream.write_all(&body));
                if written.and_then(|()| stream.flush()).is_err() {
                    on_closed();
                    return;
                }
            }
        });
        Self { queue }
    }

    /// Writes a message.
    pub(super) fn write(&self, body: Vec<u8>) {
        // An error means that the thread has ended; `on_closed` has been called.
        let _ = self.queue.send(Item::Body(body));
    }

    /// Waits until everything is written, or for [`FINISH_TIMEOUT`] if the client does not read.
    pub(super) fn finish(&self) {
        let (ended, end) = mpsc::channel();
        // If the thread has ended already, `ended` is dropped here and the next line does not wait.
        let _ = self.queue.send(Item::End(ended));
        let _ = end.recv_timeout(FINISH_TIMEOUT);
    }
}
