//! Properties of the parser, tested with random edits of realistic YAML: parsing in chunks equals parsing at once, and a
//! reparse equals a full parse.

use crate::syntax::green::{GreenDocument, Positioned};
use crate::syntax::patched_text::PatchedText;
use crate::syntax::tree::Tree;
use crate::syntax::{node_builder, parse};
use crate::text::{Buffer, Span};

/// A small random number generator, the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % limit.max(1)
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// How many edits the long tests make.
#[expect(clippy::disallowed_methods, reason = "decides only how long the tests run")]
pub(crate) fn edit_count(quick: usize, slow: usize) -> usize {
    if std::env::var_os("PODLENS_SLOW").is_some() { slow } else { quick }
}

const SCALARS: &[&str] = &[
    "plain",
    "\"quoted $(X)\"",
    "'it''s'",
    "8080",
    "",
    "{a: 1, b: [x, y]}",
    "[\"sh\", '-c', \"echo\"]",
    "http://x:80/#y",
    "\"esc\\t\\u00e9\\\"\"",
    "\"it\\'s\"",
    "yes # why",
    "größe",
    "*anchor",
    "&anchor x",
    "!!int \"80\"",
    "${X}",
    "\"multi\n LINES\"",
    "[\n  a,\n  b\n]",
    "{\n\"x\": 1,\n  \"y\": 2 }",
];

fn scalar(random: &mut Random, column: usize) -> String {
    let pad = " ".repeat(column + 2);
    match random.below(12) {
        0 => format!("|\n{pad}line\n{pad}  more: x\n\n{pad}- end"),
        1 => format!(">-\n{pad}folded\n{pad}text"),
        2 => format!("|+ # note\n{pad}keep\n"),
        3 => format!("first\n{pad}second"),
        _ => random.pick(SCALARS).to_owned(),
    }
}

fn block(random: &mut Random, out: &mut String, column: usize, depth: usize) {
    let pad = " ".repeat(column);
    let count = 1 + random.below(4);
    if random.below(3) == 0 {
        for _ in 0..count {
            out.push_str(&pad);
            out.push('-');
            item(random, out, column, depth);
        }
    } else {
        entries(random, out, column, depth, count, &pad);
    }
}

fn item(random: &mut Random, out: &mut String, column: usize, depth: usize) {
    match random.below(5) {
        0 if depth > 0 => {
            out.push('\n');
            block(random, out, column + 2, depth - 1);
        }
        1..=3 if depth > 0 => {
            let spaces = 1 + random.below(3);
            let mut inner = String::new();
            let count = 1 + random.below(4);
            entries(random, &mut inner, column + 1 + spaces, depth - 1, count, &" ".repeat(column + 1 + spaces));
            out.push_str(&" ".repeat(spaces));
            out.push_str(inner.trim_start_matches(' '));
        }
        _ => {
            out.push(' ');
            out.push_str(&scalar(random, column));
            out.push('\n');
        }
    }
}

fn entries(random: &mut Random, out: &mut String, column: usize, depth: usize, count: usize, pad: &str) {
    for _ in 0..count {
        if random.below(8) == 0 {
            out.push_str(random.pick(&["# comment\n", "\n", "      # deep\n"]));
        }
        out.push_str(pad);
        out.push_str(random.pick(&["name", "env", "\"q k\"", "value", "spec", "a.b/c", "'x'", "data", "? k\n"]));
        if out.ends_with('\n') {
            out.push_str(pad);
        }
        out.push(':');
        if depth > 0 && random.below(2) == 0 {
            out.push('\n');
            let deeper = if random.below(4) == 0 { column } else { column + 1 + random.below(3) };
            if deeper == column {
                for _ in 0..=random.below(3) {
                    out.push_str(pad);
                    out.push('-');
                    item(random, out, column, depth - 1);
                }
            } else {
                block(random, out, deeper, depth - 1);
            }
        } else {
            out.push(' ');
            out.push_str(&scalar(random, column));
            out.push('\n');
        }
    }
}

