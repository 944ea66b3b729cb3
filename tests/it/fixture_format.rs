//! The parser of the fixtures: what it reads, that it writes the same text again, and that it rejects everything else.

use crate::fixture::{Label, Suite, parse_files};

const SUITE: &str = "# Title

Text before the first test.

## First
Prose.
```yaml
kind: Pod
#<^^^ syntax-error
  name: $(A)
#       ^^^^ undefined-variable (hint): message: with a colon
#            ^… duplicate-key
```
```env
#- a/b.env crlf
A=$01
B=2
```
````text
```yaml
```
````

## Second
```yaml
#- a.yaml no-final-newline
a: $0
#- b.json
{}
# a comment
#comment
#!/bin/sh
```
```diff 2
```
";

fn parse(text: &str) -> Result<Suite, String> {
    Suite::parse("s.md", text, |rule| rule != "no-rule")
}

#[test]
fn a_suite_is_read_and_written() {
    let suite = parse(SUITE).expect("it follows the format");
    assert_eq!(suite.to_string(), SUITE);
    let titles: Vec<_> = suite.cases.iter().map(|case| (case.title.as_str(), case.line)).collect();
    assert_eq!(titles, [("First", 5), ("Second", 24)]);
    let files: Vec<_> =
        suite.cases[0].files().map(|file| (file.path.as_str(), file.text.as_str(), &file.cursors[..])).collect();
    let expected: [(&str, &str, &[usize]); 2] =
        [("manifest.yaml", "kind: Pod\n  name: $(A)\n", &[]), ("a/b.env", "A=1\r\nB=2\r\n", &[2])];
    assert_eq!(files, expected);
    let label =
        |line, start, end, rule: &str| Label { line, start, end, rule: rule.into(), level: None, message: None };
    let labels = &suite.cases[0].files().next().expect("a file").labels;
    let expected = [
        label(1, 1, Some(4), "syntax-error"),
        Label {
            level: Some("hint".into()),
            message: Some("message: with a colon".into()),
            ..label(2, 9, Some(13), "undefined-variable")
        },
        label(2, 14, None, "duplicate-key"),
    ];
    assert_eq!(labels[..], expected);
    let files: Vec<_> = suite.cases[1].files().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    assert_eq!(files, [("a.yaml", "a: "), ("b.json", "{}\n# a comment\n#comment\n#!/bin/sh\n")]);
    let results: Vec<_> = suite.cases.iter().flat_map(|case| case.results()).collect();
    let results: Vec<_> = results.iter().map(|it| (&*it.kind, &*it.argument, &*it.text, it.line)).collect();
    assert_eq!(results, [("text", "", "```yaml\n```\n", 19), ("diff", "2", "", 34)]);
}

#[test]
fn results_are_written_where_they_were_or_at_the_end() {
    let mut suite = parse("## A\n```yaml\na: 1\n```\n\n## B\n```text\nold\n```\n").expect("it follows the format");
    for case in &mut suite.cases {
        case.set_result("text", "new\n".to_owned());
    }
    let expected = "## A\n```yaml\na: 1\n```\n```text\nnew\n```\n\n## B\n```text\nnew\n```\n";
    assert_eq!(suite.to_string(), expected);
}

#[test]
fn mistakes_in_a_suite_name_the_line_and_what_was_expected() {
    for (text, expected) in [
        ("```yaml\n```\n", "s.md:1: expected a `## ` heading before the first fence"),
        ("## A\n## A\n", "s.md:2: line 1 has the same heading: each one is the name of a test"),
        ("## A\n### B\n", "s.md:2: expected `## ` for a test and backticks for a fence"),
        ("## A\n~~~text\n~~~\n", "s.md:2: expected `## ` for a test and backticks for a fence"),
        ("## A\n```yaml\n", "s.md:2: this fence is not closed: expected a line `"),
        ("## A\n```toml\n```\n", "s.md:2: unknown language `toml` of a fence: expected `yaml`, `json`, `env`, `diff`"),
        ("## A\n```yaml a.yaml\n```\n", "s.md:2: `a.yaml` after `yaml`: a file is named in the block, by `#- path`"),
        ("## A\n```yaml\n#- a lf\n```\n", "s.md:3: unknown flag `lf`: expected `crlf` or `no-final-newline`"),
        ("## A\n```yaml\n#- \n```\n", "s.md:3: expected a path after `#- `"),
        ("## A\n```yaml\na: b\n```\n```yaml\n```\n", ""),
        ("## A\n```yaml\na\n```\n```yaml\nb\n```\n", "s.md:1: two files `manifest.yaml`: name one with `#- path`"),
        (
            "## A\n```yaml\n#- a/templates/b.yaml\na: \"{{ b }}\"\n#- Chart.yaml\n```\n",
            "s.md:3: `a/templates/b.yaml` has Helm actions but no chart: add a file `#- a/Chart.yaml` with `name: chart`",
        ),
        ("## A\n```yaml\n#- a/templates/b.yaml\na: \"{{ b }}\"\n#- a/Chart.yaml\n```\n", ""),
        ("## A\n```yaml\n#- templates/b.yaml\na: ${{B}}\n#- my-templates/c.yaml\na: \"{{ b }}\"\n```\n", ""),
        ("## A\n```yaml\na\n#= b\n```\n", "s.md:4: unknown marker `#=`: expected `#- path`, or a label"),
        ("## A\n```yaml\na\n  # ^ x\n```\n", "s.md:4: this label does not begin with `#` in the first column"),
        ("## A\n```yaml\na\n# <^ x\n```\n", "s.md:4: this label does not begin with `#` in the first column"),
        ("## A\n```yaml\na\n# ^^\n```\n", "s.md:4: this label has no rule"),
        ("## A\n```yaml\na\n# ^^ Not a rule\n```\n", "s.md:4: `Not a rule` is not the name of a rule"),
        ("## A\n```yaml\na\n# ^^ no-rule\n```\n", "s.md:4: there is no rule `no-rule`: `podlens explain` lists them"),
        ("## A\n```yaml\n# ^^ a-rule\n```\n", "s.md:3: a label needs a line above it"),
    ] {
        match parse(text) {
            Ok(_) => assert_eq!(expected, "", "{text}"),
            Err(error) => assert!(!expected.is_empty() && error.starts_with(expected), "{text}\n{error}"),
        }
    }
}

#[test]
fn files_can_be_in_one_string() {
    let files = parse_files("a: $0\n#- b.yaml\nb: 1\n");
    let files: Vec<_> = files.iter().map(|file| (&*file.path, &*file.text, &file.cursors[..])).collect();
    let expected: [(&str, &str, &[usize]); 2] = [("manifest.yaml", "a: \n", &[3]), ("b.yaml", "b: 1\n", &[])];
    assert_eq!(files, expected);
}
