//! Lines of YAML, classified by their own text: indentation, list dash, key.
//!
//! Only lines with content count: empty lines and comments are skipped. Nothing here parses YAML.

/// The kind of the members of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberKind {
    /// `key: value` at one column.
    Entries,
    /// `- item` at one column.
    Items,
    /// `"key": value,` on separate lines between `{` and `}`.
    FlowEntries,
    /// `value,` on separate lines between `[` and `]`.
    FlowItems,
}

impl MemberKind {
    pub(super) fn is_flow(self) -> bool {
        matches!(self, Self::FlowEntries | Self::FlowItems)
    }

    pub(super) fn is_mapping(self) -> bool {
        matches!(self, Self::Entries | Self::FlowEntries)
    }
}

/// A line with content: not empty, not a comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContentLine<'s> {
    /// The first byte of the line.
    pub(super) start: usize,
    /// Its first character after the indentation.
    pub(super) content: usize,
    /// From its first character to its end, without the line break.
    pub(super) text: &'s str,
    /// The number of spaces before the content. The largest number if tabs are among them: YAML does not allow tabs as
    /// indentation, and such a line must not start a chunk.
    pub(super) column: usize,
}

impl ContentLine<'_> {
    pub(super) fn is_dash(&self) -> bool {
        is_dash(self.text)
    }

    pub(super) fn is_tab_indented(&self) -> bool {
        self.column == usize::MAX
    }

    /// The column that matters in a block of this kind: between brackets a tab counts like a space.
    pub(super) fn column_in(&self, members: MemberKind) -> usize {
        if members.is_flow() && self.is_tab_indented() { self.content - self.start } else { self.column }
    }

    /// The end of its text, before the line break.
    pub(super) fn end(&self) -> usize {
        self.content + self.text.len()
    }

    /// Whether it continues a member that began before it: a closing bracket, a comma, or the value of a `? key`.
    pub(super) fn continues_member(&self) -> bool {
        self.text.starts_with([']', '}', ',']) || self.text == ":" || self.text.starts_with(": ")
    }
}

/// Whether a text begins with the dash of a list item.
pub(super) fn is_dash(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The text after all list dashes at its beginning.
pub(super) fn after_dashes(text: &str) -> &str {
    let mut rest = text;
    while is_dash(rest) {
        rest = rest[1..].trim_start();
    }
    rest
}

/// The content lines of a text that begins in the middle of a line: its first character is at `column`.
pub(super) fn lines(text: &str, column: usize) -> impl Iterator<Item = ContentLine<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            let rest = &text.as_bytes()[start..];
            at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let line = content_line(text, start, at, if start == 0 { Some(column) } else { None });
            if line.is_some() {
                return line;
            }
        }
        None
    })
}

/// The content lines after a line.
pub(super) fn lines_after<'s>(
    text: &'s str,
    line: &ContentLine<'_>,
) -> impl Iterator<Item = ContentLine<'s>> + use<'s> {
    lines_from(text, next_line_start(text, line.content))
}

/// The content lines from `from` on, where a line begins.
pub(super) fn lines_from(text: &str, from: usize) -> impl Iterator<Item = ContentLine<'_>> {
    let mut at = from;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            at = next_line_start(text, start);
            let line = content_line(text, start, at, None);
            if line.is_some() {
                return line;
            }
        }
        None
    })
}

/// The start of the line after the one that contains `at`.
pub(super) fn next_line_start(text: &str, at: usize) -> usize {
    let rest = &text.as_bytes()[at..];
    at + memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)
}

/// The line that begins at `start`, if it has content.
pub(super) fn line_at(text: &str, start: usize) -> Option<ContentLine<'_>> {
    content_line(text, start, next_line_start(text, start), None)
}

/// The last of the [`lines`], found from the end.
pub(super) fn last_line(text: &str, column: usize) -> Option<ContentLine<'_>> {
    let mut end = text.len();
    while end > 0 {
        let start = memchr::memrchr(b'\n', &text.as_bytes()[..end - 1]).map_or(0, |at| at + 1);
        let line = content_line(text, start, end, if start == 0 { Some(column) } else { None });
        if line.is_some() {
            return line;
        }
        end = start;
    }
    None
}

