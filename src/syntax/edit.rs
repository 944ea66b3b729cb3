//! Edits that change a scalar or the order of a list and keep comments, quoting and indentation.
//!
//! An edit is returned only if its result is certain: the new text is parsed again, and if it does not have the intended
//! content, there is no edit.

use std::ops::Range;

use crate::syntax::documents::parse;
use crate::syntax::green::CollectionStyle;
use crate::syntax::node::{Node, NodeKind};
use crate::syntax::scalar::ScalarStyle;
use crate::syntax::source_map::SourceMap;
use crate::text::Span;

/// A replacement of some bytes of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes to replace.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// Replaces a range of a scalar's value. `source` is the scalar as written; the span of the edit is relative to it.
///
/// `None` if the range does not correspond to exact bytes of the source, spans several lines, or if the new text would
/// need another scalar style.
pub fn replace_in_scalar(
    source: &str,
    style: ScalarStyle,
    value: &str,
    range: Range<usize>,
    new: &str,
) -> Option<TextEdit> {
    replace_in_mapped_scalar(source, &SourceMap::new(source, style, value), style, range, new)
}

/// The same for a scalar with a known map.
pub fn replace_in_mapped_scalar(
    source: &str,
    map: &SourceMap,
    style: ScalarStyle,
    range: Range<usize>,
    new: &str,
) -> Option<TextEdit> {
    if !map.is_exact() || new.contains(['\n', '\r']) {
        return None;
    }
    let span = map.source_span(range);
    if source.get(span.range())?.contains(['\n', '\r']) {
        return None;
    }
    // Quotes and backslashes are ordinary characters except at the beginning of a plain scalar.
    let ordinary =
        |it: char| it.is_ascii_alphanumeric() || "$()_.-/".contains(it) || span.start > 0 && "'\\".contains(it);
    let text = match style {
        // These characters never end a plain scalar, and they are text at the ends of a folded line too.
        ScalarStyle::Plain if !new.chars().all(ordinary) || span.start == 0 && !begins_text(new, span, source) => {
            return None;
        }
        ScalarStyle::Folded if new.chars().any(char::is_whitespace) => return None,
        ScalarStyle::Plain | ScalarStyle::Literal | ScalarStyle::Folded => new.to_owned(),
        ScalarStyle::SingleQuoted => new.replace('\'', "''"),
        ScalarStyle::DoubleQuoted => double_quoted(new),
    };
    Some(TextEdit { span, text })
}

/// Whether a plain scalar that begins with this text is a string: the text alone may be a number or a boolean.
fn begins_text(new: &str, replaced: Span, source: &str) -> bool {
    let has_more = replaced.end < source.len();
    new.starts_with(['$', '/']) || has_more && new.starts_with(|it: char| it.is_ascii_alphabetic())
}

/// A text as it is written between double quotes.
fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\t' => quoted.push_str("\\t"),
            it => quoted.push(it),
        }
    }
    quoted
}

