//! Every feature over the protocol, in each encoding, with characters of all widths and both kinds of line breaks.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, simple};
use super::fixture::{covered, edited, position};
use super::{Client, Fixture};
use crate::manifest::pod;

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

/// A shop in three files. There are wide characters before each position that is used.
const SHOP: &str = concat!(
    pod!(
        "#- web.yaml\n# größe 😀\napiVersion: v1\n",
        "web",
        "    image: web
    env: # ü😀
    - {name: HOST, value: 'ü😀.example'}
    - {name: PORT, valueFrom: {configMapKeyRef: {name: app, key: port}}}
    - {name: URL, value: '😀é http://$(HOST):$(PORT)/$(LATER)'}
    - {name: LATER, value: '$$(x) 😀'}
    args: ['ü😀', '$(URL)']
"
    ),
    "#- app.yaml
# ü😀
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {größe😀: x, port: '8080'}
",
    pod!(
        "#- other.yaml\napiVersion: v1\n",
        "other",
        "    image: other
    env:
    - {name: PORT, valueFrom: {configMapKeyRef: {name: app, key: port}}}
"
    )
);

/// Runs a check in every encoding with both kinds of line breaks. In `marked`, `¦` is the cursor.
fn everywhere(marked: &str, check: impl Fn(&mut Client, &Fixture, Encoding)) {
    let (before, after) = marked.split_once('¦').expect("a place is marked");
    let at =
        SHOP.find(&format!("{before}{after}")).unwrap_or_else(|| panic!("`{marked}` is in the shop")) + before.len();
    let text = format!("{}$0{}", &SHOP[..at], &SHOP[at..]);
    for encoding in ENCODINGS {
        for fixture in [Fixture::new(&text), Fixture::with_crlf(&text)] {
            let mut client = Client::modern(&fixture, encoding);
            check(&mut client, &fixture, encoding);
        }
    }
}

fn text_of<'f>(fixture: &'f Fixture, uri: &Value) -> &'f str {
    let file = fixture.files.iter().find(|(name, _)| fixture.uri(name) == uri.as_str().unwrap_or_default());
    &file.unwrap_or_else(|| panic!("{uri} is a file of the fixture")).1
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("a list: {value}"))
}

#[test]
fn hover_shows_a_value_and_its_sources() {
    everywhere("http://$(HO¦ST)", |client, fixture, encoding| {
        let hover = client.request("textDocument/hover", fixture.at_cursor(encoding));
        assert_eq!(covered(fixture.text("web.yaml"), &hover["range"], encoding), "$(HOST)", "{hover}");
        assert_eq!(hover["contents"]["kind"], "markdown");
        let text = hover["contents"]["value"].as_str().expect("a text");
        assert!(text.contains("ü😀.example") && text.contains("file://") && text.contains("#L"), "{text}");
    });
}

#[test]
fn hover_is_plain_text_for_clients_without_markdown() {
    let fixture = Fixture::new(&SHOP.replace("http://$(HOST)", "http://$($0HOST)"));
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    client.open(&fixture.uri("web.yaml"), fixture.text("web.yaml"), 1);
    let hover = client.request("textDocument/hover", fixture.at_cursor(Encoding::Utf16));
    assert_eq!(hover["contents"]["kind"], "plaintext");
    assert!(!hover["contents"]["value"].as_str().expect("a text").contains("**"), "{hover}");
}

