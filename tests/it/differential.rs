//! Compares our tree with the result of another YAML parser: for the fixtures, and for generated documents.
//!
//! Both results are converted to the same kind of value. Scalars are compared by text and style, not by type: our types
//! follow kubectl (Y1 to Y6), not YAML 1.2. Texts that kubectl accepts and the other parser rejects are in [`ACCEPTED`].

use std::collections::HashMap;

use podlens::syntax::{Node, ScalarStyle, parse};
use proptest::prelude::*;
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::scanner::TScalarStyle;

use crate::fixture::suites_in;
use crate::fixtures::manifests;

/// A value in both results. Aliases are expanded, merge keys are not.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Mapping(Vec<(Value, Value)>),
    Sequence(Vec<Value>),
    Scalar(String, ScalarStyle),
    /// `~`, or an empty value.
    Null,
}

impl Value {
    fn scalar(text: &str, style: ScalarStyle) -> Self {
        if style == ScalarStyle::Plain && matches!(text, "" | "~") {
            return Self::Null;
        }
        Self::Scalar(text.to_owned(), style)
    }
}

/// The documents of our parser that are not empty, or its errors.
fn ours(text: &str) -> Result<Vec<Value>, String> {
    fn value(node: Node<'_>) -> Value {
        let node = node.resolved();
        if node.is_mapping() {
            let entries = node.own_entries();
            Value::Mapping(entries.map(|(key, it)| (value(key), it.map_or(Value::Null, value))).collect())
        } else if node.is_sequence() {
            Value::Sequence(node.items().map(value).collect())
        } else {
            Value::scalar(node.text().unwrap_or("?"), node.style().unwrap_or(ScalarStyle::Plain))
        }
    }
    let tree = parse(text);
    match tree.errors().first() {
        Some(error) => Err(format!("{:?}: {}", error.span, error)),
        None => {
            let documents = tree.documents().filter_map(|document| document.root()).map(value);
            Ok(documents.filter(|value| *value != Value::Null).collect())
        }
    }
}

/// The documents of the other parser.
fn theirs(text: &str) -> Result<Vec<Value>, String> {
    struct Reader<'s> {
        parser: Parser<std::str::Chars<'s>>,
        anchors: HashMap<usize, Value>,
    }
    impl Reader<'_> {
        fn next(&mut self) -> Result<Event, String> {
            Ok(self.parser.next_token().map_err(|error| error.to_string())?.0)
        }

        fn value(&mut self, event: Event) -> Result<Value, String> {
            let (value, anchor) = match event {
                Event::Alias(id) => return Ok(self.anchors.get(&id).cloned().unwrap_or(Value::Null)),
                Event::Scalar(text, style, anchor, _) => (Value::scalar(&text, style_of(style)), anchor),
                Event::SequenceStart(anchor, _) => {
                    let mut items = Vec::new();
                    loop {
                        match self.next()? {
                            Event::SequenceEnd => break (Value::Sequence(items), anchor),
                            event => items.push(self.value(event)?),
                        }
                    }
                }
                Event::MappingStart(anchor, _) => {
                    let mut entries = Vec::new();
                    loop {
                        match self.next()? {
                            Event::MappingEnd => break (Value::Mapping(entries), anchor),
                            event => {
                                let key = self.value(event)?;
                                let event = self.next()?;
                                entries.push((key, self.value(event)?));
                            }
                        }
                    }
                }
                event => return Err(format!("{event:?} is no value")),
            };
            if anchor > 0 {
                self.anchors.insert(anchor, value.clone());
            }
            Ok(value)
        }
    }
    let mut reader = Reader { parser: Parser::new_from_str(text), anchors: HashMap::new() };
    let mut documents = Vec::new();
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(documents),
            Event::Nothing | Event::StreamStart | Event::DocumentStart | Event::DocumentEnd => {}
            event => {
                let value = reader.value(event)?;
                // An empty document is skipped (Y9).
                documents.extend((value != Value::Null).then_some(value));
            }
        }
    }
}

