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

/// A text on one line, safe for a terminal: what would move the cursor, end the line or turn the direction of what
/// follows stands as an escape.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return text.into();
    }
    let mut result = String::with_capacity(text.len());
    for it in text.chars() {
        if is_unsafe(it) { result.extend(it.escape_default()) } else { result.push(it) }
    }
    result.into()
}

/// Control characters, line and paragraph separators, marks and overrides of the writing direction.
fn is_unsafe(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing() {
        assert_eq!(one_line("Grüße 東京 👩\u{200d}🚀"), "Grüße 東京 👩\u{200d}🚀");
        assert_eq!(one_line("a\n\t\u{1b}[31m\u{202e}b\u{2028}"), "a\\n\\t\\u{1b}[31m\\u{202e}b\\u{2028}");
    }
}
