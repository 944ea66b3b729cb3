//! The text after a completion is accepted: in every style of scalar, with any text around the cursor, and for both
//! ranges of an item.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, simple};
use super::fixture::{edited, position};
use super::{Client, Fixture};
use crate::manifest::pod;

/// A container. `VALUE` is replaced by the typed text.
const POD: &str = pod!(
    "apiVersion: v1\n",
    "web",
    "    image: web
    env:
    - name: HOST
      value: 'ü😀'
    - name: PORT
      value: '80'
    - name: URL
      value: VALUE
    - name: LAST
      value: last
"
);

const JSON: &str = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [
  {"name": "main", "image": "web", "env": [{"name": "HOST", "value": "ü😀"}, {"name": "PORT", "value": "80"},
    {"name": "URL", "value": VALUE}]}]}}
"#;

/// How the value is written around `TYPED`.
const STYLES: [&str; 11] = [
    "TYPED",
    "ü😀 http://TYPED",
    "'ü😀 TYPED'",
    "\"ü😀 TYPED\"",
    "\"\\u00fc\\t TYPED\"",
    "|\n        ü😀\n        TYPED",
    "|-\n        ü😀 TYPED\n        more",
    ">-\n        ü😀\n        TYPED",
    "\"ü😀\n        TYPED\"",
    "ü😀\n        TYPED",
    "'ü😀\n\n        TYPED'",
];

/// The typed text with the cursor.
const TYPED: [&str; 6] = ["$(¦", "$(¦)", "$(PO¦", "$(PO¦)", "$(PO¦RT)", "$(HOST)$(¦)"];

/// The edits that an editor may apply for an item.
fn ways(item: &Value) -> Vec<Value> {
    let edit = &item["textEdit"];
    let ranges = ["range", "insert", "replace"].into_iter().filter_map(|it| edit.get(it));
    ranges.map(|range| json!([{"range": range, "newText": edit["newText"]}])).collect()
}

fn check(name: &str, text: &str, encoding: Encoding, capabilities: &Value) {
    let (before, after) = text.split_once('¦').expect("a cursor");
    // The typed part of the name and the closing parenthesis are part of the reference.
    let start = before.rfind("$(").expect("a reference");
    let rest = after.trim_start_matches(|it: char| it.is_ascii_uppercase());
    let expected = format!("{}$(PORT){}", &before[..start], rest.strip_prefix(')').unwrap_or(rest));
    let fixture = Fixture::new(&format!("#- {name}\n{before}$0{after}"));
    let mut client = Client::of(&fixture, Setup { capabilities: capabilities.clone(), ..Setup::default() });
    let typed = fixture.text(name);
    client.open(&fixture.uri(name), typed, 1);
    let found = client.request("textDocument/completion", fixture.at_cursor(encoding));
    let items = found["items"].as_array().unwrap_or_else(|| panic!("nothing is offered in\n{text}"));
    let item = items.iter().find(|it| it["label"] == "PORT").unwrap_or_else(|| panic!("{found} in\n{text}"));
    for edit in ways(item) {
        assert_eq!(edited(typed, &edit, encoding), expected, "{edit} in\n{text}");
        // Editors require that the range is on one line and contains the cursor.
        let cursor = position(typed, before.len(), encoding);
        let (start, end) = (&edit[0]["range"]["start"], &edit[0]["range"]["end"]);
        assert!(start["line"] == cursor["line"] && end["line"] == cursor["line"], "{edit}");
        let column = |it: &Value| it["character"].as_u64();
        assert!(column(start) <= column(&cursor) && column(&cursor) <= column(end), "{edit}");
    }
}

#[test]
fn an_accepted_name_is_a_whole_reference() {
    let both = [(super::client::modern(Encoding::Utf16), Encoding::Utf16), (simple(Encoding::Utf8), Encoding::Utf8)];
    for (capabilities, encoding) in both {
        for style in STYLES {
            for typed in TYPED {
                let value = style.replace("TYPED", typed);
                check("pod.yaml", &POD.replace("VALUE", &value), encoding, &capabilities);
            }
        }
        for typed in TYPED {
            let flow = format!("    - {{name: URL, value: \"{typed}\"}}\n");
            let pod = POD.replace("    - name: URL\n      value: VALUE\n", &flow);
            check("pod.yaml", &pod, encoding, &capabilities);
            check("pod.json", &JSON.replace("VALUE", &format!("\"{typed}\"")), encoding, &capabilities);
        }
    }
}

/// An editor that inserts keeps the rest of the word.
#[test]
fn the_rest_of_a_word_may_be_kept() {
    let text = POD.replace("value: VALUE", "valueFrom: {configMapKeyRef: {name: a¦x, key: k}}");
    let text = format!("{text}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: app}}\ndata: {{k: v}}\n");
    let (before, after) = text.split_once('¦').expect("a cursor");
    let fixture = Fixture::new(&format!("#- pod.yaml\n{before}$0{after}"));
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let found = client.request("textDocument/completion", fixture.at_cursor(Encoding::Utf16));
    let item = &found["items"][0];
    let made: Vec<String> = ways(item).iter().map(|it| edited(fixture.text("pod.yaml"), it, Encoding::Utf16)).collect();
    assert!(made[0].contains("{name: appx, key"), "insert: {item}");
    assert!(made[1].contains("{name: app, key"), "replace: {item}");
}
