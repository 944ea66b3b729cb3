//! Text for people with some structure: written as Markdown for editors that read it, and plainly for the others.
//!
//! Links lead to places in the workspace; whoever writes the Markdown says how such a place is called.

use std::fmt::Write as _;

use crate::diagnostic::Location;

/// A text in blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup {
    /// From top to bottom.
    pub blocks: Vec<Block>,
}

/// A part that stands on lines of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Flowing text.
    Paragraph(Vec<Inline>),
    /// Code in a language.
    Code {
        /// For highlighting.
        language: &'static str,
        /// The code.
        text: String,
    },
    /// One line each.
    List(Vec<Vec<Inline>>),
    /// Markdown that is ready, such as a rule's documentation.
    Markdown(String),
    /// A line across.
    Divider,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    /// Words.
    Text(String),
    /// Words that matter more.
    Strong(String),
    /// Code.
    Code(String),
    /// A way to a place.
    Link(String, Location),
}

impl Markup {
    /// As Markdown. `uri` names a place, such as `file:///a.yaml#L3`; a link to what it cannot name is its words.
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
        blocks.collect::<Vec<_>>().join("\n\n")
    }

    /// As plain text.
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
        result
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

/// Text in which nothing means anything to Markdown.
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

/// Code in a line: as many backticks around it as it takes, line breaks shown.
fn code(text: &str) -> String {
    let text = text.replace('\n', "⏎").replace('\r', "");
    if text.is_empty() {
        return "``\u{a0}``".to_owned();
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|it| it != of).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    #[test]
    fn what_is_said_is_read_as_it_is_meant() {
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
        let said = "a\\*b \\[c\\] ``x`y````\u{a0}``**d**[a\\_b:1](uri)";
        let markdown = format!("{said}\n\n````ini\nA=```\n````\n\n- {said}");
        assert_eq!(markup.markdown(&|_| Some("uri".into())), markdown);
        let said = "a*b [c] x`yda_b:1";
        assert_eq!(markup.plain(), format!("{said}\n\nA=```\n- {said}"));
    }
}
