//! `fixtures/commands` and `fixtures/designs`: commands in a terminal and what they print.
//!
//! A `console` block begins with `$ podlens …`. What the command prints to stdout and then to stderr follows, and `exit N`
//! unless the exit code is 0. It runs in a new directory with the files of the case, or in the root of the repository if
//! the case has no files. The rules in a SARIF log are left out: their documentation has its own tests. So is
//! the directory of the repository.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::command::{directory, project, run};
use crate::fixture::Case;
use crate::runner::Folder;

pub(crate) const COMMANDS: Folder =
    Folder { name: "commands", results: &["console"], has_labels: false, has_cursors: false, check };

pub(crate) const DESIGNS: Folder = Folder { name: "designs", ..COMMANDS };

fn check(_: &str, case: &Case) -> Result<Case, String> {
    let mut actual = case.clone();
    if actual.results().next().is_none() {
        return Err("expected a `console` block".into());
    }
    let files: Vec<(&str, &[u8])> = case.files().map(|file| (&*file.path, file.text.as_bytes())).collect();
    let new = (!files.is_empty()).then(|| directory(&files));
    let place = new.as_ref().map_or(project(), |new| new.path());
    for result in actual.results_mut() {
        let command = result.text.lines().next().and_then(|line| line.strip_prefix("$ podlens "));
        let command = command.ok_or(format!("line {}: expected `$ podlens …` in the first line", result.line + 1))?;
        result.text = format!("$ podlens {command}\n{}", printed(place, command));
    }
    Ok(actual)
}

/// What a person sees after entering a command.
fn printed(place: &Path, command: &str) -> String {
    let arguments: Vec<&str> = command.split_whitespace().collect();
    let (code, mut out, err) = run(place, &arguments, "");
    if arguments.contains(&"sarif") {
        out = without_rules(&out);
    }
    let mut text = String::new();
    for part in [out, err] {
        text.push_str(&part);
        if !part.is_empty() && !part.ends_with('\n') {
            text.push('\n');
        }
    }
    if code != 0 {
        let _ = writeln!(text, "exit {code}");
    }
    text
}

fn without_rules(text: &str) -> String {
    let mut log: Value = serde_json::from_str(text).expect("a SARIF log is JSON");
    log["runs"][0]["tool"]["driver"]["rules"] = Value::Array(Vec::new());
    log["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]["uri"] = "file:///the/root/".into();
    for result in log["runs"][0]["results"].as_array_mut().expect("results") {
        result["ruleIndex"] = 0.into();
    }
    serde_json::to_string_pretty(&log).expect("JSON") + "\n"
}
