//! Templates over the protocol: in YAML, and in JSON with tabs, with their parameter files.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::codes;
use super::fixture::{covered, edited, position};
use super::{Client, Fixture, examples};

const UTF16: Encoding = Encoding::Utf16;

/// A template of the proposed dialect, which has all forms of references, and a parameter file.
const YAML: &str = "#- shop.yaml
# größe 😀
apiVersion: v1
kind: Template
metadata: {name: shop}
message: 'See ${NAME} 😀.'
labels: {'${NAME}': 'ü'}
objects:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: 'ü-${NAME}'}
  spec:
    replicas: ${{COUNT}}
    template:
      metadata: {labels: {'app/${NAME}': 'x'}}
      spec:
        containers:
        - name: main
          image: web
          env:
          - {name: TITLE, value: '😀 $(NAME) ${PASSWORD}'}
parameters:
- name: NAME
  description: What it is called
  value: web
- name: COUNT
  type: int
  value: '3'
- name: PASSWORD
  generate: expression
  from: '[a-z]{8}'
- name: HOST
  required: true
#- dev.params
NAME=größe
COUNT=5
";

/// A template in JSON with tabs.
const JSON: &str = "#- shop.json
{
\t\"apiVersion\": \"template.openshift.io/v1\",
\t\"kind\": \"Template\",
\t\"metadata\": {\"name\": \"shop\"},
\t\"message\": \"ü ${NAME}\",
\t\"objects\": [
\t\t{
\t\t\t\"apiVersion\": \"apps/v1\",
\t\t\t\"kind\": \"Deployment\",
\t\t\t\"metadata\": {
\t\t\t\t\"name\": \"😀 ${NAME}\"
\t\t\t},
\t\t\t\"spec\": {
\t\t\t\t\"replicas\": \"${COUNT}\",
\t\t\t\t\"minReadySeconds\": 30
\t\t\t}
\t\t}
\t],
\t\"parameters\": [
\t\t{
\t\t\t\"name\": \"NAME\",
\t\t\t\"description\": \"What it is called\",
\t\t\t\"value\": \"web\"
\t\t},
\t\t{
\t\t\t\"name\": \"COUNT\",
\t\t\t\"value\": \"3\"
\t\t}
\t]
}
";

#[test]
fn the_examples_of_the_design_equal_the_commands() {
    let compared = examples::check("templates");
    assert!(compared.examples >= 15 && compared.findings >= 30 && compared.containers >= 10, "{compared:?}");
    assert!(compared.hovers >= 10, "{compared:?}");
}

fn opened(text: &str) -> (Fixture, Client) {
    let fixture = Fixture::new(text);
    let client = Client::modern(&fixture, UTF16);
    (fixture, client)
}

/// The document and the position of `¦` in the first occurrence of `marked`.
fn at(fixture: &Fixture, file: &str, marked: &str) -> Value {
    let (before, after) = marked.split_once('¦').expect("a place is marked");
    let text = fixture.text(file);
    let start = text.find(&format!("{before}{after}")).unwrap_or_else(|| panic!("`{marked}` is in {file}"));
    json!({"textDocument": {"uri": fixture.uri(file)}, "position": position(text, start + before.len(), UTF16)})
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("a list: {value}"))
}

fn labels(completion: &Value) -> Vec<&str> {
    let items = if completion["items"].is_array() { &completion["items"] } else { completion };
    list(items).iter().filter_map(|it| it["label"].as_str()).collect()
}

/// The text of a file after the edits of a workspace edit.
fn after(fixture: &Fixture, file: &str, edit: &Value) -> String {
    let uri = fixture.uri(file);
    if let Some(edits) = edit["changes"].get(&uri) {
        return edited(fixture.text(file), edits, UTF16);
    }
    let changes = edit["documentChanges"].as_array().into_iter().flatten();
    let edits = changes.filter(|it| it["textDocument"]["uri"] == json!(uri)).map(|it| &it["edits"]).next();
    edits.map_or_else(|| fixture.text(file).to_owned(), |edits| edited(fixture.text(file), edits, UTF16))
}

