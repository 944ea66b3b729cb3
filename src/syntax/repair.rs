//! Pieces that cannot be read as they are: closes what was left open, completes half-typed keys, and sets aside what
//! still fails, in bounded tries.
//!
//! Called with a piece that cannot be divided any further, so the mistake is on its first line, or its further lines do
//! not belong to it.

use granit_parser::{ErrorKind, ScanError};

use crate::syntax::chunk_boundaries::{self, MemberKind};
use crate::syntax::chunks::{self, ParsedChunk, append, offset32, parse_members};
use crate::syntax::delimiters;
use crate::syntax::node_builder::ParseFailure;
use crate::syntax::patched_text::Patch;
use crate::syntax::previous_tree::ChunkContext;
use crate::syntax::tree::{GreenEntry, GreenKind, GreenNode, Positioned, SyntaxError, SyntaxErrorKind};
use crate::text::Span;

/// Reads a piece with the smallest repair that helps.
pub(super) fn parse_chunk(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> ParsedChunk {
    let Some(first) = chunk_boundaries::lines(text, column).next() else { return ParsedChunk::default() };
    if kind == MemberKind::Entries && first.is_dash() {
        // Nothing makes a key of it.
        return set_aside(text, column, kind, LONELY_ITEM.into());
    }
    let open = delimiters::scan_delimiters(text, column).open;
    let tries: [&dyn Fn() -> Option<ParsedChunk>; 5] = [
        &|| tabs(text, column, kind),
        &|| close(text, column, kind, context, open.first().map(|open| open.at)?),
        &|| complete_key(text, column, kind, context),
        &|| with_rest(text, first.end(), column, kind, context, &[]),
        &|| set_value_aside(text, column, kind, context),
    ];
    tries
        .iter()
        .find_map(|attempt| attempt())
        .unwrap_or_else(|| set_aside(text, column, kind, refusal(text, column, kind)))
}

const LONELY_ITEM: &str = "this list item belongs to no key";

/// Tabs that indent: read as two blanks each, or as what indents the line before.
fn tabs(text: &str, column: usize, kind: MemberKind) -> Option<ParsedChunk> {
    if kind.is_flow() || !text.contains('\t') {
        return None;
    }
    let scan = delimiters::scan_delimiters(text, column);
    let strange: Vec<_> = chunk_boundaries::lines(text, column)
        .filter(|line| line.column == usize::MAX && !scan.continues(line.start))
        .map(|line| (line.start, &text[line.start..line.content]))
        .collect();
    let (first, blanks) = *strange.first()?;
    let tab = first + blanks.find('\t')?;
    // As deep as it looks, or else beside what the piece begins with.
    let read = |width: &dyn Fn(&str) -> usize| {
        let patch = |(at, blanks): &(usize, &str)| Patch::replace(*at, blanks.len(), " ".repeat(width(blanks)));
        parse_members(text, column, kind, &strange.iter().map(patch).collect::<Vec<_>>()).ok()
    };
    let deep = |blanks: &str| column + blanks.len() + blanks.matches('\t').count();
    let mut taken = read(&deep).or_else(|| read(&|_| column))?;
    taken.errors.push(SyntaxError::new(
        Span::new(tab, tab + 1),
        SyntaxErrorKind::Tab,
        "a tab cannot indent YAML: use spaces",
    ));
    Some(taken)
}

/// A quote or bracket that is never closed ends at its line.
fn close(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>, at: usize) -> Option<ParsedChunk> {
    let line_end = line_end(text, at);
    let open = delimiters::scan_delimiters(&text[..line_end], column).open;
    let innermost = *open.last()?;
    let closers: String = open.iter().rev().map(|open| open.close).collect();
    let error = never_closed(innermost);
    let patches = [Patch::insert(line_end, closers)];
    let mut taken = match parse_members(text, column, kind, &patches) {
        Ok(taken) => taken,
        Err(_) => with_block_instead(text, column, kind, context)
            .or_else(|| with_rest(text, line_end, column, kind, context, &patches))?,
    };
    taken.errors.insert(0, error);
    Some(taken)
}

fn never_closed(open: delimiters::OpenDelimiter) -> SyntaxError {
    let opener = match open.close {
        ']' => '[',
        '}' => '{',
        quote => quote,
    };
    chunks::never_closed(open.at, opener)
}

/// A document in brackets that ends early, and does not stand line by line: everything is closed at its end.
pub(super) fn closed(text: &str) -> Option<(Positioned<GreenNode>, SyntaxError)> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let open = delimiters::scan_delimiters(text, 0).open;
    let innermost = *open.last()?;
    let closers: String = open.iter().rev().map(|open| open.close).collect();
    let root = chunks::parse_text(text, 0, vec![Patch::insert(text.trim_end().len(), closers)]).ok()??;
    Some((root, never_closed(innermost)))
}

