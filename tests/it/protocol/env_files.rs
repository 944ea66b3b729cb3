//! Env files over the protocol: each example of the proposal, with the proposal and in releases, and `*.env` files that
//! are open together with a manifest.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::codes;
use super::fixture::{covered, edited, position};
use super::{Client, Fixture, examples};

const UTF16: Encoding = Encoding::Utf16;

/// An example of the proposal: the text of the env file, the lines of the container up to `env`, its variable and the
/// key. As in the proposal, one line is indented by one space too much.
macro_rules! example {
    ($file:literal, $container:literal, $variable:literal, $key:literal) => {
        concat!(
            "apiVersion: v1
kind: Pod
metadata:
  name: dapi-test-pod
spec:
  initContainers:
  - name: setup-envfile
    image: registry.k8s.io/busybox
    command: ['sh', '-c', 'echo \"",
            $file,
            "\" > /data/config.env']
    volumeMounts:
    - name: config
      mountPath: /data
   containers:
  - name: use-envfile
",
            $container,
            "    env:
    - name: ",
            $variable,
            "
      valueFrom:
        fileKeyRef:
          path: config.env
          volumeName: config
          key: ",
            $key,
            "
  restartPolicy: Never
  volumes:
  - name: config
    emptyDir: {}
"
        )
    };
}

/// The examples with the variable, the key and its value: one for a container without a shell, one with a configuration
/// per pod.
const EXAMPLES: [(&str, &str, &str, &str); 2] = [
    (
        example!("CONFIG_VAR=HELLO", "    image: registry.k8s.io/distroless-app\n", "CONFIG_VAR", "CONFIG_VAR"),
        "CONFIG_VAR",
        "CONFIG_VAR",
        "HELLO",
    ),
    (
        example!(
            "CONFIG_INIT=hello",
            "    image: registry.k8s.io/busybox\n    command: [ \"/bin/sh\", \"-c\", \"env\" ]\n",
            "CONFIG_MAIN",
            "CONFIG_INIT"
        ),
        "CONFIG_MAIN",
        "CONFIG_INIT",
        "hello",
    ),
];

fn fixed(example: &str) -> String {
    example.replace("   containers:", "  containers:")
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("a list: {value}"))
}

/// A folder with one pod and settings, opened by an editor.
fn opened(settings: &str, pod: &str) -> (Fixture, Client, String) {
    let fixture = Fixture::new(&format!("#- podlens.yaml\n{settings}\n#- pod.yaml\n{pod}"));
    let client = Client::modern(&fixture, UTF16);
    let uri = fixture.uri("pod.yaml");
    (fixture, client, uri)
}

/// The document and position of the `nth` occurrence of a word, one character into it.
fn at(fixture: &Fixture, file: &str, word: &str, nth: usize) -> Value {
    let text = fixture.text(file);
    let (offset, _) = text.match_indices(word).nth(nth).unwrap_or_else(|| panic!("{word} is in {file}"));
    json!({"textDocument": {"uri": fixture.uri(file)}, "position": position(text, offset + 1, UTF16)})
}

