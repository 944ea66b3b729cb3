//! Where a level of a document is cut into pieces: line by line, by indentation.
//!
//! Whether a line begins a piece is a property of that line, of the one directly before it and of some lines behind it
//! (and of the level's column), so an edit moves only cuts on the lines it touches, directly behind them and shortly
//! before them. Everything here is a pure function of its text.

use crate::syntax::delimiters;
use crate::syntax::indent_index::{IndentIndexView, LineCursor};

/// How far behind its line the end of a quote is looked for, and that of a bracket where indentation says that it is not
/// there: finding a quote is quick.
pub(super) const QUOTE_LOOKAHEAD: usize = 128 * 1024;
pub(super) const BRACKET_LOOKAHEAD: usize = 32 * 1024;

/// Over how many lines (or pieces) the end of a bracket is looked for where indentation says that it is not there. A file
/// of nothing but openers would otherwise be read once for each of them; a quote ends at the next one of its kind, so
/// quotes need no such bound.
pub(super) const BRACKET_LOOKAHEAD_LINES: usize = 256;

/// How many lines that say something are looked at to tell whether the line before them begins a piece.
pub(super) const LOOKAHEAD_LINES: usize = if cfg!(test) { 4 } else { 160 };

/// What stands so much deeper below a line is hardly what the line holds.
const FAR: usize = if cfg!(test) { 2 } else { 4 };

/// What the members of a level are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberKind {
    /// `key: value` at one column.
    Entries,
    /// `- item` at one column.
    Items,
    /// `"key": value,` on lines of its own in `{` `}`.
    FlowEntries,
    /// `value,` on lines of its own in `[` `]`.
    FlowItems,
}

impl MemberKind {
    pub(super) fn is_flow(self) -> bool {
        matches!(self, Self::FlowEntries | Self::FlowItems)
    }

    pub(super) fn is_mapping(self) -> bool {
        matches!(self, Self::Entries | Self::FlowEntries)
    }
}

/// A line that says something: not blank, not a comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContentLine<'s> {
    /// Where the line begins, and where its first character stands.
    pub(super) start: usize,
    pub(super) content: usize,
    /// From its first character to its end, line break left out.
    pub(super) text: &'s str,
    pub(super) column: usize,
}

impl ContentLine<'_> {
    pub(super) fn is_dash(&self) -> bool {
        is_dash(self.text)
    }

    /// The column that counts in a level: between brackets tabs indent as blanks do.
    pub(super) fn column_in(&self, members: MemberKind) -> usize {
        if members.is_flow() && self.column == usize::MAX { self.content - self.start } else { self.column }
    }

    /// Where the line ends, before its line break.
    pub(super) fn end(&self) -> usize {
        self.content + self.text.len()
    }

    fn continues(&self) -> bool {
        self.text.starts_with([']', '}']) || self.text == ":" || self.text.starts_with(": ")
    }
}

pub(super) fn is_dash(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The lines of a text that say something. The first is taken to begin at `column`. A line indented with tabs stands
/// nowhere: its column is the largest there is, so that it begins no piece.
pub(super) fn lines(text: &str, column: usize) -> impl Iterator<Item = ContentLine<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            let rest = &text.as_bytes()[start..];
            at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let line = line(text, start, at, if start == 0 { Some(column) } else { None });
            if line.is_some() {
                return line;
            }
        }
        None
    })
}

/// The lines behind a line, which stand where they stand.
pub(super) fn lines_behind<'s>(
    text: &'s str,
    line: &ContentLine<'_>,
) -> impl Iterator<Item = ContentLine<'s>> + use<'s> {
    lines_from(text, next_start(text, line.content))
}

/// The lines from the beginning of one of them on.
pub(super) fn lines_from(text: &str, from: usize) -> impl Iterator<Item = ContentLine<'_>> {
    let mut at = from;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            at = next_start(text, start);
            let line = line(text, start, at, None);
            if line.is_some() {
                return line;
            }
        }
        None
    })
}

/// Where the line behind an offset begins.
fn next_start(text: &str, at: usize) -> usize {
    let rest = &text.as_bytes()[at..];
    at + memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)
}

/// The line that begins at an offset, if it says something.
fn line_at(text: &str, start: usize) -> Option<ContentLine<'_>> {
    line(text, start, next_start(text, start), None)
}

