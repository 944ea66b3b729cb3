//! Documents: edits are applied in order and in the encoding of the client.

use podlens::text::Encoding;
use serde_json::json;

use super::fixture::position;
use super::{Client, Fixture};
use crate::manifest::pod;

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

const POD: &str = pod!(
    "#- pod.yaml\n# größe 😀\n",
    "web",
    "    env:
    - name: U
      value: ä😀
    - name: A
      value: 'ü😀 $(B)'
    - name: B
      value: b
"
);

fn range(text: &str, start: usize, end: usize, encoding: Encoding) -> serde_json::Value {
    json!({"start": position(text, start, encoding), "end": position(text, end, encoding)})
}

#[test]
fn edits_use_the_encoding_of_the_client() {
    for encoding in ENCODINGS {
        for fixture in [Fixture::new(POD), Fixture::with_crlf(POD)] {
            let mut client = Client::modern(&fixture, encoding);
            let uri = fixture.uri("pod.yaml");
            let text = fixture.text("pod.yaml");
            assert_eq!(client.rules(&uri), ["forward-reference"]);
            let found = client.pull(&uri)["items"][0]["range"].clone();
            let at = text.find("$(B)").expect("it is there");
            assert_eq!(found, range(text, at, at + 4, encoding), "{encoding:?}");
            // The reference becomes undefined, and the second edit is relative to the text after the first.
            let mut edited = text.to_owned();
            edited.insert(at, '😀');
            let name = at + "😀$(".len();
            client.change(
                &uri,
                2,
                json!([
                    {"range": range(text, at, at, encoding), "text": "😀"},
                    {"range": range(&edited, name, name + 1, encoding), "text": "NOPE"},
                ]),
            );
            edited.replace_range(name..name + 1, "NOPE");
            let items = client.pull(&uri)["items"].clone();
            let (at, end) = (name - 2, name + "NOPE)".len());
            assert_eq!(items[0]["range"], range(&edited, at, end, encoding), "{encoding:?}: {items}");
        }
    }
}

#[test]
fn positions_outside_the_text_are_its_end() {
    let fixture = Fixture::new(POD);
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let uri = fixture.uri("pod.yaml");
    let far = json!({"line": 4_000_000_000_u32, "character": 4_000_000_000_u32});
    client.change(
        &uri,
        2,
        json!([{"range": {"start": far, "end": far}, "text": "    - name: C\n      value: $(D)\n"}]),
    );
    assert_eq!(client.rules(&uri), ["forward-reference", "undefined-variable"]);
    // A range whose end is before its start.
    let (line, start) = (json!({"line": 14, "character": 0}), json!({"line": 13, "character": 0}));
    client.change(&uri, 3, json!([{"range": {"start": line, "end": start}, "text": ""}]));
    let at = json!({"textDocument": {"uri": uri}, "position": far});
    for method in ["textDocument/hover", "textDocument/completion", "textDocument/definition"] {
        client.request(method, at.clone());
    }
    client.change(&uri, 4, json!([{"range": {"start": {"line": 0, "character": 0}, "end": far}, "text": ""}]));
    assert_eq!(client.rules(&uri), [""; 0]);
}

#[test]
fn any_version_is_accepted() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(
        &fixture,
        super::client::Setup { capabilities: super::client::simple(Encoding::Utf16), ..Default::default() },
    );
    let uri = fixture.uri("pod.yaml");
    client.open(&uri, fixture.text("pod.yaml"), 7);
    assert_eq!(super::client::codes(&client.published(&uri, 7)["diagnostics"]), ["forward-reference"]);
    // A smaller version, and the same version again: each is published with its number.
    client.replace(&uri, 3, "");
    assert_eq!(client.published(&uri, 3)["diagnostics"], json!([]));
    client.change(&uri, 3, json!([]));
    assert_eq!(client.published(&uri, 3)["diagnostics"], json!([]), "published although nothing has changed");
    // Opened again without `didClose`.
    client.open(&uri, fixture.text("pod.yaml"), -2);
    assert_eq!(super::client::codes(&client.published(&uri, -2)["diagnostics"]), ["forward-reference"]);
    client.close(&uri);
    let cleared = client.next_message("textDocument/publishDiagnostics");
    assert_eq!(cleared["params"]["diagnostics"], json!([]));
    // Changes of a document that is not open are ignored.
    client.replace(&uri, 9, fixture.text("pod.yaml"));
    client.close(&uri);
    client.open(&uri, "", 1);
    assert_eq!(client.published(&uri, 1)["diagnostics"], json!([]));
}

#[test]
fn the_text_of_the_editor_is_used_until_it_is_closed() {
    let fixture = Fixture::new(
        "#- pod.yaml\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    env:\n    - name: A\n      valueFrom: {configMapKeyRef: {name: app, key: one}}\n#- config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {one: x}\n",
    );
    let mut client = Client::of(&fixture, super::client::Setup::default());
    let (pod, config) = (fixture.uri("pod.yaml"), fixture.uri("config.yaml"));
    client.open(&pod, fixture.text("pod.yaml"), 1);
    assert_eq!(client.rules(&pod), [""; 0]);
    client.open(&config, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {two: x}\n", 1);
    assert_eq!(client.rules(&pod), ["missing-key"]);
    // The file on disk changes too; it is not used while the document is open.
    fixture.write("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {three: x}\n");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": config, "type": 2}]}));
    client.replace(&config, 2, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {one: x}\n");
    assert_eq!(client.rules(&pod), [""; 0]);
    client.close(&config);
    assert_eq!(client.rules(&pod), ["missing-key"], "the file on disk is used again");
    fixture.write("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {one: x}\n");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": config, "type": 2}]}));
    assert_eq!(client.rules(&pod), [""; 0]);
    std::fs::remove_file(fixture.path("config.yaml")).expect("it is there");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": config, "type": 3}]}));
    assert_eq!(client.rules(&pod), [""; 0], "it may exist elsewhere");
}
