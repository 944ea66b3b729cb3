//! Divides a stream into documents and parses each of them separately, so that an error never affects other documents.
//!
//! A boundary depends only on its own line (`---` or `...` at column 0), so an edit moves only the boundaries it touches.

use crate::syntax::chunks::{self, LEAF_SIZE};
use crate::syntax::content_lines::{ContentLine, MemberKind, find_key, is_blank_or_comment, last_line, lines};
use crate::syntax::delimiters;
use crate::syntax::green::{GreenDocument, GreenKind, GreenNode, Positioned, offset32};
use crate::syntax::indent_index::IndentIndex;
use crate::syntax::merge_conflicts;
use crate::syntax::node_builder::{self, ParseFailure};
use crate::syntax::parser_messages::parser_message;
use crate::syntax::previous_tree::ChunkContext;
use crate::syntax::repair;
use crate::syntax::syntax_error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::text_slices::{TextSlices, line_end};
use crate::syntax::tree::Tree;
use crate::text::Span;
use crate::work::{Step, count};

/// How many lines after a wrong indentation decide what is reported.
const MAX_LINES_AFTER_ERROR: usize = 16;

/// Parses a whole file.
pub fn parse(text: &str) -> Tree {
    let documents = split_documents(text)
        .iter()
        .map(|slot| Positioned::new(offset32(slot.span.start), parse_document(text, slot, ChunkContext::new(0))))
        .collect();
    Tree { documents, len: text.len(), json: is_json(text) }
}