/// The last of the [`lines`], without a look at those before it.
pub(super) fn last_line(text: &str, column: usize) -> Option<ContentLine<'_>> {
    let mut end = text.len();
    while end > 0 {
        let start = memchr::memrchr(b'\n', &text.as_bytes()[..end - 1]).map_or(0, |at| at + 1);
        let line = line(text, start, end, if start == 0 { Some(column) } else { None });
        if line.is_some() {
            return line;
        }
        end = start;
    }
    None
}

/// A line, if it says something. The first line of a text may stand at another column than it seems to.
fn line(text: &str, start: usize, end: usize, column: Option<usize>) -> Option<ContentLine<'_>> {
    let bytes = &text.as_bytes()[start..end];
    let spaces = bytes.iter().take_while(|byte| **byte == b' ').count();
    let blanks = spaces + bytes[spaces..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if matches!(bytes.get(blanks), None | Some(b'\n' | b'\r' | b'#')) {
        return None;
    }
    let column = column.unwrap_or(if blanks > spaces { usize::MAX } else { spaces });
    let content = start + blanks;
    Some(ContentLine { start, content, text: text[content..end].trim_end(), column })
}

/// Whether a line of a text begins a piece in a level at `column`. The first line of the text may stand at another column
/// than it seems to.
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
    place: Option<LineCursor<'_>>,
    column: usize,
    members: MemberKind,
) -> bool {
    let at = line.column_in(members);
    if members.is_flow() {
        return at == column && !line.continues() && !is_moved_in_flow(text, line, at, members);
    }
    let inside = at > column
        || line.continues()
        // A list may stand at the column of its key.
        || (members == MemberKind::Entries && line.is_dash() && at == column);
    !inside && !is_rest(text, first, line, place, column)
}

/// Whether a line between brackets hardly belongs to what stands at its column: what is below it is much deeper. It then
/// belongs to the member before it, which is right whatever the line is, since any column is right between brackets.
fn is_moved_in_flow(text: &str, line: &ContentLine<'_>, at: usize, members: MemberKind) -> bool {
    let Some(next) = lines_behind(text, line).next() else { return false };
    let least = if line.text.ends_with(['[', '{', ':']) { at + at.max(FAR) } else { at };
    next.column_in(members) > least
}

/// Whether a line is the rest of the line before it, broken off by a line break that went astray, or moved by something
/// typed before it: it stands at the column of a level or further left, and makes no sense above what stands below it. No
/// such line stands between the members of a healthy level.
fn is_rest(text: &str, first: usize, line: &ContentLine<'_>, place: Option<LineCursor<'_>>, column: usize) -> bool {
    // Dashes left of a level are a mistake; elsewhere they begin its items.
    let (said, at) = if line.column < column { behind_dashes(line) } else { (line.text, line.column) };
    let Some(next) = lines_behind(text, line).next().filter(|next| next.column != usize::MAX) else { return false };
    let below = next.column;
    if below <= at || is_dash(said) {
        return false;
    }
    let is_deeper_by = |by: usize| below > at.saturating_add(by);
    // At another column than its level's even what is near is strange, and so it is behind a line that seems torn.
    let torn = before(text, first, line);
    let is_far =
        is_deeper_by(FAR) || (at < column && below > column) || torn.as_ref().is_some_and(PreviousLine::seems_torn);
    // What stands at the column of the line before is its sibling, this line is none.
    let is_sibling = |end: &ContentLine<'_>| torn.as_ref().is_some_and(|torn| torn.column == behind_dashes(end).1);
    let end = end_of(text, &next, place.map(LineCursor::next));
    // What a line holds cannot end before its column does, and no list goes on beside it.
    let is_cut_short = end.is_some_and(|end| {
        let least = if is_deeper_by(2 * FAR) { at } else { at.max(column) };
        (end.column > least || (end.column == at && end.is_dash())) && is_structure(end.text)
    });
    let Some(key) = key(said) else {
        if may_be_key(said) || said.ends_with(['[', '{']) {
            return false;
        }
        // A word may be a key whose colon is missing, above what it holds.
        return !is_word(said) || is_deeper_by(2 * FAR) || is_cut_short;
    };
    if is_rest_empty(&said[key.value..]) || is_block_header(text, line, &next, &said[key.value..]) {
        return is_cut_short && (is_far || end.is_some_and(|end| is_sibling(&end)));
    }
    let value = said[key.value..].trim_start();
    // Many lines cannot all be indented wrongly: then the one above them is.
    let is_long = || {
        let last = || match place {
            Some(place) => place.skip(LOOKAHEAD_LINES).start(text.len()).is_some(),
            None => lines_behind(text, line).nth(LOOKAHEAD_LINES - 1).is_some(),
        };
        end.is_none() && last()
    };
    !value.starts_with(['&', '!'])
        && is_structure(next.text)
        && !delimiters::opens_multiline(said)
        && (is_far || is_cut_short || is_long())
}

