//! From `initialize` to `exit`: what is agreed on, what is read, and how it ends.

use std::io::Write;
use std::process::{Command, Stdio};

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, modern, simple};
use super::{Client, Fixture};

const POD: &str = "#- pod.yaml
kind: Pod
apiVersion: v1
metadata: {name: web}
spec:
  containers:
  - name: main
    env:
    - name: A
      value: $(B)
    - name: B
      value: b
";

#[test]
fn the_encoding_is_negotiated() {
    for (offered, chosen) in [
        (json!(["utf-16", "utf-32", "utf-8"]), "utf-8"),
        (json!(["utf-16", "utf-32"]), "utf-32"),
        (json!(["utf-16"]), "utf-16"),
        (json!(["ebcdic"]), "utf-16"),
        (json!([]), "utf-16"),
        (Value::Null, "utf-16"),
    ] {
        let mut client = Client::start(&Setup::default());
        let capabilities = json!({"general": {"positionEncodings": offered}});
        let result = client.request("initialize", json!({"processId": null, "capabilities": capabilities}));
        assert_eq!(result["capabilities"]["positionEncoding"], chosen, "{offered}");
        assert_eq!(result["serverInfo"]["name"], "podlens");
    }
}

#[test]
fn the_server_offers_what_it_has_and_nothing_else() {
    let mut client = Client::start(&Setup::default());
    let result = client.request("initialize", json!({"capabilities": modern(Encoding::Utf8)}));
    let capabilities = &result["capabilities"];
    for (feature, value) in [
        ("/textDocumentSync/change", json!(2)),
        ("/hoverProvider", json!(true)),
        ("/completionProvider/resolveProvider", json!(true)),
        ("/renameProvider/prepareProvider", json!(true)),
        ("/semanticTokensProvider/full/delta", json!(true)),
        ("/semanticTokensProvider/range", json!(true)),
        ("/diagnosticProvider/interFileDependencies", json!(true)),
        ("/diagnosticProvider/workspaceDiagnostics", json!(true)),
        ("/executeCommandProvider/commands", json!(["podlens.environment", "podlens.preview"])),
        ("/workspace/workspaceFolders/supported", json!(true)),
    ] {
        assert_eq!(capabilities.pointer(feature), Some(&value), "{feature}");
    }
    // Another server looks after the YAML itself.
    for absent in ["documentFormattingProvider", "foldingRangeProvider", "documentRangeFormattingProvider"] {
        assert_eq!(capabilities.get(absent), None);
    }
    // A client that is told its diagnostics is not asked to pull them.
    let mut client = Client::start(&Setup::default());
    let result = client.request("initialize", json!({"capabilities": simple(Encoding::Utf8)}));
    assert_eq!(result["capabilities"].get("diagnosticProvider"), None);
}

#[test]
fn capabilities_that_make_no_sense_do_not_keep_a_client_out() {
    let mut client = Client::start(&Setup::default());
    let odd = json!({"textDocument": {"semanticTokens": {"requests": {"range": {}}}}, "general": {"positionEncodings": ["utf-8"]}});
    let result = client.request("initialize", json!({"capabilities": odd}));
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-8", "what can be read counts");
}

#[test]
fn requests_wait_for_their_time() {
    let mut client = Client::start(&Setup::default());
    let hover = json!({"textDocument": {"uri": "file:///x"}, "position": {"line": 0, "character": 0}});
    assert_eq!(client.refused("textDocument/hover", hover.clone()), -32002, "before `initialize`");
    client.notify("textDocument/didOpen", json!({}));
    client.request("initialize", json!({"capabilities": {}}));
    assert_eq!(client.refused("initialize", json!({"capabilities": {}})), -32600, "twice");
    client.notify("initialized", json!({}));
    assert_eq!(client.request("textDocument/hover", hover.clone()), Value::Null);
    client.request("shutdown", Value::Null);
    assert_eq!(client.refused("textDocument/hover", hover), -32600, "after `shutdown`");
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), Some(0));
}

