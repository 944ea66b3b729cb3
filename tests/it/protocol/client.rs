//! A small editor: starts the server, answers its requests, and waits for its messages.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::fixture::Fixture;
use crate::message::receive_messages;

/// The time after which a test fails, longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// How a client is started.
pub(super) struct Setup {
    pub(super) arguments: Vec<String>,
    pub(super) hooks: String,
    pub(super) capabilities: Value,
    /// The answer to `workspace/configuration`.
    pub(super) configuration: Value,
    pub(super) initialize: Value,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            arguments: Vec::new(),
            hooks: String::new(),
            capabilities: modern(Encoding::Utf16),
            configuration: Value::Null,
            initialize: json!({}),
        }
    }
}

/// The capabilities of an editor that supports everything.
pub(super) fn modern(encoding: Encoding) -> Value {
    json!({
        "general": {"positionEncodings": [name(encoding)]},
        "window": {"workDoneProgress": true},
        "workspace": {
            "configuration": true,
            "workspaceFolders": true,
            "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]},
            "diagnostics": {"refreshSupport": true},
            "inlayHint": {"refreshSupport": true},
            "codeLens": {"refreshSupport": true},
            "semanticTokens": {"refreshSupport": true},
            "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true},
            "didChangeConfiguration": {"dynamicRegistration": true},
        },
        "textDocument": {
            "diagnostic": {"relatedDocumentSupport": true},
            "publishDiagnostics":
                {"relatedInformation": true, "tagSupport": {"valueSet": [1, 2]}, "dataSupport": true},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "completion": {"completionItem": {
                "documentationFormat": ["markdown"],
                "insertReplaceSupport": true,
                "resolveSupport": {"properties": ["documentation", "additionalTextEdits"]},
            }},
            "definition": {"linkSupport": true},
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}},
                "isPreferredSupport": true,
                "dataSupport": true,
                "resolveSupport": {"properties": ["edit"]},
            },
        },
    })
}

/// The capabilities of an editor that gets published diagnostics and supports little else.
pub(super) fn simple(encoding: Encoding) -> Value {
    json!({
        "general": {"positionEncodings": [name(encoding)]},
        "textDocument": {"publishDiagnostics": {"relatedInformation": true}},
    })
}

fn name(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Utf8 => "utf-8",
        Encoding::Utf16 => "utf-16",
        Encoding::Utf32 => "utf-32",
    }
}

/// An editor with a server.
pub(super) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    incoming: Receiver<(Value, Instant)>,
    next_id: i64,
    answers: BTreeMap<i64, Value>,
    /// Notifications and requests of the server, in order.
    pub(super) received: VecDeque<Value>,
    configuration: Value,
    /// Whether requests of the server are not answered.
    pub(super) is_silent: bool,
}

