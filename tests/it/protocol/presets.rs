//! PodPresets over the protocol: the examples of the design, and presets and pods that are open at the same time.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::codes;
use super::examples::{self, list};
use super::fixture::{covered, edited, position};
use super::{Client, Fixture};

const UTF16: Encoding = Encoding::Utf16;

const SHOP: &str = "#- podlens.yaml
kubernetes: '1.19'
#- preset.yaml
# größe 😀
apiVersion: settings.k8s.io/v1alpha1
kind: PodPreset
metadata: {name: database}
spec:
  selector: {matchLabels: {role: web}}
  env:
  - {name: DB_PORT, value: '5432'}
  - {name: DB_URL, value: 'db://$(USER_NAME):$(DB_PORT)'}
#- web.yaml
# größe 😀
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {role: web}}
spec:
  containers:
  - name: main
    image: web
    env:
    - {name: USER_NAME, value: web}
    args: [$(DB_URL)]
";

/// The document and position one character into a word.
fn at(fixture: &Fixture, file: &str, word: &str) -> Value {
    let text = fixture.text(file);
    let offset = text.find(word).unwrap_or_else(|| panic!("{word} is in {file}"));
    json!({"textDocument": {"uri": fixture.uri(file)}, "position": position(text, offset + 1, UTF16)})
}

fn hover(client: &mut Client, place: Value) -> String {
    client.request("textDocument/hover", place)["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_examples_of_the_design_equal_the_commands() {
    let compared = examples::check("pod-preset");
    assert!(compared.examples >= 10 && compared.findings >= 10 && compared.containers >= 10, "{compared:?}");
    assert!(compared.hovers >= 10, "{compared:?}");
}

#[test]
fn a_preset_and_its_pods_point_to_each_other() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, UTF16);
    assert!(hover(&mut client, at(&fixture, "web.yaml", "$(DB_URL)")).contains("DB_URL=db://web:5432"));
    let text = hover(&mut client, at(&fixture, "preset.yaml", "database"));
    assert!(text.contains("`Pod/web`") && text.contains("applied"), "{text}");
    let text = hover(&mut client, at(&fixture, "preset.yaml", "$(USER_NAME)"));
    assert!(text.contains("container `main`: `web`"), "{text}");
    let links = client.request("textDocument/definition", at(&fixture, "web.yaml", "$(DB_URL)"));
    assert_eq!(links[0]["targetUri"], fixture.uri("preset.yaml"), "{links}");
    assert_eq!(covered(fixture.text("preset.yaml"), &links[0]["targetSelectionRange"], UTF16), "DB_URL");
    let mut asked = at(&fixture, "preset.yaml", "DB_URL");
    asked["context"] = json!({"includeDeclaration": false});
    let uses = client.request("textDocument/references", asked);
    assert_eq!(list(&uses).len(), 1, "{uses}");
    assert_eq!(covered(fixture.text("web.yaml"), &uses[0]["range"], UTF16), "DB_URL");
    for (file, title) in [("preset.yaml", "selects 1 workload"), ("web.yaml", "preset database")] {
        let lenses = client.request("textDocument/codeLens", json!({"textDocument": {"uri": fixture.uri(file)}}));
        let lens = client.request("codeLens/resolve", lenses[0].clone());
        assert_eq!(lens["command"]["title"], title);
    }
}

#[test]
fn a_variable_of_a_preset_is_renamed_in_its_pods() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, UTF16);
    let mut asked = at(&fixture, "preset.yaml", "DB_URL");
    asked["newName"] = "DATABASE".into();
    let edit = client.request("textDocument/rename", asked);
    let changes = list(&edit["documentChanges"]);
    for (file, part) in [("preset.yaml", "{name: DATABASE, value: 'db://"), ("web.yaml", "args: [$(DATABASE)]")] {
        let found = changes.iter().find(|it| it["textDocument"]["uri"] == fixture.uri(file)).expect("an edit a file");
        let text = edited(fixture.text(file), &found["edits"], UTF16);
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_conflict_is_reported_in_the_other_file_while_it_is_typed() {
    let fixture = Fixture::new(SHOP);
    let mut client = Client::modern(&fixture, UTF16);
    let (preset, web) = (fixture.uri("preset.yaml"), fixture.uri("web.yaml"));
    assert_eq!(client.rules(&preset), [""; 0]);
    assert_eq!(client.rules(&web), [""; 0]);
    let text = fixture.text("preset.yaml").replace("{name: DB_PORT, value: '5432'}", "{name: USER_NAME, value: db}");
    client.replace(&preset, 2, &text);
    assert_eq!(client.rules(&preset), [""; 0]);
    let found = client.pull(&web);
    assert_eq!(codes(&found["items"]), ["preset-conflict", "undefined-variable"]);
    assert_eq!(found["items"][0]["relatedInformation"][0]["location"]["uri"], preset, "{found}");
    // And removed again.
    client.replace(&preset, 3, fixture.text("preset.yaml"));
    assert_eq!(client.rules(&web), [""; 0]);
    assert_eq!(client.rules(&preset), [""; 0]);
}

#[test]
fn a_variable_that_a_preset_defines_too_can_be_removed() {
    let own = "    - {name: USER_NAME, value: web}\n";
    let fixture = Fixture::new(&SHOP.replace(own, &format!("{own}    - {{name: DB_PORT, value: \"5432\"}}\n")));
    let mut client = Client::modern(&fixture, UTF16);
    let mut asked = at(&fixture, "web.yaml", "DB_PORT");
    asked["range"] = json!({"start": asked["position"], "end": asked["position"]});
    asked["context"] = json!({"diagnostics": [], "only": ["refactor.rewrite"]});
    let actions = client.request("textDocument/codeAction", asked);
    assert_eq!(actions[0]["title"], "Remove `DB_PORT`: preset `database` adds the same", "{actions}");
    let action = match actions[0]["edit"].is_null() {
        true => client.request("codeAction/resolve", actions[0].clone()),
        false => actions[0].clone(),
    };
    let text = edited(fixture.text("web.yaml"), &action["edit"]["documentChanges"][0]["edits"], UTF16);
    assert_eq!(text, Fixture::new(SHOP).text("web.yaml"));
}

/// A preset that the API server refuses is shown as refused on both sides, also while it is corrected.
#[test]
fn lenses_of_a_refused_preset_say_so() {
    let invalid = "  - {name: DB_PORT, value: '5432'}\n";
    let fixture = Fixture::new(&SHOP.replace(invalid, &format!("{invalid}  volumeMounts: [{{name: cache}}]\n")));
    let mut client = Client::modern(&fixture, UTF16);
    let titles = |client: &mut Client| {
        ["preset.yaml", "web.yaml"].map(|file| {
            let lenses = client.request("textDocument/codeLens", json!({"textDocument": {"uri": fixture.uri(file)}}));
            let lens = client.request("codeLens/resolve", lenses[0].clone());
            lens["command"]["title"].as_str().unwrap_or_default().to_owned()
        })
    };
    assert_eq!(titles(&mut client), ["refused, applies to no workload", "preset database refused"]);
    let uri = fixture.uri("preset.yaml");
    client.open(&uri, fixture.text("preset.yaml"), 1);
    assert!(client.rules(&uri).contains(&"invalid-preset".to_owned()));
    client.replace(&uri, 2, Fixture::new(SHOP).text("preset.yaml"));
    assert_eq!(titles(&mut client), ["selects 1 workload", "preset database"]);
    client.replace(&uri, 3, fixture.text("preset.yaml"));
    assert_eq!(titles(&mut client), ["refused, applies to no workload", "preset database refused"]);
}