#[test]
fn the_end_tells_how_it_came() {
    let fixture = Fixture::new(POD);
    assert_eq!(Client::modern(&fixture, Encoding::Utf16).shut_down(), Some(0));
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), Some(1), "without `shutdown`");
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    client.hang_up();
    assert_eq!(client.exit_code(), Some(1), "the input is closed");
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    client.send_raw(b"Content-Length: 500\r\n\r\n{\"jsonrpc\": ");
    client.hang_up();
    assert_eq!(client.exit_code(), Some(1), "the input is closed in the middle of a message");
}

#[test]
fn what_a_method_without_parameters_is_given_is_nothing() {
    let fixture = Fixture::new(POD);
    for params in [json!({}), json!([]), json!(null), json!({"why": "because"}), json!([7])] {
        let mut client = Client::modern(&fixture, Encoding::Utf16);
        assert_eq!(client.request("shutdown", params.clone()), Value::Null, "{params}");
        client.notify("exit", params);
        assert_eq!(client.exit_code(), Some(0));
    }
    // `initialized` has nothing to say either, and everything waits for it.
    for initialized in [
        json!({"jsonrpc": "2.0", "method": "initialized"}),
        json!({"jsonrpc": "2.0", "method": "initialized", "params": null}),
    ] {
        let mut client = Client::start(&Setup::default());
        client.request("initialize", json!({"rootUri": fixture.folder_uri(), "capabilities": modern(Encoding::Utf16)}));
        let body = initialized.to_string();
        client.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
        assert_eq!(client.rules(&fixture.uri("pod.yaml")), ["forward-reference"], "{initialized}");
    }
}

#[test]
fn a_client_that_does_not_read_is_not_waited_for() {
    let fixture = Fixture::new(POD);
    let mut server = Command::new(env!("CARGO_BIN_EXE_podlens"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let mut input = server.stdin.take().expect("it has an input");
    let mut send = |body: Value| {
        let body = body.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
    };
    send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}}));
    let (uri, text) = (fixture.uri("pod.yaml"), fixture.text("pod.yaml"));
    let item = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
    send(json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}));
    // Far more answers than a pipe holds.
    for id in 1..2000 {
        let params = json!({"textDocument": {"uri": uri}});
        send(json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/documentSymbol", "params": params}));
    }
    drop(input);
    // Its output stays open and unread: it ends all the same.
    let output = server.stdout.take();
    let status = server.wait().expect("it is our child");
    assert_eq!(status.code(), Some(1));
    drop(output);
}

#[test]
fn the_server_ends_with_its_client() {
    for by_flag in [false, true] {
        let mut editor = Command::new(env!("CARGO_BIN_EXE_podlens"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a process that waits");
        let mut setup = Setup::default();
        let mut process = json!(editor.id());
        if by_flag {
            setup.arguments = vec!["--stdio".into(), format!("--clientProcessId={}", editor.id())];
            process = Value::Null;
        }
        let mut client = Client::start(&setup);
        client.request("initialize", json!({"processId": process, "capabilities": {}}));
        client.notify("initialized", json!({}));
        editor.kill().expect("it is our child");
        editor.wait().expect("it is our child");
        assert_eq!(client.exit_code(), Some(1), "by flag: {by_flag}");
    }
}

#[test]
fn reading_a_folder_is_shown_and_can_be_stopped() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(&fixture, Setup::default());
    let token = client.heard("window/workDoneProgress/create")["params"]["token"].clone();
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|it| it != "end") {
        let progress = client.heard("$/progress");
        assert_eq!(progress["params"]["token"], token);
        kinds.push(progress["params"]["value"]["kind"].as_str().expect("a kind").to_owned());
    }
    assert_eq!(kinds.first().map(String::as_str), Some("begin"));
    // Stopped in time or not: the server goes on.
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
    assert_eq!(client.rules(&fixture.uri("pod.yaml")), ["forward-reference"]);
}

