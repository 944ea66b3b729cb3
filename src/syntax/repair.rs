//! Repairs a chunk that cannot be parsed: closes open quotes and brackets, completes half-typed keys, and replaces text
//! that still cannot be parsed with an error node. The number of attempts is bounded.
//!
//! The chunk cannot be divided any further: the mistake is on its first line, or its other lines do not belong to it.

use std::borrow::Cow;

use crate::syntax::chunks::{self, MAX_DEPTH, ParsedChunk, head_of_chunk, misindented, parse_key, parse_members};
use crate::syntax::content_lines::{MemberKind, find_key, last_line, lines, lines_from, next_line_start};
use crate::syntax::delimiters::{OpenDelimiter, scan_delimiters};
use crate::syntax::green::{ChunkedBlock, GreenEntry, GreenKind, GreenNode, Positioned, offset32};
use crate::syntax::node_builder::ParseFailure;
use crate::syntax::parser_messages::parser_message;
use crate::syntax::patched_text::Patch;
use crate::syntax::previous_tree::ChunkContext;
use crate::syntax::syntax_error::{SyntaxError, SyntaxErrorKind, chunk_errors, quotable};
use crate::text::Span;

/// Parses a chunk with the smallest repair that helps.
pub(super) fn parse_chunk(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> ParsedChunk {
    let Some(first) = lines(text, column).next() else { return ParsedChunk::default() };
    if kind == MemberKind::Entries && first.is_dash() {
        // No repair makes it a key.
        return error_node(text, column, kind, ITEM_WITHOUT_KEY.into());
    }
    let open = scan_delimiters(text, column).open;
    let attempts: [&dyn Fn() -> Option<ParsedChunk>; 6] = [
        &|| end_block_scalar(text, column, kind),
        &|| replace_tabs(text, column, kind),
        &|| close(text, column, kind, context, open.first().map(|open| open.at)?),
        &|| complete_key(text, column, kind, context),
        &|| parse_head_and_rest(text, first.end(), column, kind, context, &[]),
        &|| replace_value(text, column, kind, context),
    ];
    attempts
        .iter()
        .find_map(|attempt| attempt())
        .unwrap_or_else(|| error_node(text, column, kind, failure_message(text, column, kind)))
}

const ITEM_WITHOUT_KEY: &str = "this list item does not belong to any key: check its indentation";
const LINE_WITHOUT_KEY: &str = "this line does not belong to any key: check its indentation";

/// Ends a block scalar where a line is indented less than its text, and reports the first line after it. A comment in the
/// middle of the text ends it too.
fn end_block_scalar(text: &str, column: usize, kind: MemberKind) -> Option<ParsedChunk> {
    let first = lines(text, column).next()?;
    let (name, value) = match kind {
        MemberKind::Entries => find_key(first.text).map(|key| (quotable(key.name(first.text)), key.value))?,
        MemberKind::Items => (None, first.is_dash().then_some(1)?),
        MemberKind::FlowEntries | MemberKind::FlowItems => return None,
    };
    let header = first.text[value..].split_whitespace().next()?;
    if !matches!(header, "|" | ">" | "|-" | ">-" | "|+" | ">+") {
        return None;
    }
    let indent_of = |line: &str| (line.len() - line.trim_start_matches(' ').len(), line.trim().is_empty());
    let mut at = next_line_start(text, first.content);
    let mut indent = None;
    while at < text.len() {
        let next = next_line_start(text, at);
        match (indent_of(&text[at..next]), indent) {
            ((_, true), _) => {}
            ((found, _), None) if found > column => indent = Some(found),
            ((found, _), Some(indent)) if found >= indent => {}
            _ => break,
        }
        at = next;
    }
    indent?;
    let mut parsed = parse_members(&text[..at], column, kind, &[]).ok()?;
    let line = lines_from(text, at).next()?;
    let what = name.map_or("the text above".to_owned(), |name| format!("the text of `{name}`"));
    let message = if line.start == at {
        format!("this line is indented less than {what}, which it ends")
    } else {
        format!("this line is not part of {what}: the comment above it is indented less, and ends the text")
    };
    let span = Span::new(line.content, line.end());
    parsed.errors.push(SyntaxError::new(span, SyntaxErrorKind::Indentation, message));
    Some(parsed)
}

/// Replaces tabs in the indentation: with two spaces each, or with the indentation of the chunk.
fn replace_tabs(text: &str, column: usize, kind: MemberKind) -> Option<ParsedChunk> {
    if kind.is_flow() || !text.contains('\t') {
        return None;
    }
    let scan = scan_delimiters(text, column);
    let indents: Vec<_> = lines(text, column)
        .filter(|line| line.is_tab_indented() && !scan.continues(line.start))
        .map(|line| (line.start, &text[line.start..line.content]))
        .collect();
    let (first, indent) = *indents.first()?;
    let tab = first + indent.find('\t')?;
    let parse_with = |width: &dyn Fn(&str) -> usize| {
        let patch = |(at, indent): &(usize, &str)| Patch::replace(*at, indent.len(), " ".repeat(width(indent)));
        parse_members(text, column, kind, &indents.iter().map(patch).collect::<Vec<_>>()).ok()
    };
    let as_it_looks = |indent: &str| column + indent.len() + indent.matches('\t').count();
    let mut parsed = parse_with(&as_it_looks).or_else(|| parse_with(&|_| column))?;
    let message = "YAML cannot be indented with tabs: use spaces";
    parsed.errors.push(SyntaxError::new(Span::new(tab, tab + 1), SyntaxErrorKind::Tab, message));
    Some(parsed)
}

/// Closes a quote or bracket that is never closed at the end of its line.
fn close(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>, at: usize) -> Option<ParsedChunk> {
    let line_end = line_end(text, at);
    let open = scan_delimiters(&text[..line_end], column).open;
    let innermost = *open.last()?;
    let closers: String = open.iter().rev().map(|open| open.close).collect();
    let patches = [Patch::insert(line_end, closers)];
    let mut parsed = match parse_members(text, column, kind, &patches) {
        Ok(parsed) => parsed,
        Err(_) => without_value(text, column, kind, context)
            .or_else(|| parse_head_and_rest(text, line_end, column, kind, context, &patches))?,
    };
    parsed.errors.insert(0, never_closed(innermost));
    Some(parsed)
}

fn never_closed(open: OpenDelimiter) -> SyntaxError {
    let opener = match open.close {
        ']' => '[',
        '}' => '{',
        quote => quote,
    };
    SyntaxError::never_closed(open.at, opener)
}

/// Closes all open brackets at the end of a flow document whose brackets are not on separate lines.
pub(super) fn close_document(text: &str) -> Option<(Positioned<GreenNode>, SyntaxError)> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let open = scan_delimiters(text, 0).open;
    let innermost = *open.last()?;
    let closers: String = open.iter().rev().map(|open| open.close).collect();
    let root = chunks::parse_text(text, 0, vec![Patch::insert(text.trim_end().len(), closers)]).ok()??;
    Some((root, never_closed(innermost)))
}

