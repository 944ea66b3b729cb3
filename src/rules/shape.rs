//! What a text in `$(…)` looks like: a name, a mistake in writing one, a command; and whether a shell may read it.
//!
//! Everything here is a guess from the text alone, made so that a wrong guess is silent.

use std::ops::Range;

use crate::syntax::{DollarTokenKind, dollar_tokens};

/// What stands between `$(` and the first `)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape<'t> {
    /// A name, as far as can be told.
    Name,
    /// A name with blanks around it.
    Padded(&'t str),
    /// A name with a default, as shells write it.
    Default(&'t str),
    /// Another reference inside.
    Nested,
    /// A name that is not closed: the `)` belongs to something else.
    Unclosed(&'t str),
    /// A command or arithmetic for a shell.
    Command,
    /// Another language's reference, or text that only looks like one.
    Other,
}

impl<'t> Shape<'t> {
    /// The shape of a name; `declared` says whether a word is a variable here.
    pub(super) fn of(name: &'t str, declared: impl Fn(&str) -> bool) -> Self {
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
        let behind = &name[word.len()..];
        let is_operator =
            behind.starts_with(':') && matches!(behind.as_bytes().get(1), Some(b'-' | b'=' | b'?' | b'+'));
        if !word.is_empty() && is_operator {
            return Self::Default(word);
        }
        let first = name.split(char::is_whitespace).next().unwrap_or_default();
        let has_more = first.len() < trimmed.len();
        if !word.is_empty() && declared(word) && !behind.starts_with("$(") {
            return Self::Unclosed(word);
        }
        if !first.contains("$(") && is_command(first) && (has_more || first.contains('/')) {
            return Self::Command;
        }
        if name.contains("$(") {
            return Self::Nested;
        }
        // Since 1.32 any printable ASCII is a name (V2), but quotes and brackets speak of code or a pattern.
        let is_printable = name.bytes().all(|it| (0x20..=0x7e).contains(&it));
        let is_name =
            is_printable && !word.is_empty() && !name.contains(['\'', '"', '`', '[', '(', '{', '\\', '|', '=']);
        if is_name { Self::Name } else { Self::Other }
    }
}

/// The letters, digits, `_`, `-` and `.` that a text begins with.
pub(super) fn leading_name(text: &str) -> &str {
    let end = text.bytes().take_while(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.')).count();
    &text[..end]
}

/// `cat`, `/bin/date`, `./run.sh`.
fn is_command(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || matches!(it, b'/' | b'.' | b'_'))
        && bytes.all(|it| it.is_ascii_alphanumeric() || matches!(it, b'/' | b'.' | b'_' | b'-' | b'+'))
}

/// Tekton's and Azure's roots, and references with a template's expression in them.
fn is_other_language(name: &str) -> bool {
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

/// The reference up to the `)` that closes it, as a person reads it: `$(A$(B))` and `$((1+2))` whole.
pub(super) fn whole(text: &str, range: Range<usize>) -> Range<usize> {
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

/// Whether a shell, or another interpreter with variables of its own, reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shell {
    /// Nothing does.
    No,
    /// Something may.
    Maybe,
    /// The entry point of the image may be one.
    EntryPoint,
    /// A shell does.
    Yes,
}

/// Programs that run text given to them as code, in a language where `$` means something.
const INTERPRETERS: [&str; 33] = [
    "su",
    "sudo",
    "runuser",
    "ssh",
    "fish",
    "csh",
    "tcsh",
    "mksh",
    "pwsh",
    "powershell",
    "powershell.exe",
    "cmd",
    "cmd.exe",
    "make",
    "watch",
    "flock",
    "script",
    "expect",
    "eval",
    "xargs",
    "parallel",
    "envsubst",
    "python",
    "node",
    "nodejs",
    "deno",
    "perl",
    "ruby",
    "php",
    "awk",
    "gawk",
    "jq",
    "yq",
];

/// Who reads an item of a command line that is no script by its looks.
pub(super) fn reader(items: &[&str], at: usize, has_command: bool) -> Shell {
    let is_interpreter = |item: &&str| {
        let name = item.rsplit('/').next().unwrap_or(item);
        INTERPRETERS.contains(&name)
            || INTERPRETERS.contains(&name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.'))
    };
    if items[..at].iter().any(is_interpreter) {
        return Shell::Maybe;
    }
    // Without a command the image decides what runs; it may be `sh -c`, and this its script.
    let item = items[at];
    let outside = || {
        let mut at = 0;
        let mut blank = false;
        for token in dollar_tokens(item).filter(|it| it.kind == DollarTokenKind::Reference) {
            blank |= item[at..token.range.start].contains(char::is_whitespace);
            at = token.range.end;
        }
        blank || item[at..].contains(char::is_whitespace)
    };
    if !has_command && at == 0 && !item.starts_with('-') && outside() { Shell::EntryPoint } else { Shell::No }
}

/// Whether a value is a shell script by its looks: it will be handed to a shell by someone.
pub(super) fn looks_like_script(value: &str) -> bool {
    const WORDS: [&str; 12] =
        ["if ", "for ", "while ", "case ", "set -", "set +", "export ", "echo ", "exec ", "trap ", "fi", "done"];
    value.starts_with("#!")
        || value.trim_end().contains('\n')
            && value.lines().any(|line| WORDS.iter().any(|word| line.trim_start().starts_with(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        let shape = |name| Shape::of(name, |word| word == "HOST");
        for name in ["HOST", "a.b-c", "1", "my var#"] {
            let expected = if name == "my var#" { Shape::Command } else { Shape::Name };
            assert_eq!(shape(name), expected, "{name}");
        }
        assert_eq!(shape(" HOST "), Shape::Padded("HOST"));
        assert_eq!(shape("X:-y"), Shape::Default("X"));
        assert_eq!(shape("A$(B"), Shape::Nested);
        assert_eq!(shape("HOST/a (b"), Shape::Unclosed("HOST"));
        for name in ["date +%s", "/bin/date", "(1+2", "cat $(FILE", "./run.sh -x"] {
            assert_eq!(shape(name), Shape::Command, "{name}");
        }
        for name in ["params.x", "params['x']", "Build.BuildId", "{{ .Values.x }}", "${X}", "'#id'", "", "a|b", "ü"] {
            assert_eq!(shape(name), Shape::Other, "{name}");
        }
    }

    #[test]
    fn a_reference_ends_where_its_reader_sees_the_end() {
        assert_eq!(whole("x$(A$(B))y", 1..8), 1..9);
        assert_eq!(whole("$((1+2)) $(B)", 0..7), 0..8);
        assert_eq!(whole("$(A$(B)\n)", 0..7), 0..7);
    }

    #[test]
    fn readers() {
        assert_eq!(reader(&["serve", "$(x)"], 1, true), Shell::No);
        assert_eq!(reader(&["su", "-c", "$(x y)"], 2, true), Shell::Maybe);
        assert_eq!(reader(&["python3.11", "-c", "$(x y)"], 2, true), Shell::Maybe);
        assert_eq!(reader(&["echo $(date)"], 0, false), Shell::EntryPoint);
        assert_eq!(reader(&["--since=$(date +%s)"], 0, false), Shell::No);
        assert!(looks_like_script("set -e\nrun\n") && !looks_like_script("a: b\nc: d\n"));
    }
}
