//! A document from pieces: each piece of a level is read alone, and what cannot be read is divided until the mistake
//! stands alone.
//!
//! The result is a pure function of the text. Small healthy texts are read at once; large ones are divided first, so
//! that an edit reads again only the piece it stands in. Both ways give the same tree. What a large piece is depends on
//! its first and last lines; how a mistake is mended, on the small piece that it stands in.

use crate::syntax::chunk_boundaries::{self, ChunkStart, MemberKind};
use crate::syntax::delimiters::{self, DelimiterScan};
use crate::syntax::node_builder::{self, ParseFailure};
use crate::syntax::patched_text::{Patch, PatchedText};
use crate::syntax::previous_tree::ChunkContext;
use crate::syntax::repair;
use crate::syntax::scalar::ScalarStyle;
use crate::syntax::tree::{
    Chunk, ChunkedBlock, CollectionStyle, GreenEntry, GreenKind, GreenNode, Positioned, SyntaxError, SyntaxErrorKind,
};
use crate::text::Span;

/// Texts up to this size are read at once. Unit tests divide nearly everything, so that small texts try every path.
pub(super) const LEAF_SIZE: usize = if cfg!(test) { 96 } else { 4 * 1024 };

/// How deep levels are divided, and how often the parser is helped over something kubectl accepts.
pub(super) const MAX_DEPTH: usize = 64;
const MAX_PATCH_ROUNDS: usize = 48;

/// What a piece gave. Offsets count from the beginning of the piece.
#[derive(Debug, Default)]
pub(super) struct ParsedChunk {
    /// Entries; items of a list are keys without a value.
    pub(super) members: Vec<GreenEntry>,
    /// Closer the last character that was read.
    pub(super) end: usize,
    pub(super) errors: Vec<SyntaxError>,
    /// What was still open at the end of the text.
    pub(super) open: Option<UnclosedChunk>,
    /// Whether the last bracket that was opened is told to be unclosed.
    pub(super) unclosed: bool,
}

/// The piece in which something was opened that is still open at the end of a text. Its place counts from the beginning
/// of that text.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnclosedChunk {
    pub(super) start: usize,
    pub(super) column: usize,
    pub(super) kind: MemberKind,
}

impl UnclosedChunk {
    pub(super) fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, ..self }
    }

    /// Counted from a place that is before it.
    pub(super) fn within(self, start: usize) -> Self {
        Self { start: self.start - start, ..self }
    }
}

impl ParsedChunk {
    fn is_broken(&self) -> bool {
        !self.errors.is_empty() || self.members.iter().any(is_broken)
    }
}

/// Whether something in a member could not be read.
pub(super) fn is_broken(member: &GreenEntry) -> bool {
    member.key.node.marks.error || member.value.as_ref().is_some_and(|value| value.node.marks.error)
}

/// A level that was read piece by piece. Offsets count from the beginning of its text.
#[derive(Debug, Default)]
pub(super) struct ParsedBlock {
    pub(super) members: Vec<GreenEntry>,
    pub(super) pieces: Vec<Chunk>,
    /// Closer the last character that was read.
    pub(super) end: usize,
    /// Where the line of the first piece that was not read begins.
    pub(super) consumed: usize,
    /// What is still open at the end of the text.
    pub(super) open: Option<UnclosedChunk>,
    /// Whether the end of something was looked for behind its piece.
    pub(super) looked: bool,
    pub(super) unclosed: bool,
}

impl ParsedBlock {
    fn push(&mut self, taken: ParsedChunk, start: usize, column: usize, reach: usize, open: Option<UnclosedChunk>) {
        let by = i64::try_from(start).unwrap_or_default();
        self.pieces.push(Chunk {
            offset: offset32(start),
            column: offset32(column),
            children: offset32(taken.members.len()),
            reach: offset32(reach),
            open: open.map(Box::new),
            errors: taken.errors,
        });
        self.members.extend(taken.members.into_iter().map(|member| moved(member, by)));
        self.end = self.end.max(start + taken.end);
        self.unclosed = taken.unclosed;
    }