/// The first line that stands further left than the one below a line, as far as it is looked for.
fn end_of<'s>(text: &'s str, next: &ContentLine<'_>, place: Option<LineCursor<'_>>) -> Option<ContentLine<'s>> {
    match place {
        Some(place) => {
            place.next_shallower_within(LOOKAHEAD_LINES - 1)?.start(text.len()).and_then(|start| line_at(text, start))
        }
        None => lines_behind(text, next).take(LOOKAHEAD_LINES - 1).find(|line| line.column < next.column),
    }
}

/// Whether a block of text is announced whose lines are indented as the next line is.
fn is_block_header(text: &str, line: &ContentLine<'_>, next: &ContentLine<'_>, value: &str) -> bool {
    let header = value.split_whitespace().next().unwrap_or_default();
    let first = || text[line.end()..next.start].lines().skip(1).all(|between| between.trim().is_empty());
    header.starts_with(['|', '>']) && !header.contains(|it: char| it.is_ascii_digit()) && first()
}

/// What a line says behind its dashes, and at which column that stands.
fn behind_dashes<'s>(line: &ContentLine<'s>) -> (&'s str, usize) {
    let mut said = line.text;
    while is_dash(said) {
        said = said[1..].trim_start();
    }
    (said, line.column.saturating_add(line.text.len() - said.len()))
}

/// The line directly before another one.
struct PreviousLine<'s> {
    /// What it says behind its dashes, and at which column.
    said: &'s str,
    column: usize,
}

fn before<'s>(text: &'s str, first: usize, line: &ContentLine<'_>) -> Option<PreviousLine<'s>> {
    let before = text[..line.start].strip_suffix('\n')?;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let whole = before[start..].trim_end_matches('\r').trim_start_matches('\u{feff}');
    let mut said = whole.trim();
    while is_dash(said) {
        said = said[1..].trim_start();
    }
    let blanks = whole.trim_end().len() - said.len() + if start == 0 { first } else { 0 };
    (!whole.is_empty()).then_some(PreviousLine { said, column: blanks })
}

impl PreviousLine<'_> {
    /// Whether it seems to go on in the next line: it is half a key, a dash with nothing behind it, blanks that indented
    /// something, or it leaves something open.
    fn seems_torn(&self) -> bool {
        self.said.is_empty() || is_word(self.said) || delimiters::leaves_open(self.said)
    }
}

/// Whether what is told of a line depends on lines that do not follow it directly.
pub(super) fn is_lookahead_dependent(text: &str, line: &ContentLine<'_>) -> bool {
    lines_behind(text, line).next().is_some_and(|next| next.content - next.start > line.content - line.start)
}

/// Whether a line holds a key or an item with a key, which no scalar may.
fn is_structure(line: &str) -> bool {
    let mut text = line;
    while is_dash(text) {
        text = text[1..].trim_start();
    }
    key(text).is_some()
}

/// How much of a line's beginning may be compared at once.
static BLANKS: [u8; 256] = [b' '; 256];

/// Where the pieces of a level at `column` begin. The first line always begins one, at a column of its own.
pub(super) fn chunk_starts(
    text: &str,
    first: usize,
    column: usize,
    members: MemberKind,
    outline: Option<IndentIndexView<'_>>,
) -> Vec<ChunkStart> {
    let Some(head) = lines(text, first).next() else { return Vec::new() };
    // What stands nowhere stands where the level begins, if it is the first to say something.
    let at = Some(head.column_in(members)).filter(|column| *column != usize::MAX).unwrap_or(first);
    let mut cuts = vec![ChunkStart { line: head.start, start: head.content, column: at }];
    let mut add = |line: Option<ContentLine<'_>>, place: Option<LineCursor<'_>>| {
        if let Some(line) = line.filter(|line| starts_chunk_at(text, first, line, place, column, members)) {
            cuts.push(ChunkStart { line: line.start, start: line.content, column: line.column_in(members) });
        }
    };
    if let Some(outline) = outline {
        let mut place = outline.first_after(head.start).skip_deeper_than(column);
        while let Some(start) = place.start(text.len()) {
            add(line_at(text, start), Some(place));
            place = place.next().skip_deeper_than(column);
        }
        return cuts;
    }
    let deeper = BLANKS.get(..=column);
    let mut at = next_start(text, head.content);
    while at < text.len() {
        let start = at;
        at = next_start(text, start);
        // Most lines are deeper, and need no second look.
        if !deeper.is_some_and(|blanks| text.as_bytes()[start..].starts_with(blanks)) {
            add(line(text, start, at, None), None);
        }
    }
    cuts
}

