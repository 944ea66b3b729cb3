//! A scan of YAML text for quotes, brackets and block scalars: where they begin and end, and nothing else.
//!
//! The parser stops at its first error and often reports the wrong line. This scan never stops, so that repairs can find
//! the quote or bracket that was left open, and the lines that only continue a scalar or collection.

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct DelimiterScan {
    pub(super) quoted: Vec<QuotedSpan>,
    /// The quotes and brackets that are still open at the end of the text, outermost first.
    pub(super) open: Vec<OpenDelimiter>,
    /// Whether there is a block scalar.
    has_block_scalar: bool,
    /// Starts of lines that continue a quoted scalar, a flow collection or a block scalar. Sorted.
    pub(super) continued: Vec<usize>,
}

/// A quoted scalar.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuotedSpan {
    pub(super) start: usize,
    /// The end of the closing quote, or of the text.
    pub(super) end: usize,
    pub(super) double: bool,
}

/// A quote or bracket that is not closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenDelimiter {
    pub(super) at: usize,
    /// The character that closes it.
    pub(super) close: char,
}

impl DelimiterScan {
    /// Whether the line that starts at an offset continues a scalar or collection.
    pub(super) fn continues(&self, line: usize) -> bool {
        self.continued.binary_search(&line).is_ok()
    }
}

/// Whether a line opens a quote, bracket or block scalar that further lines may continue.
pub(super) fn opens_multiline(line: &str) -> bool {
    if !line.bytes().any(|byte| matches!(byte, b'"' | b'\'' | b'[' | b'{' | b'|' | b'>')) {
        return false;
    }
    let scan = scan_delimiters(line, 0);
    !scan.open.is_empty() || scan.has_block_scalar
}

/// Whether a quote or bracket is open at the end of a line.
pub(super) fn leaves_open(line: &str) -> bool {
    line.bytes().any(|byte| matches!(byte, b'"' | b'\'' | b'[' | b'{')) && !scan_delimiters(line, 0).open.is_empty()
}

/// The end of the first line of a text together with the lines that continue it, if everything it opens is closed and
/// nothing follows the closing character.
pub(super) fn closed_line(text: &str, column: usize) -> Option<usize> {
    let mut scanner =
        DelimiterScanner { bytes: text.as_bytes(), at: 0, found: DelimiterScan::default(), has_trailing_text: false };
    scanner.line(column);
    (scanner.found.open.is_empty() && !scanner.has_trailing_text).then_some(scanner.at)
}

/// Scans a text whose first character is at `column`.
pub(super) fn scan_delimiters(text: &str, column: usize) -> DelimiterScan {
    scan_past(text, column, text.len(), |_| false).0
}

/// Scans past an offset, up to a line that continues nothing and whose start satisfies `is_end`. Also returns the range
/// of the line, with its continuation, that crosses the offset.
pub(super) fn scan_past(
    text: &str,
    column: usize,
    offset: usize,
    is_end: impl Fn(usize) -> bool,
) -> (DelimiterScan, std::ops::Range<usize>) {
    let mut scanner =
        DelimiterScanner { bytes: text.as_bytes(), at: 0, found: DelimiterScan::default(), has_trailing_text: false };
    let mut column = column;
    let mut across = 0..0;
    while scanner.at < scanner.bytes.len() {
        if scanner.at < offset {
            across.start = scanner.at;
        } else if is_end(scanner.at) {
            break;
        }
        scanner.line(column);
        if across.end < offset {
            across.end = scanner.at;
        }
        column = 0;
        if scanner.at < scanner.bytes.len() && !scanner.found.open.is_empty() {
            break;
        }
    }
    (scanner.found, across)
}

struct DelimiterScanner<'s> {
    bytes: &'s [u8],
    at: usize,
    found: DelimiterScan,
    /// Whether unexpected text follows a closing quote or bracket.
    has_trailing_text: bool,
}