/// Puts the items of a list in another order: `order[n]` is the index of the item that comes to position `n`.
///
/// An item moves with the comments directly above it, at its end, and below it at a deeper indentation. Comments between
/// empty lines do not move. `None` if an item that moves has an anchor, which must be before its aliases, or if the items
/// cannot be separated.
pub fn reorder_items(text: &str, list: Node<'_>, order: &[usize]) -> Option<TextEdit> {
    let list = list.resolved();
    let items: Vec<Node<'_>> = list.items().collect();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if items.len() != order.len() || sorted.iter().enumerate().any(|(at, it)| at != *it) {
        return None;
    }
    let first = order.iter().enumerate().position(|(at, it)| at != *it)?;
    let last = order.iter().enumerate().rposition(|(at, it)| at != *it)?;
    let moving = &items[first..=last];
    if moving.iter().any(|item| contains_anchor(*item) || item.tag().is_some()) {
        return None;
    }
    let sources: Vec<usize> = order[first..=last].iter().map(|it| it - first).collect();
    let edit = match list.kind() {
        NodeKind::Sequence(CollectionStyle::Block) => reorder_block(text, &items, first, last, &sources)?,
        NodeKind::Sequence(CollectionStyle::Flow) => reorder_flow(text, list, &items, first, last, &sources)?,
        _ => return None,
    };
    // Parse the result again.
    let whole = parseable_span(text, list);
    let whole = Span::new(whole.start.min(edit.span.start), whole.end.max(edit.span.end));
    let inside = Span::new(edit.span.start - whole.start, edit.span.end - whole.start);
    let mut after = text[whole.range()].to_owned();
    after.replace_range(inside.range(), &edit.text);
    let (before, after) = (parse(&text[whole.range()]), parse(&after));
    let root = |tree| Some(only_root(tree)?.items().collect::<Vec<_>>());
    let (old, new) = (root(&before)?, root(&after)?);
    let same = old.len() == order.len()
        && new.len() == order.len()
        && after.errors().len() == before.errors().len()
        && order.iter().zip(&new).all(|(from, item)| is_equivalent(old[*from], *item));
    same.then_some(edit)
}

fn only_root(tree: &crate::syntax::Tree) -> Option<Node<'_>> {
    let mut roots = tree.documents().filter_map(|document| document.root());
    roots.next().filter(|_| roots.next().is_none())
}

/// A block list from the start of its first line, a flow list from its bracket: both can be parsed separately.
fn parseable_span(text: &str, list: Node<'_>) -> Span {
    let span = list.span();
    match list.kind() {
        NodeKind::Sequence(CollectionStyle::Block) => Span::new(line_start(text, span.start), span.end),
        _ => span,
    }
}

pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |end| end + 1)
}

/// The end of the line at an offset, without its line break.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    let end = text[offset..].find('\n').map_or(text.len(), |len| offset + len);
    offset + text[offset..end].trim_end_matches('\r').len()
}

