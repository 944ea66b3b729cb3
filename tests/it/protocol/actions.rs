//! Code actions that change other files, or create one.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, modern, simple};
use super::examples::list;
use super::fixture::edited;
use super::{Client, Fixture};

const UTF16: Encoding = Encoding::Utf16;

const SHOP: &str = "#- web.yaml
# größe 😀
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: main
    image: web
    env:
    - {name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: $0verbosity}}}
    args: ['😀 $(NOPE)']
#- config.yaml
# größe 😀
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  banner: 'hello 😀'
#- podlens.yaml
# The settings of the shop.
externals:
  variables: [ACME_*]
";

/// The quick fixes at a text of a file.
fn quick_fixes(client: &mut Client, fixture: &Fixture, file: &str, word: &str) -> Vec<Value> {
    let text = fixture.text(file);
    let at = super::fixture::position(text, text.find(word).expect("there"), UTF16);
    let params = json!({
        "textDocument": {"uri": fixture.uri(file)},
        "range": {"start": at, "end": at},
        "context": {"diagnostics": [], "only": ["quickfix"]},
    });
    let found = client.request("textDocument/codeAction", params);
    if found.is_null() { Vec::new() } else { list(&found).to_vec() }
}

/// The edit of the action with a title.
fn edit_of(client: &mut Client, actions: &[Value], title: &str) -> Value {
    let is_it = |it: &&Value| it["title"] == title;
    let action = actions.iter().find(is_it).unwrap_or_else(|| panic!("{title} is not in {actions:#?}"));
    match action["edit"].is_null() {
        true => client.request("codeAction/resolve", action.clone())["edit"].clone(),
        false => action["edit"].clone(),
    }
}

/// Writes the result of an edit as an editor that saves all files. Returns the operations.
fn save(client: &mut Client, fixture: &Fixture, edit: &Value) -> Vec<String> {
    let mut done = Vec::new();
    for change in list(&edit["documentChanges"]) {
        if change["kind"] == "create" {
            let uri = change["uri"].as_str().expect("a URI");
            let name = uri.strip_prefix(&format!("{}/", fixture.folder_uri())).expect("in the folder");
            assert!(!fixture.path(name).exists(), "{name} exists");
            fixture.write(name, "");
            done.push(format!("create {name}"));
            continue;
        }
        let uri = change["textDocument"]["uri"].as_str().expect("a URI");
        let name = uri.strip_prefix(&format!("{}/", fixture.folder_uri())).expect("in the folder");
        let old = std::fs::read_to_string(fixture.path(name)).expect("it exists");
        let new = edited(&old, &change["edits"], UTF16);
        fixture.write(name, &new);
        let kind = if old.is_empty() { 1 } else { 2 };
        client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": uri, "type": kind}]}));
        if name == "web.yaml" {
            client.replace(uri, 2, &new);
        }
        done.push(format!("edit {name}"));
    }
    done
}

#[test]
fn what_a_help_text_advises_can_be_done() {
    for (word, title, rule, operations) in [
        ("verbosity", "Add the key `verbosity` to config map `settings`", "missing-key", &["edit config.yaml"][..]),
        ("verbosity", "Set `optional: true`", "missing-key", &["edit web.yaml"]),
        ("verbosity", "Add `settings/verbosity` to `externals` in podlens.yaml", "missing-key", &["edit podlens.yaml"]),
        ("$(NOPE)", "Add `NOPE` to `externals` in podlens.yaml", "undefined-variable", &["edit podlens.yaml"]),
        ("$(NOPE)", "Declare `NOPE` in `env`", "undefined-variable", &["edit web.yaml"]),
    ] {
        let fixture = Fixture::new(SHOP);
        let mut client = Client::of(&fixture, Setup::default());
        let uri = fixture.uri("web.yaml");
        client.open(&uri, fixture.text("web.yaml"), 1);
        let before = client.rules(&uri);
        assert_eq!(before, ["missing-key", "undefined-variable"]);
        let actions = quick_fixes(&mut client, &fixture, "web.yaml", word);
        let edit = edit_of(&mut client, &actions, title);
        assert_eq!(save(&mut client, &fixture, &edit), operations, "{title}: {edit}");
        let expected: Vec<&str> = before.iter().map(String::as_str).filter(|it| *it != rule).collect();
        assert_eq!(client.rules(&uri), expected, "{title}");
    }
}

