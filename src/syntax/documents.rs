//! The stream: where documents begin, and each of them parsed alone, so that a broken one never affects its neighbours.
//!
//! A boundary is a property of its own line (`---` or `...` at column 0), so an edit moves only boundaries it touches.

use crate::syntax::build::Refusal;
use crate::syntax::conflict;
use crate::syntax::cut::{self, Members};
use crate::syntax::memory::Context;
use crate::syntax::outline::Outline;
use crate::syntax::pieces;
use crate::syntax::repair;
use crate::syntax::scan;
use crate::syntax::tree::{Green, GreenDocument, Kind, Placed, SyntaxError, Tree};
use crate::text::Span;

/// Parses a whole file.
pub fn parse(text: &str) -> Tree {
    let documents = cut(text)
        .iter()
        .map(|slot| Placed::new(pieces::offset32(slot.span.start), document(text, slot, Context::new(0))))
        .collect();
    Tree { documents, len: text.len(), json: is_json(text) }
}

/// Parses the documents of a file that matter to someone: its tree lacks the others. Gives the number of those too, as
/// far as they hold more than comments.
pub fn parse_matching_documents(text: &str, matters: impl Fn(&str) -> bool) -> (Tree, usize) {
    let mut documents = Vec::new();
    let mut skipped = 0;
    for slot in cut(text) {
        let content = &text[slot.span.range()];
        if matters(content) {
            documents.push(Placed::new(pieces::offset32(slot.span.start), document(text, &slot, Context::new(0))));
        } else {
            skipped += usize::from(content.lines().any(|line| kind(line.as_bytes()) == Line::Content));
        }
    }
    (Tree { documents, len: text.len(), json: is_json(text) }, skipped)
}

/// Whether a stream is JSON (Y10).
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('{')
}

/// Parses one document, markers and directives included.
pub(super) fn document(text: &str, slot: &Slot, context: Context<'_>) -> GreenDocument {
    GreenDocument { marked: slot.marked, ..content(&text[slot.span.range()], context.at(slot.span.start)) }
}

fn content(text: &str, context: Context<'_>) -> GreenDocument {
    let len = pieces::offset32(text.len());
    let small = text.len() <= pieces::LEAF;
    let read = || pieces::read(text, 0, Vec::new());
    if small && let Ok(root) = read() {
        return GreenDocument { len, root, ..Default::default() };
    }
    if let Some(resolved) = conflict::without_markers(text) {
        let mut document = content(&resolved.text, Context::new(0));
        document.errors.extend(resolved.errors);
        return document;
    }
    let by_pieces = |body: Body| {
        // It pays where all levels are read.
        let outline = if small || !context.is_new() { None } else { Outline::new(text) };
        let (root, errors) = body.parse(text, context.outlined(outline.as_ref()));
        GreenDocument { len, root: Some(root), errors, ..Default::default() }
    };
    let body = body(text);
    if let Some(body) = body.filter(|body| body.plain) {
        return by_pieces(body);
    }
    let refusal = match read() {
        Ok(root) => return GreenDocument { len, root, ..Default::default() },
        Err(refusal) => refusal,
    };
    // Where brackets stand on lines of their own, so do the pieces between them, and a mistake costs one of those.
    if body.is_none_or(|body| small && body.brackets.is_none())
        && let Some((root, error)) = repair::closed(text)
    {
        return GreenDocument { len, root: Some(root), errors: vec![error], ..Default::default() };
    }
    body.map_or_else(|| unreadable(text, &refusal), by_pieces)
}

/// Where a document's content is, if it is a level that can be read piece by piece.
#[derive(Clone, Copy)]
pub(super) struct Body {
    /// The level's text.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) column: usize,
    /// The column of its first line, which may be indented wrongly.
    first: usize,
    pub(super) kind: Members,
    /// Where its brackets stand.
    pub(super) brackets: Option<(usize, usize)>,
    closed: bool,
    /// Whether its first line shows what it is.
    plain: bool,
}

impl Body {
    fn parse(&self, text: &str, context: Context<'_>) -> (Placed<Green>, Vec<SyntaxError>) {
        let text = &text[self.start..self.end];
        let parsed = pieces::level_from(text, self.first, self.column, self.kind, context.at(self.start));
        let (start, len) = match self.brackets {
            Some((opener, closer)) => (opener, closer + 1 - opener),
            None => (self.start, parsed.end),
        };
        let mut errors = Vec::new();
        if let Some((opener, _)) = self.brackets.filter(|_| !self.closed) {
            let error = pieces::never_closed(opener, if self.kind == Members::FlowEntries { '{' } else { '[' });
            errors.push(if parsed.unclosed { error.implied() } else { error });
        }
        let green = parsed.into_green(self.column, self.kind, self.start - start, len);
        (Placed::new(pieces::offset32(start), green), errors)
    }
}

