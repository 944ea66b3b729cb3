//! Explicit service links over the protocol: the examples of the design, and services and their users.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::examples::{self, list};
use super::fixture::{covered, edited, position};
use super::{Client, Fixture};

const UTF16: Encoding = Encoding::Utf16;

const SHOP: &str = "#- podlens.yaml
proposals: true
#- services.yaml
apiVersion: v1
kind: Service
metadata: {name: redis-master}
spec: {clusterIP: 10.0.0.11, ports: [{port: 6379}]}
#- web.yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  serviceDependencies:
  - name: redis-master
  containers:
  - name: main
    image: web
    envFrom:
    - prefix: MY_
      service: {name: redis-master}
    args: [$(MY_REDIS_MASTER_SERVICE_HOST)]
#- worker.yaml
apiVersion: v1
kind: Pod
metadata: {name: worker}
spec:
  containers:
  - name: main
    image: worker
    args: [$(REDIS_MASTER_SERVICE_PORT)]
";

/// The document and position one character into a word.
fn at(fixture: &Fixture, file: &str, word: &str) -> Value {
    let text = fixture.text(file);
    let offset = text.find(word).unwrap_or_else(|| panic!("{word} is in {file}"));
    json!({"textDocument": {"uri": fixture.uri(file)}, "position": position(text, offset + 1, UTF16)})
}

#[test]
fn the_examples_of_the_design_equal_the_commands() {
    let compared = examples::check("service-links");
    assert!(compared.examples >= 7 && compared.findings >= 10 && compared.containers >= 9, "{compared:?}");
}

#[test]
fn a_service_shows_its_users() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, UTF16);
    let place = at(&fixture, "services.yaml", "redis-master");
    let hover = client.request("textDocument/hover", place.clone());
    let text = hover["contents"]["value"].as_str().expect("a text");
    assert!(text.contains("`Pod/web`") && text.contains("`Pod/worker`"), "{text}");
    let mut asked = place;
    asked["context"] = json!({"includeDeclaration": false});
    let uses = client.request("textDocument/references", asked);
    let found: Vec<String> = list(&uses)
        .iter()
        .map(|it| {
            let name = if it["uri"] == fixture.uri("web.yaml") { "web.yaml" } else { "worker.yaml" };
            format!("{name} {}", covered(fixture.text(name), &it["range"], UTF16))
        })
        .collect();
    let expected = [
        "web.yaml redis-master",
        "web.yaml redis-master",
        "web.yaml MY_REDIS_MASTER_SERVICE_HOST",
        "worker.yaml REDIS_MASTER_SERVICE_PORT",
    ];
    assert_eq!(found, expected);
    let uri = fixture.uri("services.yaml");
    let lenses = client.request("textDocument/codeLens", json!({"textDocument": {"uri": uri}}));
    let lens = client.request("codeLens/resolve", lenses[0].clone());
    assert_eq!(lens["command"]["title"], "used by 2 workloads · 5 of 7 variables unused");
    assert_eq!(lens["command"]["command"], "podlens.showLocations");
    assert_eq!(list(&lens["command"]["arguments"][2]).len(), 2, "{lens}");
}

#[test]
fn links_and_dependencies_point_to_the_service_and_are_completed() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, UTF16);
    for word in ["redis-master\n", "redis-master}", "$(MY_REDIS"] {
        let links = client.request("textDocument/definition", at(&fixture, "web.yaml", word));
        assert_eq!(links[0]["targetUri"], fixture.uri("services.yaml"), "{word}: {links}");
        assert_eq!(covered(fixture.text("services.yaml"), &links[0]["targetSelectionRange"], UTF16), "redis-master");
    }
    for word in ["redis-master\n", "redis-master}"] {
        let found = client.request("textDocument/completion", at(&fixture, "web.yaml", word));
        let labels: Vec<&Value> = list(&found["items"]).iter().map(|it| &it["label"]).collect();
        assert_eq!(labels, ["redis-master"], "{word}");
    }
    let refused = client.request_error("textDocument/prepareRename", at(&fixture, "web.yaml", "redis-master\n"));
    assert_ne!(refused, 0);
}

#[test]
fn automatic_links_become_explicit_ones() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, UTF16);
    let mut asked = at(&fixture, "worker.yaml", "image");
    asked["range"] = json!({"start": asked["position"], "end": asked["position"]});
    asked["context"] = json!({"diagnostics": []});
    let actions = client.request("textDocument/codeAction", asked);
    let wanted = list(&actions).iter().find(|it| it["kind"] == "refactor.rewrite").expect("a rewrite");
    assert_eq!(wanted["title"], "Link only `redis-master` in `envFrom`");
    let action =
        if wanted["edit"].is_null() { client.request("codeAction/resolve", wanted.clone()) } else { wanted.clone() };
    let uri = fixture.uri("worker.yaml");
    let changes = &action["edit"]["documentChanges"][0];
    assert_eq!(changes["textDocument"]["uri"], uri, "{action}");
    let text = edited(fixture.text("worker.yaml"), &changes["edits"], UTF16);
    assert!(text.contains("envFrom:\n      - service:\n          name: redis-master\n"), "{text}");
    // With the explicit link the variable is still defined, and the others are not.
    client.replace(&uri, 2, &text);
    assert_eq!(client.rules(&uri), [""; 0]);
}
