//! Fast typing: edits come while the text before them is still being looked at, and the last word is about the last text.

use std::thread;
use std::time::Duration;

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, codes, modern, simple};
use super::fixture::position;
use super::{Client, Fixture};

const SHOP: &str = "#- pod.yaml
kind: Pod
apiVersion: v1
metadata: {name: web}
spec:
  containers:
  - name: main
    image: web
    env:
    - name: HOST
      value: ü😀
    - name: URL
      value: http://$(HOST)
#- other.yaml
kind: Pod
apiVersion: v1
metadata: {name: other}
spec:
  containers:
  - name: main
    image: other
    env:
    - name: A
      valueFrom: {configMapKeyRef: {name: app, key: one}}
#- app.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {one: x}
";

/// What is typed at the end of the pod, a character at a time: most of it is wrong while it is typed.
const TYPED: &str = "    - name: LAST\n      value: \"$(NOPE) $(URL)\"\n    args: ['$(LAST', $(HOST)]\n";

/// Every text on the way, forth and back again, with the edit that leads to it.
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

/// What a server says that has never seen another text.
fn fresh(fixture: &Fixture, text: &str) -> Value {
    let mut client = Client::of(fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    client.open(&fixture.uri("pod.yaml"), text, 1);
    client.published(&fixture.uri("pod.yaml"), 1)["diagnostics"].clone()
}

#[test]
fn the_last_word_is_about_the_last_text() {
    let fixture = Fixture::new(SHOP);
    let uri = fixture.uri("pod.yaml");
    let steps = typing(fixture.text("pod.yaml"));
    // Ended in the middle of a word too, where most is wrong.
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
        // Nothing comes after it, and the same text once more is told once more.
        client.change(&uri, version + 1, json!([]));
        assert_eq!(client.published(&uri, version + 1)["diagnostics"], last["diagnostics"]);
        let more = client.said.iter().filter(|it| it["method"] == "textDocument/publishDiagnostics").count();
        assert_eq!(more, 0, "{:?}", client.said);
    }
}

/// An editor that asks: what it shows of a document, and the id of that.
#[derive(Default)]
struct Shown {
    id: Value,
    items: Value,
}

impl Shown {
    /// Takes an answer in; whether it was one.
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
            kind => panic!("{kind:?} is no report"),
        }
        self.id = report["resultId"].clone();
        true
    }
}

#[test]
fn who_asks_by_ids_ends_with_the_last_text() {
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
            client.ask("textDocument/diagnostic", params)
        };
        let mut open = Vec::new();
        for (step, (edit, _)) in steps[..count].iter().enumerate() {
            client.change(&uri, i32::try_from(step).expect("few") + 1, edit.clone());
            // One question at a time, as editors have it: the next one when the last is answered.
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

/// Whoever else looks at a document in between takes nothing away from what is told.
#[test]
fn other_questions_do_not_swallow_news() {
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
        let id = client.ask("textDocument/codeAction", actions.clone());
        assert_eq!(codes(&client.published(&other, 1)["diagnostics"]), expected[at], "version {version}");
        client.wait(id);
    }
    // The same for a client that asks, and asks for the whole workspace too, and changes its mind about single answers.
    let mut client = Client::of(&fixture, Setup { capabilities: modern(Encoding::Utf16), ..Setup::default() });
    for (name, text) in &fixture.files {
        client.open(&fixture.uri(name), text, 1);
        client.pull(&fixture.uri(name));
    }
    for version in 2..30 {
        let at = usize::try_from(version).expect("few") % 2;
        client.said.clear();
        client.replace(&app, version, &texts[at]);
        client.ask("workspace/diagnostic", json!({"previousResultIds": []}));
        client.ask("textDocument/codeAction", actions.clone());
        let id = client.ask("textDocument/diagnostic", json!({"textDocument": {"uri": other}}));
        client.notify("$/cancelRequest", json!({ "id": id }));
        let has_seen = client.wait(id).get("result").is_some();
        if !has_seen {
            client.heard("workspace/diagnostic/refresh");
        }
        assert_eq!(client.rules(&other), expected[at], "version {version}");
    }
}

#[test]
fn a_hover_sees_the_edit_before_it() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let uri = fixture.uri("pod.yaml");
    let text = fixture.text("pod.yaml");
    let at = position(text, text.find("$(HOST)").expect("it is there") + 3, Encoding::Utf16);
    for version in 2..60 {
        client.replace(&uri, version, &text.replace("ü😀", &format!("ü😀-{version}-")));
        let hover = client.request("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": at}));
        let told = hover["contents"]["value"].as_str().unwrap_or_default();
        assert!(told.contains(&format!("ü😀-{version}-")), "version {version}: {told}");
    }
    // Without waiting: an answer is about the text before it, or says that it came too late.
    let asked: Vec<(i32, i64)> = (60..160)
        .map(|version| {
            client.replace(&uri, version, &text.replace("ü😀", &format!("ü😀-{version}-")));
            (version, client.ask("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": at})))
        })
        .collect();
    for (version, id) in asked {
        let answer = client.wait(id);
        let told = answer["result"]["contents"]["value"].as_str().unwrap_or_default();
        let is_its_own = told.contains(&format!("ü😀-{version}-"));
        assert!(is_its_own || answer["error"]["code"] == -32801, "version {version}: {answer}");
        assert!(is_its_own || version < 159, "nothing comes after the last: {answer}");
    }
}