fn json(random: &mut Random, out: &mut String, indent: &str, level: usize) {
    let pad = indent.repeat(level);
    if level > 3 || random.below(3) == 0 {
        out.push_str(random.pick(&["1", "\"x\"", "true", "\"a $(B) \\\" c\"", "[]", "{}", "[1, 2]", "null"]));
        return;
    }
    let object = level == 0 || random.below(2) == 0;
    out.push_str(if object { "{\n" } else { "[\n" });
    let count = 1 + random.below(4);
    for index in 0..count {
        out.push_str(&pad);
        out.push_str(indent);
        if object {
            out.push_str(random.pick(&["\"name\": ", "\"env\": ", "\"k\" : "]));
        }
        json(random, out, indent, level + 1);
        out.push_str(if index + 1 < count { ",\n" } else { "\n" });
    }
    out.push_str(&pad);
    out.push(if object { '}' } else { ']' });
}

pub(super) fn file(random: &mut Random) -> String {
    let mut out = String::new();
    match random.below(6) {
        0 => {
            for _ in 0..=random.below(2) {
                let indent = random.pick(&["  ", "\t", "    "]);
                json(random, &mut out, indent, 0);
                out.push('\n');
            }
        }
        1 => out.push_str("# leading\n\n---\n"),
        2 => out.push_str("%YAML 1.1\n---\n"),
        _ => {}
    }
    if !out.starts_with('{') {
        for _ in 0..=random.below(3) {
            let depth = 1 + random.below(4);
            block(random, &mut out, 0, depth);
            out.push_str(random.pick(&["---\n", "--- # next\n", "...\n---\n", ""]));
        }
    }
    if random.below(6) == 0 { out.replace('\n', "\r\n") } else { out }
}

const TYPED: &[&str] = &[
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    ":",
    ": ",
    " ",
    "  ",
    "\n",
    "- ",
    "#",
    " # c",
    "|",
    ">",
    "x",
    "a: b\n",
    "&a ",
    "*a",
    "---\n",
    "...\n",
    "\t",
    "\r\n",
    "$(X)",
    "é",
    "𝄞",
    ",",
    "%",
    "? ",
    "\\",
    "\\'",
    "!",
    "@",
    "  - x: 1\n    y: 2\n",
    "key:\n",
    "-",
    "\u{feff}",
    "{\n",
    "}\n",
    "0",
];

/// One random edit: typing, deleting, pasting, indenting.
pub(super) fn edit(random: &mut Random, buffer: &Buffer) -> (Span, String) {
    let len = buffer.len();
    let at = random.below(len + 1);
    match random.below(8) {
        0..=3 => (Span::new(at, at), random.pick(TYPED).to_owned()),
        4 => (Span::new(at, (at + 1 + random.below(3)).min(len)), String::new()),
        5 => {
            let end = (at + random.below(60)).min(len);
            (Span::new(at, end), random.pick(TYPED).to_owned())
        }
        6 => {
            let from = random.below(len + 1);
            (Span::new(at, at), buffer.slice(Span::new(from, (from + random.below(80)).min(len))).into_owned())
        }
        _ => {
            let text = buffer.slice(Span::new(0, at));
            let line = text.rfind('\n').map_or(0, |end| end + 1);
            (Span::new(line, line), random.pick(&[" ", "  ", "\n", "# "]).to_owned())
        }
    }
}

