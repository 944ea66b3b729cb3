//! The demo workspaces are what they say: the right one parses, the broken ones make each mistake once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use podlens::syntax::parse;

/// The manifests of a workspace with their texts.
fn manifests(workspace: &str) -> BTreeMap<PathBuf, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(workspace);
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let paths = entries.map(|entry| entry.expect("a fixture is readable").path());
    paths.map(|path| (path.clone(), fs::read_to_string(path).expect("a fixture is text"))).collect()
}

/// The marked lines of a text, from 1, with the rule that finds something there.
fn mistakes(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let rule = |line| str::trim(line).strip_prefix("# mistake: ");
    (2..).zip(text.lines()).filter_map(move |(below, line)| Some((below, rule(line)?)))
}

#[test]
fn what_is_right_has_no_syntax_error() {
    for (path, text) in manifests("shop") {
        assert!(parse(&text).errors().is_empty(), "{}: {:?}", path.display(), parse(&text).errors());
        assert_eq!(mistakes(&text).count(), 0, "{}", path.display());
    }
}

#[test]
fn each_mistake_is_made_once() {
    let mut seen = BTreeMap::new();
    for (path, text) in manifests("shop-broken").into_iter().chain(manifests("shop-legacy")) {
        for (line, rule) in mistakes(&text) {
            let before = seen.insert(rule.to_owned(), path.clone());
            assert_eq!(before, None, "{}:{line}: {rule} is made twice", path.display());
        }
    }
    assert_eq!(seen.len(), 24);
}