    /// The collection this level is, `shift` bytes before the level's text.
    pub(super) fn into_green(self, column: usize, kind: MemberKind, shift: usize, end: usize) -> GreenNode {
        let by = i64::try_from(shift).unwrap_or_default();
        let members: Vec<GreenEntry> = self.members.into_iter().map(|member| moved(member, by)).collect();
        let pieces =
            self.pieces.into_iter().map(|piece| Chunk { offset: piece.offset + offset32(shift), ..piece }).collect();
        collection(members, ChunkedBlock { column: offset32(column), pieces }, kind, end)
    }
}

/// A collection of members that were read piece by piece.
pub(super) fn collection(members: Vec<GreenEntry>, level: ChunkedBlock, kind: MemberKind, end: usize) -> GreenNode {
    let level = Some(Box::new(level));
    let shape = if kind.is_flow() { CollectionStyle::Flow } else { CollectionStyle::Block };
    let kind = if kind.is_mapping() {
        GreenKind::Mapping { shape, entries: members, level }
    } else {
        GreenKind::Sequence { shape, items: members.into_iter().map(|member| member.key).collect(), level }
    };
    GreenNode::new(offset32(end), None, kind)
}

/// Reads a level: members at one column, from the first of them on.
pub(super) fn parse_block(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> ParsedBlock {
    parse_block_from(text, column, column, kind, context)
}

/// Reads a level whose first line stands at a column of its own.
pub(super) fn parse_block_from(
    text: &str,
    first: usize,
    column: usize,
    kind: MemberKind,
    context: ChunkContext<'_>,
) -> ParsedBlock {
    ChunkRun { text, limit: text.len(), first, column, kind, before: None, whole: true }.parse(context)
}

/// A run of pieces of a level, and what must be known of the pieces around it.
pub(super) struct ChunkRun<'s> {
    /// From the first character of the first piece to the end of the level, or less if nothing is open in the run: then
    /// to [`chunk_boundaries::LOOKAHEAD_LINES`] lines behind it.
    pub(super) text: &'s str,
    /// Where the line of the first piece behind the run begins.
    pub(super) limit: usize,
    /// The column of the first piece, and that of the level.
    pub(super) first: usize,
    pub(super) column: usize,
    pub(super) kind: MemberKind,
    /// The column of the piece before the run.
    pub(super) before: Option<usize>,
    /// Whether the text goes to the end of the level.
    pub(super) whole: bool,
}