#[test]
fn completion_offers_valid_names_and_replaces_the_old_one() {
    everywhere("http://$(H¦OST)", |client, fixture, encoding| {
        let found = client.request("textDocument/completion", fixture.at_cursor(encoding));
        let items = list(&found["items"]);
        let labels: Vec<&str> = items.iter().filter_map(|it| it["label"].as_str()).collect();
        assert!(labels.contains(&"HOST") && labels.contains(&"PORT"), "{labels:?}");
        let last = labels.iter().position(|it| *it == "LATER").expect("forward names are offered");
        assert!(labels[..last].contains(&"HOST"), "{labels:?}");
        let host = items.iter().find(|it| it["label"] == "PORT").expect("it is there");
        let edit = json!([{"range": host["textEdit"]["range"], "newText": host["textEdit"]["newText"]}]);
        let text = edited(fixture.text("web.yaml"), &edit, encoding);
        assert!(text.contains("http://$(PORT):$(PORT)"), "{text}");
        let resolved = client.request("completionItem/resolve", host.clone());
        assert!(resolved["documentation"]["value"].is_string(), "{resolved}");
        // A name that is declared later comes with an edit that moves its declaration up.
        let later = client.request("completionItem/resolve", items[last].clone());
        let text = edited(fixture.text("web.yaml"), &later["additionalTextEdits"], encoding);
        assert!(text.find("name: LATER") < text.find("name: URL"), "{text}");
    });
    everywhere("kind: P¦od\nmetadata: {name: web}", |client, fixture, encoding| {
        assert_eq!(client.request("textDocument/completion", fixture.at_cursor(encoding)), Value::Null);
    });
}

#[test]
fn the_definition_is_the_declaration() {
    everywhere("/$(LAT¦ER)", |client, fixture, encoding| {
        let links = client.request("textDocument/definition", fixture.at_cursor(encoding));
        let link = &list(&links)[0];
        let text = text_of(fixture, &link["targetUri"]);
        assert_eq!(covered(text, &link["targetSelectionRange"], encoding), "LATER");
        assert!(covered(text, &link["targetRange"], encoding).contains("name: LATER"));
        let origin = covered(fixture.text("web.yaml"), &link["originSelectionRange"], encoding);
        assert!(origin.contains("LATER"), "{origin}");
    });
    everywhere(
        "name: PORT, valueFrom: {configMapKeyRef: {name: app, key: po¦rt}}}\n    - {name: URL",
        |client, fixture, encoding| {
            let links = client.request("textDocument/definition", fixture.at_cursor(encoding));
            assert_eq!(links[0]["targetUri"], fixture.uri("app.yaml"), "{links}");
            assert_eq!(covered(fixture.text("app.yaml"), &links[0]["targetSelectionRange"], encoding), "port");
        },
    );
}

#[test]
fn references_are_found_in_every_file() {
    everywhere("größe😀: x, po¦rt", |client, fixture, encoding| {
        let mut params = fixture.at_cursor(encoding);
        params["context"] = json!({"includeDeclaration": true});
        let found = client.request("textDocument/references", params);
        let mut files: Vec<&str> = list(&found).iter().filter_map(|it| it["uri"].as_str()).collect();
        files.dedup();
        assert_eq!(files.len(), 3, "{found}");
        for it in list(&found) {
            let text = covered(text_of(fixture, &it["uri"]), &it["range"], encoding);
            assert!(text.to_lowercase().contains("port"), "{text}");
        }
    });
}

#[test]
fn all_uses_in_the_file_are_highlighted() {
    everywhere("{name: HO¦ST", |client, fixture, encoding| {
        let found = client.request("textDocument/documentHighlight", fixture.at_cursor(encoding));
        let texts: Vec<String> =
            list(&found).iter().map(|it| covered(fixture.text("web.yaml"), &it["range"], encoding)).collect();
        assert!(texts.len() >= 2 && texts.iter().all(|it| it.contains("HOST")), "{texts:?}");
    });
}

#[test]
fn rename_changes_every_use_and_names_the_versions() {
    everywhere("{name: HO¦ST", |client, fixture, encoding| {
        let at = fixture.at_cursor(encoding);
        let prepared = client.request("textDocument/prepareRename", at.clone());
        assert_eq!(prepared["placeholder"], "HOST");
        assert_eq!(covered(fixture.text("web.yaml"), &prepared["range"], encoding), "HOST");
        let mut params = at;
        params["newName"] = json!("SERVER");
        let edit = client.request("textDocument/rename", params);
        let change = &edit["documentChanges"][0];
        assert_eq!(change["textDocument"], json!({"uri": fixture.uri("web.yaml"), "version": 1}));
        let text = edited(fixture.text("web.yaml"), &change["edits"], encoding);
        assert!(text.contains("name: SERVER") && text.contains("http://$(SERVER)") && !text.contains("HOST"), "{text}");
    });
    everywhere("größe😀: x, po¦rt", |client, fixture, encoding| {
        let mut params = fixture.at_cursor(encoding);
        params["newName"] = json!("door");
        let edit = client.request("textDocument/rename", params);
        assert_eq!(list(&edit["documentChanges"]).len(), 3, "{edit}");
    });
    everywhere("kind: P¦od\nmetadata: {name: web}", |client, fixture, encoding| {
        assert_eq!(client.request("textDocument/prepareRename", fixture.at_cursor(encoding)), Value::Null);
    });
}

