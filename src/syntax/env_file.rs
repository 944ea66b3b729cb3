//! Env files as the kubelet reads them for `fileKeyRef`: one key, looked up from the top.
//!
//! The kubelet stops at the first entry with the key, so a look-up does not read the rest of the file; only the proposal
//! reads the whole file (PF5). Messages never quote the file, since it may contain secrets.

mod proposed;

use std::borrow::Cow;

use crate::text::Span;

/// The syntax of an env file, which depends on the kubelet that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvFileDialect {
    /// The proposal: the common syntax of `.env` files. The last of equal names wins, and every name must be valid
    /// (PF6 to PF11).
    Proposed,
    /// Kubernetes 1.34, where the feature was alpha: `KEY=value` without quotes; `\` at the end of a line continues it on
    /// the next line.
    Unquoted,
    /// Kubernetes 1.35 and later: `KEY='value'` with mandatory quotes; the value may span several lines (F10–F16).
    Quoted,
}

impl EnvFileDialect {
    /// The dialect of Kubernetes 1.`minor`. Releases before env files get the oldest dialect.
    pub const fn for_kubernetes(minor: u32) -> Self {
        if minor < 35 { Self::Unquoted } else { Self::Quoted }
    }
}

/// PF11: the largest file that the proposal accepts.
const LARGEST_PROPOSED_FILE: usize = 64 * 1024;

/// Why the kubelet rejects a file. The container then does not start, even if the key is optional (F4).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct EnvFileError {
    /// The line, from 1.
    pub line: u32,
    /// The bytes at fault.
    pub span: Span,
    /// What is wrong.
    pub problem: EnvFileProblem,
}

/// What can be wrong in an env file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvFileProblem {
    /// A line without an assignment.
    #[error("missing `=`: expected `NAME=` and a value, a comment or an empty line")]
    NoEquals,
    /// No name before the `=`.
    #[error("missing name before `=`")]
    NoName,
    /// A space or tab before the `=`.
    #[error("space before `=`: write `=` directly after the name")]
    SpaceBeforeEquals,
    /// The value does not begin with a quote.
    #[error("the value is not in single quotes: write `NAME='value'`")]
    NotQuoted,
    /// The quote is still open at the end of the file.
    #[error("this single quote is never closed")]
    Unclosed,
    /// Other text than a comment after the closing quote.
    #[error("only a comment may follow the closing quote")]
    AfterQuote,
    /// An empty line after a line that ends with `\`.
    #[error("the line above ends with `\\` and continues here, but this line is empty")]
    EmptyContinuation,
    /// A comment after a line that ends with `\`.
    #[error("the line above ends with `\\` and continues here, but this line is a comment")]
    CommentContinuation,
    /// A `\` at the end of the last line.
    #[error("this line ends with `\\`, but no line follows")]
    UnfinishedContinuation,
    /// A line with more bytes than the kubelet reads.
    #[error("the line is longer than 65535 bytes")]
    LineTooLong,
    /// The requested key is too long for Kubernetes 1.34.
    #[error("the key is longer than 128 bytes, the limit of Kubernetes 1.34")]
    KeyTooLong,
    /// The value is too long for Kubernetes 1.34.
    #[error("the value is longer than 32 KiB, the limit of Kubernetes 1.34")]
    ValueTooLong,
    /// The file is larger than the proposal accepts.
    #[error("the file is larger than 64 KiB, the limit of the proposal")]
    FileTooLarge,
    /// The file begins with a byte order mark.
    #[error("the file begins with a byte order mark: save it without one")]
    ByteOrderMark,
    /// A name that a variable cannot have.
    #[error("this is not a valid variable name")]
    InvalidName,
}

impl EnvFileProblem {
    /// A stable name of the problem, which identifies a finding across runs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoEquals => "no-equals",
            Self::NoName => "no-name",
            Self::SpaceBeforeEquals => "space-before-equals",
            Self::NotQuoted => "not-quoted",
            Self::Unclosed => "unclosed",
            Self::AfterQuote => "after-quote",
            Self::EmptyContinuation => "empty-continuation",
            Self::CommentContinuation => "comment-continuation",
            Self::UnfinishedContinuation => "unfinished-continuation",
            Self::LineTooLong => "line-too-long",
            Self::KeyTooLong => "key-too-long",
            Self::ValueTooLong => "value-too-long",
            Self::FileTooLarge => "file-too-large",
            Self::ByteOrderMark => "byte-order-mark",
            Self::InvalidName => "invalid-name",
        }
    }

    /// Whether more text at the end of the file could fix it.
    pub const fn is_unfinished(self) -> bool {
        matches!(self, Self::Unclosed | Self::UnfinishedContinuation)
    }
}

