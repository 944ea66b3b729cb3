//! What tests ask of the server and no user does: a method that is slow, a method that fails.
//!
//! `PODLENS_TEST_HOOKS="slow=textDocument/references panic=textDocument/hover"`.

use std::thread;
use std::time::{Duration, Instant};

use crate::lsp::cancellation::CancelToken;

/// How long a slow method takes.
const SLOW: Duration = Duration::from_secs(3);

/// Methods that behave badly.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    slow: Vec<String>,
    panic: Vec<String>,
}

impl Hooks {
    /// Reads the hooks.
    pub fn parse(text: &str) -> Self {
        let of = |what: &str| -> Vec<String> {
            text.split_whitespace().filter_map(|it| it.strip_prefix(what)).map(str::to_owned).collect()
        };
        Self { slow: of("slow="), panic: of("panic=") }
    }

    /// Comes before the work for a method.
    pub(crate) fn run(&self, method: &str, token: &CancelToken) {
        if self.slow.iter().any(|it| it == method) {
            let start = Instant::now();
            while start.elapsed() < SLOW && !token.is_cancelled() {
                thread::sleep(Duration::from_millis(5));
            }
        }
        assert!(!self.panic.iter().any(|it| it == method), "a test asks for it");
    }
}
