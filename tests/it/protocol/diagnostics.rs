//! Diagnostics: requested or published, with all their fields, and only when something has changed.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, codes, modern, simple};
use super::fixture::covered;
use super::{Client, Fixture};
use crate::manifest::pod;

const SHOP: &str = concat!(
    pod!(
        "#- web.yaml\n",
        "web",
        "    env:
    - name: HOST
      valueFrom: {configMapKeyRef: {name: app, key: host}}
    - name: URL
      value: http://$(HOST):$(PORT)
    - name: PORT
      value: '80'
"
    ),
    pod!(
        "#- job.yaml\n",
        "job",
        "    env:
    - name: A
      value: a
"
    ),
    "#- app.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {host: example.org}
"
);

#[test]
fn a_diagnostic_has_all_its_fields() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, Encoding::Utf8);
    let report = client.pull(&fixture.uri("web.yaml"));
    assert_eq!(report["kind"], "full");
    let found = &report["items"][0];
    assert_eq!(
        (&found["code"], &found["source"], &found["severity"]),
        (&json!("forward-reference"), &json!("podlens"), &json!(1))
    );
    assert_eq!(covered(fixture.text("web.yaml"), &found["range"], Encoding::Utf8), "$(PORT)");
    let rule = podlens::rules::find_rule("forward-reference").expect("it exists");
    assert_eq!(found["codeDescription"]["href"], rule.url());
    let related = &found["relatedInformation"][0];
    assert_eq!(related["location"]["uri"], fixture.uri("web.yaml"));
    assert_eq!(covered(fixture.text("web.yaml"), &related["location"]["range"], Encoding::Utf8), "PORT");
    assert_eq!(found["data"]["rule"], "forward-reference");
    assert!(found["data"]["fixes"][0]["title"].is_string());
}

#[test]
fn unnecessary_code_has_the_tag() {
    let fixture = Fixture::new(
        "#- pod.yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    env:\n    # podlens: ignore[self-reference] for no reason\n    - {name: A, value: a}\n",
    );
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let found = client.pull(&fixture.uri("pod.yaml"))["items"].clone();
    assert_eq!(codes(&found), ["unused-suppression"]);
    assert_eq!(found[0]["tags"], json!([1]));
    let fixture = Fixture::new(
        "#- pod.yaml
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: c
    image: c
    envFrom:
    - configMapRef: {name: app}
    env:
    - {name: HOST, value: $(NOPE)}
#- app.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {HOST: x}
#- template.yaml
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: t}
objects: []
parameters:
- name: P
",
    );
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    for (file, rule, is_unnecessary) in [
        ("app.yaml", "shadowed-source", true),
        ("pod.yaml", "undefined-variable", false),
        ("template.yaml", "unused-parameter", true),
    ] {
        let found = client.pull(&fixture.uri(file))["items"].clone();
        let found = found.as_array().expect("a list").iter().find(|it| it["code"] == rule);
        let found = found.unwrap_or_else(|| panic!("{rule} is found in {file}"));
        assert_eq!(found.get("tags"), is_unnecessary.then_some(&json!([1])), "{rule}");
    }
    // A client that does not support tags gets none.
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
    let found = client.published(&fixture.uri("pod.yaml"), 1)["diagnostics"].clone();
    for it in found.as_array().expect("a list") {
        assert!(it.get("tags").is_none() && it.get("data").is_none(), "{it}");
    }
}

/// The parts of a diagnostic that an edit elsewhere does not change are not written again.
#[test]
fn diagnostics_after_edits_equal_those_of_an_opened_text() {
    let fixture = Fixture::new(SHOP);
    let mut capabilities = modern(Encoding::Utf16);
    capabilities["textDocument"]["diagnostic"].take();
    let mut client = Client::of(&fixture, Setup { capabilities, ..Setup::default() });
    let (uri, text) = (fixture.uri("web.yaml"), fixture.text("web.yaml"));
    client.open(&uri, text, 1);
    let first = client.published(&uri, 1)["diagnostics"].clone();
    assert_eq!(codes(&first), ["forward-reference"]);
    let start = json!({"line": 0, "character": 0});
    let mut moved = first.clone();
    for (version, typed) in [(2, "# \"é\"\n"), (3, "\n\n")] {
        client.change(&uri, version, json!([{"range": {"start": start, "end": start}, "text": typed}]));
        moved = client.published(&uri, version)["diagnostics"].take();
    }
    assert_ne!(moved, first);
    client.close(&uri);
    client.open(&uri, &format!("\n\n# \"é\"\n{text}"), 4);
    assert_eq!(moved, client.published(&uri, 4)["diagnostics"]);
}

