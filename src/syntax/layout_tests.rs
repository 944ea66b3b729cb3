//! A text that is valid as a whole has no errors and the tree of the whole, in whatever layout it is written.
//!
//! The texts are random values in random layouts: JSON and YAML, minified, one member per line, several per line, every
//! indentation, from one line to several times the limits of the parser. The YAML parser on the whole text is the judge,
//! also after edits.

use crate::syntax::documents::split_documents;
use crate::syntax::green::{GreenDocument, Positioned};
use crate::syntax::node_builder::build_node;
use crate::syntax::parse;
use crate::syntax::patched_text::PatchedText;
use crate::syntax::tests::{Random, difference, dump, edit, edit_count};
use crate::syntax::tree::Tree;
use crate::text::Buffer;

/// A value that is written in a layout.
enum Value {
    Scalar(&'static str),
    Sequence(Vec<Value>),
    Mapping(Vec<(&'static str, Value)>),
}

const JSON_SCALARS: &[&str] = &[
    "1",
    "true",
    "null",
    "\"\"",
    "\"x\"",
    "\"a $(B) \\\" c\"",
    "\"}, {\"",
    "\"[\"",
    "\"# no comment\"",
    "\"key: value\"",
    "\"a\\nb\"",
    "\"a rather long text that takes more room than the other ones\"",
];

const YAML_SCALARS: &[&str] = &[
    "plain",
    "'it''s'",
    "\"folded\n  text\"",
    "\"folded\n\ttext\"",
    "'less\nindented'",
    "\"it\\'s\"",
    "two words",
    "${X}",
    "-1",
    "*a",
    "&a x",
    "!!str 80",
];

const KEYS: &[&str] = &["\"name\"", "\"env\"", "\"items\"", "\"a b\"", "\"k\"", "\"spec\"", "\"metadata\"", "\"x-y\""];

/// How a text is written.
struct Layout<'r> {
    random: &'r mut Random,
    is_json: bool,
    indent: &'static str,
    /// How often a gap has a line break, of eight.
    breaks: usize,
    /// How often a gap without a line break has no space, of eight.
    tight: usize,
    /// Whether the indentation of each line is random.
    is_ragged: bool,
}

impl<'r> Layout<'r> {
    fn new(random: &'r mut Random) -> Self {
        let is_json = random.below(2) == 0;
        let indent = ["", " ", "  ", "\t", "    "][random.below(5)];
        let breaks = [0, 1, 4, 7, 8][random.below(5)];
        let tight = [0, 4, 8][random.below(3)];
        let is_ragged = random.below(4) == 0;
        Self { random, is_json, indent, breaks, tight, is_ragged }
    }

    fn value(&mut self, depth: usize) -> Value {
        let count = self.random.below(5);
        match self.random.below(5) {
            0 | 1 if depth > 0 => Value::Sequence((0..count).map(|_| self.value(depth - 1)).collect()),
            2 | 3 if depth > 0 => {
                let keys = (0..count).map(|at| KEYS[at]).collect::<Vec<_>>();
                Value::Mapping(keys.into_iter().map(|key| (key, self.value(depth - 1))).collect())
            }
            _ if self.is_json || self.random.below(2) == 0 => Value::Scalar(self.random.pick(JSON_SCALARS)),
            _ => Value::Scalar(self.random.pick(YAML_SCALARS)),
        }
    }

    fn gap(&mut self, out: &mut String, level: usize) {
        if self.random.below(8) < self.breaks {
            if !self.is_json && self.random.below(8) == 0 {
                out.push_str(" # note }");
            }
            out.push('\n');
            if self.random.below(12) == 0 {
                out.push('\n');
            }
            let level = if self.is_ragged { self.random.below(5) } else { level };
            out.push_str(&self.indent.repeat(level));
        } else if self.random.below(8) >= self.tight {
            out.push(' ');
        }
    }

    fn flow(&mut self, value: &Value, out: &mut String, level: usize) {
        let (opener, closer, count) = match value {
            Value::Scalar(text) => return out.push_str(text),
            Value::Sequence(items) => ('[', ']', items.len()),
            Value::Mapping(entries) => ('{', '}', entries.len()),
        };
        out.push(opener);
        for at in 0..count {
            self.gap(out, level + 1);
            match value {
                Value::Mapping(entries) => {
                    out.push_str(entries[at].0);
                    out.push_str(if self.random.below(8) < self.tight { ":" } else { ": " });
                    self.flow(&entries[at].1, out, level + 1);
                }
                Value::Sequence(items) => self.flow(&items[at], out, level + 1),
                Value::Scalar(_) => {}
            }
            if at + 1 < count {
                if self.random.below(16) == 0 {
                    self.gap(out, level + 1);
                }
                out.push(',');
            }
        }
        self.gap(out, level);
        out.push(closer);
    }

    fn block(&mut self, value: &Value, out: &mut String, column: usize) {
        let pad = " ".repeat(column);
        let deeper = column + 1 + self.random.below(4);
        let as_flow = self.random.below(3) == 0;
        match value {
            Value::Sequence(items) if !items.is_empty() && !as_flow => {
                for item in items {
                    out.push_str(&format!("\n{pad}-"));
                    self.block(item, out, deeper);
                }
            }
            Value::Mapping(entries) if !entries.is_empty() && !as_flow => {
                for (key, value) in entries {
                    out.push_str(&format!("\n{pad}{key}:"));
                    self.block(value, out, deeper);
                }
            }
            _ => {
                out.push(' ');
                self.flow(value, out, deeper);
            }
        }
    }

    fn text(mut self) -> String {
        let depth = 1 + self.random.below(5);
        let count = 1 + self.random.below(8);
        let members: Vec<Value> = (0..count).map(|_| self.value(depth)).collect();
        let mut out = String::new();
        if self.is_json {
            let root =
                Value::Mapping(vec![("\"kind\"", Value::Scalar("\"List\"")), ("\"items\"", Value::Sequence(members))]);
            self.flow(&root, &mut out, 0);
        } else {
            let root = Value::Mapping(KEYS.iter().copied().zip(members).collect());
            self.block(&root, &mut out, 0);
            out.remove(0);
        }
        out.push('\n');
        out
    }
}

/// The tree of the whole text, if the parser accepts it as one document.
fn whole(text: &str) -> Option<Tree> {
    let [slot] = &split_documents(text)[..] else { return None };
    let root = build_node(&PatchedText::plain(text)).ok()?;
    let len = u32::try_from(text.len()).ok()?;
    let document = GreenDocument { len, root, marked: slot.marked, ..Default::default() };
    Some(Tree { len: text.len(), json: false, documents: vec![Positioned::new(0, document)] })
}

/// Whether the parser accepts a text.
fn assert_tree_of_whole(tree: &Tree, text: &str, what: &str) -> bool {
    let Some(whole) = whole(text) else { return false };
    assert!(
        *tree == whole,
        "{what}\n{text}\n--- ours (<) and the whole (>)\n{}",
        difference(&dump(tree), &dump(&whole))
    );
    true
}

#[test]
fn valid_text_has_the_tree_of_the_whole() {
    let (mut valid, mut valid_after_edit) = (0, 0);
    let count = edit_count(4_000, 60_000);
    for seed in 0..count as u64 {
        let mut random = Random::new(seed + 1);
        let text = Layout::new(&mut random).text();
        let mut tree = parse(&text);
        valid += usize::from(assert_tree_of_whole(&tree, &text, &format!("seed {seed}")));
        let mut buffer = Buffer::new(&text, 0);
        for step in 0..4 {
            let (span, typed) = edit(&mut random, &buffer);
            let change = buffer.edit(span, &typed);
            tree = tree.reparse(change, &buffer);
            let what = format!("seed {seed}, step {step}: {change:?} {typed:?}");
            let text = buffer.to_string();
            valid_after_edit += usize::from(assert_tree_of_whole(&tree, &text, &what));
            let expected = parse(&text);
            let is_same = tree == expected;
            assert!(
                is_same,
                "{what}\n{text}\n--- reparse (<) and parse (>)\n{}",
                difference(&dump(&tree), &dump(&expected))
            );
        }
    }
    assert!(valid * 2 > count && valid_after_edit > count / 2, "{valid} valid texts, {valid_after_edit} after edits");
}

/// What kubectl accepts beyond the parser (Y8) is not an error either.
#[test]
fn text_that_kubectl_accepts_has_no_errors() {
    let filler = "  - a rather long entry that fills some room\n".repeat(8);
    for value in ["\"a\n\tb\"", "'a\n\tb'", "\"a\nb\"", "\"it\\'s\"", "[\n\t1,\n\t2\n]"] {
        for text in [format!("k:\n  v: {value}\n"), format!("list:\n{filler}k:\n  v: {value}\nend: 1\n")] {
            assert_eq!(parse(&text).errors(), [], "{text}");
        }
    }
}

/// Texts whose lines seem to be indented wrongly because of a quote or bracket in the lines after them.
#[test]
fn continued_lines_do_not_make_the_lines_before_them_wrong() {
    let folded = "{ \"name\": \"folded\n  text\", \"env\": true }";
    for text in [
        format!("\"a\":\n    \"b\": {{}}\n    \"c\":\n        \"d\": x\n\"e\":\n    - {folded}\n    -\n        - 80\n"),
        "a:\n   b: x\nc:\n   - {\n\n  \"d\": \"a rather long text that takes more room than the others\" }\n   - []\n"
            .to_owned(),
        "a:\n    -\n      - b\nc:\n    d: {\"e\": \"folded\n  text\" }\n    f: [ ]\n".to_owned(),
        "# comment\n\ttext\",\"items\":\"}, {\",\"a b\":[1,2]}]}}\n".to_owned(),
        "a:\n    \"b\"\t: c\n    d: {\n            }\n".to_owned(),
    ] {
        assert!(assert_tree_of_whole(&parse(&text), &text, "text"), "{text}");
    }
}
