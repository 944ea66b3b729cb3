//! Measures the response times of the language server: `cargo bench --bench protocol`, with `-- --quick` for fewer rounds.
//!
//! A keystroke is measured from sending `didChange` to receiving the diagnostics for its version, relative to a full parse
//! of the same text, and in a workspace of 5,000 files relative to one of 10. Budgets limit these ratios, since times depend
//! on the machine; each time is the best of several rounds. The exit code is 1 if a budget is exceeded. Limits in
//! milliseconds and megabytes are only printed. Requests are measured on an unchanged text, and directly after a keystroke,
//! as editors send them while the user types.
//!
//! The texts have no findings: the services of the large workspace are in different namespaces, and templates disable
//! service links. What findings cost is measured separately: keystrokes in texts with 400 findings, relative to the same
//! texts without.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "../tests/support/message.rs"]
mod message;
#[path = "engine/texts.rs"]
#[expect(dead_code, reason = "the engine benchmark uses more of the texts")]
mod texts;

use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use message::receive_messages;
use podlens::syntax;
use serde_json::{Value, json};

/// The time of a keystroke in a file of 1 MB, relative to a full parse. It does not apply to Helm templates: a keystroke
/// masks their actions again, which reads the whole text.
const EDIT_BUDGET: f64 = 1.0 / 20.0;
const HELM: &str = "Helm";

/// The time in the large workspace, relative to the small one.
const SCALE_BUDGET: f64 = 1.5;

/// The time of a keystroke in a file with findings, relative to the same file without.
const FINDINGS_BUDGET: f64 = 2.0;
const FINDINGS: usize = 400;

/// Differences below this are measurement noise.
const NOISE: Duration = Duration::from_micros(300);

/// Limits for responses, start-up and idle memory in megabytes; exceeding them is printed but not an error.
const RESPONSE: Duration = Duration::from_millis(5);
const START: Duration = Duration::from_millis(20);
const MEMORY: f64 = 15.0;

/// The number of applications per namespace.
const TEAM: usize = 10;

/// The first team without files in the workspace, so that completion offers the same in both workspaces.
const FIRST_UNUSED_TEAM: usize = 1_000;

const SIZES: [(&str, usize); 2] = [("100 KB", 100_000), ("1 MB", 1_000_000)];

const WORKSPACES: [usize; 2] = [10, 5000];

