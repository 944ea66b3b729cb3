//! Manifests that are typed and deleted character by character: complete containers stay known, and only the document
//! that is being typed has errors.

use std::fs;
use std::path::Path;

use podlens::k8s::read_objects;
use podlens::syntax::{Tree, parse};
use podlens::text::{Buffer, Span};

/// A container and the span of its text.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    what: String,
    start: usize,
    end: usize,
}

/// The containers of a file with role, name and the names of their variables.
fn known(tree: &Tree) -> Vec<Known> {
    let mut found = Vec::new();
    for object in read_objects(tree) {
        for container in object.model.pods.iter().flat_map(|pod| &pod.containers) {
            let name = container.name.as_ref().map_or("?", |name| &*name.value);
            let env: Vec<_> =
                container.env.iter().map(|it| it.name.as_ref().map_or("?", |name| &*name.value)).collect();
            let what = format!("{:?} {name}: {}", container.role, env.join(" "));
            let Span { start, end } = object.file_span(container.span);
            found.push(Known { what, start, end });
        }
    }
    found
}

/// A text that is changed character by character, checked after each.
struct Typist {
    buffer: Buffer,
    tree: Tree,
    /// The number of characters between comparisons with a full parse.
    every: usize,
    steps: usize,
}

impl Typist {
    fn new(text: &str) -> Self {
        Self { buffer: Buffer::new(text, 0), tree: parse(text), every: crate::cases(11, 1) as usize, steps: 0 }
    }

    fn text(&self) -> String {
        self.buffer.slice(Span::new(0, self.buffer.len())).into_owned()
    }

    /// Makes one change, checks the tree, and returns the position after the change.
    fn change(&mut self, span: Span, text: &str) -> usize {
        let change = self.buffer.edit(span, text);
        self.tree = self.tree.reparse(change, &self.buffer);
        let caret = change.old.start + change.new_len;
        self.steps += 1;
        if self.steps.is_multiple_of(self.every) {
            assert!(
                self.tree == parse(&self.text()),
                "incremental parsing differs from a full parse:\n{}",
                self.until(caret)
            );
        }
        for error in self.tree.errors() {
            let document = self.tree.document_at(error.span.start).expect("an error is in a document").span();
            assert!(document.touches(caret), "{error:?} is in another document, typing at\n{}", self.until(caret));
        }
        caret
    }

    /// The text up to the caret, for messages.
    fn until(&self, caret: usize) -> String {
        let text = self.buffer.slice(Span::new(0, caret));
        text[text.floor_char_boundary(text.len().saturating_sub(600))..].to_owned() + "¦"
    }

    /// Asserts that all expected containers are known, in order; there may be incomplete ones between them.
    fn assert_knows<'k>(&self, expected: impl Iterator<Item = &'k Known>, caret: usize) {
        let is = known(&self.tree);
        let mut left = is.iter();
        for expected in expected {
            assert!(
                left.any(|it| it.what == expected.what),
                "`{}` is lost, typing at\n{}\n--- known: {is:#?}\n--- {:?}",
                expected.what,
                self.until(caret),
                self.tree.errors()
            );
        }
    }
}

/// Types a text between two others and deletes it again.
fn type_between(before: &str, typed: &str, after: &str) {
    let whole = known(&parse(&format!("{before}{typed}{after}")));
    let mut typist = Typist::new(&format!("{before}{after}"));
    let complete = |caret: usize| {
        // A container is complete when its last line is.
        let until = before.len() + typed[..caret - before.len()].rfind('\n').map_or(0, |end| end + 1);
        let later = before.len() + typed.len();
        whole.iter().filter(move |it| it.end < until || it.end > later)
    };
    let characters = || typed.char_indices().map(|(at, character)| (before.len() + at, character));
    for (at, character) in characters() {
        let caret = typist.change(Span::new(at, at), character.encode_utf8(&mut [0; 4]));
        typist.assert_knows(complete(caret), caret);
    }
    assert_eq!(typist.text(), format!("{before}{typed}{after}"));
    for (at, character) in characters().collect::<Vec<_>>().into_iter().rev() {
        let caret = typist.change(Span::new(at, at + character.len_utf8()), "");
        typist.assert_knows(complete(caret), caret);
    }
    assert_eq!(typist.text(), format!("{before}{after}"));
    // Once more from the front, as with the delete key.
    let mut typist = Typist::new(&format!("{before}{typed}{after}"));
    for (_, character) in characters() {
        let caret = typist.change(Span::new(before.len(), before.len() + character.len_utf8()), "");
        typist.assert_knows(
            whole.iter().filter(|it| it.end > before.len() + typed.len() || it.end < before.len()),
            caret,
        );
    }
}

const FIRST: &str = r#"apiVersion: v1
kind: Pod
metadata:
  name: first
spec:
  initContainers:
  - name: setup
    image: shop/setup
    restartPolicy: Always
    env:
    - {name: A, value: "1"}
    - name: B
      value: 'it''s $(A)'
  containers:
  - name: main
    image: shop/main
    command: ["sh", "-c", "echo \"$(B)\"; [ -f x ]"]
    args:
    - |
      name: nothing
      - "half
    - >-
      folded text
      # with no comment
    env:
    - name: C
      value: >
        a: b

        c
    - name: D   # a comment: with 'quotes
      valueFrom:
        fieldRef: {fieldPath: metadata.name}
    volumeMounts: [{name: data, mountPath: /data,
      subPathExpr: $(C)/x}]
  volumes:
  - name: data
    emptyDir: {}
