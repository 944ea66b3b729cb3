//! Maps each character of a scalar's value to its bytes in the source, and bytes of the source to the value.
//!
//! A map is built on demand from the text of the scalar; trees do not store maps. It handles escapes, folding, block
//! indentation and line endings. If its value differs from that of the parser, it maps to the scalar as a whole instead
//! of to wrong characters.

use std::borrow::Cow;
use std::ops::Range;

use crate::syntax::scalar::ScalarStyle;
use crate::text::Span;

/// The mapping between the value of one scalar and its source text.
#[derive(Debug, Clone)]
pub struct SourceMap {
    ranges: Vec<MappedRange>,
    value_len: usize,
    source_len: usize,
}

/// Bytes of the value with the bytes of the source they come from: the same text, or a unit such as an escape whose
/// parts have no separate source.
#[derive(Debug, Clone, Copy)]
struct MappedRange {
    value: usize,
    source: usize,
    value_len: usize,
    source_len: usize,
    verbatim: bool,
}

impl SourceMap {
    /// The map of a scalar with this source text (its whole span), style and value.
    pub fn new(source: &str, style: ScalarStyle, value: &str) -> Self {
        let mut reader = MapBuilder { source, value: String::with_capacity(value.len()), ranges: Vec::new() };
        match style {
            ScalarStyle::Plain => reader.flow_lines(0..source.len(), |_| None),
            ScalarStyle::SingleQuoted => reader.flow_lines(inside_quotes(source), single_quoted),
            ScalarStyle::DoubleQuoted => reader.double_quoted(),
            ScalarStyle::Literal | ScalarStyle::Folded => return Self::block(source, style, value),
        }
        reader.finish(value)
    }

    /// The source of a range of the value, relative to the first byte of the scalar.
    pub fn source_span(&self, range: Range<usize>) -> Span {
        let start = self.source_of(range.start, RangeEdge::Start);
        if range.is_empty() {
            return Span::new(start, start);
        }
        Span::new(start, self.source_of(range.end, RangeEdge::End).max(start))
    }

    /// The offset in the value that a byte of the source belongs to.
    pub fn value_offset(&self, source: usize) -> usize {
        let after = self.ranges.partition_point(|range| range.source <= source);
        let Some(range) = after.checked_sub(1).and_then(|at| self.ranges.get(at)) else { return 0 };
        let past = source - range.source;
        if range.verbatim {
            return range.value + past.min(range.value_len);
        }
        if past >= range.source_len { range.value + range.value_len } else { range.value }
    }

    fn source_of(&self, value: usize, side: RangeEdge) -> usize {
        // An offset between two ranges belongs to the second one, except as an end.
        let after = match side {
            RangeEdge::Start => self.ranges.partition_point(|range| range.value + range.value_len <= value),
            RangeEdge::End => self.ranges.partition_point(|range| range.value + range.value_len < value),
        };
        let Some(range) = self.ranges.get(after) else {
            return self.ranges.last().map_or(0, |last| last.source + last.source_len);
        };
        let past = value.saturating_sub(range.value);
        match side {
            _ if range.verbatim => range.source + past,
            RangeEdge::Start => range.source,
            RangeEdge::End => range.source + if past == 0 { 0 } else { range.source_len },
        }
    }

    /// The map of a block scalar. Its header may give the indentation relative to a parent that is not in the source, so
    /// all indentations are tried.
    fn block(source: &str, style: ScalarStyle, value: &str) -> Self {
        let header_end = source.find('\n').map_or(source.len(), |end| end + 1);
        let body = &source[header_end..];
        let first = body.lines().find(|line| !line.trim_end_matches('\r').trim_start_matches(' ').is_empty());
        let deepest = first.map_or(0, |line| line.len() - line.trim_start_matches(' ').len());
        (0..=deepest)
            .rev()
            .map(|indent| {
                let mut reader = MapBuilder { source, value: String::new(), ranges: Vec::new() };
                reader.block_lines(header_end, indent, style == ScalarStyle::Folded, value.len());
                reader
            })
            .find(|reader| reader.value == value)
            .unwrap_or(MapBuilder { source, value: String::new(), ranges: Vec::new() })
            .finish(value)
    }
}

#[derive(Clone, Copy)]
enum RangeEdge {
    Start,
    End,
}