#[test]
fn rename_fails_with_a_reason() {
    let text = SHOP
        .replace("args: ['ü😀', '$(URL)']", "args: ['ü😀', '$(CACHE_SERVICE_HOST)', '$(FAR_AWAY)']")
        .replace("#- other.yaml", "#- podlens.yaml\nexternals: {variables: [FAR_*]}\n#- cache.yaml\napiVersion: v1\nkind: Service\nmetadata: {name: cache}\nspec: {ports: [{port: 1}]}\n#- other.yaml");
    for encoding in ENCODINGS {
        for fixture in [Fixture::new(&text), Fixture::with_crlf(&text)] {
            let mut client = Client::modern(&fixture, encoding);
            let text = fixture.text("web.yaml");
            for (place, new, reason) in [
                ("CACHE_SERVICE_HOST", "X", "rename the service by hand"),
                ("FAR_AWAY", "X", "FAR_AWAY"),
                ("HOST", "A=B", "is not a valid variable name"),
            ] {
                let at = position(text, text.find(place).expect("it is there") + 1, encoding);
                let params = json!({"textDocument": {"uri": fixture.uri("web.yaml")}, "position": at, "newName": new});
                let id = client.send_request("textDocument/rename", params);
                let answer = client.wait(id);
                assert_eq!(answer["error"]["code"], -32803, "{answer}");
                assert!(answer["error"]["message"].as_str().is_some_and(|it| it.contains(reason)), "{answer}");
            }
        }
    }
}

#[test]
fn code_actions_fix_findings() {
    everywhere("/$(LAT¦ER)", |client, fixture, encoding| {
        let uri = fixture.uri("web.yaml");
        let found = client.pull(&uri)["items"].clone();
        let wrong = list(&found).iter().find(|it| it["code"] == "forward-reference").expect("it is found");
        let params =
            json!({"textDocument": {"uri": uri}, "range": wrong["range"], "context": {"diagnostics": [wrong]}});
        let actions = client.request("textDocument/codeAction", params.clone());
        let is_fix = |it: &&Value| it["kind"] == "quickfix" && it["isPreferred"] == true;
        let action = list(&actions).iter().find(is_fix).unwrap_or_else(|| panic!("a fix: {actions}"));
        assert_eq!(action["diagnostics"], json!([wrong]));
        let resolved = client.request("codeAction/resolve", action.clone());
        let change = &resolved["edit"]["documentChanges"][0];
        let text = edited(fixture.text("web.yaml"), &change["edits"], encoding);
        client.replace(&uri, 2, &text);
        assert!(!client.rules(&uri).contains(&"forward-reference".to_owned()), "{text}");
        // An action for an older text is an error.
        let id = client.send_request("codeAction/resolve", action.clone());
        assert_eq!(client.wait(id)["error"]["code"], -32801);
        // A request for one kind gets only that kind, and nothing if there is nothing to fix.
        let mut only = params;
        only["context"]["only"] = json!(["source.fixAll"]);
        assert_eq!(client.request("textDocument/codeAction", only.clone()), Value::Null);
        client.replace(&uri, 3, fixture.text("web.yaml"));
        let actions = client.request("textDocument/codeAction", only.clone());
        let kinds: Vec<&Value> = list(&actions).iter().map(|it| &it["kind"]).collect();
        assert_eq!(kinds, ["source.fixAll.podlens"]);
        let resolved = client.request("codeAction/resolve", actions[0].clone());
        let change = &resolved["edit"]["documentChanges"][0];
        assert_eq!(change["textDocument"], json!({"uri": uri, "version": 3}));
        client.replace(&uri, 4, &edited(fixture.text("web.yaml"), &change["edits"], encoding));
        assert!(!client.rules(&uri).contains(&"forward-reference".to_owned()));
        // A suppression removes the finding and keeps the text.
        client.replace(&uri, 5, fixture.text("web.yaml"));
        only["context"]["only"] = json!(["quickfix"]);
        let actions = client.request("textDocument/codeAction", only.clone());
        let is_suppress =
            |it: &&Value| it["title"].as_str().is_some_and(|it| it.contains("ignore") || it.contains("uppress"));
        let suppress = list(&actions).iter().find(is_suppress).unwrap_or_else(|| panic!("a comment: {actions}"));
        let resolved = client.request("codeAction/resolve", suppress.clone());
        let text = edited(fixture.text("web.yaml"), &resolved["edit"]["documentChanges"][0]["edits"], encoding);
        client.replace(&uri, 6, &text);
        assert!(!client.rules(&uri).iter().any(|it| it == "forward-reference" || it == "unused-suppression"), "{text}");
        // The editor shows the environment: the action is a command with the position.
        only["context"]["only"] = json!(["source.podlens"]);
        let actions = client.request("textDocument/codeAction", only);
        let commands: Vec<&Value> = list(&actions).iter().map(|it| &it["command"]["command"]).collect();
        assert!(commands.contains(&&json!("podlens.showEnvironment")), "{actions}");
    });
}