/// Reorders the items from `first` to `last` of a block list by lines. `sources[n]` is the item that comes to position
/// `n`, both relative to `first`.
fn reorder_block(text: &str, items: &[Node<'_>], first: usize, last: usize, sources: &[usize]) -> Option<TextEdit> {
    let mut item_spans: Vec<Span> = Vec::new();
    let end_of = |item: &Node<'_>| item.span().start + text[item.span().range()].trim_end().len();
    // Comments on the last line of the previous item belong to that item.
    let mut floor = first.checked_sub(1).map_or(0, |before| line_end(text, end_of(&items[before])));
    for item in &items[first..=last] {
        let start = item.span().start;
        let line = line_start(text, start);
        let lead = &text[line..start];
        let column = lead.len() - lead.trim_start_matches(' ').len();
        // An item can be moved by lines only if its dash is the first character of its line.
        if !lead[column..].starts_with('-') || !lead[column + 1..].trim_matches([' ', '\t']).is_empty() {
            return None;
        }
        // The empty lines that `|+` keeps cannot be distinguished from those between items.
        if ends_with_kept_line_breaks(text, *item) {
            return None;
        }
        let begin = comments_above(text, line, floor, column);
        let end = comments_below(text, line_end(text, end_of(item)), column);
        item_spans.push(Span::new(begin, end));
        floor = end;
    }
    let gap = |at: usize| &text[item_spans[at - 1].end..item_spans[at].start];
    let stays = items_in_order(sources);
    let mut result = String::new();
    let mut next_gap = 1;
    for (slot, from) in sources.iter().copied().enumerate() {
        let mut before = String::new();
        if stays[from] {
            // A comment before an item that moved away stays.
            for gone in (next_gap..from).filter(|at| !stays[*at] && gap(*at).contains('#')) {
                before.push_str(gap(gone).trim_end());
            }
            next_gap = from + 1;
        }
        match (stays[from], from) {
            (true, 1..) => before.push_str(gap(from)),
            // The former first item has no gap before it: use that of the item that moved above it.
            (_, 0) if slot > 0 => before.push_str(&line_breaks(gap(sources[slot - 1].max(1)))),
            (false, _) if slot > 0 => before.push_str(&line_breaks(gap(from))),
            _ => {}
        }
        match slot {
            0 if before.contains('#') => result.push_str(before.trim_start_matches(['\r', '\n'])),
            0 => {}
            _ => result.push_str(&before),
        }
        result.push_str(&text[item_spans[from].range()]);
    }
    for gone in (next_gap..sources.len()).filter(|at| !stays[*at] && gap(*at).contains('#')) {
        result.push_str(gap(gone).trim_end());
    }
    let span = Span::new(item_spans.first()?.start, item_spans.last()?.end);
    Some(TextEdit { span, text: result })
}

/// Which items need not move: the longest subsequence that is already in order.
fn items_in_order(sources: &[usize]) -> Vec<bool> {
    // The smallest last item of a subsequence of each length, and the predecessor of each item in its subsequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; sources.len()];
    for item in sources.iter().copied() {
        let length = ends.partition_point(|end| *end < item);
        before[item] = length.checked_sub(1).map(|it| ends[it]);
        match ends.get_mut(length) {
            Some(end) => *end = item,
            None => ends.push(item),
        }
    }
    let mut stays = vec![false; sources.len()];
    let mut at = ends.last().copied();
    while let Some(item) = at {
        stays[item] = true;
        at = before[item];
    }
    stays
}

/// One line break, or two if there is an empty line.
fn line_breaks(gap: &str) -> String {
    let line_break = if gap.starts_with('\r') { "\r\n" } else { "\n" };
    // The next item begins after the last line break.
    let lines = gap.split('\n').count();
    let has_empty_line = gap.split('\n').take(lines - 1).skip(1).any(|line| line.trim().is_empty());
    line_break.repeat(1 + usize::from(has_empty_line))
}

/// The start of the comments directly above a line, at or after `floor`.
fn comments_above(text: &str, line: usize, floor: usize, column: usize) -> usize {
    let mut begin = line;
    while begin > floor {
        let above = line_start(text, begin - 1);
        let row = text[above..begin].trim_start_matches(' ');
        let indent = text[above..begin].len() - row.len();
        if above < floor || !row.starts_with('#') || indent > column {
            break;
        }
        begin = above;
    }
    begin
}

/// The end of the comments after a line that are indented deeper than the dash.
fn comments_below(text: &str, line_end: usize, column: usize) -> usize {
    let mut end = line_end;
    while let Some(next) = text[end..].find('\n').map(|len| end + len + 1) {
        let row = text[next..].split('\n').next().unwrap_or_default();
        let words = row.trim_start_matches(' ');
        if !words.starts_with('#') || row.len() - words.len() <= column {
            break;
        }
        end = self::line_end(text, next);
    }
    end
}

/// Whether a node ends with a block scalar that keeps its trailing line breaks (`|+`).
pub fn ends_with_kept_line_breaks(text: &str, item: Node<'_>) -> bool {
    let mut node = item;
    loop {
        let next = match node.kind() {
            NodeKind::Mapping(_) => node.own_entries().last().and_then(|(_, value)| value),
            NodeKind::Sequence(_) => node.items().last(),
            NodeKind::Scalar(ScalarStyle::Literal | ScalarStyle::Folded) => {
                let header = text[node.span().range()].lines().next().unwrap_or_default();
                return header.split('#').next().is_some_and(|it| it.contains('+'));
            }
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => return false,
        }
    }
}

/// Reorders the items of a flow list. Commas and line breaks stay; an item moves with the comment after its comma.
fn reorder_flow(
    text: &str,
    list: Node<'_>,
    items: &[Node<'_>],
    first: usize,
    last: usize,
    sources: &[usize],
) -> Option<TextEdit> {
    let moving = &items[first..=last];
    let after = |at: usize| {
        let end = items.get(at + 1).map_or(list.span().end, |next| next.span().start);
        &text[items[at].span().end..end]
    };
    let mut gaps = Vec::new();
    for at in first..=last {
        gaps.push(FlowGap::parse(after(at), at + 1 == items.len())?);
    }
    let mut result = String::new();
    for (slot, from) in sources.iter().enumerate() {
        result.push_str(&text[moving[*from].span().range()]);
        let (own, brought) = (&gaps[slot], &gaps[*from]);
        if !brought.comment.is_empty() && !own.rest.contains('\n') {
            return None;
        }
        result.push_str(own.comma);
        result.push_str(brought.comment);
        if slot + 1 < sources.len() {
            result.push_str(own.rest);
        }
    }
    let last_gap = gaps.last()?;
    let end = moving.last()?.span().end + last_gap.comma.len() + last_gap.comment.len();
    Some(TextEdit { span: Span::new(moving[0].span().start, end), text: result })
}

/// The text between two items of a flow list.
struct FlowGap<'t> {
    /// Up to the comma, inclusive.
    comma: &'t str,
    /// A comment on the same line, with the spaces before it.
    comment: &'t str,
    /// The rest.
    rest: &'t str,
}

impl<'t> FlowGap<'t> {
    fn parse(text: &'t str, is_last: bool) -> Option<Self> {
        let comma = match text.find([',', '#', '\n']) {
            Some(at) if text[at..].starts_with(',') => at + 1,
            _ if is_last => 0,
            _ => return None,
        };
        let (comma, tail) = text.split_at(comma);
        let spaces = tail.len() - tail.trim_start_matches([' ', '\t']).len();
        let length = if tail[spaces..].starts_with('#') { line_end(tail, 0) } else { 0 };
        let (comment, rest) = tail.split_at(length);
        // A comment on a separate line cannot be assigned to an item.
        (!rest.contains('#')).then_some(Self { comma, comment, rest })
    }
}

fn contains_anchor(node: Node<'_>) -> bool {
    if node.anchor().is_some() {
        return true;
    }
    if node.alias().is_some() {
        return false;
    }
    node.own_entries().any(|(key, value)| contains_anchor(key) || value.is_some_and(contains_anchor))
        || node.items().any(contains_anchor)
}

/// Whether two nodes have the same structure and the same texts. Aliases are compared by name.
pub(super) fn is_equivalent(a: Node<'_>, b: Node<'_>) -> bool {
    if a.alias().is_some() || b.alias().is_some() {
        return a.alias() == b.alias();
    }
    let entries = |node: Node<'_>| node.own_entries().count();
    a.kind() == b.kind()
        && a.tag() == b.tag()
        && a.text() == b.text()
        && entries(a) == entries(b)
        && a.items().count() == b.items().count()
        && a.items().zip(b.items()).all(|(a, b)| is_equivalent(a, b))
        && a.own_entries().zip(b.own_entries()).all(|((ak, av), (bk, bv))| {
            is_equivalent(ak, bk)
                && match (av, bv) {
                    (Some(a), Some(b)) => is_equivalent(a, b),
                    (None, None) => true,
                    _ => false,
                }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reorders the list under `l` of a text.
    fn reordered(text: &str, order: &[usize]) -> Option<String> {
        let tree = parse(text);
        let list = tree.documents().next()?.root()?.get("l")?;
        let edit = reorder_items(text, list, order)?;
        let mut after = text.to_owned();
        after.replace_range(edit.span.range(), &edit.text);
        Some(after)
    }

    #[test]
    fn items_move_with_their_comments() {
        let text =
            "l:\n  # about a\n  - a # one\n  - k: b\n    # no more of b\n\n  # section\n\n  # about c\n  - c\nm: n\n";
        let after =
            "l:\n  # about c\n  - c\n\n  # about a\n  - a # one\n  - k: b\n    # no more of b\n\n  # section\nm: n\n";
        assert_eq!(reordered(text, &[2, 0, 1]).as_deref(), Some(after));
    }

    #[test]
    fn line_ends_stay() {
        assert_eq!(reordered("l:\r\n- a\r\n- b", &[1, 0]).as_deref(), Some("l:\r\n- b\r\n- a"));
        assert_eq!(reordered("l:\n- |\n  x\n- b\n", &[1, 0]).as_deref(), Some("l:\n- b\n- |\n  x\n"));
        assert_eq!(reordered("l:\n- |+\n  x\n\n- b\n", &[1, 0]), None);
    }

    #[test]
    fn flow_lists_keep_their_commas() {
        assert_eq!(reordered("l: [a, {k: v} , 'c']\n", &[2, 0, 1]).as_deref(), Some("l: ['c', a , {k: v}]\n"));
        let text = "l: [\n  a, # one\n  b,\n  c # three\n]\n";
        let after = "l: [\n  b,\n  a, # one\n  c # three\n]\n";
        assert_eq!(reordered(text, &[1, 0, 2]).as_deref(), Some(after));
        let after = "l: [\n  c, # three\n  a, # one\n  b\n]\n";
        assert_eq!(reordered(text, &[2, 0, 1]).as_deref(), Some(after));
        assert_eq!(reordered("l: [\n  a,\n  # about b\n  b]\n", &[1, 0]), None);
        assert_eq!(reordered("l: [a, b # two\n  ]\n", &[1, 0]), None);
    }

    #[test]
    fn anchors_stay_where_they_are() {
        assert_eq!(reordered("l:\n- &a x\n- y\n", &[1, 0]), None);
        assert_eq!(reordered("l:\n- &a x\n- y\n- *a\n", &[0, 2, 1]).as_deref(), Some("l:\n- &a x\n- *a\n- y\n"));
        assert_eq!(reordered("l:\n- - a\n- b\n", &[1, 0]).as_deref(), Some("l:\n- b\n- - a\n"));
        assert_eq!(reordered("l: [a]\n", &[0]), None);
        assert_eq!(reordered("l: [a, b]\n", &[0, 0]), None);
    }

    #[test]
    fn text_is_written_as_its_scalar_is() {
        let replaced = |text: &str, range: Range<usize>, new: &str| {
            let tree = parse(text);
            let node = tree.documents().next()?.root()?.get("k")?;
            let span = node.span();
            let edit = replace_in_scalar(&text[span.range()], node.style()?, node.text()?, range, new)?;
            let mut after = text.to_owned();
            after.replace_range(edit.span.shifted(span.start).range(), &edit.text);
            Some(after)
        };
        assert_eq!(replaced("k: a$(B)c\n", 1..5, "$$(B)").as_deref(), Some("k: a$$(B)c\n"));
        assert_eq!(replaced("k: 'it''s $(B)'\n", 5..9, "'").as_deref(), Some("k: 'it''s '''\n"));
        assert_eq!(replaced("k: \"\\u0024(B)\"\n", 0..4, "\"$(C)\\").as_deref(), Some("k: \"\\\"$(C)\\\\\"\n"));
        assert_eq!(replaced("k: |\n  x\n  $(B)\n", 2..6, "$(C: d").as_deref(), Some("k: |\n  x\n  $(C: d\n"));
        assert_eq!(replaced("k: >\n  x\n  $(B)\n", 2..6, "$(C)").as_deref(), Some("k: >\n  x\n  $(C)\n"));
        assert_eq!(replaced("k: >\n  x\n  $(B)\n", 2..6, " $(C)"), None);
        assert_eq!(replaced("k: a$(B)c\n", 1..5, "${B}"), None);
        assert_eq!(replaced("k: $(B\n  c)\n", 0..6, "x"), None);
    }
}
