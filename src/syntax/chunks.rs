//! Parses a block chunk by chunk, and divides a chunk that cannot be parsed until the mistake is alone in a small one.
//!
//! The result is a pure function of the text. Small texts without errors are parsed at once; large ones are divided
//! first, so that an edit parses only the chunk it is in. Both ways give the same tree. How a large chunk is divided
//! depends on its first and last lines; how a mistake is repaired depends on the small chunk it is in.

use crate::syntax::chunk_boundaries::{
    BRACKET_LOOKAHEAD, BRACKET_LOOKAHEAD_LINES, ChunkStart, QUOTE_LOOKAHEAD, chunk_starts,
};
use crate::syntax::content_lines::{
    self, MemberKind, find_key, is_blank_or_comment, is_dash, is_word, last_line, lines,
};
use crate::syntax::delimiters::{self, DelimiterScan};
use crate::syntax::green::{
    Chunk, ChunkedBlock, CollectionStyle, GreenEntry, GreenKind, GreenNode, Positioned, offset32,
};
use crate::syntax::misplaced_lines::{MisplacedLine, first_misplaced_line};
use crate::syntax::node_builder::{self, ParseFailure};
use crate::syntax::patched_text::{Patch, PatchedText};
use crate::syntax::previous_tree::ChunkContext;
use crate::syntax::repair;
use crate::syntax::scalar::ScalarStyle;
use crate::syntax::syntax_error::{Sibling, SyntaxError, SyntaxErrorKind, quotable};
use crate::text::Span;

/// Texts up to this many bytes are parsed at once. Small in unit tests, so that short texts are divided too.
pub(super) const LEAF_SIZE: usize = if cfg!(test) { 96 } else { 4 * 1024 };

/// How many nested blocks are divided.
pub(super) const MAX_DEPTH: usize = 64;

/// How often a text is patched where kubectl accepts what the parser rejects.
const MAX_PATCH_ROUNDS: usize = 48;

/// The result of parsing a chunk. Offsets are relative to the chunk.
#[derive(Debug, Default)]
pub(super) struct ParsedChunk {
    /// Entries. Items of a list are keys without a value.
    pub(super) members: Vec<GreenEntry>,
    /// The end of the parsed text.
    pub(super) end: usize,
    pub(super) errors: Vec<SyntaxError>,
    /// The innermost chunk whose quote or bracket is still open at the end of the text.
    pub(super) unclosed: Option<UnclosedChunk>,
    /// Whether the last open bracket is already reported as never closed.
    pub(super) reported_unclosed: bool,
}

impl ParsedChunk {
    fn is_broken(&self) -> bool {
        !self.errors.is_empty() || self.members.iter().any(GreenEntry::is_broken)
    }

    /// Adds the members and errors of the rest of the chunk, which begins at `start`.
    pub(super) fn append(&mut self, rest: ParsedChunk, start: usize) {
        let by = i64::try_from(start).unwrap_or_default();
        self.members.extend(rest.members.into_iter().map(|member| member.moved(by)));
        self.errors.extend(rest.errors.iter().map(|error| error.shifted(start)));
        self.end = self.end.max(start + rest.end);
    }
}

/// A chunk in which a quote or bracket is opened that is still open at the end of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnclosedChunk {
    /// Its first character, relative to that text.
    pub(super) start: usize,
    pub(super) column: usize,
    pub(super) kind: MemberKind,
}

impl UnclosedChunk {
    pub(super) fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, ..self }
    }

    /// The same chunk, relative to an offset before it.
    pub(super) fn relative_to(self, start: usize) -> Self {
        Self { start: self.start - start, ..self }
    }
}

