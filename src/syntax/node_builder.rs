//! Builds green nodes from the events of the YAML parser.
//!
//! The span of a node depends only on its own text, so that a tree built from chunks equals the tree of the whole text:
//! a block collection is from its first key or dash to the end of its last child, a block scalar from its `|` or `>` to
//! the end of the text that chomping keeps.

use std::borrow::Cow;
use std::sync::Arc;

use compact_str::CompactString;
use granit_parser::{
    ErrorKind, Event, Options, Parser, ScalarStyle as Style, ScanError, Span as EventSpan, StructureStyle, Tag,
};

use crate::syntax::green::{CollectionStyle, GreenEntry, GreenKind, GreenNode, Positioned, Properties, offset32};
use crate::syntax::patched_text::PatchedText;
use crate::syntax::scalar::ScalarStyle;

/// Why a text was not parsed.
#[derive(Debug)]
pub(super) enum ParseFailure {
    /// The error of the parser, at an offset of the patched text.
    Scan(ScanError),
    /// The text contains more than one document.
    SecondDocument,
    /// The text is valid, but does not consist of the expected members.
    NotMembers,
}

impl From<ScanError> for ParseFailure {
    fn from(error: ScanError) -> Self {
        Self::Scan(error)
    }
}

/// Parses a text with at most one document. Offsets in the result are those of the original text.
pub(super) fn build_node(text: &PatchedText<'_>) -> Result<Option<Positioned<GreenNode>>, ParseFailure> {
    let parser = Parser::new_from_str_with_options(text.as_str(), options());
    let mut builder =
        NodeBuilder { source: text.as_str(), text, parser, peeked: None, cursor: 0, keys: KeyCache::default() };
    let mut root = None;
    let mut documents = 0;
    while let Some((event, span)) = builder.next()? {
        match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents > 1 {
                    return Err(ParseFailure::SecondDocument);
                }
                builder.pass(span);
            }
            Event::StreamStart | Event::DocumentEnd => builder.pass(span),
            Event::StreamEnd => break,
            _ => root = builder.node(event, span)?,
        }
    }
    Ok(root.map(|child| Positioned { offset: text.original(child.start), node: child.green }))
}

/// Whether a text begins with a whole node, in the eyes of the parser or of kubectl (Y8). What follows does not matter.
pub(super) fn begins_with_node(text: &str) -> bool {
    let mut depth = 0_usize;
    for event in Parser::new_from_str_with_options(text, options()) {
        match event {
            Ok((Event::SequenceStart(..) | Event::MappingStart(..), _)) => depth += 1,
            Ok((Event::SequenceEnd | Event::MappingEnd, _)) => depth = depth.saturating_sub(1),
            Ok((Event::Scalar(..) | Event::Alias(_) | Event::UnresolvedAlias(_), _)) => {}
            Ok(_) => continue,
            Err(error) => return is_accepted_by_kubectl(error.kind()),
        }
        if depth == 0 {
            return true;
        }
    }
    false
}

/// Whether kubectl may accept what the parser rejects (Y8).
pub(super) fn is_accepted_by_kubectl(kind: &ErrorKind) -> bool {
    use ErrorKind as Kind;
    matches!(kind, Kind::UnknownQuotedScalarEscape | Kind::InvalidQuotedScalarIndent | Kind::TabInIndentation)
}

fn options() -> Options {
    granit_parser::options! {
        emit_anchor_events: true,
        // Aliases are resolved by name in our tree, since an anchor may be in another chunk.
        emit_unresolved_aliases: true,
        emit_comments: false,
    }
}