fn style_of(style: TScalarStyle) -> ScalarStyle {
    match style {
        TScalarStyle::Plain => ScalarStyle::Plain,
        TScalarStyle::SingleQuoted => ScalarStyle::SingleQuoted,
        TScalarStyle::DoubleQuoted => ScalarStyle::DoubleQuoted,
        TScalarStyle::Literal => ScalarStyle::Literal,
        TScalarStyle::Folded => ScalarStyle::Folded,
    }
}

#[test]
fn fixtures_are_parsed_alike() {
    let workspaces = ["shop", "shop-broken", "shop-legacy", "lint/app", "templates"];
    let mut texts: Vec<(String, String)> = workspaces
        .into_iter()
        .flat_map(|folder| manifests(folder).into_iter().map(move |(path, text)| (format!("{folder}/{path}"), text)))
        .collect();
    for (name, suite) in suites_in("rules").into_iter().chain(suites_in("ide")) {
        for case in &suite.cases {
            let files = case.files().filter(|file| file.path.ends_with(".yaml") || file.path.ends_with(".json"));
            texts.extend(files.map(|file| (format!("{name}: {}: {}", case.title, file.path), file.text.clone())));
        }
    }
    let mut compared = 0;
    for (place, text) in &texts {
        // Some fixtures have syntax errors, and some use syntax that only kubectl accepts.
        if let (Ok(ours), Ok(theirs)) = (ours(text), theirs(text)) {
            assert_eq!(ours, theirs, "{place}");
            compared += 1;
        }
    }
    assert!(compared * 10 > texts.len() * 9, "only {compared} of {} fixtures were compared", texts.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::cases(150, 3000)) })]

    #[test]
    fn generated_files_are_parsed_alike(text in file(2)) {
        prop_assert!(ours(&text).is_ok(), "{:?}\n{}", ours(&text), text);
        prop_assert_eq!(ours(&text), theirs(&text), "\n{}", text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::cases(10, 150)) })]

    #[test]
    fn generated_large_files_are_parsed_alike(parts in prop::collection::vec(entries(0, 3), 60..160)) {
        // Every key gets a number, so that the text is one document of more than 8 KB, parsed in chunks.
        let mut text = parts.concat();
        while text.len() < 9 * 1024 {
            text.push_str(&text.clone());
        }
        prop_assert!(ours(&text).is_ok(), "{:?}\n{}", ours(&text), text);
        prop_assert_eq!(ours(&text), theirs(&text), "\n{}", text);
    }
}

