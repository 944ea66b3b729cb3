//! The facts that comments cite are headings in `docs/spec`, and the links of the documentation work.
//!
//! A citation is a number such as `B24` or `T3.8` in a comment or in prose, outside backticks. Inside backticks it is
//! code. See `docs/spec/README.md`.

mod comments;
mod markdown;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use comments::{hash_comments, rust_comments};
use markdown::{Heading, headings, links, prose};

use crate::tidy::{Source, assert_tidy, paths_below, project, read};

/// Where the facts are.
const SPEC: &str = "docs/spec/";

/// Words that, before a digit, cite a section or row instead of the number of a fact.
const UNNUMBERED: [&str; 4] = ["section", "sections", "row", "rows"];

#[test]
fn every_cited_fact_has_a_heading() {
    let facts: BTreeSet<String> = facts().into_iter().map(|fact| fact.number).collect();
    let mut findings = Vec::new();
    let mut cited = 0;
    for (path, block) in project_prose() {
        cited += if path.starts_with("src/") { citations(&block.text).len() } else { 0 };
        findings.extend(unresolved(&path, &block, &facts));
    }
    assert_tidy(&findings);
    assert!(cited > 100, "only {cited} citations found in src: are comments read at all?");
}

#[test]
fn every_fact_has_one_heading_and_a_source() {
    let mut findings = Vec::new();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for fact in facts() {
        let place = format!("{}:{}", fact.path, fact.line);
        if let Some(first) = known.insert(fact.number.clone(), place.clone()) {
            findings.push(format!("{place}: {} is also the heading at {first}", fact.number));
        }
        if fact.title.is_empty() {
            findings.push(format!("{place}: {} has no title", fact.number));
        }
        let mut paragraphs = fact.body.split("\n\n").map(|it| it.trim_start().replace('\n', " "));
        if !paragraphs.any(|it| it.starts_with("Source: ") && it.contains("Checked: ")) {
            findings.push(format!("{place}: {} lacks the line `Source: …. Checked: ….`", fact.number));
        }
    }
    for source in markdown_sources().into_iter().filter(|source| is_spec(&source.path)) {
        for heading in headings(&source.text).into_iter().filter(|it| it.level == 3) {
            if !is_number(first_word(&heading.text)) {
                findings.push(format!("{}:{}: a heading of this level is a fact", source.path, heading.line));
            }
        }
    }
    assert_tidy(&findings);
}

#[test]
fn the_index_of_facts_is_complete() {
    let index = read(&format!("{SPEC}README.md")).text;
    let mut last: BTreeMap<String, (u32, u32, String)> = BTreeMap::new();
    for fact in facts() {
        let letters = fact.number.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.').to_owned();
        let (first, second) =
            fact.number[letters.len()..].split_once('.').unwrap_or((&fact.number[letters.len()..], "0"));
        let order = (first.parse().expect("a number"), second.parse().expect("a number"), fact.number.clone());
        let entry = last.entry(letters).or_insert_with(|| order.clone());
        *entry = order.max(entry.clone());
    }
    let missing = last.values().filter(|(.., number)| !index.contains(&format!("`{number}`")));
    assert_tidy(
        &missing.map(|(.., number)| format!("{SPEC}README.md: the table lacks `{number}`")).collect::<Vec<_>>(),
    );
}

#[test]
fn links_of_the_documentation_point_to_files_and_headings() {
    let mut findings = Vec::new();
    for source in markdown_sources().into_iter().filter(|source| is_documentation(&source.path)) {
        for link in links(&source.text) {
            if let Some(problem) = broken(&source.path, &link.target) {
                findings.push(format!("{}:{}: `{}` {problem}", source.path, link.line, link.target));
            }
        }
    }
    assert_tidy(&findings);
}

/// A heading of `docs/spec` with a number.
struct Fact {
    number: String,
    title: String,
    /// The text below the heading.
    body: String,
    path: String,
    line: usize,
}

