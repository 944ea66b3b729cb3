//! Whether a shell, or another interpreter, reads a text.
//!
//! Everything here is a guess from the text alone. A wrong guess leads to a missing finding, never to a false one.

use crate::syntax::{DollarTokenKind, dollar_tokens};

/// Whether a shell, or another interpreter with its own variables, reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum ShellUse {
    /// No interpreter reads it.
    No,
    /// An interpreter may read it.
    Maybe,
    /// The entry point of the image may be an interpreter.
    EntryPoint,
    /// A shell reads it.
    Yes,
}

/// Programs that run their arguments as code, in a language in which `$` has a meaning.
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

/// Whether an interpreter reads an item of a command line that does not look like a script.
pub(in crate::rules) fn detect_reader(items: &[&str], at: usize, has_command: bool) -> ShellUse {
    let is_interpreter = |item: &&str| {
        let name = item.rsplit('/').next().unwrap_or(item);
        INTERPRETERS.contains(&name)
            || INTERPRETERS.contains(&name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.'))
    };
    if items[..at].iter().any(is_interpreter) {
        return ShellUse::Maybe;
    }
    // Without a command the image decides what runs: it may be `sh -c` with this item as its script.
    let item = items[at];
    let outside = || {
        let mut at = 0;
        let mut has_space = false;
        for token in dollar_tokens(item).filter(|it| it.kind == DollarTokenKind::Reference) {
            has_space |= item[at..token.range.start].contains(char::is_whitespace);
            at = token.range.end;
        }
        has_space || item[at..].contains(char::is_whitespace)
    };
    if !has_command && at == 0 && !item.starts_with('-') && outside() { ShellUse::EntryPoint } else { ShellUse::No }
}

/// Whether a value looks like a shell script, so that a shell will probably run it.
pub(in crate::rules) fn looks_like_script(value: &str) -> bool {
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
    fn readers() {
        assert_eq!(detect_reader(&["serve", "$(x)"], 1, true), ShellUse::No);
        assert_eq!(detect_reader(&["su", "-c", "$(x y)"], 2, true), ShellUse::Maybe);
        assert_eq!(detect_reader(&["python3.11", "-c", "$(x y)"], 2, true), ShellUse::Maybe);
        assert_eq!(detect_reader(&["echo $(date)"], 0, false), ShellUse::EntryPoint);
        assert_eq!(detect_reader(&["--since=$(date +%s)"], 0, false), ShellUse::No);
        assert!(looks_like_script("set -e\nrun\n") && !looks_like_script("a: b\nc: d\n"));
    }
}