impl ChunkRun<'_> {
    /// Reads the run. A quote or bracket that is open at the end of a piece is looked for in those behind it, which
    /// may lead behind `limit`.
    pub(super) fn parse(&self, context: ChunkContext<'_>) -> ParsedBlock {
        let Self { text, column, kind, .. } = *self;
        let cuts = chunk_boundaries::chunk_starts(text, self.first, column, kind, context.outline);
        let end_of = |index: usize| cuts.get(index).map_or(text.len(), |next| next.line);
        let mut parsed = ParsedBlock::default();
        let mut before = self.before;
        let mut index = 0;
        let mut ready = Vec::new().into_iter();
        // Up to here pieces are read one by one: together they could not be.
        let mut alone_until = 0;
        while let Some(at) = cuts.get(index).copied().filter(|at| at.line < self.limit) {
            let mut next = index + 1;
            let mut reach = 0;
            let mut still_open = None;
            let span = Span::new(at.start, end_of(next));
            let kept = if ready.len() == 0 { context.reusable_chunk(span, at.column, kind) } else { None };
            if ready.len() == 0 && kept.is_none() && index >= alone_until {
                let (count, taken) = self.parse_several(&cuts[index..]);
                ready = taken.into_iter();
                alone_until = index + count;
            }
            let alone = || parse_chunk(&text[span.range()], at.column, kind, context.at(at.start));
            let mut taken = kept.or_else(|| ready.next()).unwrap_or_else(alone);
            if let Some(open) = taken.open {
                parsed.looked = true;
                match find_closer_after(text, self.whole, open.shifted(at.start), end_of(next), &cuts[next..]) {
                    Closer::InChunks { more, healthy } => {
                        let joined = next + more;
                        reach = end_of(joined) - end_of(next);
                        if healthy && let Ok(it) = parse_members(&text[at.start..end_of(joined)], at.column, kind, &[])
                        {
                            (taken, next, reach) = (it, joined, 0);
                        }
                    }
                    Closer::Unknown { limit } => {
                        reach = limit - end_of(next);
                        if limit == text.len() {
                            // What comes behind the level counts too.
                            reach += 1;
                            still_open = Some(open);
                            parsed.open.get_or_insert(open.shifted(at.start));
                        }
                    }
                }
            }
            let piece = &text[at.start..end_of(next)];
            let followed = next < cuts.len();
            if kind.is_flow() {
                if followed && taken.errors.is_empty() && !ends_with_comma(piece, at.column) {
                    let span = Span::new(taken.end.saturating_sub(1), taken.end);
                    taken.errors.push(SyntaxError::new(
                        span,
                        SyntaxErrorKind::MissingComma,
                        "expected `,` behind this",
                    ));
                }
            } else if at.column != column && before != Some(at.column) && taken.errors.is_empty() {
                let end = piece.find(['\n', ':']).unwrap_or(piece.len());
                taken.errors.push(misindented(Span::new(0, end), at.column, column));
            }
            before = Some(at.column);
            parsed.push(taken, at.start, at.column, reach, still_open);
            parsed.consumed = end_of(next);
            index = next;
        }
        parsed
    }

    /// Reads as many small pieces at once as make a leaf, since a parser for each costs more than reading it. Gives how
    /// many that are, and what each of them gives alone, or nothing if that is not plain.
    fn parse_several(&self, cuts: &[ChunkStart]) -> (usize, Vec<ParsedChunk>) {
        let (text, Some(first)) = (self.text, cuts.first()) else { return (0, Vec::new()) };
        let ends = cuts[1..].iter().map(|cut| cut.line).chain([text.len()]);
        let pieces = || cuts.iter().zip(ends.clone());
        let fits = |(cut, end): &(&ChunkStart, usize)| cut.column == first.column && end - first.start <= LEAF_SIZE;
        let count = pieces().take_while(fits).count();
        // A small level is divided because something in it is broken.
        if text.len() <= LEAF_SIZE || count < 2 {
            return (count, Vec::new());
        }
        let end = ends.clone().nth(count - 1).unwrap_or(text.len());
        let Ok(taken) = parse_members(&text[first.start..end], first.column, self.kind, &[]) else {
            return (count, Vec::new());
        };
        let starts = taken.members.iter().map(|member| first.start + member.key.offset as usize);
        let one_each = taken.members.len() == count
            && pieces().zip(starts).all(|((cut, end), start)| cut.start <= start && start < end);
        if !one_each {
            return (count, Vec::new());
        }
        let last = count - 1;
        let alone = |(index, (cut, member)): (usize, (&ChunkStart, GreenEntry))| {
            let start = cut.start - first.start;
            let member = moved(member, -i64::try_from(start).unwrap_or_default());
            // Only where the last one ends counts.
            let end = if index == last { taken.end - start } else { member_end(&member) };
            ParsedChunk { members: vec![member], end, ..ParsedChunk::default() }
        };
        (count, cuts.iter().zip(taken.members).enumerate().map(alone).collect())
    }
}

pub(super) fn misindented(span: Span, is: usize, should: usize) -> SyntaxError {
    SyntaxError::new(
        span,
        SyntaxErrorKind::Indentation,
        format!("indented by {is}, but what it stands beside is indented by {should}"),
    )
}

/// A bracket or quote that was left open.
pub(super) fn never_closed(at: usize, opener: char) -> SyntaxError {
    let what = if matches!(opener, '"' | '\'') { "quote".to_owned() } else { format!("`{opener}`") };
    SyntaxError::new(Span::new(at, at + 1), SyntaxErrorKind::Unclosed, format!("this {what} is never closed"))
}