fn facts() -> Vec<Fact> {
    let mut facts = Vec::new();
    for source in markdown_sources().into_iter().filter(|source| is_spec(&source.path)) {
        let lines: Vec<&str> = source.text.lines().collect();
        let headings = headings(&source.text);
        for (index, heading) in headings.iter().enumerate() {
            let number = first_word(&heading.text);
            if heading.level == 3 && is_number(number) {
                let end = headings.get(index + 1).map_or(lines.len(), |next| next.line - 1);
                facts.push(Fact {
                    number: number.to_owned(),
                    title: heading.text[number.len()..].trim().to_owned(),
                    body: lines[heading.line..end].join("\n"),
                    path: source.path.clone(),
                    line: heading.line,
                });
            }
        }
    }
    facts
}

/// A text without its code, and the line it starts at.
struct Prose {
    line: usize,
    text: String,
}

impl Prose {
    fn line_at(&self, offset: usize) -> usize {
        self.line + self.text[..offset].matches('\n').count()
    }
}

/// The comments of Rust files and scripts, and the prose of Markdown files, each with its path.
fn project_prose() -> Vec<(String, Prose)> {
    let mut blocks = Vec::new();
    for path in paths_below(&project()) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let found = match extension {
            "rs" => rust_comments(&read(&path).text),
            "sh" => hash_comments(&read(&path).text),
            "md" => vec![(1, read(&path).text)],
            _ if path == "tests/run" => hash_comments(&read(&path).text),
            _ => Vec::new(),
        };
        blocks.extend(found.into_iter().map(|(line, text)| (path.clone(), Prose { line, text: prose(&text) })));
    }
    blocks
}

/// The citations of a text that no fact has, and those by section or row.
fn unresolved(path: &str, prose: &Prose, facts: &BTreeSet<String>) -> Vec<String> {
    let mut findings = Vec::new();
    for (offset, number) in citations(&prose.text) {
        if !facts.contains(number) {
            let line = prose.line_at(offset);
            findings.push(format!("{path}:{line}: {number} has no heading in {SPEC} (write code in backticks)"));
        }
    }
    for (offset, words) in unnumbered(&prose.text) {
        findings.push(format!("{path}:{}: cite the number of a fact instead of `{words}`", prose.line_at(offset)));
    }
    findings
}

/// The numbers of facts in a prose, with their offsets.
fn citations(prose: &str) -> Vec<(usize, &str)> {
    let is_joined = |it: char| it.is_alphanumeric() || "_%/#$".contains(it);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = prose[at..].find(|it: char| it.is_ascii_uppercase()).map(|it| at + it) {
        let length = number_length(&prose[start..]);
        let is_alone = !prose[..start].ends_with(is_joined)
            && !prose[start + length..].starts_with(|it: char| it.is_alphanumeric() || it == '_');
        if length > 0 && is_alone {
            found.push((start, &prose[start..start + length]));
        }
        at = start + length.max(1);
    }
    found
}

/// Whether a word is the number of a fact.
fn is_number(word: &str) -> bool {
    !word.is_empty() && number_length(word) == word.len()
}

/// The length of the number a text starts with: one or two capital letters, a number, and a second one after a dot.
fn number_length(text: &str) -> usize {
    let run = |text: &str, is_in: fn(&u8) -> bool| text.bytes().take_while(is_in).count();
    let letters = run(text, u8::is_ascii_uppercase);
    let digits = run(&text[letters..], u8::is_ascii_digit);
    if !(1..=2).contains(&letters) || !(1..=3).contains(&digits) {
        return 0;
    }
    let length = letters + digits;
    match text[length..].strip_prefix('.').map(|rest| run(rest, u8::is_ascii_digit)) {
        None | Some(0) => length,
        Some(more) => length + 1 + more,
    }
}

/// Places in a prose that are cited by section or row, with their offsets.
fn unnumbered(prose: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for word in UNNUMBERED {
        for (offset, _) in prose.to_ascii_lowercase().match_indices(word) {
            let after = &prose[offset + word.len()..];
            let digits = after.strip_prefix(' ').map_or(0, |it| it.bytes().take_while(u8::is_ascii_digit).count());
            if digits > 0 && !prose[..offset].ends_with(char::is_alphanumeric) {
                found.push((offset, &prose[offset..offset + word.len() + 1 + digits]));
            }
        }
    }
    found
}

