//! Broken manifests, each with what is said about it and what is still known of its containers.
//!
//! A fixture is its own expectation: a row of `#`, blanks and `^` labels the line above it (`#<^` begins at the first
//! column), `#=` lines name the containers that are found all the same. Both are taken out before the text is parsed.
//! `UPDATE=1` writes them anew.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use podlens::k8s::objects_of;
use podlens::syntax::{SyntaxError, Tree, parse};

#[test]
fn broken_manifests_say_where_and_keep_the_rest() {
    let mut failures = String::new();
    for path in fixtures() {
        let written = fs::read_to_string(&path).expect("a fixture is text");
        let text = without_expectations(&written);
        let tree = parse(&text);
        let is = with_expectations(&text, &tree);
        if is != written {
            if std::env::var_os("UPDATE").is_some() {
                fs::write(&path, &is).expect("a fixture can be written");
            } else {
                let _ = writeln!(failures, "--- {} should be\n{written}--- but is\n{is}", path.display());
            }
        }
        if tree.errors().is_empty() {
            let _ = writeln!(failures, "--- {} is not broken", path.display());
        }
        // Below 8 KB and above it the text is read in two ways.
        let large = format!("{text}---\n{}", filler());
        let mistakes = |tree: &Tree| tree.errors().iter().map(|it| (it.span, it.message.clone())).collect::<Vec<_>>();
        if mistakes(&parse(&large)) != mistakes(&tree) {
            let _ = writeln!(failures, "--- {}: another document changes it", path.display());
        }
    }
    assert!(failures.is_empty(), "{failures}\n`UPDATE=1` accepts what is");
}

/// The mistakes in the examples of the proposals: one error each, at the place where the mistake was made.
#[test]
fn the_proposals_own_mistakes_cost_one_error() {
    for name in ["containers-one-column-too-deep", "containers-too-deep-with-command", "ports-and-volumes-mixed"] {
        let path = directory().join(format!("{name}.yaml"));
        let written = fs::read_to_string(&path).expect("a fixture is text");
        let errors = parse(&without_expectations(&written)).errors();
        assert_eq!(errors.len(), 1, "{name}: {errors:?}");
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join("recovery")
}

fn fixtures() -> Vec<PathBuf> {
    let entries = fs::read_dir(directory()).expect("the fixtures are readable");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a fixture is readable").path()).collect();
    paths.sort();
    paths
}

/// A healthy document that is read in pieces.
fn filler() -> String {
    (0..700).map(|index| format!("key{index}: value\n")).collect()
}

fn is_expectation(line: &str) -> bool {
    line.starts_with("#=")
        || line.strip_prefix('#').is_some_and(|row| row.trim_start_matches([' ', '<']).starts_with('^'))
}

fn without_expectations(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !is_expectation(line)).collect()
}

fn with_expectations(text: &str, tree: &Tree) -> String {
    let errors = tree.errors();
    let mut out = String::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        out.push_str(line);
        let end = start + line.len();
        for error in errors.iter().filter(|error| start <= error.span.start && error.span.start < end) {
            out.push_str(&label(line, start, error));
        }
        start = end;
    }
    for error in errors.iter().filter(|error| error.span.start >= text.len()) {
        out.push_str(&label("", text.len(), error));
    }
    for object in objects_of(tree) {
        for container in object.model.pods.iter().flat_map(|pod| &pod.containers) {
            let name = container.name.as_ref().map_or("?", |name| &*name.value);
            let env = container.env.iter().map(|it| it.name.as_ref().map_or("?", |name| &*name.value));
            let env: Vec<_> = env.collect();
            let line = format!("#= {:?} {name}: {}", container.role, env.join(" "));
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    out
}

/// The row below a line that shows an error in it.
fn label(line: &str, start: usize, error: &SyntaxError) -> String {
    let code = line.trim_end_matches(['\r', '\n']);
    let from = (error.span.start - start).min(code.len());
    let to = error.span.end.saturating_sub(start).clamp(from, code.len());
    let column = code[..from].chars().count();
    let carets = "^".repeat(code[from..to].chars().count().max(1));
    match column {
        0 => format!("#<{carets} {}\n", error.message),
        _ => format!("#{}{carets} {}\n", " ".repeat(column - 1), error.message),
    }
}
