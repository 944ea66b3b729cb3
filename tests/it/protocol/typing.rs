//! The shop, typed over the protocol one character at a time: names are offered where they are needed, and an unfinished
//! text has syntax errors only where it is typed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use podlens::text::Encoding;
use serde_json::json;

use super::client::Setup;
use super::fixture::{covered, position};
use super::{Client, Fixture};

/// The demo workspace on disk.
fn shop() -> Fixture {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/shop");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the shop is there").map(|it| it.expect("a file").path()).collect();
    paths.sort();
    let mut all = String::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a fixture is text");
        let name = path.file_name().and_then(|it| it.to_str()).expect("a name");
        all += &format!("#- {name}\n{text}");
    }
    Fixture::new(&all)
}

/// The names that an `env` list declares before the entry at its end; nothing if the text does not end in such a list.
fn declared(text: &str) -> Option<BTreeSet<String>> {
    let lines: Vec<&str> = text.lines().collect();
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let start = lines.iter().rposition(|it| it.trim() == "env:")?;
    let column = indentation(lines[start]);
    let entries = &lines[start + 1..];
    // A list may start at the column of its key; a line further to the left is not part of it.
    let is_inside = |line: &&str| {
        let (own, line) = (indentation(line), line.trim());
        line.is_empty() || own > column || (own == column && line.starts_with("- "))
    };
    let names = entries.iter().filter_map(|it| it.trim().strip_prefix("- name: "));
    let mut names: Vec<String> = names.map(|it| it.split(" #").next().unwrap_or(it).trim().to_owned()).collect();
    // An entry cannot refer to itself.
    names.pop();
    entries.iter().all(is_inside).then(|| names.into_iter().collect())
}

/// The name of the reference in the complete text, unless it is declared only later.
fn wanted<'w>(typed: &str, whole: &'w str) -> Option<&'w str> {
    let rest = &whole[typed.len()..];
    let name = &rest[..rest.find(')')?];
    let is_name = name.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_');
    let is_declared =
        |text: &str| text.contains(&format!("name: {name}\n")) || text.contains(&format!("name: {name},"));
    (is_name && (is_declared(typed) || !is_declared(whole))).then_some(name)
}

/// The first line of the block that is being typed: the parent of the last line, or the topmost ancestor with an anchor,
/// since an anchored node is parsed as a whole. Braces in JSON are open to the end.
fn block(typed: &str, name: &str) -> usize {
    if name.ends_with(".json") {
        return 0;
    }
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = typed.lines().collect();
    let Some(last) = lines.iter().rposition(|it| !it.trim().is_empty()) else { return 0 };
    let above = |line: usize| {
        let own = indentation(lines[line]);
        lines[..line].iter().rposition(|it| !it.trim().is_empty() && indentation(it) < own)
    };
    let parents: Vec<usize> = std::iter::successors(above(last), |it| above(*it)).collect();
    let mut anchored = parents.iter().copied().filter(|it| lines[*it].contains(" &"));
    anchored.next_back().or(parents.first().copied()).unwrap_or(last)
}

/// Types a file and sends requests meanwhile.
fn type_file(fixture: &Fixture, name: &str, every: usize) {
    let mut client = Client::of(fixture, Setup::default());
    let uri = fixture.uri(name);
    let whole = fixture.text(name);
    client.open(&uri, "", 0);
    let mut version = 0;
    let mut typed = String::new();
    for (count, character) in whole.chars().enumerate() {
        let end = position(&typed, typed.len(), Encoding::Utf16);
        version += 1;
        client.change(&uri, version, json!([{"range": {"start": end, "end": end}, "text": character.to_string()}]));
        typed.push(character);
        // After `$$(` nothing is expanded, and nothing is offered.
        if typed.ends_with("$(") && !typed.ends_with("$$(") {
            let mut names = declared(&typed).unwrap_or_default();
            names.extend(wanted(&typed, whole).filter(|_| has_variables(name)).map(str::to_owned));
            offers(&mut client, &uri, &typed, &names);
        }
        if count % every == 0 {
            let found = client.pull(&uri)["items"].clone();
            for it in found.as_array().expect("a list").iter().filter(|it| it["code"] == "syntax-error") {
                let line = it["range"]["end"]["line"].as_u64().and_then(|it| usize::try_from(it).ok()).expect("a line");
                assert!(line >= block(&typed, name), "{it}: outside the typed block:\n{typed}¦");
            }
        }
    }
    client.ready(fixture);
    let mut fresh = Client::of(fixture, Setup::default());
    fresh.open(&uri, whole, 1);
    assert_eq!(client.pull(&uri)["items"], fresh.pull(&uri)["items"], "{name} typed is {name} opened");
}

/// Config maps contain texts that other programs expand, with unknown variables.
fn has_variables(name: &str) -> bool {
    name != "config.yaml"
}

/// After `$(` the known names are offered, and accepting one writes a whole reference.
fn offers(client: &mut Client, uri: &str, typed: &str, names: &BTreeSet<String>) {
    let caret = position(typed, typed.len(), Encoding::Utf16);
    let found = client.request("textDocument/completion", json!({"textDocument": {"uri": uri}, "position": caret}));
    let empty = Vec::new();
    let items = found["items"].as_array().unwrap_or(&empty);
    for name in names {
        let item = items.iter().find(|it| it["label"] == name.as_str());
        let item = item.unwrap_or_else(|| panic!("{name} is not offered at\n{typed}¦\n{found:.300}"));
        let edit = &item["textEdit"];
        let range = edit.get("replace").unwrap_or(&edit["range"]);
        let (before, new) = (covered(typed, range, Encoding::Utf16), edit["newText"].as_str().unwrap_or_default());
        let kept = &typed[..typed.len() - before.len()];
        assert!(format!("{kept}{new}").ends_with(&format!("$({name})")), "{item} at\n{typed}¦");
    }
}

#[test]
fn the_shop_is_typed() {
    let fixture = shop();
    let files: Vec<&String> = fixture.files.iter().map(|(name, _)| name).filter(|it| *it != "podlens.yaml").collect();
    // The quick run types one file; the slow run checks every character of all files.
    let (count, every) = (crate::cases(1, 1000) as usize, crate::cases(11, 1) as usize);
    let has_references = |it: &&&String| fixture.text(it).contains("$(");
    for name in files.iter().filter(has_references).chain(files.iter().filter(|it| !has_references(it))).take(count) {
        type_file(&fixture, name, every);
    }
}