/// The result of parsing a block, or a run of its chunks. Offsets are relative to the text.
#[derive(Debug, Default)]
pub(super) struct ParsedBlock {
    pub(super) members: Vec<GreenEntry>,
    pub(super) chunks: Vec<Chunk>,
    /// The end of the parsed text.
    pub(super) end: usize,
    /// The start of the line of the first chunk that was not parsed.
    pub(super) consumed: usize,
    /// The chunk whose quote or bracket is still open at the end of the text.
    pub(super) unclosed: Option<UnclosedChunk>,
    /// Whether the end of a quote or bracket was searched after its chunk.
    pub(super) looked_ahead: bool,
    /// See [`ParsedChunk::reported_unclosed`].
    pub(super) reported_unclosed: bool,
}

impl ParsedBlock {
    fn push(
        &mut self,
        parsed: ParsedChunk,
        start: usize,
        column: usize,
        lookahead: usize,
        unclosed: Option<UnclosedChunk>,
    ) {
        let by = i64::try_from(start).unwrap_or_default();
        self.chunks.push(Chunk {
            offset: offset32(start),
            column: offset32(column),
            member_count: offset32(parsed.members.len()),
            lookahead: offset32(lookahead),
            unclosed: unclosed.map(Box::new),
            errors: parsed.errors,
        });
        self.members.extend(parsed.members.into_iter().map(|member| member.moved(by)));
        self.end = self.end.max(start + parsed.end);
        self.reported_unclosed = parsed.reported_unclosed;
    }

    /// The collection that this block is. It begins `shift` bytes before the text of the block.
    pub(super) fn into_green(self, column: usize, kind: MemberKind, shift: usize, end: usize) -> GreenNode {
        let by = i64::try_from(shift).unwrap_or_default();
        let members: Vec<GreenEntry> = self.members.into_iter().map(|member| member.moved(by)).collect();
        let chunks =
            self.chunks.into_iter().map(|chunk| Chunk { offset: chunk.offset + offset32(shift), ..chunk }).collect();
        chunked_collection(members, ChunkedBlock { column: offset32(column), chunks }, kind, end)
    }
}

/// A collection that was parsed chunk by chunk.
pub(super) fn chunked_collection(
    members: Vec<GreenEntry>,
    block: ChunkedBlock,
    kind: MemberKind,
    end: usize,
) -> GreenNode {
    let chunked = Some(Box::new(block));
    let style = if kind.is_flow() { CollectionStyle::Flow } else { CollectionStyle::Block };
    let kind = if kind.is_mapping() {
        GreenKind::Mapping { style, entries: members, chunked }
    } else {
        GreenKind::Sequence { style, items: members.into_iter().map(|member| member.key).collect(), chunked }
    };
    GreenNode::new(offset32(end), None, kind)
}

/// Parses a block: members at one column. The text begins at the first character of the first member.
pub(super) fn parse_block(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> ParsedBlock {
    parse_block_from(text, column, column, kind, context)
}

/// Parses a block whose first member is at column `first`, which may be wrong.
pub(super) fn parse_block_from(
    text: &str,
    first: usize,
    column: usize,
    kind: MemberKind,
    context: ChunkContext<'_>,
) -> ParsedBlock {
    ChunkRun { text, limit: text.len(), first, column, kind, before: None, is_to_end: true }.parse(context)
}

/// A run of chunks of a block, with the properties of the chunks around it that affect the result.
pub(super) struct ChunkRun<'s> {
    /// From the first character of the first chunk to the end of the block. It may end earlier if nothing is open in the
    /// run: [`LOOKAHEAD_LINES`](crate::syntax::chunk_boundaries::LOOKAHEAD_LINES) after it.
    pub(super) text: &'s str,
    /// The start of the line of the first chunk after the run.
    pub(super) limit: usize,
    /// The column of the first chunk.
    pub(super) first: usize,
    /// The column of the block.
    pub(super) column: usize,
    pub(super) kind: MemberKind,
    /// The column of the chunk before the run.
    pub(super) before: Option<usize>,
    /// Whether the text goes to the end of the block.
    pub(super) is_to_end: bool,
}

