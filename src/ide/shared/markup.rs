//! Structured text for hovers and documentation, rendered as Markdown or as plain text.
//!
//! Links point to locations in the workspace; the caller maps them to URIs.

use std::fmt::Write as _;

use crate::diagnostic::Location;
use crate::syntax::show_placeholders;

/// A text made of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup {
    /// The blocks from top to bottom.
    pub blocks: Vec<Block>,
}

/// A part of a text that starts on a new line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Paragraph(Vec<Inline>),
    /// Code in a language.
    Code {
        /// The language for highlighting.
        language: &'static str,
        /// The code.
        text: String,
    },
    /// A list with one line per item.
    List(Vec<Vec<Inline>>),
    /// Finished Markdown, such as the documentation of a rule.
    Markdown(String),
    /// A horizontal line.
    Divider,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    /// Plain text.
    Text(String),
    /// Emphasised text.
    Strong(String),
    /// Code.
    Code(String),
    /// A link to a location.
    Link(String, Location),
}

impl Markup {
    /// The text as Markdown. `uri` returns the URI of a location, such as `file:///a.yaml#L3`; without one the link becomes
    /// plain text.
    pub fn markdown(&self, uri: &dyn Fn(&Location) -> Option<String>) -> String {
        let blocks = self.blocks.iter().map(|block| match block {
            Block::Paragraph(line) => markdown_line(line, uri),
            Block::Code { language, text } => {
                let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
                let end = if text.ends_with('\n') { "" } else { "\n" };
                format!("{fence}{language}\n{text}{end}{fence}")
            }
            Block::List(lines) => {
                let lines: Vec<String> = lines.iter().map(|line| format!("- {}", markdown_line(line, uri))).collect();
                lines.join("\n")
            }
            Block::Markdown(text) => text.trim().to_owned(),
            Block::Divider => "---".to_owned(),
        });
        // Names may have placeholders: people see the references instead.
        show_placeholders(&blocks.collect::<Vec<_>>().join("\n\n")).into_owned()
    }

    /// The text without markup.
    pub fn plain(&self) -> String {
        let mut result = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            let separator = match block {
                _ if at == 0 => "",
                Block::List(_) => "\n",
                _ => "\n\n",
            };
            result.push_str(separator);
            match block {
                Block::Paragraph(line) => result.push_str(&plain_line(line)),
                Block::Code { text, .. } => result.push_str(text.trim_end_matches('\n')),
                Block::List(lines) => {
                    let lines: Vec<String> = lines.iter().map(|line| format!("- {}", plain_line(line))).collect();
                    result.push_str(&lines.join("\n"));
                }
                Block::Markdown(text) => result.push_str(text.trim()),
                Block::Divider => result.push_str("---"),
            }
        }
        show_placeholders(&result).into_owned()
    }
}

fn markdown_line(line: &[Inline], uri: &dyn Fn(&Location) -> Option<String>) -> String {
    let mut result = String::new();
    for part in line {
        let _ = match part {
            Inline::Text(text) => write!(result, "{}", escaped(text)),
            Inline::Strong(text) => write!(result, "**{}**", escaped(text)),
            Inline::Code(text) => write!(result, "{}", code(text)),
            Inline::Link(text, location) => match uri(location) {
                Some(uri) => write!(result, "[{}]({uri})", escaped(text)),
                None => write!(result, "{}", escaped(text)),
            },
        };
    }
    result
}

fn plain_line(line: &[Inline]) -> String {
    let parts = line.iter().map(|part| match part {
        Inline::Text(text) | Inline::Strong(text) | Inline::Code(text) | Inline::Link(text, _) => text.as_str(),
    });
    parts.collect()
}

/// A text with the special characters of Markdown escaped.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_[]<>#|~$".contains(character) {
            result.push('\\');
        }
        result.push(if matches!(character, '\n' | '\r') { ' ' } else { character });
    }
    result
}

/// Inline code, with enough backticks around it and visible line breaks.
fn code(text: &str) -> String {
    let text = text.replace('\n', "⏎").replace('\r', "");
    if text.is_empty() {
        return "``\u{a0}``".to_owned();
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|it| it != of).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    #[test]
    fn markdown_and_plain_text() {
        let location = Location { file: "a.yaml".into(), span: Span::new(0, 1) };
        let line = vec![
            Inline::Text("a*b [c] ".into()),
            Inline::Code("x`y".into()),
            Inline::Code(String::new()),
            Inline::Strong("d".into()),
            Inline::Link("a_b:1".into(), location),
        ];
        let code = Block::Code { language: "ini", text: "A=```".into() };
        let markup = Markup { blocks: vec![Block::Paragraph(line.clone()), code, Block::List(vec![line])] };
        let line = "a\\*b \\[c\\] ``x`y````\u{a0}``**d**[a\\_b:1](uri)";
        let markdown = format!("{line}\n\n````ini\nA=```\n````\n\n- {line}");
        assert_eq!(markup.markdown(&|_| Some("uri".into())), markdown);
        let line = "a*b [c] x`yda_b:1";
        assert_eq!(markup.plain(), format!("{line}\n\nA=```\n- {line}"));
    }
}
