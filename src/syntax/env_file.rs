//! Env files as the kubelet reads them for `fileKeyRef`: one key, looked up from the top.
//!
//! The kubelet stops at the first entry with the key, so what stands behind it cannot matter and is not read here
//! either. Messages never quote the file: it may hold secrets.

use std::borrow::Cow;

use crate::text::Span;

/// Which kubelet reads the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Kubernetes 1.34, where the feature was alpha: `KEY=value` with nothing quoted, `\` at the end of a line goes on
    /// on the next one.
    Unquoted,
    /// Kubernetes 1.35 and later: `KEY='value'`, the quotes a must, over several lines if need be (F10–F16).
    Quoted,
}

impl Dialect {
    /// The dialect of Kubernetes 1.`minor`. Older releases know no env files; the oldest dialect stands for them.
    pub const fn of_kubernetes(minor: u32) -> Self {
        if minor < 35 { Self::Unquoted } else { Self::Quoted }
    }
}

/// Why the kubelet refuses a file. The container does not start then, not even when the key is optional (F4).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct EnvFileError {
    /// The line, from 1.
    pub line: u32,
    /// The bytes at fault.
    pub span: Span,
    /// What is wrong with them.
    pub problem: Problem,
}

/// What can be wrong in an env file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A line that assigns nothing.
    #[error("no `=`: expected `NAME=` and a value, a comment or an empty line")]
    NoEquals,
    /// Nothing stands before the `=`.
    #[error("no name before the `=`")]
    NoName,
    /// A blank before the `=`.
    #[error("blank before the `=`: write the `=` directly behind the name")]
    BlankBeforeEquals,
    /// The value does not begin with a quote.
    #[error("the value is not in single quotes: write `NAME='value'`")]
    NotQuoted,
    /// The quote is still open at the end of the file.
    #[error("the single quote that opens here is never closed")]
    Unclosed,
    /// More than a comment behind the closing quote.
    #[error("only a comment may stand behind the closing quote")]
    AfterQuote,
    /// A line that was to be continued is followed by an empty one.
    #[error("an empty line where the line above is to be continued")]
    BlankContinuation,
    /// A line that was to be continued is followed by a comment.
    #[error("a comment where the line above is to be continued")]
    CommentContinuation,
    /// The file ends with a line that was to be continued.
    #[error("the file ends where this line is to be continued")]
    UnfinishedContinuation,
    /// More bytes in a line than the kubelet reads.
    #[error("the line is longer than 65535 bytes")]
    LineTooLong,
    /// The key asked for is too long for Kubernetes 1.34.
    #[error("the key is longer than 128 bytes, the limit of Kubernetes 1.34")]
    KeyTooLong,
    /// The value is too long for Kubernetes 1.34.
    #[error("the value is longer than 32 KiB, the limit of Kubernetes 1.34")]
    ValueTooLong,
}

/// The value of `key`, or nothing when the file has no such key or an empty value for it (F5: to the kubelet that is
/// the same). An error only if the kubelet meets it before the key.
pub fn lookup(text: &str, key: &str, dialect: Dialect) -> Result<Option<String>, EnvFileError> {
    // F7: the limits went with 1.35.
    let limited = dialect == Dialect::Unquoted;
    if limited && key.len() > 128 {
        return Err(EnvFileError { line: 1, span: Span::default(), problem: Problem::KeyTooLong });
    }
    let mut lines = SourceLines::new(text);
    loop {
        let entry = match dialect {
            Dialect::Unquoted => unquoted_entry(&mut lines)?,
            Dialect::Quoted => quoted_entry(&mut lines)?,
        };
        // F15: the first entry wins. F16: names are compared byte for byte.
        match entry {
            None => return Ok(None),
            Some(entry) if entry.name != key => {}
            Some(entry) if limited && entry.value.len() > 32 * 1024 => {
                return Err(EnvFileError { line: entry.line, span: entry.span, problem: Problem::ValueTooLong });
            }
            Some(entry) => return Ok(Some(entry.value.into_owned()).filter(|value| !value.is_empty())),
        }
    }
}

/// One assignment.
struct Entry<'t> {
    /// The line it begins on, from 1.
    line: u32,
    /// From the name to the end of the last line.
    span: Span,
    name: Cow<'t, str>,
    value: Cow<'t, str>,
}

