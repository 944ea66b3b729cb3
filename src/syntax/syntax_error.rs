//! Syntax errors and their messages.
//!
//! Errors are stored with the chunk in which they were found, so nothing in them may depend on the position of the
//! chunk or on the text of other chunks. A message that names another line is therefore completed in two steps: the
//! sibling of a wrongly indented line is looked up when errors are collected from the tree, its line number when the
//! message is written.

use std::borrow::Cow;
use std::fmt;

use crate::syntax::green::{ChunkedBlock, GreenEntry};
use crate::text::{LineIndex, Span};

/// Text that is not valid YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The bytes at fault. In the errors of a tree or document, offsets of the file.
    pub span: Span,
    /// The kind of the mistake, which does not depend on the wording of the message.
    pub kind: SyntaxErrorKind,
    text: MessageText,
    /// Whether another error already reports the same mistake: it marks the text as broken, but is not reported.
    pub(super) implied: bool,
}

/// The kinds of syntax errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// A key without `:`.
    MissingColon,
    /// A member of a flow collection without `,` after it.
    MissingComma,
    /// A `:` without a space after it.
    MissingSpace,
    /// A quote or bracket that is never closed.
    Unclosed,
    /// A line whose indentation differs from that of its siblings.
    Indentation,
    /// A tab in the indentation.
    Tab,
    /// A line that does not belong to any key.
    Stray,
    /// A marker of an unresolved merge conflict.
    MergeConflict,
    /// A second document without `---` before it.
    SecondDocument,
    /// An alias without an anchor before it.
    UndefinedAlias,
    /// A NUL byte.
    NulByte,
    /// Any other text that cannot be parsed.
    Unreadable,
}

impl SyntaxErrorKind {
    /// A stable name of the kind, which identifies a finding across runs.
    pub fn code(self) -> &'static str {
        match self {
            Self::MissingColon => "missing-colon",
            Self::MissingComma => "missing-comma",
            Self::MissingSpace => "missing-space",
            Self::Unclosed => "unclosed",
            Self::Indentation => "indentation",
            Self::Tab => "tab",
            Self::Stray => "stray",
            Self::MergeConflict => "merge-conflict",
            Self::SecondDocument => "second-document",
            Self::UndefinedAlias => "undefined-alias",
            Self::NulByte => "nul-byte",
            Self::Unreadable => "unreadable",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum MessageText {
    Complete(Cow<'static, str>),
    Misindented(Misindented),
}

/// A line that is not indented like the members of its block.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Misindented {
    /// What the message calls it: its key, if it has one.
    subject: Cow<'static, str>,
    column: usize,
    expected: usize,
    /// A correctly indented member of the same block. Unknown until errors are collected if it is in another chunk.
    sibling: Option<Sibling>,
}

/// A member of a block that is indented correctly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sibling {
    /// Its key, if it has one.
    name: Option<Box<str>>,
    /// Its first byte, relative to the same base as the span of the error.
    offset: usize,
}

impl Sibling {
    pub(super) fn new(name: Option<&str>, offset: usize) -> Self {
        Self { name: name.and_then(quotable).map(Box::from), offset }
    }
}

/// A key that is short enough to be quoted in a message.
pub(super) fn quotable(name: &str) -> Option<&str> {
    (name.len() <= 60).then_some(name)
}

impl SyntaxError {
    pub(super) fn new(span: Span, kind: SyntaxErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { span, kind, text: MessageText::Complete(message.into()), implied: false }
    }

    /// A line at `column` whose siblings are at column `expected`.
    pub(super) fn misindented(
        span: Span,
        subject: Cow<'static, str>,
        column: usize,
        expected: usize,
        sibling: Option<Sibling>,
    ) -> Self {
        let text = MessageText::Misindented(Misindented { subject, column, expected, sibling });
        Self { span, kind: SyntaxErrorKind::Indentation, text, implied: false }
    }

    /// A bracket or quote that is never closed.
    pub(super) fn never_closed(at: usize, opener: char) -> Self {
        let message = match opener {
            '"' | '\'' => "this quote is never closed",
            '[' => "this `[` is never closed",
            _ => "this `{` is never closed",
        };
        Self::new(Span::new(at, at + 1), SyntaxErrorKind::Unclosed, message)
    }

    /// An alias without an anchor before it.
    pub(super) fn undefined_alias(span: Span, name: &str) -> Self {
        let message = match quotable(name) {
            Some(name) => {
                format!("`*{name}` is an alias, and no anchor `&{name}` is before it: quote it if it is text")
            }
            None => "this alias has no anchor before it: quote it if it is text".to_owned(),
        };
        Self::new(span, SyntaxErrorKind::UndefinedAlias, message)
    }

    /// A NUL byte.
    pub(super) fn nul_byte(at: usize) -> Self {
        let message = "a NUL byte is not allowed in YAML: remove it, or save the file as UTF-8";
        Self::new(Span::new(at, at + 1), SyntaxErrorKind::NulByte, message)
    }