fn hover(client: &mut Client, place: Value) -> String {
    let found = client.request("textDocument/hover", place);
    found["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

/// The value of a variable of the last container in `podlens/environment`.
fn value(client: &mut Client, fixture: &Fixture, variable: &str) -> Value {
    let place = at(fixture, "pod.yaml", "use-envfile", 0);
    let view = client.request("podlens/environment", place);
    let env = list(&view["workloads"][0]["containers"][0]["env"]);
    let found = env.iter().find(|it| it["name"] == variable).unwrap_or_else(|| panic!("{variable}: {view}"));
    assert_eq!(found["source"]["kind"], "envFile", "{found}");
    json!([found["value"], found["state"]])
}

#[test]
fn the_examples_of_the_design_equal_the_commands() {
    let compared = examples::check("env-files");
    assert!(compared.examples >= 30 && compared.findings >= 60 && compared.containers >= 150, "{compared:?}");
}

#[test]
fn the_examples_as_written_have_findings() {
    for (example, ..) in EXAMPLES {
        let (_, mut client, uri) = opened("", example);
        assert_eq!(client.rules(&uri), ["syntax-error", "env-file-content"]);
    }
}

#[test]
fn with_the_proposal_and_in_1_34_the_examples_work() {
    for (example, variable, key, expected) in EXAMPLES {
        for settings in ["proposals: true", "kubernetes: '1.34'"] {
            let (fixture, mut client, uri) = opened(settings, &fixed(example));
            assert_eq!(client.rules(&uri), [""; 0], "{settings}");
            assert_eq!(value(&mut client, &fixture, variable), json!([expected, "known"]));
            let key_place = at(&fixture, "pod.yaml", &format!("{key}\n  restartPolicy"), 0);
            for place in [at(&fixture, "pod.yaml", &format!("{variable}\n"), 0), key_place.clone()] {
                let text = hover(&mut client, place);
                assert!(text.contains(&format!("{variable}={expected}")) && text.contains("line 9"), "{text}");
            }
            // The definition of the key is in the script, and the references there are the other uses of the key.
            let links = client.request("textDocument/definition", key_place.clone());
            let target = covered(fixture.text("pod.yaml"), &links[0]["targetSelectionRange"], UTF16);
            assert!(target.contains(expected), "{target} in {links}");
            assert_eq!(links[0]["targetSelectionRange"]["start"]["line"], 8, "{links}");
            let mut asked = key_place;
            asked["context"] = json!({"includeDeclaration": true});
            let uses = client.request("textDocument/references", asked);
            let lines: Vec<&Value> = list(&uses).iter().map(|it| &it["range"]["start"]["line"]).collect();
            assert_eq!(lines.len(), 2, "{uses}");
            assert_eq!(lines[0], 8, "{uses}");
            let preview = client.request(
                "podlens/preview",
                json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}, "kind": "render"}),
            );
            assert!(preview["text"].as_str().is_some_and(|it| it.contains("fileKeyRef")), "{preview}");
        }
    }
}

#[test]
fn before_1_34_the_field_is_not_available() {
    let (_, mut client, uri) = opened("kubernetes: '1.33'", &fixed(EXAMPLES[0].0));
    assert_eq!(client.rules(&uri), ["unserved-field"]);
}

#[test]
fn in_the_newest_release_a_code_action_adds_the_quotes() {
    for (example, variable, _, expected) in EXAMPLES {
        let (fixture, mut client, uri) = opened("", &fixed(example));
        let found = client.pull(&uri)["items"].clone();
        assert_eq!(codes(&found), ["env-file-content"]);
        let wrong = &found[0];
        assert!(!wrong["message"].as_str().expect("a text").contains(expected), "it quotes the file: {wrong}");
        let related = covered(fixture.text("pod.yaml"), &wrong["relatedInformation"][0]["location"]["range"], UTF16);
        assert_eq!(related, expected);
        assert_eq!(value(&mut client, &fixture, variable)[1], "unknown");
        let params =
            json!({"textDocument": {"uri": uri}, "range": wrong["range"], "context": {"diagnostics": [wrong]}});
        let actions = client.request("textDocument/codeAction", params);
        let action = list(&actions).iter().find(|it| it["isPreferred"] == true);
        let action = action.unwrap_or_else(|| panic!("a fix: {actions}"));
        assert_eq!(action["title"], "Put the value in single quotes");
        let resolved = client.request("codeAction/resolve", action.clone());
        let text = edited(fixture.text("pod.yaml"), &resolved["edit"]["documentChanges"][0]["edits"], UTF16);
        assert!(text.contains(&format!("=''{expected}''\" > /data/config.env']")), "{text}");
        client.replace(&uri, 2, &text);
        assert_eq!(client.rules(&uri), [""; 0]);
        assert_eq!(value(&mut client, &fixture, variable), json!([expected, "known"]));
    }
}

/// The labels that are offered at `¦`.
fn offered(pod: &str) -> Vec<String> {
    let fixture = Fixture::new(&format!("#- pod.yaml\n{}", pod.replace('¦', "$0")));
    let mut client = Client::modern(&fixture, UTF16);
    let found = client.request("textDocument/completion", fixture.at_cursor(UTF16));
    list(&found["items"]).iter().filter_map(|it| it["label"].as_str().map(str::to_owned)).collect()
}