/// The next entry of the syntax of 1.35, which has stayed the same since.
fn quoted_entry<'t>(lines: &mut SourceLines<'t>) -> Result<Option<Entry<'t>>, EnvFileError> {
    let Some(first) = lines.next_meaningful()? else { return Ok(None) };
    let equals = first.text.find('=').ok_or_else(|| first.error(Problem::NoEquals))?;
    // F12: whatever stands before the `=` is the name, `export ` and a byte order mark included.
    let name = &first.text[..equals];
    if name.trim_end_matches(BLANKS).is_empty() {
        return Err(first.error(Problem::NoName));
    }
    if name.ends_with(BLANKS) {
        return Err(first.error_in(name.trim_end_matches(BLANKS).len()..equals, Problem::BlankBeforeEquals));
    }
    let entry = |last: &SourceLine<'t>, value| Entry {
        line: first.number,
        span: Span::new(first.start, last.end()),
        name: Cow::Borrowed(name),
        value,
    };
    let after_equals = &first.text[equals + 1..];
    if after_equals.starts_with(BLANKS) {
        // F13: as in a shell, the blank ends the assignment. The kubelet looks at nothing behind it.
        return Ok(Some(entry(&first, Cow::Borrowed(""))));
    }
    let Some(opened) = after_equals.strip_prefix('\'') else {
        return Err(first.error_in(equals + 1..first.text.len(), Problem::NotQuoted));
    };
    let unclosed = || first.error_in(equals + 1..first.text.len(), Problem::Unclosed);

    // F14: up to the next quote, over lines, without escapes.
    let mut value = Cow::Borrowed("");
    let (mut line, mut rest) = (first, opened);
    loop {
        if let Some(close) = rest.find('\'') {
            append(&mut value, &rest[..close]);
            let behind = rest[close + 1..].trim_start_matches(BLANKS);
            if !behind.is_empty() && !behind.starts_with('#') {
                let from = line.text.len() - behind.len();
                return Err(line.error_in(from..line.text.len(), Problem::AfterQuote));
            }
            return Ok(Some(entry(&line, value)));
        }
        append(&mut value, rest);
        append(&mut value, "\n");
        // A line that is too long looks to the kubelet like the end of the file here.
        line = lines.next().and_then(Result::ok).ok_or_else(unclosed)?;
        rest = line.text;
    }
}

/// The next entry of the syntax of 1.34.
fn unquoted_entry<'t>(lines: &mut SourceLines<'t>) -> Result<Option<Entry<'t>>, EnvFileError> {
    let Some(first) = lines.next_meaningful()? else { return Ok(None) };
    let mut last = first;
    let mut logical = Cow::Borrowed(first.text);
    if let Some(begun) = continued(first.text) {
        logical = Cow::Borrowed(begun);
        loop {
            let unfinished = || last.error(Problem::UnfinishedContinuation);
            last = lines.next().and_then(Result::ok).ok_or_else(unfinished)?.trim_start();
            if last.text.is_empty() {
                return Err(last.error(Problem::BlankContinuation));
            }
            if last.text.starts_with('#') {
                return Err(last.error(Problem::CommentContinuation));
            }
            append(&mut logical, " ");
            match continued(last.text) {
                Some(part) => append(&mut logical, part),
                None => {
                    append(&mut logical, last.text.trim_end_matches(BLANKS));
                    break;
                }
            }
        }
    }
    // The kubelet counts a joined line where it ends, so its errors stand there too.
    let (name, value) = match logical {
        Cow::Borrowed(line) => {
            let (name, value) = line.split_once('=').ok_or_else(|| last.error(Problem::NoEquals))?;
            (Cow::Borrowed(name.trim()), Cow::Borrowed(value.trim()))
        }
        Cow::Owned(line) => {
            let (name, value) = line.split_once('=').ok_or_else(|| last.error(Problem::NoEquals))?;
            (Cow::Owned(name.trim().to_owned()), Cow::Owned(value.trim().to_owned()))
        }
    };
    if name.is_empty() {
        return Err(last.error(Problem::NoName));
    }
    Ok(Some(Entry { line: first.number, span: Span::new(first.start, last.end()), name, value }))
}

/// The part of a line before the `\` that continues it.
fn continued(line: &str) -> Option<&str> {
    Some(line.trim_end_matches(BLANKS).strip_suffix('\\')?.trim_end_matches(BLANKS))
}