impl ChunkRun<'_> {
    /// Parses the run. The end of a quote or bracket that is open at the end of a chunk is searched in the chunks after
    /// it, so that chunks after `limit` may be consumed.
    pub(super) fn parse(&self, context: ChunkContext<'_>) -> ParsedBlock {
        let Self { text, column, kind, .. } = *self;
        let starts = chunk_starts(text, self.first, column, kind, context.index);
        let end_of = |index: usize| starts.get(index).map_or(text.len(), |next| next.line);
        let mut block = ParsedBlock::default();
        let mut before = self.before;
        let mut index = 0;
        let mut ready = Vec::new().into_iter();
        // Chunks before this one could not be parsed together, and are parsed one by one.
        let mut alone_until = 0;
        while let Some(at) = starts.get(index).copied().filter(|at| at.line < self.limit) {
            let mut next = index + 1;
            let mut lookahead = 0;
            let mut still_unclosed = None;
            let span = Span::new(at.start, end_of(next));
            let reused = if ready.len() == 0 { context.reusable_chunk(span, at.column, kind) } else { None };
            if ready.len() == 0 && reused.is_none() && index >= alone_until {
                let (count, parsed) = self.parse_several(&starts[index..]);
                ready = parsed.into_iter();
                alone_until = index + count;
            }
            let parse_alone = || parse_chunk(&text[span.range()], at.column, kind, context.at(at.start));
            let mut parsed = reused.or_else(|| ready.next()).unwrap_or_else(parse_alone);
            if let Some(unclosed) = parsed.unclosed {
                block.looked_ahead = true;
                let following = &starts[next..];
                match find_closer_after(text, self.is_to_end, unclosed.shifted(at.start), end_of(next), following) {
                    Closer::InChunks { count, is_valid } => {
                        let joined = next + count;
                        lookahead = end_of(joined) - end_of(next);
                        if is_valid && let Ok(it) = parse_members(&text[at.start..end_of(joined)], at.column, kind, &[])
                        {
                            (parsed, next, lookahead) = (it, joined, 0);
                        }
                    }
                    Closer::NotFound { searched_to } => {
                        lookahead = searched_to - end_of(next);
                        if searched_to == text.len() {
                            // Text after the block matters too.
                            lookahead += 1;
                            still_unclosed = Some(unclosed);
                            block.unclosed.get_or_insert(unclosed.shifted(at.start));
                        }
                    }
                }
            }
            let chunk = &text[at.start..end_of(next)];
            let is_last = next >= starts.len();
            if kind.is_flow() {
                if !is_last && parsed.errors.is_empty() && !ends_with_comma(chunk, at.column) {
                    let span = Span::new(parsed.end.saturating_sub(1), parsed.end);
                    parsed.errors.push(SyntaxError::new(
                        span,
                        SyntaxErrorKind::MissingComma,
                        "expected `,` after this",
                    ));
                }
            } else if at.column != column && before != Some(at.column) && parsed.errors.is_empty() {
                parsed.errors.push(misindented(chunk, 0, at.column, column, None));
            }
            before = Some(at.column);
            block.push(parsed, at.start, at.column, lookahead, still_unclosed);
            block.consumed = end_of(next);
            index = next;
        }
        block
    }

    /// Parses as many small chunks together as fit into a leaf, since creating a parser for each costs more than parsing
    /// it. Returns their number, and the result of each as if parsed alone, or nothing if the results cannot be
    /// separated.
    fn parse_several(&self, starts: &[ChunkStart]) -> (usize, Vec<ParsedChunk>) {
        let (text, Some(first)) = (self.text, starts.first()) else { return (0, Vec::new()) };
        let ends = starts[1..].iter().map(|it| it.line).chain([text.len()]);
        let chunks = || starts.iter().zip(ends.clone());
        let fits = |(start, end): &(&ChunkStart, usize)| start.column == first.column && end - first.start <= LEAF_SIZE;
        let count = chunks().take_while(fits).count();
        // A small block is divided because it has an error.
        if text.len() <= LEAF_SIZE || count < 2 {
            return (count, Vec::new());
        }
        let end = ends.clone().nth(count - 1).unwrap_or(text.len());
        let Ok(parsed) = parse_members(&text[first.start..end], first.column, self.kind, &[]) else {
            return (count, Vec::new());
        };
        let member_starts = parsed.members.iter().map(|member| first.start + member.key.offset as usize);
        let one_each = parsed.members.len() == count
            && chunks().zip(member_starts).all(|((chunk, end), start)| chunk.start <= start && start < end);
        if !one_each {
            return (count, Vec::new());
        }
        let last = count - 1;
        let separate = |(index, (chunk, member)): (usize, (&ChunkStart, GreenEntry))| {
            let start = chunk.start - first.start;
            let member = member.moved(-i64::try_from(start).unwrap_or_default());
            // Only the end of the last one is used.
            let end = if index == last { parsed.end - start } else { member.end() };
            ParsedChunk { members: vec![member], end, ..ParsedChunk::default() }
        };
        (count, starts.iter().zip(parsed.members).enumerate().map(separate).collect())
    }
}

