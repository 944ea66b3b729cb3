//! Parses commands by recursive descent. Methods return `None` for text outside the supported subset.

use crate::syntax::shell::{
    ShellCommand, ShellCommandKind, ShellCommandList, ShellOperator, ShellQuote, ShellRedirect, ShellRedirectKind,
    ShellScript, ShellWord,
};
use crate::text::Span;

/// How deep commands may be nested.
const MAX_DEPTH: usize = 24;

/// Words that begin or end a compound command.
const RESERVED: [&str; 19] = [
    "if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "case", "esac", "function", "select",
    "[[", "time", "coproc", "{", "}",
];

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    depth: usize,
    documents: Vec<ShellWord>,
    /// Here-documents whose bodies begin on the next line.
    pending: Vec<Pending>,
}

struct Pending {
    number: usize,
    delimiter: String,
    is_quoted: bool,
    strips_tabs: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, depth: 0, documents: Vec::new(), pending: Vec::new() }
    }

    pub(super) fn script(mut self) -> Option<ShellScript> {
        let list = self.list(&[], None)?;
        (self.at == self.text.len() && self.pending.is_empty())
            .then_some(ShellScript { list, documents: self.documents })
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.text[self.at..].starts_with(text)
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Parses commands up to a word of `stops`, a closing character, or the end. Neither the word nor the character is
    /// consumed.
    pub(super) fn list(&mut self, stops: &[&str], close: Option<char>) -> Option<ShellCommandList> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut commands = Vec::new();
        loop {
            self.skip_lines()?;
            match self.peek() {
                None if stops.is_empty() && close.is_none() => break,
                None => return None,
                found if found == close => break,
                Some(_) if self.reserved().is_some_and(|word| stops.contains(&word)) => break,
                Some(_) => {}
            }
            commands.push(self.and_or()?);
            self.skip_spaces();
            match self.peek() {
                None | Some('\n' | '#') => {}
                found if found == close => {}
                // `;;` ends a branch of `case`.
                Some(';') if !self.starts_with(";;") => self.at += 1,
                _ => return None,
            }
        }
        self.depth -= 1;
        Some(commands)
    }

    /// Parses the commands in a part of the text.
    pub(super) fn list_within(&mut self, start: usize, end: usize) -> Option<ShellCommandList> {
        let documents = std::mem::take(&mut self.documents);
        let text = &self.text[..end];
        let mut inner = Parser { text, at: start, depth: self.depth, documents, pending: Vec::new() };
        let list = inner.list(&[], None)?;
        self.documents = inner.documents;
        (inner.at == end && inner.pending.is_empty()).then_some(list)
    }

    fn and_or(&mut self) -> Option<ShellCommand> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_spaces();
            let operator = match () {
                () if self.starts_with("&&") => ShellOperator::And,
                () if self.starts_with("||") => ShellOperator::Or,
                () if rest.is_empty() => return Some(first),
                () => return Some(without_redirects(ShellCommandKind::Chain(Box::new(first), rest))),
            };
            self.at += 2;
            self.skip_lines()?;
            rest.push((operator, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Option<ShellCommand> {
        self.skip_spaces();
        if self.starts_with("! ") || self.starts_with("!\t") {
            self.at += 1;
            self.skip_spaces();
            // Only some shells allow it twice.
            if self.starts_with("! ") || self.starts_with("!\t") {
                return None;
            }
            return Some(without_redirects(ShellCommandKind::Not(Box::new(self.pipeline()?))));
        }
        let first = self.command()?;
        let mut stages = vec![first];
        loop {
            self.skip_spaces();
            if !self.starts_with("|") || self.starts_with("||") || self.starts_with("|&") {
                break;
            }
            self.at += 1;
            self.skip_lines()?;
            stages.push(self.command()?);
        }
        if stages.len() == 1 { stages.pop() } else { Some(without_redirects(ShellCommandKind::Pipeline(stages))) }
    }

    fn command(&mut self) -> Option<ShellCommand> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let kind = match self.reserved() {
            _ if self.starts_with("((") => return None,
            _ if self.take("(") => {
                let list = self.list(&[], Some(')'))?;
                self.at += 1;
                ShellCommandKind::Subshell(list)
            }
            None => {
                let command = self.simple();
                self.depth -= 1;
                return command;
            }
            Some(word) => {
                self.at += word.len();
                self.compound(word)?
            }
        };
        let mut redirects = Vec::new();
        loop {
            self.skip_spaces();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        self.depth -= 1;
        Some(ShellCommand { kind, redirects })
    }

    fn compound(&mut self, word: &str) -> Option<ShellCommandKind> {
        match word {
            "{" => Some(ShellCommandKind::Group(self.until(&["}"])?.0)),
            "if" => {
                let mut branches = Vec::new();
                loop {
                    let (condition, _) = self.until(&["then"])?;
                    let (body, end) = self.until(&["elif", "else", "fi"])?;
                    branches.push((condition, body));
                    let otherwise = match end {
                        "elif" => continue,
                        "else" => self.until(&["fi"])?.0,
                        _ => ShellCommandList::new(),
                    };
                    return Some(ShellCommandKind::If { branches, otherwise });
                }
            }
            "while" | "until" => {
                let (condition, _) = self.until(&["do"])?;
                let (body, _) = self.until(&["done"])?;
                Some(ShellCommandKind::Loop { condition, body })
            }
            "for" => {
                self.skip_spaces();
                let name = self.name()?;
                self.skip_spaces();
                if !self.take("in") {
                    return None;
                }
                let mut words = Vec::new();
                loop {
                    self.skip_spaces();
                    match self.peek()? {
                        ';' | '\n' => break,
                        _ => words.push(self.word()?),
                    }
                }
                self.take(";");
                let (before, _) = self.until(&["do"])?;
                let (body, _) = self.until(&["done"])?;
                before.is_empty().then_some(ShellCommandKind::For { name, words, body })
            }
            _ => None,
        }
    }

    /// Parses commands and the word that ends them.
    fn until<'w>(&mut self, stops: &[&'w str]) -> Option<(ShellCommandList, &'w str)> {
        let list = self.list(stops, None)?;
        let found = self.reserved()?;
        let stop = stops.iter().find(|it| **it == found)?;
        self.at += stop.len();
        Some((list, stop))
    }

    fn simple(&mut self) -> Option<ShellCommand> {
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.skip_spaces();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')' | '#') => break,
                // A function.
                Some('(') => return None,
                Some(_) => {}
            }
            match self.assignment().filter(|_| words.is_empty()) {
                Some((name, length)) => {
                    self.at += length;
                    // An array.
                    if self.starts_with("(") {
                        return None;
                    }
                    assignments.push((name, self.word()?));
                }
                None => words.push(self.word()?),
            }
        }
        let is_empty = assignments.is_empty() && words.is_empty() && redirects.is_empty();
        (!is_empty).then_some(ShellCommand { kind: ShellCommandKind::Simple { assignments, words }, redirects })
    }

    /// The name of an assignment `NAME=` at the current position, and the length of both.
    fn assignment(&self) -> Option<(String, usize)> {
        let rest = &self.text[self.at..];
        let length = rest.find('=')?;
        is_name(&rest[..length]).then(|| (rest[..length].to_owned(), length + 1))
    }

    fn redirect(&mut self) -> Option<Option<ShellRedirect>> {
        let rest = &self.text[self.at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if !rest[digits..].starts_with(['<', '>']) {
            return Some(None);
        }
        let descriptor = if digits == 0 { None } else { Some(rest[..digits].parse().ok()?) };
        self.at += digits;
        let signs = [">>", ">|", ">&", "<<<", "<<-", "<<", "<>", "<&", "<(", ">(", ">", "<"];
        let sign = signs.into_iter().find(|sign| self.starts_with(sign))?;
        self.at += sign.len();
        self.skip_spaces();
        let kind = match sign {
            ">" | ">|" => ShellRedirectKind::Write,
            ">>" => ShellRedirectKind::Append,
            "<" => ShellRedirectKind::Read,
            ">&" => ShellRedirectKind::DuplicateOutput,
            "<<<" => ShellRedirectKind::Text,
            "<<" | "<<-" => return self.document(descriptor, sign == "<<-").map(Some),
            _ => return None,
        };
        let target = self.word()?;
        Some(Some(ShellRedirect { descriptor, kind, target }))
    }

    fn document(&mut self, descriptor: Option<u32>, strips_tabs: bool) -> Option<ShellRedirect> {
        let target = self.word()?;
        let mut delimiter = String::new();
        let mut is_quoted = false;
        for part in &target.parts {
            let crate::syntax::shell::ShellWordPartKind::Text(text) = &part.kind else { return None };
            is_quoted |= part.quote != ShellQuote::Bare || text.len() != part.span.len();
            delimiter.push_str(text);
        }
        let number = self.documents.len();
        self.documents.push(ShellWord::default());
        self.pending.push(Pending { number, delimiter, is_quoted, strips_tabs });
        Some(ShellRedirect { descriptor, kind: ShellRedirectKind::Document(number), target })
    }

    /// The reserved word at the current position.
    fn reserved(&self) -> Option<&'static str> {
        let rest = &self.text[self.at..];
        let is_end = |it: Option<char>| it.is_none_or(|it| " \t\n;&|<>()".contains(it));
        RESERVED.into_iter().find(|word| rest.strip_prefix(word).is_some_and(|after| is_end(after.chars().next())))
    }

    pub(super) fn name(&mut self) -> Option<String> {
        let rest = &self.text[self.at..];
        let length = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(rest.len());
        let name = rest[..length].to_owned();
        self.at += length;
        is_name(&name).then_some(name)
    }

    /// Skips spaces, tabs and escaped line breaks.
    pub(super) fn skip_spaces(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\\\n") {}
    }

    /// Skips spaces, comments and line breaks, and parses the here-documents after each line break.
    fn skip_lines(&mut self) -> Option<()> {
        loop {
            self.skip_spaces();
            if self.starts_with("#") {
                self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end);
            }
            if !self.take("\n") {
                return Some(());
            }
            for pending in std::mem::take(&mut self.pending) {
                let start = self.at;
                let parts = self.document_body(&pending.delimiter, pending.is_quoted, pending.strips_tabs)?;
                self.documents[pending.number] = ShellWord { parts, span: Span::new(start, self.at) };
            }
        }
    }
}

/// Whether a text is a valid name of a shell variable.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|it: char| it.is_ascii_digit())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

fn without_redirects(kind: ShellCommandKind) -> ShellCommand {
    ShellCommand { kind, redirects: Vec::new() }
}