#[test]
fn a_large_folder_can_be_stopped_in_the_middle() {
    let fixture = Fixture::new(POD);
    for index in 0..3000 {
        fixture.write(
            &format!("many/{index}.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n",
        );
    }
    let mut client = Client::of(&fixture, Setup::default());
    let token = client.heard("window/workDoneProgress/create")["params"]["token"].clone();
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    let end = client.wait_until(|client| {
        let is_end = |it: &Value| it["method"] == "$/progress" && it["params"]["value"]["kind"] == "end";
        client.said.iter().find(|it| is_end(it)).cloned()
    });
    assert_eq!(end["params"]["token"], token);
    client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
    assert_eq!(client.rules(&fixture.uri("pod.yaml")), ["forward-reference"]);
    assert_eq!(client.shut_down(), Some(0));
}

#[test]
fn folders_come_and_go() {
    let pod = "kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    env:\n    - name: A\n      valueFrom: {configMapKeyRef: {name: app, key: nope}}\n";
    let one = Fixture::new(&format!("#- pod.yaml\n{pod}"));
    let two = Fixture::new("#- config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {key: x}\n");
    let uri = one.uri("pod.yaml");
    let mut client = Client::of(&one, Setup::default());
    client.open(&uri, one.text("pod.yaml"), 1);
    assert_eq!(client.rules(&uri), [""; 0], "the config map may exist elsewhere");
    one.write("config.yaml", two.text("config.yaml"));
    let folder = |fixture: &Fixture| json!([{"uri": fixture.folder_uri(), "name": "x"}]);
    // A folder of another project means nothing here.
    let event = json!({"event": {"added": folder(&two), "removed": []}});
    client.notify("workspace/didChangeWorkspaceFolders", event);
    assert_eq!(client.rules(&uri), ["missing-key"], "the folder is read again, with what came since");
    let event = json!({"event": {"added": [], "removed": folder(&one)}});
    client.notify("workspace/didChangeWorkspaceFolders", event);
    // The file is in no folder any more, but its project is still around it.
    assert_eq!(client.rules(&uri), ["missing-key"]);
    assert_eq!(client.shut_down(), Some(0));
}

#[test]
fn several_folders_are_several_projects() {
    let pod = "kind: Pod\napiVersion: v1\nmetadata: {name: NAME}\nspec:\n  containers:\n  - name: c\n    env:\n    - name: A\n      valueFrom: {configMapKeyRef: {name: app, key: nope}}\n";
    let config = "#- config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {key: x}\n";
    let one = Fixture::new(&format!("#- pod.yaml\n{}{config}", pod.replace("NAME", "one")));
    let two = Fixture::new(&format!("#- pod.yaml\n{}", pod.replace("NAME", "two")));
    let folders = json!([{"uri": one.folder_uri(), "name": "1"}, {"uri": two.folder_uri(), "name": "2"}]);
    let mut client = Client::of(&one, Setup { initialize: json!({"workspaceFolders": folders}), ..Setup::default() });
    for (fixture, expected) in [(&one, &["missing-key"][..]), (&two, &[])] {
        client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
        assert_eq!(client.rules(&fixture.uri("pod.yaml")), expected, "a config map of one is nothing to the other");
    }
    let found = client.request("workspace/symbol", json!({"query": ""})).to_string();
    assert!(found.contains(&one.folder_uri()) && found.contains(&two.folder_uri()), "{found}");
    // Files that are in no folder any more are watched no more.
    client.said.clear();
    let removed = json!({"event": {"added": [], "removed": [{"uri": two.folder_uri(), "name": "2"}]}});
    client.close(&two.uri("pod.yaml"));
    client.notify("workspace/didChangeWorkspaceFolders", removed);
    assert_eq!(client.heard("client/unregisterCapability")["params"]["unregisterations"][0]["id"], "podlens-watch");
    let watch = client.heard("client/registerCapability")["params"]["registrations"][0].to_string();
    assert!(watch.contains(&one.folder_uri()) && !watch.contains(&two.folder_uri()), "{watch}");
    client.ready(&one);
    let found = client.request("workspace/symbol", json!({"query": ""})).to_string();
    assert!(found.contains(&one.folder_uri()) && !found.contains(&two.folder_uri()), "{found}");
}

#[test]
fn files_of_no_folder_belong_to_their_project() {
    let project = Fixture::new(
        "#- deploy/pod.yaml\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    env:\n    - name: A\n      valueFrom: {configMapKeyRef: {name: app, key: nope}}\n#- config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {key: x}\n",
    );
    let mut client = Client::start(&Setup::default());
    client.request("initialize", json!({"capabilities": modern(Encoding::Utf16)}));
    client.notify("initialized", json!({}));
    let uri = project.uri("deploy/pod.yaml");
    client.open(&uri, project.text("deploy/pod.yaml"), 1);
    assert_eq!(client.rules(&uri), ["missing-key"]);
}

#[test]
fn documents_need_no_file() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(&fixture, Setup::default());
    for uri in ["untitled:Untitled-1", "git:/x/pod.yaml?ref", "vscode-notebook-cell:/a/b#c", "inmemory://model/1"] {
        client.open(uri, fixture.text("pod.yaml"), 1);
        assert_eq!(client.rules(uri), ["forward-reference"], "{uri}");
        // What leads elsewhere leads back to the document as it is called.
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": 8, "character": 15}});
        assert!(client.request("textDocument/hover", at.clone())["contents"]["value"].is_string(), "{uri}");
        let links = client.request("textDocument/definition", at.clone());
        assert_eq!(links[0]["targetUri"], *uri, "{links}");
        let mut rename = at;
        rename["newName"] = json!("C");
        let edit = client.request("textDocument/rename", rename);
        assert_eq!(edit["documentChanges"][0]["textDocument"], json!({"uri": uri, "version": 1}));
        client.close(uri);
    }
}

