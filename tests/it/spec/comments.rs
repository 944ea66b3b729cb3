//! Finds the comments of a source file. Text in literals that looks like a comment is ignored.

/// The comments of a Rust file, each with its first line. Line comments below each other are one.
pub(super) fn rust_comments(source: &str) -> Vec<(usize, String)> {
    let mut lexer = Lexer { source, at: 0, comments: Vec::new() };
    lexer.run();
    joined(lexer.comments)
}

/// The comments of a script or table: lines that start with `#`.
pub(super) fn hash_comments(source: &str) -> Vec<(usize, String)> {
    let lines = source.lines().enumerate().filter_map(|(index, line)| {
        let text = line.trim_start().strip_prefix('#').filter(|it| !it.starts_with('!'))?;
        Some(Comment { line: index + 1, is_whole_line: true, text: content(text) })
    });
    joined(lines.collect())
}

struct Comment {
    line: usize,
    /// Whether nothing but space is before it on its line.
    is_whole_line: bool,
    text: String,
}

fn joined(comments: Vec<Comment>) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut next = None;
    for comment in comments {
        match blocks.last_mut() {
            Some((_, text)) if comment.is_whole_line && next == Some(comment.line) => {
                text.push('\n');
                text.push_str(&comment.text);
            }
            _ => blocks.push((comment.line, comment.text.clone())),
        }
        next = comment.is_whole_line.then(|| comment.line + comment.text.matches('\n').count() + 1);
    }
    blocks
}

/// The text of a line comment after its marker.
fn content(text: &str) -> String {
    text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned()
}

/// Finds comments between literals. Only literals matter: everything else is skipped byte by byte.
struct Lexer<'t> {
    source: &'t str,
    at: usize,
    comments: Vec<Comment>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(next) = self.rest().chars().next() {
            if self.rest().starts_with("//") {
                self.line_comment();
            } else if self.rest().starts_with("/*") {
                self.block_comment();
            } else if next == '"' {
                self.string();
            } else if next == '\'' {
                self.character();
            } else if next.is_alphabetic() || next == '_' {
                self.word();
            } else {
                self.at += next.len_utf8();
            }
        }
    }

    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn push(&mut self, start: usize, text: String) {
        let before = &self.source[..start];
        let is_whole_line = before.rsplit('\n').next().is_some_and(|it| it.trim().is_empty());
        self.comments.push(Comment { line: before.matches('\n').count() + 1, is_whole_line, text });
    }

    fn line_comment(&mut self) {
        let start = self.at;
        let line = self.rest().lines().next().unwrap_or_default();
        let text = line.trim_start_matches('/');
        let text = content(text.strip_prefix('!').unwrap_or(text));
        self.at += line.len();
        self.push(start, text);
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            if self.rest().starts_with("/*") {
                depth += 1;
                self.at += 2;
            } else if self.rest().starts_with("*/") {
                depth -= 1;
                self.at += 2;
            } else {
                self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            }
            if depth == 0 || self.rest().is_empty() {
                break;
            }
        }
        let text = self.source[start..self.at].trim_end_matches("*/").trim_start_matches(['/', '*', '!']).to_owned();
        self.push(start, text);
    }

    /// A string or byte string with escapes.
    fn string(&mut self) {
        self.at += 1;
        let mut escaped = false;
        let end = self.rest().find(|it: char| {
            let is_end = it == '"' && !escaped;
            escaped = it == '\\' && !escaped;
            is_end
        });
        self.at = end.map_or(self.source.len(), |end| self.at + end + 1);
    }

    /// A character, or the quote of a lifetime.
    fn character(&mut self) {
        let mut rest = self.rest()[1..].chars();
        let (first, second) = (rest.next(), rest.next());
        self.at += match (first, second) {
            (Some('\\'), Some(escaped)) => {
                let after = 2 + escaped.len_utf8();
                after + self.rest()[after..].find('\'').map_or(0, |end| end + 1)
            }
            (Some(first), Some('\'')) => first.len_utf8() + 2,
            _ => 1,
        };
    }

    /// An identifier, a number, or a raw string.
    fn word(&mut self) {
        let rest = self.rest();
        let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let hashes = after.bytes().take_while(|it| *it == b'#').count();
        let mut length = end;
        if ["r", "br", "cr"].contains(&word) && after[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = &after[hashes + 1..];
            length += hashes + 1 + body.find(&close).map_or(body.len(), |it| it + close.len());
        }
        self.at += length;
    }
}

#[test]
fn literals_are_not_comments() {
    let found = |source: &str| rust_comments(source);
    let one = |line: usize, text: &str| vec![(line, text.to_owned())];
    assert_eq!(
        found("//! a\n//! b\n\n/// c\nfn f() {} // d\n// e\n"),
        [(1, "a\nb".to_owned()), (4, "c".to_owned()), (5, "d".to_owned()), (6, "e".to_owned())]
    );
    assert_eq!(found("let a = \"// no \\\" // no\"; // yes"), one(1, "yes"));
    assert_eq!(found("let a = r#\"\n// no \" // no\"#; // yes"), one(2, "yes"));
    assert_eq!(found("let a = br\"// no\\\"; // yes"), one(1, "yes"));
    assert_eq!(found("let r#type: &'a str = ['\"', '\\'', '\\\\', 'ü', b'\"']; // yes"), one(1, "yes"));
    assert_eq!(found("/* a /* b */\n c */ f(); // d"), [(1, " a /* b */\n c ".to_owned()), (2, "d".to_owned())]);
    assert_eq!(found("a / b; \"https://no\"; https"), []);
    assert_eq!(hash_comments("#!/bin/sh\n# a\n  # b\nc # no\n"), one(2, "a\nb"));
}