"#;

const JSON: &str = r#"{
  "apiVersion": "v1",
  "kind": "Pod",
  "metadata": {"name": "json"},
  "spec": {
    "containers": [
      {
        "name": "one",
        "image": "shop/one",
        "env": [
          {"name": "A", "value": "a \" b"},
          {"name": "B", "value": "[{"}
        ]
      },
      {
        "name": "two",
        "image": "shop/two",
        "env": [{"name": "C", "value": "c"}]
      }
    ]
  }
}
"#;

const ODD: &str = r#"# Indented by four, with lists at the column of their keys.
kind: Deployment
apiVersion: apps/v1
metadata:
    name: odd
    labels: &labels
        app: größe😀
spec:
    template:
        metadata:
            labels: *labels
        spec:
            containers:
            -   name: one
                image: shop/one
                env:
                -   name: A
                    value: "two
                      lines"
                -   name: B
                    value: plain
                      goes on
            -   env: [{name: C, value: c}, {name: D}]
                name: two
                image: shop/two
            enableServiceLinks: false
"#;

#[test]
fn a_manifest_is_typed_alone() {
    for text in [FIRST, JSON, ODD] {
        type_between("", text, "");
    }
}

#[test]
fn a_manifest_is_typed_with_crlf() {
    type_between("", &FIRST.replace('\n', "\r\n"), "");
}

#[test]
fn a_manifest_is_typed_between_others() {
    type_between(&format!("{FIRST}---\n"), ODD, &format!("\n---\n{FIRST}"));
    type_between(&format!("{ODD}---\n"), FIRST, &format!("\n---\n{ODD}"));
    if crate::cases(0, 1) == 1 {
        type_between(&format!("{ODD}---\n"), JSON, &format!("\n---\n{ODD}"));
    }
}

#[test]
fn the_shop_is_typed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/shop");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the shop is there")
        .map(|entry| entry.expect("a fixture is readable").path())
        .collect();
    paths.sort();
    for path in paths.iter().take(crate::cases(3, u32::MAX) as usize) {
        type_between("", &fs::read_to_string(path).expect("a fixture is text"), "");
    }
}

#[test]
fn a_large_manifest_is_typed_in_its_middle() {
    // One document that is parsed in chunks: many containers, and one more is typed between them.
    let container = |index: usize| {
        format!("  - name: c{index}\n    image: shop/c\n    env:\n    - name: A{index}\n      value: \"$(B) it's [\"\n")
    };
    let head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: large\nspec:\n  containers:\n";
    let many = |from: usize| (from..from + 120).map(container).collect::<String>();
    let (before, typed, after) = (format!("{head}{}", many(0)), container(500), format!("\n{}", many(600)));
    // Text after it may be part of a quote or block scalar for a while; text before it may not.
    let whole = known(&parse(&format!("{before}{typed}{after}")));
    let mut typist = Typist::new(&format!("{before}{after}"));
    for (at, character) in typed.char_indices() {
        let at = before.len() + at;
        let caret = typist.change(Span::new(at, at), character.encode_utf8(&mut [0; 4]));
        typist.assert_knows(whole.iter().filter(|it| it.end < before.len()), caret);
        let line_is_typed = typed[..caret - before.len()].ends_with('\n');
        if line_is_typed {
            typist.assert_knows(whole.iter().filter(|it| it.end > before.len() + typed.len()).skip(1), caret);
        }
    }
}

/// Whether the container depends on this line: one of the keys around it, or the kind of its object. A change there may
/// remove the container: in `spec|:` and `cont\tainers:` there is no container.
fn depends_on(text: &str, at: usize, container: &Known) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let line = text[start..].lines().next().unwrap_or_default();
    let Some(between) = text.get(start..container.start) else { return false };
    if line.starts_with("kind:") || line.starts_with("apiVersion:") {
        return !between.contains("\n---");
    }
    let mut lines = between.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines.all(|below| {
        indent(below) > indent(line) || (indent(below) == indent(line) && below.trim_start().starts_with('-'))
    })
}

/// A single character anywhere in a valid manifest hides at most the container that it is typed in, and rarely another.
#[test]
fn one_wrong_character_hides_few_containers() {
    let text = format!("{FIRST}---\n{ODD}");
    let healthy = known(&parse(&text));
    let (mut kept, mut all) = (0, 0);
    for key in ["\"", "'", "[", "{", ":", "@", "\t", "*", "|", "x"] {
        for at in (0..text.len()).step_by(crate::cases(5, 1) as usize).filter(|at| text.is_char_boundary(*at)) {
            let mut typist = Typist::new(&text);
            typist.change(Span::new(at, at), key);
            let is = known(&typist.tree);
            let is_other = |it: &&Known| (at < it.start || at > it.end) && !depends_on(&text, at, it);
            let others = || healthy.iter().filter(is_other);
            all += others().count();
            kept += others().filter(|it| is.iter().any(|is| is.what == it.what)).count();
        }
    }
    assert!(kept * 100 > all * 95, "only {kept} of {all} containers are still known");
}
