//! Shell scripts as a tree, as far as plain ones go: what a person writes to put a few lines into a file.
//!
//! The tree is exact or there is none. Functions, `case`, background jobs, arrays and whatever else a plain script does
//! without are not read; who asks for such a script is told that it cannot be followed.

mod parser;
mod variables;
mod words;

use crate::text::Span;
pub use variables::{ShellVariable, shell_variables};

/// Longer scripts are not followed.
const LONGEST: usize = 64 * 1024;

/// A script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellScript {
    /// Its commands.
    pub list: ShellCommandList,
    /// The bodies of its here-documents, which redirections refer to.
    pub documents: Vec<ShellWord>,
}

/// Commands that run one after the other.
pub type ShellCommandList = Vec<ShellCommand>;

/// A command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// What it does.
    pub kind: ShellCommandKind,
    /// In the order of the text.
    pub redirects: Vec<ShellRedirect>,
}

/// The kinds of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellCommandKind {
    /// `A=1 echo x`
    Simple {
        /// Names with their values.
        assignments: Vec<(String, ShellWord)>,
        /// The command and its arguments.
        words: Vec<ShellWord>,
    },
    /// `a | b`
    Pipeline(Vec<ShellCommand>),
    /// `! a`
    Not(Box<ShellCommand>),
    /// `a && b`
    And(Box<ShellCommand>, Box<ShellCommand>),
    /// `a || b`
    Or(Box<ShellCommand>, Box<ShellCommand>),
    /// `{ a; }`
    Group(ShellCommandList),
    /// `( a )`
    Subshell(ShellCommandList),
    /// `if a; then b; else c; fi`
    If {
        /// Conditions with what they lead to.
        branches: Vec<(ShellCommandList, ShellCommandList)>,
        /// What runs if none holds.
        otherwise: ShellCommandList,
    },
    /// `while a; do b; done`, and `until`.
    Loop {
        /// Runs before each round.
        condition: ShellCommandList,
        /// A round.
        body: ShellCommandList,
    },
    /// `for x in a b; do c; done`
    For {
        /// The variable.
        name: String,
        /// What it is in each round.
        words: Vec<ShellWord>,
        /// A round.
        body: ShellCommandList,
    },
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellRedirect {
    /// The number before the sign.
    pub descriptor: Option<u32>,
    /// What is done.
    pub kind: ShellRedirectKind,
    /// From or to where.
    pub target: ShellWord,
}

/// The kinds of redirections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellRedirectKind {
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
pub struct ShellWord {
    /// From left to right.
    pub parts: Vec<ShellWordPart>,
    /// The whole word.
    pub span: Span,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellWordPart {
    /// What it gives.
    pub kind: ShellWordPartKind,
    /// Where it stands.
    pub span: Span,
    /// What stands around it.
    pub quote: ShellQuote,
}

/// What a part of a word gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellWordPartKind {
    /// Text. It is what the script says, unless the lengths differ: then an escape gave it.
    Text(String),
    /// `$NAME`, `${NAME}`, `${NAME:-word}`.
    Parameter {
        /// The name.
        name: String,
        /// What is taken where there is no such variable.
        otherwise: Option<ShellWord>,
        /// Whether it is also taken where the variable is empty.
        also_for_empty: bool,
    },
    /// `$(command)`
    Command(ShellCommandList),
    /// Something that is not followed: arithmetic, patterns, `~`.
    Unknown,
}

/// What stands around a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellQuote {
    /// Nothing.
    Bare,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// A here-document.
    Document,
}

impl ShellQuote {
    /// A single quote as it has to be written here to stand in what the shell makes of the word.
    pub fn escaped_single_quote(self) -> &'static str {
        match self {
            Self::Bare => "\\'",
            Self::Single => "'\\''",
            Self::Double | Self::Document => "'",
        }
    }
}

/// Reads a script; nothing if it is not a plain one.
pub fn parse_shell_script(text: &str) -> Option<ShellScript> {
    if text.len() > LONGEST || text.contains(['\0', '\r']) {
        return None;
    }
    parser::Parser::new(text).script()
}

#[cfg(test)]
mod tests;
