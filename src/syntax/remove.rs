//! The edit that removes an entry of a mapping, with the comment on its line.
//!
//! As in `edit`, the result is parsed again, and if it does not have the intended content, there is no edit.

use crate::syntax::documents::parse;
use crate::syntax::edit::{TextEdit, ends_with_kept_line_breaks, is_equivalent, line_end, line_start};
use crate::syntax::green::CollectionStyle;
use crate::syntax::node::{Node, NodeKind};
use crate::text::Span;

/// A key and its value.
type MappingEntry<'t> = (Node<'t>, Option<Node<'t>>);

/// Removes the entry whose key is at a span. `None` if it is the only entry, if it may have an anchor, or if its lines cannot
/// be separated from other text.
pub fn remove_mapping_entry(text: &str, mapping: Node<'_>, key: Span) -> Option<TextEdit> {
    let entries: Vec<MappingEntry<'_>> = mapping.own_entries().collect();
    let at = entries.iter().position(|(it, _)| it.span() == key)?;
    if entries.len() < 2 || mapping.alias().is_some() {
        return None;
    }
    let start_of = |at: usize| entries[at].0.span().start;
    let end_of = |at: usize| {
        let (key, value) = entries[at];
        // The span of a key ends before its colon.
        let last = value.map_or_else(
            || key.span().end + text[key.span().end..].find(':').map_or(0, |it| it + 1),
            |it| it.span().end,
        );
        start_of(at) + text[start_of(at)..last.max(key.span().end)].trim_end().len()
    };
    let (start, end) = (start_of(at), end_of(at));
    // An alias may refer to it.
    if text[start..end].contains('&') || entries[at].1.is_some_and(|it| ends_with_kept_line_breaks(text, it)) {
        return None;
    }
    let span = match mapping.kind() {
        NodeKind::Mapping(CollectionStyle::Flow) if at + 1 < entries.len() => Span::new(start, start_of(at + 1)),
        NodeKind::Mapping(CollectionStyle::Flow) => Span::new(end_of(at - 1), end),
        NodeKind::Mapping(CollectionStyle::Block) => {
            let first = line_start(text, start);
            if text[first..start].bytes().all(|it| it == b' ') {
                let end = line_end(text, end);
                Span::new(first, text[end..].find('\n').map_or(text.len(), |len| end + len + 1))
            } else {
                // After a dash: the next entry takes its place.
                Span::new(start, (at + 1 < entries.len()).then(|| start_of(at + 1))?)
            }
        }
        _ => return None,
    };
    let removed = &text[span.range()];
    let own_line = removed.find('\n').unwrap_or(removed.len());
    // Comments between this entry and the next one are not removed.
    if removed[own_line..].lines().any(|line| line.trim_start().starts_with('#')) {
        return None;
    }
    let edit = TextEdit { span, text: String::new() };
    is_removed(text, mapping, &entries, at, &edit).then_some(edit)
}

/// Whether the mapping has all entries but one after an edit.
fn is_removed(text: &str, mapping: Node<'_>, old: &[MappingEntry<'_>], at: usize, edit: &TextEdit) -> bool {
    let whole = mapping.span();
    let lead = " ".repeat(whole.start - line_start(text, whole.start));
    let (start, end) = (edit.span.start.max(whole.start), edit.span.end.min(whole.end));
    let after = format!("{lead}{}{}", &text[whole.start..start], &text[end..whole.end]);
    let after = if start == whole.start && edit.span.start < start { after.trim_start().to_owned() } else { after };
    let tree = parse(&after);
    let Some(root) = tree.documents().find_map(|it| it.root()) else { return false };
    let new: Vec<_> = root.own_entries().collect();
    let kept = old.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, it)| it);
    let same = |(old, new): (&MappingEntry<'_>, &MappingEntry<'_>)| {
        old.0.text() == new.0.text()
            && match (old.1, new.1) {
                (Some(old), Some(new)) => is_equivalent(old, new),
                (None, None) => true,
                _ => false,
            }
    };
    new.len() + 1 == old.len() && kept.zip(&new).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, key: &str, nth: usize) -> Option<String> {
        let tree = parse(text);
        let root = tree.documents().next()?.root()?;
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if let Some((found, _)) = node.own_entries().filter(|(it, _)| it.text() == Some(key)).nth(nth) {
                let edit = remove_mapping_entry(text, node, found.span())?;
                let mut after = text.to_owned();
                after.replace_range(edit.span.range(), &edit.text);
                return Some(after);
            }
            open.extend(node.items());
            open.extend(node.own_entries().filter_map(|(_, value)| value));
        }
        None
    }

    #[test]
    fn an_entry_is_removed_with_its_lines() {
        let text = "a: 1 # one\nb:\n  - x\n  - y\n# about c\nc: 3\n";
        assert_eq!(without(text, "a", 0).as_deref(), Some("b:\n  - x\n  - y\n# about c\nc: 3\n"));
        assert_eq!(without(text, "b", 0).as_deref(), Some("a: 1 # one\n# about c\nc: 3\n"));
        assert_eq!(without(text, "c", 0).as_deref(), Some("a: 1 # one\nb:\n  - x\n  - y\n# about c\n"));
        assert_eq!(without("a: 1\r\nb: 2\r\n", "a", 0).as_deref(), Some("b: 2\r\n"));
        assert_eq!(without("a: 1\nb:", "b", 0).as_deref(), Some("a: 1\n"));
        assert_eq!(without("a: 1\na: 2\nb: 3\n", "a", 0).as_deref(), Some("a: 2\nb: 3\n"));
        assert_eq!(without("a: 1\na: 2\nb: 3\n", "a", 1).as_deref(), Some("a: 1\nb: 3\n"));
        assert_eq!(without("a: 1\n", "a", 0), None);
        assert_eq!(without("a: &x 1\nb: *x\n", "a", 0), None);
    }

    #[test]
    fn in_lists_and_brackets() {
        let text = "l:\n  - a: 1\n    b: |\n      x\n    c: 3\n";
        assert_eq!(without(text, "a", 0).as_deref(), Some("l:\n  - b: |\n      x\n    c: 3\n"));
        assert_eq!(without(text, "b", 0).as_deref(), Some("l:\n  - a: 1\n    c: 3\n"));
        assert_eq!(without("l:\n  - a: 1\n    # b\n    b: 2\n", "a", 0), None);
        assert_eq!(without("l: {a: 1, b: 2}\n", "a", 0).as_deref(), Some("l: {b: 2}\n"));
        assert_eq!(without("l: {a: 1, b: {c: 2}}\n", "b", 0).as_deref(), Some("l: {a: 1}\n"));
        let json = "{\n  \"a\": 1,\n  \"b\": 2\n}\n";
        assert_eq!(without(json, "a", 0).as_deref(), Some("{\n  \"b\": 2\n}\n"));
        assert_eq!(without(json, "b", 0).as_deref(), Some("{\n  \"a\": 1\n}\n"));
    }
}