impl DelimiterScanner<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(b'\n')
    }

    /// Whether a space or the end of the line follows the current character.
    fn space_follows(&self) -> bool {
        self.bytes.get(self.at + 1).is_none_or(u8::is_ascii_whitespace)
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    }

    /// Scans one line in block context, together with the lines that continue what it opens.
    fn line(&mut self, first_column: usize) {
        let line = self.at;
        let column_of = |at: usize| at - line + first_column;
        // The column of the innermost key or dash on this line: the lines of a block scalar are deeper.
        let mut parent = None;
        let mut token_start = true;
        while self.at < self.bytes.len() {
            match self.peek() {
                b'\n' => {
                    self.at += 1;
                    return;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' if self.at == line || self.bytes[self.at - 1].is_ascii_whitespace() => return self.skip_line(),
                b'-' | b'?' if token_start && self.space_follows() => {
                    parent = Some(column_of(self.at));
                    self.at += 1;
                }
                b'&' | b'!' if token_start => {
                    while !self.peek().is_ascii_whitespace() {
                        self.at += 1;
                    }
                }
                b'|' | b'>' if token_start => return self.block_scalar(parent),
                b'"' | b'\'' if token_start => {
                    let start = self.at;
                    if !self.quoted() {
                        return;
                    }
                    if self.key_follows() {
                        parent = Some(column_of(start));
                    } else {
                        token_start = false;
                        self.check_trailing();
                    }
                }
                b'[' | b'{' if token_start => {
                    if !self.flow() {
                        return;
                    }
                    token_start = self.key_follows();
                    if !token_start {
                        self.check_trailing();
                    }
                }
                b':' if self.space_follows() => {
                    // The value of `? key` begins a line.
                    parent = parent.or(Some(column_of(self.at)));
                    self.at += 1;
                    token_start = true;
                }
                _ => {
                    let start = self.at;
                    self.plain();
                    token_start = self.peek() == b':';
                    if token_start {
                        parent = Some(column_of(start));
                    }
                }
            }
        }
    }

    /// Skips a `:` that makes the scanned token a key.
    fn key_follows(&mut self) -> bool {
        let mut at = self.at;
        while matches!(self.bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        let is_key = self.bytes.get(at) == Some(&b':');
        if is_key {
            self.at = at + 1;
        }
        is_key
    }

    fn check_trailing(&mut self) {
        let next = self.bytes[self.at..].iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        self.has_trailing_text |= !matches!(next, None | Some(b'\n' | b'\r' | b'#'));
    }

    /// Skips a plain scalar up to `: `, ` #` or the end of the line.
    fn plain(&mut self) {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.peek() {
                b'\n' => return,
                b':' if self.space_follows() => return,
                b'#' if self.bytes[self.at - 1].is_ascii_whitespace() => return,
                _ => self.at += 1,
            }
        }
    }

    /// Skips a quoted scalar, which may span lines. False if it is not closed.
    fn quoted(&mut self) -> bool {
        let start = self.at;
        let quote = self.peek();
        self.at += 1;
        loop {
            let rest = &self.bytes[self.at..];
            let Some(next) = memchr::memchr3(quote, b'\\', b'\n', rest) else {
                self.at = self.bytes.len();
                self.found.quoted.push(QuotedSpan { start, end: self.at, double: quote == b'"' });
                self.found.open.push(OpenDelimiter { at: start, close: char::from(quote) });
                return false;
            };
            self.at += next;
            match self.peek() {
                b'\n' => {
                    self.at += 1;
                    self.found.continued.push(self.at);
                }
                b'\\' => self.at += if quote == b'"' && self.bytes.get(self.at + 1) != Some(&b'\n') { 2 } else { 1 },
                _ if quote == b'\'' && self.bytes.get(self.at + 1) == Some(&b'\'') => self.at += 2,
                _ => {
                    self.at += 1;
                    self.found.quoted.push(QuotedSpan { start, end: self.at, double: quote == b'"' });
                    return true;
                }
            }
            self.at = self.at.min(self.bytes.len());
        }
    }

    /// Skips a flow collection, which may span lines. False if it is not closed.
    fn flow(&mut self) -> bool {
        let mut stack: Vec<OpenDelimiter> = Vec::new();
        let mut token_start = true;
        while self.at < self.bytes.len() {
            match self.peek() {
                b'\n' => {
                    self.at += 1;
                    self.found.continued.push(self.at);
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' if self.bytes[self.at - 1].is_ascii_whitespace() => {
                    let rest = &self.bytes[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                open @ (b'[' | b'{') => {
                    stack.push(OpenDelimiter { at: self.at, close: if open == b'[' { ']' } else { '}' } });
                    self.at += 1;
                    token_start = true;
                }
                b']' | b'}' => {
                    // The parser reports a closing bracket of the wrong kind.
                    stack.pop();
                    self.at += 1;
                    token_start = false;
                    if stack.is_empty() {
                        return true;
                    }
                }
                b',' => {
                    self.at += 1;
                    token_start = true;
                }
                b':' => {
                    self.at += 1;
                    token_start = true;
                }
                b'"' | b'\'' if token_start => {
                    if !self.quoted() {
                        stack.append(&mut self.found.open);
                        break;
                    }
                    token_start = false;
                }
                _ => {
                    self.at += 1;
                    token_start = false;
                }
            }
        }
        self.found.open = stack;
        false
    }

    /// Skips a block scalar: its header, then every line that is empty or deeper than its parent.
    fn block_scalar(&mut self, parent: Option<usize>) {
        self.found.has_block_scalar = true;
        self.skip_line();
        while self.at < self.bytes.len() {
            let rest = &self.bytes[self.at..];
            let indent = rest.iter().take_while(|byte| **byte == b' ').count();
            let is_empty = rest.get(indent).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
            if !is_empty && parent.map_or(indent == 0, |parent| indent <= parent) {
                return;
            }
            self.found.continued.push(self.at);
            self.skip_line();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> String {
        scan_delimiters(text, 0).open.iter().map(|open| format!("{}{} ", open.at, open.close)).collect()
    }

    #[test]
    fn open_delimiters_are_found() {
        assert_eq!(open("a: \"x\nb: y\n"), "3\" ");
        assert_eq!(open("a: ['x', \"y\n"), "3] 9\" ");
        assert_eq!(open("a: it's\nb: \"x\" # don't\n"), "");
        assert_eq!(open("a: |\n  \"x [\nb: [\n"), "15] ");
        assert_eq!(open("- - {a: [b}\n"), "4} ");
        assert_eq!(open("a: {\n  \"b\": \"}\"\n}\nc: 'd\n\n  e'\n"), "");
        assert_eq!(open("a: \"\\\""), "3\" ");
        assert_eq!(open("a: \"\\"), "3\" ");
    }

    #[test]
    fn continued_lines_are_found() {
        let text = "a: |\n  x\n\n  y\nb: [\n1]\nc: 'x\ny'\nd: e\n";
        let scan = scan_delimiters(text, 0);
        let lines: Vec<_> = scan.continued.iter().map(|at| text[*at..].lines().next().unwrap_or_default()).collect();
        assert_eq!(lines, ["  x", "", "  y", "1]", "y'"]);
    }
}