/// Types a text at a position and requests completion.
fn completed(fixture: &Fixture, client: &mut Client, file: &str, marked: &str, typed: &str) -> Value {
    let uri = fixture.uri(file);
    let place = at(fixture, file, marked)["position"].clone();
    client.open(&uri, fixture.text(file), 1);
    client.change(&uri, 2, json!([{"range": {"start": place, "end": place}, "text": typed}]));
    let end = place["character"].as_u64().expect("a number") + typed.encode_utf16().count() as u64;
    let place = json!({"line": place["line"], "character": end});
    let found = client.request("textDocument/completion", json!({"textDocument": {"uri": uri}, "position": place}));
    client.close(&uri);
    found
}

#[test]
fn names_are_completed_after_every_form() {
    let (fixture, mut client) = opened(YAML);
    for (typed, text) in [("${", "${NAME}"), ("${{", "${{NAME}}"), ("${HO", "${NAME}"), ("$(", "$(NAME)")] {
        let found = completed(&fixture, &mut client, "shop.yaml", "image: web¦", typed);
        assert_eq!(&labels(&found)[..4], ["NAME", "COUNT", "PASSWORD", "HOST"], "{typed}: {found}");
        let first = &found["items"][0];
        let new = first["textEdit"]["newText"].as_str().unwrap_or_default();
        assert_eq!(new, text, "{typed}: {first}");
    }
    // After `$(` in a field that the kubelet expands, variables are first.
    let found = completed(&fixture, &mut client, "shop.yaml", "value: '😀 ¦$(NAME)", "$(");
    assert!(labels(&found).contains(&"NAME") && labels(&found).contains(&"HOST"), "{found}");
    let (fixture, mut client) = opened(JSON);
    for typed in ["${", "${{"] {
        let found = completed(&fixture, &mut client, "shop.json", "\"name\": \"😀 ¦", typed);
        assert_eq!(labels(&found), ["NAME", "COUNT"], "{typed}: {found}");
    }
    // `$(` is not a parameter reference in the released dialect.
    let found = completed(&fixture, &mut client, "shop.json", "\"name\": \"😀 ¦", "$(");
    assert!(found.is_null() || labels(&found).is_empty(), "{found}");
}

#[test]
fn a_parameter_has_a_hover_everywhere() {
    let (fixture, mut client) = opened(YAML);
    for (place, expected) in [
        ("'ü-${N¦AME}'", "What it is called"),
        ("value: '😀 $(N¦AME)", "What it is called"),
        ("- name: NA¦ME", "value `web`"),
        ("{'${NA¦ME}': 'ü'}", "What it is called"),
        ("See ${NAM¦E}", "5 references"),
        ("replicas: ${{CO¦UNT}}", "type `int`"),
        ("${PASS¦WORD}", "generated from `[a-z]{8}`"),
        ("- name: HO¦ST", "required"),
    ] {
        let found = client.request("textDocument/hover", at(&fixture, "shop.yaml", place));
        let text = found["contents"]["value"].as_str().unwrap_or_default();
        assert!(text.contains(expected), "{place}: {found}");
        let shown = covered(fixture.text("shop.yaml"), &found["range"], UTF16);
        let name = place.replace('¦', "");
        assert!(name.contains(&shown), "{place}: {shown}");
    }
    let (fixture, mut client) = opened(JSON);
    let found = client.request("textDocument/hover", at(&fixture, "shop.json", "ü ${NA¦ME}"));
    assert!(found["contents"]["value"].as_str().is_some_and(|it| it.contains("What it is called")), "{found}");
}

