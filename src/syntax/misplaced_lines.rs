//! Misplaced lines: lines whose column belongs to no block around them.
//!
//! Such a line is indented less than the lines before it, but more than any block that it could return to. It is parsed
//! as a member of the block it most likely belongs to.

use crate::syntax::chunk_boundaries::{BRACKET_LOOKAHEAD_LINES, QUOTE_LOOKAHEAD, is_torn_off};
use crate::syntax::content_lines::{
    ContentLine, MemberKind, find_key, is_blank_or_comment, is_dash, lines, may_be_key,
};
use crate::syntax::delimiters;

/// A line whose column belongs to no block around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MisplacedLine {
    /// The start of the line.
    pub(super) line: usize,
    /// Its first character after the indentation.
    pub(super) content: usize,
    pub(super) column: usize,
    /// Whether it belongs to the block of the chunk it was found in, not to a block around that.
    belongs_here: bool,
}

/// The first misplaced line of a chunk that is best parsed as a member of the chunk's own block.
pub(super) fn first_misplaced_line(text: &str, column: usize, members: MemberKind) -> Option<MisplacedLine> {
    misplaced_lines(text, column, members).into_iter().find(|it| it.belongs_here)
}

/// The misplaced lines that belong to no block inside a chunk. A key belongs to the nearest mapping around it, a dash to
/// the nearest list, unless it fits better into the block that it leaves.
fn misplaced_lines(text: &str, column: usize, members: MemberKind) -> Vec<MisplacedLine> {
    let mut found = Vec::new();
    let is_list = matches!(members, MemberKind::Items | MemberKind::FlowItems);
    let mut open = vec![OpenBlock { column, is_list, count: 0 }];
    let mut all = lines(text, column).peekable();
    while let Some(line) = all.next() {
        if line.is_tab_indented() {
            continue;
        }
        // Lines that continue a quote, bracket or block scalar of this line are not members.
        if delimiters::opens_multiline(line.text) {
            let end = line.content + continuation_end(&text[line.content..], line.column);
            while all.next_if(|next| next.start < end).is_some() {}
        }
        let is_rest = || line.start > 0 && !members.is_flow() && is_torn_off(text, column, &line, None, line.column);
        if line.continues_member() || is_rest() {
            continue;
        }
        let is_dash = line.is_dash();
        if !is_dash && !may_be_key(line.text) {
            while let [_, .., top] = open[..]
                && top.column > line.column
            {
                open.pop();
            }
            continue;
        }
        let mut left: Option<OpenBlock> = None;
        while let [.., below, top] = open[..] {
            // A key ends a list that has the same column as the key before it.
            let ends_list = top.is_list && !is_dash && !below.is_list && below.column == line.column;
            if top.column < line.column || (top.column == line.column && !ends_list) {
                break;
            }
            if top.column > line.column {
                left = Some(top);
            }
            open.pop();
        }
        let fits = open.last().is_none_or(|top| top.column >= line.column);
        if let (false, Some(left)) = (fits, left) {
            let home = open.iter().rposition(|block| block.is_list == is_dash);
            // A line that is nearer to the block it leaves is a wrongly indented member of that block.
            let is_nearer =
                home.is_some_and(|home| left.column - line.column < line.column.saturating_sub(open[home].column));
            if home.is_none_or(|home| home == 0) && !stays_in(&line, left) && !is_nearer {
                let belongs_here = home.is_some();
                found.push(MisplacedLine {
                    line: line.start,
                    content: line.content,
                    column: line.column,
                    belongs_here,
                });
            }
            // It will be parsed inside, as if it had the column of the block it belongs to.
            open.push(left);
            continue;
        }
        // A key among the items of a list is a different mistake.
        if is_dash || !open.last().is_some_and(|top| top.is_list && top.column == line.column) {
            push_blocks(&mut open, &line);
        }
    }
    found
}

/// The end of a line together with the lines that continue it. A quote or bracket may be closed at any column if nothing
/// follows the closing character; otherwise only deeper lines continue it.
fn continuation_end(text: &str, column: usize) -> usize {
    let near = memchr::memchr_iter(b'\n', text.as_bytes()).nth(BRACKET_LOOKAHEAD_LINES);
    let limit = text.floor_char_boundary(QUOTE_LOOKAHEAD.min(near.map_or(text.len(), |end| end + 1)));
    delimiters::closed_line(&text[..limit], column).unwrap_or_else(|| {
        let next = lines(text, column).find(|next| next.start > 0 && !next.continues_member() && next.column <= column);
        let deeper = &text[..next.map_or(text.len(), |next| next.start)];
        let scan = delimiters::scan_delimiters(deeper, column);
        let continued = lines(deeper, column).skip(1).take_while(|line| scan.continues(line.start)).last();
        continued.map_or(0, |line| line.end())
    })
}

/// A block that lines may still belong to.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    column: usize,
    is_list: bool,
    /// The number of its members so far.
    count: usize,
}

/// Whether a key stays in the block that it seems to leave: it has its value on the same line, or only one member before
/// it has another column.
fn stays_in(line: &ContentLine<'_>, left: OpenBlock) -> bool {
    let has_block_value = find_key(line.text).is_some_and(|key| is_blank_or_comment(&line.text[key.value..]));
    !line.is_dash() && (left.count < 2 || !has_block_value)
}

/// Opens the blocks that a line begins: `- - a:` begins three.
fn push_blocks(open: &mut Vec<OpenBlock>, line: &ContentLine<'_>) {
    let mut column = line.column;
    let mut text = line.text;
    loop {
        let is_list = is_dash(text);
        match open.last_mut() {
            Some(top) if top.column == column && top.is_list == is_list => top.count += 1,
            _ => open.push(OpenBlock { column, is_list, count: 1 }),
        }
        if !is_list {
            return;
        }
        let rest = text[1..].trim_start();
        column += text.len() - rest.len();
        text = rest;
        if !is_dash(text) && !may_be_key(text) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_between_two_blocks_is_misplaced() {
        let text = "init:\n  - name: a\n    image: b\n    more: c\n   containers:\n  - name: d\n";
        let found = first_misplaced_line(text, 2, MemberKind::Entries).map(|it| &text[it.content..it.content + 4]);
        assert_eq!(found, Some("cont"));
    }
}
