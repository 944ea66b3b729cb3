//! The fix that writes another name.

use crate::diagnostic::Fix;
use crate::k8s::Text;
use crate::rules::engine::{ObjectContext, edit};

/// Replaces a scalar by another name, in the same quotes.
pub(in crate::rules) fn rename_fix(object: &ObjectContext<'_>, text: &Text, name: &str) -> Option<Fix> {
    let span = object.literal_span(text)?;
    let source = object.file.parsed_text()?;
    let written = source.text.get(span.range())?;
    let quote = written.chars().next().filter(|it| matches!(it, '"' | '\'')).map_or(String::new(), String::from);
    let edits = vec![edit(object.file.at(span), format!("{quote}{name}{quote}"))];
    Some(Fix { title: format!("Write `{name}`"), safe: false, edits })
}
