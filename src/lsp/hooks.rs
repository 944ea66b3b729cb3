//! Hooks for tests: methods that are slow, and methods that panic.
//!
//! `PODLENS_TEST_HOOKS="slow=textDocument/references panic=textDocument/hover"`. The checks in the background are the
//! method `diagnostics`.

use std::thread;
use std::time::{Duration, Instant};

use crate::lsp::cancellation::CancelToken;

/// How long a slow method takes.
const SLOW: Duration = Duration::from_secs(3);

/// The methods that are slow or panic.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    slow: Vec<String>,
    panic: Vec<String>,
}

impl Hooks {
    /// Parses the value of `PODLENS_TEST_HOOKS`.
    pub fn parse(text: &str) -> Self {
        let methods = |prefix: &str| -> Vec<String> {
            text.split_whitespace().filter_map(|it| it.strip_prefix(prefix)).map(str::to_owned).collect()
        };
        Self { slow: methods("slow="), panic: methods("panic=") }
    }

    /// Delays or panics before the work for a method, if the hooks say so.
    pub(crate) fn run(&self, method: &str, token: &CancelToken) {
        if self.slow.iter().any(|it| it == method) {
            let start = Instant::now();
            while start.elapsed() < SLOW && !token.is_cancelled() {
                thread::sleep(Duration::from_millis(5));
            }
        }
        assert!(!self.panic.iter().any(|it| it == method), "requested by a test hook");
    }
}
