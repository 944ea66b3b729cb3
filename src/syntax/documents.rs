//! The stream: where documents begin, and each of them parsed alone, so that a broken one never affects its neighbours.
//!
//! A boundary is a property of its own line (`---` or `...` at column 0), so an edit moves only boundaries it touches.

use crate::syntax::chunk_boundaries::{self, MemberKind};
use crate::syntax::chunks;
use crate::syntax::delimiters;
use crate::syntax::indent_index::IndentIndex;
use crate::syntax::merge_conflicts;
use crate::syntax::node_builder::ParseFailure;
use crate::syntax::previous_tree::ChunkContext;
use crate::syntax::repair;
use crate::syntax::tree::{GreenDocument, GreenKind, GreenNode, Positioned, SyntaxError, SyntaxErrorKind, Tree};
use crate::text::Span;

/// Parses a whole file.
pub fn parse(text: &str) -> Tree {
    let documents = split_documents(text)
        .iter()
        .map(|slot| {
            Positioned::new(chunks::offset32(slot.span.start), parse_document(text, slot, ChunkContext::new(0)))
        })
        .collect();
    Tree { documents, len: text.len(), json: is_json(text) }
}

/// Parses the documents of a file that matter to someone: its tree lacks the others. Gives the number of those too, as
/// far as they hold more than comments.
pub fn parse_matching_documents(text: &str, matters: impl Fn(&str) -> bool) -> (Tree, usize) {
    let mut documents = Vec::new();
    let mut skipped = 0;
    for slot in split_documents(text) {
        let content = &text[slot.span.range()];
        if matters(content) {
            documents.push(Positioned::new(
                chunks::offset32(slot.span.start),
                parse_document(text, &slot, ChunkContext::new(0)),
            ));
        } else {
            skipped += usize::from(content.lines().any(|line| stream_line(line.as_bytes()) == StreamLine::Content));
        }
    }
    (Tree { documents, len: text.len(), json: is_json(text) }, skipped)
}

/// Whether a stream is JSON (Y10).
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('{')
}

/// Parses one document, markers and directives included.
pub(super) fn parse_document(text: &str, slot: &DocumentSlot, context: ChunkContext<'_>) -> GreenDocument {
    GreenDocument { marked: slot.marked, ..content(&text[slot.span.range()], context.at(slot.span.start)) }
}