/// An edit that probably breaks the text: a quote, bracket or bar is added, a colon is removed, a line is split.
fn breaking_edit(random: &mut Random, buffer: &Buffer) -> (Span, String) {
    let len = buffer.len();
    let at = random.below(len + 1);
    let find = |what: char| buffer.slice(Span::new(at, len)).find(what).map(|found| at + found);
    match random.below(8) {
        0..=2 => {
            (Span::new(at, at), random.pick(&["\"", "'", "[", "{", "]", "}", "|", ">", ":", "\n", " ", "\t"]).into())
        }
        3 => find(':').map_or((Span::new(at, at), "\n".into()), |colon| (Span::new(colon, colon + 1), String::new())),
        4 => find(':').map_or((Span::new(at, at), "x".into()), |colon| {
            (Span::new(colon + 1, colon + 1), random.pick(&[" \"", " [", " |", " {", "\n", "x"]).into())
        }),
        5 => find('\n').map_or((Span::new(at, at), "\n".into()), |end| (Span::new(end, end + 1), String::new())),
        6 => find('\n').map_or((Span::new(at, at), "- ".into()), |end| {
            (Span::new(end + 1, end + 1), random.pick(&[" ", "  ", "\n", "- ", "\t", "x: "]).into())
        }),
        _ => edit(random, buffer),
    }
}

/// Makes some edits and compares the trees after each. Returns how many edits were made to a text with errors.
fn assert_reparse_equals_parse(
    text: &str,
    count: usize,
    what: &str,
    mut edit: impl FnMut(&Buffer) -> (Span, String),
) -> usize {
    let mut buffer = Buffer::new(text, 0);
    let mut tree = parse(text);
    let mut broken = 0;
    for _ in 0..count {
        broken += usize::from(!tree.errors().is_empty());
        let before = buffer.to_string();
        let (span, text) = edit(&buffer);
        let change = buffer.edit(span, &text);
        let after = buffer.to_string();
        tree = tree.reparse(change, &buffer);
        let expected = parse(&after);
        assert!(
            tree == expected,
            "{what}, {change:?} {text:?}\n--- before\n{}\n--- after\n{}\n--- reparse (<) and parse (>)\n{}",
            document_at(&before, change.old.start),
            document_at(&after, change.old.start),
            difference(&dump(&tree), &dump(&expected))
        );
    }
    broken
}

#[test]
fn a_reparse_equals_a_parse() {
    for seed in 1..=edit_count(3_000, 40_000) as u64 / 25 {
        let mut random = Random::new(seed);
        let text = file(&mut random);
        assert_reparse_equals_parse(&text, 25, &format!("seed {seed}"), |buffer| edit(&mut random, buffer));
    }
}

/// Whether `spec:` starts a chunk depends on the edited line before it and on the last line of its lookahead.
#[test]
fn the_line_after_an_edit_has_its_whole_lookahead() {
    let text = "kind: Pod\nmetadata:\n  name: above\nspec:\n  containers:\n  - name: web\n    image:\n shop/web: {\n      limits: x\n";
    let start = text.find(" name: above").unwrap_or_default();
    assert_reparse_equals_parse(&format!("{text}{text}"), 1, "lookahead", |_| {
        (Span::new(start, start), "]".to_owned())
    });
}

/// Nearly all of these edits are made to texts that already have errors.
#[test]
fn a_reparse_of_broken_text_equals_a_parse() {
    const STEPS: usize = 12;
    let texts = manifests();
    let all = edit_count(2_400, 36_000);
    let mut broken = 0;
    for seed in 0..all / STEPS {
        let mut random = Random::new(seed as u64 + 1);
        let (name, text) = &texts[seed % texts.len()];
        broken += assert_reparse_equals_parse(text, STEPS, &format!("seed {seed}, {name}"), |buffer| {
            breaking_edit(&mut random, buffer)
        });
    }
    assert!(broken * 10 > all * 8, "only {broken} of {all} edits were made to broken texts");
}

