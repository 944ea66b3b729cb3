//! No input causes a panic, and none takes much longer than a valid manifest of the same size.
//!
//! Times are compared with the time for valid text in the same run, not with fixed limits. Everything runs on a thread
//! with the default stack size.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use podlens::k8s::read_objects;
use podlens::syntax::{Node, parse};
use podlens::text::{Buffer, Span};
use proptest::prelude::*;

use crate::fixture::broken_manifests;
use crate::fixtures::manifests;

/// How many times longer than valid text of the same size a text may take. A broken line is parsed several times, so a
/// text of very short broken lines takes longest. An algorithm with quadratic time takes much longer than this.
const RATIO: u32 = 200;

/// Runs on a thread with the default stack size, also if the test runner uses another one.
fn with_default_stack<T: Send + 'static>(name: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let name = name.replace('\0', "NUL");
    let thread = thread::Builder::new().name(name).stack_size(2 * 1024 * 1024).spawn(run).expect("a thread starts");
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A valid manifest of at least this size.
fn valid_manifest(size: usize) -> String {
    let mut text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: healthy\nspec:\n  containers:\n".to_owned();
    let mut index = 0;
    while text.len() < size {
        let _ = write!(text, "  - name: c{index}\n    image: shop/c\n    env:\n    - {{name: A, value: \"$(B)\"}}\n");
        index += 1;
    }
    text
}

/// Parses a text, reads its objects, edits it in the middle, and returns how long that took.
fn parse_and_edit(text: &str) -> Duration {
    let begin = Instant::now();
    let tree = parse(text);
    let errors = tree.errors();
    assert!(errors.iter().all(|error| error.span.end <= text.len() && !error.to_string().is_empty()));
    let objects = read_objects(&tree);
    assert!(objects.len() <= 4 * text.len() + 10_000, "{} objects", objects.len());
    let mut buffer = Buffer::new(text, 0);
    let middle = buffer.floor_char(text.len() / 2);
    let change = buffer.edit(Span::new(middle, middle), "x");
    drop(tree.reparse(change, &buffer));
    drop((objects, tree));
    begin.elapsed()
}

/// Fails if a text takes more than [`RATIO`] times as long as valid text of the same size.
fn assert_bounded(name: &str, text: String) {
    /// How long valid text took when it was last measured.
    static VALID: Mutex<Option<Duration>> = Mutex::new(None);
    const SIZE: usize = 100_000;
    let case = name.to_owned();
    with_default_stack(name, move || {
        // A text that is too small to measure is compared with a larger one.
        let times = RATIO * u32::try_from(text.len().div_ceil(SIZE)).unwrap_or(u32::MAX);
        let mut tries = 0;
        loop {
            let last = *VALID.lock().expect("no test panics while it measures");
            // The machine may have been busy: if it seems too slow, the valid text is measured again.
            let measure = last.filter(|_| tries == 0).unwrap_or_else(|| parse_and_edit(&valid_manifest(SIZE)));
            *VALID.lock().expect("no test panics while it measures") = Some(measure);
            let (took, allowed) = (parse_and_edit(&text), measure * times);
            if took <= allowed {
                return;
            }
            tries += 1;
            assert!(tries < 4, "{case}: {} bytes took {took:?}, and only {allowed:?} are allowed", text.len());
        }
    });
}

#[test]
fn deep_nesting_is_bounded() {
    let deep = crate::cases(4_000, 100_000) as usize;
    for (name, unit) in [
        ("[", "["),
        ("{", "{"),
        ("{a: ", "{a: "),
        ("- ", "- "),
        ("a: {", "a: {"),
        ("? ", "? "),
        ("[{", "[{"),
        ("{\"a\":[", "{\"a\":["),
        ("]", "]"),
        ("}", "}"),
        ("[\n", "[\n"),
        ("{\n", "{\n"),
        ("a: [\n", "a: [\n"),
        ("!a ", "!a "),
        ("&a ", "&a "),
        ("*a ", "*a "),
        (": ", ": "),
        ("a: ", "a: "),
        ("- a: ", "- a: "),
        ("-\n", "-\n"),
        ("a:\n", "a:\n"),
        ("- [\n", "- [\n"),
        ("{\"a\":\n", "{\"a\":\n"),
    ] {
        assert_bounded(name, unit.repeat(deep));
        assert_bounded(&format!("{name} in a pod"), format!("apiVersion: v1\nkind: Pod\nspec: {}", unit.repeat(deep)));
        assert_bounded(
            &format!("{name} below a key"),
            format!("kind: Pod\nspec:\n  x: 1\n  y: {}\n  z: 2\n", unit.repeat(deep)),
        );
    }
    assert_bounded("closed brackets", "[".repeat(deep) + &"]".repeat(deep));
    assert_bounded("closed braces", "{a: ".repeat(deep) + &"}".repeat(deep));
}

