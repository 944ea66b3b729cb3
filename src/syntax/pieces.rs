//! A document from pieces: each piece of a level is read alone, and what cannot be read is divided until the mistake
//! stands alone.
//!
//! The result is a pure function of the text. Small healthy texts are read at once; large ones are divided first, so
//! that an edit reads again only the piece it stands in. Both ways give the same tree. What a large piece is depends on
//! its first and last lines; how a mistake is mended, on the small piece that it stands in.

use crate::syntax::build::{self, Refusal};
use crate::syntax::cut::{self, Cut, Members};
use crate::syntax::memory::Context;
use crate::syntax::patch::{Patch, Patched};
use crate::syntax::repair;
use crate::syntax::scalar::ScalarStyle;
use crate::syntax::scan::{self, Scan};
use crate::syntax::tree::{CollectionStyle, Entry, Green, Kind, Level, Piece, Placed, SyntaxError};
use crate::text::Span;

/// Texts up to this size are read at once. Unit tests divide nearly everything, so that small texts try every path.
pub(super) const LEAF: usize = if cfg!(test) { 96 } else { 4 * 1024 };

/// How deep levels are divided, and how often the parser is helped over something kubectl accepts.
pub(super) const DEPTH: usize = 64;
const HELPS: usize = 48;

/// What a piece gave. Offsets count from the beginning of the piece.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Entries; items of a list are keys without a value.
    pub(super) members: Vec<Entry>,
    /// Behind the last character that was read.
    pub(super) end: usize,
    pub(super) errors: Vec<SyntaxError>,
    /// What was still open at the end of the text.
    pub(super) open: Option<Open>,
    /// Whether the last bracket that was opened is told to be unclosed.
    pub(super) unclosed: bool,
}

/// The piece in which something was opened that is still open at the end of a text. Its place counts from the beginning
/// of that text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) start: usize,
    pub(super) column: usize,
    pub(super) kind: Members,
}

impl Open {
    pub(super) fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, ..self }
    }

    /// Counted from a place that is before it.
    pub(super) fn within(self, start: usize) -> Self {
        Self { start: self.start - start, ..self }
    }
}

impl Taken {
    fn is_broken(&self) -> bool {
        !self.errors.is_empty() || self.members.iter().any(is_broken)
    }
}

/// Whether something in a member could not be read.
pub(super) fn is_broken(member: &Entry) -> bool {
    member.key.it.marks.error || member.value.as_ref().is_some_and(|value| value.it.marks.error)
}

/// A level that was read piece by piece. Offsets count from the beginning of its text.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) members: Vec<Entry>,
    pub(super) pieces: Vec<Piece>,
    /// Behind the last character that was read.
    pub(super) end: usize,
    /// Where the line of the first piece that was not read begins.
    pub(super) consumed: usize,
    /// What is still open at the end of the text.
    pub(super) open: Option<Open>,
    /// Whether the end of something was looked for behind its piece.
    pub(super) looked: bool,
    pub(super) unclosed: bool,
}

