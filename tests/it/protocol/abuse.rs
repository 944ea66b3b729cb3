//! Messages that no client should send: each is answered with one error, and the next message is served.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, simple};
use super::{Client, Fixture};
use crate::manifest::pod;

const POD: &str = pod!(
    "#- pod.yaml\n",
    "web",
    "    env:
    - {name: A, value: $(B)}
"
);

/// The code of the next error without an id, which is the answer to an unreadable message.
fn error(client: &mut Client) -> i64 {
    client.wait_until(|client| {
        let at = client.received.iter().position(|it| it.get("error").is_some() && it["id"].is_null())?;
        client.received.remove(at)?["error"]["code"].as_i64()
    })
}

#[test]
fn unreadable_messages_are_answered_once() {
    let fixture = Fixture::new(POD);
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let uri = fixture.uri("pod.yaml");
    let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let cases: [(String, i64); 18] = [
        (framed("{"), -32700),
        (framed("not json"), -32700),
        (framed("\u{0}"), -32700),
        (framed(""), -32700),
        (framed(&"[".repeat(100_000)), -32700),
        (framed("{\"jsonrpc\": \"2.0\", \"method\": \"x\", \"id\": 1, \"id\": }"), -32700),
        ("Content-Length: x\r\n\r\n{}\r\n".into(), -32700),
        ("Content-Length: -5\r\n\r\n{}\r\n".into(), -32700),
        ("Content-Length: 99999999999999\r\n\r\n{}\r\n".into(), -32700),
        ("Content-Type: text\r\n\r\n{}\r\n".into(), -32700),
        ("nonsense without end\r\n".into(), -32700),
        ("Content-Length: 1\r\n\r\n{\"a\": 1}".into(), -32700),
        (framed("[]"), -32600),
        (framed("1"), -32600),
        (framed("{}"), -32600),
        (framed("{\"jsonrpc\": \"1.0\", \"method\": \"x\"}"), -32600),
        (framed("{\"jsonrpc\": \"2.0\", \"method\": 7}"), -32600),
        (framed("{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"x\"}"), -32600),
    ];
    for (broken, code) in cases {
        client.send_raw(broken.as_bytes());
        assert_eq!(client.rules(&uri), ["undefined-variable"], "{broken:.60}");
        assert_eq!(error(&mut client), code, "{broken:.60}");
        let more = client.received.iter().filter(|it| it.get("error").is_some()).count();
        assert_eq!(more, 0, "{broken:.60}: {:?}", client.received);
    }
    assert_eq!(client.shut_down(), Some(0));
}

#[test]
fn header_names_are_case_insensitive() {
    let fixture = Fixture::new(POD);
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let body = r#"{"jsonrpc":"2.0","id":4711,"method":"workspace/symbol","params":{"query":""}}"#;
    for header in ["content-length: ", "CONTENT-LENGTH:", "Content-Type: x; charset=utf8\r\nContent-length:   "] {
        client.send_raw(format!("{header}{}\r\n\r\n{body}", body.len()).as_bytes());
        assert!(client.wait(4711).get("result").is_some(), "{header}");
    }
    // In single bytes, as from a slow pipe.
    for byte in format!("Content-Length: {}\r\n\r\n{body}", body.len()).bytes() {
        client.send_raw(&[byte]);
    }
    client.wait(4711);
}

#[test]
fn unknown_methods_and_wrong_parameters_are_errors() {
    let fixture = Fixture::new(POD);
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let uri = fixture.uri("pod.yaml");
    for (method, params, code) in [
        ("textDocument/nonsense", json!({}), -32601),
        ("$/nonsense", json!({}), -32601),
        (
            "textDocument/formatting",
            json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}}),
            -32601,
        ),
        ("textDocument/hover", json!({}), -32602),
        ("textDocument/hover", json!(null), -32602),
        ("textDocument/hover", json!([1, 2]), -32602),
        (
            "textDocument/hover",
            json!({"textDocument": {"uri": "no uri at all"}, "position": {"line": 0, "character": 0}}),
            -32602,
        ),
        ("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": {"line": -1, "character": 0}}), -32602),
        (
            "textDocument/rename",
            json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}, "newName": 7}),
            -32602,
        ),
        ("workspace/executeCommand", json!({"command": "rm"}), -32602),
        ("workspace/executeCommand", json!({"command": "podlens.environment", "arguments": []}), -32602),
        ("podlens/environment", json!({"textDocument": {}}), -32602),
        ("podlens/preview", json!({"textDocument": {"uri": uri}, "kind": "film"}), -32602),
        ("textDocument/didOpen", json!({}), -32600),
        ("initialize", json!({"capabilities": {}}), -32600),
    ] {
        assert_eq!(client.request_error(method, params.clone()), code, "{method} {params}");
    }
    // Notifications are never answered.
    for (method, params) in [
        ("textDocument/nonsense", json!({})),
        ("$/nonsense", json!({})),
        ("textDocument/didChange", json!({"textDocument": 7})),
        ("textDocument/didOpen", json!(null)),
        ("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})),
        ("$/cancelRequest", json!({"id": {}})),
        ("$/setTrace", json!({"value": "loud"})),
    ] {
        client.notify(method, params);
    }
    assert_eq!(client.rules(&uri), ["undefined-variable"]);
    assert!(client.received.iter().all(|it| it.get("error").is_none()), "{:?}", client.received);
    // The answer has the id of the request, for any number.
    let body = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "shutdown-not"}).to_string();
    for id in [json!(0), json!(-1), json!(i64::MAX)] {
        let body = body(id.clone());
        client.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        assert_eq!(client.wait(id.as_i64().expect("a number"))["error"]["code"], -32601);
    }
}

#[test]
fn documents_of_any_size_and_content_are_accepted() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    let other = fixture.uri("pod.yaml");
    client.open(&other, fixture.text("pod.yaml"), 1);
    client.published(&other, 1);
    let huge = "- a: [b, c]\n".repeat(crate::cases(100_000, 1_000_000) as usize);
    let texts = [
        ("huge.yaml", huge),
        ("line.yaml", format!("a: {}", "x".repeat(2_000_000))),
        ("deep.yaml", "[".repeat(100_000)),
        ("nul.yaml", "\u{0}\u{feff}\u{2028}\r\r\n\u{7f}".into()),
        ("bomb.yaml", "a: &a [x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nd: [*c, *c, *c, *d]\n".into()),
        ("empty.yaml", String::new()),
    ];
    for (name, text) in &texts {
        let uri = fixture.uri(name);
        client.open(&uri, text, 1);
        client.published(&uri, 1);
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": 3_000_000, "character": 1_000_000}});
        for method in ["textDocument/hover", "textDocument/completion", "textDocument/semanticTokens/full"] {
            client.request(method, at.clone());
        }
        client.replace(&other, 2, fixture.text("pod.yaml"));
        assert_eq!(super::client::codes(&client.published(&other, 2)["diagnostics"]), ["undefined-variable"]);
        client.close(&uri);
    }
    assert_eq!(client.shut_down(), Some(0));
}