/// The error of a line that is at `column` instead of column `expected`. It begins at `start` of the text.
pub(super) fn misindented(
    text: &str,
    start: usize,
    column: usize,
    expected: usize,
    sibling: Option<Sibling>,
) -> SyntaxError {
    let line = text[start..].lines().next().unwrap_or_default();
    let key = find_key(line);
    let end = key.map_or_else(|| line.find(':').unwrap_or(line.len()), |key| key.len);
    let subject = match key.and_then(|key| quotable(key.name(line))) {
        Some(name) => format!("`{name}`").into(),
        None if is_dash(line) => "this list item".into(),
        None => "this line".into(),
    };
    SyntaxError::misindented(Span::new(start, start + end), subject, column, expected, sibling)
}

/// The first member of a chunk, as the sibling of a line further down in the chunk.
pub(super) fn head_of_chunk(text: &str) -> Sibling {
    let line = text.lines().next().unwrap_or_default();
    Sibling::new(find_key(line).map(|key| key.name(line)), 0)
}

/// Parses one chunk, whose first character is at `column`.
pub(super) fn parse_chunk(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> ParsedChunk {
    let is_small = text.len() <= LEAF_SIZE;
    if is_small && let Ok(parsed) = parse_members(text, column, kind, &[]) {
        return parsed;
    }
    parse_divided(text, column, kind, context, is_small)
}

/// Adds to a chunk that is not divided further whether it leaves a quote or bracket open.
fn with_unclosed(mut parsed: ParsedChunk, text: &str, column: usize, kind: MemberKind) -> ParsedChunk {
    let is_open = parsed.is_broken() && !delimiters::scan_delimiters(text, column).open.is_empty();
    parsed.unclosed = is_open.then_some(UnclosedChunk { start: 0, column, kind });
    parsed.reported_unclosed |= is_open;
    parsed
}

/// Parses a chunk that is large or has an error: the block inside it separately, or with a repair.
fn parse_divided(
    text: &str,
    column: usize,
    kind: MemberKind,
    context: ChunkContext<'_>,
    is_small: bool,
) -> ParsedChunk {
    let may_divide = context.depth < MAX_DEPTH;
    if may_divide {
        // Misplaced lines are searched in small chunks only: how a large one is divided depends on its first and last
        // lines alone, so that a mistake affects only the small chunk it is in.
        if is_small && let Some(misplaced) = first_misplaced_line(text, column, kind) {
            let parsed = split_at_misplaced_line(text, column, kind, context.deeper(), misplaced);
            return with_unclosed(parsed, text, column, kind);
        }
        if let Some(parsed) = parse_nested_block(text, column, kind, context, Brackets::Closed) {
            return parsed;
        }
    }
    if !is_small
        && !is_surely_unclosed(text, column)
        && let Ok(parsed) = parse_members(text, column, kind, &[])
    {
        return parsed;
    }
    if may_divide && let Some(parsed) = parse_nested_block(text, column, kind, context, Brackets::Unclosed) {
        return if parsed.reported_unclosed { with_unclosed(parsed, text, column, kind) } else { parsed };
    }
    with_unclosed(repair::parse_chunk(text, column, kind, context), text, column, kind)
}

/// Whether the bracket at the end of the first line is never closed, because the last line has no closing bracket.
fn is_surely_unclosed(text: &str, column: usize) -> bool {
    let Some(first) = lines(text, column).next() else { return false };
    let closer = match first.text.bytes().last() {
        Some(b'[') => ']',
        Some(b'{') => '}',
        _ => return false,
    };
    // In a plain scalar it is text.
    let opens = !delimiters::scan_delimiters(first.text, column).open.is_empty();
    opens && last_line(text, column).is_some_and(|last| last.start > 0 && !last.text.contains(closer))
}

/// Parses the misplaced line as a member of this block, as if it were at the column of the block.
fn split_at_misplaced_line(
    text: &str,
    column: usize,
    kind: MemberKind,
    context: ChunkContext<'_>,
    misplaced: MisplacedLine,
) -> ParsedChunk {
    let mut parsed = parse_chunk(&text[..misplaced.line], column, kind, context);
    let start = misplaced.content;
    let rest = parse_chunk(&text[start..], column, kind, context.at(start));
    parsed.errors.push(misindented(text, start, misplaced.column, column, Some(head_of_chunk(text))));
    parsed.append(rest, start);
    parsed
}

/// Whether the closing bracket of a nested block is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    Closed,
    Unclosed,
}