impl Parsed {
    fn push(&mut self, taken: Taken, start: usize, column: usize, reach: usize, open: Option<Open>) {
        let by = i64::try_from(start).unwrap_or_default();
        self.pieces.push(Piece {
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
    pub(super) fn into_green(self, column: usize, kind: Members, shift: usize, end: usize) -> Green {
        let by = i64::try_from(shift).unwrap_or_default();
        let members: Vec<Entry> = self.members.into_iter().map(|member| moved(member, by)).collect();
        let pieces =
            self.pieces.into_iter().map(|piece| Piece { offset: piece.offset + offset32(shift), ..piece }).collect();
        green(members, Level { column: offset32(column), pieces }, kind, end)
    }
}

/// A collection of members that were read piece by piece.
pub(super) fn green(members: Vec<Entry>, level: Level, kind: Members, end: usize) -> Green {
    let level = Some(Box::new(level));
    let shape = if kind.is_flow() { CollectionStyle::Flow } else { CollectionStyle::Block };
    let kind = if kind.is_mapping() {
        Kind::Mapping { shape, entries: members, level }
    } else {
        Kind::Sequence { shape, items: members.into_iter().map(|member| member.key).collect(), level }
    };
    Green::new(offset32(end), None, kind)
}

/// Reads a level: members at one column, from the first of them on.
pub(super) fn level(text: &str, column: usize, kind: Members, context: Context<'_>) -> Parsed {
    level_from(text, column, column, kind, context)
}

/// Reads a level whose first line stands at a column of its own.
pub(super) fn level_from(text: &str, first: usize, column: usize, kind: Members, context: Context<'_>) -> Parsed {
    Part { text, limit: text.len(), first, column, kind, before: None, whole: true }.read(context)
}

/// A run of pieces of a level, and what must be known of the pieces around it.
pub(super) struct Part<'s> {
    /// From the first character of the first piece to the end of the level, or less if nothing is open in the run: then
    /// to [`cut::AHEAD`] lines behind it.
    pub(super) text: &'s str,
    /// Where the line of the first piece behind the run begins.
    pub(super) limit: usize,
    /// The column of the first piece, and that of the level.
    pub(super) first: usize,
    pub(super) column: usize,
    pub(super) kind: Members,
    /// The column of the piece before the run.
    pub(super) before: Option<usize>,
    /// Whether the text goes to the end of the level.
    pub(super) whole: bool,
}

impl Part<'_> {
    /// Reads the run. A quote or bracket that is open at the end of a piece is looked for in those behind it, which
    /// may lead behind `limit`.
    pub(super) fn read(&self, context: Context<'_>) -> Parsed {
        let Self { text, column, kind, .. } = *self;
        let cuts = cut::pieces(text, self.first, column, kind, context.outline);
        let end_of = |index: usize| cuts.get(index).map_or(text.len(), |next| next.line);
        let mut parsed = Parsed::default();
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
            let kept = if ready.len() == 0 { context.piece(span, at.column, kind) } else { None };
            if ready.len() == 0 && kept.is_none() && index >= alone_until {
                let (count, taken) = self.several(&cuts[index..]);
                ready = taken.into_iter();
                alone_until = index + count;
            }
            let alone = || piece(&text[span.range()], at.column, kind, context.at(at.start));
            let mut taken = kept.or_else(|| ready.next()).unwrap_or_else(alone);
            if let Some(open) = taken.open {
                parsed.looked = true;
                match look_behind(text, self.whole, open.shifted(at.start), end_of(next), &cuts[next..]) {
                    Behind::Pieces { more, healthy } => {
                        let joined = next + more;
                        reach = end_of(joined) - end_of(next);
                        if healthy && let Ok(it) = read_members(&text[at.start..end_of(joined)], at.column, kind, &[]) {
                            (taken, next, reach) = (it, joined, 0);
                        }
                    }
                    Behind::Unknown { limit } => {
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
                    taken.errors.push(SyntaxError::new(span, "expected `,` behind this"));
                }
            } else if at.column != column && before != Some(at.column) && taken.errors.is_empty() {
                let end = piece.find(['\n', ':']).unwrap_or(piece.len());
                taken.errors.push(indented_wrongly(Span::new(0, end), at.column, column));
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
    fn several(&self, cuts: &[Cut]) -> (usize, Vec<Taken>) {
        let (text, Some(first)) = (self.text, cuts.first()) else { return (0, Vec::new()) };
        let ends = cuts[1..].iter().map(|cut| cut.line).chain([text.len()]);
        let pieces = || cuts.iter().zip(ends.clone());
        let fits = |(cut, end): &(&Cut, usize)| cut.column == first.column && end - first.start <= LEAF;
        let count = pieces().take_while(fits).count();
        // A small level is divided because something in it is broken.
        if text.len() <= LEAF || count < 2 {
            return (count, Vec::new());
        }
        let end = ends.clone().nth(count - 1).unwrap_or(text.len());
        let Ok(taken) = read_members(&text[first.start..end], first.column, self.kind, &[]) else {
            return (count, Vec::new());
        };
        let starts = taken.members.iter().map(|member| first.start + member.key.offset as usize);
        let one_each = taken.members.len() == count
            && pieces().zip(starts).all(|((cut, end), start)| cut.start <= start && start < end);
        if !one_each {
            return (count, Vec::new());
        }
        let last = count - 1;
        let alone = |(index, (cut, member)): (usize, (&Cut, Entry))| {
            let start = cut.start - first.start;
            let member = moved(member, -i64::try_from(start).unwrap_or_default());
            // Only where the last one ends counts.
            let end = if index == last { taken.end - start } else { member_end(&member) };
            Taken { members: vec![member], end, ..Taken::default() }
        };
        (count, cuts.iter().zip(taken.members).enumerate().map(alone).collect())
    }
}

pub(super) fn indented_wrongly(span: Span, is: usize, should: usize) -> SyntaxError {
    SyntaxError::new(span, format!("indented by {is}, but what it stands beside is indented by {should}"))
}

/// A bracket or quote that was left open.
pub(super) fn never_closed(at: usize, opener: char) -> SyntaxError {
    let what = if matches!(opener, '"' | '\'') { "quote".to_owned() } else { format!("`{opener}`") };
    SyntaxError::new(Span::new(at, at + 1), format!("this {what} is never closed"))
}

/// Reads one piece, whose first character stands at `column`.
pub(super) fn piece(text: &str, column: usize, kind: Members, context: Context<'_>) -> Taken {
    let small = text.len() <= LEAF;
    if small && let Ok(taken) = read_members(text, column, kind, &[]) {
        return taken;
    }
    divided(text, column, kind, context, small)
}

/// A piece that cannot be divided, with what it leaves open.
fn whole(mut taken: Taken, text: &str, column: usize, kind: Members) -> Taken {
    let is_open = taken.is_broken() && !scan::scan(text, column).open.is_empty();
    taken.open = is_open.then_some(Open { start: 0, column, kind });
    taken.unclosed |= is_open;
    taken
}

fn divided(text: &str, column: usize, kind: Members, context: Context<'_>, small: bool) -> Taken {
    let may_divide = context.depth < DEPTH;
    if may_divide {
        // Stray lines are looked for in small pieces only: what a large one is depends on its first and last lines alone,
        // so that a mistake costs the small piece it stands in.
        if small && let Some(stray) = cut::stray(text, column, kind) {
            return whole(split(text, column, kind, context.deeper(), stray), text, column, kind);
        }
        if let Some(taken) = divide(text, column, kind, context, Closing::Strict) {
            return taken;
        }
    }
    if !small
        && !is_surely_open(text, column)
        && let Ok(taken) = read_members(text, column, kind, &[])
    {
        return taken;
    }
    if may_divide && let Some(taken) = divide(text, column, kind, context, Closing::Missing) {
        return if taken.unclosed { whole(taken, text, column, kind) } else { taken };
    }
    whole(repair::piece(text, column, kind, context), text, column, kind)
}

/// Whether a bracket is left open that ends the first line: nothing on the last line closes it.
fn is_surely_open(text: &str, column: usize) -> bool {
    let opener = cut::lines(text, column).next().and_then(|first| first.text.bytes().last());
    let closer = match opener {
        Some(b'[') => ']',
        Some(b'{') => '}',
        _ => return false,
    };
    cut::last_line(text, column).is_some_and(|last| last.start > 0 && !last.text.contains(closer))
}

/// A stray line begins a member of this level, as if it stood at the level's column.
fn split(text: &str, column: usize, kind: Members, context: Context<'_>, stray: cut::Stray) -> Taken {
    let mut taken = piece(&text[..stray.line], column, kind, context);
    let mut rest = piece(&text[stray.content..], column, kind, context.at(stray.content));
    let end = text[stray.content..].find(['\n', ':']).unwrap_or(1);
    rest.errors.insert(0, indented_wrongly(Span::new(0, end), stray.column, column));
    append(&mut taken, rest, stray.content);
    taken
}

/// Adds what was read further on in the same piece.
pub(super) fn append(taken: &mut Taken, rest: Taken, start: usize) {
    let by = i64::try_from(start).unwrap_or_default();
    taken.members.extend(rest.members.into_iter().map(|member| moved(member, by)));
    taken.errors.extend(rest.errors.iter().map(|error| error.shifted(start)));
    taken.end = taken.end.max(start + rest.end);
}

/// Whether brackets must be closed on the last line of a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    Strict,
    Missing,
}

/// Divides a piece into its head and the level behind it, if it has such a shape.
fn divide(text: &str, column: usize, kind: Members, context: Context<'_>, closing: Closing) -> Option<Taken> {
    let inner = inner(text, column, kind, closing)?;
    let parsed = level(&text[inner.start..inner.end], inner.column, inner.kind, context.at(inner.start).deeper());
    let (start, len) = match inner.brackets {
        Some((opener, closer)) => (opener, closer + 1 - opener),
        None => (inner.start, parsed.end),
    };
    let shift = inner.start - start;
    let unclosed = parsed.unclosed;
    // What is opened between brackets ends with them.
    let open = parsed.open.filter(|_| inner.brackets.is_none()).map(|open| open.shifted(inner.start));
    let nested = parsed.into_green(inner.column, inner.kind, shift, len);
    let nested = Placed::new(offset32(start), nested);
    let member = match inner.key {
        Some(key) => Entry { key, value: Some(nested) },
        None => Entry { key: nested, value: None },
    };
    let mut taken = Taken { members: vec![member], end: start + len, open, unclosed, ..Taken::default() };
    if let (Some((opener, _)), Closing::Missing) = (inner.brackets, closing) {
        let error = never_closed(opener, if inner.kind == Members::FlowEntries { '{' } else { '[' });
        // Of several that were left open together the innermost is told.
        taken.errors.push(if unclosed { error.implied() } else { error });
        taken.unclosed = true;
    } else if inner.brackets.is_some() {
        taken.unclosed = false;
    }
    Some(taken)
}

/// The level inside a piece.
struct Inner {
    key: Option<Placed<Green>>,
    /// The level's text.
    start: usize,
    end: usize,
    column: usize,
    kind: Members,
    /// Where its brackets stand.
    brackets: Option<(usize, usize)>,
}

/// Finds the level inside a piece: behind `key:` or `-` on the lines below or on the same line, or between brackets
/// that stand at the ends of their lines.
fn inner(text: &str, column: usize, kind: Members, closing: Closing) -> Option<Inner> {
    let mut lines = cut::lines(text, column);
    let first = lines.next()?;
    let (key, value) = match kind {
        Members::Entries | Members::FlowEntries => {
            let key = cut::key(first.text)?;
            (Some(key), key.value)
        }
        Members::Items => (None, first.is_dash().then_some(1)?),
        Members::FlowItems => (None, 0),
    };
    let key = match key {
        Some(key) => Some(read_key(&text[..key.value], column)?),
        None => None,
    };
    let rest = &first.text[value..];
    let blanks = rest.len() - rest.trim_start().len();
    let at = value + blanks;
    let found = |start, end, column, kind, brackets| Inner { key: key.clone(), start, end, column, kind, brackets };
    if cut::is_rest_empty(rest) {
        if kind.is_flow() {
            return None;
        }
        let next = lines.next()?;
        let indentless = kind == Members::Entries && next.column == column;
        return match () {
            () if next.column == usize::MAX => None,
            () if next.is_dash() && (next.column > column || indentless) => {
                Some(found(next.content, text.len(), next.column, Members::Items, None))
            }
            () if next.column > column && cut::key(next.text).is_some() => {
                Some(found(next.content, text.len(), next.column, Members::Entries, None))
            }
            // A key that lost its colon, above what it holds or above others.
            () if closing == Closing::Missing
                && next.column > column
                && cut::is_word(next.text)
                && lines
                    .any(|line| line.column == next.column && (line.is_dash() || cut::key(line.text).is_some())) =>
            {
                Some(found(next.content, text.len(), next.column, Members::Entries, None))
            }
            () => None,
        };
    }
    let rest = rest.trim_start();
    let in_block = kind == Members::Entries;
    if let Some(kind) = match rest.split_once([' ', '\t']).map_or(rest, |(word, _)| word) {
        "{" => Some(Members::FlowEntries),
        "[" => Some(Members::FlowItems),
        _ => None,
    } {
        if !cut::is_rest_empty(&rest[1..]) {
            return None;
        }
        let next = lines.next()?;
        if closing == Closing::Missing && in_block && cut::is_block_member(next.text) {
            return None;
        }
        let last = cut::last_line(text, column)?;
        let closer = if kind == Members::FlowEntries { '}' } else { ']' };
        let closed = last.text.strip_prefix(closer).is_some_and(|behind| {
            cut::is_rest_empty(behind.strip_prefix(',').unwrap_or(behind)) && last.start > next.start
        });
        // Flow members may be indented by tabs: their column is the number of blanks.
        let column = next.content - next.start;
        return match closing {
            Closing::Strict => closed.then(|| found(next.content, last.start, column, kind, Some((at, last.content)))),
            Closing::Missing => {
                (!closed).then(|| found(next.content, text.len(), column, kind, Some((at, last.end() - 1))))
            }
        };
    }
    if kind != Members::Items || blanks == 0 {
        return None;
    }
    let inner_kind = if cut::key(rest).is_some() {
        Members::Entries
    } else if rest == "-" || rest.starts_with("- ") {
        Members::Items
    } else {
        return None;
    };
    Some(found(at, text.len(), column + at, inner_kind, None))
}

/// The key of a head such as `name:`.
pub(super) fn read_key(head: &str, column: usize) -> Option<Placed<Green>> {
    // Most are a plain word, and need no parser.
    if let Some(word) = head.strip_suffix(':')
        && word.starts_with(|first: char| first.is_ascii_alphabetic())
        && cut::is_word(word)
    {
        let kind = Kind::Scalar { style: ScalarStyle::Plain, value: word.into() };
        return Some(Placed::new(0, Green::new(offset32(word.len()), None, kind)));
    }
    let taken = read_members(head, column, Members::Entries, &[]).ok()?;
    taken.members.into_iter().next().map(|entry| entry.key)
}

/// Reads a text that must hold members and nothing else.
pub(super) fn read_members(text: &str, column: usize, kind: Members, repairs: &[Patch]) -> Result<Taken, Refusal> {
    // A dash begins no key, whatever follows.
    if kind == Members::Entries && cut::is_dash(text.lines().next().unwrap_or_default()) {
        return Err(Refusal::NotMembers);
    }
    // What a repair closes at the end is closed before what stands around.
    let around = |open, close| [&[Patch::insert(0, open)], repairs, &[Patch::insert(text.len(), close)]].concat();
    let patches = match kind {
        Members::Entries | Members::Items if column > 0 => [&[Patch::insert(0, " ".repeat(column))], repairs].concat(),
        Members::Entries | Members::Items => repairs.to_vec(),
        Members::FlowEntries => around("{", "\n}"),
        Members::FlowItems => around("[", "\n]"),
    };
    let root = read(text, column, patches)?.ok_or(Refusal::NotMembers)?;
    if root.it.properties.is_some() || (root.offset != 0 && !kind.is_flow()) {
        return Err(Refusal::NotMembers);
    }
    let len = root.it.len as usize;
    let shape = if kind.is_flow() { CollectionStyle::Flow } else { CollectionStyle::Block };
    let green = std::sync::Arc::into_inner(root.it).ok_or(Refusal::NotMembers)?;
    let members = match green.kind {
        Kind::Mapping { shape: is, entries, .. } if kind.is_mapping() && is == shape => entries,
        Kind::Sequence { shape: is, items, .. } if !kind.is_mapping() && is == shape => {
            items.into_iter().map(|key| Entry { key, value: None }).collect()
        }
        _ => return Err(Refusal::NotMembers),
    };
    let end = if kind.is_flow() { members.iter().map(member_end).max().unwrap_or(0) } else { len };
    Ok(Taken { members, end, ..Taken::default() })
}

/// Behind the last character of a member.
pub(super) fn member_end(member: &Entry) -> usize {
    let last = member.value.as_ref().unwrap_or(&member.key);
    (last.offset + last.it.len) as usize
}

/// Reads a text, helping the parser over what kubectl accepts and it does not (Y8): `\'` in double quotes, and lines
/// of a quoted scalar that are indented less than YAML asks.
pub(super) fn read(text: &str, column: usize, mut patches: Vec<Patch>) -> Result<Option<Placed<Green>>, Refusal> {
    use granit_parser::ErrorKind;
    let mut scanned: Option<Scan> = None;
    for _ in 0..HELPS {
        let patched = Patched::new(text, &patches);
        let can_help = |kind: &ErrorKind| {
            matches!(kind, ErrorKind::UnknownQuotedScalarEscape | ErrorKind::InvalidQuotedScalarIndent)
        };
        let error = match build::read(&patched) {
            Err(Refusal::Scan(error)) if can_help(error.kind()) => error,
            other => return other,
        };
        let at = patched.original(error.marker().byte_offset().unwrap_or(0)) as usize;
        let found = scanned.get_or_insert_with(|| scan::scan(text, column));
        let inside = |start: usize, end: usize| start <= at && at < end;
        let Some(quoted) = found.quoted.iter().find(|quoted| inside(quoted.start, quoted.end)) else {
            return Err(Refusal::Scan(error));
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
            return Err(Refusal::Scan(error));
        }
        patches.extend(fresh);
    }
    Err(Refusal::NotMembers)
}

/// Where what a piece leaves open is closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// In so many of the pieces behind it. Only if what is open is a healthy member with them they may belong to it.
    Pieces { more: usize, healthy: bool },
    /// Nowhere before a limit.
    Unknown { limit: usize },
}

/// Looks behind a piece that ends at `end` for the end of what is open there. `cuts` are the pieces behind it, in a text
/// that goes to the end of the level if it is whole.
pub(super) fn look_behind(text: &str, whole: bool, open: Open, end: usize, cuts: &[Cut]) -> Behind {
    let far = text.floor_char_boundary((end + cut::REACH).min(text.len()));
    let near = text.floor_char_boundary((end + cut::BRACKETS).min(far));
    let near = cuts.get(cut::SPREAD).map_or(near, |cut| cut.line.min(near));
    let begins = |at: usize| cuts.binary_search_by_key(&(open.start + at), |cut| cut.line).is_ok();
    let past = |limit: usize| scan::scan_past(&text[open.start..limit], open.column, end - open.start, begins);
    let (mut scan, mut across) = past(near);
    // A quote is closed by the next one, however many lines stand between them.
    let is_quote = |scan: &Scan| scan.open.first().is_some_and(|open| matches!(open.close, '"' | '\''));
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
        return Behind::Unknown { limit };
    }
    let alone = || {
        let column = if across.start == 0 { open.column } else { 0 };
        let text = &text[open.start + across.start..open.start + across.end];
        read(text, column, vec![Patch::insert(0, " ".repeat(column))]).is_ok()
    };
    Behind::Pieces { more, healthy: more > 0 && (open.kind.is_flow() || alone()) }
}

fn ends_with_comma(text: &str, column: usize) -> bool {
    cut::last_line(text, column).is_some_and(|line| {
        let code = line.text.find(" #").map_or(line.text, |at| &line.text[..at]);
        code.trim_end().ends_with(',')
    })
}

/// A member further on in the text.
pub(super) fn moved(member: Entry, by: i64) -> Entry {
    Entry { key: member.key.moved(by), value: member.value.map(|value| value.moved(by)) }
}

pub(super) fn offset32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