#[test]
fn a_log_tells_what_was_done_but_not_to_what() {
    let fixture = Fixture::new(&POD.replace("value: b", "value: geheim"));
    let log = fixture.path("podlens.log");
    let arguments = vec!["--log".into(), log.to_str().expect("UTF-8").into()];
    let mut client =
        Client::of(&fixture, Setup { arguments, hooks: "panic=textDocument/hover".into(), ..Setup::default() });
    client.notify("$/setTrace", json!({"value": "verbose"}));
    client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
    client.pull(&fixture.uri("pod.yaml"));
    let trace = client.heard("$/logTrace");
    assert!(trace["params"]["message"].as_str().is_some_and(|it| it.starts_with("textDocument/diagnostic: answered")));
    assert!(trace["params"]["verbose"].is_string());
    client.notify("$/setTrace", json!({"value": "messages"}));
    client.pull(&fixture.uri("pod.yaml"));
    assert_eq!(client.heard("$/logTrace")["params"].get("verbose"), None);
    client.notify("$/setTrace", json!({"value": "off"}));
    client.pull(&fixture.uri("pod.yaml"));
    assert!(client.said.iter().all(|it| it["method"] != "$/logTrace"), "{:?}", client.said);
    let at = json!({"textDocument": {"uri": fixture.uri("pod.yaml")}, "position": {"line": 8, "character": 14}});
    assert_eq!(client.refused("textDocument/hover", at), -32603);
    assert_eq!(client.shut_down(), Some(0));
    let text = std::fs::read_to_string(log).expect("a log");
    for expected in
        [" started", "read 2 manifests", "textDocument/diagnostic: answered", "internal error at", "shutdown"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("geheim") && !text.contains("requested by a test hook"), "{text}");
}
