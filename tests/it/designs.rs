//! The designs podlens brings to life, example by example: `fixtures/designs`, read as a session at a terminal.
//!
//! A heading is a case, a `yaml` or `env` fence with a name behind it a file of a workspace, and a `console` fence a
//! command there with what it prints: first stdout, then notices, then how it ended unless that is 0. `UPDATE=1`
//! rewrites what is printed.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::commands::{directory, project, run};

/// A piece of a document: text that stays, or a command with its output.
enum Part {
    Text(String),
    Command { line: String, printed: String },
}

struct Case {
    title: String,
    files: Vec<(String, String)>,
    parts: Vec<Part>,
}

#[test]
fn every_example_prints_what_is_written() {
    let mut failures = String::new();
    let mut commands = 0;
    for path in documents() {
        let old = fs::read_to_string(&path).expect("a document");
        let mut new = String::new();
        for case in read(&old) {
            let files: Vec<(&str, &[u8])> = case.files.iter().map(|(path, text)| (&**path, text.as_bytes())).collect();
            let place = directory(&files);
            for part in &case.parts {
                let Part::Command { line, printed } = part else {
                    if let Part::Text(text) = part {
                        new.push_str(text);
                    }
                    continue;
                };
                commands += 1;
                let arguments: Vec<&str> = line.split_whitespace().collect();
                let is = session(&run(place.path(), &arguments, ""));
                let _ = write!(new, "```console\n$ podlens {line}\n{is}```\n");
                if is != *printed {
                    let _ = writeln!(failures, "{}: {}\n$ podlens {line}\n{is}", path.display(), case.title);
                }
            }
        }
        if std::env::var_os("UPDATE").is_some() && old != new {
            fs::write(&path, new).expect("written");
        }
    }
    assert!(
        std::env::var_os("UPDATE").is_some() || failures.is_empty(),
        "UPDATE=1 cargo test --test it designs\n{failures}"
    );
    assert!(commands > 0, "no commands in fixtures/designs");
}

/// What a person sees of a command.
fn session((code, out, err): &(i32, String, String)) -> String {
    let mut text = String::new();
    for part in [out, err] {
        text.push_str(part);
        if !part.is_empty() && !part.ends_with('\n') {
            text.push('\n');
        }
    }
    if *code != 0 {
        let _ = writeln!(text, "exit {code}");
    }
    text
}

/// The workspaces of a document: each with its title and its files.
pub(crate) fn examples(document: &str) -> Vec<(String, Vec<(String, String)>)> {
    let text = fs::read_to_string(project().join("fixtures/designs").join(document)).expect("a document");
    let cases = read(&text).into_iter().filter(|it| !it.files.is_empty());
    cases.map(|it| (it.title, it.files)).collect()
}

fn documents() -> Vec<PathBuf> {
    let entries = fs::read_dir(project().join("fixtures/designs")).expect("fixtures/designs");
    let mut all: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.sort();
    all
}

fn read(document: &str) -> Vec<Case> {
    let mut cases = vec![Case { title: String::new(), files: Vec::new(), parts: Vec::new() }];
    let mut lines = document.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            cases.push(Case { title: title.trim().into(), files: Vec::new(), parts: Vec::new() });
        }
        let case = cases.last_mut().expect("a case");
        let Some(info) = line.strip_prefix("```").map(str::trim) else {
            case.parts.push(Part::Text(line.into()));
            continue;
        };
        let mut body: String = lines.by_ref().take_while(|line| line.trim_end() != "```").collect();
        if info == "console" {
            let command = body.lines().next().and_then(|it| it.strip_prefix("$ podlens ")).expect("`$ podlens …`");
            let line = command.to_owned();
            body.drain(..body.find('\n').map_or(body.len(), |end| end + 1));
            case.parts.push(Part::Command { line, printed: body });
        } else {
            case.parts.push(Part::Text(format!("{line}{body}```\n")));
            if let Some(path) = info.split_whitespace().nth(1) {
                case.files.push((path.to_owned(), body));
            }
        }
    }
    cases
}