fn main() -> ExitCode {
    let is_quick = std::env::args().any(|it| it == "--quick");
    let rounds = if is_quick { 5 } else { 30 };
    let mut servers: Vec<Server> = Vec::new();
    for files in WORKSPACES {
        match Server::start(files) {
            Ok(server) => servers.push(server),
            Err(error) => {
                println!("cannot start the server on {files} files: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let [small, large] = &mut servers[..] else { return ExitCode::FAILURE };
    let started = small.started.min(large.started);
    println!(
        "{:<34}{:>12}   (limit {})",
        "start to response to `initialize`",
        milliseconds(started),
        milliseconds(START)
    );
    for (server, files) in [(&*small, "10"), (&*large, "5,000")] {
        if let Some(memory) = server.memory() {
            let title = format!("idle memory, {files} files");
            println!("{title:<34}{:>12}   (limit {MEMORY} MB for 10 files)", format!("{memory:.1} MB"));
        }
    }
    println!();
    let columns = ["full parse", "10 files", "5,000 files", "p99", "of parse", "scale"];
    println!("{:<40}{}", "", columns.map(|it| format!("{it:>12}")).concat());
    let mut exceeded = Vec::new();
    let mut slow = Vec::new();
    if started > START {
        slow.push(format!("start takes {}", milliseconds(started)));
    }
    if let Some(memory) = small.memory().filter(|it| *it > MEMORY) {
        slow.push(format!("idle memory is {memory:.1} MB"));
    }
    for (kind, make) in kinds() {
        for (size, bytes) in SIZES {
            let text = make(bytes);
            let parse = best(rounds, || _ = black_box(syntax::parse(black_box(&text))));
            let name = format!("{kind}, {size}");
            let documents = [small.open(&name, &text), large.open(&name, &text)];
            for action in Action::ALL {
                // Alternately, so that other load on the machine affects both.
                let mut times = [Vec::new(), Vec::new()];
                // The 99th percentile needs several hundred measurements.
                let rounds = if action.is_edit() { rounds } else { 10 * rounds };
                for _ in 0..rounds {
                    times[0].push(small.measure(&documents[0], action));
                    times[1].push(large.measure(&documents[1], action));
                }
                times.iter_mut().for_each(|it| it.sort());
                let [few, many] = [times[0][0], times[1][0]];
                let worst = times.iter().map(|it| it[it.len() * 99 / 100]).max().unwrap_or_default();
                let of_parse = few.as_secs_f64() / parse.as_secs_f64();
                let scale = many.as_secs_f64() / few.as_secs_f64();
                let title = format!("{name}: {}", action.name());
                let share = if of_parse < 1.0 { format!("1/{:.0}", 1.0 / of_parse) } else { format!("{of_parse:.1}") };
                let row = [
                    milliseconds(parse),
                    milliseconds(few),
                    milliseconds(many),
                    milliseconds(worst),
                    share,
                    format!("{scale:.2}"),
                ];
                println!("{title:<40}{}", row.map(|it| format!("{it:>12}")).concat());
                if !action.is_edit() && worst > RESPONSE {
                    slow.push(format!("{title}: 99th percentile is {}", milliseconds(worst)));
                }
                if action.is_edit() && bytes >= 1_000_000 && kind != HELM && of_parse > EDIT_BUDGET {
                    exceeded.push(format!("{name}: {} takes more than 1/20 of a full parse", action.name()));
                }
                if scale > SCALE_BUDGET && many > few + NOISE {
                    exceeded.push(format!(
                        "{name}: {} takes {scale:.1} times as long in the large workspace",
                        action.name()
                    ));
                }
            }
            small.close(&documents[0]);
            large.close(&documents[1]);
        }
    }
    match Server::start(WORKSPACES[0]) {
        Ok(mut server) => measure_findings(rounds, small, &mut server, &mut exceeded),
        Err(error) => exceeded.push(format!("cannot start a third server: {error}")),
    }
    for it in &slow {
        println!("over the limit: {it}");
    }
    for it in &exceeded {
        println!("budget exceeded: {it}");
    }
    if exceeded.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Measures keystrokes in a text with findings, relative to the same text without. Each text has its own server, so that
/// an edit of one does not check the other.
fn measure_findings(rounds: usize, without: &mut Server, with: &mut Server, exceeded: &mut Vec<String>) {
    let columns = ["none, median", "p99", "400, median", "p99", "ratio", "p99"];
    println!("\n{:<40}{}", "findings", columns.map(|it| format!("{it:>14}")).concat());
    for (kind, make) in kinds().into_iter().filter(|(kind, _)| *kind != HELM) {
        let text = make(1_000_000);
        let documents = [without.open(kind, &text), with.open(kind, &with_findings(&text))];
        assert_eq!([without.findings, with.findings], [0, FINDINGS], "findings of {kind}");
        for action in [Action::Type("7"), Action::Type("\n")] {
            let mut times = [Vec::new(), Vec::new()];
            // The 99th percentile needs several hundred measurements.
            for _ in 0..10 * rounds {
                times[0].push(without.measure(&documents[0], action));
                times[1].push(with.measure(&documents[1], action));
            }
            times.iter_mut().for_each(|it| it.sort());
            let [none, many] = times.map(|it| [it[it.len() / 2], it[it.len() * 99 / 100]]);
            let ratios = [0, 1].map(|at| many[at].as_secs_f64() / none[at].as_secs_f64());
            let title = format!("{kind}, 1 MB: {}", action.name());
            let row = [none[0], none[1], many[0], many[1]].map(milliseconds);
            let row = row.into_iter().chain(ratios.map(|it| format!("{it:.2}")));
            println!("{title:<40}{}", row.map(|it| format!("{it:>14}")).collect::<String>());
            for (name, at) in [("median", 0), ("99th percentile", 1)] {
                if ratios[at] > FINDINGS_BUDGET && many[at] > none[at] + NOISE {
                    exceeded.push(format!("{title}: the {name} is {:.1} times as long with findings", ratios[at]));
                }
            }
        }
        without.close(&documents[0]);
        with.close(&documents[1]);
    }
}

/// The text with a finding in each of 400 containers, which are distributed over the text: a variable that is
/// declared twice. Such a finding has a related place and a fix.
fn with_findings(text: &str) -> String {
    let (comment, entry) = ("# The order matters: PORT is before URL.", "- {name: PORT, value: '80'}");
    let containers = text.matches(comment).count();
    let mut parts = text.split(comment);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for (number, part) in parts.enumerate() {
        let is_chosen = (number + 1) * FINDINGS / containers > number * FINDINGS / containers;
        result += if is_chosen { entry } else { comment };
        result += part;
    }
    result
}

/// A kind of document, and a function that generates one of a given size.
type Kind = (&'static str, fn(usize) -> String);

fn kinds() -> [Kind; 4] {
    let deployment: fn(usize) -> String = |bytes| with_namespace(&texts::deployment(bytes), 0);
    let template: fn(usize) -> String = |bytes| {
        let text = texts::template(bytes);
        let pods = with_line(&text, "containers:", "enableServiceLinks: false");
        let parameters: String = (0..20).map(|number| format!("${{P{number}}}")).collect();
        with_line(&pods, "enableServiceLinks:", &format!("hostname: {parameters}"))
    };
    // A Helm template: every name contains an action.
    let chart: fn(usize) -> String = |bytes| many_documents(bytes).replace("name: app-", "name: {{ .Release.Name }}-");
    [("Deployment", deployment), ("Template", template), ("many documents", many_documents), (HELM, chart)]
}

fn many_documents(bytes: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes {
        text += &format!("---\n{}", with_namespace(&texts::manifest(number), FIRST_UNUSED_TEAM + number / TEAM));
        number += 1;
    }
    text
}

/// Adds the namespace of a team to the workloads and services of a text.
fn with_namespace(text: &str, team: usize) -> String {
    let named = with_line(text, "labels: {app:", &format!("namespace: team-{team}"));
    let lines = named.split_inclusive('\n').map(|line| {
        match line.strip_prefix("metadata: {").and_then(|it| it.strip_suffix("}\n")) {
            Some(name) => format!("metadata: {{{name}, namespace: team-{team}}}\n"),
            None => line.to_owned(),
        }
    });
    lines.collect()
}

/// Inserts the line `new` above each line that starts with `above`, with the same indentation.
fn with_line(text: &str, above: &str, new: &str) -> String {
    let mut result = String::with_capacity(text.len() * 11 / 10);
    for line in text.split_inclusive('\n') {
        let content = line.trim_start();
        if content.starts_with(above) {
            result += &line[..line.len() - content.len()];
            result += new;
            result.push('\n');
        }
        result += line;
    }
    result
}

/// An edit or a request of an editor.
#[derive(Clone, Copy, PartialEq)]
enum Action {
    /// Inserts a text at the cursor.
    Type(&'static str),
    /// Deletes the colon before the value at the cursor.
    DeleteColon,
    /// Sends a request at the reference after the cursor.
    Request(&'static str),
    /// Requests a hover at a position without one: the minimum time of a request on this machine.
    EmptyHover,
    /// Types a digit and sends a request without waiting for diagnostics.
    TypeAndRequest(&'static str),
}

impl Action {
    const ALL: [Self; 16] = [
        Self::Type("7"),
        Self::Type("\""),
        Self::Type("["),
        Self::Type("|"),
        Self::Type("\n"),
        Self::DeleteColon,
        Self::EmptyHover,
        Self::Request("hover"),
        Self::Request("completion"),
        Self::Request("definition"),
        Self::Request("references"),
        Self::Request("documentHighlight"),
        Self::Request("codeAction"),
        Self::TypeAndRequest("hover"),
        Self::TypeAndRequest("completion"),
        Self::TypeAndRequest("documentHighlight"),
    ];

    fn name(self) -> String {
        match self {
            Self::Type(text) => format!("{text:?}"),
            Self::DeleteColon => "deleted colon".to_owned(),
            Self::Request(method) => method.to_owned(),
            Self::EmptyHover => "empty hover".to_owned(),
            Self::TypeAndRequest(method) => format!("\"7\", {method}"),
        }
    }

    fn is_edit(self) -> bool {
        matches!(self, Self::Type(_) | Self::DeleteColon)
    }
}

/// An open document with a cursor in its middle, before a value with references.
struct Document {
    uri: String,
    line: u32,
    /// The first character of the value.
    value: u32,
}

/// The text before the cursor.
const FIELD: &str = "value: ";

struct Server {
    child: Child,
    stdin: ChildStdin,
    incoming: Receiver<(Value, Instant)>,
    folder: tempfile::TempDir,
    started: Duration,
    version: i32,
    next_id: i32,
    /// Whether the diagnostics of the last version arrived while waiting for another message.
    is_published: bool,
    /// When the last expected message arrived.
    arrival: Instant,
    /// The number of diagnostics in the last message with diagnostics.
    findings: usize,
}

impl Server {
    /// Starts a server on a workspace with `files` files, and waits until they are read.
    fn start(files: usize) -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("podlens.yaml"), "")?;
        for number in 0..files {
            fs::write(
                folder.path().join(format!("{number}.yaml")),
                with_namespace(&texts::manifest(100_000 + number), number / TEAM),
            )?;
        }
        let start = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_podlens"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(std::io::Error::other("the server has no pipes"));
        };
        let incoming = receive_messages(stdout);
        let mut server = Self {
            child,
            stdin,
            incoming,
            folder,
            started: Duration::ZERO,
            version: 0,
            next_id: 0,
            is_published: false,
            arrival: start,
            findings: 0,
        };
        let diagnostics = json!({"relatedInformation": true, "codeDescriptionSupport": true, "dataSupport": true});
        let capabilities = json!({
            "general": {"positionEncodings": ["utf-8"]},
            "textDocument": {"publishDiagnostics": diagnostics, "hover": {"contentFormat": ["markdown"]}},
        });
        let root = server.uri("x");
        let root = &root[..root.len() - 2];
        server.request("initialize", json!({"rootUri": root, "capabilities": capabilities}));
        server.started = start.elapsed();
        server.notify("initialized", json!({}));
        // Diagnostics are published after all files are read.
        let settings = server.uri("podlens.yaml");
        server.version += 1;
        let item = json!({"uri": settings, "languageId": "yaml", "version": server.version, "text": ""});
        server.notify("textDocument/didOpen", json!({ "textDocument": item }));
        server.wait_for_diagnostics();
        Ok(server)
    }

    fn uri(&self, name: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        let system = podlens::workspace::PathStyle::CURRENT;
        podlens::workspace::path_to_uri(path.to_str().unwrap_or_default(), system).unwrap_or_default()
    }

    /// The resident memory in megabytes; `None` on systems without `/proc`.
    fn memory(&self) -> Option<f64> {
        let status = fs::read_to_string(Path::new("/proc").join(self.child.id().to_string()).join("status")).ok()?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok().map(|it| it / 1000.0)
    }

    fn open(&mut self, name: &str, text: &str) -> Document {
        let uri = self.uri(&format!("{}.yaml", name.replace([' ', ','], "-")));
        self.version += 1;
        let item = json!({"uri": uri, "languageId": "yaml", "version": self.version, "text": text});
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
        self.wait_for_diagnostics();
        let cursor = text[text.len() / 2..].find(&format!("{FIELD}http://$(")).map_or(0, |it| it + text.len() / 2);
        let line = text[..cursor].bytes().filter(|it| *it == b'\n').count();
        let column = cursor - text[..cursor].rfind('\n').map_or(0, |it| it + 1) + FIELD.len();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Document { uri, line: count(line), value: count(column) }
    }

    fn close(&mut self, document: &Document) {
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": document.uri}}));
    }

    /// Performs an action and undoes it; returns the time of the action.
    fn measure(&mut self, document: &Document, action: Action) -> Duration {
        let Document { uri, line, value } = document;
        let at = |character: u32| json!({"line": line, "character": character});
        let (start, end, text) = match action {
            Action::Type(text) => (*value, *value, text),
            Action::DeleteColon => (value - 2, value - 1, ""),
            Action::Request(method) => return self.request_at_reference(document, method, 0, Instant::now()),
            Action::EmptyHover => {
                let begin = Instant::now();
                let start_of_file = json!({"line": 0, "character": 0});
                self.request("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": start_of_file}));
                return begin.elapsed();
            }
            Action::TypeAndRequest(method) => {
                let begin = Instant::now();
                self.edit(uri, json!({"start": at(*value), "end": at(*value)}), "7");
                let time = self.request_at_reference(document, method, 1, begin);
                self.wait_for_diagnostics();
                self.change(uri, json!({"start": at(*value), "end": at(value + 1)}), "");
                return time;
            }
        };
        let begin = Instant::now();
        self.change(uri, json!({"start": at(start), "end": at(end)}), text);
        let time = self.arrival - begin;
        // Removes the inserted text, or inserts the deleted colon.
        let undo = match (action, text) {
            (Action::DeleteColon, _) => (json!({"start": at(start), "end": at(start)}), ":"),
            (_, "\n") => (json!({"start": at(start), "end": {"line": line + 1, "character": 0}}), ""),
            _ => (json!({"start": at(start), "end": at(start + 1)}), ""),
        };
        self.change(uri, undo.0, undo.1);
        time
    }

    /// Sends a request at the reference after the cursor, shifted by `moved` characters; returns the time since `since`.
    fn request_at_reference(&mut self, document: &Document, method: &str, moved: u32, since: Instant) -> Duration {
        let here = json!({"line": document.line, "character": document.value + 9 + moved});
        let params = json!({
            "textDocument": {"uri": document.uri},
            "position": here,
            "range": {"start": here, "end": here},
            // The union of the contexts of completion, codeAction and references.
            "context": {"triggerKind": 1, "diagnostics": [], "includeDeclaration": true},
        });
        let answer = self.request(&format!("textDocument/{method}"), params);
        let time = since.elapsed();
        assert!(!answer.is_null(), "the result of {method} is null");
        time
    }

    /// Edits the text, and waits for the diagnostics of the new version.
    fn change(&mut self, uri: &str, range: Value, text: &str) {
        self.edit(uri, range, text);
        self.wait_for_diagnostics();
    }

    fn edit(&mut self, uri: &str, range: Value, text: &str) {
        self.version += 1;
        let document = json!({"uri": uri, "version": self.version});
        let params = json!({"textDocument": document, "contentChanges": [{"range": range, "text": text}]});
        self.notify("textDocument/didChange", params);
    }

    /// Waits for the diagnostics of the last version.
    fn wait_for_diagnostics(&mut self) {
        let version = self.version;
        if std::mem::take(&mut self.is_published) {
            return;
        }
        let message = self.wait(|it| is_published(it, version));
        self.findings = message["params"]["diagnostics"].as_array().map_or(0, Vec::len);
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.wait(|it| it["id"] == id && it.get("method").is_none())["result"].take()
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let written = write!(self.stdin, "Content-Length: {}\r\n\r\n{body}", body.len());
        written.and_then(|()| self.stdin.flush()).unwrap_or_else(|error| panic!("cannot write to the server: {error}"));
    }

    fn wait(&mut self, matches: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.incoming.recv_timeout(Duration::from_secs(120)) {
                Ok((message, arrival)) if matches(&message) => {
                    self.arrival = arrival;
                    return message;
                }
                Ok((message, _)) => self.is_published |= is_published(&message, self.version),
                Err(error) => panic!("no message from the server: {error}"),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a message contains the diagnostics of a version.
fn is_published(message: &Value, version: i32) -> bool {
    message["method"] == "textDocument/publishDiagnostics" && message["params"]["version"] == version
}

/// The shortest time of several rounds.
fn best(rounds: usize, mut run: impl FnMut()) -> Duration {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}