/// The value of `key`. `None` if the file does not have the key or if its value is empty, which is the same to the kubelet
/// (F5). An error is returned only if the kubelet finds it before the key.
pub fn look_up_env_file_key(text: &str, key: &str, dialect: EnvFileDialect) -> Result<Option<String>, EnvFileError> {
    Ok(find_env_file_entry(text, key, dialect, |_| true)?.map(|entry| entry.value.into_owned()))
}

/// The entry that gives `key` its value, see [`look_up_env_file_key`]. `is_name` decides which names the proposal accepts.
pub fn find_env_file_entry<'t>(
    text: &'t str,
    key: &str,
    dialect: EnvFileDialect,
    is_name: fn(&str) -> bool,
) -> Result<Option<EnvFileEntry<'t>>, EnvFileError> {
    if dialect == EnvFileDialect::Proposed {
        return proposed::find(text, key, is_name);
    }
    // F7: 1.35 removed the limits.
    let limited = dialect == EnvFileDialect::Unquoted;
    if limited && key.len() > 128 {
        return Err(EnvFileError { line: 1, span: Span::default(), problem: EnvFileProblem::KeyTooLong });
    }
    let mut lines = SourceLines::new(text);
    loop {
        // F15: the first entry wins. F16: names are compared byte for byte.
        match next_entry(&mut lines, dialect)? {
            None => return Ok(None),
            Some(entry) if entry.name != key => {}
            Some(entry) if limited && entry.value.len() > 32 * 1024 => {
                return Err(EnvFileError { line: entry.line, span: entry.span, problem: EnvFileProblem::ValueTooLong });
            }
            Some(entry) => return Ok(Some(entry).filter(|entry| !entry.value.is_empty())),
        }
    }
}

/// After this many errors parsing stops.
const MOST_ERRORS: usize = 100;

/// All entries and errors of a file, for a person who edits it. After an error parsing continues with the next line.
pub fn parse_env_file<'t>(
    text: &'t str,
    dialect: EnvFileDialect,
    is_name: fn(&str) -> bool,
) -> (Vec<EnvFileEntry<'t>>, Vec<EnvFileError>) {
    read_lines(&mut SourceLines::new(text), dialect, is_name)
}

fn read_lines<'t>(
    lines: &mut SourceLines<'t>,
    dialect: EnvFileDialect,
    is_name: fn(&str) -> bool,
) -> (Vec<EnvFileEntry<'t>>, Vec<EnvFileError>) {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    if dialect == EnvFileDialect::Proposed {
        errors.extend(proposed::file_error(lines.text));
        lines.is_limited = false;
    }
    while errors.len() < MOST_ERRORS {
        let begin = (lines.at, lines.number);
        match next_entry(lines, dialect) {
            Ok(None) => break,
            Ok(Some(entry)) => {
                if dialect == EnvFileDialect::Proposed && !is_name(&entry.name) {
                    let problem = EnvFileProblem::InvalidName;
                    errors.push(EnvFileError { line: entry.line, span: entry.name_span, problem });
                }
                entries.push(entry);
            }
            Err(error) => {
                // A quote that is never closed consumed the lines after it: continue with the next line.
                if error.problem.is_unfinished() {
                    (lines.at, lines.number) = begin;
                    while lines.number < error.line && lines.next().is_some() {}
                }
                errors.push(error);
            }
        }
    }
    (entries, errors)
}

/// The comments of a file, each from its `#` to the end of its line: separate lines, and text after a closing quote. A
/// `#` in a value is not a comment.
pub fn env_file_comments(text: &str, dialect: EnvFileDialect) -> Vec<Span> {
    let mut lines = SourceLines { comments: Some(Vec::new()), ..SourceLines::new(text) };
    let (entries, _) = read_lines(&mut lines, dialect, |_| true);
    let mut found = lines.comments.unwrap_or_default();
    for entry in entries.iter().filter(|_| dialect == EnvFileDialect::Quoted) {
        let after = text[entry.value_span.end..entry.span.end].strip_prefix('\'').unwrap_or_default();
        let comment = after.trim_start_matches(SPACES);
        if comment.starts_with('#') {
            found.push(Span::new(entry.span.end - comment.len(), entry.span.end));
        }
    }
    found.sort();
    found
}

