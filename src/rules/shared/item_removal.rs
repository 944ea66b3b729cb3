//! Removes one item of a block or flow list, with its comments.

use crate::diagnostic::{Fix, Location};
use crate::k8s::ObjectSpan;
use crate::rules::engine::{ContainerContext, FileContext, ObjectContext, edit};
use crate::syntax::{CollectionStyle, Node, NodeKind, Tree, remove_mapping_entry};
use crate::text::Span;
use crate::workspace::SharedText;

impl ContainerContext<'_> {
    /// Removes the list item at a span of the object; `None` if that could change something else.
    pub(in crate::rules) fn removal(&self, item: ObjectSpan, title: String) -> Option<Fix> {
        remove_item(&self.object, item, title)
    }
}

/// The fix that removes the list item at a span of an object.
pub(in crate::rules) fn remove_item(object: &ObjectContext<'_>, item: ObjectSpan, title: String) -> Option<Fix> {
    let source = object.file.parsed_text()?;
    let span = removed_item_span(&source.text, &source.tree, object.object.file_span(item))?;
    Some(Fix { title, safe: false, edits: vec![edit(object.file.at(span), "")] })
}

/// Removes a list item; if it is the only item, removes the list with its key.
pub(in crate::rules) fn remove_entry(object: &ObjectContext<'_>, item: ObjectSpan, title: String) -> Option<Fix> {
    let source = object.file.parsed_text()?;
    let place = object.object.file_span(item);
    let span = removed_item_span(&source.text, &source.tree, place)
        .or_else(|| whole_list(&source.text, &source.tree, place))?;
    Some(Fix { title, safe: false, edits: vec![edit(object.file.at(span), "")] })
}

/// Removes the list item around a span of an object; if it is the only item, removes the list with its key.
pub(in crate::rules) fn remove_item_around(
    object: &ObjectContext<'_>,
    inner: ObjectSpan,
    title: String,
) -> Option<Fix> {
    let source = object.file.parsed_text()?;
    let at = object.at(inner);
    let path = source.tree.document_at(at.span.start)?.root()?.path_to(at.span.start);
    let list = path.iter().rposition(|it| it.is_sequence()).filter(|_| at.file == *object.file.path)?;
    let item = path.get(list + 1)?.span();
    let span =
        removed_item_span(&source.text, &source.tree, item).or_else(|| whole_list(&source.text, &source.tree, item))?;
    Some(Fix { title, safe: false, edits: vec![edit(object.file.at(span), "")] })
}

/// Removes the list around a span of an object, with its key.
pub(in crate::rules) fn remove_list_around(
    object: &ObjectContext<'_>,
    inner: ObjectSpan,
    title: String,
) -> Option<Fix> {
    let source = object.file.parsed_text()?;
    let at = object.at(inner);
    let path = source.tree.document_at(at.span.start)?.root()?.path_to(at.span.start);
    let list = path.iter().rev().find(|it| it.is_sequence())?.span();
    remove_field(object.file, &Location { span: list, ..at }, title)
}

/// Removes the field whose key or value is at a span of a file.
pub(in crate::rules) fn remove_field(file: &FileContext<'_>, part: &Location, title: String) -> Option<Fix> {
    let source = file.parsed_text().filter(|_| part.file == *file.path)?;
    let path = source.tree.document_at(part.span.start)?.root()?.path_to(part.span.start);
    let is_it = |(key, value): &(Node<'_>, Option<Node<'_>>)| {
        key.span() == part.span || value.is_some_and(|it| it.span() == part.span)
    };
    let found =
        path.iter().rev().filter(|it| it.is_mapping()).find_map(|it| Some((*it, it.own_entries().find(is_it)?)));
    let (mapping, (key, _)) = found?;
    let change = remove_mapping_entry(&source.text, mapping, key.span())?;
    Some(Fix { title, safe: false, edits: vec![edit(file.at(change.span), change.text)] })
}

