//! Parameter files: `NAME=value` lines for a template, read as `oc process --param-file` reads them.
//!
//! Errors do not quote the line, which may contain a secret.

use std::borrow::Cow;

use crate::text::Span;

/// A parameter file: its entries, and the lines that are not entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamFile {
    /// In text order. The last of equal names wins.
    pub entries: Vec<ParamFileEntry>,
    /// Lines without a separator.
    pub errors: Vec<ParamFileError>,
}

/// One line with a value.
#[derive(Clone, PartialEq, Eq)]
pub struct ParamFileEntry {
    /// The name of the parameter.
    pub name: String,
    /// The bytes of the name.
    pub name_span: Span,
    /// Its value.
    pub value: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// Does not show the value, which may be a secret.
impl std::fmt::Debug for ParamFileEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}=<{} bytes>", self.line, self.name, self.value.len())
    }
}

/// A line that is not an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamFileError {
    /// The line, counted from 1.
    pub line: usize,
    /// The bytes of the line.
    pub span: Span,
}

/// Parses a parameter file.
pub fn parse_param_file(text: &str) -> ParamFile {
    let mut file = ParamFile::default();
    let mut start = 0;
    for (at, whole) in text.split('\n').enumerate() {
        let row = whole.strip_suffix('\r').unwrap_or(whole);
        let trimmed = row.trim_matches([' ', '\t']);
        if !trimmed.is_empty() && !trimmed.starts_with('#') {
            match entry(row) {
                Some((name, offset, value)) => {
                    let name_start = start + offset;
                    let name_span = Span::new(name_start, name_start + name.len());
                    file.entries.push(ParamFileEntry { name: name.to_owned(), name_span, value, line: at + 1 });
                }
                None => {
                    let span = Span::new(start, start + row.len());
                    file.errors.push(ParamFileError { line: at + 1, span });
                }
            }
        }
        start += whole.len() + 1;
    }
    file
}

/// The name, its offset in the line, and the value.
fn entry(line: &str) -> Option<(&str, usize, String)> {
    let kept = without_comment(line);
    let separator = kept.find(['=', ':'])?;
    // Only text after the first `#` was removed, and no name is there: the beginning of the line is unchanged.
    let key = line.get(..separator)?;
    let key = key.strip_prefix("export").unwrap_or(key);
    let name = key.trim_matches(' ');
    let spaces = key.len() - key.trim_start_matches(' ').len();
    let offset = separator - key.len() + spaces;
    Some((name, offset, value(&kept[separator + 1..])))
}

/// The line up to a `#` outside quotes. The text between two `#` opens or closes a quote if it contains exactly one quote
/// of a kind.
fn without_comment(line: &str) -> Cow<'_, str> {
    if !line.contains('#') {
        return line.into();
    }
    let mut open = false;
    let mut kept: Vec<&str> = Vec::new();
    for part in line.split('#') {
        let count = |quote: char| part.matches(quote).count();
        if count('"') == 1 || count('\'') == 1 {
            if open {
                open = false;
                kept.push(part);
            } else {
                open = true;
            }
        }
        if kept.is_empty() || open {
            kept.push(part);
        }
    }
    kept.join("#").into()
}

/// The value without quotes. Escapes are replaced only in a quoted value.
fn value(text: &str) -> String {
    let text = text.trim_matches(' ');
    let quoted = |quote: char| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
    if !quoted('"') && !quoted('\'') {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    let mut characters = text[1..text.len() - 1].chars();
    while let Some(it) = characters.next() {
        if it != '\\' {
            result.push(it);
            continue;
        }
        match characters.next() {
            Some('n') => result.push('\n'),
            Some('r') => result.push('\r'),
            Some(other) => result.push(other),
            None => result.push('\\'),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_their_entries() {
        // A line and its entry; an empty text for a line that is skipped, `!` for an error.
        let table: &[(&str, &str)] = &[
            ("A=1", "A=1"),
            ("A = 1 ", "A=1"),
            ("A: 1", "A=1"),
            ("A: b=c", "A=b=c"),
            ("A=b:c", "A=b:c"),
            ("export A=1", "A=1"),
            ("A=", "A="),
            ("", ""),
            ("  \t", ""),
            ("# A=1", ""),
            ("  # A=1", ""),
            ("A=b#c", "A=b"),
            ("A=b # c", "A=b"),
            ("A='b#c'", "A=b#c"),
            ("A=\"b # c\" # d", "A=b # c"),
            ("A='b\\nc'", "A=b\nc"),
            ("A=\"b\\\"c\"", "A=b\"c"),
            ("A=b\\nc", "A=b\\nc"),
            ("A='b\"", "A='b\""),
            ("A=it's", "A=it's"),
            ("A='", "A='"),
            ("nothing", "!"),
            ("A=1\r", "A=1"),
        ];
        for (line, expected) in table {
            let file = parse_param_file(line);
            let shown = match (&file.entries[..], &file.errors[..]) {
                ([entry], []) => format!("{}={}", entry.name, entry.value),
                ([], [_]) => "!".into(),
                ([], []) => String::new(),
                _ => panic!("{line}: {file:?}"),
            };
            assert_eq!(shown, *expected, "{line}");
        }
    }

    #[test]
    fn spans_are_those_of_the_file() {
        let text = "# first\nexport  NAME = x\r\nbroken\nB: 1\n";
        let file = parse_param_file(text);
        let names: Vec<_> = file.entries.iter().map(|it| (&text[it.name_span.range()], it.line)).collect();
        assert_eq!(names, [("NAME", 2), ("B", 4)]);
        assert_eq!((&text[file.errors[0].span.range()], file.errors[0].line), ("broken", 3));
        assert!(!format!("{file:?}").contains("x\""), "values are not shown");
    }
}
