//! Pieces that cannot be read as they are: closes what was left open, completes half-typed keys, and sets aside what
//! still fails, in bounded tries.
//!
//! Called with a piece that cannot be divided any further, so the mistake is on its first line, or its further lines do
//! not belong to it.

use granit_parser::{ErrorKind, ScanError};

use crate::syntax::build::Refusal;
use crate::syntax::cut::{self, Members};
use crate::syntax::memory::Context;
use crate::syntax::patch::Patch;
use crate::syntax::pieces::{self, Taken, append, offset32, read_members};
use crate::syntax::scan;
use crate::syntax::tree::{Entry, Green, Kind, Placed, SyntaxError};
use crate::text::Span;

/// Reads a piece with the smallest repair that helps.
pub(super) fn piece(text: &str, column: usize, kind: Members, context: Context<'_>) -> Taken {
    let Some(first) = cut::lines(text, column).next() else { return Taken::default() };
    if kind == Members::Entries && first.is_dash() {
        // Nothing makes a key of it.
        return set_aside(text, column, kind, LONELY_ITEM.into());
    }
    let open = scan::scan(text, column).open;
    let tries: [&dyn Fn() -> Option<Taken>; 5] = [
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
fn tabs(text: &str, column: usize, kind: Members) -> Option<Taken> {
    if kind.is_flow() || !text.contains('\t') {
        return None;
    }
    let scan = scan::scan(text, column);
    let strange: Vec<_> = cut::lines(text, column)
        .filter(|line| line.column == usize::MAX && !scan.continues(line.start))
        .map(|line| (line.start, &text[line.start..line.content]))
        .collect();
    let (first, blanks) = *strange.first()?;
    let tab = first + blanks.find('\t')?;
    // As deep as it looks, or else beside what the piece begins with.
    let read = |width: &dyn Fn(&str) -> usize| {
        let patch = |(at, blanks): &(usize, &str)| Patch::replace(*at, blanks.len(), " ".repeat(width(blanks)));
        read_members(text, column, kind, &strange.iter().map(patch).collect::<Vec<_>>()).ok()
    };
    let deep = |blanks: &str| column + blanks.len() + blanks.matches('\t').count();
    let mut taken = read(&deep).or_else(|| read(&|_| column))?;
    taken.errors.push(SyntaxError::new(Span::new(tab, tab + 1), "a tab cannot indent YAML: use spaces"));
    Some(taken)
}

/// A quote or bracket that is never closed ends at its line.
fn close(text: &str, column: usize, kind: Members, context: Context<'_>, at: usize) -> Option<Taken> {
    let line_end = line_end(text, at);
    let open = scan::scan(&text[..line_end], column).open;
    let innermost = *open.last()?;
    let closers: String = open.iter().rev().map(|open| open.close).collect();
    let error = never_closed(innermost);
    let patches = [Patch::insert(line_end, closers)];
    let mut taken = match read_members(text, column, kind, &patches) {
        Ok(taken) => taken,
        Err(_) => with_block_instead(text, column, kind, context)
            .or_else(|| with_rest(text, line_end, column, kind, context, &patches))?,
    };
    taken.errors.insert(0, error);
    Some(taken)
}

fn never_closed(open: scan::Open) -> SyntaxError {
    let opener = match open.close {
        ']' => '[',
        '}' => '{',
        quote => quote,
    };
    pieces::never_closed(open.at, opener)
}

/// A document in brackets that ends early, and does not stand line by line: everything is closed at its end.
pub(super) fn closed(text: &str) -> Option<(Placed<Green>, SyntaxError)> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let open = scan::scan(text, 0).open;
    let innermost = *open.last()?;
    let closers: String = open.iter().rev().map(|open| open.close).collect();
    let root = pieces::read(text, 0, vec![Patch::insert(text.trim_end().len(), closers)]).ok()??;
    Some((root, never_closed(innermost)))
}

/// A key without its colon, or without the blank behind it.
fn complete_key(text: &str, column: usize, kind: Members, context: Context<'_>) -> Option<Taken> {
    let first = cut::lines(text, column).next()?;
    let key_at = match kind {
        Members::Entries => 0,
        Members::Items if first.is_dash() => 1 + first.text[1..].len() - first.text[1..].trim_start().len(),
        _ => return None,
    };
    let line = &first.text[key_at..];
    if cut::key(line).is_some() || line.starts_with(['[', ']', '{', '}', '&', '*', '!', '|', '>', '%', '@', '`', ',']) {
        return None;
    }
    let glued = line.find(':').filter(|at| line[at + 1..].starts_with(|next: char| next != '/' && next != ':'));
    let (patch, error) = match glued {
        Some(colon) => (
            Patch::insert(key_at + colon + 1, " "),
            SyntaxError::new(Span::new(key_at + colon, key_at + colon + 1), "expected a space behind this `:`"),
        ),
        None if kind == Members::Items => return None,
        None => {
            let code = line.find(" #").map_or(line, |at| &line[..at]).trim_end();
            let end = key_at + code.len();
            (Patch::insert(end, ":"), SyntaxError::new(Span::new(key_at, end), "expected `:` behind this key"))
        }
    };
    let patches = [patch];
    let mut taken = match read_members(text, column, kind, &patches) {
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
    kind: Members,
    context: Context<'_>,
    patches: &[Patch],
) -> Option<Taken> {
    let mut taken = read_members(&text[..head_end], column, kind, patches).ok()?;
    let Some(next) = cut::lines(&text[head_end..], 0).find(|line| line.start > 0) else { return Some(taken) };
    let start = head_end + next.content;
    let rest = &text[start..];
    let is_key = next.column != usize::MAX && cut::key(next.text).is_some();
    if kind == Members::Entries && is_key && context.depth < pieces::DEPTH {
        // Keys indented deeper than those they stand among.
        let level = pieces::level(rest, next.column, Members::Entries, context.at(start).deeper());
        let key_end = cut::key(next.text).map_or(1, |key| key.len);
        let mut errors = vec![pieces::indented_wrongly(Span::new(0, key_end), next.column, column)];
        errors.extend(
            level.pieces.iter().flat_map(|piece| piece.errors.iter().map(|error| error.shifted(piece.offset as usize))),
        );
        append(&mut taken, Taken { members: level.members, end: level.end, errors, ..Taken::default() }, start);
        return Some(taken);
    }
    let message = if next.is_dash() { LONELY_ITEM } else { "this belongs to no key" };
    taken.errors.push(SyntaxError::new(Span::new(start, head_end + next.end()), message));
    Some(taken)
}

/// A value that cannot be read is set aside: `key: value: x`, `key: @x`.
fn set_value_aside(text: &str, column: usize, kind: Members, context: Context<'_>) -> Option<Taken> {
    let first = cut::lines(text, column).next()?;
    let key = cut::key(first.text).filter(|_| kind == Members::Entries)?;
    let value = first.text[key.value..].trim_start();
    let start = first.text.len() - value.len();
    let span = Span::new(start, start + value.len());
    let error = SyntaxError::new(span, refusal(&text[..first.end()], column, kind));
    if let Some(mut taken) = with_block_instead(text, column, kind, context) {
        taken.errors.insert(0, error);
        return Some(taken);
    }
    let key = pieces::read_key(&text[..key.value], column)?;
    let value = Placed::new(offset32(start), Green::new(offset32(span.len()), None, Kind::Error));
    let members = vec![Entry { key, value: Some(value) }];
    Some(Taken { members, end: span.end, errors: vec![error], ..Taken::default() })
}

/// The block behind a head whose own value makes no sense: `env: "` above its list.
fn with_block_instead(text: &str, column: usize, kind: Members, context: Context<'_>) -> Option<Taken> {
    let first = cut::lines(text, column).next()?;
    let key = cut::key(first.text).filter(|_| kind == Members::Entries && context.depth < pieces::DEPTH)?;
    if first.text[key.value..].trim().is_empty() {
        return None;
    }
    let next = cut::lines(text, column).nth(1)?;
    let fits = next.column != usize::MAX
        && ((next.is_dash() && next.column >= column) || (next.column > column && cut::key(next.text).is_some()));
    if !fits {
        return None;
    }
    let blanks = " ".repeat(first.end() - key.value);
    let blanked = format!("{}{blanks}{}", &text[..key.value], &text[first.end()..]);
    let taken = pieces::piece(&blanked, column, kind, context.deeper());
    (!taken.members.is_empty()).then_some(taken)
}

/// Nothing helps: one error node with the text of the piece.
fn set_aside(text: &str, column: usize, kind: Members, message: String) -> Taken {
    let code = cut::last_line(text, column).map_or(text.len(), |line| line.end());
    let dash = match kind {
        Members::Items if text.starts_with('-') => 1 + text[1..code].len() - text[1..code].trim_start().len(),
        _ => 0,
    };
    let first_end = line_end(text, dash).max(dash + 1).min(text.len());
    let error = SyntaxError::new(Span::new(dash.min(first_end), first_end), message);
    let node = Placed::new(offset32(dash), Green::new(offset32(code.saturating_sub(dash)), None, Kind::Error));
    Taken { members: vec![Entry { key: node, value: None }], end: code, errors: vec![error], ..Taken::default() }
}

/// The end of the line an offset stands in, blanks and line break left out.
fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |len| at + len);
    at + text[at..end].trim_end().len()
}

/// What the parser has against a text.
fn refusal(text: &str, column: usize, kind: Members) -> String {
    match read_members(text, column, kind, &[]) {
        Err(Refusal::Scan(error)) => in_plain_words(&error),
        _ => match kind {
            Members::Entries | Members::FlowEntries => "expected `key: value` here".into(),
            Members::Items => "expected `- item` here".into(),
            Members::FlowItems => "expected a value here".into(),
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