struct MapBuilder<'s> {
    source: &'s str,
    value: String,
    ranges: Vec<MappedRange>,
}

impl MapBuilder<'_> {
    fn finish(self, value: &str) -> SourceMap {
        let (value_len, source_len) = (value.len(), self.source.len());
        let ranges = if self.value == value {
            self.ranges
        } else {
            vec![MappedRange { value: 0, source: 0, value_len, source_len, verbatim: false }]
        };
        SourceMap { ranges, value_len, source_len }
    }

    fn verbatim(&mut self, at: Range<usize>) {
        if at.is_empty() {
            return;
        }
        self.ranges.push(MappedRange {
            value: self.value.len(),
            source: at.start,
            value_len: at.len(),
            source_len: at.len(),
            verbatim: true,
        });
        self.value.push_str(&self.source[at]);
    }

    fn whole(&mut self, at: Range<usize>, value: &str) {
        self.ranges.push(MappedRange {
            value: self.value.len(),
            source: at.start,
            value_len: value.len(),
            source_len: at.len(),
            verbatim: false,
        });
        self.value.push_str(value);
    }

    /// Lines that are trimmed and folded: one line break becomes a space, each further one stays a line break. `escape`
    /// returns the length and the value of the escape at the beginning of a text.
    fn flow_lines(&mut self, at: Range<usize>, escape: impl Fn(&str) -> Option<(usize, Cow<'static, str>)>) {
        let mut start = at.start;
        let mut first = true;
        loop {
            let rest = &self.source[start..at.end];
            let end = rest.find('\n').map_or(at.end, |end| start + end);
            let is_last = end == at.end;
            let mut content = start..end;
            if !first {
                content.start += leading_spaces(&self.source[content.clone()]);
            }
            if !is_last {
                content.end = content.start + self.source[content.clone()].trim_end_matches([' ', '\t', '\r']).len();
            }
            self.escaped(content.clone(), &escape);
            if is_last {
                return;
            }
            start = self.fold(content.end, end, at.end);
            first = false;
        }
    }

    fn escaped(&mut self, at: Range<usize>, escape: impl Fn(&str) -> Option<(usize, Cow<'static, str>)>) {
        let mut plain = at.start;
        let mut here = at.start;
        while here < at.end {
            if let Some((len, value)) = escape(&self.source[here..at.end]) {
                self.verbatim(plain..here);
                self.whole(here..here + len, &value);
                here += len;
                plain = here;
            } else {
                here += self.source[here..].chars().next().map_or(1, char::len_utf8);
            }
        }
        self.verbatim(plain..at.end);
    }

    /// Folds the line breaks from `end` (after the last word) on. Returns the start of the next line that is not empty.
    fn fold(&mut self, from: usize, end: usize, limit: usize) -> usize {
        let mut next = end + 1;
        let mut breaks = vec![next];
        while let Some(line) = self.source[next..limit].find('\n') {
            if !self.source[next..next + line].trim_matches([' ', '\t', '\r']).is_empty() {
                break;
            }
            next += line + 1;
            breaks.push(next);
        }
        if let [only] = breaks[..] {
            self.whole(from..only, " ");
        } else {
            let mut from = breaks[0];
            for end in &breaks[1..] {
                self.whole(from..*end, "\n");
                from = *end;
            }
        }
        next
    }

    fn double_quoted(&mut self) {
        let at = inside_quotes(self.source);
        let bytes = self.source.as_bytes();
        let mut line = at.start;
        let mut start = at.start;
        loop {
            // The text up to the next escape or line break.
            let stop = self.source[start..at.end].find(['\\', '\n']).map_or(at.end, |stop| start + stop);
            if stop == at.end {
                self.verbatim(start..stop);
                return;
            }
            if bytes[stop] == b'\n' {
                let trimmed = self.source[line.max(start)..stop].trim_end_matches([' ', '\t', '\r']).len();
                let end = line.max(start) + trimmed;
                self.verbatim(start..end);
                let next = self.fold(end, stop, at.end);
                start = next + leading_spaces(&self.source[next..at.end]);
                line = start;
                continue;
            }
            self.verbatim(start..stop);
            let rest = &self.source[stop..at.end];
            let (len, value) = escape(rest);
            start = stop + len;
            if value.is_empty() {
                // An escaped line break includes the indentation of the next line.
                start += leading_spaces(&self.source[start..at.end]);
                self.whole(stop..start, "");
            } else {
                self.whole(stop..start, &value);
            }
            line = start;
        }
    }

    fn block_lines(&mut self, body: usize, indent: usize, folded: bool, value_len: usize) {
        let mut before: Option<bool> = None;
        let mut empty: Vec<Range<usize>> = Vec::new();
        let mut line_break: Option<Range<usize>> = None;
        let mut start = body;
        while start < self.source.len() {
            let end = self.source[start..].find('\n').map_or(self.source.len(), |end| start + end);
            let next = (end + 1).min(self.source.len());
            let trimmed = start + self.source[start..end].trim_end_matches('\r').len();
            let spaces = self.source[start..trimmed].len() - self.source[start..trimmed].trim_start_matches(' ').len();
            let content = start + spaces.min(indent)..trimmed;
            if content.is_empty() && spaces <= indent {
                empty.push(start..next);
                start = next;
                continue;
            }
            let deeper = self.source[content.clone()].starts_with([' ', '\t']);
            let folds = folded && before == Some(false) && !deeper;
            if let Some(at) = line_break.take() {
                match (folds, empty.is_empty()) {
                    (true, true) => self.whole(at, " "),
                    (true, false) => {}
                    (false, _) => self.whole(at, "\n"),
                }
            }
            for at in empty.drain(..) {
                self.whole(at, "\n");
            }
            self.verbatim(content.clone());
            before = Some(deeper);
            line_break = Some(trimmed..next);
            start = next;
        }
        // The trailing line breaks that chomping keeps.
        for at in line_break.into_iter().chain(empty) {
            if self.value.len() < value_len {
                self.whole(at, "\n");
            }
        }
    }
}

fn leading_spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

fn inside_quotes(source: &str) -> Range<usize> {
    let end = source.len();
    // A quote that is never closed ends with its line.
    let closed = end > 1 && source.as_bytes().first() == source.as_bytes().last();
    1.min(end)..if closed { end - 1 } else { end }
}

fn single_quoted(rest: &str) -> Option<(usize, Cow<'static, str>)> {
    rest.starts_with("''").then(|| (2, "'".into()))
}

/// The length and the value of the escape at the beginning of a text. The value of an escaped line break is empty.
fn escape(text: &str) -> (usize, Cow<'static, str>) {
    let code = |digits: usize| {
        let hex = text.get(2..2 + digits)?;
        u32::from_str_radix(hex, 16).ok()
    };
    let simple = |value: &'static str| (2, Cow::Borrowed(value));
    match text.as_bytes().get(1) {
        Some(b'0') => simple("\0"),
        Some(b'a') => simple("\u{7}"),
        Some(b'b') => simple("\u{8}"),
        Some(b't' | b'\t') => simple("\t"),
        Some(b'n') => simple("\n"),
        Some(b'v') => simple("\u{b}"),
        Some(b'f') => simple("\u{c}"),
        Some(b'r') => simple("\r"),
        Some(b'e') => simple("\u{1b}"),
        Some(b'N') => simple("\u{85}"),
        Some(b'_') => simple("\u{a0}"),
        Some(b'L') => simple("\u{2028}"),
        Some(b'P') => simple("\u{2029}"),
        Some(b'\n') => simple(""),
        Some(b'\r') if text.as_bytes().get(2) == Some(&b'\n') => (3, "".into()),
        Some(kind @ (b'x' | b'u' | b'U')) => {
            let digits = match kind {
                b'x' => 2,
                b'u' => 4,
                _ => 8,
            };
            let first = code(digits).unwrap_or(0xFFFD);
            // JSON writes characters outside the basic plane as two surrogates.
            if let (0xD800..0xDC00, Some(low)) = (first, low_surrogate(text)) {
                let whole = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
                return (12, char::from_u32(whole).unwrap_or('\u{FFFD}').to_string().into());
            }
            let len = (2 + digits).min(text.len());
            (len, char::from_u32(first).unwrap_or('\u{FFFD}').to_string().into())
        }
        Some(_) => {
            let next = text[1..].chars().next().map_or(0, char::len_utf8);
            (1 + next, text[1..1 + next].to_owned().into())
        }
        None => (1, "\\".into()),
    }
}

fn low_surrogate(text: &str) -> Option<u32> {
    let hex = text.get(6..12)?.strip_prefix("\\u")?;
    u32::from_str_radix(hex, 16).ok().filter(|low| (0xDC00..0xE000).contains(low))
}

impl SourceMap {
    /// Whether every character of the value has its own source.
    pub fn is_exact(&self) -> bool {
        !matches!(self.ranges[..], [MappedRange { verbatim: false, value_len, source_len, .. }]
            if value_len == self.value_len && source_len == self.source_len && value_len > 1)
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::tests::{Random, edit_count, file};
    use crate::syntax::{Node, NodeKind, parse};

    use super::*;

    fn scalars<'t>(node: Node<'t>, visit: &mut impl FnMut(Node<'t>)) {
        if let NodeKind::Scalar(_) = node.kind() {
            visit(node);
        }
        if node.alias().is_none() {
            for (key, value) in node.own_entries() {
                scalars(key, visit);
                value.into_iter().for_each(|value| scalars(value, visit));
            }
            node.items().for_each(|item| scalars(item, visit));
        }
    }

    fn check(text: &str) -> usize {
        let mut seen = 0;
        for document in parse(text).documents().filter(|document| document.errors().is_empty()) {
            let Some(root) = document.root() else { continue };
            scalars(root, &mut |node| {
                let (Some(value), Some(style)) = (node.text(), node.style()) else { return };
                let source = &text[node.span().range()];
                let map = SourceMap::new(source, style, value);
                assert!(map.is_exact(), "{style:?} {source:?} is {value:?}");
                let mut last = 0;
                for (at, character) in value.char_indices() {
                    let place = map.source_span(at..at + character.len_utf8());
                    assert!(place.start >= last && place.end <= source.len(), "{source:?} at {at}: {place:?}");
                    assert_eq!(map.value_offset(place.start), at, "{source:?} at {at}: {place:?}");
                    if !character.is_whitespace() && !source[place.range()].starts_with(['\\', '\'']) {
                        assert_eq!(source[place.range()].chars().next(), Some(character), "{source:?} at {at}");
                    }
                    last = place.end;
                }
                seen += 1;
            });
        }
        seen
    }

    #[test]
    fn every_character_maps_to_its_bytes() {
        let seen: usize = (0..edit_count(1_000, 10_000) as u64).map(|seed| check(&file(&mut Random::new(seed)))).sum();
        assert!(seen > 5_000, "only {seen} scalars");
    }

    #[test]
    fn unusual_scalars() {
        for text in [
            "a: \"x\\n\\x41\\u00e9\\uD83D\\uDE00\\U0001F600\\\"y\"\n",
            "a: \"one\n\n\n  two \\\n   three\n  four\\  \n  \"\n",
            "a: \"\n  x\n\"\n",
            "a: 'it''s\n\n  folded'\n",
            "a: plain\n  more\n\n  end\n",
            "a: >\n\n  one\n  two\n\n   deeper\n   still\n\n\n  three\n  \n  four\n\n",
            "a: >2-\n    x\n   y\n",
            "- |1+\n  x\n\n \n- y\n",
            "a: |\r\n  x\r\n\r\n  y\r\nb: \"x\r\n  y\"\r\n",
            "a: |\n  x  \n   \n  y\n",
            "a: |-\n",
            "a: >+\n  x\n\n\nb: c\n",
            "a: \"it\\'s\"\n",
            "a: \"low\ncontinued\"\n",
        ] {
            assert_eq!(parse(text).errors(), [], "{text:?}");
            assert!(check(text) > 0, "{text:?}");
        }
    }

    #[test]
    fn a_reference_maps_to_its_escapes() {
        let source = "\"\\u0024(X) a\\\n   $(Y)\"";
        let map = SourceMap::new(source, ScalarStyle::DoubleQuoted, "$(X) a$(Y)");
        assert!(map.is_exact());
        assert_eq!(&source[map.source_span(0..4).range()], "\\u0024(X)");
        assert_eq!(&source[map.source_span(6..10).range()], "$(Y)");
        assert_eq!(map.value_offset(1), 0);
        assert_eq!(map.value_offset(3), 0);
        assert_eq!(map.value_offset(7), 1);
    }
}
