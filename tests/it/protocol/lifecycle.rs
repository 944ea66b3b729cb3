//! From `initialize` to `exit`: capabilities, folders, progress, and exit codes.

use std::io::Write;
use std::process::{Command, Stdio};

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, modern, simple};
use super::{Client, Fixture};
use crate::manifest::pod;

const POD: &str = pod!(
    "#- pod.yaml\napiVersion: v1\n",
    "web",
    "    env:
    - name: A
      value: $(B)
    - name: B
      value: b
"
);

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
fn the_server_offers_its_features_and_no_others() {
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
    // Another server does that for YAML.
    for absent in ["documentFormattingProvider", "foldingRangeProvider", "documentRangeFormattingProvider"] {
        assert_eq!(capabilities.get(absent), None);
    }
    // A client that does not request diagnostics gets no provider for them.
    let mut client = Client::start(&Setup::default());
    let result = client.request("initialize", json!({"capabilities": simple(Encoding::Utf8)}));
    assert_eq!(result["capabilities"].get("diagnosticProvider"), None);
}

#[test]
fn a_client_with_unreadable_capabilities_is_served() {
    let mut client = Client::start(&Setup::default());
    let odd = json!({"textDocument": {"semanticTokens": {"requests": {"range": {}}}}, "general": {"positionEncodings": ["utf-8"]}});
    let result = client.request("initialize", json!({"capabilities": odd}));
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-8", "readable capabilities are used");
}

#[test]
fn requests_outside_the_lifecycle_are_refused() {
    let mut client = Client::start(&Setup::default());
    let hover = json!({"textDocument": {"uri": "file:///x"}, "position": {"line": 0, "character": 0}});
    assert_eq!(client.request_error("textDocument/hover", hover.clone()), -32002, "before `initialize`");
    client.notify("textDocument/didOpen", json!({}));
    client.request("initialize", json!({"capabilities": {}}));
    assert_eq!(client.request_error("initialize", json!({"capabilities": {}})), -32600, "twice");
    client.notify("initialized", json!({}));
    assert_eq!(client.request("textDocument/hover", hover.clone()), Value::Null);
    client.request("shutdown", Value::Null);
    assert_eq!(client.request_error("textDocument/hover", hover), -32600, "after `shutdown`");
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), Some(0));
}

#[test]
fn the_exit_code_depends_on_shutdown() {
    let fixture = Fixture::new(POD);
    assert_eq!(Client::modern(&fixture, Encoding::Utf16).shut_down(), Some(0));
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), Some(1), "without `shutdown`");
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    client.close_input();
    assert_eq!(client.exit_code(), Some(1), "the input is closed");
    let mut client = Client::modern(&fixture, Encoding::Utf16);
    client.send_raw(b"Content-Length: 500\r\n\r\n{\"jsonrpc\": ");
    client.close_input();
    assert_eq!(client.exit_code(), Some(1), "the input is closed in the middle of a message");
}

#[test]
fn parameters_of_methods_without_parameters_are_ignored() {
    let fixture = Fixture::new(POD);
    for params in [json!({}), json!([]), json!(null), json!({"why": "because"}), json!([7])] {
        let mut client = Client::modern(&fixture, Encoding::Utf16);
        assert_eq!(client.request("shutdown", params.clone()), Value::Null, "{params}");
        client.notify("exit", params);
        assert_eq!(client.exit_code(), Some(0));
    }
    // `initialized` has no parameters either, and diagnostics wait for it.
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
fn the_server_ends_if_the_client_does_not_read() {
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
    // The output is open and not read, and the server ends.
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
fn indexing_has_progress_that_can_be_cancelled() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(&fixture, Setup::default());
    let token = client.next_message("window/workDoneProgress/create")["params"]["token"].clone();
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|it| it != "end") {
        let progress = client.next_message("$/progress");
        assert_eq!(progress["params"]["token"], token);
        kinds.push(progress["params"]["value"]["kind"].as_str().expect("a kind").to_owned());
    }
    assert_eq!(kinds.first().map(String::as_str), Some("begin"));
    // The server continues, whether the cancellation came in time or not.
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
    assert_eq!(client.rules(&fixture.uri("pod.yaml")), ["forward-reference"]);
}

