//! Output formats: one file per format.

mod checkstyle;
mod concise;
mod diff;
mod dotenv;
mod findings;
mod full;
mod github;
mod gitlab;
mod json;
mod junit;
mod markdown;
mod rdjson;
mod sarif;
mod summary;
mod table;
mod views;

use std::borrow::Cow;

pub use checkstyle::write as write_checkstyle;
pub use concise::write as write_concise;
pub use diff::write as write_diff;
pub use dotenv::write as write_dotenv;
pub use findings::{Finding, PassedOver, PathsAndRanges, Range, Report, ReportedProblem};
pub use full::{Drawing, Texts, write as write_full};
pub use github::write as write_github;
pub use gitlab::write as write_gitlab;
pub use json::write as write_json;
pub use junit::write as write_junit;
pub use markdown::write as write_markdown;
pub use rdjson::write as write_rdjson;
pub use sarif::write as write_sarif;
pub use summary::{counted, style};
pub use table::write as write_table;
pub use views::{ListedUnknown, ListedView, ViewList, write as write_views};

/// A text on one line, safe for a terminal: characters that move the cursor, end the line or change the writing direction
/// are escaped.
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
    fn control_characters_are_escaped() {
        assert_eq!(one_line("Grüße 東京 👩\u{200d}🚀"), "Grüße 東京 👩\u{200d}🚀");
        assert_eq!(one_line("a\n\t\u{1b}[31m\u{202e}b\u{2028}"), "a\\n\\t\\u{1b}[31m\\u{202e}b\\u{2028}");
    }
}
