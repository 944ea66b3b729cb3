//! Removes one item of a list, block or flow, with the comments that are about it.

use crate::diagnostic::Fix;
use crate::rules::context::edit;
use crate::rules::{ContainerContext, ObjectContext};
use crate::syntax::{Collection, Node, Shape, Tree};
use crate::text::Span;

impl ContainerContext<'_> {
    /// Removes the list item at a span of the object; nothing where that would harm something else.
    pub(super) fn removal(&self, item: Span, title: String) -> Option<Fix> {
        of(self.pod.object, item, title)
    }
}

/// Removes the list item at a span of an object.
pub(super) fn of(object: &ObjectContext<'_>, item: Span, title: String) -> Option<Fix> {
    let source = object.file.source()?;
    let span = removed(&source.text, &source.tree, object.object.place(item))?;
    Some(Fix { title, safe: false, edits: vec![edit(object.file.at(span), "")] })
}

/// What to take out of the text so that an item is gone from its list and the list stays one.
pub(super) fn removed(text: &str, tree: &Tree, item: Span) -> Option<Span> {
    let root = tree.document_at(item.start)?.root()?;
    let path = root.path_to(item.start);
    let at = path.iter().rposition(|node| node.span() == item)?;
    let list = path[..at].last()?;
    // Something else may be made of an anchor in it.
    if has_anchor(path[at]) {
        return None;
    }
    let items: Vec<Span> = list.items().map(Node::span).collect();
    let index = items.iter().position(|it| *it == item)?;
    match list.kind() {
        Collection::Sequence(Shape::Block) if items.len() > 1 => block(text, item, index == 0),
        Collection::Sequence(Shape::Flow) => {
            let span = match (items.get(index + 1), index.checked_sub(1)) {
                (Some(next), _) => Span::new(item.start, next.start),
                (None, Some(before)) => Span::new(items[before].end, item.end),
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

/// Whole lines: from the comments above the dash to the end of the item. What stands above the first item may be about
/// the whole list, so it stays.
fn block(text: &str, item: Span, is_first: bool) -> Option<Span> {
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
