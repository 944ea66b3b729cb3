//! The env file syntax of the proposal: the common one of `.env` files, read as a whole (PF8).
//!
//! `NAME=value` with the spaces around both parts removed, comments from `#` at the beginning of a line, and `\` as the
//! last character of a line, which becomes a space and continues the line on the next one. Nothing is quoted or expanded.

use std::borrow::Cow;

use crate::syntax::env_file::{
    EnvFileEntry, EnvFileError, EnvFileProblem, LARGEST_PROPOSED_FILE, SourceLines, append, joined_entry,
};
use crate::text::Span;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The last entry with a name. An error anywhere in the file is returned for every name.
pub(super) fn find<'t>(
    text: &'t str,
    key: &str,
    is_name: fn(&str) -> bool,
) -> Result<Option<EnvFileEntry<'t>>, EnvFileError> {
    if let Some(error) = file_error(text) {
        return Err(error);
    }
    let mut lines = SourceLines { is_limited: false, ..SourceLines::new(text) };
    let mut found = None;
    while let Some(next) = entry(&mut lines)? {
        if !is_name(&next.name) {
            return Err(EnvFileError { line: next.line, span: next.name_span, problem: EnvFileProblem::InvalidName });
        }
        if next.name == key {
            found = Some(next);
        }
    }
    Ok(found)
}

/// An error of the file as a whole.
pub(super) fn file_error(text: &str) -> Option<EnvFileError> {
    if text.starts_with(BYTE_ORDER_MARK) {
        let span = Span::new(0, BYTE_ORDER_MARK.len_utf8());
        return Some(EnvFileError { line: 1, span, problem: EnvFileProblem::ByteOrderMark });
    }
    (text.len() > LARGEST_PROPOSED_FILE).then(|| {
        let mut at = LARGEST_PROPOSED_FILE;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let line = text[..at].bytes().filter(|it| *it == b'\n').count() + 1;
        let span = Span::new(at, text[at..].find('\n').map_or(text.len(), |end| at + end));
        EnvFileError { line: u32::try_from(line).unwrap_or(u32::MAX), span, problem: EnvFileProblem::FileTooLarge }
    })
}

/// The next entry.
pub(super) fn entry<'t>(lines: &mut SourceLines<'t>) -> Result<Option<EnvFileEntry<'t>>, EnvFileError> {
    let Some(first) = lines.next_meaningful()? else { return Ok(None) };
    let mut last = first;
    let mut logical = Cow::Borrowed(first.text);
    while let Some(begun) = last.text.strip_suffix('\\') {
        // Remove the backslash of the line that was appended last.
        match &mut logical {
            Cow::Borrowed(_) => logical = Cow::Borrowed(begun),
            Cow::Owned(text) => drop(text.pop()),
        }
        let Some(next) = lines.next() else { break };
        last = next?.trim_start();
        append(&mut logical, " ");
        append(&mut logical, last.text);
    }
    let Some((name, value)) = split(logical) else { return Err(first.error(EnvFileProblem::NoEquals)) };
    if name.is_empty() {
        return Err(first.error(EnvFileProblem::NoName));
    }
    Ok(Some(joined_entry(first, last, name, value)))
}

/// The name before the first `=` and the value after it, without the spaces around them.
pub(super) fn split(line: Cow<'_, str>) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    Some(match line {
        Cow::Borrowed(line) => {
            let (name, value) = line.split_once('=')?;
            (name.trim().into(), value.trim().into())
        }
        Cow::Owned(line) => {
            let (name, value) = line.split_once('=')?;
            (name.trim().to_owned().into(), value.trim().to_owned().into())
        }
    })
}
