//! The README shows the real output of commands. `UPDATE=1` writes it; otherwise a stale block fails.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use podlens::workspace::Settings;

/// The blocks between `<!-- begin: NAME -->` and `<!-- end: NAME -->`, and the arguments that fill them.
const BLOCKS: [(&str, &[&str]); 6] = [
    ("lint", &["lint", "fixtures/lint/app"]),
    ("env", &["env", "fixtures/shop/reports.yaml"]),
    ("views", &["views", "fixtures/views"]),
    ("process", &["process", "fixtures/templates/mongodb-openshift.yaml", "--parameters"]),
    (
        "wrap",
        &["wrap", "fixtures/templates/web.yaml", "--name", "web", "--param", "TAG=1.4.2", "--param", "REPLICAS=3"],
    ),
    (
        "expand",
        &["expand", "--set", "HOST=10.0.0.1", "--set", "PORT=80", "http://$(HOST):$(PORT)/?q=$$(HOST)&n=$(NOPE)"],
    ),
];

#[test]
fn the_readme_shows_real_output() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = project.join("README.md");
    let old = fs::read_to_string(&path).expect("README.md is readable");
    let mut new = old.clone();
    for (name, arguments) in BLOCKS {
        let output = Command::new(env!("CARGO_BIN_EXE_podlens"))
            .args(arguments)
            .current_dir(project)
            .env("NO_COLOR", "1")
            .output()
            .expect("podlens starts");
        let printed = String::from_utf8(output.stdout).expect("podlens prints UTF-8");
        let shown = arguments.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" ");
        new = with_block(&new, name, &format!("```console\n$ podlens {shown}\n{}\n```\n", printed.trim_end()));
    }
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, new).expect("README.md is writable");
    } else {
        assert!(old == new, "README.md is stale: UPDATE=1 cargo test --test it readme");
    }
}

#[test]
fn the_settings_in_the_readme_are_valid() {
    let readme = include_str!("../../README.md");
    let section = readme.split_once("## Settings\n").expect("a section").1;
    let text = section.split("```yaml\n").nth(1).and_then(|it| it.split("```").next()).expect("an example");
    let mistakes = podlens::rules::settings_errors(&Settings::parse(text));
    assert!(mistakes.is_empty(), "{mistakes:?}");
    for key in Settings::keys() {
        assert!(text.lines().any(|line| line.starts_with(&format!("{key}:"))), "{key} is not in the example");
    }
}

/// The text with new content between the markers of a block.
fn with_block(text: &str, name: &str, content: &str) -> String {
    let (begin, end) = (format!("<!-- begin: {name} -->\n"), format!("<!-- end: {name} -->\n"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("README.md has no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("README.md has no {end}"));
    format!("{before}{begin}\n{content}\n{end}{after}")
}

/// An argument as one would type it in a shell.
fn quoted(argument: &str) -> String {
    let plain = argument.chars().all(|character| character.is_alphanumeric() || "-_./=:".contains(character));
    if plain { argument.to_owned() } else { format!("'{argument}'") }
}