fn next_entry<'t>(
    lines: &mut SourceLines<'t>,
    dialect: EnvFileDialect,
) -> Result<Option<EnvFileEntry<'t>>, EnvFileError> {
    match dialect {
        EnvFileDialect::Proposed => proposed::entry(lines),
        EnvFileDialect::Unquoted => unquoted_entry(lines),
        EnvFileDialect::Quoted => quoted_entry(lines),
    }
}

/// One assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvFileEntry<'t> {
    /// The line it begins on, from 1.
    pub line: u32,
    /// From the name to the end of the last line.
    pub span: Span,
    /// Its name.
    pub name: Cow<'t, str>,
    /// The bytes of the name.
    pub name_span: Span,
    /// Its value.
    pub value: Cow<'t, str>,
    /// The bytes of the value, without quotes.
    pub value_span: Span,
}

/// The next entry in the syntax of 1.35 and later.
fn quoted_entry<'t>(lines: &mut SourceLines<'t>) -> Result<Option<EnvFileEntry<'t>>, EnvFileError> {
    let Some(first) = lines.next_meaningful()? else { return Ok(None) };
    let equals = first.text.find('=').ok_or_else(|| first.error(EnvFileProblem::NoEquals))?;
    // F12: all text before the `=` is the name, including `export ` and a byte order mark.
    let name = &first.text[..equals];
    if name.trim_end_matches(SPACES).is_empty() {
        return Err(first.error(EnvFileProblem::NoName));
    }
    if name.ends_with(SPACES) {
        return Err(first.error_in(name.trim_end_matches(SPACES).len()..equals, EnvFileProblem::SpaceBeforeEquals));
    }
    let value_start = first.start + equals + 1;
    let entry = |last: &SourceLine<'t>, value, value_span| EnvFileEntry {
        line: first.number,
        span: Span::new(first.start, last.end()),
        name: Cow::Borrowed(name),
        name_span: Span::new(first.start, first.start + equals),
        value,
        value_span,
    };
    let after_equals = &first.text[equals + 1..];
    if after_equals.starts_with(SPACES) {
        // F13: as in a shell, the space ends the assignment. The kubelet ignores the rest of the line.
        return Ok(Some(entry(&first, Cow::Borrowed(""), Span::new(value_start, value_start))));
    }
    let Some(opened) = after_equals.strip_prefix('\'') else {
        return Err(first.error_in(equals + 1..first.text.len(), EnvFileProblem::NotQuoted));
    };
    let unclosed = || first.error_in(equals + 1..first.text.len(), EnvFileProblem::Unclosed);

    // F14: up to the next quote, on this line or a later one, without escapes.
    let mut value = Cow::Borrowed("");
    let (mut line, mut rest) = (first, opened);
    loop {
        if let Some(close) = rest.find('\'') {
            append(&mut value, &rest[..close]);
            let after = rest[close + 1..].trim_start_matches(SPACES);
            if !after.is_empty() && !after.starts_with('#') {
                let from = line.text.len() - after.len();
                return Err(line.error_in(from..line.text.len(), EnvFileProblem::AfterQuote));
            }
            let end = line.end() - rest.len() + close;
            return Ok(Some(entry(&line, value, Span::new(value_start + 1, end))));
        }
        append(&mut value, rest);
        append(&mut value, "\n");
        // To the kubelet a line that is too long is the end of the file here.
        line = lines.next().and_then(Result::ok).ok_or_else(unclosed)?;
        rest = line.text;
    }
}