/// Adds the missing colon of a key, or the missing space after it.
fn complete_key(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> Option<ParsedChunk> {
    let first = lines(text, column).next()?;
    let key_at = match kind {
        MemberKind::Entries => 0,
        MemberKind::Items if first.is_dash() => 1 + first.text[1..].len() - first.text[1..].trim_start().len(),
        _ => return None,
    };
    let line = &first.text[key_at..];
    if find_key(line).is_some() || line.starts_with(['[', ']', '{', '}', '&', '*', '!', '|', '>', '%', '@', '`', ',']) {
        return None;
    }
    let colon = line.find(':').filter(|at| line[at + 1..].starts_with(|next: char| next != '/' && next != ':'));
    let (patch, error) = match colon {
        Some(colon) => (
            Patch::insert(key_at + colon + 1, " "),
            SyntaxError::new(
                Span::new(key_at + colon, key_at + colon + 1),
                SyntaxErrorKind::MissingSpace,
                "expected a space after this `:`",
            ),
        ),
        None if kind == MemberKind::Items => return None,
        None => {
            let code = line.find(" #").map_or(line, |at| &line[..at]).trim_end();
            let end = key_at + code.len();
            let message = match code {
                "---" => "`---` separates documents only at the start of a line: remove the spaces before it",
                _ if code.starts_with("$ ") => "this line is a shell command, not YAML",
                _ => "expected `:` after this key",
            };
            (Patch::insert(end, ":"), SyntaxError::new(Span::new(key_at, end), SyntaxErrorKind::MissingColon, message))
        }
    };
    let patches = [patch];
    let mut parsed = match parse_members(text, column, kind, &patches) {
        Ok(parsed) => parsed,
        Err(_) => parse_head_and_rest(text, first.end(), column, kind, context, &patches)?,
    };
    parsed.errors.insert(0, error);
    Some(parsed)
}

/// Parses the head of a chunk separately, and the lines after it as what they look like.
fn parse_head_and_rest(
    text: &str,
    head_end: usize,
    column: usize,
    kind: MemberKind,
    context: ChunkContext<'_>,
    patches: &[Patch],
) -> Option<ParsedChunk> {
    let mut parsed = parse_members(&text[..head_end], column, kind, patches).ok()?;
    let Some(next) = lines(&text[head_end..], 0).find(|line| line.start > 0) else { return Some(parsed) };
    let start = head_end + next.content;
    let is_key = !next.is_tab_indented() && find_key(next.text).is_some();
    if kind == MemberKind::Entries && is_key && context.depth < MAX_DEPTH {
        // Keys that are indented deeper than their siblings.
        let nested = chunks::parse_block(&text[start..], next.column, MemberKind::Entries, context.at(start).deeper());
        parsed.errors.push(misindented(text, start, next.column, column, Some(head_of_chunk(text))));
        let block = ChunkedBlock { column: offset32(next.column), chunks: nested.chunks };
        let errors = (0..block.chunks.len()).flat_map(|index| chunk_errors(&block, index, &nested.members)).collect();
        let rest = ParsedChunk { members: nested.members, end: nested.end, errors, ..ParsedChunk::default() };
        parsed.append(rest, start);
        return Some(parsed);
    }
    let message = if next.is_dash() { ITEM_WITHOUT_KEY } else { LINE_WITHOUT_KEY };
    parsed.errors.push(SyntaxError::new(Span::new(start, head_end + next.end()), SyntaxErrorKind::Stray, message));
    Some(parsed)
}

/// Replaces a value that cannot be parsed with an error node: `key: value: x`, `key: @x`.
fn replace_value(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> Option<ParsedChunk> {
    let first = lines(text, column).next()?;
    let key = find_key(first.text).filter(|_| kind == MemberKind::Entries)?;
    let value = first.text[key.value..].trim_start();
    let start = first.text.len() - value.len();
    let span = Span::new(start, start + value.len());
    let error =
        SyntaxError::new(span, SyntaxErrorKind::Unreadable, failure_message(&text[..first.end()], column, kind));
    if let Some(mut parsed) = without_value(text, column, kind, context) {
        parsed.errors.insert(0, error);
        return Some(parsed);
    }
    let key = parse_key(&text[..key.value], column)?;
    let value = Positioned::new(offset32(start), GreenNode::new(offset32(span.len()), None, GreenKind::Error));
    let members = vec![GreenEntry { key, value: Some(value) }];
    Some(ParsedChunk { members, end: span.end, errors: vec![error], ..ParsedChunk::default() })
}

/// Ignores the value on the first line if the lines below it are the value: `env: "` above its list.
fn without_value(text: &str, column: usize, kind: MemberKind, context: ChunkContext<'_>) -> Option<ParsedChunk> {
    let first = lines(text, column).next()?;
    let key = find_key(first.text).filter(|_| kind == MemberKind::Entries && context.depth < MAX_DEPTH)?;
    if first.text[key.value..].trim().is_empty() {
        return None;
    }
    let next = lines(text, column).nth(1)?;
    let is_value = !next.is_tab_indented()
        && ((next.is_dash() && next.column >= column) || (next.column > column && find_key(next.text).is_some()));
    if !is_value {
        return None;
    }
    let spaces = " ".repeat(first.end() - key.value);
    let replaced = format!("{}{spaces}{}", &text[..key.value], &text[first.end()..]);
    let parsed = chunks::parse_chunk(&replaced, column, kind, context.deeper());
    (!parsed.members.is_empty()).then_some(parsed)
}

/// One error node with the text of the chunk.
fn error_node(text: &str, column: usize, kind: MemberKind, message: Cow<'static, str>) -> ParsedChunk {
    let end = last_line(text, column).map_or(text.len(), |line| line.end());
    let start = match kind {
        MemberKind::Items if text.starts_with('-') => 1 + text[1..end].len() - text[1..end].trim_start().len(),
        _ => 0,
    };
    let first_line_end = line_end(text, start).max(start + 1).min(text.len());
    let error =
        SyntaxError::new(Span::new(start.min(first_line_end), first_line_end), SyntaxErrorKind::Unreadable, message);
    let green = GreenNode::new(offset32(end.saturating_sub(start)), None, GreenKind::Error);
    let members = vec![GreenEntry { key: Positioned::new(offset32(start), green), value: None }];
    ParsedChunk { members, end, errors: vec![error], ..ParsedChunk::default() }
}

/// The end of the line at an offset, without trailing spaces and line break.
fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |len| at + len);
    at + text[at..end].trim_end().len()
}

/// Why a text cannot be parsed.
fn failure_message(text: &str, column: usize, kind: MemberKind) -> Cow<'static, str> {
    match parse_members(text, column, kind, &[]) {
        Err(ParseFailure::Scan(error)) => parser_message(&error),
        _ => match kind {
            MemberKind::Entries | MemberKind::FlowEntries => "expected `key: value` here".into(),
            MemberKind::Items => "expected `- item` here".into(),
            MemberKind::FlowItems => "expected a value here".into(),
        },
    }
}