/// Reads one piece, whose first character stands at `column`.
pub(super) fn parse_chunk(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> ParsedChunk {
    let small = text.len() <= LEAF_SIZE;
    if small && let Ok(taken) = parse_members(text, column, kind, &[]) {
        return taken;
    }
    parse_divided(text, column, kind, context, small)
}

/// A piece that cannot be divided, with what it leaves open.
fn with_unclosed(mut taken: ParsedChunk, text: &str, column: usize, kind: MemberKind) -> ParsedChunk {
    let is_open = taken.is_broken() && !delimiters::scan_delimiters(text, column).open.is_empty();
    taken.open = is_open.then_some(UnclosedChunk { start: 0, column, kind });
    taken.unclosed |= is_open;
    taken
}

fn parse_divided(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>, small: bool) -> ParsedChunk {
    let may_divide = context.depth < MAX_DEPTH;
    if may_divide {
        // MisplacedLine lines are looked for in small pieces only: what a large one is depends on its first and last lines alone,
        // so that a mistake costs the small piece it stands in.
        if small && let Some(stray) = chunk_boundaries::misplaced_line(text, column, kind) {
            return with_unclosed(
                split_at_misplaced_line(text, column, kind, context.deeper(), stray),
                text,
                column,
                kind,
            );
        }
        if let Some(taken) = parse_nested_block(text, column, kind, context, BracketState::Closed) {
            return taken;
        }
    }
    if !small
        && !is_surely_open(text, column)
        && let Ok(taken) = parse_members(text, column, kind, &[])
    {
        return taken;
    }
    if may_divide && let Some(taken) = parse_nested_block(text, column, kind, context, BracketState::Missing) {
        return if taken.unclosed { with_unclosed(taken, text, column, kind) } else { taken };
    }
    with_unclosed(repair::parse_chunk(text, column, kind, context), text, column, kind)
}

/// Whether a bracket is left open that ends the first line: nothing on the last line closes it.
fn is_surely_open(text: &str, column: usize) -> bool {
    let opener = chunk_boundaries::lines(text, column).next().and_then(|first| first.text.bytes().last());
    let closer = match opener {
        Some(b'[') => ']',
        Some(b'{') => '}',
        _ => return false,
    };
    chunk_boundaries::last_line(text, column).is_some_and(|last| last.start > 0 && !last.text.contains(closer))
}

/// A stray line begins a member of this level, as if it stood at the level's column.
fn split_at_misplaced_line(
    text: &str,
    column: usize,
    kind: MemberKind,
    context: ChunkContext<'_>,
    stray: chunk_boundaries::MisplacedLine,
) -> ParsedChunk {
    let mut taken = parse_chunk(&text[..stray.line], column, kind, context);
    let mut rest = parse_chunk(&text[stray.content..], column, kind, context.at(stray.content));
    let end = text[stray.content..].find(['\n', ':']).unwrap_or(1);
    rest.errors.insert(0, misindented(Span::new(0, end), stray.column, column));
    append(&mut taken, rest, stray.content);
    taken
}

/// Adds what was read further on in the same piece.
pub(super) fn append(taken: &mut ParsedChunk, rest: ParsedChunk, start: usize) {
    let by = i64::try_from(start).unwrap_or_default();
    taken.members.extend(rest.members.into_iter().map(|member| moved(member, by)));
    taken.errors.extend(rest.errors.iter().map(|error| error.shifted(start)));
    taken.end = taken.end.max(start + rest.end);
}

/// Whether brackets must be closed on the last line of a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BracketState {
    Closed,
    Missing,
}

