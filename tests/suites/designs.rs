//! `fixtures/designs`: examples of designs, as sessions in a terminal.
//!
//! A `console` block is a command in a directory with the files of the case: `$ podlens …`, what it prints to stdout and
//! then to stderr, and `exit N` unless the exit code is 0.

use std::fmt::Write as _;

use crate::command::{directory, run};
use crate::fixture::Case;
use crate::runner::Folder;

pub(crate) const FOLDER: Folder =
    Folder { name: "designs", results: &["console"], has_labels: false, has_cursors: false, check };

fn check(_: &str, case: &Case) -> Result<Case, String> {
    let files: Vec<(&str, &[u8])> = case.files().map(|file| (&*file.path, file.text.as_bytes())).collect();
    let directory = directory(&files);
    let mut actual = case.clone();
    if actual.results().next().is_none() {
        return Err("expected a `console` block".into());
    }
    for result in actual.results_mut() {
        let command = result.text.lines().next().and_then(|line| line.strip_prefix("$ podlens "));
        let command = command.ok_or(format!("line {}: expected `$ podlens …` in the first line", result.line + 1))?;
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let (code, out, err) = run(directory.path(), &arguments, "");
        let mut text = format!("$ podlens {command}\n");
        for part in [out, err] {
            text.push_str(&part);
            if !part.is_empty() && !part.ends_with('\n') {
                text.push('\n');
            }
        }
        if code != 0 {
            let _ = writeln!(text, "exit {code}");
        }
        result.text = text;
    }
    Ok(actual)
}