#[test]
fn the_same_findings_are_not_sent_twice() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    let uri = fixture.uri("web.yaml");
    let first = client.pull(&uri);
    let ask = |client: &mut Client, id: &Value| {
        client.request("textDocument/diagnostic", json!({"textDocument": {"uri": uri}, "previousResultId": id}))
    };
    let second = ask(&mut client, &first["resultId"]);
    assert_eq!(second, json!({"kind": "unchanged", "resultId": first["resultId"]}));
    client.replace(&uri, 2, &fixture.text("web.yaml").replace("http:", "https:"));
    assert_eq!(ask(&mut client, &first["resultId"])["kind"], "full", "its range has changed");
}

#[test]
fn the_whole_workspace_is_reported() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::of(&fixture, Setup::default());
    let ask = |client: &mut Client, ids: &Value| {
        client.send_request("workspace/diagnostic", json!({"previousResultIds": ids}))
    };
    let id = ask(&mut client, &json!([]));
    let report = client.wait(id)["result"].take();
    let items = report["items"].as_array().expect("a list");
    assert_eq!(items.len(), 1, "{report}");
    assert_eq!((&items[0]["uri"], &items[0]["kind"]), (&json!(fixture.uri("web.yaml")), &json!("full")));
    assert_eq!(codes(&items[0]["items"]), ["forward-reference"]);
    let known = json!([{"uri": fixture.uri("web.yaml"), "value": items[0]["resultId"]}]);
    // Nothing has changed: the answer waits until something does, and delays no other request.
    let id = ask(&mut client, &known);
    client.ready(&fixture);
    assert!(!client.has_answer(id));
    client.open(&fixture.uri("job.yaml"), &fixture.text("job.yaml").replace("value: a", "value: $(X)"), 4);
    let report = client.wait(id)["result"].take();
    let kinds: Vec<_> = report["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| (&it["uri"], &it["kind"], &it["version"]))
        .collect();
    let (job, web) = (json!(fixture.uri("job.yaml")), json!(fixture.uri("web.yaml")));
    assert_eq!(kinds, [(&job, &json!("full"), &json!(4)), (&web, &json!("unchanged"), &Value::Null)]);
    // A waiting request can be cancelled.
    let known = json!([{"uri": fixture.uri("web.yaml"), "value": "?"}]);
    let id = ask(&mut client, &known);
    client.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(client.wait(id)["error"]["code"], -32800);
}

#[test]
fn an_edit_in_a_config_map_publishes_its_users() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    for (name, text) in &fixture.files {
        client.open(&fixture.uri(name), text, 1);
        client.published(&fixture.uri(name), 1);
    }
    let (app, web, job) = (fixture.uri("app.yaml"), fixture.uri("web.yaml"), fixture.uri("job.yaml"));
    client.replace(&app, 2, &fixture.text("app.yaml").replace("host:", "other:"));
    client.published(&app, 2);
    let published = client.published(&web, 1);
    assert_eq!(codes(&published["diagnostics"]), ["missing-key", "forward-reference"]);
    client.replace(&app, 3, &fixture.text("app.yaml").replace("example", "example2"));
    client.published(&app, 3);
    assert_eq!(codes(&client.published(&web, 1)["diagnostics"]), ["forward-reference"]);
    // A change that affects no other file publishes no other file.
    client.replace(&app, 4, &fixture.text("app.yaml").replace("example", "example3"));
    client.published(&app, 4);
    client.replace(&job, 2, fixture.text("job.yaml"));
    client.published(&job, 2);
    let strangers = client.received.iter().filter(|it| it["method"] == "textDocument/publishDiagnostics").count();
    assert_eq!(strangers, 0, "{:?}", client.received);
}

#[test]
fn a_client_that_pulls_gets_a_refresh_request() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    for (name, _) in &fixture.files {
        client.pull(&fixture.uri(name));
    }
    client.received.clear();
    let app = fixture.uri("app.yaml");
    client.replace(&app, 2, &fixture.text("app.yaml").replace("host:", "other:"));
    client.pull(&app);
    client.next_message("workspace/diagnostic/refresh");
    assert_eq!(client.rules(&fixture.uri("web.yaml")), ["missing-key", "forward-reference"]);
    client.next_message("workspace/inlayHint/refresh");
    // A change that no other file depends on sends no refresh request.
    let job = fixture.uri("job.yaml");
    client.received.clear();
    client.replace(&job, 2, &fixture.text("job.yaml").replace("value: a", "value: $(X)"));
    assert_eq!(client.rules(&job), ["undefined-variable"]);
    client.replace(&app, 3, fixture.text("app.yaml"));
    client.next_message("workspace/diagnostic/refresh");
    let refreshes = client.received.iter().filter(|it| it["method"] == "workspace/diagnostic/refresh").count();
    assert_eq!(refreshes, 0, "once for each change that matters");
}

#[test]
fn excluded_files_have_no_findings() {
    let fixture = Fixture::new(&format!("{SHOP}#- podlens.yaml\nexclude: [web.yaml]\n"));
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    assert_eq!(client.rules(&fixture.uri("web.yaml")), [""; 0]);
}