#[test]
fn runs_of_one_character_are_bounded() {
    let size = crate::cases(20_000, 1_000_000) as usize;
    for character in "\"'\t\\ \n\r#:,-?!&*|>%@`$()[]{}.\u{feff}é😀\u{0}\u{85}\u{2028}<=".chars() {
        assert_bounded(&format!("{character:?}"), character.to_string().repeat(size));
        assert_bounded(&format!("a: {character:?}"), format!("a: {}\nb: 1\n", character.to_string().repeat(size)));
    }
}

#[test]
fn runs_of_one_line_are_bounded() {
    let lines = crate::cases(2_000, 8_000) as usize;
    for line in [
        "\"",
        "'",
        "[",
        "{",
        "]",
        "}",
        "a",
        "a:",
        "a: b",
        "a: \"",
        "a: '",
        "a: [",
        "a: {",
        "a: |",
        "a: >",
        "- ",
        "- a",
        "- a: b",
        "- \"",
        "- [",
        "- {",
        "- |",
        "\ta: b",
        "  \ta",
        "a:b",
        "a: b: c",
        "a: @",
        "a: *",
        "a: &",
        "? a",
        ": b",
        "---",
        "...",
        "%YAML 1.2",
        "{}",
        "{\"a\": 1}",
        "{\"a\": 1},",
        "<<<<<<< x",
        "=======",
        "a: \"b\\'c\"",
        "a: \"b\nc\"",
        "a: \"b\n\tc\"",
        "\"a\": 1,",
        " a: b",
        "a: b\n a: b",
        "a:\n   b: c\n  d: e",
        "a:\n - b: c\n   d: e\n  f: g",
        "- a: b\n c: d",
        "- a\n  - b",
        "a: [\n]",
        "a: {\n}",
        "- - - a",
        "a: |\n b",
        "# c",
        "a: # c",
        "a: *x",
        "a: &x b",
        "<<: *x",
        "- &x\n  <<: *x",
    ] {
        let many = format!("{line}\n").repeat(lines);
        assert_bounded(&format!("{line:?}"), many.clone());
        let inside: String = many.lines().map(|line| format!("    {line}\n")).collect();
        assert_bounded(
            &format!("{line:?} inside"),
            format!("kind: Pod\nspec:\n  containers:\n  - x:\n{inside}  y: z\n"),
        );
        assert_bounded(&format!("{line:?} in JSON"), format!("{{\n\"spec\": {{\n{inside}\n}}\n}}\n"));
    }
}

#[test]
fn growing_indentation_is_bounded() {
    let steps = crate::cases(500, 2_000) as usize;
    for (name, step) in [("keys", "a:"), ("items", "- a"), ("dashes", "-"), ("broken", "a: \""), ("brackets", "a: [")] {
        let down = |step: &str| (0..steps).map(|index| format!("{}{step}\n", " ".repeat(index))).collect::<String>();
        let up =
            |step: &str| (0..steps).rev().map(|index| format!("{}{step}\n", " ".repeat(index))).collect::<String>();
        assert_bounded(&format!("{name} down"), down(step));
        assert_bounded(&format!("{name} up"), up(step));
        assert_bounded(&format!("{name} down and up"), down(step) + &up(step));
    }
}

