//! Finds shell scripts in a command line. In a script `$(name)` is a command substitution, unless a variable has this
//! name.

use crate::k8s::Text;
use crate::syntax::has_placeholder;

/// The index of the script in a command line: the first item after a shell and its options, if these include `-c`.
///
/// Without a `command` the image decides what runs; arguments that start with `-c` are then also a script.
pub fn script_index(items: &[&str], has_command: bool) -> Option<usize> {
    if !has_command && items.first().is_some_and(|it| takes_command(it)) {
        return index_after_options(items, 0);
    }
    items.iter().enumerate().filter(|(_, it)| is_shell(it)).find_map(|(at, _)| index_after_options(items, at + 1))
}

/// Whether a text of a container is a script in a list, such as the command of a hook. `texts` are the texts with their
/// paths, `at` is the index of this one.
pub fn is_script_item(texts: &[(String, Text)], at: usize) -> bool {
    let list = |path: &str| path.strip_suffix(']').and_then(|it| it.rfind('[')).unwrap_or(path.len());
    let Some((path, _)) = texts.get(at) else { return false };
    let prefix = &path[..list(path)];
    if prefix.len() == path.len() {
        return false;
    }
    let same = |it: &&(String, Text)| it.0[..list(&it.0)] == *prefix;
    let first = at - texts[..at].iter().rev().take_while(same).count();
    let items: Vec<&str> = texts[first..].iter().take_while(same).map(|(_, text)| &*text.value).collect();
    script_index(&items, true) == Some(at - first)
}

/// Whether an item is a shell: `sh`, `/bin/bash` and so on. Other programs (`env`, `busybox`, `tini --`) may come
/// before it. A Helm expression may also result in a shell.
fn is_shell(item: &str) -> bool {
    if has_placeholder(item) {
        return true;
    }
    let name = item.rsplit(['/', '\\']).next().unwrap_or(item);
    matches!(name, "sh" | "bash" | "ash" | "dash" | "zsh" | "ksh")
}

/// The index of the first item from `start` that is not an option, if the options include `-c`.
fn index_after_options(items: &[&str], start: usize) -> Option<usize> {
    let mut at = start;
    let mut has_script = false;
    while let Some(item) = items.get(at) {
        if *item == "--" {
            at += 1;
            break;
        }
        if item.len() < 2 || !item.starts_with(['-', '+']) {
            break;
        }
        has_script |= takes_command(item);
        // `-o pipefail`, also as the last of combined options.
        let has_value =
            !item.starts_with("--") && item.ends_with(['o', 'O']) || matches!(*item, "--rcfile" | "--init-file");
        at += 1 + usize::from(has_value);
    }
    (has_script && at < items.len()).then_some(at)
}

/// Whether an option includes `-c`: `-c`, `-ec`, `-lc`, `-euxc` …
pub(super) fn takes_command(item: &str) -> bool {
    item.strip_prefix('-').is_some_and(|it| it.contains('c') && it.bytes().all(|it| it.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_come_after_a_shell_with_c() {
        let found = |items: &[&str]| script_index(items, true);
        assert_eq!(found(&["sh", "-c", "x"]), Some(2));
        assert_eq!(found(&["/bin/bash", "-euo", "pipefail", "-c", "x", "y"]), Some(4));
        assert_eq!(found(&["/usr/bin/env", "bash", "-lc", "x"]), Some(3));
        assert_eq!(found(&["busybox", "sh", "-ec", "x"]), Some(3));
        assert_eq!(found(&["tini", "--", "sh", "-c", "--", "x"]), Some(5));
        assert_eq!(found(&["sh", "-c", "-e", "x"]), Some(3));
        assert_eq!(found(&["sh", "script.sh", "-c", "x"]), None);
        assert_eq!(found(&["bash", "--norc", "x"]), None);
        assert_eq!(found(&["serve", "-c", "x"]), None);
        assert_eq!(found(&["sh", "-c"]), None);
    }

    #[test]
    fn the_image_may_run_a_shell() {
        assert_eq!(script_index(&["-c", "x"], false), Some(1));
        assert_eq!(script_index(&["sh", "-c", "x"], false), Some(2));
        assert_eq!(script_index(&["--config", "x"], false), None);
    }
}