struct NodeBuilder<'s, 'p> {
    source: &'s str,
    text: &'p PatchedText<'s>,
    parser: Parser<'s, granit_parser::StrInput<'s>>,
    /// An event that was read too early.
    peeked: Option<(Event<'s>, EventSpan)>,
    /// The end of the last token.
    cursor: usize,
    keys: KeyCache,
}

/// A node with its span in the patched text.
struct BuiltNode {
    start: usize,
    end: usize,
    green: Arc<GreenNode>,
}

/// Nodes of keys that were built before. The same few keys occur in most mappings, and a green node can be shared.
#[derive(Default)]
struct KeyCache([Option<Arc<GreenNode>>; 32]);

impl KeyCache {
    /// The node of a plain key.
    fn node(&mut self, text: &str) -> Arc<GreenNode> {
        let edge = |byte: Option<&u8>| usize::from(byte.copied().unwrap_or_default());
        let bytes = text.as_bytes();
        let slot = &mut self.0[(edge(bytes.first()) * 7 + edge(bytes.last()) * 3 + bytes.len()) % 32];
        let is_same = |green: &Arc<GreenNode>| matches!(&green.kind, GreenKind::Scalar { value, .. } if value == text);
        if let Some(known) = slot.as_ref().filter(|it| is_same(it)) {
            return Arc::clone(known);
        }
        let kind = GreenKind::Scalar { style: ScalarStyle::Plain, value: text.into() };
        Arc::clone(slot.insert(Arc::new(GreenNode::new(offset32(text.len()), None, kind))))
    }
}

impl<'s> NodeBuilder<'s, '_> {
    fn next(&mut self) -> Result<Option<(Event<'s>, EventSpan)>, ParseFailure> {
        match self.peeked.take() {
            Some(event) => Ok(Some(event)),
            None => Ok(self.parser.next_event().transpose()?),
        }
    }

    /// The next event. The grammar guarantees that there is one.
    fn expect(&mut self) -> Result<(Event<'s>, EventSpan), ParseFailure> {
        Ok(self.next()?.unwrap_or((Event::StreamEnd, EventSpan::default())))
    }

    fn pass(&mut self, span: EventSpan) {
        self.cursor = self.cursor.max(bytes(span).end);
    }

    /// The node that an event begins; `None` for a value that is absent from the text.
    fn node(&mut self, event: Event<'s>, span: EventSpan) -> Result<Option<BuiltNode>, ParseFailure> {
        let child = match event {
            Event::Scalar(value, style, anchor, tag) => {
                let properties = self.properties(anchor, tag.as_deref())?;
                self.scalar(value, style, properties, span)
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => Some(self.alias(span)),
            Event::SequenceStart(style, anchor, tag) => {
                let properties = self.properties(anchor, tag.as_deref())?;
                Some(self.sequence(collection_style(style), properties, span)?)
            }
            Event::MappingStart(style, anchor, tag) => {
                let properties = self.properties(anchor, tag.as_deref())?;
                Some(self.mapping(collection_style(style), properties, span)?)
            }
            _ => None,
        };
        Ok(child)
    }

    /// Reads the anchor's name, which is a separate event after that of the node.
    fn properties(&mut self, anchor: usize, tag: Option<&Tag>) -> Result<Option<Box<Properties>>, ParseFailure> {
        if anchor == 0 && tag.is_none() {
            return Ok(None);
        }
        let mut properties = Properties { anchor: None, tag: tag.map(tag_text) };
        if anchor != 0 {
            match self.next()? {
                Some((Event::Anchor(_, name), _)) => properties.anchor = Some(name.into()),
                other => self.peeked = other,
            }
        }
        Ok(Some(Box::new(properties)))
    }

    fn scalar(
        &mut self,
        value: Cow<'_, str>,
        style: Style,
        properties: Option<Box<Properties>>,
        span: EventSpan,
    ) -> Option<BuiltNode> {
        let at = bytes(span);
        let style = match style {
            Style::SingleQuoted => ScalarStyle::SingleQuoted,
            Style::DoubleQuoted => ScalarStyle::DoubleQuoted,
            Style::Literal => ScalarStyle::Literal,
            Style::Folded => ScalarStyle::Folded,
            _ => ScalarStyle::Plain,
        };
        let (start, end) = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => self.block_scalar(at.start, at.end),
            _ => (at.start, at.end),
        };
        // The parser gives an absent value as `~` without text.
        let absent = style == ScalarStyle::Plain && start == end;
        if absent && properties.is_none() {
            return None;
        }
        self.cursor = self.cursor.max(end);
        let value = if absent { CompactString::default() } else { value.into() };
        Some(self.child(start, end, properties, GreenKind::Scalar { style, value }))
    }