#[test]
fn the_settings_are_created() {
    let fixture = Fixture::new(SHOP);
    std::fs::remove_file(fixture.path("podlens.yaml")).expect("it is there");
    let uri = fixture.uri("web.yaml");
    let title = "Add `NOPE` to `externals` in a new podlens.yaml";
    let mut client = Client::of(&fixture, Setup::default());
    client.open(&uri, fixture.text("web.yaml"), 1);
    assert_eq!(client.rules(&uri), ["missing-key", "undefined-variable"]);
    let actions = quick_fixes(&mut client, &fixture, "web.yaml", "$(NOPE)");
    let edit = edit_of(&mut client, &actions, title);
    assert_eq!(save(&mut client, &fixture, &edit), ["create podlens.yaml", "edit podlens.yaml"], "{edit}");
    let text = std::fs::read_to_string(fixture.path("podlens.yaml")).expect("it is created");
    assert_eq!(text, "externals:\n  variables:\n    - NOPE\n");
    assert_eq!(client.rules(&uri), ["missing-key"]);
    // The next name goes into the same file.
    let actions = quick_fixes(&mut client, &fixture, "web.yaml", "verbosity");
    let edit = edit_of(&mut client, &actions, "Add `settings/verbosity` to `externals` in podlens.yaml");
    assert_eq!(save(&mut client, &fixture, &edit), ["edit podlens.yaml"], "{edit}");
    assert_eq!(client.rules(&uri), [""; 0]);
}

/// An editor that cannot create files gets the other actions.
#[test]
fn a_file_is_created_only_if_the_editor_can() {
    let mut without_create = modern(UTF16);
    without_create["workspace"]["workspaceEdit"] = json!({"documentChanges": true, "resourceOperations": ["rename"]});
    let mut with_changes = simple(UTF16);
    with_changes["textDocument"]["codeAction"] =
        json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}});
    for capabilities in [without_create, with_changes] {
        let fixture = Fixture::new(SHOP);
        std::fs::remove_file(fixture.path("podlens.yaml")).expect("it is there");
        let mut client = Client::of(&fixture, Setup { capabilities, ..Setup::default() });
        client.open(&fixture.uri("web.yaml"), fixture.text("web.yaml"), 1);
        assert_eq!(client.rules(&fixture.uri("web.yaml")), ["missing-key", "undefined-variable"]);
        let actions = quick_fixes(&mut client, &fixture, "web.yaml", "verbosity");
        let titles: Vec<&str> = actions.iter().filter_map(|it| it["title"].as_str()).collect();
        assert!(titles.contains(&"Set `optional: true`"), "{titles:?}");
        assert!(!titles.iter().any(|it| it.contains("podlens.yaml")), "{titles:?}");
        for title in titles {
            let edit = edit_of(&mut client, &actions, title);
            assert!(edit["documentChanges"].is_array() || edit["changes"].is_object(), "{title}: {edit}");
        }
    }
}

/// A finding in a block gets its comment where the block begins.
#[test]
fn a_finding_in_a_block_is_suppressed_at_its_start() {
    let fixture = Fixture::new(
        "#- web.yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - name: main\n    image: web\n    \
         args:\n    - |\n      größe 😀\n      $(NOPE)\n",
    );
    let mut client = Client::of(&fixture, Setup::default());
    let uri = fixture.uri("web.yaml");
    client.open(&uri, fixture.text("web.yaml"), 1);
    assert_eq!(client.rules(&uri), ["undefined-variable"]);
    let actions = quick_fixes(&mut client, &fixture, "web.yaml", "$(NOPE)");
    let edit = edit_of(&mut client, &actions, "Suppress `undefined-variable` in this text");
    let text = edited(fixture.text("web.yaml"), &edit["documentChanges"][0]["edits"], UTF16);
    assert!(text.contains("    - | # podlens: ignore[undefined-variable]\n      größe"), "{text}");
    client.replace(&uri, 2, &text);
    assert_eq!(client.rules(&uri), [""; 0]);
}
