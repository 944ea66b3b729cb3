//! Classifies the text in `$(…)`: a name, a malformed name, a command.
//!
//! Everything here is a guess from the text alone. `Other` is not listed as unresolved anywhere; what a rule reports for the
//! other kinds differs only in its message.

use std::ops::Range;

/// The kind of text between `$(` and the first `)`. All of it is the name (E4), so the reference is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferencePattern<'t> {
    /// Probably a name.
    Name,
    /// A name with spaces around it.
    Padded(&'t str),
    /// A name with a default: `X:-y`, `X:"y"`.
    Default(&'t str),
    /// A name with other text, such as an operator of a shell or an index: `X%y`, `X[0]`, `X y`, `#X`.
    Extended(&'t str),
    /// It contains another reference.
    Nested,
    /// A command or arithmetic for a shell.
    Command,
    /// Text of another language, which is not a mistake.
    Other,
}

impl<'t> ReferencePattern<'t> {
    /// Classifies a name; `declared` says whether a word is a variable here.
    pub fn of(name: &'t str, declared: impl Fn(&str) -> bool) -> Self {
        if is_other_language(name) || name.is_empty() {
            return Self::Other;
        }
        let word = leading_name(name);
        if word.len() == name.len() {
            return Self::Name;
        }
        if name.starts_with('(') {
            return Self::Command;
        }
        let trimmed = name.trim();
        if trimmed.len() < name.len() && leading_name(trimmed).len() == trimmed.len() && !trimmed.is_empty() {
            return Self::Padded(trimmed);
        }
        let first = name.split(|it: char| it.is_whitespace() || "|;&<>".contains(it)).next().unwrap_or_default();
        let is_command =
            || is_command(first) && (trimmed.contains(char::is_whitespace) || first.contains('/')) && !first.is_empty();
        if word.is_empty() {
            return match name.strip_prefix(['#', '!']) {
                Some(operand) if declared(operand) => Self::Extended(operand),
                _ if is_command() => Self::Command,
                _ if name.contains("$(") => Self::Nested,
                _ => Self::Other,
            };
        }
        let is_declared = declared(word);
        match NameSuffix::of(&name[word.len()..]) {
            NameSuffix::Default { is_certain } if is_certain || is_declared || is_constant(word) => {
                return Self::Default(word);
            }
            NameSuffix::Operator => return Self::Extended(word),
            _ if is_declared => return Self::Extended(word),
            NameSuffix::Text { may_be_operator: true } if is_constant(word) => return Self::Extended(word),
            _ if is_command() => return Self::Command,
            _ if name.contains("$(") => return Self::Nested,
            NameSuffix::Default { .. } | NameSuffix::Text { .. } => {}
        }
        // Quotes, parentheses and escapes are code or a pattern, and a variable has an ASCII name (V2).
        if !name.bytes().all(|it| (0x20..=0x7e).contains(&it)) || name.contains(['\'', '"', '`', '(', '{', '}', '\\']) {
            return Self::Other;
        }
        // Since 1.32 any other text is a name, except for `=`; brackets and `|` indicate that it was not meant as one.
        if name.contains(['[', ']', '|', '=']) { Self::Extended(word) } else { Self::Name }
    }
}

/// The text after the name in a reference.
enum NameSuffix {
    /// A default; `is_certain` if it cannot be anything else.
    Default { is_certain: bool },
    /// An operator of a shell.
    Operator,
    /// Any other text.
    Text { may_be_operator: bool },
}

impl NameSuffix {
    fn of(rest: &str) -> Self {
        let is_quoted = |text: &str| {
            let inner = ['"', '\''].iter().find_map(|it| text.strip_prefix(*it)?.strip_suffix(*it));
            inner.is_some_and(|it| !it.contains(['"', '\'']))
        };
        match rest.strip_prefix(':').map(|it| (it, it.chars().next())) {
            Some((_, Some('-' | '='))) => return Self::Default { is_certain: true },
            Some((_, Some('?' | '+'))) => return Self::Operator,
            Some((value, _)) if is_quoted(value) => return Self::Default { is_certain: true },
            // Digits are a port or a position.
            Some((value, Some(it))) if it.is_ascii_alphabetic() && is_words(value) => {
                return Self::Default { is_certain: false };
            }
            _ => {}
        }
        let is_one_word = !rest.contains(|it: char| it.is_whitespace() || "\"'`()[]{}<>\\|;".contains(it));
        Self::Text { may_be_operator: is_one_word && rest.starts_with([':', '%', '#', '/', '^', ',']) }
    }
}

/// Whether a text has only letters, digits, `_`, `-`, `.` and spaces.
fn is_words(text: &str) -> bool {
    text.split(' ').all(|it| leading_name(it) == it)
}

/// Whether a word has only capital letters, digits and `_`, as no command has.
pub(super) fn is_constant(word: &str) -> bool {
    word.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_')
}

/// The letters, digits, `_`, `-` and `.` at the start of a text.
pub fn leading_name(text: &str) -> &str {
    let end = text.bytes().take_while(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.')).count();
    &text[..end]
}

/// Whether a word may be a command: `cat`, `/bin/date`, `./run.sh`.
fn is_command(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || matches!(it, b'/' | b'.' | b'_'))
        && bytes.all(|it| it.is_ascii_alphanumeric() || matches!(it, b'/' | b'.' | b'_' | b'-' | b'+'))
}

/// Whether it is a reference of Tekton or Azure, or contains an expression of a template.
pub(super) fn is_other_language(name: &str) -> bool {
    const ROOTS: [&str; 22] = [
        "params",
        "workspaces",
        "results",
        "tasks",
        "steps",
        "context",
        "credentials",
        "artifacts",
        "inputs",
        "outputs",
        "tt",
        "finally",
        "Build",
        "System",
        "Agent",
        "Pipeline",
        "Release",
        "Environment",
        "variables",
        "parameters",
        "stageDependencies",
        "dependencies",
    ];
    let root = name.split(['.', '[']).next().unwrap_or_default();
    name.contains("{{")
        || name.contains("}}")
        || name.contains("${")
        || root.len() < name.len() && ROOTS.contains(&root)
}

/// The range of the reference up to the matching `)`: all of `$(A$(B))` and `$((1+2))`.
pub fn whole_reference(text: &str, range: Range<usize>) -> Range<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(range.start + 1) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return range.start..at + 1;
                }
            }
            b'\n' if at >= range.end => break,
            _ => {}
        }
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        let shape = |name| ReferencePattern::of(name, |word| word == "HOST");
        for name in ["HOST", "a.b-c", "1", "a+b", "x, y"] {
            assert_eq!(shape(name), ReferencePattern::Name, "{name}");
        }
        assert_eq!(shape(" HOST "), ReferencePattern::Padded("HOST"));
        for name in ["X:-y", "X:=y", "X:\"a b\"", "X:'y'", "HOST:y", "X:y", "x:-y", "HOST:a b", "X:a b"] {
            assert!(matches!(shape(name), ReferencePattern::Default(_)), "{name}: {:?}", shape(name));
        }
        for name in ["X:?y", "X:+y", "X%%x", "X#x", "X^^", "X[0]", "X|y", "X=y", "a|b", "a=b", "a[0]"] {
            assert!(matches!(shape(name), ReferencePattern::Extended(_)), "{name}: {:?}", shape(name));
        }
        for rest in
            [":80", "%x", "/a/b", "$$x", "@x", " x", " \"x\"", "|x", "[0]", "/a (b", "\",\"x\":\"y", "(x", "é", "\n:"]
        {
            let name = format!("HOST{rest}");
            let shape = ReferencePattern::of(&name, |word| word == "HOST");
            assert_eq!(shape, ReferencePattern::Extended("HOST"), "{name}");
        }
        for name in ["#HOST", "!HOST", "HOST:$(PORT", "HOST$(PORT"] {
            assert_eq!(shape(name), ReferencePattern::Extended("HOST"), "{name}");
        }
        for name in ["A$(B", "$(B"] {
            assert_eq!(shape(name), ReferencePattern::Nested, "{name}");
        }
        for name in ["date +%s", "/bin/date", "(1+2", "cat $(FILE", "./run.sh -x", "my var#", "ls|wc -l", "X y"] {
            assert_eq!(shape(name), ReferencePattern::Command, "{name}");
        }
        for name in [
            "params.x",
            "params['x']",
            "Build.BuildId",
            "{{ .Values.x }}",
            "${X}",
            "'#id'",
            "",
            "#X",
            "!X",
            "*",
            "@",
            "?",
            "?!x",
            "\n",
            "ü",
            "größe",
            "f('x'",
            "a\\.b",
            "x[\"y\"]",
        ] {
            assert_eq!(shape(name), ReferencePattern::Other, "{name}");
        }
    }

    #[test]
    fn a_reference_ends_where_its_reader_sees_the_end() {
        assert_eq!(whole_reference("x$(A$(B))y", 1..8), 1..9);
        assert_eq!(whole_reference("$((1+2)) $(B)", 0..7), 0..8);
        assert_eq!(whole_reference("$(A$(B)\n)", 0..7), 0..7);
    }
}
