//! Finds the name that is most similar to a misspelled one, and the fix that writes it.

use std::collections::BTreeSet;

use crate::diagnostic::Fix;
use crate::k8s::Text;
use crate::rules::engine::{ObjectContext, edit};

/// The most similar name, if it is similar enough.
pub fn nearest_name<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let names: BTreeSet<&str> = names.into_iter().filter(|it| *it != written).collect();
    let near = names.into_iter().map(|it| {
        // Names that differ only in case or separators are the same word to a person.
        let plain = |text: &str| text.to_ascii_lowercase().replace(['_', '.'], "-");
        let distance = if plain(it) == plain(written) { 0 } else { strsim::osa_distance(written, it) };
        (distance, it)
    });
    // At most a few letters, and less than half of the word.
    let is_near = |(distance, it): &(usize, &str)| {
        let length = it.len().max(written.len());
        *distance <= (length / 4).clamp(1, 3) && distance * 2 < length
    };
    near.filter(is_near).min().map(|(_, it)| it)
}

/// Replaces a scalar by another name, in the same quotes.
pub(in crate::rules) fn rename_fix(object: &ObjectContext<'_>, text: &Text, name: &str) -> Option<Fix> {
    let span = object.literal_span(text)?;
    let source = object.file.parsed_text()?;
    let written = source.text.get(span.range())?;
    let quote = written.chars().next().filter(|it| matches!(it, '"' | '\'')).map_or(String::new(), String::from);
    let edits = vec![edit(object.file.at(span), format!("{quote}{name}{quote}"))];
    Some(Fix { title: format!("Write `{name}`"), safe: false, edits })
}