/// Where a piece begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChunkStart {
    /// Its line.
    pub(super) line: usize,
    /// Its first character.
    pub(super) start: usize,
    pub(super) column: usize,
}

/// A key at the beginning of a line: its length, and where the text behind its colon begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineKey {
    pub(super) len: usize,
    pub(super) value: usize,
}

/// Reads the key a line begins with, if it begins with a simple one.
pub(super) fn key(line: &str) -> Option<LineKey> {
    let bytes = line.as_bytes();
    let first = *bytes.first()?;
    let colon = match first {
        b'"' | b'\'' => {
            let mut at = 1;
            loop {
                match *bytes.get(at)? {
                    b'\\' if first == b'"' => at += 2,
                    byte if byte == first => break,
                    _ => at += 1,
                }
            }
            let len = at + 1;
            let colon = len + bytes[len..].iter().take_while(|byte| **byte == b' ').count();
            return (bytes.get(colon) == Some(&b':') && blank_at(bytes, colon + 1))
                .then_some(LineKey { len, value: colon + 1 });
        }
        b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' | b',' => return None,
        b'?' | b'-' if blank_at(bytes, 1) => return None,
        _ => memchr::memchr_iter(b':', bytes).find(|at| blank_at(bytes, at + 1))?,
    };
    let name = line[..colon].trim_end();
    (!name.is_empty() && !name.contains(" #")).then_some(LineKey { len: name.len(), value: colon + 1 })
}

/// Whether a line holds nothing but a word, as a key does before its colon is typed.
pub(super) fn is_word(line: &str) -> bool {
    let word = line.find(" #").map_or(line, |at| &line[..at]).trim_end();
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'))
}

/// Whether a line makes sense below a key and none between brackets: an item with its dash, a key without quotes whose
/// line does not end as lines between brackets do.
pub(super) fn is_block_member(line: &str) -> bool {
    is_dash(line)
        || (key(line).is_some() && !line.starts_with(['"', '\'']) && !line.ends_with([',', '[', '{', ']', '}']))
}

/// Whether a line may begin with a key of any kind: behind `?`, an anchor, a tag, an alias or brackets too.
fn may_be_key(line: &str) -> bool {
    key(line).is_some()
        || line == "?"
        || line.starts_with("? ")
        || (line.starts_with(['&', '*', '!']) && (line.ends_with(':') || line.contains(": ")))
        || (line.starts_with(['[', '{']) && (line.contains("]:") || line.contains("}:")))
}

fn blank_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(u8::is_ascii_whitespace)
}

/// Whether nothing but blanks and a comment follows.
pub(super) fn is_rest_empty(rest: &str) -> bool {
    let trimmed = rest.trim_start();
    trimmed.is_empty() || (trimmed.starts_with('#') && (trimmed.len() < rest.len() || rest.starts_with('#')))
}

/// A line that stands where no level of the document is: indented less than what came before it, but not as little as
/// anything around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MisplacedLine {
    /// Where the line begins.
    pub(super) line: usize,
    pub(super) content: usize,
    pub(super) column: usize,
    /// Whether it belongs to the level of the piece it was found in, not to one around it.
    is_here: bool,
}

/// The first stray line of a piece that is best read as a member of the piece's own level.
pub(super) fn misplaced_line(text: &str, column: usize, members: MemberKind) -> Option<MisplacedLine> {
    misplaced_lines(text, column, members).into_iter().find(|stray| stray.is_here)
}

