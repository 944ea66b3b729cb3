//! The demo workspaces: `shop` has no mistake, `shop-broken` and `shop-legacy` have each mistake once, marked by a comment.

use std::collections::BTreeMap;
use std::fs;

use podlens::rules;
use podlens::syntax::parse;

use crate::command::project;
use crate::findings::Files;

/// A comment in front of a line with a mistake; the name of the rule follows.
const MARKER: &str = "# mistake: ";

/// The files of a folder in `fixtures`.
pub(crate) fn manifests(folder: &str) -> Files {
    let directory = project().join("fixtures").join(folder);
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let paths = entries.map(|entry| entry.expect("a fixture is readable").path());
    let name = |path: &std::path::Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.map(|path| (name(&path), fs::read_to_string(path).expect("a fixture is text"))).collect()
}

/// The lines below the markers, from 1, with the rule that finds something there.
pub(crate) fn mistakes<'t>(path: &'t str, text: &'t str) -> impl Iterator<Item = (u32, &'t str)> {
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let rule = line.trim().strip_prefix(MARKER)?;
        assert!(
            rules::find_rule(rule).is_some(),
            "{path}:{number}: there is no rule `{rule}`: `podlens explain` lists them"
        );
        Some((number + 1, rule))
    })
}

#[test]
fn the_shop_has_no_syntax_error_and_no_mistake() {
    for (path, text) in manifests("shop") {
        assert!(parse(&text).errors().is_empty(), "{path}: {:?}", parse(&text).errors());
        assert_eq!(mistakes(&path, &text).collect::<Vec<_>>(), [], "fixtures/shop/{path}");
    }
}

#[test]
fn each_mistake_is_made_once() {
    let mut seen = BTreeMap::new();
    for folder in ["shop-broken", "shop-legacy"] {
        for (path, text) in manifests(folder) {
            for (line, rule) in mistakes(&path, &text) {
                let place = format!("fixtures/{folder}/{path}:{line}");
                if let Some(other) = seen.insert(rule.to_owned(), place.clone()) {
                    panic!("{place}: {rule} is also made in {other}");
                }
            }
        }
    }
}
