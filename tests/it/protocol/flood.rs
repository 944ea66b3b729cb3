//! Fast typing: edits arrive while the text before them is being checked, and the last diagnostics are those of the last
//! text.

use std::thread;
use std::time::Duration;

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, codes, modern, simple};
use super::fixture::position;
use super::{Client, Fixture};
use crate::manifest::pod;

const SHOP: &str = concat!(
    pod!(
        "#- pod.yaml\napiVersion: v1\n",
        "web",
        "    image: web
    env:
    - name: HOST
      value: ü😀
    - name: URL
      value: http://$(HOST)
"
    ),
    pod!(
        "#- other.yaml\napiVersion: v1\n",
        "other",
        "    image: other
    env:
    - name: A
      valueFrom: {configMapKeyRef: {name: app, key: one}}
"
    ),
    "#- app.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {one: x}
"
);

/// The text that is typed at the end of the pod, one character at a time. Most of its prefixes are wrong.
const TYPED: &str = "    - name: LAST\n      value: \"$(NOPE) $(URL)\"\n    args: ['$(LAST', $(HOST)]\n";

/// Every text while it is typed and deleted again, with the edit that results in it.
fn typing(text: &str) -> Vec<(Value, String)> {
    let mut steps = Vec::new();
    let mut now = text.to_owned();
    let at = |text: &str, offset| position(text, offset, Encoding::Utf16);
    for character in TYPED.chars() {
        let end = at(&now, now.len());
        now.push(character);
        steps.push((json!([{"range": {"start": end, "end": end}, "text": character.to_string()}]), now.clone()));
    }
    for character in TYPED.chars().rev() {
        let end = at(&now, now.len());
        now.truncate(now.len() - character.len_utf8());
        steps.push((json!([{"range": {"start": at(&now, now.len()), "end": end}, "text": ""}]), now.clone()));
    }
    steps
}

/// Pauses that are shorter and longer than a check takes.
fn pause(step: usize) {
    match step % 7 {
        0 => thread::sleep(Duration::from_millis(8)),
        3 => thread::sleep(Duration::from_millis(2)),
        5 => thread::sleep(Duration::from_micros(300)),
        _ => {}
    }
}