/// The next entry in the syntax of 1.34.
fn unquoted_entry<'t>(lines: &mut SourceLines<'t>) -> Result<Option<EnvFileEntry<'t>>, EnvFileError> {
    let Some(first) = lines.next_meaningful()? else { return Ok(None) };
    let mut last = first;
    let mut logical = Cow::Borrowed(first.text);
    if let Some(begun) = continued(first.text) {
        logical = Cow::Borrowed(begun);
        loop {
            let unfinished = || last.error(EnvFileProblem::UnfinishedContinuation);
            last = lines.next().and_then(Result::ok).ok_or_else(unfinished)?.trim_start();
            if last.text.is_empty() {
                return Err(last.error(EnvFileProblem::EmptyContinuation));
            }
            if last.text.starts_with('#') {
                return Err(last.error(EnvFileProblem::CommentContinuation));
            }
            append(&mut logical, " ");
            match continued(last.text) {
                Some(part) => append(&mut logical, part),
                None => {
                    append(&mut logical, last.text.trim_end_matches(SPACES));
                    break;
                }
            }
        }
    }
    // The kubelet reports errors of a joined line at its last line.
    let Some((name, value)) = proposed::split(logical) else { return Err(last.error(EnvFileProblem::NoEquals)) };
    if name.is_empty() {
        return Err(last.error(EnvFileProblem::NoName));
    }
    Ok(Some(joined_entry(first, last, name, value)))
}

/// An entry of one line or of several joined lines. Its spans are exact if the `=` is on the first line.
fn joined_entry<'t>(
    first: SourceLine<'t>,
    last: SourceLine<'t>,
    name: Cow<'t, str>,
    value: Cow<'t, str>,
) -> EnvFileEntry<'t> {
    let span = Span::new(first.start, last.end());
    let (name_span, value_span) = match first.text.find('=') {
        Some(equals) => {
            let name_end = first.start + first.text[..equals].trim_end().len();
            let spaces = first.text[equals + 1..].len() - first.text[equals + 1..].trim_start().len();
            let start = first.start + equals + 1 + spaces;
            let end = last.start + last.text.trim_end().len();
            (Span::new(first.start, name_end), Span::new(start.min(end), end))
        }
        None => (span, span),
    };
    EnvFileEntry { line: first.number, span, name, name_span, value, value_span }
}

/// The part of a line before the `\` that continues it.
fn continued(line: &str) -> Option<&str> {
    Some(line.trim_end_matches(SPACES).strip_suffix('\\')?.trim_end_matches(SPACES))
}

/// Appends text, without copying if the value is empty.
fn append<'t>(value: &mut Cow<'t, str>, text: &'t str) {
    if value.is_empty() {
        *value = Cow::Borrowed(text);
    } else if !text.is_empty() {
        value.to_mut().push_str(text);
    }
}

/// The characters that the kubelet trims: no other white space.
const SPACES: [char; 2] = [' ', '\t'];

/// A line without its line break.
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
        let text = self.text.trim_start_matches(SPACES);
        Self { start: self.end() - text.len(), text, ..self }
    }

    fn error(&self, problem: EnvFileProblem) -> EnvFileError {
        self.error_in(0..self.text.len(), problem)
    }

    /// An error about some bytes of the line.
    fn error_in(&self, bytes: std::ops::Range<usize>, problem: EnvFileProblem) -> EnvFileError {
        let span = Span::new(self.start + bytes.start, self.start + bytes.end);
        EnvFileError { line: self.number, span, problem }
    }
}

/// The lines as the kubelet divides them: at LF, without one CR before it (F10). A line over the limit is an error (F7).
struct SourceLines<'t> {
    text: &'t str,
    at: usize,
    number: u32,
    /// Whether the length of lines is limited: in the proposal only that of the file is (PF11).
    is_limited: bool,
    /// The comments between entries, if they are collected.
    comments: Option<Vec<Span>>,
}

impl<'t> SourceLines<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, number: 0, is_limited: true, comments: None }
    }

    /// The next line that is neither empty nor a comment, without leading spaces (F10, F11).
    fn next_meaningful(&mut self) -> Result<Option<SourceLine<'t>>, EnvFileError> {
        while let Some(line) = self.next() {
            let line = line?.trim_start();
            if line.text.starts_with('#') {
                self.comments.iter_mut().for_each(|it| it.push(Span::new(line.start, line.end())));
            } else if !line.text.is_empty() {
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
        Some(if self.is_limited && line.len() > 65535 {
            Err(found.error(EnvFileProblem::LineTooLong))
        } else {
            Ok(found)
        })
    }
}

#[cfg(test)]
mod tests;
