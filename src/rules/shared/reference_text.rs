//! Classifies the text in `$(…)`: a name, a malformed name, a command.
//!
//! Everything here is a guess from the text alone. A wrong guess causes a missing finding, never a false one.

use std::ops::Range;

/// The kind of text between `$(` and the first `)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum ReferencePattern<'t> {
    /// Probably a name.
    Name,
    /// A name with spaces around it.
    Padded(&'t str),
    /// A name with a default: `X:-y`, `X:"y"`.
    Default(&'t str),
    /// A name with other text directly after it, such as an operator of a shell: `X%y`, `X/a/b`, `X$$y`.
    Extended(&'t str),
    /// It contains another reference.
    Nested,
    /// A name without its `)`: the one that follows belongs to other text.
    Unclosed(&'t str),
    /// A command or arithmetic for a shell.
    Command,
    /// A reference of another language, or text that only looks like a reference.
    Other,
}

impl<'t> ReferencePattern<'t> {
    /// Classifies a name; `declared` says whether a word is a variable here.
    pub(in crate::rules) fn of(name: &'t str, declared: impl Fn(&str) -> bool) -> Self {
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
        let rest = &name[word.len()..];
        let is_declared = !word.is_empty() && declared(word);
        match NameSuffix::of(rest) {
            _ if word.is_empty() => {}
            Some(NameSuffix::Default { is_certain }) if is_certain || is_declared || is_constant(word) => {
                return Self::Default(word);
            }
            Some(NameSuffix::Operator) => return Self::Extended(word),
            Some(NameSuffix::Other { may_be_operator }) if is_declared || may_be_operator && is_constant(word) => {
                return Self::Extended(word);
            }
            _ => {}
        }
        let first = name.split(char::is_whitespace).next().unwrap_or_default();
        let has_more = first.len() < trimmed.len();
        if is_declared && !rest.starts_with("$(") {
            return Self::Unclosed(word);
        }
        if !first.contains("$(") && is_command(first) && (has_more || first.contains('/')) {
            return Self::Command;
        }
        if name.contains("$(") {
            return Self::Nested;
        }
        // Since 1.32 any printable ASCII is a name (V2), but quotes and brackets indicate code or a pattern.
        let is_printable = name.bytes().all(|it| (0x20..=0x7e).contains(&it));
        let is_name =
            is_printable && !word.is_empty() && !name.contains(['\'', '"', '`', '[', '(', '{', '\\', '|', '=']);
        if is_name { Self::Name } else { Self::Other }
    }
}

/// The text after the name in a reference that is closed.
enum NameSuffix {
    /// A default; `is_certain` if it cannot be anything else.
    Default { is_certain: bool },
    /// An operator of a shell.
    Operator,
    /// Any other text without spaces, quotes and brackets, which would indicate that the reference is not closed.
    Other { may_be_operator: bool },
}

impl NameSuffix {
    fn of(rest: &str) -> Option<Self> {
        let first = rest.chars().next()?;
        let is_quoted = |text: &str| {
            let inner = ['"', '\''].iter().find_map(|it| text.strip_prefix(*it)?.strip_suffix(*it));
            inner.is_some_and(|it| !it.contains(['"', '\'']))
        };
        match rest.strip_prefix(':').map(|it| (it, it.chars().next())) {
            Some((_, Some('-' | '='))) => return Some(Self::Default { is_certain: true }),
            Some((_, Some('?' | '+'))) => return Some(Self::Operator),
            Some((value, _)) if is_quoted(value) => return Some(Self::Default { is_certain: true }),
            // Digits are a port or a position.
            Some((value, Some(it))) if it.is_ascii_alphabetic() && leading_name(value) == value => {
                return Some(Self::Default { is_certain: false });
            }
            _ => {}
        }
        let is_one_word = !rest.contains(|it: char| it.is_whitespace() || "\"'`()[]{}<>\\|;".contains(it));
        is_one_word.then(|| Self::Other { may_be_operator: ":%#/^,".contains(first) })
    }
}

/// Whether a word has only capital letters, digits and `_`, as no command has.
pub(in crate::rules) fn is_constant(word: &str) -> bool {
    word.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_')
}

/// The letters, digits, `_`, `-` and `.` at the start of a text.
pub(in crate::rules) fn leading_name(text: &str) -> &str {
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
pub(in crate::rules) fn is_other_language(name: &str) -> bool {
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
pub(in crate::rules) fn whole_reference(text: &str, range: Range<usize>) -> Range<usize> {
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
        for name in ["HOST", "a.b-c", "1", "my var#"] {
            let expected = if name == "my var#" { ReferencePattern::Command } else { ReferencePattern::Name };
            assert_eq!(shape(name), expected, "{name}");
        }
        assert_eq!(shape(" HOST "), ReferencePattern::Padded("HOST"));
        for name in ["X:-y", "X:=y", "X:\"a b\"", "X:'y'", "HOST:y", "X:y", "x:-y"] {
            assert!(matches!(shape(name), ReferencePattern::Default(_)), "{name}");
        }
        for name in ["X:?y", "X:+y", "HOST:80", "HOST%x", "HOST/a/b", "HOST$$x", "HOST@x", "X%%x", "X#x", "X^^"] {
            assert!(matches!(shape(name), ReferencePattern::Extended(_)), "{name}: {:?}", shape(name));
        }
        assert_eq!(shape("A$(B"), ReferencePattern::Nested);
        for name in ["HOST/a (b", "HOST b", "HOST\",\"x\":\"y", "HOST/,\"x", "HOST:$(PORT"] {
            assert_eq!(shape(name), ReferencePattern::Unclosed("HOST"), "{name}");
        }
        for name in ["date +%s", "/bin/date", "(1+2", "cat $(FILE", "./run.sh -x"] {
            assert_eq!(shape(name), ReferencePattern::Command, "{name}");
        }
        for name in ["params.x", "params['x']", "Build.BuildId", "{{ .Values.x }}", "${X}", "'#id'", "", "a|b", "ü"] {
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
