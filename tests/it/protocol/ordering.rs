//! Order of messages: everything is done in order, and nothing waits for a slow request.

use std::time::{Duration, Instant};

use podlens::text::{Buffer, Encoding, Span};
use serde_json::{Value, json};

use super::client::{Setup, codes, simple};
use super::fixture::position;
use super::{Client, Fixture};
use crate::manifest::pod;

const POD: &str = pod!(
    "#- pod.yaml\n",
    "web",
    "    env:
    - name: A
      value: a
    - name: B
      value: $(A) ü😀
    - name: C
      value: $(D)
"
);

/// Pseudo-random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % sides
    }
}

#[test]
fn a_thousand_edits_have_the_same_result_as_opening_the_text() {
    const PIECES: [&str; 14] = [
        "$(A)",
        "a",
        "\n",
        "😀",
        "    - name: N\n      value: $(B)\n",
        "\"",
        "$$",
        "ü",
        "[",
        ": ",
        "-",
        "\r\n",
        "",
        "'",
    ];
    for capabilities in [super::client::modern(Encoding::Utf16), simple(Encoding::Utf32)] {
        let encoding = if capabilities["window"].is_null() { Encoding::Utf32 } else { Encoding::Utf16 };
        let fixture = Fixture::new(POD);
        let mut client = Client::of(&fixture, Setup { capabilities: capabilities.clone(), ..Setup::default() });
        let uri = fixture.uri("pod.yaml");
        client.open(&uri, fixture.text("pod.yaml"), 0);
        let mut buffer = Buffer::new(fixture.text("pod.yaml"), 0);
        let mut dice = Dice(7);
        let mut asked = Vec::new();
        for version in 1..=1000 {
            let text = buffer.to_string();
            let start = buffer.floor_char(dice.roll(buffer.len() + 1));
            let end = buffer.floor_char((start + dice.roll(6)).min(buffer.len()));
            let piece = PIECES[dice.roll(PIECES.len())];
            let range = json!({"start": position(&text, start, encoding), "end": position(&text, end, encoding)});
            // A position between CR and LF is the end of the line.
            let at = |offset: usize| buffer.offset(buffer.position(offset, encoding), encoding);
            let span = Span::new(at(start), at(end));
            buffer.edit(span, piece);
            client.change(&uri, version, json!([{"range": range, "text": piece}]));
            if dice.roll(3) == 0 {
                let at = json!({"textDocument": {"uri": uri}, "position": range["start"]});
                let method =
                    ["textDocument/hover", "textDocument/completion", "textDocument/documentSymbol"][dice.roll(3)];
                asked.push(client.send_request(method, at));
            }
            if dice.roll(100) == 0 {
                buffer = Buffer::new(fixture.text("pod.yaml"), 0);
                client.replace(&uri, version, fixture.text("pod.yaml"));
            }
        }
        for id in asked {
            let answer = client.wait(id);
            let code = &answer["error"]["code"];
            assert!(answer.get("result").is_some() || *code == -32801, "an answer or `ContentModified`: {answer}");
        }
        let last = |client: &mut Client, version| match encoding {
            Encoding::Utf16 => client.pull(&uri)["items"].clone(),
            _ => client.published(&uri, version)["diagnostics"].clone(),
        };
        let found = last(&mut client, 1000);
        let mut fresh = Client::of(&fixture, Setup { capabilities, ..Setup::default() });
        fresh.open(&uri, &buffer.to_string(), 1);
        assert_eq!(found, last(&mut fresh, 1));
        // Diagnostics alone might be equal by chance, so other answers with positions are compared too.
        let everything = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}});
        let context = json!({"diagnostics": []});
        let params = json!({"textDocument": {"uri": uri}, "range": everything, "context": context});
        for method in ["documentSymbol", "semanticTokens/full", "inlayHint", "codeLens", "codeAction", "documentLink"] {
            let method = format!("textDocument/{method}");
            let (is, expected) = (client.request(&method, params.clone()), fresh.request(&method, params.clone()));
            assert_eq!(is, expected, "{method}");
        }
        // The whole text up to the position after its last character.
        let end = position(&buffer.to_string(), buffer.len(), encoding);
        for client in [&mut client, &mut fresh] {
            client.change(
                &uri,
                2000,
                json!([{"range": {"start": {"line": 0, "character": 0}, "end": end}, "text": ""}]),
            );
            let outline = client.request("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}));
            assert_eq!(outline.as_array().map_or(0, Vec::len), 0, "nothing is left: {outline}");
        }
    }
}

#[test]
fn an_answer_includes_every_edit_before_it() {
    let fixture = Fixture::new(POD);
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let uri = fixture.uri("pod.yaml");
    for version in 2..40 {
        let name = if version % 2 == 0 { "D" } else { "A" };
        client.replace(&uri, version, &fixture.text("pod.yaml").replace("$(D)", &format!("$({name}) # {version}")));
        let expected: &[&str] = if name == "D" { &["undefined-variable"] } else { &[] };
        assert_eq!(client.rules(&uri), expected, "version {version}");
    }
}