/// Parses the documents of a file whose text satisfies `matches`; the tree does not contain the others. Also returns how
/// many of the others have content.
pub fn parse_matching_documents(text: &str, matches: impl Fn(&str) -> bool) -> (Tree, usize) {
    let mut documents = Vec::new();
    let mut skipped = 0;
    for slot in split_documents(text) {
        let content = &text[slot.span.range()];
        if matches(content) {
            let document = parse_document(text, &slot, ChunkContext::new(0));
            documents.push(Positioned::new(offset32(slot.span.start), document));
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
    let content = &text[slot.span.range()];
    count(Step::ParsedByte, content.len());
    let mut document = parse_content(content, context.at(slot.span.start));
    document.errors.extend(memchr::memchr(0, content.as_bytes()).map(SyntaxError::nul_byte));
    GreenDocument { marked: slot.marked, ..document }
}

fn parse_content(text: &str, context: ChunkContext<'_>) -> GreenDocument {
    let len = offset32(text.len());
    let is_small = text.len() <= LEAF_SIZE;
    let parse_whole = || chunks::parse_text(text, 0, Vec::new());
    if is_small && let Ok(root) = parse_whole() {
        return GreenDocument { len, root, ..Default::default() };
    }
    if let Some(commented) = merge_conflicts::comment_markers(text) {
        let mut document = parse_content(&commented.text, ChunkContext::new(0));
        document.errors.extend(commented.errors);
        return document;
    }
    let parse_chunked = |block: RootBlock| {
        // The index is worth its cost only if all blocks are parsed.
        let index = if is_small || context.has_previous() { None } else { IndentIndex::new(text) };
        let (root, errors) = block.parse(text, context.with_index(index.as_ref()));
        GreenDocument { len, root: Some(root), errors, ..Default::default() }
    };
    let block = root_block(text);
    if let Some(block) = block.filter(|block| block.is_certain) {
        let document = parse_chunked(block);
        return parse_valid_document(&document, text, 0).unwrap_or(document);
    }
    let failure = match parse_whole() {
        Ok(root) => return GreenDocument { len, root, ..Default::default() },
        Err(failure) => failure,
    };
    // If the brackets are on separate lines, so are the chunks between them, and a mistake affects only one chunk.
    if block.is_none_or(|block| is_small && block.brackets.is_none())
        && let Some((root, error)) = repair::close_document(text)
    {
        return GreenDocument { len, root: Some(root), errors: vec![error], ..Default::default() };
    }
    block.map_or_else(|| error_document(text, &failure), parse_chunked)
}

/// The tree of a document whose chunks have errors although the text as a whole has none: chunks are found by indentation,
/// which has no meaning between brackets and quotes. `None` if the text has errors. The document is at `start` of the text.
pub(super) fn parse_valid_document(
    document: &GreenDocument,
    text: &(impl TextSlices + ?Sized),
    start: usize,
) -> Option<GreenDocument> {
    let end = start + document.len as usize;
    let doubtful = start + first_doubtful_node(document, text, start)?;
    if doubtful > start && !node_builder::begins_with_node(&text.slice(Span::new(doubtful, end))) {
        return None;
    }
    let root = chunks::parse_text(&text.slice(Span::new(start, end)), 0, Vec::new()).ok()?;
    Some(GreenDocument { len: document.len, root, ..Default::default() })
}

/// The start of the quote or of the outermost brackets that the first error of a document may be inside of. The text can
/// be valid only if the node that begins there is. `None` if there are no errors, or the first one is outside of both: it
/// does not depend on how the text was divided, unless its line begins with a colon, which may be the end of any key, or
/// the lines after it, which decide what a wrong indentation is, are in a node of several lines.
fn first_doubtful_node(document: &GreenDocument, text: &(impl TextSlices + ?Sized), start: usize) -> Option<usize> {
    let end = start + document.len as usize;
    let first = chunk_errors_of(document).into_iter().min_by_key(|it| it.error)?;
    first.brackets.or_else(|| {
        let line_end = line_end(text, start + first.error);
        let rest = text.slice(Span::new(start + first.error, end));
        if rest.starts_with(':') || rest.lines().take(MAX_LINES_AFTER_ERROR).any(delimiters::opens_multiline) {
            return Some(0);
        }
        let before = text.slice(Span::new(start + first.chunk, line_end));
        let open = delimiters::scan_delimiters(&before, first.column).open;
        open.first().map(|it| first.chunk + it.at)
    })
}

/// Whether a chunk between brackets has an error. Where chunks begin there, and which commas are missing, depends on more
/// than the lines around an edit.
pub(super) fn has_error_in_brackets(document: &GreenDocument) -> bool {
    chunk_errors_of(document).iter().any(|it| it.brackets.is_some())
}

/// An error of a chunk. Offsets are relative to the document.
#[derive(Clone, Copy)]
struct PositionedError {
    error: usize,
    /// The start of its chunk.
    chunk: usize,
    column: usize,
    /// The start of the outermost brackets around it.
    brackets: Option<usize>,
}

/// The errors of the chunks of a document, in no order.
fn chunk_errors_of(document: &GreenDocument) -> Vec<PositionedError> {
    let mut found = Vec::new();
    let root = document.root.as_ref().filter(|root| root.node.flags.error && document.errors.is_empty());
    let mut waiting: Vec<_> = root.map(|root| (root.offset as usize, &root.node, None)).into_iter().collect();
    while let Some((at, green, outer)) = waiting.pop() {
        let brackets = outer.or_else(|| green.is_flow().then_some(at));
        for chunk in green.chunked_block().iter().flat_map(|block| &block.chunks) {
            let start = at + chunk.offset as usize;
            let column = chunk.column as usize;
            let errors = chunk.errors.iter().map(|it| start + it.span.start);
            found.extend(errors.map(|error| PositionedError { error, chunk: start, column, brackets }));
        }
        let broken = green.children().filter(|it| it.node.flags.error);
        waiting.extend(broken.map(|it| (at + it.offset as usize, &it.node, brackets)));
    }
    found
}

/// The content of a document, if it is a block that can be parsed chunk by chunk.
#[derive(Clone, Copy)]
struct RootBlock {
    /// The text of the block.
    start: usize,
    end: usize,
    column: usize,
    /// The column of its first line, which may be indented wrongly.
    first: usize,
    kind: MemberKind,
    /// The offsets of its opening and closing bracket.
    brackets: Option<(usize, usize)>,
    is_closed: bool,
    /// Whether its first line shows the kind of the block.
    is_certain: bool,
}

impl RootBlock {
    fn parse(&self, text: &str, context: ChunkContext<'_>) -> (Positioned<GreenNode>, Vec<SyntaxError>) {
        let text = &text[self.start..self.end];
        let block = chunks::parse_block_from(text, self.first, self.column, self.kind, context.at(self.start));
        let (start, len) = match self.brackets {
            Some((opener, closer)) => (opener, closer + 1 - opener),
            None => (self.start, block.end),
        };
        let mut errors = Vec::new();
        if let Some((opener, _)) = self.brackets.filter(|_| !self.is_closed) {
            let error = SyntaxError::never_closed(opener, if self.kind == MemberKind::FlowEntries { '{' } else { '[' });
            errors.push(if block.reported_unclosed { error.implied() } else { error });
        }
        let green = block.into_green(self.column, self.kind, self.start - start, len);
        (Positioned::new(offset32(start), green), errors)
    }
}

/// Finds the block that a document consists of. A document with directives is parsed as a whole, since directives change
/// the meaning of tags.
fn root_block(text: &str) -> Option<RootBlock> {
    // A byte order mark may be the only content of the first line.
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut start = mark;
    for line in text[mark..].split_inclusive('\n') {
        match stream_line(line.as_bytes()) {
            StreamLine::Directive => return None,
            StreamLine::Start if is_blank_or_comment(&line[3..]) => start += line.len(),
            StreamLine::Blank => start += line.len(),
            StreamLine::Start | StreamLine::End | StreamLine::Content => break,
        }
    }
    let rest = &text[start..];
    let spaces = rest.len() - rest.trim_start_matches(' ').len();
    let start = start + spaces;
    // `...` is the last line of a document.
    let end = match text.trim_end().rfind('\n') {
        Some(last) if stream_line(&text.as_bytes()[last + 1..]) == StreamLine::End => last + 1,
        _ => text.len(),
    };
    let content = text.get(start..end)?;
    let first = lines(content, spaces).next()?;
    if let Some(kind) = match first.text {
        "{" => Some(MemberKind::FlowEntries),
        "[" => Some(MemberKind::FlowItems),
        _ => None,
    } {
        let next = lines(content, spaces).nth(1)?;
        let last = last_line(content, spaces)?;
        let closer = if kind == MemberKind::FlowEntries { "}" } else { "]" };
        let is_closed = last.text == closer && last.start > next.start;
        let end = if is_closed { last.start } else { content.len() };
        let close = if is_closed { last.content } else { content.trim_end().len() - 1 };
        return Some(RootBlock {
            start: start + next.content,
            end: start + end,
            column: next.content - next.start,
            first: next.content - next.start,
            kind,
            brackets: Some((start + first.content, start + close)),
            is_closed,
            is_certain: is_closed,
        });
    }
    let second = lines(content, spaces).nth(1);
    let column = second.filter(|second| is_first_indented(&first, second)).map_or(spaces, |second| second.column);
    let kind = lines(content, spaces).filter(|line| line.column == column).find_map(|line| {
        match (find_key(line.text), line.is_dash()) {
            (Some(_), _) => Some(MemberKind::Entries),
            (None, true) => Some(MemberKind::Items),
            (None, false) => None,
        }
    })?;
    let is_certain = (first.is_dash() || find_key(first.text).is_some()) && !rest[spaces..].starts_with('\t');
    Some(RootBlock { start, end, column, first: spaces, kind, brackets: None, is_closed: true, is_certain })
}

/// Whether only the first line of a document is indented by mistake, and the block is at the column of the second line.
fn is_first_indented(first: &ContentLine<'_>, second: &ContentLine<'_>) -> bool {
    let has_value =
        |line: &ContentLine<'_>| find_key(line.text).is_some_and(|key| !is_blank_or_comment(&line.text[key.value..]));
    second.column < first.column
        && find_key(second.text).is_some()
        && has_value(first)
        && !delimiters::opens_multiline(first.text)
}

/// A document that can be parsed neither as a whole nor as a block: one error node.
fn error_document(text: &str, failure: &ParseFailure) -> GreenDocument {
    let trimmed = text.trim_end();
    let start = text.len() - text.trim_start().len();
    let is_text = || text[start..].starts_with(|it: char| it.is_alphanumeric());
    let (at, message) = match failure {
        // The first line is a text, and the manifest begins after it.
        ParseFailure::Scan(error)
            if matches!(error.kind(), granit_parser::ErrorKind::ExpectedDocumentStart) && is_text() =>
        {
            (start, "expected `key: value` here".into())
        }
        ParseFailure::Scan(error) => (error.marker().byte_offset().unwrap_or(start), parser_message(error)),
        ParseFailure::SecondDocument => (start, "more than one document: separate documents with `---`".into()),
        ParseFailure::NotMembers => (start, "this is not valid YAML".into()),
    };
    let kind = match failure {
        ParseFailure::SecondDocument => SyntaxErrorKind::SecondDocument,
        ParseFailure::Scan(_) | ParseFailure::NotMembers => SyntaxErrorKind::Unreadable,
    };
    let at = text.floor_char_boundary(at.min(trimmed.len().saturating_sub(1)));
    let end = text[at..].chars().next().map_or(at, |first| at + first.len_utf8());
    let len = offset32(trimmed.len().saturating_sub(start));
    GreenDocument {
        len: offset32(text.len()),
        root: Some(Positioned::new(offset32(start), GreenNode::new(len, None, GreenKind::Error))),
        errors: vec![SyntaxError::new(Span::new(at, end), kind, message)],
        ..Default::default()
    }
}

/// The position of a document in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DocumentSlot {
    pub(super) span: Span,
    /// Whether its boundaries depend on more than a `---` line.
    pub(super) marked: bool,
}

/// The positions of the documents. Together they cover the whole text.
pub(super) fn split_documents(text: &str) -> Vec<DocumentSlot> {
    let mut slots = Vec::new();
    let mut slot = DocumentSlot { span: Span::default(), marked: false };
    // Directives come before their `---`, which then does not begin another document.
    let mut preamble = Preamble::Nothing;
    // JSON documents may follow one another without a marker.
    let json = is_json(text);
    let mut after_brace = false;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = &rest[..len];
        // Inside a document only its end matters.
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

/// What was found before the content of a document.
#[derive(PartialEq, Eq)]
enum Preamble {
    Nothing,
    Directive,
    Over,
}

/// The meaning of a line for the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamLine {
    /// `---`
    Start,
    /// `...`
    End,
    /// `%YAML`
    Directive,
    /// Empty, or a comment.
    Blank,
    Content,
}

pub(super) fn stream_line(line: &[u8]) -> StreamLine {
    let is_marker = |marker: &[u8]| {
        line.strip_prefix(marker).is_some_and(|rest| rest.first().is_none_or(|byte| b" \t\r\n".contains(byte)))
    };
    match line.first() {
        Some(b'-') if is_marker(b"---") => StreamLine::Start,
        Some(b'.') if is_marker(b"...") => StreamLine::End,
        Some(b'%') => StreamLine::Directive,
        _ => match line.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None | Some(b'#') => StreamLine::Blank,
            Some(_) => StreamLine::Content,
        },
    }
}
