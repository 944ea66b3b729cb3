//! Shell scripts as a tree, as far as plain ones go: what a person writes to put a few lines into a file.
//!
//! The tree is exact or there is none. Functions, `case`, background jobs, arrays and whatever else a plain script does
//! without are not read; who asks for such a script is told that it cannot be followed.

mod names;
mod parser;
mod words;

use crate::text::Span;
pub use names::{ShellName, shell_names};

/// Longer scripts are not followed.
const LONGEST: usize = 64 * 1024;

/// A script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its commands.
    pub list: List,
    /// The bodies of its here-documents, which redirections refer to.
    pub documents: Vec<Word>,
}

/// Commands that run one after the other.
pub type List = Vec<Command>;

/// A command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it does.
    pub kind: CommandKind,
    /// In the order of the text.
    pub redirects: Vec<Redirect>,
}

/// The kinds of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// `A=1 echo x`
    Simple {
        /// Names with their values.
        assignments: Vec<(String, Word)>,
        /// The command and its arguments.
        words: Vec<Word>,
    },
    /// `a | b`
    Pipeline(Vec<Command>),
    /// `! a`
    Not(Box<Command>),
    /// `a && b`
    And(Box<Command>, Box<Command>),
    /// `a || b`
    Or(Box<Command>, Box<Command>),
    /// `{ a; }`
    Group(List),
    /// `( a )`
    Subshell(List),
    /// `if a; then b; else c; fi`
    If {
        /// Conditions with what they lead to.
        branches: Vec<(List, List)>,
        /// What runs if none holds.
        otherwise: List,
    },
    /// `while a; do b; done`, and `until`.
    Loop {
        /// Runs before each round.
        condition: List,
        /// A round.
        body: List,
    },
    /// `for x in a b; do c; done`
    For {
        /// The variable.
        name: String,
        /// What it is in each round.
        words: Vec<Word>,
        /// A round.
        body: List,
    },
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The number before the sign.
    pub descriptor: Option<u32>,
    /// What is done.
    pub kind: RedirectKind,
    /// From or to where.
    pub target: Word,
}

/// The kinds of redirections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `> file`
    Write,
    /// `>> file`
    Append,
    /// `< file`
    Read,
    /// `>&2`
    DuplicateOutput,
    /// `<<END`: the document of this number.
    Document(usize),
    /// `<<< text`
    Text,
}

/// A word: parts that are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// From left to right.
    pub parts: Vec<Part>,
    /// The whole word.
    pub span: Span,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it gives.
    pub kind: PartKind,
    /// Where it stands.
    pub span: Span,
    /// What stands around it.
    pub quote: Quote,
}

/// What a part of a word gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Text. It is what the script says, unless the lengths differ: then an escape gave it.
    Text(String),
    /// `$NAME`, `${NAME}`, `${NAME:-word}`.
    Parameter {
        /// The name.
        name: String,
        /// What is taken where there is no such variable.
        otherwise: Option<Word>,
        /// Whether it is also taken where the variable is empty.
        also_for_empty: bool,
    },
    /// `$(command)`
    Command(List),
    /// Something that is not followed: arithmetic, patterns, `~`.
    Unknown,
}

/// What stands around a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// Nothing.
    Bare,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// A here-document.
    Document,
}

impl Quote {
    /// A single quote as it has to be written here to stand in what the shell makes of the word.
    pub fn escaped_quote(self) -> &'static str {
        match self {
            Self::Bare => "\\'",
            Self::Single => "'\\''",
            Self::Double | Self::Document => "'",
        }
    }
}

/// Reads a script; nothing if it is not a plain one.
pub fn parse(text: &str) -> Option<Script> {
    if text.len() > LONGEST || text.contains(['\0', '\r']) {
        return None;
    }
    parser::Parser::new(text).script()
}

#[cfg(test)]
mod tests;