/// Parses a chunk as a head and the block below or after it, if it has this form.
fn parse_nested_block(
    text: &str,
    column: usize,
    kind: MemberKind,
    context: ChunkContext<'_>,
    brackets: Brackets,
) -> Option<ParsedChunk> {
    let nested = find_nested_block(text, column, kind, brackets)?;
    let block_text = &text[nested.start..nested.end];
    let block = parse_block(block_text, nested.column, nested.kind, context.at(nested.start).deeper());
    let (start, len) = match nested.brackets {
        Some((opener, closer)) => (opener, closer + 1 - opener),
        None => (nested.start, block.end),
    };
    let reported_unclosed = block.reported_unclosed;
    // Quotes and brackets that are open between these brackets end with them.
    let unclosed = block.unclosed.filter(|_| nested.brackets.is_none()).map(|it| it.shifted(nested.start));
    let green = block.into_green(nested.column, nested.kind, nested.start - start, len);
    let green = Positioned::new(offset32(start), green);
    let member = match nested.key {
        Some(key) => GreenEntry { key, value: Some(green) },
        None => GreenEntry { key: green, value: None },
    };
    let mut parsed =
        ParsedChunk { members: vec![member], end: start + len, unclosed, reported_unclosed, ..ParsedChunk::default() };
    if let (Some((opener, _)), Brackets::Unclosed) = (nested.brackets, brackets) {
        let error = SyntaxError::never_closed(opener, if nested.kind == MemberKind::FlowEntries { '{' } else { '[' });
        // Of several open brackets, the innermost is reported.
        parsed.errors.push(if reported_unclosed { error.implied() } else { error });
        parsed.reported_unclosed = true;
    } else if nested.brackets.is_some() {
        parsed.reported_unclosed = false;
    }
    Some(parsed)
}

/// The block inside a chunk.
struct NestedBlock {
    key: Option<Positioned<GreenNode>>,
    /// The text of the block.
    start: usize,
    end: usize,
    column: usize,
    kind: MemberKind,
    /// The offsets of its opening and closing bracket.
    brackets: Option<(usize, usize)>,
}