/// Adds text, without copying while there is nothing to add it to.
fn append<'t>(value: &mut Cow<'t, str>, text: &'t str) {
    if value.is_empty() {
        *value = Cow::Borrowed(text);
    } else if !text.is_empty() {
        value.to_mut().push_str(text);
    }
}

/// What the kubelet trims: no other white space.
const BLANKS: [char; 2] = [' ', '\t'];

/// A line without its end.
#[derive(Clone, Copy)]
struct SourceLine<'t> {
    /// From 1.
    number: u32,
    /// The offset of its first byte.
    start: usize,
    text: &'t str,
}

impl SourceLine<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn trim_start(self) -> Self {
        let text = self.text.trim_start_matches(BLANKS);
        Self { start: self.end() - text.len(), text, ..self }
    }

    fn error(&self, problem: Problem) -> EnvFileError {
        self.error_in(0..self.text.len(), problem)
    }

    /// An error about some bytes of the line.
    fn error_in(&self, bytes: std::ops::Range<usize>, problem: Problem) -> EnvFileError {
        let span = Span::new(self.start + bytes.start, self.start + bytes.end);
        EnvFileError { line: self.number, span, problem }
    }
}

/// Lines as the kubelet cuts them: at LF, less one CR before it (F10), and none over the limit (F7).
struct SourceLines<'t> {
    text: &'t str,
    at: usize,
    number: u32,
}

