//! The text after a completion is accepted: in every style of scalar, with any text around the cursor, and for both
//! ranges of an item.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, simple};
use super::fixture::{covered, edited, position};
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

/// A name that is both a parameter and a variable has two items, and each gives its own text.
#[test]
fn a_parameter_and_a_variable_of_one_name_are_both_accepted() {
    let template = |typed: &str| {
        format!(
            "apiVersion: v1\nkind: Template\nmetadata: {{name: web}}\nobjects:\n- apiVersion: v1\n  kind: Pod\n  metadata: \
             {{name: web}}\n  spec:\n    containers:\n    - name: main\n      image: web\n      env:\n      - {{name: PORT, value: \
             '80'}}\n      args: ['ü😀 {typed}']\nparameters:\n- {{name: PORT, type: int, value: '8080'}}\n- {{name: OTHER, value: x}}\n"
        )
    };
    let both = [(super::client::modern(Encoding::Utf16), Encoding::Utf16), (simple(Encoding::Utf8), Encoding::Utf8)];
    for (capabilities, encoding) in both {
        for typed in ["$($0", "$($0)", "$(PO$0", "$(PO$0)", "$(PO$0RT)"] {
            let fixture = Fixture::new(&format!("#- t.yaml\n{}", template(typed)));
            let mut client = Client::of(&fixture, Setup { capabilities: capabilities.clone(), ..Setup::default() });
            let text = fixture.text("t.yaml");
            client.open(&fixture.uri("t.yaml"), text, 1);
            let found = client.request("textDocument/completion", fixture.at_cursor(encoding));
            let items = found["items"].as_array().expect("items");
            for (label, inserted, detail) in
                [("${PORT}", "${PORT}", "8080"), ("PORT", "$(PORT)", "80 · the parameter wins")]
            {
                let matching: Vec<&Value> = items.iter().filter(|it| it["label"] == label).collect();
                let [item] = matching[..] else {
                    panic!("{typed}: {label} is offered {} times: {found}", matching.len())
                };
                // Editors show an item if the typed text, from the start of the range to the cursor, is in its filter.
                let cursor = fixture.at_cursor(encoding)["position"].clone();
                let start =
                    ["range", "insert"].iter().find_map(|it| item["textEdit"].get(it)).expect("a range")["start"]
                        .clone();
                let typed_part = covered(text, &json!({"start": start, "end": cursor}), encoding);
                let filter = item["filterText"].as_str().unwrap_or(label);
                assert!(filter.starts_with(&*typed_part), "{typed_part} is not in {filter}");
                for edit in ways(item) {
                    assert_eq!(edited(text, &edit, encoding), template(inserted), "{typed}: {label}");
                }
                let resolved = client.request("completionItem/resolve", item.clone());
                assert_eq!(resolved["label"], label);
                let shown = [&item["detail"], &item["labelDetails"]["description"], &item["labelDetails"]["detail"]];
                let shown = shown.map(|it| it.as_str().unwrap_or_default()).join(" ");
                assert!(shown.contains(detail), "{shown}: {detail}");
            }
            // A name that is only a parameter is written as it was begun.
            let item = items.iter().find(|it| it["label"] == "OTHER").expect("the other parameter");
            assert_eq!(edited(text, &ways(item)[0], encoding), template("$(OTHER)"), "{typed}");
        }
    }
}
