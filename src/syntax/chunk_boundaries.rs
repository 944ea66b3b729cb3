//! Where the chunks of a block begin: decided line by line, by indentation.
//!
//! Whether a line starts a chunk depends on that line, on the line directly before it, on at most [`LOOKAHEAD_LINES`]
//! lines after it, and on the column of the block. An edit therefore moves only boundaries on the lines it touches,
//! directly after them, and shortly before them. Everything here is a pure function of its text.

use crate::syntax::content_lines::{
    ContentLine, MemberKind, after_dashes, content_line, find_key, has_key, is_blank_or_comment, is_dash, is_word,
    line_at, lines, lines_after, may_be_key, next_line_start,
};
use crate::syntax::delimiters;
use crate::syntax::indent_index::{IndentIndexView, LineCursor};

/// How many bytes after a chunk the end of an open quote is searched. This and the next limits are small in unit tests,
/// so that short texts reach them.
pub(super) const QUOTE_LOOKAHEAD: usize = if cfg!(test) { 512 } else { 128 * 1024 };

/// How many bytes after a chunk the end of an open bracket is searched.
pub(super) const BRACKET_LOOKAHEAD: usize = if cfg!(test) { 256 } else { 32 * 1024 };

/// How many lines (or chunks) after a chunk the end of an open bracket is searched. Without this limit a file of opening
/// brackets would be scanned once for each of them. Quotes need no such limit: the next quote of the same kind ends them.
pub(super) const BRACKET_LOOKAHEAD_LINES: usize = if cfg!(test) { 8 } else { 256 };

/// How many content lines after a line are examined to decide whether it starts a chunk.
pub(super) const LOOKAHEAD_LINES: usize = if cfg!(test) { 4 } else { 160 };

/// A line that is indented this much deeper than the line above it is probably not below it.
const FAR: usize = if cfg!(test) { 2 } else { 4 };

/// Whether a line of a text starts a chunk in a block at `column`. `first` is the column of the first character of the
/// text.
pub(super) fn starts_chunk(
    text: &str,
    first: usize,
    line: &ContentLine<'_>,
    column: usize,
    members: MemberKind,
) -> bool {
    starts_chunk_at(text, first, line, None, column, members)
}

fn starts_chunk_at(
    text: &str,
    first: usize,
    line: &ContentLine<'_>,
    cursor: Option<LineCursor<'_>>,
    column: usize,
    members: MemberKind,
) -> bool {
    let at = line.column_in(members);
    if members.is_flow() {
        return at == column && !line.continues_member() && !is_shifted_in_flow(text, line, at, members);
    }
    let is_inside = at > column
        || line.continues_member()
        // A list may have the same column as its key.
        || (members == MemberKind::Entries && line.is_dash() && at == column);
    !is_inside && !is_torn_off(text, first, line, cursor, column)
}

/// Whether a line between brackets was probably shifted left: the line below it is much deeper. It then counts as part
/// of the member before it. That is always correct, since indentation has no meaning between brackets.
fn is_shifted_in_flow(text: &str, line: &ContentLine<'_>, at: usize, members: MemberKind) -> bool {
    let Some(next) = lines_after(text, line).next() else { return false };
    let least = if line.text.ends_with(['[', '{', ':']) { at + at.max(FAR) } else { at };
    next.column_in(members) > least
}

/// Whether a line is the rest of the line before it, torn off by a stray line break, or was shifted left by an edit: it
/// is at the column of the block or left of it, but cannot be the parent of the lines below it. A block without errors
/// has no such line.
pub(super) fn is_torn_off(
    text: &str,
    first: usize,
    line: &ContentLine<'_>,
    cursor: Option<LineCursor<'_>>,
    column: usize,
) -> bool {
    // Dashes left of the block are part of the mistake and are skipped. At its column they begin its items.
    let (content, at) = if line.column < column { content_after_dashes(line) } else { (line.text, line.column) };
    let Some(next) = lines_after(text, line).next().filter(|next| !next.is_tab_indented()) else { return false };
    let below = next.column;
    if below <= at || is_dash(content) {
        return false;
    }
    let is_deeper_by = |by: usize| below > at.saturating_add(by);
    // Left of its block, or after a line that seems torn, any deeper line below is suspicious.
    let previous = previous_line(text, first, line);
    let is_far =
        is_deeper_by(FAR) || (at < column && below > column) || previous.as_ref().is_some_and(PreviousLine::seems_torn);
    // A later line at the column of the previous line is the sibling of that line, so this line is not.
    let is_sibling =
        |end: &ContentLine<'_>| previous.as_ref().is_some_and(|it| it.column == content_after_dashes(end).1);
    let end = first_shallower_than(text, &next, cursor.map(LineCursor::next));
    // The lines below a line cannot end deeper than that line, and no list continues next to it.
    let is_cut_short = end.is_some_and(|end| {
        let least = if is_deeper_by(2 * FAR) { at } else { at.max(column) };
        (end.column > least || (end.column == at && end.is_dash())) && has_key(end.text)
    });
    let Some(key) = find_key(content) else {
        if may_be_key(content) || content.ends_with(['[', '{']) {
            return false;
        }
        // A word may be a key without its colon, above its value.
        return !is_word(content) || is_deeper_by(2 * FAR) || is_cut_short;
    };
    if is_blank_or_comment(&content[key.value..]) || is_block_header(text, line, &next, &content[key.value..]) {
        return is_cut_short && (is_far || end.is_some_and(|end| is_sibling(&end)));
    }
    let value = content[key.value..].trim_start();
    // If very many lines are deeper, they are not all indented wrongly: this line is.
    let is_long = || {
        let has_more_lines = || match cursor {
            Some(cursor) => cursor.skip(LOOKAHEAD_LINES).start(text.len()).is_some(),
            None => lines_after(text, line).nth(LOOKAHEAD_LINES - 1).is_some(),
        };
        end.is_none() && has_more_lines()
    };
    !value.starts_with(['&', '!'])
        && has_key(next.text)
        && !delimiters::opens_multiline(content)
        && (is_far || is_cut_short || is_long())
}