#[test]
fn volumes_paths_and_keys_are_offered() {
    let pod = fixed(EXAMPLES[0].0)
        .replace("echo \"CONFIG_VAR=HELLO\" > /data/config.env", "echo \"A=''1''\" > /data/config.env")
        .replace("volumes:\n", "volumes:\n  - {name: host, hostPath: {path: /x}}\n");
    for (with, marked, expected) in [
        ("volumeName: config", "volumeName: ¦", &["config"][..]),
        ("volumeName: config", "volumeName: c¦", &["config"]),
        ("path: config.env\n          volumeName: config", "volumeName: config\n          path: ¦", &["config.env"]),
        ("key: CONFIG_VAR", "key: ¦", &["A"]),
        ("key: CONFIG_VAR", "key: \"¦\"", &["A"]),
        ("key: CONFIG_VAR", "key: A¦", &["A"]),
    ] {
        assert_eq!(offered(&pod.replace(with, marked)), expected, "{marked}");
    }
}

const BESIDE: &str = "#- pod.yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  initContainers:
  - name: setup
    image: setup
    volumeMounts: [{name: config, mountPath: /data}]
  containers:
  - name: web
    image: web
    env:
    - {name: HOST, valueFrom: {fileKeyRef: {volumeName: config, path: app.env, key: HOST}}}
    - {name: PORT, valueFrom: {fileKeyRef: {volumeName: config, path: app.env, key: PORT}}}
  volumes: [{name: config, emptyDir: {}}]
#- app.env
# größe 😀
HOST='ü😀' # the host
PORT=8080
";

#[test]
fn an_open_env_file_has_diagnostics_hover_and_references() {
    let fixture = Fixture::new(BESIDE);
    let mut client = Client::modern(&fixture, UTF16);
    let uri = fixture.uri("app.env");
    let found = client.pull(&uri)["items"].clone();
    assert_eq!(codes(&found), ["env-file-content"]);
    assert_eq!(covered(fixture.text("app.env"), &found[0]["range"], UTF16), "8080");
    let text = hover(&mut client, at(&fixture, "app.env", "HOST", 0));
    assert!(text.contains("HOST=ü😀") && text.contains("1.37") && text.contains("pod.yaml"), "{text}");
    let mut asked = at(&fixture, "app.env", "HOST", 0);
    asked["context"] = json!({"includeDeclaration": false});
    let uses = client.request("textDocument/references", asked);
    assert_eq!(list(&uses).len(), 1, "{uses}");
    assert_eq!(uses[0]["uri"], fixture.uri("pod.yaml"));
    assert_eq!(covered(fixture.text("pod.yaml"), &uses[0]["range"], UTF16), "HOST");
    let links = client.request("textDocument/definition", at(&fixture, "app.env", "HOST", 0));
    assert_eq!(links[0]["targetUri"], fixture.uri("pod.yaml"), "{links}");
    // Unsaved text is used in both files.
    client.replace(&uri, 2, "HOST='x'\nPORT='8080'\n");
    assert_eq!(client.rules(&uri), [""; 0]);
    client.replace(&uri, 3, "HOST='x'\n# podlens: ignore[env-file-content]\nPORT=8080\n");
    assert_eq!(client.rules(&uri), [""; 0]);
    client.replace(&uri, 4, "# podlens: ignore[env-file-content]\nHOST='x'\nPORT=8080\n");
    assert_eq!(client.rules(&uri), ["unused-suppression", "env-file-content"]);
    let other = fixture.text("pod.yaml").replace("app.env", "other.env");
    client.replace(&fixture.uri("pod.yaml"), 2, &other);
    assert_eq!(client.rules(&uri), ["unused-suppression"], "no container uses the file any more");
}

#[test]
fn an_edit_in_the_script_changes_the_readers_of_the_file() {
    let (fixture, mut client, uri) = opened("proposals: true", &fixed(EXAMPLES[0].0));
    let (at, _) = fixture.text("pod.yaml").match_indices("HELLO").next().expect("it is there");
    let start = position(fixture.text("pod.yaml"), at, UTF16);
    let end = position(fixture.text("pod.yaml"), at + 5, UTF16);
    client.change(&uri, 2, json!([{"range": {"start": start, "end": end}, "text": "WORLD"}]));
    assert_eq!(value(&mut client, &fixture, "CONFIG_VAR"), json!(["WORLD", "known"]));
    let key = fixture.text("pod.yaml").find("CONFIG_VAR=").expect("it is there");
    let start = position(fixture.text("pod.yaml"), key, UTF16);
    client.change(&uri, 3, json!([{"range": {"start": start.clone(), "end": start}, "text": "MY_"}]));
    assert_eq!(client.rules(&uri), ["env-file-content"]);
}