#[test]
fn a_parameter_is_found_from_everywhere() {
    let (fixture, mut client) = opened(YAML);
    for (file, place) in [("shop.yaml", "'app/${NA¦ME}'"), ("shop.yaml", "$(NAM¦E)"), ("dev.params", "N¦AME=")] {
        let found = client.request("textDocument/definition", at(&fixture, file, place));
        let target = &found[0];
        let range =
            if target["targetSelectionRange"].is_object() { &target["targetSelectionRange"] } else { &target["range"] };
        assert_eq!(covered(fixture.text("shop.yaml"), range, UTF16), "NAME", "{found}");
        assert_eq!(range["start"]["line"], 21, "{place}: {found}");
        let mut params = at(&fixture, file, place);
        params["context"] = json!({"includeDeclaration": true});
        let found = client.request("textDocument/references", params);
        let shown: Vec<String> = list(&found)
            .iter()
            .map(|it| {
                let uri = it["uri"].as_str().unwrap_or_default();
                let name = uri.rsplit('/').next().unwrap_or_default();
                format!("{name}:{} {}", it["range"]["start"]["line"], covered(fixture.text(name), &it["range"], UTF16))
            })
            .collect();
        let expected = [
            "dev.params:0 NAME",
            "shop.yaml:4 NAME",
            "shop.yaml:5 NAME",
            "shop.yaml:9 NAME",
            "shop.yaml:13 NAME",
            "shop.yaml:19 NAME",
            "shop.yaml:21 NAME",
        ];
        assert_eq!(shown, expected, "{place}");
        let marks = client.request("textDocument/documentHighlight", at(&fixture, file, place));
        assert_eq!(list(&marks).len(), if file == "shop.yaml" { 6 } else { 1 }, "{place}");
    }
}

#[test]
fn a_rename_changes_keys_the_message_and_parameter_files() {
    let (fixture, mut client) = opened(YAML);
    let mut params = at(&fixture, "shop.yaml", "'ü-${NA¦ME}'");
    params["newName"] = json!("TITLE");
    let edit = client.request("textDocument/rename", params);
    let expected = fixture.text("shop.yaml").replace("{NAME}", "{TITLE}").replace("(NAME)", "(TITLE)");
    assert_eq!(after(&fixture, "shop.yaml", &edit), expected.replace("- name: NAME", "- name: TITLE"));
    assert_eq!(after(&fixture, "dev.params", &edit), "TITLE=größe\nCOUNT=5\n");
    let mut params = at(&fixture, "shop.yaml", "'ü-${NA¦ME}'");
    params["newName"] = json!("COUNT");
    client.request_error("textDocument/rename", params);
    let (fixture, mut client) = opened(JSON);
    let mut params = at(&fixture, "shop.json", "\"name\": \"NA¦ME\"");
    params["newName"] = json!("TITLE");
    let edit = client.request("textDocument/rename", params);
    let expected = fixture.text("shop.json").replace("{NAME}", "{TITLE}").replace("\"NAME\"", "\"TITLE\"");
    assert_eq!(after(&fixture, "shop.json", &edit), expected);
}

#[test]
fn a_template_has_symbols_hints_and_a_lens() {
    for (text, file, hint) in [(YAML, "shop.yaml", "→ ü-web"), (JSON, "shop.json", "→ 😀 web")] {
        let (fixture, mut client) = opened(text);
        let uri = fixture.uri(file);
        let document = json!({"textDocument": {"uri": uri}});
        let symbols = client.request("textDocument/documentSymbol", document.clone());
        let names = |of: &Value| -> Vec<String> {
            of.as_array().into_iter().flatten().filter_map(|it| it["name"].as_str().map(str::to_owned)).collect()
        };
        let template = &symbols[0];
        assert!(names(&symbols)[0].contains("shop"), "{symbols}");
        let inside = names(&template["children"]);
        assert!(
            inside.iter().any(|it| it.contains("NAME")) && inside.iter().any(|it| it.contains("COUNT")),
            "{symbols}"
        );
        let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}});
        let hints = client.request("textDocument/inlayHint", json!({"textDocument": {"uri": uri}, "range": whole}));
        let shown: Vec<&str> = list(&hints).iter().filter_map(|it| it["label"].as_str()).collect();
        assert!(shown.contains(&hint) && shown.contains(&"→ 3"), "{hints}");
        let lenses = client.request("textDocument/codeLens", document);
        let titles: Vec<String> = list(&lenses)
            .iter()
            .map(|it| {
                let lens =
                    if it["command"].is_object() { it.clone() } else { client.request("codeLens/resolve", it.clone()) };
                lens["command"]["title"].as_str().unwrap_or_default().to_owned()
            })
            .collect();
        let number = if file == "shop.yaml" { 4 } else { 2 };
        assert!(titles.contains(&format!("Preview · {number} parameters")), "{titles:?}");
    }
}

