//! Large objects, whose containers are cached one by one: the answers are the same.

use std::fmt::Write as _;

use podlens::text::Encoding;
use serde_json::json;

use super::examples::{Compared, compare};
use super::fixture::position;
use super::{Client, Fixture};

/// A pod of more than 8 KB with some unresolved references.
fn pod() -> String {
    let mut text = String::from("apiVersion: v1\nkind: Pod\nmetadata: {name: large}\nspec:\n  containers:\n");
    for number in 0..40 {
        let _ = write!(
            text,
            "  - name: c{number}
    image: example/image:1.0
    env:
    - name: HOST
      value: host-{number}.example.org
    - name: URL
      value: http://$(HOST):$(PORT)/$(LATER)
    - name: LATER
      value: 'ü😀 {number}'
    args: [--url, $(URL), \"$(NOPE_{number})\"]
"
        );
    }
    text
}

#[test]
fn the_answers_for_a_large_object_equal_the_commands() {
    let text = pod();
    assert!(text.len() > 8 * 1024);
    let mut compared = Compared::default();
    compare("a large pod".into(), Fixture::new(&format!("#- pod.yaml\n{text}")), &mut compared);
    assert_eq!((compared.containers, compared.findings), (40, 120), "{compared:?}");
}

/// Positions after an edit are reported where they are now.
#[test]
fn positions_move_with_the_text_above_them() {
    let text = pod();
    let fixture = Fixture::new(&format!("#- pod.yaml\n{text}"));
    let uri = fixture.uri("pod.yaml");
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    client.pull(&uri);
    let top = json!({"line": 0, "character": 0});
    client.change(&uri, 2, json!([{"range": {"start": top, "end": top}, "text": "# ü😀\n# more\n"}]));
    let text = format!("# ü😀\n# more\n{text}");
    let mut fresh = Client::modern(&fixture, Encoding::Utf16);
    fresh.replace(&uri, 2, &text);
    let all = json!({"start": top, "end": {"line": 9999, "character": 0}});
    for number in [0, 20, 39] {
        let at = position(&text, text.find(&format!("$(NOPE_{number})")).expect("it is there") + 3, Encoding::Utf16);
        let params = json!({
            "textDocument": {"uri": uri}, "position": at, "range": all,
            "context": {"diagnostics": [], "includeDeclaration": true, "triggerKind": 1},
        });
        for method in [
            "podlens/environment",
            "textDocument/hover",
            "textDocument/completion",
            "textDocument/definition",
            "textDocument/references",
            "textDocument/documentHighlight",
            "textDocument/documentSymbol",
            "textDocument/codeAction",
            "textDocument/codeLens",
            "textDocument/inlayHint",
            "textDocument/semanticTokens/full",
            "textDocument/diagnostic",
        ] {
            let (actual, expected) = (client.request(method, params.clone()), fresh.request(method, params.clone()));
            assert_eq!(actual, expected, "{method}");
        }
        let view = client.request("podlens/environment", params);
        let stays = view["workloads"][0]["containers"][0]["unresolved"].as_array().expect("a list").clone();
        let nope = stays.iter().find(|it| it["name"] == format!("NOPE_{number}")).expect("it stays");
        assert_eq!(nope["line"], json!(at["line"].as_u64().expect("a line") + 1), "{nope}");
    }
}