    pub(super) fn implied(self) -> Self {
        Self { implied: true, ..self }
    }

    pub(super) fn shifted(&self, by: usize) -> Self {
        let mut shifted = self.clone();
        shifted.span = self.span.shifted(by);
        if let MessageText::Misindented(Misindented { sibling: Some(sibling), .. }) = &mut shifted.text {
            sibling.offset += by;
        }
        shifted
    }

    /// What is wrong, with the numbers of other lines. `lines` are those of the text that the error is about.
    pub fn message(&self, lines: &LineIndex) -> String {
        self.message_with(|offset| format!(" (line {})", lines.line_column(offset).line))
    }

    fn message_with(&self, line: impl Fn(usize) -> String) -> String {
        let it = match &self.text {
            MessageText::Complete(message) => return message.to_string(),
            MessageText::Misindented(it) => it,
        };
        let Misindented { subject, column, expected, .. } = it;
        match &it.sibling {
            Some(Sibling { name, offset }) => {
                let name = name.as_ref().map_or(String::new(), |name| format!(" `{name}`"));
                format!("{subject} is indented by {column}, its sibling{name}{} by {expected}", line(*offset))
            }
            None => format!("{subject} is indented by {column}, expected {expected}"),
        }
    }
}

/// What is wrong, without the numbers of other lines.
impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message_with(|_| String::new()))
    }
}

/// The errors of a chunk, relative to its block. `entries` are the members of a mapping, in which siblings that are in
/// other chunks are looked up.
pub(super) fn chunk_errors<'b>(
    block: &'b ChunkedBlock,
    index: usize,
    entries: &'b [GreenEntry],
) -> impl Iterator<Item = SyntaxError> + 'b {
    let chunk = &block.chunks[index];
    chunk.errors.iter().map(move |error| {
        let mut error = error.shifted(chunk.offset as usize);
        if let MessageText::Misindented(Misindented { sibling: sibling @ None, .. }) = &mut error.text {
            *sibling = nearest_sibling(block, index, entries);
        }
        error
    })
}

/// The nearest chunk with the column of its block: before a chunk, or else after it.
fn nearest_sibling(block: &ChunkedBlock, index: usize, entries: &[GreenEntry]) -> Option<Sibling> {
    let is_correct = |at: &usize| block.chunks[*at].column == block.column;
    let found = (0..index).rev().find(is_correct).or_else(|| (index + 1..block.chunks.len()).find(is_correct))?;
    let first_member: usize = block.chunks[..found].iter().map(|chunk| chunk.member_count as usize).sum();
    let first = entries.get(first_member).filter(|_| block.chunks[found].member_count > 0);
    Some(Sibling::new(first.and_then(|entry| entry.key.node.key_text()), block.chunks[found].offset as usize))
}

#[cfg(test)]
mod tests {
    use crate::syntax::parse;
    use crate::text::{Buffer, LineIndex, Span};

    fn messages(text: &str) -> Vec<String> {
        let lines = LineIndex::new(text);
        parse(text).errors().iter().map(|error| error.message(&lines)).collect()
    }

    #[test]
    fn a_misindented_line_is_compared_with_its_sibling() {
        for (text, expected) in [
            ("env:\n  - name: A\n   value: b\n", "`value` is indented by 3, its sibling `name` (line 2) by 4"),
            ("a: 1\nb: 2\n c: 3\nd: 4\n", "`c` is indented by 1, its sibling `b` (line 2) by 0"),
            ("  a: 1\nb: 2\nc: 3\n", "`a` is indented by 2, its sibling `b` (line 2) by 0"),
            ("k:\n  - a\n  - b\n - c\n", "this list item is indented by 1, its sibling (line 3) by 2"),
        ] {
            assert_eq!(messages(text), [expected], "{text}");
        }
    }

    /// Errors are stored with their chunk, so the line and the name of a sibling elsewhere must not be stored with them.
    #[test]
    fn an_edit_elsewhere_updates_the_line_and_the_name_of_the_sibling() {
        let filler = |name: &str| -> String { (0..40).map(|index| format!("{name}{index}: value\n")).collect() };
        let text = format!("{}sibling: 1\n wrong: 2\n{}", filler("before"), filler("after"));
        let mut buffer = Buffer::new(&text, 0);
        let mut tree = parse(&text);
        let edits = [("before3:", "# a comment\nbefore3:"), ("sibling", "renamed"), ("before30: value\n", "")];
        let expected = [("sibling", 42), ("renamed", 42), ("renamed", 41)];
        for ((old, new), (name, line)) in edits.into_iter().zip(expected) {
            let start = buffer.to_string().find(old).expect("the text is there");
            let change = buffer.edit(Span::new(start, start + old.len()), new);
            tree = tree.reparse(change, &buffer);
            let lines = LineIndex::new(&buffer.to_string());
            let found: Vec<_> = tree.errors().iter().map(|error| error.message(&lines)).collect();
            assert_eq!(found, [format!("`wrong` is indented by 1, its sibling `{name}` (line {line}) by 0")]);
        }
    }
}