/// Everything that has a hover, with a part of its text.
#[test]
fn hover_describes_the_symbol_under_the_cursor() {
    const TEXT: &str = concat!(
        pod!(
            "#- all.yaml\n# ü😀\napiVersion: v1\n",
            "web",
            "    image: web
    envFrom:
    - configMapRef: {name: ü😀}
    - configMapRef: {name: app}
    env:
    - {name: U, value: ü😀} # podlens: ignore[collapsed-dollar] ü😀
    - {name: HOST, value: 'ü😀 $(cache_x) $(CACHE_SERVICE_PORT) $(LEVEL)'}
    - {name: LEVEL, value: 'ü😀 $$(LEVEL) $(HOST)'}
"
        ),
        "---
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {größe😀: x, LEVEL: info}
---
apiVersion: v1
kind: Service
metadata: {name: cache}
spec: {ports: [{port: 6379}]}
---
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: t}
objects:
- kind: ConfigMap
  apiVersion: v1
  metadata: {name: x}
  data: {größe😀: '${COLOUR}'}
parameters:
- {name: COLOUR, value: 'ü😀 blue'}
"
    );
    let places = [
        ("{name: HO¦ST,", "6379"),
        ("$(CACHE_SER¦VICE_PORT)", "6379"),
        ("{name: a¦pp}\n    env", "LEVEL"),
        ("$¦$(LEVEL)", "$(LEVEL)"),
        ("$(LEV¦EL)'}", "info"),
        ("größe😀: x, LEV¦EL", "info"),
        ("metadata: {name: ca¦che}", "CACHE_SERVICE_HOST"),
        ("ignore[collapsed-do¦llar]", "$$"),
        ("'${COL¦OUR}'", "blue"),
        ("{name: COL¦OUR", "blue"),
    ];
    for encoding in ENCODINGS {
        for fixture in [Fixture::new(TEXT), Fixture::with_crlf(TEXT)] {
            let mut client = Client::modern(&fixture, encoding);
            let text = fixture.text("all.yaml");
            for (marked, expected) in places {
                let marked = if text.contains('\r') { marked.replace('\n', "\r\n") } else { marked.to_owned() };
                let (before, after) = marked.split_once('¦').expect("a place is marked");
                let at = text.find(&format!("{before}{after}")).unwrap_or_else(|| panic!("`{marked}` is in the text"));
                let at = position(text, at + before.len(), encoding);
                let params = json!({"textDocument": {"uri": fixture.uri("all.yaml")}, "position": at});
                let hover = client.request("textDocument/hover", params);
                let text = hover["contents"]["value"].as_str().unwrap_or_else(|| panic!("{marked}: {hover}"));
                assert!(text.contains(expected), "{marked}: {text}");
            }
            let nothing =
                json!({"textDocument": {"uri": fixture.uri("all.yaml")}, "position": {"line": 0, "character": 1}});
            assert_eq!(client.request("textDocument/hover", nothing), Value::Null);
        }
    }
}