/// Finds the block inside a chunk: after `key:` or `-`, on the lines below or on the same line, or between brackets at
/// the ends of their lines.
fn find_nested_block(text: &str, column: usize, kind: MemberKind, brackets: Brackets) -> Option<NestedBlock> {
    let mut all = lines(text, column);
    let first = all.next()?;
    let (key, value) = match kind {
        MemberKind::Entries | MemberKind::FlowEntries => {
            let key = find_key(first.text)?;
            (Some(key), key.value)
        }
        MemberKind::Items => (None, first.is_dash().then_some(1)?),
        MemberKind::FlowItems => (None, 0),
    };
    let key = match key {
        Some(key) => Some(parse_key(&text[..key.value], column)?),
        None => None,
    };
    let rest = &first.text[value..];
    let spaces = rest.len() - rest.trim_start().len();
    let at = value + spaces;
    let found =
        |start, end, column, kind, brackets| NestedBlock { key: key.clone(), start, end, column, kind, brackets };
    if is_blank_or_comment(rest) {
        if kind.is_flow() {
            return None;
        }
        let next = all.next()?;
        let is_list_at_key_column = kind == MemberKind::Entries && next.column == column;
        return match () {
            () if next.is_tab_indented() => None,
            () if next.is_dash() && (next.column > column || is_list_at_key_column) => {
                Some(found(next.content, text.len(), next.column, MemberKind::Items, None))
            }
            () if next.column > column && find_key(next.text).is_some() => {
                Some(found(next.content, text.len(), next.column, MemberKind::Entries, None))
            }
            // A key without its colon, above its value or above other keys.
            () if brackets == Brackets::Unclosed
                && next.column > column
                && is_word(next.text)
                && all.any(|line| line.column == next.column && (line.is_dash() || find_key(line.text).is_some())) =>
            {
                Some(found(next.content, text.len(), next.column, MemberKind::Entries, None))
            }
            () => None,
        };
    }
    let rest = rest.trim_start();
    let is_block_entry = kind == MemberKind::Entries;
    if let Some(kind) = match rest.split_once([' ', '\t']).map_or(rest, |(word, _)| word) {
        "{" => Some(MemberKind::FlowEntries),
        "[" => Some(MemberKind::FlowItems),
        _ => None,
    } {
        if !is_blank_or_comment(&rest[1..]) {
            return None;
        }
        let next = all.next()?;
        if brackets == Brackets::Unclosed && is_block_entry && content_lines::is_block_member(next.text) {
            return None;
        }
        let last = last_line(text, column)?;
        let closer = if kind == MemberKind::FlowEntries { '}' } else { ']' };
        let is_closed = last.text.strip_prefix(closer).is_some_and(|after| {
            is_blank_or_comment(after.strip_prefix(',').unwrap_or(after)) && last.start > next.start
        });
        // Flow members may be indented with tabs: every character of the indentation counts as one column.
        let column = next.content - next.start;
        return match brackets {
            Brackets::Closed => {
                is_closed.then(|| found(next.content, last.start, column, kind, Some((at, last.content))))
            }
            Brackets::Unclosed => {
                (!is_closed).then(|| found(next.content, text.len(), column, kind, Some((at, last.end() - 1))))
            }
        };
    }
    if kind != MemberKind::Items || spaces == 0 {
        return None;
    }
    let inner_kind = if find_key(rest).is_some() {
        MemberKind::Entries
    } else if rest == "-" || rest.starts_with("- ") {
        MemberKind::Items
    } else {
        return None;
    };
    Some(found(at, text.len(), column + at, inner_kind, None))
}