#[test]
fn the_preview_shows_unsaved_text() {
    for (text, file) in [(YAML, "shop.yaml"), (JSON, "shop.json")] {
        let (fixture, mut client) = opened(text);
        let uri = fixture.uri(file);
        client.open(&uri, fixture.text(file), 1);
        let ask = |client: &mut Client, values: Value| {
            let params = json!({"textDocument": {"uri": uri}, "kind": "process", "parameters": values});
            client.request("podlens/preview", params)
        };
        let found = ask(&mut client, json!({"HOST": "h"}));
        let shown = found["text"].as_str().unwrap_or_default();
        assert!(shown.contains("name: ü-web") || shown.contains("😀 web"), "{found}");
        let replicas = if file == "shop.yaml" { "replicas: 3" } else { "replicas: \"3\"" };
        assert!(shown.contains(replicas), "{found}");
        // A keystroke later, with another value of the parameter.
        let value = if file == "shop.yaml" { "value: we¦b" } else { "\"value\": \"we¦b\"" };
        let place = at(&fixture, file, value)["position"].clone();
        client.change(&uri, 2, json!([{"range": {"start": place, "end": place}, "text": "l"}]));
        let shown = ask(&mut client, json!({"HOST": "h"}));
        assert!(shown["text"].as_str().is_some_and(|it| it.contains("welb")), "{shown}");
        let given = ask(&mut client, json!({"HOST": "h", "NAME": "given"}));
        assert!(given["text"].as_str().is_some_and(|it| it.contains("given")), "{given}");
        // Missing values are reported, and the rest is shown.
        if file == "shop.yaml" {
            let open = ask(&mut client, json!({}));
            assert_eq!(open["problems"][0]["parameter"], "HOST", "{open}");
            assert!(open["text"].as_str().is_some_and(|it| it.contains("welb")), "{open}");
        }
    }
}

/// The code actions in a range: their titles and the file after each.
fn actions(fixture: &Fixture, client: &mut Client, file: &str, start: &str, end: &str) -> Vec<(String, String)> {
    let range = json!({"start": at(fixture, file, start)["position"], "end": at(fixture, file, end)["position"]});
    let params = json!({"textDocument": {"uri": fixture.uri(file)}, "range": range, "context": {"diagnostics": []}});
    let found = client.request("textDocument/codeAction", params);
    let mut all = Vec::new();
    for action in found.as_array().into_iter().flatten() {
        let title = action["title"].as_str().unwrap_or_default().to_owned();
        let is_open = action["edit"].is_null() && action["data"].is_object();
        let action = if is_open { client.request("codeAction/resolve", action.clone()) } else { action.clone() };
        all.push((title, after(fixture, file, &action["edit"])));
    }
    all
}

fn taken(actions: &[(String, String)], title: &str) -> String {
    let found = actions.iter().find(|(it, _)| it == title);
    found.unwrap_or_else(|| panic!("`{title}` is among {actions:?}")).1.clone()
}