/// The manifests of the fixtures, whole and broken, and a long one of each kind of list.
#[expect(clippy::disallowed_methods, reason = "fixtures are the input of a test")]
fn manifests() -> Vec<(String, String)> {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut texts = Vec::new();
    for folder in ["shop", "shop-broken"] {
        let entries = std::fs::read_dir(fixtures.join(folder)).expect("the fixtures are readable");
        for path in entries.map(|entry| entry.expect("a fixture is readable").path()) {
            let text = std::fs::read_to_string(&path).expect("a fixture is text");
            texts.push((path.display().to_string(), text));
        }
    }
    texts.extend(crate::fixture::broken_manifests());
    texts.sort();
    for (name, pad) in [("lists at the column of their keys", ""), ("lists below their keys", "  ")] {
        let container = |number: usize| {
            format!(
                "{pad}      - name: c{number}\n{pad}        args: [\"a\", 'b']\n{pad}        env:\n\
                 {pad}{pad}        - name: A\n{pad}{pad}          value: x\n{pad}{pad}        - {{name: B, value: \"$(A)\"}}\n"
            )
        };
        let containers: String = (0..12).map(container).collect();
        let item = format!("{pad}- kind: Pod\n{pad}  spec:\n{pad}      containers:\n{containers}");
        texts.push((name.to_owned(), format!("kind: List\nitems:\n{item}{item}{item}")));
    }
    texts
}

#[test]
fn parsing_in_chunks_equals_parsing_at_once() {
    let mut valid = 0;
    for seed in 0..edit_count(2_000, 20_000) as u64 {
        let mut random = Random::new(seed);
        let text = file(&mut random);
        for slot in crate::syntax::documents::split_documents(&text) {
            let text = &text[slot.span.range()];
            let Ok(root) = node_builder::build_node(&PatchedText::plain(text)) else { continue };
            valid += 1;
            let whole = Tree {
                len: text.len(),
                json: false,
                documents: vec![Positioned::new(
                    0,
                    GreenDocument { len: u32::try_from(text.len()).unwrap_or(0), root, ..Default::default() },
                )],
            };
            let chunked = parse(text);
            assert!(
                whole == chunked,
                "seed {seed}\n{text}\n--- in chunks (<) and at once (>)\n{}",
                difference(&dump(&chunked), &dump(&whole))
            );
        }
    }
    assert!(valid > 1000, "only {valid} documents were valid");
}

/// A tree as text, for messages.
pub(super) fn dump(tree: &Tree) -> String {
    fn visit(node: crate::syntax::Node<'_>, depth: usize, out: &mut String) {
        use std::fmt::Write as _;
        let pad = "  ".repeat(depth);
        let _ = writeln!(out, "{pad}{:?} {:?} {:?} {:?}", node.kind(), node.span().range(), node.tag(), node.text());
        for (key, value) in node.own_entries() {
            visit(key, depth + 1, out);
            match value {
                Some(value) => visit(value, depth + 2, out),
                None => out.push_str(&format!("{pad}    nothing\n")),
            }
        }
        for item in node.items() {
            visit(item, depth + 1, out);
        }
    }
    let mut out = String::new();
    for document in tree.documents() {
        out.push_str(&format!("document {:?}\n", document.span().range()));
        if let Some(root) = document.root()
            && root.alias().is_none()
        {
            visit(root, 1, &mut out);
        }
    }
    for error in tree.errors() {
        out.push_str(&format!("error {:?} {}\n", error.span.range(), error));
    }
    out
}

/// The lines that are in only one of two texts: in the first (`<`) or in the second (`>`).
pub(super) fn difference(actual: &str, expected: &str) -> String {
    let missing = |from: &str, other: &str, mark: &str| {
        let lines = from.lines().filter(|line| !other.lines().any(|it| it == *line));
        lines.map(|line| format!("{mark} {line}\n")).collect::<String>()
    };
    missing(actual, expected, "<") + &missing(expected, actual, ">")
}

/// The text of the document at an offset.
fn document_at(text: &str, offset: usize) -> &str {
    let slots = crate::syntax::documents::split_documents(text);
    slots.iter().find(|slot| slot.span.touches(offset)).map_or(text, |slot| &text[slot.span.range()])
}