/// Parses the key of a head such as `name:`.
pub(super) fn parse_key(head: &str, column: usize) -> Option<Positioned<GreenNode>> {
    // Most keys are one plain word and need no parser.
    if let Some(word) = head.strip_suffix(':')
        && word.starts_with(|first: char| first.is_ascii_alphabetic())
        && is_word(word)
    {
        let kind = GreenKind::Scalar { style: ScalarStyle::Plain, value: word.into() };
        return Some(Positioned::new(0, GreenNode::new(offset32(word.len()), None, kind)));
    }
    let parsed = parse_members(head, column, MemberKind::Entries, &[]).ok()?;
    parsed.members.into_iter().next().map(|entry| entry.key)
}

/// Parses a text that must consist of members of one kind.
pub(super) fn parse_members(
    text: &str,
    column: usize,
    kind: MemberKind,
    repairs: &[Patch],
) -> Result<ParsedChunk, ParseFailure> {
    // No key begins with a dash.
    if kind == MemberKind::Entries && is_dash(text.lines().next().unwrap_or_default()) {
        return Err(ParseFailure::NotMembers);
    }
    // Closing characters of a repair come before the closing bracket that is added here.
    let around = |open, close| [&[Patch::insert(0, open)], repairs, &[Patch::insert(text.len(), close)]].concat();
    let patches = match kind {
        MemberKind::Entries | MemberKind::Items if column > 0 => {
            [&[Patch::insert(0, " ".repeat(column))], repairs].concat()
        }
        MemberKind::Entries | MemberKind::Items => repairs.to_vec(),
        MemberKind::FlowEntries => around("{", "\n}"),
        MemberKind::FlowItems => around("[", "\n]"),
    };
    let root = parse_text(text, column, patches)?.ok_or(ParseFailure::NotMembers)?;
    if root.node.properties.is_some() || (root.offset != 0 && !kind.is_flow()) {
        return Err(ParseFailure::NotMembers);
    }
    let len = root.node.len as usize;
    let expected = if kind.is_flow() { CollectionStyle::Flow } else { CollectionStyle::Block };
    let green = std::sync::Arc::into_inner(root.node).ok_or(ParseFailure::NotMembers)?;
    let members = match green.kind {
        GreenKind::Mapping { style, entries, .. } if kind.is_mapping() && style == expected => entries,
        GreenKind::Sequence { style, items, .. } if !kind.is_mapping() && style == expected => {
            items.into_iter().map(|key| GreenEntry { key, value: None }).collect()
        }
        _ => return Err(ParseFailure::NotMembers),
    };
    let end = if kind.is_flow() { members.iter().map(GreenEntry::end).max().unwrap_or(0) } else { len };
    Ok(ParsedChunk { members, end, ..ParsedChunk::default() })
}

/// Parses a text, with patches where kubectl accepts what the parser rejects (Y8): `\'` in double quotes, and lines of a
/// quoted scalar that are indented with tabs or less than YAML requires.
pub(super) fn parse_text(
    text: &str,
    column: usize,
    mut patches: Vec<Patch>,
) -> Result<Option<Positioned<GreenNode>>, ParseFailure> {
    use granit_parser::ErrorKind;
    let mut scanned: Option<DelimiterScan> = None;
    for _ in 0..MAX_PATCH_ROUNDS {
        let patched = PatchedText::new(text, &patches);
        let error = match node_builder::build_node(&patched) {
            Err(ParseFailure::Scan(error)) if node_builder::is_accepted_by_kubectl(error.kind()) => error,
            other => return other,
        };
        let at = patched.original(error.marker().byte_offset().unwrap_or(0)) as usize;
        let found = scanned.get_or_insert_with(|| delimiters::scan_delimiters(text, column));
        let inside = |start: usize, end: usize| start <= at && at < end;
        let Some(quoted) = found.quoted.iter().find(|quoted| inside(quoted.start, quoted.end)) else {
            return Err(ParseFailure::Scan(error));
        };
        let before = patches.len();
        let source = &text[quoted.start..quoted.end];
        match error.kind() {
            ErrorKind::UnknownQuotedScalarEscape if quoted.double => {
                let mut escapes = source.bytes().enumerate();
                while let Some((offset, byte)) = escapes.next() {
                    if byte == b'\\' && escapes.next().is_some_and(|(_, byte)| byte == b'\'') {
                        patches.push(Patch::replace(quoted.start + offset, 1, ""));
                    }
                }
            }
            ErrorKind::InvalidQuotedScalarIndent | ErrorKind::TabInIndentation => {
                let line = text[..quoted.start].rfind('\n').map_or(column, |_| 0) + quoted.start;
                let deep = line - text[..quoted.start].rfind('\n').map_or(0, |end| end + 1) + 1;
                for (offset, _) in source.match_indices('\n') {
                    patches.push(Patch::insert(quoted.start + offset + 1, " ".repeat(deep)));
                }
            }
            _ => {}
        }
        let added: Vec<Patch> = patches.split_off(before);
        let new: Vec<Patch> = added.into_iter().filter(|new| patches.iter().all(|old| old.at != new.at)).collect();
        if new.is_empty() {
            return Err(ParseFailure::Scan(error));
        }
        patches.extend(new);
    }
    Err(ParseFailure::NotMembers)
}

