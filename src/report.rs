//! Results as text: one file an output format.

pub mod checkstyle;
pub mod concise;
pub mod diff;
pub mod dotenv;
pub mod findings;
pub mod full;
pub mod github;
pub mod gitlab;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod rdjson;
pub mod sarif;
pub mod summary;
pub mod table;

use std::borrow::Cow;

/// A text on one line, safe for a terminal: control characters as escapes.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return text.into();
    }
    let mut result = String::with_capacity(text.len());
    for it in text.chars() {
        if it.is_control() { result.extend(it.escape_default()) } else { result.push(it) }
    }
    result.into()
}