impl Client {
    /// Starts a server, without `initialize`.
    pub(super) fn start(setup: &Setup) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_podlens"))
            .arg("lsp")
            .args(&setup.arguments)
            .env("PODLENS_TEST_HOOKS", &setup.hooks)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let stdout = child.stdout.take().expect("it has an output");
        let incoming = receive_messages(stdout);
        let stdin = child.stdin.take();
        Self {
            child,
            stdin,
            incoming,
            next_id: 0,
            answers: BTreeMap::new(),
            received: VecDeque::new(),
            configuration: setup.configuration.clone(),
            is_silent: false,
        }
    }

    /// An editor that has opened the folder of a fixture.
    pub(super) fn of(fixture: &Fixture, setup: Setup) -> Self {
        let mut client = Self::start(&setup);
        let mut params = json!({
            "processId": std::process::id(),
            "rootUri": fixture.folder_uri(),
            "workspaceFolders": [{"uri": fixture.folder_uri(), "name": "w"}],
            "capabilities": setup.capabilities,
        });
        for (key, value) in setup.initialize.as_object().expect("an object") {
            params[key] = value.clone();
        }
        client.request("initialize", params);
        client.notify("initialized", json!({}));
        client
    }

    /// An editor that supports everything, with all files of a fixture open.
    pub(super) fn modern(fixture: &Fixture, encoding: Encoding) -> Self {
        let mut client = Self::of(fixture, Setup { capabilities: modern(encoding), ..Setup::default() });
        for (name, text) in &fixture.files {
            client.open(&fixture.uri(name), text, 1);
        }
        client.ready(fixture);
        client
    }

    /// Waits until the folder is read, with a request that waits for it.
    pub(super) fn ready(&mut self, fixture: &Fixture) {
        self.pull(&fixture.uri("podlens.yaml"));
    }

    // Sending

    /// Sends bytes as they are.
    pub(super) fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the server reads");
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns its id.
    pub(super) fn send_request(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(super) fn answer_to(&mut self, request: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Closes the server's input.
    pub(super) fn close_input(&mut self) {
        self.stdin = None;
    }

    // Receiving

    /// The whole answer to a request.
    pub(super) fn wait(&mut self, id: i64) -> Value {
        self.wait_until(|client| client.answers.remove(&id))
    }

    /// Whether a request has been answered.
    pub(super) fn has_answer(&mut self, id: i64) -> bool {
        while let Ok((message, _)) = self.incoming.try_recv() {
            self.receive(message);
        }
        self.answers.contains_key(&id)
    }

    /// Sends a request and waits for its result.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        let mut answer = self.wait(id);
        assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
        answer["result"].take()
    }

    /// Sends a request and waits for the code of its error.
    pub(super) fn request_error(&mut self, method: &str, params: Value) -> i64 {
        let id = self.send_request(method, params);
        let answer = self.wait(id);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method} is answered: {answer}"))
    }

    /// The next notification or request of a method. Messages before it are removed.
    pub(super) fn next_message(&mut self, method: &str) -> Value {
        self.wait_until(|client| {
            let at = client.received.iter().position(|it| it["method"] == method)?;
            client.received.drain(..=at).next_back()
        })
    }

    /// Receives messages until `found` returns something.
    pub(super) fn wait_until<T>(&mut self, mut found: impl FnMut(&mut Self) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(it) = found(self) {
                return it;
            }
            match self.incoming.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
                Ok((message, _)) => self.receive(message),
                Err(RecvTimeoutError::Timeout) => panic!("the server sends nothing; it has sent {:#?}", self.received),
                Err(RecvTimeoutError::Disconnected) => panic!("the server is gone; it has sent {:#?}", self.received),
            }
        }
    }

    fn receive(&mut self, message: Value) {
        match (message["id"].as_i64(), message.get("method")) {
            (Some(id), None) => drop(self.answers.insert(id, message)),
            (Some(_), Some(method)) => {
                if !self.is_silent {
                    let result = match method.as_str() {
                        Some("workspace/configuration") => json!([self.configuration]),
                        _ => Value::Null,
                    };
                    self.answer_to(&message, result);
                }
                self.received.push_back(message);
            }
            (None, _) => self.received.push_back(message),
        }
    }

    // Documents

    pub(super) fn open(&mut self, uri: &str, text: &str, version: i32) {
        let document = json!({"uri": uri, "languageId": "yaml", "version": version, "text": text});
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(super) fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let params = json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": changes});
        self.notify("textDocument/didChange", params);
    }

    /// Replaces the whole text of a document.
    pub(super) fn replace(&mut self, uri: &str, version: i32, text: &str) {
        self.change(uri, version, json!([{ "text": text }]));
    }

    pub(super) fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    }

    /// Requests diagnostics.
    pub(super) fn pull(&mut self, uri: &str) -> Value {
        self.request("textDocument/diagnostic", json!({"textDocument": {"uri": uri}}))
    }

    /// The rules of the findings in a document.
    pub(super) fn rules(&mut self, uri: &str) -> Vec<String> {
        codes(&self.pull(uri)["items"])
    }

    /// Waits for diagnostics of a version.
    pub(super) fn published(&mut self, uri: &str, version: i32) -> Value {
        loop {
            let mut heard = self.next_message("textDocument/publishDiagnostics");
            let params = heard["params"].take();
            if params["uri"] == uri && params["version"] == version {
                return params;
            }
        }
    }

    // The end

    /// Sends `shutdown` and `exit`, and returns the exit code.
    pub(super) fn shut_down(mut self) -> Option<i32> {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.exit_code()
    }

    /// Waits until the server has exited.
    pub(super) fn exit_code(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the server does not end");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The rules of some diagnostics.
pub(super) fn codes(items: &Value) -> Vec<String> {
    let items = items.as_array().unwrap_or_else(|| panic!("diagnostics are a list: {items}"));
    items.iter().map(|it| it["code"].as_str().expect("a rule").to_owned()).collect()
}