#[test]
fn nested_aliases_are_bounded() {
    let levels = 60;
    let mut laughs = "a0: &a0 [x, x]\n".to_owned();
    let mut merges = "m0: &m0 {k: v}\n".to_owned();
    for level in 1..levels {
        let below = level - 1;
        let nine = format!("*a{below}, ").repeat(9);
        let _ = writeln!(laughs, "a{level}: &a{level} [{nine}]");
        let nine = format!("*m{below}, ").repeat(9);
        let _ = writeln!(merges, "m{level}: &m{level} {{<<: [{nine}], k{level}: v}}");
    }
    let last = levels - 1;
    let pod = |of: &str, alias: &str| {
        format!(
            "{of}apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  containers: {alias}\n  volumes: {alias}\n"
        )
    };
    assert_bounded("billion laughs", pod(&laughs, &format!("*a{last}")));
    assert_bounded("billion merges", pod(&merges, &format!("[*m{last}, *m{last}]")));
    // Containers, their env and Lists that contain each other, each many times.
    let many = |what: &str| format!("[{}]", format!("{what}, ").repeat(200));
    let nested = format!(
        "e: &e {{name: A, value: x}}\nl: &l {}\nc: &c {{name: c, image: i, env: *l, envFrom: *l, command: *l}}\ncs: &cs {}\n\
         p: &p {{apiVersion: v1, kind: Pod, spec: {{containers: *cs, initContainers: *cs}}}}\nps: &ps {}\n\
         apiVersion: v1\nkind: List\nitems: {}\n",
        many("*e"),
        many("*c"),
        many("*p"),
        many("{kind: List, apiVersion: v1, items: *ps}")
    );
    assert_bounded("containers by alias", nested);
    for text in [
        "a: &a [*a]\napiVersion: v1\nkind: Pod\nspec: {containers: *a}\n",
        "a: &a {b: *a}\napiVersion: v1\nkind: Pod\nspec: *a\n",
        "&a\napiVersion: v1\nkind: List\nitems: [*a, *a]\n",
        "&a\napiVersion: v1\nkind: Pod\nspec: *a\n",
        "&a {<<: *a, kind: Pod, apiVersion: v1, spec: {<<: *a}}\n",
        "a: &a {<<: *b}\nb: &b {<<: *a}\nkind: Pod\napiVersion: v1\nspec: *b\n",
        "a: &a *a\nkind: Pod\n",
        "- &a [*a, *b]\n- &b [*a, *b]\n",
    ] {
        assert_bounded(text, text.to_owned());
    }
}

#[test]
fn long_chains_of_anchors_are_bounded() {
    let many = crate::cases(2_000, 20_000);
    let mut chain = "a0: &a0 x\n".to_owned();
    let mut merges = "m0: &m0 {k: v}\n".to_owned();
    for index in 1..many {
        let _ = writeln!(chain, "a{index}: &a{index} [*a{}]", index - 1);
        let _ = writeln!(merges, "m{index}: &m{index} {{<<: *m{}}}", index - 1);
    }
    let last = many - 1;
    assert_bounded("a chain of aliases", format!("{chain}kind: Pod\napiVersion: v1\nspec: *a{last}\n"));
    assert_bounded("a chain of merges", format!("{merges}kind: Pod\napiVersion: v1\nspec: *m{last}\n"));
    let same = "- &a {name: x}\n- *a\n- {<<: *a}\n".repeat(many as usize);
    assert_bounded("one anchor again and again", same);
}