#[test]
fn values_become_parameters_and_back() {
    let (fixture, mut client) = opened(JSON);
    let uri = fixture.uri("shop.json");
    assert_eq!(codes(&client.pull(&uri)["items"]), ["string-substitution"]);
    let found = actions(&fixture, &mut client, "shop.json", "\"${CO¦UNT}\"", "\"${CO¦UNT}\"");
    let text = taken(&found, "Write `${{COUNT}}`");
    assert!(text.contains("\"replicas\": \"${{COUNT}}\""), "{text}");
    let found = actions(&fixture, &mut client, "shop.json", "Seconds\": ¦30", "Seconds\": 30¦");
    let text = taken(&found, "Extract into the parameter `MIN_READY_SECONDS`");
    assert!(text.contains("\"minReadySeconds\": \"${{MIN_READY_SECONDS}}\""), "{text}");
    assert!(
        text.contains("\n\t\t{\n\t\t\t\"name\": \"MIN_READY_SECONDS\",\n\t\t\t\"value\": \"30\"\n\t\t}\n\t]"),
        "{text}"
    );
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "JSON stays JSON: {text}");

    let broken = "#- t.yaml
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: t}
objects:
- apiVersion: v1
  kind: Service
  metadata: {name: \"${NAEM}\", labels: {a: ${NAME}}}
parameters:
- name: NAME
- name: UNUSED
";
    let (fixture, mut client) = opened(broken);
    let found = actions(&fixture, &mut client, "t.yaml", "a: ¦${NAME}", "a: ¦${NAME}");
    let text = taken(&found, "Quote `${NAME}`");
    assert!(text.contains("labels: {a: \"${NAME}\"}"), "{text}");
    let (fixture, mut client) = opened(&format!("#- t.yaml\n{text}"));
    let found = actions(&fixture, &mut client, "t.yaml", "${NA¦EM}", "${NA¦EM}");
    assert!(taken(&found, "Write `${NAME}`").contains("name: \"${NAME}\""));
    assert!(
        taken(&found, "Declare the parameter `NAEM`").ends_with("- name: UNUSED\n- name: NAEM\n  required: true\n")
    );
    let found = actions(&fixture, &mut client, "t.yaml", "UNU¦SED", "UNU¦SED");
    assert!(taken(&found, "Remove the parameter `UNUSED`").ends_with("parameters:\n- name: NAME\n"));

    let (fixture, mut client) =
        opened("#- web.yaml\n# ü\r\napiVersion: v1\r\nkind: Service\r\nmetadata: {name: web}\r\n");
    let found = actions(&fixture, &mut client, "web.yaml", "ki¦nd", "ki¦nd");
    let text = taken(&found, "Wrap in a Template `web`");
    assert!(text.starts_with("apiVersion: template.openshift.io/v1\r\nkind: Template\r\n"), "{text}");
    assert!(
        text.ends_with("objects:\r\n# ü\r\n- apiVersion: v1\r\n  kind: Service\r\n  metadata: {name: web}\r\n"),
        "{text}"
    );
}

#[test]
fn a_parameter_file_belongs_to_its_template() {
    let (fixture, mut client) = opened(YAML);
    let uri = fixture.uri("dev.params");
    client.open(&uri, fixture.text("dev.params"), 1);
    assert_eq!(codes(&client.pull(&uri)["items"]), [""; 0]);
    client.replace(&uri, 2, "NAME=größe\nCOUNT=5\nPASWORD=x\n");
    let found = client.pull(&uri);
    assert_eq!(codes(&found["items"]), ["undefined-parameter"]);
    let message = found["items"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("the template in `shop.yaml` has no parameter `PASWORD`"), "{found}");
    // The parameter is added to the template, and the finding is fixed.
    let template = fixture.uri("shop.yaml");
    client.open(&template, &fixture.text("shop.yaml").replace("name: HOST", "name: PASWORD"), 1);
    assert_eq!(codes(&client.pull(&uri)["items"]), [""; 0]);
    client.replace(&uri, 3, "NAME=größe\nCOUNT=5\nH");
    let place = json!({"textDocument": {"uri": uri}, "position": {"line": 2, "character": 1}});
    let found = client.request("textDocument/completion", place);
    assert_eq!(labels(&found), ["PASWORD", "PASSWORD"], "required values are first: {found}");
    let place = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 2}});
    let found = client.request("textDocument/hover", place);
    assert!(found["contents"]["value"].as_str().is_some_and(|it| it.contains("Parameter **COUNT**")), "{found}");
}