impl<'t> SourceLines<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, number: 0 }
    }

    /// The next line that is neither empty nor a comment, without the blanks before it (F10, F11).
    fn next_meaningful(&mut self) -> Result<Option<SourceLine<'t>>, EnvFileError> {
        for line in self {
            let line = line?.trim_start();
            if !line.text.is_empty() && !line.text.starts_with('#') {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

impl<'t> Iterator for SourceLines<'t> {
    type Item = Result<SourceLine<'t>, EnvFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let (line, taken) = match rest.find('\n') {
            Some(end) => (&rest[..end], end + 1),
            None => (rest, rest.len()),
        };
        self.number += 1;
        let start = self.at;
        self.at += taken;
        let text = line.strip_suffix('\r').unwrap_or(line);
        let found = SourceLine { number: self.number, start, text };
        Some(if line.len() > 65535 { Err(found.error(Problem::LineTooLong)) } else { Ok(found) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of `K`, `-` when it is not found, or the line and kind of the error.
    fn answer(text: &str, dialect: Dialect) -> String {
        match lookup(text, "K", dialect) {
            Ok(Some(value)) => format!("={value}"),
            Ok(None) => "-".to_owned(),
            Err(error) => {
                assert!(text.get(error.span.range()).is_some(), "{text:?}: {error:?} lies outside");
                format!("{} {:?}", error.line, error.problem)
            }
        }
    }

    fn check(dialect: Dialect, cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(answer(text, dialect), *expected, "{text:?}");
        }
    }

    #[test]
    fn from_1_35_on_values_are_quoted() {
        check(
            Dialect::Quoted,
            &[
                ("K='v'", "=v"),
                ("K='v'\n", "=v"),
                ("", "-"),
                ("J='v'\n", "-"),
                ("k='v'\n", "-"),                           // F16
                ("K='a\"$(X)\\'\n", "=a\"$(X)\\"),          // F14: nothing is special in quotes
                ("\t  K='v'\r\n", "=v"),                    // F10
                ("\u{a0}K='v'\n", "-"),                     // F10: only blanks and tabs are trimmed
                ("\n  \t\n# K='no'\n  # x\nK='v'\n", "=v"), // F11
                ("K\n", "1 NoEquals"),
                ("\n='v'\n", "2 NoName"),
                ("  ='v'\n", "1 NoName"),
                ("K ='v'\n", "1 BlankBeforeEquals"),
                ("J\t='v'\nK='v'\n", "1 BlankBeforeEquals"),
                ("export K='v'\n", "-"), // F12: its name is `export K`
                ("\u{feff}K='v'\n", "-"),
                ("'K'='v'\n", "-"),
                ("J= oops '\nK='v'\n", "=v"), // F13
                ("K= 'v'\n", "-"),
                ("K=\n", "1 NotQuoted"),
                ("K=\r\n", "1 NotQuoted"),
                ("K=v\n", "1 NotQuoted"),
                ("K=\"v\"\n", "1 NotQuoted"),
                ("K='a=b'\n", "=a=b"),
                ("K='a\n b\n\n# c'\n", "=a\n b\n\n# c"), // F14
                ("K='a\r\nb'\r\n", "=a\nb"),
                ("K='\n'\n", "=\n"),
                ("K='v' \t# note\n", "=v"),
                ("K='v'# note\n", "=v"),
                ("K='v' x\n", "1 AfterQuote"),
                ("K='a''b'\n", "1 AfterQuote"),
                ("\nK='a\nb' x\n", "3 AfterQuote"),
                ("\nK='a\nb\n", "2 Unclosed"),
                ("K='1'\nK='2'\n", "=1"), // F15
                ("K='1'\nbroken\n", "=1"),
                ("broken\nK='1'\n", "1 NoEquals"),
                ("K=''\nK='2'\n", "-"), // F5, and still the first one counts
            ],
        );
    }

    #[test]
    fn in_1_34_values_are_bare() {
        check(
            Dialect::Unquoted,
            &[
                ("K=v", "=v"),
                ("  K \t=  v w \t\r\n", "=v w"),
                ("K='v'\n", "='v'"),
                ("K=a # b\n", "=a # b"),
                ("K=a=b\n", "=a=b"),
                ("# K=no\n\n  \nK=v\n", "=v"),
                ("K=a \\\n   b\\ \n\tc\n", "=a b c"),
                ("K\\\n=v\n", "=v"), // the name may be cut too
                ("K=a\\\n\nb\n", "2 BlankContinuation"),
                ("K=a\\\n # b\n", "2 CommentContinuation"),
                ("J=1\nK=a\\\n", "2 UnfinishedContinuation"),
                ("\\\nK=v\n", "=v"),
                ("K\n", "1 NoEquals"),
                ("a \\\nb\n", "2 NoEquals"),
                (" = v\n", "1 NoName"),
                ("K=1\nK=2\n", "=1"),
                ("K=1\nbroken\n", "=1"),
                ("K=\n", "-"),
                ("export K=1\n", "-"),
            ],
        );
    }

    #[test]
    fn limits_follow_the_release() {
        let value = "v".repeat(32 * 1024);
        let long_key = "k".repeat(129);
        assert_eq!(answer(&format!("K={value}\n"), Dialect::Unquoted), format!("={value}"));
        assert_eq!(answer(&format!("K={value}v\n"), Dialect::Unquoted), "1 ValueTooLong");
        assert!(lookup("", &long_key, Dialect::Unquoted).is_err());
        assert_eq!(lookup(&format!("{long_key}='v'"), &long_key, Dialect::Quoted), Ok(Some("v".to_owned())));

        // F7: a line has at most 65535 bytes in every release, a value over several lines may have more.
        let longest = format!("K='{}'", "v".repeat(65535 - 4));
        assert_eq!(answer(&longest, Dialect::Quoted).len(), 65535 - 3);
        assert_eq!(answer(&format!("# {longest}\n"), Dialect::Quoted), "1 LineTooLong");
        assert_eq!(answer(&format!("{longest}\r\n"), Dialect::Quoted), "1 LineTooLong");
        let line = "v".repeat(65535);
        assert_eq!(answer(&format!("K='\n{line}\n{line}\n'"), Dialect::Quoted).len(), 1 + 3 + 2 * 65535);
        assert_eq!(answer(&format!("K='\n{line}v\n'"), Dialect::Quoted), "1 Unclosed");
        assert_eq!(answer(&format!("K='v'\n{line}v\n"), Dialect::Quoted), "=v");
    }

    #[test]
    fn the_release_picks_the_dialect() {
        assert_eq!(Dialect::of_kubernetes(34), Dialect::Unquoted);
        assert_eq!(Dialect::of_kubernetes(35), Dialect::Quoted);
        assert_eq!(Dialect::of_kubernetes(37), Dialect::Quoted);
    }

    #[test]
    fn errors_point_at_the_fault_and_quote_nothing() {
        let text = "A='1'\nPASSWORD='hunter2' oops\n";
        let error = lookup(text, "K", Dialect::Quoted).expect_err("what follows the quote is refused");
        assert_eq!(&text[error.span.range()], "oops");
        assert_eq!(error.to_string(), "line 2: only a comment may stand behind the closing quote");
    }
}
