//! Random edits of large documents: parsing incrementally gives the same tree as parsing the whole text.
//!
//! The unit tests of the parser check the same with small texts and small chunks. Here the chunks have their real size.

use std::fmt::Write as _;

use podlens::syntax::parse;
use podlens::text::{Buffer, Span};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A Deployment, a List, a List in JSON, and a Deployment whose lists have the indentation of their keys.
fn large(kind: usize) -> String {
    let mut text = String::new();
    if kind == 2 {
        text.push_str("{\n  \"kind\": \"List\",\n  \"items\": [\n");
        for number in 0..260 {
            let comma = if number == 259 { "" } else { "," };
            let _ = write!(
                text,
                "    {{\n      \"kind\": \"Pod\",\n      \"metadata\": {{\n        \"name\": \"p{number}\"\n      }},\n      \"spec\": {{\n        \
                 \"containers\": [\n          {{\"name\": \"c\", \"args\": [\"$(A)\"]}}\n        ]\n      }}\n    }}{comma}\n"
            );
        }
        return text + "  ]\n}\n";
    }
    let pad = if kind == 1 { "    " } else { "" };
    let deep = if kind == 3 { "" } else { "  " };
    text.push_str(if kind == 1 { "kind: List\nitems:\n" } else { "kind: Deployment\nspec:\n  containers:\n" });
    for number in 0..300 {
        if kind == 1 && number % 3 == 0 {
            let _ = write!(text, "  - kind: Pod\n    metadata: {{name: p{number}}}\n    spec:\n      containers:\n");
        }
        let _ = write!(
            text,
            "{pad}{deep}  - name: c{number}\n{pad}{deep}    image: shop/c:{number}\n{pad}{deep}    command: [\"sh\", '-c', \"echo $(A)\"]\n\
             {pad}{deep}    env:\n{pad}{deep}{deep}    - name: A\n{pad}{deep}{deep}      value: it's {number}\n\
             {pad}{deep}{deep}    - name: B\n{pad}{deep}{deep}      value: |\n{pad}{deep}{deep}        some: \"text\n"
        );
    }
    text.push_str(if kind == 1 { "metadata: {}\n" } else { "  volumes: []\nstatus: {}\n" });
    text
}

const TYPED: &[&str] = &[
    "",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "|",
    ":",
    "\n",
    " ",
    "  ",
    "\t",
    "x",
    "- ",
    "#",
    "\n    x",
    "a: b\n",
    "value: \"",
    "- name: x\n",
    "      - name: x\n        image: y\n",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::cases(16, 400)) })]

    #[test]
    fn incremental_parsing_of_large_documents_equals_a_full_parse(
        kind in 0..4usize,
        edits in prop::collection::vec((any::<Index>(), 0..3usize, select(TYPED)), 1..6),
    ) {
        let mut buffer = Buffer::new(&large(kind), 0);
        let mut tree = parse(&buffer.to_string());
        for (at, removed, typed) in edits {
            let at = buffer.floor_char(at.index(buffer.len()));
            let end = buffer.floor_char((at + removed).min(buffer.len()));
            let change = buffer.edit(Span::new(at, end), typed);
            tree = tree.reparse(change, &buffer);
            let full = parse(&buffer.to_string());
            prop_assert!(tree == full, "{change:?} {typed:?}: {:?} but {:?}", tree.errors(), full.errors());
        }
    }
}