/// Divides a piece into its head and the level behind it, if it has such a shape.
fn parse_nested_block(
    text: &str,
    column: usize,
    kind: MemberKind,
    context: ChunkContext<'_>,
    closing: BracketState,
) -> Option<ParsedChunk> {
    let inner = find_nested_block(text, column, kind, closing)?;
    let parsed = parse_block(&text[inner.start..inner.end], inner.column, inner.kind, context.at(inner.start).deeper());
    let (start, len) = match inner.brackets {
        Some((opener, closer)) => (opener, closer + 1 - opener),
        None => (inner.start, parsed.end),
    };
    let shift = inner.start - start;
    let unclosed = parsed.unclosed;
    // What is opened between brackets ends with them.
    let open = parsed.open.filter(|_| inner.brackets.is_none()).map(|open| open.shifted(inner.start));
    let nested = parsed.into_green(inner.column, inner.kind, shift, len);
    let nested = Positioned::new(offset32(start), nested);
    let member = match inner.key {
        Some(key) => GreenEntry { key, value: Some(nested) },
        None => GreenEntry { key: nested, value: None },
    };
    let mut taken = ParsedChunk { members: vec![member], end: start + len, open, unclosed, ..ParsedChunk::default() };
    if let (Some((opener, _)), BracketState::Missing) = (inner.brackets, closing) {
        let error = never_closed(opener, if inner.kind == MemberKind::FlowEntries { '{' } else { '[' });
        // Of several that were left open together the innermost is told.
        taken.errors.push(if unclosed { error.implied() } else { error });
        taken.unclosed = true;
    } else if inner.brackets.is_some() {
        taken.unclosed = false;
    }
    Some(taken)
}

/// The level inside a piece.
struct NestedBlock {
    key: Option<Positioned<GreenNode>>,
    /// The level's text.
    start: usize,
    end: usize,
    column: usize,
    kind: MemberKind,
    /// Where its brackets stand.
    brackets: Option<(usize, usize)>,
}