/// A key without its colon, or without the blank behind it.
fn complete_key(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> Option<ParsedChunk> {
    let first = chunk_boundaries::lines(text, column).next()?;
    let key_at = match kind {
        MemberKind::Entries => 0,
        MemberKind::Items if first.is_dash() => 1 + first.text[1..].len() - first.text[1..].trim_start().len(),
        _ => return None,
    };
    let line = &first.text[key_at..];
    if chunk_boundaries::key(line).is_some()
        || line.starts_with(['[', ']', '{', '}', '&', '*', '!', '|', '>', '%', '@', '`', ','])
    {
        return None;
    }
    let glued = line.find(':').filter(|at| line[at + 1..].starts_with(|next: char| next != '/' && next != ':'));
    let (patch, error) = match glued {
        Some(colon) => (
            Patch::insert(key_at + colon + 1, " "),
            SyntaxError::new(
                Span::new(key_at + colon, key_at + colon + 1),
                SyntaxErrorKind::MissingSpace,
                "expected a space behind this `:`",
            ),
        ),
        None if kind == MemberKind::Items => return None,
        None => {
            let code = line.find(" #").map_or(line, |at| &line[..at]).trim_end();
            let end = key_at + code.len();
            (
                Patch::insert(end, ":"),
                SyntaxError::new(Span::new(key_at, end), SyntaxErrorKind::MissingColon, "expected `:` behind this key"),
            )
        }
    };
    let patches = [patch];
    let mut taken = match parse_members(text, column, kind, &patches) {
        Ok(taken) => taken,
        Err(_) => with_rest(text, first.end(), column, kind, context, &patches)?,
    };
    taken.errors.insert(0, error);
    Some(taken)
}

/// Reads the head of a piece alone, and the lines behind it as what they look like.
fn with_rest(
    text: &str,
    head_end: usize,
    column: usize,
    kind: MemberKind,
    context: ChunkContext<'_>,
    patches: &[Patch],
) -> Option<ParsedChunk> {
    let mut taken = parse_members(&text[..head_end], column, kind, patches).ok()?;
    let Some(next) = chunk_boundaries::lines(&text[head_end..], 0).find(|line| line.start > 0) else {
        return Some(taken);
    };
    let start = head_end + next.content;
    let rest = &text[start..];
    let is_key = next.column != usize::MAX && chunk_boundaries::key(next.text).is_some();
    if kind == MemberKind::Entries && is_key && context.depth < chunks::MAX_DEPTH {
        // Keys indented deeper than those they stand among.
        let level = chunks::parse_block(rest, next.column, MemberKind::Entries, context.at(start).deeper());
        let key_end = chunk_boundaries::key(next.text).map_or(1, |key| key.len);
        let mut errors = vec![chunks::misindented(Span::new(0, key_end), next.column, column)];
        errors.extend(
            level.pieces.iter().flat_map(|piece| piece.errors.iter().map(|error| error.shifted(piece.offset as usize))),
        );
        append(
            &mut taken,
            ParsedChunk { members: level.members, end: level.end, errors, ..ParsedChunk::default() },
            start,
        );
        return Some(taken);
    }
    let message = if next.is_dash() { LONELY_ITEM } else { "this belongs to no key" };
    taken.errors.push(SyntaxError::new(Span::new(start, head_end + next.end()), SyntaxErrorKind::Stray, message));
    Some(taken)
}

/// A value that cannot be read is set aside: `key: value: x`, `key: @x`.
fn set_value_aside(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> Option<ParsedChunk> {
    let first = chunk_boundaries::lines(text, column).next()?;
    let key = chunk_boundaries::key(first.text).filter(|_| kind == MemberKind::Entries)?;
    let value = first.text[key.value..].trim_start();
    let start = first.text.len() - value.len();
    let span = Span::new(start, start + value.len());
    let error = SyntaxError::new(span, SyntaxErrorKind::Unreadable, refusal(&text[..first.end()], column, kind));
    if let Some(mut taken) = with_block_instead(text, column, kind, context) {
        taken.errors.insert(0, error);
        return Some(taken);
    }
    let key = chunks::parse_key(&text[..key.value], column)?;
    let value = Positioned::new(offset32(start), GreenNode::new(offset32(span.len()), None, GreenKind::Error));
    let members = vec![GreenEntry { key, value: Some(value) }];
    Some(ParsedChunk { members, end: span.end, errors: vec![error], ..ParsedChunk::default() })
}

/// The block behind a head whose own value makes no sense: `env: "` above its list.
fn with_block_instead(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> Option<ParsedChunk> {
    let first = chunk_boundaries::lines(text, column).next()?;
    let key = chunk_boundaries::key(first.text)
        .filter(|_| kind == MemberKind::Entries && context.depth < chunks::MAX_DEPTH)?;
    if first.text[key.value..].trim().is_empty() {
        return None;
    }
    let next = chunk_boundaries::lines(text, column).nth(1)?;
    let fits = next.column != usize::MAX
        && ((next.is_dash() && next.column >= column)
            || (next.column > column && chunk_boundaries::key(next.text).is_some()));
    if !fits {
        return None;
    }
    let blanks = " ".repeat(first.end() - key.value);
    let blanked = format!("{}{blanks}{}", &text[..key.value], &text[first.end()..]);
    let taken = chunks::parse_chunk(&blanked, column, kind, context.deeper());
    (!taken.members.is_empty()).then_some(taken)
}

/// Nothing helps: one error node with the text of the piece.
fn set_aside(text: &str, column: usize, kind: MemberKind, message: String) -> ParsedChunk {
    let code = chunk_boundaries::last_line(text, column).map_or(text.len(), |line| line.end());
    let dash = match kind {
        MemberKind::Items if text.starts_with('-') => 1 + text[1..code].len() - text[1..code].trim_start().len(),
        _ => 0,
    };
    let first_end = line_end(text, dash).max(dash + 1).min(text.len());
    let error = SyntaxError::new(Span::new(dash.min(first_end), first_end), SyntaxErrorKind::Unreadable, message);
    let node =
        Positioned::new(offset32(dash), GreenNode::new(offset32(code.saturating_sub(dash)), None, GreenKind::Error));
    ParsedChunk {
        members: vec![GreenEntry { key: node, value: None }],
        end: code,
        errors: vec![error],
        ..ParsedChunk::default()
    }
}

/// The end of the line an offset stands in, blanks and line break left out.
fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |len| at + len);
    at + text[at..end].trim_end().len()
}

/// What the parser has against a text.
fn refusal(text: &str, column: usize, kind: MemberKind) -> String {
    match parse_members(text, column, kind, &[]) {
        Err(ParseFailure::Scan(error)) => in_plain_words(&error),
        _ => match kind {
            MemberKind::Entries | MemberKind::FlowEntries => "expected `key: value` here".into(),
            MemberKind::Items => "expected `- item` here".into(),
            MemberKind::FlowItems => "expected a value here".into(),
        },
    }
}

/// The parser's refusal in words for a person who does not know the grammar of YAML.
pub(super) fn in_plain_words(error: &ScanError) -> String {
    match error.kind() {
        ErrorKind::UnexpectedCharacter { character, .. } => {
            format!("a value cannot begin with `{character}`: put it in quotes")
        }
        _ => {
            let info = error.info();
            let known = WORDS.iter().find(|(part, _)| info.contains(part));
            known.map_or(info, |(_, words)| (*words).to_owned())
        }
    }
}

/// Parts of the parser's messages, and what to say instead.
const WORDS: &[(&str, &str)] = &[
    ("anchor or alias", "expected a name behind this `&` or `*`"),
    ("mapping values are not allowed", "a value cannot hold `: `: put it in quotes, or the key on its own line"),
    ("unclosed quote", "this quote is never closed"),
    ("found unexpected end of stream", "this quote is never closed"),
    ("only valid inside a block", "a list item with `-` cannot stand here"),
    ("did not find expected comment or line break", "expected the end of the line behind this `|` or `>`"),
    ("while scanning a block scalar", "this block of text is indented wrongly"),
    ("unknown escape", "this escape is unknown: write `\\\\` for a backslash"),
    ("recursion limit", "nested too deeply"),
    ("nesting", "nested too deeply"),
];