#[test]
fn hints_show_expanded_values() {
    everywhere("/$(LAT¦ER)", |client, fixture, encoding| {
        let all = json!({"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}});
        let params = json!({"textDocument": {"uri": fixture.uri("web.yaml")}, "range": all});
        let hints = client.request("textDocument/inlayHint", params);
        let hint = list(&hints).iter().find(|it| it["label"].as_str().is_some_and(|it| it.contains(":8080/")));
        let hint = hint.unwrap_or_else(|| panic!("the value of URL: {hints}"));
        let line = json!({"start": {"line": hint["position"]["line"], "character": 0}, "end": hint["position"]});
        let before = covered(fixture.text("web.yaml"), &line, encoding);
        assert!(before.contains("$(LATER)"), "{before}");
    });
}

#[test]
fn tokens_are_full_partial_or_a_difference() {
    everywhere("/$(LAT¦ER)", |client, fixture, encoding| {
        let uri = fixture.uri("web.yaml");
        let document = json!({"textDocument": {"uri": uri}});
        let full = client.request("textDocument/semanticTokens/full", document.clone());
        let words = words(fixture.text("web.yaml"), &full["data"], encoding);
        for word in ["HOST", "PORT", "LATER", "URL", "$("] {
            assert!(words.iter().any(|it| it == word), "{word}: {words:?}");
        }
        let first = json!({"start": {"line": 0, "character": 0}, "end": {"line": 10, "character": 0}});
        let part =
            client.request("textDocument/semanticTokens/range", json!({"textDocument": {"uri": uri}, "range": first}));
        assert!(list(&part["data"]).len() < list(&full["data"]).len());
        let mut delta = document;
        delta["previousResultId"] = full["resultId"].clone();
        assert_eq!(client.request("textDocument/semanticTokens/full/delta", delta.clone())["edits"], json!([]));
        let text = fixture.text("web.yaml").replace("$(HOST):", "");
        client.replace(&uri, 2, &text);
        let changed = client.request("textDocument/semanticTokens/full/delta", delta);
        let mut data = list(&full["data"]).clone();
        for edit in list(&changed["edits"]) {
            let number = |key: &str| usize::try_from(edit[key].as_u64().expect("a number")).expect("it fits");
            let new = edit["data"].as_array().cloned().unwrap_or_default();
            data.splice(number("start")..number("start") + number("deleteCount"), new);
        }
        let fresh = client.request("textDocument/semanticTokens/full", json!({"textDocument": {"uri": uri}}));
        assert_eq!(Value::Array(data), fresh["data"]);
        // A request with an old id gets all tokens.
        let unknown = json!({"textDocument": {"uri": uri}, "previousResultId": "long ago"});
        let whole = client.request("textDocument/semanticTokens/full/delta", unknown);
        assert_eq!((&whole["data"], whole.get("edits")), (&fresh["data"], None));
    });
}

/// The words of tokens.
fn words(text: &str, data: &Value, encoding: Encoding) -> Vec<String> {
    let (mut line, mut start) = (0, 0);
    let numbers: Vec<u64> = list(data).iter().filter_map(Value::as_u64).collect();
    let word = |token: &[u64]| {
        start = if token[0] == 0 { start + token[1] } else { token[1] };
        line += token[0];
        let range =
            json!({"start": {"line": line, "character": start}, "end": {"line": line, "character": start + token[2]}});
        covered(text, &range, encoding)
    };
    numbers.chunks(5).map(word).collect()
}

#[test]
fn lenses_open_the_environment() {
    everywhere("/$(LAT¦ER)", |client, fixture, encoding| {
        let uri = fixture.uri("web.yaml");
        let lenses = client.request("textDocument/codeLens", json!({"textDocument": {"uri": uri}}));
        let lens = client.request("codeLens/resolve", list(&lenses)[0].clone());
        assert_eq!(lens["command"]["command"], "podlens.showEnvironment", "{lens}");
        let arguments = list(&lens["command"]["arguments"]);
        assert_eq!(arguments[0], uri);
        let params = json!({"textDocument": {"uri": arguments[0]}, "position": arguments[1]});
        let view = client.request("podlens/environment", params.clone());
        assert_eq!(view["schema"], "podlens/env/v2");
        let container = &view["workloads"][0]["containers"][0];
        assert_eq!((&view["workloads"][0]["name"], &container["name"]), (&json!("web"), &json!("main")));
        let url = list(&container["env"]).iter().find(|it| it["name"] == "URL").expect("it is there");
        assert_eq!(url["value"], "😀é http://ü😀.example:8080/$(LATER)");
        // The same for editors that send only methods of the protocol.
        let command = json!({"command": "podlens.environment", "arguments": [params]});
        assert_eq!(client.request("workspace/executeCommand", command), view);
        let nowhere =
            json!({"textDocument": {"uri": fixture.uri("app.yaml")}, "position": {"line": 0, "character": 0}});
        assert_eq!(client.request("podlens/environment", nowhere), Value::Null);
        let params = json!({"textDocument": {"uri": uri}, "position": fixture.at_cursor(encoding)["position"], "kind": "render"});
        let preview = client.request("podlens/preview", params.clone());
        assert_eq!((&preview["uri"], &preview["kind"]), (&json!(uri), &json!("render")));
        assert!(preview["text"].as_str().is_some_and(|it| it.contains("ü😀.example:8080")), "{preview}");
        let command = json!({"command": "podlens.preview", "arguments": [params]});
        assert_eq!(client.request("workspace/executeCommand", command), preview);
    });
}

#[test]
fn files_and_the_workspace_have_symbols() {
    everywhere("/$(LAT¦ER)", |client, fixture, encoding| {
        let outline =
            client.request("textDocument/documentSymbol", json!({"textDocument": {"uri": fixture.uri("web.yaml")}}));
        let container = &outline[0]["children"][0];
        assert_eq!(container["name"], "main", "{outline}");
        let variables: Vec<&Value> = list(&container["children"]).iter().map(|it| &it["name"]).collect();
        assert_eq!(variables, ["HOST", "PORT", "URL", "LATER"]);
        let text = covered(fixture.text("web.yaml"), &container["children"][2]["selectionRange"], encoding);
        assert_eq!(text, "URL");
        let found = client.request("workspace/symbol", json!({"query": "other"}));
        assert!(list(&found).iter().any(|it| it["location"]["uri"] == fixture.uri("other.yaml")), "{found}");
    });
    let fixture = Fixture::new(SHOP);
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    client.open(&fixture.uri("web.yaml"), fixture.text("web.yaml"), 1);
    let flat = client.request("textDocument/documentSymbol", json!({"textDocument": {"uri": fixture.uri("web.yaml")}}));
    assert!(list(&flat).iter().any(|it| it["name"] == "URL" && it["containerName"] == "main"), "{flat}");
}

#[test]
fn links_open_objects() {
    everywhere("/$(LAT¦ER)", |client, fixture, encoding| {
        let links =
            client.request("textDocument/documentLink", json!({"textDocument": {"uri": fixture.uri("web.yaml")}}));
        let link = &list(&links)[0];
        assert_eq!(covered(fixture.text("web.yaml"), &link["range"], encoding), "app");
        let expected = format!("{}#L", fixture.uri("app.yaml"));
        assert!(link["target"].as_str().is_some_and(|it| it.starts_with(&expected)), "{link}");
    });
}