/// The stray lines that belong to no level inside a piece. Keys go to the nearest mapping around them, dashes to the
/// nearest list, unless they fit better where they stand.
fn misplaced_lines(text: &str, column: usize, members: MemberKind) -> Vec<MisplacedLine> {
    let mut found = Vec::new();
    let is_list = matches!(members, MemberKind::Items | MemberKind::FlowItems);
    let mut open = vec![OpenBlock { column, is_list, count: 0 }];
    let mut all = lines(text, column).peekable();
    while let Some(line) = all.next() {
        if line.column == usize::MAX {
            continue;
        }
        // Lines that continue what this one opens are no members of anything.
        if delimiters::opens_multiline(line.text) {
            let end = line.content + continuation(&text[line.content..], line.column);
            while all.next_if(|next| next.start < end).is_some() {}
        }
        if line.continues() || (line.start > 0 && !members.is_flow() && is_rest(text, column, &line, None, line.column))
        {
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
        let mut inner: Option<OpenBlock> = None;
        while let [.., below, top] = open[..] {
            // A key ends a list that stands at the column of the key before it.
            let ends_list = top.is_list && !is_dash && !below.is_list && below.column == line.column;
            if top.column < line.column || (top.column == line.column && !ends_list) {
                break;
            }
            if top.column > line.column {
                inner = Some(top);
            }
            open.pop();
        }
        let fits = open.last().is_none_or(|top| top.column >= line.column);
        if let (false, Some(inner)) = (fits, inner) {
            let home = open.iter().rposition(|level| level.is_list == is_dash);
            // What stands nearer to the level it leaves is indented wrongly inside of it.
            let is_near =
                home.is_some_and(|home| inner.column - line.column < line.column.saturating_sub(open[home].column));
            if home.is_none_or(|home| home == 0) && !stays_in(&line, inner) && !is_near {
                let is_here = home.is_some();
                found.push(MisplacedLine { line: line.start, content: line.content, column: line.column, is_here });
            }
            // It will be read inside: as if it stood at the column of what it belongs to.
            open.push(inner);
            continue;
        }
        // A key among the items of a list is a mistake of its own.
        if is_dash || !open.last().is_some_and(|top| top.is_list && top.column == line.column) {
            push(&mut open, &line);
        }
    }
    found
}

/// How far a line reaches together with the lines that continue it. What it opens may be closed further to the left, if
/// nothing stands behind that; otherwise only deeper lines continue it.
fn continuation(text: &str, column: usize) -> usize {
    let near =
        memchr::memchr_iter(b'\n', text.as_bytes()).nth(BRACKET_LOOKAHEAD_LINES).map_or(text.len(), |end| end + 1);
    let limit = text.floor_char_boundary(QUOTE_LOOKAHEAD.min(near));
    delimiters::closed_line(&text[..limit], column).unwrap_or_else(|| {
        let next = lines(text, column).find(|next| next.start > 0 && !next.continues() && next.column <= column);
        let deeper = &text[..next.map_or(text.len(), |next| next.start)];
        let scan = delimiters::scan_delimiters(deeper, column);
        let continued = lines(deeper, column).skip(1).take_while(|line| scan.continues(line.start)).last();
        continued.map_or(0, |line| line.end())
    })
}

#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    column: usize,
    is_list: bool,
    count: usize,
}

/// A key that has its value beside it, or that contradicts only one line before it, is indented wrongly itself.
fn stays_in(line: &ContentLine<'_>, inner: OpenBlock) -> bool {
    let opens = key(line.text).is_some_and(|key| is_rest_empty(&line.text[key.value..]));
    !line.is_dash() && (inner.count < 2 || !opens)
}

/// Opens the levels a line begins: `- - a:` begins three.
fn push(open: &mut Vec<OpenBlock>, line: &ContentLine<'_>) {
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
    fn keys_of_all_spellings() {
        assert_eq!(key("a: b"), Some(LineKey { len: 1, value: 2 }));
        assert_eq!(key("a:"), Some(LineKey { len: 1, value: 2 }));
        assert_eq!(key("http://x: y"), Some(LineKey { len: 8, value: 9 }));
        assert_eq!(key("\"a: b\" : c"), Some(LineKey { len: 6, value: 8 }));
        assert_eq!(key("- a: b"), None);
        assert_eq!(key("a # b: c"), None);
        assert_eq!(key("a"), None);
        assert_eq!(key("*a : b"), None);
    }

    #[test]
    fn pieces_begin_at_the_levels_column() {
        let text = "a: 1\n# c\nb:\n- x\n- y\nc: [\n  1\n]\nd: |\n  e: f\n";
        let starts: Vec<_> = chunk_starts(text, 0, 0, MemberKind::Entries, None)
            .iter()
            .map(|cut| &text[cut.start..=cut.start])
            .collect();
        assert_eq!(starts, ["a", "b", "c", "d"]);
        let items = chunk_starts("- a\n  b: c\n- d\n", 0, 0, MemberKind::Items, None);
        assert_eq!(items.len(), 2);
    }

    #[test]
    fn a_key_between_two_levels_is_a_stray() {
        let text = "init:\n  - name: a\n    image: b\n    more: c\n   containers:\n  - name: d\n";
        let stray = misplaced_line(text, 2, MemberKind::Entries).map(|stray| &text[stray.content..stray.content + 4]);
        assert_eq!(stray, Some("cont"));
    }
}