#[test]
fn each_settled_text_is_published_once() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    let uri = fixture.uri("pod.yaml");
    client.open(&uri, fixture.text("pod.yaml"), 1);
    client.published(&uri, 1);
    for version in 2..=50 {
        client.replace(&uri, version, &fixture.text("pod.yaml").replace("value: a", &format!("value: v{version}")));
    }
    let mut versions = Vec::new();
    while versions.last() != Some(&50) {
        let published = client.next_message("textDocument/publishDiagnostics");
        assert_eq!(codes(&published["params"]["diagnostics"]), ["undefined-variable"]);
        versions.push(published["params"]["version"].as_i64().expect("a version"));
    }
    assert!(versions.windows(2).all(|it| it[0] < it[1]), "each once, in order: {versions:?}");
}

#[test]
fn a_slow_request_delays_nothing_else() {
    let fixture = Fixture::new(POD);
    let setup = || Setup { hooks: "slow=textDocument/references".into(), ..Setup::default() };
    let mut client = Client::of(&fixture, setup());
    let uri = fixture.uri("pod.yaml");
    client.open(&uri, fixture.text("pod.yaml"), 1);
    client.ready(&fixture);
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 9, "character": 16}, "context": {"includeDeclaration": true}});
    let start = Instant::now();
    let slow: Vec<i64> = (0..8).map(|_| client.send_request("textDocument/references", at.clone())).collect();
    // A request that waits for them is answered after them.
    let mut before = 0;
    for _ in 0..20 {
        client.request("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}));
        client.rules(&uri);
        before += usize::from(slow.iter().all(|id| !client.has_answer(*id)));
    }
    assert!(before > 0, "the others do not wait for the slow ones");
    // Half of them are cancelled.
    for id in &slow[..4] {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    for id in &slow[..4] {
        let answer = client.wait(*id);
        assert_eq!(answer["error"]["code"], -32800, "{answer}");
    }
    for id in &slow[4..] {
        let answer = client.wait(*id);
        assert!(answer.get("result").is_some(), "{answer}");
    }
    assert!(start.elapsed() >= Duration::from_secs(3), "the hook works");
    // The answer for a text that has changed is an error.
    let id = client.send_request("textDocument/references", at);
    client.replace(&uri, 2, fixture.text("pod.yaml"));
    assert_eq!(client.wait(id)["error"]["code"], -32801);
    // Cancelling a request that does not exist does nothing.
    client.notify("$/cancelRequest", json!({"id": "never"}));
    assert_eq!(client.shut_down(), Some(0));
}

#[test]
fn a_client_that_answers_no_request_is_served() {
    let fixture = Fixture::new(POD);
    let mut client = Client::start(&Setup::default());
    client.is_silent = true;
    let folder = fixture.folder_uri();
    let params = json!({"rootUri": folder, "capabilities": super::client::modern(Encoding::Utf16)});
    client.request("initialize", params);
    client.notify("initialized", json!({}));
    let uri = fixture.uri("pod.yaml");
    client.open(&uri, fixture.text("pod.yaml"), 1);
    let mut asked = Vec::new();
    for version in 2..300 {
        client.replace(&uri, version, &fixture.text("pod.yaml").replace("value: a", &format!("value: v{version}")));
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": 9, "character": 16}});
        asked.push(client.send_request("textDocument/hover", at));
        client.notify("workspace/didChangeConfiguration", json!({"settings": null}));
    }
    for id in asked {
        client.wait(id);
    }
    assert_eq!(client.rules(&uri), ["undefined-variable"], "diagnostics do not wait for settings that never arrive");
    // Late answers, and answers to requests that were never sent, are accepted.
    let waiting: Vec<Value> = client.received.iter().filter(|it| it.get("id").is_some()).cloned().collect();
    assert!(waiting.iter().any(|it| it["method"] == "workspace/configuration"));
    for request in &waiting {
        client.answer_to(request, json!([{"rules": {"undefined-variable": "hint"}}]));
        client.answer_to(&json!({"id": 99_999}), Value::Null);
    }
    client.rules(&uri);
    assert_eq!(client.shut_down(), Some(0));
}

#[test]
fn a_panic_affects_only_one_answer() {
    let fixture = Fixture::new(POD);
    let hooks = "panic=textDocument/hover panic=textDocument/diagnostic panic=diagnostics";
    let mut client = Client::of(&fixture, Setup { hooks: hooks.into(), ..Setup::default() });
    let uri = fixture.uri("pod.yaml");
    client.open(&uri, fixture.text("pod.yaml"), 1);
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 9, "character": 16}});
    for version in 2..10 {
        assert_eq!(client.request_error("textDocument/hover", at.clone()), -32603);
        assert_eq!(client.request_error("textDocument/diagnostic", at.clone()), -32603);
        client.replace(&uri, version, fixture.text("pod.yaml"));
        client.request("textDocument/completion", at.clone());
    }
    assert_eq!(client.shut_down(), Some(0));
}
