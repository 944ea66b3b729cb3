//! Whether a shell, or another interpreter, reads a text.
//!
//! Everything here is a guess from the text alone. A wrong guess leads to a missing finding, never to a false one.

use crate::resolve::shell_items;
use crate::syntax::{DollarTokenKind, dollar_tokens};

/// Whether a shell, or another interpreter with its own variables, reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellUse {
    /// No interpreter reads it.
    No,
    /// An interpreter may read it.
    Maybe,
    /// The entry point of the image may be an interpreter.
    EntryPoint,
    /// A shell reads it.
    Yes,
}

impl ShellUse {
    /// Who reads the value of an entry of `env`.
    pub fn of_value(value: &str) -> Self {
        if looks_like_script(value) { Self::Maybe } else { Self::No }
    }

    /// Who reads each item of a command line. Without a command the image decides what runs: it may be `sh -c` with the
    /// first item as its script.
    pub(super) fn of_items(items: &[&str], has_command: bool) -> Vec<Self> {
        let script = shell_items::script_index(items, has_command);
        let has_references = items.iter().any(|it| it.contains('$'));
        let first = |is_it: fn(&str) -> bool| items.iter().position(|it| has_references && is_it(it));
        let first_interpreter = first(is_interpreter);
        let first_option = first(shell_items::takes_command).filter(|_| !has_command);
        let is_after = |at: usize, first: Option<usize>| first.is_some_and(|it| at > it);
        let shell_use = |(at, item): (usize, &&str)| match script {
            Some(script) if script == at => Self::Yes,
            // Without a command, `-c` before the item may be the option of a shell.
            _ if is_after(at, first_interpreter) || is_after(at, first_option) => Self::Maybe,
            _ if !has_command && at == 0 && may_be_script(item) => Self::EntryPoint,
            _ => Self::No,
        };
        items.iter().enumerate().map(shell_use).collect()
    }
}

/// Programs that run their arguments as code, in a language in which `$` has a meaning.
const INTERPRETERS: [&str; 34] = [
    "shell",
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

/// Whether an item of a command line names a program that may read the items after it as code.
fn is_interpreter(item: &str) -> bool {
    let name = item.rsplit('/').next().unwrap_or(item);
    INTERPRETERS.contains(&name)
        || INTERPRETERS.contains(&name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.'))
}

/// Whether the first argument may be a script, if the image runs a shell: it has a space outside references.
fn may_be_script(item: &str) -> bool {
    let mut at = 0;
    let mut has_space = false;
    for token in dollar_tokens(item).filter(|it| it.kind == DollarTokenKind::Reference) {
        has_space |= item[at..token.range.start].contains(char::is_whitespace);
        at = token.range.end;
    }
    !item.starts_with('-') && (has_space || item[at..].contains(char::is_whitespace))
}

/// Whether programs expand `$X` in the value of a variable themselves: options that a start script inserts into its command
/// line, commands, and the settings of programs that document it.
pub fn is_expanded_by_programs(variable: &str) -> bool {
    const LAST_WORDS: [&str; 11] =
        ["OPTS", "ARGS", "OPTIONS", "ARGUMENTS", "PARAMS", "FLAGS", "CMD", "COMMAND", "COMMANDS", "SCRIPT", "PS1"];
    const FIRST_WORDS: [&str; 6] = ["ANSIBLE_", "AIRFLOW_", "SPRING_", "QUARKUS_", "MICRONAUT_", "GF_"];
    let variable = variable.to_ascii_uppercase();
    let last = variable.rsplit(['_', '.', '-']).next().unwrap_or_default();
    LAST_WORDS.contains(&last) || FIRST_WORDS.iter().any(|it| variable.starts_with(it))
}

/// Whether a value looks like a shell script, so that a shell will probably run it.
fn looks_like_script(value: &str) -> bool {
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
        assert!(
            is_interpreter("su")
                && is_interpreter("shell")
                && is_interpreter("/usr/bin/python3.11")
                && !is_interpreter("serve")
        );
        assert!(may_be_script("echo $(date)") && !may_be_script("--since=$(date +%s)") && !may_be_script("$(x y)"));
        assert!(looks_like_script("set -e\nrun\n") && !looks_like_script("a: b\nc: d\n"));
    }
}