/// The first line after `next` that is indented less than it, within the lookahead.
fn first_shallower_than<'s>(
    text: &'s str,
    next: &ContentLine<'_>,
    cursor: Option<LineCursor<'_>>,
) -> Option<ContentLine<'s>> {
    match cursor {
        Some(cursor) => {
            cursor.next_shallower_within(LOOKAHEAD_LINES - 1)?.start(text.len()).and_then(|start| line_at(text, start))
        }
        None => lines_after(text, next).take(LOOKAHEAD_LINES - 1).find(|line| line.column < next.column),
    }
}

/// Whether `value` is the header of a block scalar whose first line is `next`, so that its indentation is that line's.
fn is_block_header(text: &str, line: &ContentLine<'_>, next: &ContentLine<'_>, value: &str) -> bool {
    let header = value.split_whitespace().next().unwrap_or_default();
    let is_first = || text[line.end()..next.start].lines().skip(1).all(|between| between.trim().is_empty());
    header.starts_with(['|', '>']) && !header.contains(|it: char| it.is_ascii_digit()) && is_first()
}

/// The content of a line after its dashes, and the column of that content.
fn content_after_dashes<'s>(line: &ContentLine<'s>) -> (&'s str, usize) {
    let content = after_dashes(line.text);
    (content, line.column.saturating_add(line.text.len() - content.len()))
}

/// The line directly before another one.
struct PreviousLine<'s> {
    /// Its content after dashes.
    content: &'s str,
    /// The column of that content.
    column: usize,
}

fn previous_line<'s>(text: &'s str, first: usize, line: &ContentLine<'_>) -> Option<PreviousLine<'s>> {
    let before = text[..line.start].strip_suffix('\n')?;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let whole = before[start..].trim_end_matches('\r').trim_start_matches('\u{feff}');
    let content = after_dashes(whole.trim());
    let column = whole.trim_end().len() - content.len() + if start == 0 { first } else { 0 };
    (!whole.is_empty()).then_some(PreviousLine { content, column })
}

impl PreviousLine<'_> {
    /// Whether it seems to continue in the next line: it is half a key, a dash or spaces without content, or it leaves a
    /// quote or bracket open.
    fn seems_torn(&self) -> bool {
        self.content.is_empty() || is_word(self.content) || delimiters::leaves_open(self.content)
    }
}

/// Whether [`starts_chunk`] may need lines that do not directly follow a line.
pub(super) fn is_lookahead_dependent(text: &str, line: &ContentLine<'_>) -> bool {
    lines_after(text, line).next().is_some_and(|next| next.content - next.start > line.content - line.start)
}

/// Where a chunk begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChunkStart {
    /// The start of its first line.
    pub(super) line: usize,
    /// Its first character.
    pub(super) start: usize,
    pub(super) column: usize,
}

/// Spaces to compare the beginning of a line with.
static SPACES: [u8; 256] = [b' '; 256];

/// The starts of the chunks of a block at `column`. `first` is the column of the first character of the text. The first
/// line always starts a chunk, at any column.
pub(super) fn chunk_starts(
    text: &str,
    first: usize,
    column: usize,
    members: MemberKind,
    index: Option<IndentIndexView<'_>>,
) -> Vec<ChunkStart> {
    let Some(head) = lines(text, first).next() else { return Vec::new() };
    // A first line that is indented with tabs counts as if it were where the text begins.
    let at = Some(head.column_in(members)).filter(|column| *column != usize::MAX).unwrap_or(first);
    let mut starts = vec![ChunkStart { line: head.start, start: head.content, column: at }];
    let mut add = |line: Option<ContentLine<'_>>, cursor: Option<LineCursor<'_>>| {
        if let Some(line) = line.filter(|line| starts_chunk_at(text, first, line, cursor, column, members)) {
            starts.push(ChunkStart { line: line.start, start: line.content, column: line.column_in(members) });
        }
    };
    if let Some(index) = index {
        let mut cursor = index.first_after(head.start).skip_deeper_than(column);
        while let Some(start) = cursor.start(text.len()) {
            add(line_at(text, start), Some(cursor));
            cursor = cursor.next().skip_deeper_than(column);
        }
        return starts;
    }
    let deeper = SPACES.get(..=column);
    let mut at = next_line_start(text, head.content);
    while at < text.len() {
        let start = at;
        at = next_line_start(text, start);
        // Most lines are deeper and start no chunk.
        if !deeper.is_some_and(|spaces| text.as_bytes()[start..].starts_with(spaces)) {
            add(content_line(text, start, at, None), None);
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_begin_at_the_column_of_the_block() {
        let text = "a: 1\n# c\nb:\n- x\n- y\nc: [\n  1\n]\nd: |\n  e: f\n";
        let starts: Vec<_> =
            chunk_starts(text, 0, 0, MemberKind::Entries, None).iter().map(|it| &text[it.start..=it.start]).collect();
        assert_eq!(starts, ["a", "b", "c", "d"]);
        let items = chunk_starts("- a\n  b: c\n- d\n", 0, 0, MemberKind::Items, None);
        assert_eq!(items.len(), 2);
    }
}