/// What is wrong with the target of a link; `None` for web addresses.
fn broken(from: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = match file {
        "" => from.to_owned(),
        _ => resolve(from, file),
    };
    if !project().join(&path).exists() {
        return Some("does not exist".to_owned());
    }
    let anchor = anchor.filter(|_| path.ends_with(".md"))?;
    let anchors: Vec<Heading> = headings(&read(&path).text);
    (!anchors.iter().any(|it| it.anchor == anchor)).then(|| format!("names no heading of {path}"))
}

/// The path in the project of a relative path in the file `from`. For a path outside of the project it names no file.
fn resolve(from: &str, file: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in file.split('/').filter(|it| !it.is_empty() && *it != ".") {
        match part {
            ".." if parts.pop().is_none() => return "(outside the project)".to_owned(),
            ".." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn markdown_sources() -> Vec<Source> {
    let is_markdown = |path: &String| Path::new(path).extension().is_some_and(|it| it == "md");
    paths_below(&project()).into_iter().filter(is_markdown).map(|path| read(&path)).collect()
}

fn is_spec(path: &str) -> bool {
    path.starts_with(SPEC) && !path.ends_with("/README.md")
}

/// Whether people read a Markdown file as documentation: suites of tests are not.
fn is_documentation(path: &str) -> bool {
    !path.starts_with("fixtures/") || path == "fixtures/README.md"
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

#[test]
fn citations_are_numbers_outside_code() {
    let numbers = |text: &str| citations(&prose(text)).iter().map(|(_, it)| (*it).to_owned()).collect::<Vec<_>>();
    assert_eq!(numbers("B10: keys, see (A8, A21) and F10–F16."), ["B10", "A8", "A21", "F10", "F16"]);
    assert_eq!(numbers("T3.8, KA1 and H2.6; T9. End"), ["T3.8", "KA1", "H2.6", "T9"]);
    assert_eq!(numbers("A2: `Z0` and\n\n    indented: [a-zA-Z0-9]\n\n```text\nQ7\n```\n"), ["A2"]);
    assert_eq!(numbers("UTF8, K8s, x86, IPv4, U+FFFD, %C3, a/B1, #L3, $P1, xA1, B1_2, B64x, SHA256, B1234"), [""; 0]);
    assert_eq!(numbers("[text](a.md#B3) and [B4](b.md)"), ["B4"]);
}

#[test]
fn a_citation_without_a_heading_is_reported() {
    let facts = BTreeSet::from(["B10".to_owned(), "T3.8".to_owned()]);
    let report = |source: &str| {
        let blocks = rust_comments(source).into_iter().map(|(line, text)| Prose { line, text: prose(&text) });
        blocks.flat_map(|block| unresolved("a.rs", &block, &facts)).collect::<Vec<_>>()
    };
    assert_eq!(report("// B10: good.\nfn f() {} // (T3.8)\n"), [""; 0]);
    assert_eq!(report("let text = \"B99\"; // `B98`\n"), [""; 0]);
    let missing = |line: u32, number: &str| {
        format!("a.rs:{line}: {number} has no heading in docs/spec/ (write code in backticks)")
    };
    assert_eq!(report("/// One.\n/// See B11.\nfn f() {}\n"), [missing(2, "B11")]);
    assert_eq!(report("f(); // T3\n/* T3.9 */\n"), [missing(1, "T3"), missing(2, "T3.9")]);
    assert_eq!(
        report("// Rows 3 to 5 of the table, and section 9.\n"),
        ["section 9", "Rows 3"].map(|it| format!("a.rs:1: cite the number of a fact instead of `{it}`"))
    );
}

#[test]
fn broken_links_are_reported() {
    let from = "docs/spec/README.md";
    for target in
        ["https://example.com/x", "kubernetes.md", "../../README.md", "..", "presets.md#corrections", "#numbers"]
    {
        assert_eq!(broken(from, target), None, "{target}");
    }
    assert_eq!(broken(from, "none.md").as_deref(), Some("does not exist"));
    assert_eq!(broken(from, "../../../README.md").as_deref(), Some("does not exist"));
    assert_eq!(broken(from, "yaml.md#none").as_deref(), Some("names no heading of docs/spec/yaml.md"));
}
