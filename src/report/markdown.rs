//! The documentation of a rule for a terminal: headings, code and wrapped text, without Markdown syntax.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

const HEADING: Style = Style::new().bold().underline();
const CODE: Style = AnsiColor::Cyan.on_default();

/// The widest line, on any terminal.
const WIDEST: usize = 100;

/// Writes text in the subset of Markdown that rules use: paragraphs, headings, fenced code and inline code.
pub fn write(out: &mut dyn Write, text: &str, width: usize) -> io::Result<()> {
    let mut paragraph = String::new();
    let mut in_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if in_code && !is_fence {
            writeln!(out, "    {CODE}{line}{CODE:#}")?;
            continue;
        }
        let ends = is_fence || line.trim().is_empty() || line.starts_with('#') || line.starts_with("- ");
        if ends && !paragraph.is_empty() {
            wrapped(out, &paragraph, width)?;
            paragraph.clear();
        }
        if is_fence {
            in_code = !in_code;
        } else if line.starts_with('#') {
            let title = line.trim_start_matches('#').trim();
            writeln!(out, "{HEADING}{title}{HEADING:#}")?;
        } else if line.trim().is_empty() {
            writeln!(out)?;
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    if paragraph.is_empty() { Ok(()) } else { wrapped(out, &paragraph, width) }
}

/// Writes a wrapped paragraph. Inline code is colored and never broken.
fn wrapped(out: &mut dyn Write, text: &str, width: usize) -> io::Result<()> {
    let width = width.min(WIDEST);
    let mut column = 0;
    for word in words(text) {
        let (shown, is_code) = match word.split_once('`') {
            Some(_) => (word.replace('`', ""), true),
            None => (word.to_owned(), false),
        };
        let wide = shown.width();
        if column > 0 && column + 1 + wide > width {
            writeln!(out)?;
            column = 0;
        }
        if column > 0 {
            write!(out, " ")?;
            column += 1;
        }
        column += wide;
        if is_code { code(out, word)? } else { write!(out, "{shown}")? }
    }
    writeln!(out)
}

/// Writes a word that contains inline code, which is colored.
fn code(out: &mut dyn Write, word: &str) -> io::Result<()> {
    for (at, part) in word.split('`').enumerate() {
        if at % 2 == 1 { write!(out, "{CODE}{part}{CODE:#}")? } else { write!(out, "{part}")? }
    }
    Ok(())
}

/// The words of a text; inline code with spaces is one word.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut in_code) = (0, false);
    for (at, it) in text.char_indices() {
        match it {
            '`' => in_code = !in_code,
            ' ' if !in_code => {
                words.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[start..]);
    words.retain(|it| !it.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_and_inline_code_is_not_broken() {
        let text = "One `two words` three,\nfour.\n\n## Head\n```yaml\na: 1\n```\nEnd";
        let mut out = Vec::new();
        write(&mut anstream::StripStream::new(&mut out), text, 14).expect("a buffer");
        let expected = "One two words\nthree, four.\n\nHead\n    a: 1\nEnd\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
