//! Markdown as GitHub reads it: headings with their anchors, links, and the prose between the code.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A heading.
pub(super) struct Heading {
    pub(super) level: u8,
    /// Its text without markup.
    pub(super) text: String,
    /// The part of a link to it after `#`.
    pub(super) anchor: String,
    /// The number of its line, from 1.
    pub(super) line: usize,
}

/// A link or picture.
pub(super) struct Link {
    pub(super) target: String,
    /// The number of its line, from 1.
    pub(super) line: usize,
}

pub(super) fn headings(markdown: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut open = None;
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for (event, range) in events(markdown) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                open = Some(Heading {
                    level: level as u8,
                    text: String::new(),
                    anchor: String::new(),
                    line: line_at(markdown, range.start),
                });
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(mut heading) = open.take() {
                    let anchor = anchor(&heading.text);
                    let before = uses.entry(anchor.clone()).or_default();
                    heading.anchor = if *before == 0 { anchor } else { format!("{anchor}-{before}") };
                    *before += 1;
                    found.push(heading);
                }
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut open {
                    heading.text.push_str(&text);
                }
            }
            _ => {}
        }
    }
    found
}

pub(super) fn links(markdown: &str) -> Vec<Link> {
    let targets = events(markdown).filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(Link { target: dest_url.into_string(), line: line_at(markdown, range.start) })
        }
        _ => None,
    });
    targets.collect()
}

/// The text with code and link targets replaced by spaces, so that offsets do not change.
pub(super) fn prose(markdown: &str) -> String {
    let mut bytes = markdown.as_bytes().to_vec();
    let mut clear = |start: usize, end: usize| {
        for byte in bytes[start..end].iter_mut().filter(|it| **it != b'\n') {
            *byte = b' ';
        }
    };
    for (event, range) in events(markdown) {
        match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => clear(range.start, range.end),
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => {
                if let Some(target) = markdown[range.clone()].rfind("](") {
                    clear(range.start + target, range.end);
                }
            }
            _ => {}
        }
    }
    String::from_utf8(bytes).expect("whole characters are replaced")
}

fn events(markdown: &str) -> impl Iterator<Item = (Event<'_>, std::ops::Range<usize>)> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter()
}

/// The anchor GitHub gives to a heading, without the number it adds to a second one of the same text.
fn anchor(text: &str) -> String {
    let kept = text.trim().chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
    kept.flat_map(char::to_lowercase).map(|it| if it == ' ' { '-' } else { it }).collect()
}

fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

#[test]
fn headings_have_the_anchors_of_github() {
    let text = "# Expansion of `$(NAME)`\n\n## A & B, *c*\n\nText\n\n## A & B, *c*\n\n```\n# no\n```\n";
    let found: Vec<_> = headings(text).into_iter().map(|it| (it.level, it.anchor, it.line)).collect();
    let expected = [(1, "expansion-of-name", 1), (2, "a--b-c", 3), (2, "a--b-c-1", 7)];
    assert_eq!(found, expected.map(|(level, anchor, line)| (level, anchor.to_owned(), line)));
}

#[test]
fn links_are_found_outside_code_only() {
    let text = "[a](b.md) `[c](d.md)`\n\n![e](f.png) [g]\n\n[g]: h.md#i\n";
    let found: Vec<_> = links(text).into_iter().map(|it| (it.target, it.line)).collect();
    assert_eq!(found, [("b.md", 1), ("f.png", 3), ("h.md#i", 3)].map(|(target, line)| (target.to_owned(), line)));
}
