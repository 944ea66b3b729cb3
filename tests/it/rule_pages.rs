//! `docs/rules` has a page for each rule, with the text that `podlens explain` prints. `UPDATE=1` writes the pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use podlens::rules::{RULES, index_page, index_path, index_url};
use serde_json::Value;

use crate::command::run;
use crate::tidy::{assert_tidy, paths_below, project, read};

const NOTE: &str =
    "<!-- Written by `UPDATE=1 cargo test --test it rule_pages` from src/rules/checks. Do not edit. -->\n\n";

/// The pages as they have to be, by path.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::from([(index_path(), format!("{NOTE}{}", index_page()))]);
    for rule in RULES {
        let file = rule.name.replace('-', "_");
        let links = format!(
            "[All rules](README.md) · [source](../../src/rules/checks/{file}.rs) · [tests](../../fixtures/rules/{}.md)",
            rule.name
        );
        pages.insert(rule.page_path(), format!("{NOTE}{}\n{links}\n", rule.page()));
    }
    pages
}

/// With `UPDATE=1` the pages are written once, before any test reads one.
static UPDATED: LazyLock<()> = LazyLock::new(|| {
    if std::env::var_os("UPDATE").is_none() {
        return;
    }
    let pages = pages();
    fs::create_dir_all(folder()).expect("the folder of the pages");
    for (path, text) in &pages {
        fs::write(project().join(path), text).expect("writing a page");
    }
    for path in paths_below(&folder()).iter().filter(|path| !pages.contains_key(*path)) {
        fs::remove_file(project().join(path)).expect("removing the page of a rule that is gone");
    }
});

fn folder() -> PathBuf {
    project().join(index_path()).parent().expect("a folder").to_path_buf()
}

#[test]
fn the_pages_are_up_to_date() {
    LazyLock::force(&UPDATED);
    let pages = pages();
    let mut findings = Vec::new();
    for (path, text) in &pages {
        if fs::read_to_string(project().join(path)).ok().as_ref() != Some(text) {
            findings.push(format!("{path} is stale: UPDATE=1 cargo test --test it rule_pages"));
        }
    }
    for path in paths_below(&folder()).iter().filter(|path| !pages.contains_key(*path)) {
        findings.push(format!("{path} is the page of no rule: UPDATE=1 cargo test --test it rule_pages"));
    }
    assert_tidy(&findings);
}

/// The file of the repository that an address shows.
fn file_of(url: &str) -> String {
    LazyLock::force(&UPDATED);
    let path = url.strip_prefix(concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/"));
    let path = path.unwrap_or_else(|| panic!("{url} is not a page of the repository"));
    let exists = project().join(path).is_file();
    assert!(exists && !read(path).text.is_empty(), "{path} is missing: UPDATE=1 cargo test --test it rule_pages");
    path.to_owned()
}

#[test]
fn every_address_shows_a_page() {
    assert_eq!(file_of(&index_url()), index_path());
    for rule in RULES {
        assert_eq!(file_of(&rule.url()), rule.page_path());
    }
}

#[test]
fn explain_prints_the_page_and_its_address() {
    for rule in RULES {
        let (code, out, _) = run(&project(), &["explain", rule.name], "");
        assert_eq!((code, out), (0, rule.page()));
        let (code, out, _) = run(&project(), &["explain", "--url", rule.name], "");
        assert_eq!((code, out), (0, format!("{}\n", rule.url())));
    }
    let (code, out, _) = run(&project(), &["explain", "--url"], "");
    assert_eq!((code, out), (0, format!("{}\n", index_url())));
}

#[test]
fn sarif_links_the_pages() {
    let (_, out, _) = run(&project(), &["lint", "fixtures/lint/app", "--format", "sarif"], "");
    let log: Value = serde_json::from_str(&out).expect("SARIF is JSON");
    let driver = &log["runs"][0]["tool"]["driver"];
    file_of(driver["informationUri"].as_str().expect("an address"));
    let rules = driver["rules"].as_array().expect("a list of rules");
    let ids: Vec<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    assert_eq!(ids, RULES.iter().map(|rule| rule.name).collect::<Vec<_>>());
    for rule in rules {
        let path = file_of(rule["helpUri"].as_str().expect("an address"));
        assert_eq!(path, format!("docs/rules/{}.md", rule["id"].as_str().expect("a name")));
    }
}