fn content(text: &str, context: ChunkContext<'_>) -> GreenDocument {
    let len = chunks::offset32(text.len());
    let small = text.len() <= chunks::LEAF_SIZE;
    let read = || chunks::parse_text(text, 0, Vec::new());
    if small && let Ok(root) = read() {
        return GreenDocument { len, root, ..Default::default() };
    }
    if let Some(resolved) = merge_conflicts::without_markers(text) {
        let mut document = content(&resolved.text, ChunkContext::new(0));
        document.errors.extend(resolved.errors);
        return document;
    }
    let by_pieces = |body: RootBlock| {
        // It pays where all levels are read.
        let outline = if small || !context.is_new() { None } else { IndentIndex::new(text) };
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
pub(super) struct RootBlock {
    /// The level's text.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) column: usize,
    /// The column of its first line, which may be indented wrongly.
    first: usize,
    pub(super) kind: MemberKind,
    /// Where its brackets stand.
    pub(super) brackets: Option<(usize, usize)>,
    closed: bool,
    /// Whether its first line shows what it is.
    plain: bool,
}

impl RootBlock {
    fn parse(&self, text: &str, context: ChunkContext<'_>) -> (Positioned<GreenNode>, Vec<SyntaxError>) {
        let text = &text[self.start..self.end];
        let parsed = chunks::parse_block_from(text, self.first, self.column, self.kind, context.at(self.start));
        let (start, len) = match self.brackets {
            Some((opener, closer)) => (opener, closer + 1 - opener),
            None => (self.start, parsed.end),
        };
        let mut errors = Vec::new();
        if let Some((opener, _)) = self.brackets.filter(|_| !self.closed) {
            let error = chunks::never_closed(opener, if self.kind == MemberKind::FlowEntries { '{' } else { '[' });
            errors.push(if parsed.unclosed { error.implied() } else { error });
        }
        let green = parsed.into_green(self.column, self.kind, self.start - start, len);
        (Positioned::new(chunks::offset32(start), green), errors)
    }
}

/// Finds the level a document consists of. Directives make tags mean something else, so such a document is read whole.
pub(super) fn body(text: &str) -> Option<RootBlock> {
    // A byte order mark may stand alone on the first line.
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut start = mark;
    for line in text[mark..].split_inclusive('\n') {
        match stream_line(line.as_bytes()) {
            StreamLine::Directive => return None,
            StreamLine::Start if chunk_boundaries::is_rest_empty(&line[3..]) => start += line.len(),
            StreamLine::Blank => start += line.len(),
            StreamLine::Start | StreamLine::End | StreamLine::Content => break,
        }
    }
    let rest = &text[start..];
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let start = start + blanks;
    // `...` ends the last line of a document.
    let end = match text.trim_end().rfind('\n') {
        Some(last) if stream_line(&text.as_bytes()[last + 1..]) == StreamLine::End => last + 1,
        _ => text.len(),
    };
    let content = text.get(start..end)?;
    let first = chunk_boundaries::lines(content, blanks).next()?;
    if let Some(kind) = match first.text {
        "{" => Some(MemberKind::FlowEntries),
        "[" => Some(MemberKind::FlowItems),
        _ => None,
    } {
        let next = chunk_boundaries::lines(content, blanks).nth(1)?;
        let last = chunk_boundaries::last_line(content, blanks)?;
        let closer = if kind == MemberKind::FlowEntries { "}" } else { "]" };
        let closed = last.text == closer && last.start > next.start;
        let end = if closed { last.start } else { content.len() };
        let close = if closed { last.content } else { content.trim_end().len() - 1 };
        return Some(RootBlock {
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
    let column = chunk_boundaries::lines(content, blanks)
        .nth(1)
        .filter(|next| is_level_of(&first, next))
        .map_or(blanks, |next| next.column);
    let kind =
        chunk_boundaries::lines(content, blanks).filter(|line| line.column == column).find_map(|line| {
            match (chunk_boundaries::key(line.text), line.is_dash()) {
                (Some(_), _) => Some(MemberKind::Entries),
                (None, true) => Some(MemberKind::Items),
                (None, false) => None,
            }
        })?;
    let plain = first.is_dash() || chunk_boundaries::key(first.text).is_some();
    Some(RootBlock { start, end, column, first: blanks, kind, brackets: None, closed: true, plain })
}

/// Whether the second line of a document shows that the first is indented, and not the level both stand in.
fn is_level_of(first: &chunk_boundaries::ContentLine<'_>, second: &chunk_boundaries::ContentLine<'_>) -> bool {
    let holds = |line: &chunk_boundaries::ContentLine<'_>| {
        chunk_boundaries::key(line.text).is_some_and(|key| !chunk_boundaries::is_rest_empty(&line.text[key.value..]))
    };
    second.column < first.column
        && chunk_boundaries::key(second.text).is_some()
        && holds(first)
        && !delimiters::opens_multiline(first.text)
}

/// A document that is neither readable nor a level: one error node.
fn unreadable(text: &str, refusal: &ParseFailure) -> GreenDocument {
    let trimmed = text.trim_end();
    let start = text.len() - text.trim_start().len();
    let (at, message) = match refusal {
        ParseFailure::Scan(error) => (error.marker().byte_offset().unwrap_or(start), repair::in_plain_words(error)),
        ParseFailure::SecondDocument => (start, "a document ends here that does not begin with `---`".to_owned()),
        ParseFailure::NotMembers => (start, "this cannot be read as YAML".to_owned()),
    };
    let kind = match refusal {
        ParseFailure::SecondDocument => SyntaxErrorKind::SecondDocument,
        ParseFailure::Scan(_) | ParseFailure::NotMembers => SyntaxErrorKind::Unreadable,
    };
    let at = text.floor_char_boundary(at.min(trimmed.len().saturating_sub(1)));
    let end = text[at..].chars().next().map_or(at, |first| at + first.len_utf8());
    let len = chunks::offset32(trimmed.len().saturating_sub(start));
    GreenDocument {
        len: chunks::offset32(text.len()),
        root: Some(Positioned::new(chunks::offset32(start), GreenNode::new(len, None, GreenKind::Error))),
        errors: vec![SyntaxError::new(Span::new(at, end), kind, message)],
        ..Default::default()
    }
}

/// A document's place in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DocumentSlot {
    pub(super) span: Span,
    /// Whether its boundaries depend on more than a `---` line.
    pub(super) marked: bool,
}

/// The places of the documents; together they cover the text.
pub(super) fn split_documents(text: &str) -> Vec<DocumentSlot> {
    let mut slots = Vec::new();
    let mut slot = DocumentSlot { span: Span::default(), marked: false };
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
        let mut end_before = |at: usize, slot: &mut DocumentSlot| {
            slots.push(DocumentSlot { span: Span::new(slot.span.start, at), ..*slot });
            *slot = DocumentSlot { span: Span::new(at, at), marked: false };
        };
        match stream_line(line) {
            StreamLine::Start => {
                if at > slot.span.start && preamble != Preamble::Directive {
                    end_before(at, &mut slot);
                }
                preamble = Preamble::Over;
            }
            StreamLine::End => {
                slot.marked = true;
                end_before(at + len, &mut slot);
                preamble = Preamble::Nothing;
            }
            StreamLine::Directive if preamble != Preamble::Over => {
                slot.marked = true;
                preamble = Preamble::Directive;
            }
            StreamLine::Blank => {}
            StreamLine::Directive | StreamLine::Content => {
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
        slots.push(DocumentSlot { span: Span::new(slot.span.start, text.len()), ..slot });
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
pub(super) enum StreamLine {
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

pub(super) fn stream_line(line: &[u8]) -> StreamLine {
    let marker = |mark: &[u8]| {
        line.strip_prefix(mark).is_some_and(|rest| rest.first().is_none_or(|byte| b" \t\r\n".contains(byte)))
    };
    match line.first() {
        Some(b'-') if marker(b"---") => StreamLine::Start,
        Some(b'.') if marker(b"...") => StreamLine::End,
        Some(b'%') => StreamLine::Directive,
        _ => match line.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None | Some(b'#') => StreamLine::Blank,
            Some(_) => StreamLine::Content,
        },
    }
}