/// The lines of a key and its list, if the list has only this item.
fn whole_list(text: &str, tree: &Tree, item: Span) -> Option<Span> {
    let path = tree.document_at(item.start)?.root()?.path_to(item.start);
    let at = path.iter().rposition(|node| node.span() == item)?;
    let (list, holder) = (path.get(at.checked_sub(1)?)?, path.get(at.checked_sub(2)?)?);
    let (key, _) = holder.own_entries().find(|(_, value)| value.is_some_and(|it| it.span() == list.span()))?;
    let is_alone = list.items().count() == 1 && holder.own_entries().count() > 1;
    if !is_alone || has_anchor(*list) || holder.kind() != NodeKind::Mapping(CollectionStyle::Block) {
        return None;
    }
    let start = text[..key.span().start].rfind('\n').map_or(0, |end| end + 1);
    let last = item.start + text[item.range()].trim_end().len();
    // In flow style the list ends with a bracket.
    let end = list.span().end.max(last);
    let last = key.span().start + text[key.span().start..end].trim_end().len();
    let end = text[last..].find('\n').map_or(text.len(), |len| last + len + 1);
    let is_own_line = text[start..key.span().start].bytes().all(|it| it == b' ') && text[last..end].trim().is_empty();
    (is_own_line && tree.comments(text, Span::new(start, end)).is_empty()).then_some(Span::new(start, end))
}

/// The span to delete so that the item is removed and the list stays valid.
pub(in crate::rules) fn removed_item_span(text: &SharedText, tree: &Tree, item: Span) -> Option<Span> {
    let root = tree.document_at(item.start)?.root()?;
    let path = root.path_to(item.start);
    let at = path.iter().rposition(|node| node.span() == item)?;
    let list = path[..at].last()?;
    // An alias may refer to an anchor in the item.
    if has_anchor(path[at]) {
        return None;
    }
    let (index, _) = list.item_at(item.start).filter(|(_, it)| it.span() == item)?;
    let items = |at: usize| list.item(at).map(Node::span);
    match list.kind() {
        NodeKind::Sequence(CollectionStyle::Block) if items(1).is_some() => {
            // The lines from the item before this one to the one after it, so that only these are read.
            let end = items(index + 1).map_or(item.end, |it| it.start);
            let start = items(index.saturating_sub(1))?.start;
            let around = text.lines_around(Span::new(start, end));
            let lines = block_item_lines(&text.part(around)?, item.relative_to(around.start), index == 0)?;
            Some(lines.shifted(around.start))
        }
        NodeKind::Sequence(CollectionStyle::Flow) => {
            let span = match (items(index + 1), index.checked_sub(1)) {
                (Some(next), _) => Span::new(item.start, next.start),
                (None, Some(before)) => Span::new(items(before)?.end, item.end),
                (None, None) => return None,
            };
            tree.comments(text, span).is_empty().then_some(span)
        }
        _ => None,
    }
}

fn has_anchor(node: Node<'_>) -> bool {
    node.anchor().is_some()
        || node.alias().is_none()
            && (node.items().any(has_anchor)
                || node.own_entries().any(|(key, value)| has_anchor(key) || value.is_some_and(has_anchor)))
}

/// Whole lines: from the comments above the dash to the end of the item. Comments above the first item are kept,
/// because they may be about the whole list.
fn block_item_lines(text: &str, item: Span, is_first: bool) -> Option<Span> {
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let dash = text[..item.start].trim_end().strip_suffix('-')?.len();
    let mut start = line_start(dash);
    let indent = &text[start..dash];
    if !indent.bytes().all(|it| it == b' ') {
        return None;
    }
    while !is_first && start > 0 {
        let above = line_start(start - 1);
        if !text[above..start].strip_prefix(indent).is_some_and(|rest| rest.starts_with('#')) {
            break;
        }
        start = above;
    }
    let last = item.start + text[item.range()].trim_end().len();
    let end = text[last..].find('\n').map_or(text.len(), |len| last + len + 1);
    Some(Span::new(start, end))
}