/// The line from `start` to `end`, if it has content. `column` overrides the column that its spaces give.
pub(super) fn content_line(text: &str, start: usize, end: usize, column: Option<usize>) -> Option<ContentLine<'_>> {
    let bytes = &text.as_bytes()[start..end];
    let spaces = bytes.iter().take_while(|byte| **byte == b' ').count();
    let indent = spaces + bytes[spaces..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if matches!(bytes.get(indent), None | Some(b'\n' | b'\r' | b'#')) {
        return None;
    }
    let column = column.unwrap_or(if indent > spaces { usize::MAX } else { spaces });
    let content = start + indent;
    Some(ContentLine { start, content, text: text[content..end].trim_end(), column })
}

/// The key at the beginning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineKey {
    /// Its length, quotes included.
    pub(super) len: usize,
    /// The start of the text after the colon.
    pub(super) value: usize,
}

impl LineKey {
    /// The key's text without quotes.
    pub(super) fn name(self, line: &str) -> &str {
        let text = &line[..self.len];
        let quote = |it: char| text.strip_prefix(it)?.strip_suffix(it);
        quote('"').or_else(|| quote('\'')).unwrap_or(text)
    }
}

/// Finds the key a line begins with, if it is a plain or quoted scalar.
pub(super) fn find_key(line: &str) -> Option<LineKey> {
    let bytes = line.as_bytes();
    let first = *bytes.first()?;
    let colon = match first {
        b'"' | b'\'' => {
            let mut at = 1;
            loop {
                match *bytes.get(at)? {
                    b'\\' if first == b'"' => at += 2,
                    byte if byte == first => break,
                    _ => at += 1,
                }
            }
            let len = at + 1;
            let colon = len + bytes[len..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            return (bytes.get(colon) == Some(&b':') && space_at(bytes, colon + 1))
                .then_some(LineKey { len, value: colon + 1 });
        }
        b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' | b',' => return None,
        b'?' | b'-' if space_at(bytes, 1) => return None,
        _ => memchr::memchr_iter(b':', bytes).find(|at| space_at(bytes, at + 1))?,
    };
    let name = line[..colon].trim_end();
    (!name.is_empty() && !name.contains(" #")).then_some(LineKey { len: name.len(), value: colon + 1 })
}

/// Whether a line consists of one word, like a key whose colon is not typed yet.
pub(super) fn is_word(line: &str) -> bool {
    let word = line.find(" #").map_or(line, |at| &line[..at]).trim_end();
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'))
}

/// Whether a line is a member of a block and cannot be one between brackets: it has a dash, or an unquoted key and an end
/// that is unusual between brackets.
pub(super) fn is_block_member(line: &str) -> bool {
    is_dash(line)
        || (find_key(line).is_some() && !line.starts_with(['"', '\'']) && !line.ends_with([',', '[', '{', ']', '}']))
}

/// Whether a line may begin with a key of any kind, including `? key` and keys with an anchor, tag, alias or brackets.
pub(super) fn may_be_key(line: &str) -> bool {
    find_key(line).is_some()
        || line == "?"
        || line.starts_with("? ")
        || (line.starts_with(['&', '*', '!']) && (line.ends_with(':') || line.contains(": ")))
        || (line.starts_with(['[', '{']) && (line.contains("]:") || line.contains("}:")))
}

/// Whether a line has a key, perhaps after dashes. No line of a scalar may have one.
pub(super) fn has_key(line: &str) -> bool {
    find_key(after_dashes(line)).is_some()
}

fn space_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(u8::is_ascii_whitespace)
}

/// Whether only spaces and a comment follow.
pub(super) fn is_blank_or_comment(rest: &str) -> bool {
    let trimmed = rest.trim_start();
    trimmed.is_empty() || (trimmed.starts_with('#') && (trimmed.len() < rest.len() || rest.starts_with('#')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_all_spellings() {
        assert_eq!(find_key("a: b"), Some(LineKey { len: 1, value: 2 }));
        assert_eq!(find_key("a:"), Some(LineKey { len: 1, value: 2 }));
        assert_eq!(find_key("http://x: y"), Some(LineKey { len: 8, value: 9 }));
        assert_eq!(find_key("\"a: b\" : c"), Some(LineKey { len: 6, value: 8 }));
        assert_eq!(find_key("- a: b"), None);
        assert_eq!(find_key("a # b: c"), None);
        assert_eq!(find_key("a"), None);
        assert_eq!(find_key("*a : b"), None);
        assert_eq!(find_key("\"a: b\" : c").map(|key| key.name("\"a: b\" : c")), Some("a: b"));
    }
}