/// Finds the level a document consists of. Directives make tags mean something else, so such a document is read whole.
pub(super) fn body(text: &str) -> Option<Body> {
    // A byte order mark may stand alone on the first line.
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut start = mark;
    for line in text[mark..].split_inclusive('\n') {
        match kind(line.as_bytes()) {
            Line::Directive => return None,
            Line::Start if cut::is_rest_empty(&line[3..]) => start += line.len(),
            Line::Blank => start += line.len(),
            Line::Start | Line::End | Line::Content => break,
        }
    }
    let rest = &text[start..];
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let start = start + blanks;
    // `...` ends the last line of a document.
    let end = match text.trim_end().rfind('\n') {
        Some(last) if kind(&text.as_bytes()[last + 1..]) == Line::End => last + 1,
        _ => text.len(),
    };
    let content = text.get(start..end)?;
    let first = cut::lines(content, blanks).next()?;
    if let Some(kind) = match first.text {
        "{" => Some(Members::FlowEntries),
        "[" => Some(Members::FlowItems),
        _ => None,
    } {
        let next = cut::lines(content, blanks).nth(1)?;
        let last = cut::last_line(content, blanks)?;
        let closer = if kind == Members::FlowEntries { "}" } else { "]" };
        let closed = last.text == closer && last.start > next.start;
        let end = if closed { last.start } else { content.len() };
        let close = if closed { last.content } else { content.trim_end().len() - 1 };
        return Some(Body {
            start: start + next.content,
            end: start + end,
            column: next.content - next.start,
            first: next.content - next.start,
            kind,
            brackets: Some((start, start + close)),
            closed,
            plain: closed,
        });
    }
    let column =
        cut::lines(content, blanks).nth(1).filter(|next| is_level_of(&first, next)).map_or(blanks, |next| next.column);
    let kind = cut::lines(content, blanks).filter(|line| line.column == column).find_map(|line| {
        match (cut::key(line.text), line.is_dash()) {
            (Some(_), _) => Some(Members::Entries),
            (None, true) => Some(Members::Items),
            (None, false) => None,
        }
    })?;
    let plain = first.is_dash() || cut::key(first.text).is_some();
    Some(Body { start, end, column, first: blanks, kind, brackets: None, closed: true, plain })
}

/// Whether the second line of a document shows that the first is indented, and not the level both stand in.
fn is_level_of(first: &cut::Line<'_>, second: &cut::Line<'_>) -> bool {
    let holds =
        |line: &cut::Line<'_>| cut::key(line.text).is_some_and(|key| !cut::is_rest_empty(&line.text[key.value..]));
    second.column < first.column && cut::key(second.text).is_some() && holds(first) && !scan::opens(first.text)
}

/// A document that is neither readable nor a level: one error node.
fn unreadable(text: &str, refusal: &Refusal) -> GreenDocument {
    let trimmed = text.trim_end();
    let start = text.len() - text.trim_start().len();
    let (at, message) = match refusal {
        Refusal::Scan(error) => (error.marker().byte_offset().unwrap_or(start), repair::in_plain_words(error)),
        Refusal::SecondDocument => (start, "a document ends here that does not begin with `---`".to_owned()),
        Refusal::NotMembers => (start, "this cannot be read as YAML".to_owned()),
    };
    let at = text.floor_char_boundary(at.min(trimmed.len().saturating_sub(1)));
    let end = text[at..].chars().next().map_or(at, |first| at + first.len_utf8());
    let len = pieces::offset32(trimmed.len().saturating_sub(start));
    GreenDocument {
        len: pieces::offset32(text.len()),
        root: Some(Placed::new(pieces::offset32(start), Green::new(len, None, Kind::Error))),
        errors: vec![SyntaxError::new(Span::new(at, end), message)],
        ..Default::default()
    }
}

/// A document's place in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) span: Span,
    /// Whether its boundaries depend on more than a `---` line.
    pub(super) marked: bool,
}

/// The places of the documents; together they cover the text.
pub(super) fn cut(text: &str) -> Vec<Slot> {
    let mut slots = Vec::new();
    let mut slot = Slot { span: Span::default(), marked: false };
    // Directives stand before their `---`, which then begins no new document.
    let mut preamble = Preamble::Nothing;
    // JSON documents may follow one another without any marker.
    let json = is_json(text);
    let mut after_brace = false;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = &rest[..len];
        // Inside of a document only its end matters.
        if preamble == Preamble::Over && !json && !matches!(line[0], b'-' | b'.') {
            at += len;
            continue;
        }
        let mut end_before = |at: usize, slot: &mut Slot| {
            slots.push(Slot { span: Span::new(slot.span.start, at), ..*slot });
            *slot = Slot { span: Span::new(at, at), marked: false };
        };
        match kind(line) {
            Line::Start => {
                if at > slot.span.start && preamble != Preamble::Directive {
                    end_before(at, &mut slot);
                }
                preamble = Preamble::Over;
            }
            Line::End => {
                slot.marked = true;
                end_before(at + len, &mut slot);
                preamble = Preamble::Nothing;
            }
            Line::Directive if preamble != Preamble::Over => {
                slot.marked = true;
                preamble = Preamble::Directive;
            }
            Line::Blank => {}
            Line::Directive | Line::Content => {
                preamble = Preamble::Over;
                if json {
                    if after_brace && line.starts_with(b"{") {
                        end_before(at, &mut slot);
                    }
                    after_brace = line.trim_ascii_end().ends_with(b"}");
                }
            }
        }
        at += len;
    }
    if slot.span.start < text.len() || slots.is_empty() {
        slots.push(Slot { span: Span::new(slot.span.start, text.len()), ..slot });
    }
    slots
}

#[derive(PartialEq, Eq)]
enum Preamble {
    Nothing,
    Directive,
    Over,
}

/// What a line means for the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// `---`
    Start,
    /// `...`
    End,
    /// `%YAML`
    Directive,
    /// Nothing, or a comment.
    Blank,
    Content,
}

pub(super) fn kind(line: &[u8]) -> Line {
    let marker = |mark: &[u8]| {
        line.strip_prefix(mark).is_some_and(|rest| rest.first().is_none_or(|byte| b" \t\r\n".contains(byte)))
    };
    match line.first() {
        Some(b'-') if marker(b"---") => Line::Start,
        Some(b'.') if marker(b"...") => Line::End,
        Some(b'%') => Line::Directive,
        _ => match line.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None | Some(b'#') => Line::Blank,
            Some(_) => Line::Content,
        },
    }
}