/// The diagnostics of a server that has seen no other text.
fn fresh(fixture: &Fixture, text: &str) -> Value {
    let mut client = Client::of(fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    client.open(&fixture.uri("pod.yaml"), text, 1);
    client.published(&fixture.uri("pod.yaml"), 1)["diagnostics"].clone()
}

#[test]
fn the_last_published_diagnostics_are_those_of_the_last_text() {
    let fixture = Fixture::new(SHOP);
    let uri = fixture.uri("pod.yaml");
    let steps = typing(fixture.text("pod.yaml"));
    // It also stops in the middle, where the text has the most mistakes.
    for count in [steps.len(), steps.len() / 2, steps.len() / 3] {
        let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
        client.open(&uri, fixture.text("pod.yaml"), 0);
        client.published(&uri, 0);
        let mut version = 0;
        for (step, (edit, _)) in steps[..count].iter().enumerate() {
            version += 1;
            client.change(&uri, version, edit.clone());
            pause(step);
        }
        let text = &steps[count - 1].1;
        let last = client.published(&uri, version);
        assert_eq!(last["diagnostics"], fresh(&fixture, text), "{text}");
        // Nothing is published after it, and the same text with a new version is published again.
        client.change(&uri, version + 1, json!([]));
        assert_eq!(client.published(&uri, version + 1)["diagnostics"], last["diagnostics"]);
        let more = client.received.iter().filter(|it| it["method"] == "textDocument/publishDiagnostics").count();
        assert_eq!(more, 0, "{:?}", client.received);
    }
}

/// The diagnostics that an editor shows, and their id.
#[derive(Default)]
struct Shown {
    id: Value,
    items: Value,
}

impl Shown {
    /// Shows an answer. Returns false if it is an error.
    fn take(&mut self, answer: &Value) -> bool {
        let Some(report) = answer.get("result") else {
            let error = &answer["error"];
            assert_eq!(error["code"], -32802, "{answer}");
            assert_eq!(error["data"]["retriggerRequest"], true, "{answer}");
            return false;
        };
        match report["kind"].as_str() {
            Some("full") => self.items = report["items"].clone(),
            Some("unchanged") => assert_eq!(report["resultId"], self.id, "nothing else is unchanged"),
            kind => panic!("{kind:?} is not a report"),
        }
        self.id = report["resultId"].clone();
        true
    }
}

#[test]
fn requests_with_previous_ids_end_with_the_last_text() {
    let fixture = Fixture::new(SHOP);
    let uri = fixture.uri("pod.yaml");
    let steps = typing(fixture.text("pod.yaml"));
    for count in [steps.len(), steps.len() / 2, steps.len() / 3] {
        let mut client = Client::of(&fixture, Setup::default());
        client.open(&uri, fixture.text("pod.yaml"), 0);
        let mut shown = Shown::default();
        let ask = |client: &mut Client, id: &Value| {
            let mut params = json!({"textDocument": {"uri": uri}});
            if id.is_string() {
                params["previousResultId"] = id.clone();
            }
            client.send_request("textDocument/diagnostic", params)
        };
        let mut open = Vec::new();
        for (step, (edit, _)) in steps[..count].iter().enumerate() {
            client.change(&uri, i32::try_from(step).expect("few") + 1, edit.clone());
            // One request at a time, as in editors: the next one when the last is answered.
            open.retain(|id| {
                let is_there = client.has_answer(*id);
                if is_there {
                    shown.take(&client.wait(*id));
                }
                !is_there
            });
            if open.is_empty() {
                open.push(ask(&mut client, &shown.id));
            }
            pause(step);
        }
        for id in open {
            shown.take(&client.wait(id));
        }
        let id = ask(&mut client, &shown.id);
        assert!(shown.take(&client.wait(id)), "the text has settled");
        let mut other = Client::of(&fixture, Setup::default());
        other.open(&uri, &steps[count - 1].1, 1);
        assert_eq!(shown.items, other.pull(&uri)["items"], "{}", steps[count - 1].1);
    }
}

/// Other requests for a document do not prevent its new diagnostics from being sent.
#[test]
fn other_requests_do_not_suppress_new_diagnostics() {
    let fixture = Fixture::new(SHOP);
    let (app, other) = (fixture.uri("app.yaml"), fixture.uri("other.yaml"));
    let everything = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let actions = json!({"textDocument": {"uri": other}, "range": everything, "context": {"diagnostics": []}});
    let texts = [fixture.text("app.yaml").replace("one", "two"), fixture.text("app.yaml").to_owned()];
    let expected: [&[&str]; 2] = [&["missing-key"], &[]];
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    for (name, text) in &fixture.files {
        client.open(&fixture.uri(name), text, 1);
        client.published(&fixture.uri(name), 1);
    }
    for version in 2..30 {
        let at = usize::try_from(version).expect("few") % 2;
        client.replace(&app, version, &texts[at]);
        let id = client.send_request("textDocument/codeAction", actions.clone());
        assert_eq!(codes(&client.published(&other, 1)["diagnostics"]), expected[at], "version {version}");
        client.wait(id);
    }
    // The same for a client that requests diagnostics, also of the whole workspace, and cancels some requests.
    let mut client = Client::of(&fixture, Setup { capabilities: modern(Encoding::Utf16), ..Setup::default() });
    for (name, text) in &fixture.files {
        client.open(&fixture.uri(name), text, 1);
        client.pull(&fixture.uri(name));
    }
    for version in 2..30 {
        let at = usize::try_from(version).expect("few") % 2;
        client.received.clear();
        client.replace(&app, version, &texts[at]);
        client.send_request("workspace/diagnostic", json!({"previousResultIds": []}));
        client.send_request("textDocument/codeAction", actions.clone());
        let id = client.send_request("textDocument/diagnostic", json!({"textDocument": {"uri": other}}));
        client.notify("$/cancelRequest", json!({ "id": id }));
        let has_seen = client.wait(id).get("result").is_some();
        if !has_seen {
            client.next_message("workspace/diagnostic/refresh");
        }
        assert_eq!(client.rules(&other), expected[at], "version {version}");
    }
}

#[test]
fn a_hover_shows_the_edit_before_it() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let uri = fixture.uri("pod.yaml");
    let text = fixture.text("pod.yaml");
    let at = position(text, text.find("$(HOST)").expect("it is there") + 3, Encoding::Utf16);
    for version in 2..60 {
        client.replace(&uri, version, &text.replace("ü😀", &format!("ü😀-{version}-")));
        let hover = client.request("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": at}));
        let shown = hover["contents"]["value"].as_str().unwrap_or_default();
        assert!(shown.contains(&format!("ü😀-{version}-")), "version {version}: {shown}");
    }
    // Without waiting: the answer is about the text before the request, or `ContentModified`.
    let asked: Vec<(i32, i64)> = (60..160)
        .map(|version| {
            client.replace(&uri, version, &text.replace("ü😀", &format!("ü😀-{version}-")));
            (version, client.send_request("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": at})))
        })
        .collect();
    for (version, id) in asked {
        let answer = client.wait(id);
        let shown = answer["result"]["contents"]["value"].as_str().unwrap_or_default();
        let is_its_own = shown.contains(&format!("ü😀-{version}-"));
        assert!(is_its_own || answer["error"]["code"] == -32801, "version {version}: {answer}");
        assert!(is_its_own || version < 159, "nothing comes after the last: {answer}");
    }
}