#[test]
fn indexing_a_large_folder_can_be_cancelled() {
    let fixture = Fixture::new(POD);
    for index in 0..3000 {
        fixture.write(
            &format!("many/{index}.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n",
        );
    }
    let mut client = Client::of(&fixture, Setup::default());
    let token = client.next_message("window/workDoneProgress/create")["params"]["token"].clone();
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    let end = client.wait_until(|client| {
        let is_end = |it: &Value| it["method"] == "$/progress" && it["params"]["value"]["kind"] == "end";
        client.received.iter().find(|it| is_end(it)).cloned()
    });
    assert_eq!(end["params"]["token"], token);
    client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
    assert_eq!(client.rules(&fixture.uri("pod.yaml")), ["forward-reference"]);
    assert_eq!(client.shut_down(), Some(0));
}

#[test]
fn folders_are_added_and_removed() {
    let pod = "kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    env:\n    - name: A\n      valueFrom: {configMapKeyRef: {name: app, key: nope}}\n";
    let one = Fixture::new(&format!("#- pod.yaml\n{pod}"));
    let two = Fixture::new("#- config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {key: x}\n");
    let uri = one.uri("pod.yaml");
    let mut client = Client::of(&one, Setup::default());
    client.open(&uri, one.text("pod.yaml"), 1);
    assert_eq!(client.rules(&uri), [""; 0], "the config map may exist elsewhere");
    one.write("config.yaml", two.text("config.yaml"));
    let folder = |fixture: &Fixture| json!([{"uri": fixture.folder_uri(), "name": "x"}]);
    // The config map in a folder of another project is not used.
    let event = json!({"event": {"added": folder(&two), "removed": []}});
    client.notify("workspace/didChangeWorkspaceFolders", event);
    assert_eq!(client.rules(&uri), ["missing-key"], "the folder is read again, with the new file");
    let event = json!({"event": {"added": [], "removed": folder(&one)}});
    client.notify("workspace/didChangeWorkspaceFolders", event);
    // The file is not in a folder any more, but in the same project.
    assert_eq!(client.rules(&uri), ["missing-key"]);
    assert_eq!(client.shut_down(), Some(0));
}

#[test]
fn each_folder_is_a_project() {
    let pod = "kind: Pod\napiVersion: v1\nmetadata: {name: NAME}\nspec:\n  containers:\n  - name: c\n    env:\n    - name: A\n      valueFrom: {configMapKeyRef: {name: app, key: nope}}\n";
    let config = "#- config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {key: x}\n";
    let one = Fixture::new(&format!("#- pod.yaml\n{}{config}", pod.replace("NAME", "one")));
    let two = Fixture::new(&format!("#- pod.yaml\n{}", pod.replace("NAME", "two")));
    let folders = json!([{"uri": one.folder_uri(), "name": "1"}, {"uri": two.folder_uri(), "name": "2"}]);
    let mut client = Client::of(&one, Setup { initialize: json!({"workspaceFolders": folders}), ..Setup::default() });
    for (fixture, expected) in [(&one, &["missing-key"][..]), (&two, &[])] {
        client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
        assert_eq!(client.rules(&fixture.uri("pod.yaml")), expected, "a config map is used in its project only");
    }
    let found = client.request("workspace/symbol", json!({"query": ""})).to_string();
    assert!(found.contains(&one.folder_uri()) && found.contains(&two.folder_uri()), "{found}");
    // Removed folders are not watched any more.
    client.received.clear();
    let removed = json!({"event": {"added": [], "removed": [{"uri": two.folder_uri(), "name": "2"}]}});
    client.close(&two.uri("pod.yaml"));
    client.notify("workspace/didChangeWorkspaceFolders", removed);
    assert_eq!(
        client.next_message("client/unregisterCapability")["params"]["unregisterations"][0]["id"],
        "podlens-watch"
    );
    let watch = client.next_message("client/registerCapability")["params"]["registrations"][0].to_string();
    assert!(watch.contains(&one.folder_uri()) && !watch.contains(&two.folder_uri()), "{watch}");
    client.ready(&one);
    let found = client.request("workspace/symbol", json!({"query": ""})).to_string();
    assert!(found.contains(&one.folder_uri()) && !found.contains(&two.folder_uri()), "{found}");
}

#[test]
fn files_outside_the_folders_belong_to_their_project() {
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
fn documents_without_a_file_are_supported() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(&fixture, Setup::default());
    for uri in ["untitled:Untitled-1", "git:/x/pod.yaml?ref", "vscode-notebook-cell:/a/b#c", "inmemory://model/1"] {
        client.open(uri, fixture.text("pod.yaml"), 1);
        assert_eq!(client.rules(uri), ["forward-reference"], "{uri}");
        // Locations have the URI of the document.
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
fn the_log_contains_requests_but_no_text_of_documents() {
    let fixture = Fixture::new(&POD.replace("value: b", "value: geheim"));
    let log = fixture.path("podlens.log");
    let arguments = vec!["--log".into(), log.to_str().expect("UTF-8").into()];
    let mut client =
        Client::of(&fixture, Setup { arguments, hooks: "panic=textDocument/hover".into(), ..Setup::default() });
    client.notify("$/setTrace", json!({"value": "verbose"}));
    client.open(&fixture.uri("pod.yaml"), fixture.text("pod.yaml"), 1);
    client.pull(&fixture.uri("pod.yaml"));
    let trace = client.next_message("$/logTrace");
    assert!(trace["params"]["message"].as_str().is_some_and(|it| it.starts_with("textDocument/diagnostic: answered")));
    assert!(trace["params"]["verbose"].is_string());
    client.notify("$/setTrace", json!({"value": "messages"}));
    client.pull(&fixture.uri("pod.yaml"));
    assert_eq!(client.next_message("$/logTrace")["params"].get("verbose"), None);
    client.notify("$/setTrace", json!({"value": "off"}));
    client.pull(&fixture.uri("pod.yaml"));
    assert!(client.received.iter().all(|it| it["method"] != "$/logTrace"), "{:?}", client.received);
    let at = json!({"textDocument": {"uri": fixture.uri("pod.yaml")}, "position": {"line": 8, "character": 14}});
    assert_eq!(client.request_error("textDocument/hover", at), -32603);
    assert_eq!(client.shut_down(), Some(0));
    let text = std::fs::read_to_string(log).expect("a log");
    for expected in
        [" started", "read 2 manifests", "textDocument/diagnostic: answered", "internal error at", "shutdown"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("geheim") && !text.contains("requested by a test hook"), "{text}");
}
