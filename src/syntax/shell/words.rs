//! Parses words and the bodies of here-documents: quotes, escapes and expansions.

use crate::syntax::shell::parser::{Parser, is_name};
use crate::syntax::shell::{ShellQuote, ShellWord, ShellWordPart, ShellWordPartKind};
use crate::text::Span;

impl Parser<'_> {
    /// Parses a word, which must not be empty in the text.
    pub(super) fn word(&mut self) -> Option<ShellWord> {
        let start = self.at;
        let mut parts = Vec::new();
        loop {
            let begin = self.at;
            let Some(next) = self.peek() else { break };
            match next {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    let inside = begin + 1;
                    let end = inside + self.text[inside..].find('\'')?;
                    self.at = end + 1;
                    parts.push(self.text_part(inside, end, ShellQuote::Single));
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut parts)?;
                }
                '\\' if self.take("\\\n") => {}
                '\\' => {
                    self.at += 1;
                    let escaped = self.peek()?;
                    self.at += escaped.len_utf8();
                    parts.push(part(ShellWordPartKind::Text(escaped.into()), begin, self.at, ShellQuote::Bare));
                }
                '$' => self.dollar(ShellQuote::Bare, &mut parts)?,
                '`' => self.backticks(ShellQuote::Bare, &mut parts)?,
                '~' if begin == start => {
                    self.at += 1;
                    parts.push(part(ShellWordPartKind::Unknown, begin, self.at, ShellQuote::Bare));
                }
                _ => {
                    let special = |it: char| " \t\n;&|<>()'\"\\$`".contains(it);
                    let length = self.text[begin..].find(special).unwrap_or(self.text.len() - begin);
                    self.at = begin + length;
                    parts.push(self.text_part(begin, self.at, ShellQuote::Bare));
                }
            }
        }
        if has_braces(&parts) || has_lone_dollar(&parts) {
            parts.insert(0, part(ShellWordPartKind::Unknown, start, start, ShellQuote::Bare));
        }
        // Only the value of `A=` may be empty.
        let is_value = start > 0 && self.text.as_bytes()[start - 1] == b'=';
        (self.at > start || is_value).then_some(ShellWord { parts, span: Span::new(start, self.at) })
    }

    fn text_part(&self, start: usize, end: usize, quote: ShellQuote) -> ShellWordPart {
        part(ShellWordPartKind::Text(self.text[start..end].to_owned()), start, end, quote)
    }

    fn double_quoted(&mut self, parts: &mut Vec<ShellWordPart>) -> Option<()> {
        // Empty quotes are a word too.
        parts.push(self.text_part(self.at, self.at, ShellQuote::Double));
        loop {
            let begin = self.at;
            match self.peek()? {
                '"' => {
                    self.at += 1;
                    return Some(());
                }
                '\\' if self.take("\\\n") => {}
                '\\' => self.escape("$`\"\\", ShellQuote::Double, parts)?,
                '$' => self.dollar(ShellQuote::Double, parts)?,
                '`' => self.backticks(ShellQuote::Double, parts)?,
                _ => {
                    self.at = begin + self.text[begin..].find(['"', '\\', '$', '`'])?;
                    parts.push(self.text_part(begin, self.at, ShellQuote::Double));
                }
            }
        }
    }

    /// Parses a backslash where only some characters can be escaped. Before others it is text.
    fn escape(&mut self, special: &str, quote: ShellQuote, parts: &mut Vec<ShellWordPart>) -> Option<()> {
        let begin = self.at;
        let next = self.text[begin + 1..].chars().next()?;
        if special.contains(next) {
            self.at += 1 + next.len_utf8();
            parts.push(part(ShellWordPartKind::Text(next.into()), begin, self.at, quote));
        } else {
            self.at += 1;
            parts.push(self.text_part(begin, self.at, quote));
        }
        Some(())
    }

    /// Parses an expansion, which begins with a dollar sign.
    fn dollar(&mut self, quote: ShellQuote, parts: &mut Vec<ShellWordPart>) -> Option<()> {
        let begin = self.at;
        self.at += 1;
        let kind = match self.peek() {
            Some('(') if self.starts_with("((") => {
                let inside = &self.text[self.at..];
                let length = inside.find("))")?;
                // An assignment would change a variable.
                if inside[..length].contains(['=', '$', '`', '\n'])
                    || ["++", "--"].iter().any(|it| inside[..length].contains(it))
                {
                    return None;
                }
                self.at += length + 2;
                // With inner parentheses, as in `$(( (1) ))`, the end is elsewhere.
                if inside[2..length].contains(['(', ')']) {
                    return None;
                }
                ShellWordPartKind::Unknown
            }
            Some('(') => {
                self.at += 1;
                let list = self.list(&[], Some(')'))?;
                self.at += 1;
                ShellWordPartKind::Command(list)
            }
            Some('{') => {
                self.at += 1;
                self.braced()?
            }
            Some(it) if it.is_ascii_alphabetic() || it == '_' => {
                ShellWordPartKind::Parameter { name: self.name()?, otherwise: None, also_for_empty: false }
            }
            Some(it) if "?$!@*#-0123456789".contains(it) => {
                self.at += 1;
                ShellWordPartKind::Unknown
            }
            // Only some shells know `$'…'` and `$"…"`.
            Some('\'' | '"') if quote == ShellQuote::Bare => ShellWordPartKind::Unknown,
            _ => ShellWordPartKind::Text("$".into()),
        };
        parts.push(part(kind, begin, self.at, quote));
        Some(())
    }

    /// Parses the rest of an expansion after `${`.
    fn braced(&mut self) -> Option<ShellWordPartKind> {
        let length = self.text[self.at..].find(|it: char| !it.is_ascii_alphanumeric() && it != '_')?;
        let name = self.text[self.at..self.at + length].to_owned();
        if !is_name(&name) {
            return None;
        }
        self.at += length;
        if self.take("}") {
            return Some(ShellWordPartKind::Parameter { name, otherwise: None, also_for_empty: false });
        }
        let also_for_empty = self.take(":-");
        if also_for_empty || self.take("-") {
            let start = self.at;
            let end = start + self.text[start..].find('}')?;
            // Only plain text: quotes and expansions have different rules here.
            let text = &self.text[start..end];
            if text.contains(['\'', '"', '\\', '$', '`', '~', '*', '?', '[', '{', '\n', ' ', '\t']) {
                return None;
            }
            let parts = vec![self.text_part(start, end, ShellQuote::Bare)];
            self.at = end + 1;
            let otherwise = Some(ShellWord { parts, span: Span::new(start, end) });
            return Some(ShellWordPartKind::Parameter { name, otherwise, also_for_empty });
        }
        // Assignments and errors change how the script runs; other operators only change the text.
        let end = self.at + self.text[self.at..].find('}')?;
        let rest = &self.text[self.at..end];
        if rest.starts_with([':', '=', '?']) && !rest.starts_with(":+")
            || rest.contains(['$', '`', '\'', '"', '\\', '{'])
        {
            return None;
        }
        self.at = end + 1;
        Some(ShellWordPartKind::Unknown)
    }

    fn backticks(&mut self, quote: ShellQuote, parts: &mut Vec<ShellWordPart>) -> Option<()> {
        let begin = self.at;
        let end = begin + 1 + self.text[begin + 1..].find('`')?;
        if self.text[begin + 1..end].contains(['\\', '"']) {
            return None;
        }
        let list = self.list_within(begin + 1, end)?;
        self.at = end + 1;
        parts.push(part(ShellWordPartKind::Command(list), begin, self.at, quote));
        Some(())
    }

    /// Parses the lines of a here-document and its delimiter.
    pub(super) fn document_body(
        &mut self,
        delimiter: &str,
        is_quoted: bool,
        strips_tabs: bool,
    ) -> Option<Vec<ShellWordPart>> {
        let mut parts = Vec::new();
        loop {
            if strips_tabs {
                while self.take("\t") {}
            }
            let line = self.text[self.at..].split('\n').next().unwrap_or_default();
            if line == delimiter {
                // The line break after the delimiter ends the line of the command.
                self.at += line.len();
                self.take("\n");
                return Some(parts);
            }
            let end = self.at + line.len();
            if end >= self.text.len() {
                return None;
            }
            if is_quoted {
                parts.push(self.text_part(self.at, end + 1, ShellQuote::Document));
                self.at = end + 1;
                continue;
            }
            // A substitution may span lines: the line ends at the first line break outside it.
            loop {
                let begin = self.at;
                match self.peek()? {
                    '\n' => {
                        self.at += 1;
                        parts.push(self.text_part(begin, self.at, ShellQuote::Document));
                        break;
                    }
                    // Shells differ in whether the delimiter may be part of a joined line.
                    '\\' if self.starts_with("\\\n") => return None,
                    '\\' => self.escape("$`\\", ShellQuote::Document, &mut parts)?,
                    '$' => self.dollar(ShellQuote::Document, &mut parts)?,
                    '`' => self.backticks(ShellQuote::Document, &mut parts)?,
                    _ => {
                        self.at = begin + self.text[begin..].find(['\n', '\\', '$', '`'])?;
                        parts.push(self.text_part(begin, self.at, ShellQuote::Document));
                    }
                }
            }
        }
    }
}

