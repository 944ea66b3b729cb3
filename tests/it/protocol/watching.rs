//! Changes on disk: watched by the client if it can, otherwise by the server.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, codes, simple};
use super::{Client, Fixture};
use crate::manifest::pod;

const POD: &str = pod!(
    "#- pod.yaml\n",
    "web",
    "    env:
    - name: A
      valueFrom: {configMapKeyRef: {name: app, key: one}}
"
);

#[test]
fn the_client_watches_if_it_can() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(&fixture, Setup::default());
    let watch = client.wait_until(|client| {
        let is_watch = |it: &Value| {
            it["method"] == "client/registerCapability"
                && it["params"]["registrations"][0]["method"] == "workspace/didChangeWatchedFiles"
        };
        client.received.iter().find(|it| is_watch(it)).cloned()
    });
    let options = &watch["params"]["registrations"][0]["registerOptions"];
    let pattern = &options["watchers"][0]["globPattern"];
    assert_eq!(pattern["pattern"], "**/{*.yaml,*.yml,*.json,*.env,*.params,Kustomization}");
    assert_eq!(pattern["baseUri"].as_str().map(|it| it.trim_end_matches('/')), Some(fixture.folder_uri().as_str()));
}

#[test]
fn the_server_watches_if_the_client_cannot() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    let pod = fixture.uri("pod.yaml");
    client.open(&pod, fixture.text("pod.yaml"), 1);
    assert_eq!(client.published(&pod, 1)["diagnostics"], json!([]));
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {two: x}\n";
    fixture.write("config.yaml", config);
    assert_eq!(codes(&client.published(&pod, 1)["diagnostics"]), ["missing-key"], "a file was created");
    fixture.write("config.yaml", &config.replace("two", "one"));
    assert_eq!(client.published(&pod, 1)["diagnostics"], json!([]), "it has changed");
    std::fs::remove_file(fixture.path("config.yaml")).expect("it is there");
    // A directory with a file is created and removed.
    fixture.write("deep/er/config.yaml", config);
    assert_eq!(codes(&client.published(&pod, 1)["diagnostics"]), ["missing-key"]);
    fixture.write("deep/er/config.yaml", &config.replace("two", "one"));
    assert_eq!(client.published(&pod, 1)["diagnostics"], json!([]), "new directories are watched");
    fixture.write("deep/er/config.yaml", config);
    assert_eq!(codes(&client.published(&pod, 1)["diagnostics"]), ["missing-key"]);
    std::fs::remove_dir_all(fixture.path("deep")).expect("it is there");
    assert_eq!(client.published(&pod, 1)["diagnostics"], json!([]), "it is gone");
    // Files that git ignores are not used.
    fixture.write(".gitignore", "ignored\n");
    fixture.write("ignored/config.yaml", config);
    fixture.write("other.yaml", &config.replace("two", "three"));
    assert_eq!(codes(&client.published(&pod, 1)["diagnostics"]), ["missing-key"]);
}