#[test]
fn large_parts_are_bounded() {
    let size = crate::cases(500_000, 10_000_000) as usize;
    let many = crate::cases(5_000, 100_000) as usize;
    assert_bounded("one long plain scalar", format!("a: {}\nb: 1\n", "x y ".repeat(size / 4)));
    assert_bounded("one long line", "x".repeat(size));
    assert_bounded("one long quoted scalar", format!("a: \"{}\"\nb: 1\n", "x \\n".repeat(size / 4)));
    assert_bounded("one long open quote", format!("a: \"{}\nb: 1\n", "x y ".repeat(size / 4)));
    assert_bounded("one long list", format!("a: [{}]\nb: 1\n", "x, ".repeat(size / 3)));
    assert_bounded("one long open list", format!("a: [{}\nb: 1\n", "x, ".repeat(size / 3)));
    assert_bounded("one long key", format!("{}: x\nb: 1\n", "k".repeat(size)));
    assert_bounded("one long comment", format!("# {}\nb: 1\n", "k".repeat(size)));
    assert_bounded("one long block scalar", format!("a: |\n{}b: 1\n", "  some: \"text\n".repeat(size / 14)));
    assert_bounded("one long folded scalar", format!("a: >\n{}b: 1\n", "  some [text\n".repeat(size / 13)));
    assert_bounded("one long plain scalar of lines", format!("a: b\n{}b: 1\n", "  some text\n".repeat(size / 12)));
    let keys: String = (0..many).map(|index| format!("key{index}: value\n")).collect();
    assert_bounded("many keys", keys.clone());
    assert_bounded("many keys and one mistake", format!("{keys}\"\n{keys}"));
    assert_bounded("many keys and no colon", keys.replace(':', ""));
    assert_bounded("many mistakes", keys.replace(": value", ": \"value"));
    let data: String = (0..many).map(|index| format!("  key{index}: value\n")).collect();
    assert_bounded("a config map", format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n{data}"));
    let env: String = (0..many).map(|index| format!("    - name: A{index}\n      value: $(A{index})\n")).collect();
    assert_bounded(
        "a long env",
        format!("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: x\n    env:\n{env}"),
    );
    assert_bounded("many documents", "---\na: b\n".repeat(many));
    assert_bounded("many broken documents", "---\na: \"b\n".repeat(many));
    assert_bounded("many empty documents", "---\n".repeat(many));
    assert_bounded("many ends of documents", "...\n".repeat(many));
    assert_bounded("many JSON documents", "{\"a\": 1}\n".repeat(many));
}

/// Texts that once panicked.
#[test]
fn texts_that_once_panicked_do_not() {
    for text in [
        "\u{feff}\n\t\t- a\rkind: Pod\nspec:\n",
        "\u{feff}\n\t- a\n\"",
        "\u{feff}\n\ta: [\n",
        "\rkind: Pod\n\tkind: Pod\n<<: a",
        "a:\n<<<<<<< ",
        "a: [\n>>>>>>> \r\n",
    ] {
        parse_and_edit(text);
    }
}

#[test]
fn truncated_fixtures_do_not_panic() {
    let shops = ["shop", "shop-broken"].into_iter().flat_map(manifests);
    let texts: Vec<String> = shops.chain(broken_manifests()).map(|(_, text)| text).collect();
    with_default_stack("abuse", move || {
        for text in texts {
            for at in (0..text.len()).step_by(crate::cases(37, 3) as usize).filter(|at| text.is_char_boundary(*at)) {
                parse_and_edit(&text[..at]);
                parse_and_edit(&text[at..]);
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::cases(200, 10_000)) })]

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        parse_and_edit(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_yaml_like_text_does_not_panic(parts in prop::collection::vec(prop::sample::select(PARTS), 0..80)) {
        parse_and_edit(&parts.concat());
    }

    #[test]
    fn valid_text_with_a_gap_does_not_panic(text in crate::differential::file(3), from in any::<prop::sample::Index>(), len in 0..40usize) {
        let from = text.floor_char_boundary(from.index(text.len()));
        let to = text.floor_char_boundary((from + len).min(text.len()));
        parse_and_edit(&format!("{}{}", &text[..from], &text[to..]));
    }
}

/// Pieces of YAML syntax.
const PARTS: &[&str] = &[
    "a",
    "key: ",
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    "\r\n",
    "\r",
    "\t",
    "- ",
    "-",
    "? ",
    ": ",
    ":",
    "\"",
    "'",
    "\\",
    "[",
    "]",
    "{",
    "}",
    ",",
    "|",
    ">",
    "|2-",
    "#",
    " # c",
    "&a ",
    "*a",
    "!!int ",
    "!",
    "%YAML 1.2",
    "---",
    "\n---\n",
    "\n...\n",
    "<<: ",
    "\u{feff}",
    "é",
    "😀",
    "\u{0}",
    "\u{85}",
    "\u{2028}",
    "$(X)",
    "kind: Pod\n",
    "spec:\n",
    "  containers:\n",
    "  - name: x\n",
];

/// A tree has at most as many nodes as its text has bytes, also with aliases.
#[test]
fn trees_are_not_larger_than_their_texts() {
    fn count(node: Node<'_>) -> usize {
        if node.alias().is_some() {
            return 1;
        }
        let entries = node.own_entries().map(|(key, value)| count(key) + value.map_or(0, count));
        1 + entries.sum::<usize>() + node.items().map(count).sum::<usize>()
    }
    for unit in ["[", "- ", "a: b\n", "a: \"\n", "{a: ", "- - \"\n", "a:\n - b\n  c: d\n", "x\n", "\t", "? "] {
        let text = unit.repeat(3_000);
        let nodes = with_default_stack("abuse", move || {
            let tree = parse(&text);
            tree.documents().filter_map(|document| document.root()).map(count).sum::<usize>()
        });
        assert!(nodes <= unit.len() * 3_000 + 1, "{unit:?}: {nodes} nodes");
    }
}