/// Where the quote or bracket that a chunk leaves open is closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Closer {
    /// In the next `count` chunks. They belong to the open chunk only if they are valid together with it.
    InChunks { count: usize, is_valid: bool },
    /// Not in the text before `searched_to`.
    NotFound { searched_to: usize },
}

/// Finds the end of the quote or bracket that is open in `unclosed` at `end`, the end of its chunk. `following` are the
/// chunks after it. `is_to_end` is true if the text goes to the end of the block.
pub(super) fn find_closer_after(
    text: &str,
    is_to_end: bool,
    unclosed: UnclosedChunk,
    end: usize,
    following: &[ChunkStart],
) -> Closer {
    let far = text.floor_char_boundary((end + QUOTE_LOOKAHEAD).min(text.len()));
    let near = text.floor_char_boundary((end + BRACKET_LOOKAHEAD).min(far));
    let near = following.get(BRACKET_LOOKAHEAD_LINES).map_or(near, |it| it.line.min(near));
    let is_chunk = |at: usize| following.binary_search_by_key(&(unclosed.start + at), |it| it.line).is_ok();
    let scan_to = |limit: usize| {
        delimiters::scan_past(&text[unclosed.start..limit], unclosed.column, end - unclosed.start, is_chunk)
    };
    let (mut scan, mut across) = scan_to(near);
    // The next quote closes a quote, however many lines are between them.
    let is_quote = |scan: &DelimiterScan| scan.open.first().is_some_and(|open| matches!(open.close, '"' | '\''));
    let mut limit = near;
    if near < far && is_quote(&scan) {
        limit = far;
        (scan, across) = scan_to(far);
    }
    let is_continued = |it: &&ChunkStart| it.line < limit && scan.continues(it.line - unclosed.start);
    let count = following.iter().take_while(is_continued).count();
    let is_found = match following.get(count) {
        Some(next) => next.line < limit,
        None => is_to_end && limit == text.len() && scan.open.is_empty(),
    };
    if !is_found {
        return Closer::NotFound { searched_to: limit };
    }
    let is_valid_alone = || {
        let column = if across.start == 0 { unclosed.column } else { 0 };
        let text = &text[unclosed.start + across.start..unclosed.start + across.end];
        parse_text(text, column, vec![Patch::insert(0, " ".repeat(column))]).is_ok()
    };
    Closer::InChunks { count, is_valid: count > 0 && (unclosed.kind.is_flow() || is_valid_alone()) }
}

fn ends_with_comma(text: &str, column: usize) -> bool {
    last_line(text, column).is_some_and(|line| {
        let code = line.text.find(" #").map_or(line.text, |at| &line.text[..at]);
        code.trim_end().ends_with(',')
    })
}