/// Whether a `$` that is only text is next to an expansion: Bash does not split such a word.
fn has_lone_dollar(parts: &[ShellWordPart]) -> bool {
    let bare = |it: &&ShellWordPart| it.quote == ShellQuote::Bare;
    let is_dollar =
        |it: &ShellWordPart| matches!(&it.kind, ShellWordPartKind::Text(text) if text == "$" && it.span.len() == 1);
    parts.iter().filter(bare).any(is_dollar)
        && parts.iter().filter(bare).any(|it| !matches!(it.kind, ShellWordPartKind::Text(_)))
}

/// Whether some shells expand it to several words: `{a,b}`, `{1..3}`.
fn has_braces(parts: &[ShellWordPart]) -> bool {
    let bare = parts.iter().filter(|it| it.quote == ShellQuote::Bare).filter_map(|it| match &it.kind {
        ShellWordPartKind::Text(text) if text.len() == it.span.len() => Some(text.as_str()),
        _ => None,
    });
    let joined: String = bare.collect();
    joined.find('{').is_some_and(|open| {
        let inside = &joined[open..];
        inside.contains('}') && (inside.contains(',') || inside.contains(".."))
    })
}

fn part(kind: ShellWordPartKind, start: usize, end: usize, quote: ShellQuote) -> ShellWordPart {
    ShellWordPart { kind, span: Span::new(start, end), quote }
}