    /// The key of an entry; `None` if it is absent from the text.
    fn key(&mut self, event: Event<'s>, span: EventSpan) -> Result<Option<BuiltNode>, ParseFailure> {
        let at = bytes(span);
        match &event {
            Event::Scalar(value, Style::Plain, 0, None)
                if !at.is_empty() && self.source.get(at.clone()) == Some(value) =>
            {
                self.cursor = self.cursor.max(at.end);
                let len = self.text.original(at.end) - self.text.original(at.start);
                if len == offset32(at.len()) {
                    return Ok(Some(BuiltNode { start: at.start, end: at.end, green: self.keys.node(value) }));
                }
            }
            _ => {}
        }
        self.node(event, span)
    }

    /// The start of a block scalar's header and the end of the text that its chomping keeps. The event itself begins at
    /// the content and ends at the next token.
    fn block_scalar(&self, content: usize, limit: usize) -> (usize, usize) {
        let start = self.skip_to(self.cursor, |byte| matches!(byte, b'|' | b'>'));
        let rest = &self.source.as_bytes()[start..];
        let header = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let indicators = &header[..header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len())];
        let header_end = start + indicators.len();
        if indicators.contains(&b'+') {
            // The event may include the spaces before the next token.
            let kept = self.source[..limit.max(header_end)].trim_end_matches([' ', '\t']).len();
            return (start, kept.max(header_end));
        }
        let body_start = (start + header.len()).min(limit.max(header_end));
        let body = self.source.get(body_start..limit.max(body_start)).unwrap_or_default();
        let trimmed = body.trim_end_matches([' ', '\t', '\r', '\n']);
        if trimmed.is_empty() || content > limit {
            return (start, header_end);
        }
        let mut end = body_start + trimmed.len();
        // Spaces after the last word belong to the text; only empty lines do not.
        let line_end = end + self.source[end..].find('\n').unwrap_or(self.source.len() - end);
        if indicators.contains(&b'-') {
            end = line_end.min(limit.max(end));
            if self.source[..end].ends_with('\r') {
                end -= 1;
            }
        } else {
            end = (line_end + 1).min(self.source.len());
        }
        (start, end)
    }

    fn alias(&mut self, span: EventSpan) -> BuiltNode {
        let at = bytes(span);
        self.cursor = at.end;
        let name = self.source.get(at.start + 1..at.end).unwrap_or_default();
        self.child(at.start, at.end, None, GreenKind::Alias { name: name.into() })
    }

    fn sequence(
        &mut self,
        style: CollectionStyle,
        properties: Option<Box<Properties>>,
        span: EventSpan,
    ) -> Result<BuiltNode, ParseFailure> {
        let at = bytes(span);
        let start = match style {
            CollectionStyle::Flow => at.start,
            CollectionStyle::Block => self.skip_to(self.cursor, |byte| byte == b'-'),
        };
        self.cursor = match style {
            CollectionStyle::Flow => at.end,
            CollectionStyle::Block => start,
        };
        let base = self.text.original(start);
        let mut items = Vec::new();
        let mut end = start;
        loop {
            let (event, span) = self.expect()?;
            if matches!(event, Event::SequenceEnd | Event::StreamEnd) {
                if style == CollectionStyle::Flow {
                    end = bytes(span).end.max(end);
                    self.cursor = end;
                }
                break;
            }
            if style == CollectionStyle::Block {
                // After the dash, because the item may be a block sequence with a dash too.
                self.cursor = self.skip_to(self.cursor, |byte| byte == b'-') + 1;
                end = end.max(self.cursor);
            }
            let absent_at = bytes(span).start;
            let item = match self.node(event, span)? {
                Some(item) => item,
                None => {
                    let at = if style == CollectionStyle::Block { self.cursor } else { absent_at };
                    self.empty_scalar(at)
                }
            };
            end = end.max(item.end);
            items.push(self.placed(item, base));
        }
        Ok(self.child(start, end, properties, GreenKind::Sequence { style, items, chunked: None }))
    }

    fn mapping(
        &mut self,
        style: CollectionStyle,
        properties: Option<Box<Properties>>,
        span: EventSpan,
    ) -> Result<BuiltNode, ParseFailure> {
        let at = bytes(span);
        let start = at.start;
        self.cursor = self.cursor.max(at.end);
        let base = self.text.original(start);
        let mut entries = Vec::new();
        let mut end = at.end;
        loop {
            let (event, span) = self.expect()?;
            if matches!(event, Event::MappingEnd | Event::StreamEnd) {
                let close = bytes(span);
                // `[a: b]` contains a mapping without brackets.
                if style == CollectionStyle::Flow && self.source[at.start..at.end].starts_with('{') {
                    end = close.end.max(end);
                    self.cursor = end;
                }
                break;
            }
            let absent_at = bytes(span).start;
            let key = match self.key(event, span)? {
                Some(key) => key,
                None => self.empty_scalar(absent_at),
            };
            end = end.max(key.end);
            let (event, span) = self.expect()?;
            let value = self.node(event, span)?;
            match &value {
                Some(value) => end = end.max(value.end),
                None => {
                    let colon = self.skip_to(self.cursor, |byte| byte == b':');
                    if self.source[self.cursor..colon].bytes().all(|byte| matches!(byte, b' ' | b'\t'))
                        && self.source.as_bytes().get(colon) == Some(&b':')
                    {
                        self.cursor = colon + 1;
                        end = end.max(self.cursor);
                    }
                }
            }
            entries
                .push(GreenEntry { key: self.placed(key, base), value: value.map(|value| self.placed(value, base)) });
        }
        Ok(self.child(start, end, properties, GreenKind::Mapping { style, entries, chunked: None }))
    }

    /// The scalar in the place of a node that is not written.
    fn empty_scalar(&self, at: usize) -> BuiltNode {
        self.child(at, at, None, GreenKind::Scalar { style: ScalarStyle::Plain, value: "".into() })
    }

    fn child(&self, start: usize, end: usize, properties: Option<Box<Properties>>, kind: GreenKind) -> BuiltNode {
        let len = self.text.original(end).saturating_sub(self.text.original(start));
        BuiltNode { start, end, green: Arc::new(GreenNode::new(len, properties, kind)) }
    }

    fn placed(&self, child: BuiltNode, base: u32) -> Positioned<GreenNode> {
        Positioned { offset: self.text.original(child.start).saturating_sub(base), node: child.green }
    }

    /// The first wanted byte from `from` on. Skips spaces, comments, anchors, tags and the indicators between two nodes.
    fn skip_to(&self, from: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let bytes = self.source.as_bytes();
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                byte if wanted(byte) => return at,
                b'#' => at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at),
                b'&' | b'!' => {
                    at += bytes[at..].iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len() - at);
                }
                b' ' | b'\t' | b'\r' | b'\n' | b':' | b'?' | b',' | b'-' | 0xEF | 0xBB | 0xBF => at += 1,
                _ => break,
            }
        }
        from
    }
}

fn bytes(span: EventSpan) -> std::ops::Range<usize> {
    span.byte_range().unwrap_or(0..0)
}

fn collection_style(style: StructureStyle) -> CollectionStyle {
    match style {
        StructureStyle::Block => CollectionStyle::Block,
        StructureStyle::Flow => CollectionStyle::Flow,
    }
}

/// A tag in its shortest spelling: core tags as `!!int`.
fn tag_text(tag: &Tag) -> Box<str> {
    match tag.core_suffix() {
        Some(suffix) => format!("!!{suffix}").into(),
        None => format!("{}{}", tag.handle(), tag.suffix()).into(),
    }
}