/// A stream of documents, with line ends of either kind.
pub(crate) fn file(depth: u32) -> impl Strategy<Value = String> {
    let separator = prop::sample::select(vec!["---\n", "--- # next\n", "---\n# comment\n\n", "...\n---\n"]);
    let document = (separator, prop_oneof![entries(0, depth), items(0, depth), json(depth).prop_map(|it| it + "\n")]);
    (prop::collection::vec(document, 1..4), prop::bool::weighted(0.2)).prop_map(|(documents, crlf)| {
        let text: String = documents.iter().flat_map(|(separator, text)| [*separator, text]).collect();
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

/// A mapping in block style at a column.
fn entries(column: usize, depth: u32) -> BoxedStrategy<String> {
    let key = prop::sample::select(vec!["name", "a.b/c", "\"q: k\"", "'x''y'", "größe", "<<x", "8080", "-dash"]);
    let note = prop::sample::select(vec!["", "", "", "# a note\n", "\n", "        # deep\n", "   \n"]);
    let entry = (note, key, value(column, depth));
    prop::collection::vec(entry, 1..4)
        .prop_map(move |entries| {
            let pad = " ".repeat(column);
            entries.iter().map(|(note, key, value)| format!("{note}{pad}{key}:{value}")).collect()
        })
        .boxed()
}

/// A list in block style at a column.
fn items(column: usize, depth: u32) -> BoxedStrategy<String> {
    let pad = " ".repeat(column);
    if depth == 0 {
        return prop::collection::vec(scalar(column), 1..4)
            .prop_map(move |items| items.iter().map(|item| format!("{pad}- {item}")).collect())
            .boxed();
    }
    let compact = (1..4usize).prop_flat_map(move |spaces| {
        let inner = column + 1 + spaces;
        prop_oneof![entries(inner, depth - 1), items(inner, depth - 1)].prop_map(move |text| {
            // If the first line begins with a tag or anchor, the item begins on the next line.
            match text.strip_prefix(&" ".repeat(inner)) {
                Some(rest) if !rest.starts_with([' ', '#', '\n']) => format!("{}{rest}", " ".repeat(spaces)),
                _ => format!("\n{text}"),
            }
        })
    });
    let item = prop_oneof![compact, scalar(column).prop_map(|text| format!(" {text}"))];
    prop::collection::vec(item, 1..4)
        .prop_map(move |items| items.iter().map(|item| format!("{pad}-{item}")).collect())
        .boxed()
}

/// A value after a key at a column.
fn value(column: usize, depth: u32) -> BoxedStrategy<String> {
    let scalar = scalar(column).prop_map(|text| format!(" {text}")).boxed();
    if depth == 0 {
        return scalar;
    }
    let nested = (0..4usize).prop_flat_map(move |deeper| match deeper {
        0 => items(column, depth - 1),
        _ => prop_oneof![entries(column + deeper, depth - 1), items(column + deeper, depth - 1)].boxed(),
    });
    // The list below has an alias for the anchor.
    let anchored = (scalar.clone(), 0..1000u32, scalar.clone()).prop_map(move |(first, id, _)| {
        let deep = " ".repeat(column + 2);
        match first.contains('\n') && first.trim_end().contains('\n') {
            true => first,
            false => format!("\n{deep}- &n{id}{first}{deep}- *n{id}\n"),
        }
    });
    prop_oneof![
        3 => scalar,
        3 => nested.prop_map(|text| format!("\n{text}")),
        1 => anchored,
        1 => json(depth).prop_map(|text| format!(" {}\n", text.replace('\n', " "))),
    ]
    .boxed()
}

/// A scalar of any style that belongs to a key or dash at a column, line end included.
fn scalar(column: usize) -> BoxedStrategy<String> {
    let one_line = prop::sample::select(vec![
        "plain",
        "",
        "~",
        "8080",
        "yes",
        "two words",
        "http://x:80/#y",
        "a#b",
        "größe 设 😀",
        "-1",
        "$(HOST):$(PORT)",
        "''",
        "\"\"",
        "'it''s'",
        "\"tab\\tquote\\\" \\u00e9 \\x41 \\\\\"",
        "'# no note'",
        "\"a: b\"",
        "x # note",
        "'x' # note",
        "[]",
        "{}",
        "[a, 'b', \"c\"]",
        "{a: 1, \"b\": [x, {y: z}], c: }",
        "!!str 80",
        "!!int \"80\"",
    ])
    .prop_map(|text| format!("{text}\n"));
    let words =
        prop::collection::vec(prop::sample::select(vec!["one", "two: x", "- three", "# four", "", "  five"]), 1..5);
    let header =
        (prop::sample::select(vec!["|", ">"]), prop::sample::select(vec!["", "-", "+", "2", "2-", "+2", "- # note"]));
    let block = (header, words).prop_map(move |((mark, options), words)| {
        let deep = " ".repeat(column + 2);
        let explicit = options.contains('2');
        let mut text = format!("{mark}{options}\n");
        for (index, word) in words.iter().enumerate() {
            // The first line decides the indentation, unless the header does.
            let word = match index {
                0 if !explicit || word.is_empty() => "first",
                _ => word,
            };
            text.push_str(if word.is_empty() { "" } else { &deep });
            text.push_str(word);
            text.push('\n');
        }
        text
    });
    let folded = prop::sample::select(vec![
        ("first", "second"),
        ("\"first", "second\""),
        ("'first", "second'"),
        ("\"first\\", "  second\""),
        ("\"first\n", "second\""),
        ("[a,", "b]"),
        ("{a: 1,", "b: 2}"),
        ("[ # note", "x, # note\n    y ]"),
    ])
    .prop_map(move |(first, second)| {
        let deep = " ".repeat(column + 2);
        let second = second.replace("\n", &format!("\n{deep}"));
        format!("{first}\n{deep}{second}\n")
    });
    prop_oneof![4 => one_line, 1 => block, 1 => folded].boxed()
}

/// JSON, on one line or on several.
fn json(depth: u32) -> BoxedStrategy<String> {
    let leaf =
        prop::sample::select(vec!["1", "\"x\"", "true", "\"a $(B) \\\" c\"", "[]", "{}", "[1, 2]", "null", "\"é\""])
            .prop_map(str::to_owned);
    let wrap = |open: &str, members: &[String], close: &str| {
        let inner = members.join(",\n").replace('\n', "\n  ");
        if members.is_empty() { format!("{open}{close}") } else { format!("{open}\n  {inner}\n{close}") }
    };
    let nested = leaf.prop_recursive(depth, 24, 4, move |inner| {
        let key = prop::sample::select(vec!["\"name\": ", "\"env\" : ", "\"k\":"]);
        let entry = (key, inner.clone()).prop_map(|(key, value)| format!("{key}{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(move |members| wrap("[", &members, "]")),
            prop::collection::vec(entry, 0..4).prop_map(move |members| wrap("{", &members, "}")),
        ]
    });
    nested
        .prop_map(move |text| if text.starts_with('{') { text } else { wrap("{", &[format!("\"it\": {text}")], "}") })
        .boxed()
}

/// A text that kubectl accepts, the value of its key `it`, and why the other parser rejects it.
struct Accepted {
    text: &'static str,
    value: &'static str,
    /// Why the other parser rejects it; `None` if it accepts it and only our parser needs a workaround.
    refused: Option<&'static str>,
}

const ACCEPTED: &[Accepted] = &[
    Accepted {
        text: "it: \"it\\'s\"\n",
        value: "it's",
        refused: Some("`\\'` is no escape of YAML 1.2, but one of go-yaml (Y8)"),
    },
    Accepted {
        text: "it: \"\\\\\\'\\\"\\'\"\n",
        value: "\\'\"'",
        refused: Some("the same, beside escapes that everybody knows"),
    },
    Accepted {
        text: "it: \"one\ntwo\"\n",
        value: "one two",
        refused: Some("a continuation line at the column of its key (Y8)"),
    },
    Accepted {
        text: "it: 'one\n\ntwo'\n",
        value: "one\ntwo",
        refused: Some("the same in single quotes, over a blank line"),
    },
    Accepted { text: "it: \"it\\'s\none\\'s\"\n", value: "it's one's", refused: Some("both at once") },
];

#[test]
fn texts_that_kubectl_accepts_are_accepted() {
    for Accepted { text, value, refused } in ACCEPTED {
        assert_reads(text, value);
        assert_eq!(theirs(text).is_err(), refused.is_some(), "{text}");
        // In a text that is parsed in chunks: before, between and after the others.
        let many: String = (0..900).map(|index| format!("key{index}: value\n")).collect();
        for large in [format!("{text}{many}"), format!("{many}{text}"), format!("{many}{text}{many}")] {
            assert_reads(&large, value);
        }
        let inside: String =
            text.lines().map(|line| format!("{}{line}\n", if line.is_empty() { "" } else { "  " })).collect();
        let list: String = (0..900).map(|index| format!("- key{index}: value\n")).collect();
        for large in [format!("{list}-\n{inside}"), format!("{list}-\n{inside}{list}")] {
            let tree = parse(&large);
            assert_eq!(tree.errors(), [], "{text}");
            let root = tree.documents().next().and_then(|document| document.root()).expect("there is a list");
            let found: Vec<_> = root.items().filter_map(|item| item.get("it")?.text()).collect();
            assert_eq!(found, [*value], "{text}");
        }
    }
}

#[test]
fn a_block_scalar_of_blank_lines_is_empty() {
    // The other parser keeps a line break here; libyaml, go-yaml and the YAML 1.2 specification do not.
    for (text, value) in [("it: |2\n\n", ""), ("it: |\n\n\n", ""), ("it: >-\n\n", ""), ("it: |+\n\n", "\n")] {
        assert_reads(text, value);
    }
}

#[test]
fn json_with_tabs_is_accepted() {
    let small = "{\n\t\"it\": \"x\",\n\t\"list\": [\n\t\t1,\n\t\t{\n\t\t\t\"a\": \"b\"\n\t\t}\n\t]\n}\n";
    assert_reads(small, "x");
    let many: String =
        (0..900).map(|index| format!("\t\"key{index}\": {{\n\t\t\"a\": [\n\t\t\t1\n\t\t]\n\t}},\n")).collect();
    assert_reads(&format!("{{\n{many}\t\"it\": \"x\"\n}}\n"), "x");
    assert_reads(&format!("{{\n\t\"it\": \"x\",\n{many}\t\"last\": 1\n}}\n"), "x");
}

#[test]
fn json_documents_need_no_marker() {
    // Y10; YAML has no such streams.
    let stream = "{\"it\": \"a\"}\n{\"it\": \"b\"}\n{\n  \"it\": \"c\"\n}\n";
    let texts = |text: &str| {
        let tree = parse(text);
        assert_eq!(tree.errors(), []);
        let values = tree.documents().filter_map(|it| Some(it.root()?.get("it")?.text()?.to_owned()));
        values.collect::<Vec<_>>()
    };
    assert_eq!(texts(stream), ["a", "b", "c"]);
    assert!(theirs(stream).is_err());
    let many: String = (0..900).map(|index| format!("  \"key{index}\": 1,\n")).collect();
    assert_eq!(texts(&format!("{stream}{{\n{many}  \"it\": \"d\"\n}}\n{stream}")), ["a", "b", "c", "d", "a", "b", "c"]);
}

#[test]
fn long_runs_of_comments_are_accepted() {
    // More than the parser buffers when it reports comments.
    for count in [100, 5_000] {
        let comments = "  # a comment\n".repeat(count);
        for text in [
            format!("{comments}it: x\n"),
            format!("a: 1\n{comments}it: x\n"),
            format!("a:\n{comments}  - 1\n{comments}it: x\n{comments}"),
            format!("a: [\n{comments} 1,\n{comments} 2]\nit: x\n"),
        ] {
            assert_reads(&text, "x");
            assert_eq!(ours(&text), theirs(&text));
        }
    }
}

#[test]
fn byte_order_mark_and_tabs_between_values_are_accepted() {
    for text in ["\u{feff}it: x\n", "it:\tx\n", "it: x\t# note\n", "a: [1,\t2]\nit: x\n", "a: {b:\t1}\n\t\nit: x\n"] {
        assert_reads(text, "x");
        let many: String = (0..900).map(|index| format!("key{index}: value\n")).collect();
        assert_reads(&format!("{text}{many}"), "x");
    }
}

/// Asserts that a text has no errors, and that its key `it` has this value.
fn assert_reads(text: &str, value: &str) {
    let tree = parse(text);
    let shown = &text[..text.floor_char_boundary(200)];
    assert_eq!(tree.errors(), [], "{shown}");
    let root = tree.documents().find_map(|document| document.root());
    assert_eq!(root.and_then(|root| root.get("it")?.text()), Some(value), "{shown}");
}
