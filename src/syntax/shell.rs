//! Parses simple shell scripts, such as those that write a few lines into a file.
//!
//! A tree is exact, or there is none: scripts with functions, `case`, background jobs, arrays and other constructs outside
//! the supported subset are not parsed.

mod parser;
mod variables;
mod words;

use crate::text::Span;
pub use variables::{ShellVariable, shell_variables};

/// Longer scripts are not parsed.
const MAX_LENGTH: usize = 64 * 1024;

/// A script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellScript {
    /// Its commands.
    pub list: ShellCommandList,
    /// The bodies of its here-documents, to which redirections refer.
    pub documents: Vec<ShellWord>,
}

/// Commands that run one after the other.
pub type ShellCommandList = Vec<ShellCommand>;

/// A command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// Its kind, with its parts.
    pub kind: ShellCommandKind,
    /// In text order.
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
    /// `a && b || c`, from left to right.
    Chain(Box<ShellCommand>, Vec<(ShellOperator, ShellCommand)>),
    /// `{ a; }`
    Group(ShellCommandList),
    /// `( a )`
    Subshell(ShellCommandList),
    /// `if a; then b; else c; fi`
    If {
        /// Conditions with the commands that run if they hold.
        branches: Vec<(ShellCommandList, ShellCommandList)>,
        /// The commands that run if no condition holds.
        otherwise: ShellCommandList,
    },
    /// `while a; do b; done`, and `until`.
    Loop {
        /// The commands that run before each iteration.
        condition: ShellCommandList,
        /// The commands of an iteration.
        body: ShellCommandList,
    },
    /// `for x in a b; do c; done`
    For {
        /// The variable.
        name: String,
        /// Its value in each iteration.
        words: Vec<ShellWord>,
        /// The commands of an iteration.
        body: ShellCommandList,
    },
}

/// An operator between two commands of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellOperator {
    /// `&&`: the next command runs after a success.
    And,
    /// `||`: the next command runs after a failure.
    Or,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellRedirect {
    /// The file descriptor before the operator.
    pub descriptor: Option<u32>,
    /// Its kind.
    pub kind: ShellRedirectKind,
    /// The word after the operator.
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
    /// `<<END`: the here-document with this index in the script.
    Document(usize),
    /// `<<< text`
    Text,
}

/// A word: the concatenation of its parts.
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
    /// Its kind, with its content.
    pub kind: ShellWordPartKind,
    /// The bytes of the part.
    pub span: Span,
    /// The quotes around it.
    pub quote: ShellQuote,
}

/// The kinds of parts of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellWordPartKind {
    /// Text. It equals the bytes of the part unless the lengths differ: then it is the value of an escape.
    Text(String),
    /// `$NAME`, `${NAME}`, `${NAME:-word}`.
    Parameter {
        /// The name.
        name: String,
        /// The default for an unset variable.
        otherwise: Option<ShellWord>,
        /// Whether the default is also used for an empty variable.
        also_for_empty: bool,
    },
    /// `$(command)`
    Command(ShellCommandList),
    /// A part whose value is not known: arithmetic, patterns, `~`.
    Unknown,
}

/// The quotes around a part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellQuote {
    /// No quotes.
    Bare,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// A here-document.
    Document,
}

impl ShellQuote {
    /// How a single quote has to be written inside these quotes.
    pub fn escaped_single_quote(self) -> &'static str {
        match self {
            Self::Bare => "\\'",
            Self::Single => "'\\''",
            Self::Double | Self::Document => "'",
        }
    }
}

/// Parses a script; `None` if it is outside the supported subset.
pub fn parse_shell_script(text: &str) -> Option<ShellScript> {
    if text.len() > MAX_LENGTH || text.contains(['\0', '\r']) {
        return None;
    }
    parser::Parser::new(text).script()
}

#[cfg(test)]
mod tests;
