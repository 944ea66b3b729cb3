//! Puts `${P}` between brackets in quotes: without quotes its braces are flow brackets, and the YAML is invalid.

use crate::syntax::documents::parse;
use crate::syntax::edit::TextEdit;
use crate::syntax::references::template_parameters;
use crate::text::Span;

/// How many characters of a collection are examined.
const LONGEST_COLLECTION: usize = 20_000;

/// The edits that put quotes around the scalars with parameters in the collection that begins at an offset. `None` if
/// there are none, or if the collection is not valid with them either.
pub fn quote_parameters(text: &str, start: usize) -> Option<Vec<TextEdit>> {
    let end = text[start..].char_indices().map(|(at, _)| start + at).nth(LONGEST_COLLECTION).unwrap_or(text.len());
    let mut scanner = FlowScanner { text: &text[..end], at: start, edits: Vec::new() };
    let close = scanner.collection()?;
    let edits = scanner.edits;
    let mut after = text[start..close].to_owned();
    for edit in edits.iter().rev() {
        after.replace_range(edit.span.start - start..edit.span.end - start, &edit.text);
    }
    (!edits.is_empty() && parse(&after).errors().is_empty()).then_some(edits)
}

struct FlowScanner<'t> {
    text: &'t str,
    at: usize,
    edits: Vec<TextEdit>,
}

impl FlowScanner<'_> {
    /// Scans from an opening bracket to its closing one and returns the end of that.
    fn collection(&mut self) -> Option<usize> {
        let mut depth = 0_usize;
        loop {
            let rest = &self.text[self.at..];
            match rest.chars().next()? {
                '[' | '{' => depth += 1,
                ']' | '}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(self.at + 1);
                    }
                }
                '"' | '\'' => {
                    self.at += quoted(rest)?;
                    continue;
                }
                '#' => {
                    self.at += rest.find('\n')?;
                    continue;
                }
                ',' | ':' | ' ' | '\t' | '\r' | '\n' => {}
                _ if depth == 0 => return None,
                _ => {
                    self.plain();
                    continue;
                }
            }
            self.at += 1;
        }
    }

    /// Scans a plain scalar between brackets. The braces of parameters do not end it.
    fn plain(&mut self) {
        let rest = &self.text[self.at..];
        let mut end = 0;
        let mut references = template_parameters(rest).map(|it| it.range).peekable();
        let mut has_reference = false;
        while let Some(it) = rest[end..].chars().next() {
            while references.next_if(|it| it.end <= end).is_some() {}
            if let Some(range) = references.peek().filter(|it| it.start == end) {
                (end, has_reference) = (range.end, true);
                continue;
            }
            let next = rest[end + it.len_utf8()..].chars().next();
            let ends_key = it == ':' && next.is_none_or(|it| it.is_whitespace() || "[]{},".contains(it));
            let ends_in_comment = it == '#' && rest[..end].ends_with([' ', '\t']);
            if ends_key || ends_in_comment || matches!(it, ',' | '[' | ']' | '{' | '}' | '\n' | '\r') {
                break;
            }
            end += it.len_utf8();
        }
        let written = rest[..end].trim_end();
        if has_reference {
            let text = if written.contains(['"', '\\']) {
                format!("'{}'", written.replace('\'', "''"))
            } else {
                format!("\"{written}\"")
            };
            self.edits.push(TextEdit { span: Span::new(self.at, self.at + written.len()), text });
        }
        // Continue after at least one character.
        self.at += end.max(rest.chars().next().map_or(0, char::len_utf8));
    }
}

/// The length of a quoted scalar, quotes included.
fn quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, it)) = characters.next() {
        if it == '\\' && quote == '"' {
            characters.next();
        } else if it == quote {
            if quote == '\'' && characters.next_if(|(_, next)| *next == '\'').is_some() {
                continue;
            }
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_between_brackets_get_quotes() {
        for (text, expected) in [
            ("[${A}, b]", Some("[\"${A}\", b]")),
            ("{x: ${{A}}, 'y': 'it''s ${A}'}", Some("{x: \"${{A}}\", 'y': 'it''s ${A}'}")),
            ("{${A}: 1, b: [a-${A}-b, \"${A}\"]}", Some("{\"${A}\": 1, b: [\"a-${A}-b\", \"${A}\"]}")),
            ("{a: http://${A}:80/${B} }", Some("{a: \"http://${A}:80/${B}\" }")),
            ("[ # ${A}\n  a\\${A}, b]", Some("[ # ${A}\n  'a\\${A}', b]")),
            ("[${A:-x}]", None),
            ("[a, b]", None),
            ("[${A}, b", None),
            ("${A}", None),
            ("[${A}, \"b]", None),
        ] {
            let after = quote_parameters(text, 0).map(|edits| {
                let mut after = text.to_owned();
                for edit in edits.iter().rev() {
                    after.replace_range(edit.span.range(), &edit.text);
                }
                after
            });
            assert_eq!(after.as_deref(), expected, "{text}");
        }
    }
}