/// Finds the level inside a piece: behind `key:` or `-` on the lines below or on the same line, or between brackets
/// that stand at the ends of their lines.
fn find_nested_block(text: &str, column: usize, kind: MemberKind, closing: BracketState) -> Option<NestedBlock> {
    let mut lines = chunk_boundaries::lines(text, column);
    let first = lines.next()?;
    let (key, value) = match kind {
        MemberKind::Entries | MemberKind::FlowEntries => {
            let key = chunk_boundaries::key(first.text)?;
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
    let blanks = rest.len() - rest.trim_start().len();
    let at = value + blanks;
    let found =
        |start, end, column, kind, brackets| NestedBlock { key: key.clone(), start, end, column, kind, brackets };
    if chunk_boundaries::is_rest_empty(rest) {
        if kind.is_flow() {
            return None;
        }
        let next = lines.next()?;
        let indentless = kind == MemberKind::Entries && next.column == column;
        return match () {
            () if next.column == usize::MAX => None,
            () if next.is_dash() && (next.column > column || indentless) => {
                Some(found(next.content, text.len(), next.column, MemberKind::Items, None))
            }
            () if next.column > column && chunk_boundaries::key(next.text).is_some() => {
                Some(found(next.content, text.len(), next.column, MemberKind::Entries, None))
            }
            // A key that lost its colon, above what it holds or above others.
            () if closing == BracketState::Missing
                && next.column > column
                && chunk_boundaries::is_word(next.text)
                && lines.any(|line| {
                    line.column == next.column && (line.is_dash() || chunk_boundaries::key(line.text).is_some())
                }) =>
            {
                Some(found(next.content, text.len(), next.column, MemberKind::Entries, None))
            }
            () => None,
        };
    }
    let rest = rest.trim_start();
    let in_block = kind == MemberKind::Entries;
    if let Some(kind) = match rest.split_once([' ', '\t']).map_or(rest, |(word, _)| word) {
        "{" => Some(MemberKind::FlowEntries),
        "[" => Some(MemberKind::FlowItems),
        _ => None,
    } {
        if !chunk_boundaries::is_rest_empty(&rest[1..]) {
            return None;
        }
        let next = lines.next()?;
        if closing == BracketState::Missing && in_block && chunk_boundaries::is_block_member(next.text) {
            return None;
        }
        let last = chunk_boundaries::last_line(text, column)?;
        let closer = if kind == MemberKind::FlowEntries { '}' } else { ']' };
        let closed = last.text.strip_prefix(closer).is_some_and(|behind| {
            chunk_boundaries::is_rest_empty(behind.strip_prefix(',').unwrap_or(behind)) && last.start > next.start
        });
        // Flow members may be indented by tabs: their column is the number of blanks.
        let column = next.content - next.start;
        return match closing {
            BracketState::Closed => {
                closed.then(|| found(next.content, last.start, column, kind, Some((at, last.content))))
            }
            BracketState::Missing => {
                (!closed).then(|| found(next.content, text.len(), column, kind, Some((at, last.end() - 1))))
            }
        };
    }
    if kind != MemberKind::Items || blanks == 0 {
        return None;
    }
    let inner_kind = if chunk_boundaries::key(rest).is_some() {
        MemberKind::Entries
    } else if rest == "-" || rest.starts_with("- ") {
        MemberKind::Items
    } else {
        return None;
    };
    Some(found(at, text.len(), column + at, inner_kind, None))
}

/// The key of a head such as `name:`.
pub(super) fn parse_key(head: &str, column: usize) -> Option<Positioned<GreenNode>> {
    // Most are a plain word, and need no parser.
    if let Some(word) = head.strip_suffix(':')
        && word.starts_with(|first: char| first.is_ascii_alphabetic())
        && chunk_boundaries::is_word(word)
    {
        let kind = GreenKind::Scalar { style: ScalarStyle::Plain, value: word.into() };
        return Some(Positioned::new(0, GreenNode::new(offset32(word.len()), None, kind)));
    }
    let taken = parse_members(head, column, MemberKind::Entries, &[]).ok()?;
    taken.members.into_iter().next().map(|entry| entry.key)
}

/// Reads a text that must hold members and nothing else.
pub(super) fn parse_members(
    text: &str,
    column: usize,
    kind: MemberKind,
    repairs: &[Patch],
) -> Result<ParsedChunk, ParseFailure> {
    // A dash begins no key, whatever follows.
    if kind == MemberKind::Entries && chunk_boundaries::is_dash(text.lines().next().unwrap_or_default()) {
        return Err(ParseFailure::NotMembers);
    }
    // What a repair closes at the end is closed before what stands around.
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
    let shape = if kind.is_flow() { CollectionStyle::Flow } else { CollectionStyle::Block };
    let green = std::sync::Arc::into_inner(root.node).ok_or(ParseFailure::NotMembers)?;
    let members = match green.kind {
        GreenKind::Mapping { shape: is, entries, .. } if kind.is_mapping() && is == shape => entries,
        GreenKind::Sequence { shape: is, items, .. } if !kind.is_mapping() && is == shape => {
            items.into_iter().map(|key| GreenEntry { key, value: None }).collect()
        }
        _ => return Err(ParseFailure::NotMembers),
    };
    let end = if kind.is_flow() { members.iter().map(member_end).max().unwrap_or(0) } else { len };
    Ok(ParsedChunk { members, end, ..ParsedChunk::default() })
}

/// Closer the last character of a member.
pub(super) fn member_end(member: &GreenEntry) -> usize {
    let last = member.value.as_ref().unwrap_or(&member.key);
    (last.offset + last.node.len) as usize
}

/// Reads a text, helping the parser over what kubectl accepts and it does not (Y8): `\'` in double quotes, and lines
/// of a quoted scalar that are indented less than YAML asks.
pub(super) fn parse_text(
    text: &str,
    column: usize,
    mut patches: Vec<Patch>,
) -> Result<Option<Positioned<GreenNode>>, ParseFailure> {
    use granit_parser::ErrorKind;
    let mut scanned: Option<DelimiterScan> = None;
    for _ in 0..MAX_PATCH_ROUNDS {
        let patched = PatchedText::new(text, &patches);
        let can_help = |kind: &ErrorKind| {
            matches!(kind, ErrorKind::UnknownQuotedScalarEscape | ErrorKind::InvalidQuotedScalarIndent)
        };
        let error = match node_builder::build_node(&patched) {
            Err(ParseFailure::Scan(error)) if can_help(error.kind()) => error,
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
            ErrorKind::InvalidQuotedScalarIndent => {
                let line = text[..quoted.start].rfind('\n').map_or(column, |_| 0) + quoted.start;
                let deep = line - text[..quoted.start].rfind('\n').map_or(0, |end| end + 1) + 1;
                for (offset, _) in source.match_indices('\n') {
                    patches.push(Patch::insert(quoted.start + offset + 1, " ".repeat(deep)));
                }
            }
            _ => {}
        }
        let news: Vec<Patch> = patches.split_off(before);
        let fresh: Vec<Patch> = news.into_iter().filter(|new| patches.iter().all(|old| old.at != new.at)).collect();
        if fresh.is_empty() {
            return Err(ParseFailure::Scan(error));
        }
        patches.extend(fresh);
    }
    Err(ParseFailure::NotMembers)
}

/// Where what a piece leaves open is closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Closer {
    /// In so many of the pieces behind it. Only if what is open is a healthy member with them they may belong to it.
    InChunks { more: usize, healthy: bool },
    /// Nowhere before a limit.
    Unknown { limit: usize },
}

/// Looks behind a piece that ends at `end` for the end of what is open there. `cuts` are the pieces behind it, in a text
/// that goes to the end of the level if it is whole.
pub(super) fn find_closer_after(
    text: &str,
    whole: bool,
    open: UnclosedChunk,
    end: usize,
    cuts: &[ChunkStart],
) -> Closer {
    let far = text.floor_char_boundary((end + chunk_boundaries::QUOTE_LOOKAHEAD).min(text.len()));
    let near = text.floor_char_boundary((end + chunk_boundaries::BRACKET_LOOKAHEAD).min(far));
    let near = cuts.get(chunk_boundaries::BRACKET_LOOKAHEAD_LINES).map_or(near, |cut| cut.line.min(near));
    let begins = |at: usize| cuts.binary_search_by_key(&(open.start + at), |cut| cut.line).is_ok();
    let past = |limit: usize| delimiters::scan_past(&text[open.start..limit], open.column, end - open.start, begins);
    let (mut scan, mut across) = past(near);
    // A quote is closed by the next one, however many lines stand between them.
    let is_quote = |scan: &DelimiterScan| scan.open.first().is_some_and(|open| matches!(open.close, '"' | '\''));
    let mut limit = near;
    if near < far && is_quote(&scan) {
        limit = far;
        (scan, across) = past(far);
    }
    let more = cuts.iter().take_while(|cut| cut.line < limit && scan.continues(cut.line - open.start)).count();
    let is_known = match cuts.get(more) {
        Some(next) => next.line < limit,
        None => whole && limit == text.len() && scan.open.is_empty(),
    };
    if !is_known {
        return Closer::Unknown { limit };
    }
    let alone = || {
        let column = if across.start == 0 { open.column } else { 0 };
        let text = &text[open.start + across.start..open.start + across.end];
        parse_text(text, column, vec![Patch::insert(0, " ".repeat(column))]).is_ok()
    };
    Closer::InChunks { more, healthy: more > 0 && (open.kind.is_flow() || alone()) }
}

fn ends_with_comma(text: &str, column: usize) -> bool {
    chunk_boundaries::last_line(text, column).is_some_and(|line| {
        let code = line.text.find(" #").map_or(line.text, |at| &line.text[..at]);
        code.trim_end().ends_with(',')
    })
}

/// A member further on in the text.
pub(super) fn moved(member: GreenEntry, by: i64) -> GreenEntry {
    GreenEntry { key: member.key.moved(by), value: member.value.map(|value| value.moved(by)) }
}

pub(super) fn offset32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
