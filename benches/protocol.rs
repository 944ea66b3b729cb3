//! How fast the server answers, over the wire: `cargo bench --bench protocol`, with `-- --quick` for a look.
//!
//! A keystroke is measured from the bytes of `didChange` to those of the diagnostics for its version, beside a full parse
//! of the same text in the same run; and in a workspace of 5,000 files beside one of 10. Budgets are those ratios, the
//! best of several rounds each, since times differ from machine to machine; the exit code is 1 when one is broken. What
//! has a budget in milliseconds or megabytes is printed beside it, as a word for people. Questions are asked of a text
//! that rests, and right behind a keystroke, as editors ask while someone types.
//!
//! Texts are as their authors would have them, without findings: the services of the large workspace are spread over
//! namespaces, and templates switch links off. A finding costs its way over the wire, which is not what is measured.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "engine/texts.rs"]
#[expect(dead_code, reason = "the engine's benchmark measures with more texts")]
mod texts;

use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use podlens::syntax;
use serde_json::{Value, json};

/// A keystroke beside the parse of the whole file, where the file is large. Helm templates are shown without: a keystroke
/// masks their actions anew, which is a pass over the whole text.
const EDIT_BUDGET: f64 = 1.0 / 20.0;
const HELM: &str = "Helm";

/// An answer in a large workspace beside one in a small one.
const SCALE_BUDGET: f64 = 1.5;

/// What the machine does meanwhile: differences below this are no differences.
const NOISE: Duration = Duration::from_micros(300);

/// Answers to questions, start-up and idle memory; for orientation.
const ANSWER: Duration = Duration::from_millis(5);
const START: Duration = Duration::from_millis(20);
const MEMORY: f64 = 15.0;

/// How many applications share a namespace.
const TEAM: usize = 10;

/// Teams that no file of the workspace belongs to: what is offered is the same in both.
const ELSEWHERE: usize = 1_000;

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
                println!("the workspace of {files} files: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let [small, large] = &mut servers[..] else { return ExitCode::FAILURE };
    let started = small.started.min(large.started);
    println!("{:<34}{:>12}   (budget {})", "start to `initialize` answered", shown(started), shown(START));
    for (server, files) in [(&*small, "10"), (&*large, "5,000")] {
        if let Some(memory) = server.memory() {
            let title = format!("idle memory, {files} files");
            println!("{title:<34}{:>12}   (budget {MEMORY} MB, of 10 files)", format!("{memory:.1} MB"));
        }
    }
    println!();
    let columns = ["full parse", "10 files", "5,000 files", "p99", "of parse", "scale"];
    println!("{:<40}{}", "", columns.map(|it| format!("{it:>12}")).concat());
    let mut broken = Vec::new();
    let mut slow = Vec::new();
    if started > START {
        slow.push(format!("it starts within {}", shown(started)));
    }
    if let Some(memory) = small.memory().filter(|it| *it > MEMORY) {
        slow.push(format!("it takes {memory:.1} MB to wait"));
    }
    for (kind, make) in kinds() {
        for (size, bytes) in SIZES {
            let text = make(bytes);
            let parse = best(rounds, || _ = black_box(syntax::parse(black_box(&text))));
            let name = format!("{kind}, {size}");
            let documents = [small.open(&name, &text), large.open(&name, &text)];
            for action in Action::ALL {
                // In turns, so that what the machine does meanwhile is done to both.
                let mut times = [Vec::new(), Vec::new()];
                // One in a hundred is told by several hundred.
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
                let row = [shown(parse), shown(few), shown(many), shown(worst), share, format!("{scale:.2}")];
                println!("{title:<40}{}", row.map(|it| format!("{it:>12}")).concat());
                if !action.is_edit() && worst > ANSWER {
                    slow.push(format!("{title}: one in a hundred takes {}", shown(worst)));
                }
                if action.is_edit() && bytes >= 1_000_000 && kind != HELM && of_parse > EDIT_BUDGET {
                    broken.push(format!("{name}: {} costs more than 1/20 of a parse", action.name()));
                }
                if scale > SCALE_BUDGET && many > few + NOISE {
                    broken.push(format!("{name}: {} costs {scale:.1} times as much among many files", action.name()));
                }
            }
            small.close(&documents[0]);
            large.close(&documents[1]);
        }
    }
    for it in &slow {
        println!("slower than wished: {it}");
    }
    for it in &broken {
        println!("over budget: {it}");
    }
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A kind of document, and how one of a size is made.
type Kind = (&'static str, fn(usize) -> String);

fn kinds() -> [Kind; 4] {
    let deployment: fn(usize) -> String = |bytes| of_team(&texts::deployment(bytes), 0);
    let template: fn(usize) -> String = |bytes| {
        let text = texts::template(bytes);
        let pods = with_line(&text, "containers:", "enableServiceLinks: false");
        let parameters: String = (0..20).map(|number| format!("${{P{number}}}")).collect();
        with_line(&pods, "enableServiceLinks:", &format!("hostname: {parameters}"))
    };
    // The same in a chart: every name is given from outside.
    let chart: fn(usize) -> String = |bytes| many_documents(bytes).replace("name: app-", "name: {{ .Release.Name }}-");
    [("Deployment", deployment), ("Template", template), ("many documents", many_documents), (HELM, chart)]
}

fn many_documents(bytes: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes {
        text += &format!("---\n{}", of_team(&texts::manifest(number), ELSEWHERE + number / TEAM));
        number += 1;
    }
    text
}

/// A text whose workloads and services are in the namespace of a team.
fn of_team(text: &str, team: usize) -> String {
    let named = with_line(text, "labels: {app:", &format!("namespace: team-{team}"));
    let lines = named.split_inclusive('\n').map(|line| {
        match line.strip_prefix("metadata: {").and_then(|it| it.strip_suffix("}\n")) {
            Some(name) => format!("metadata: {{{name}, namespace: team-{team}}}\n"),
            None => line.to_owned(),
        }
    });
    lines.collect()
}

/// A text with a further line above each that begins with something, as deep as that.
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

/// Something an editor does.
#[derive(Clone, Copy, PartialEq)]
enum Action {
    /// Types a text at the caret.
    Type(&'static str),
    /// Deletes the colon before the value at the caret.
    DeleteColon,
    /// Asks something at the reference behind the caret.
    Ask(&'static str),
    /// Asks for a hover where there is nothing to say: what a message costs on this machine, whatever is asked.
    AskNothing,
    /// Types a digit and asks, without waiting for diagnostics.
    TypeAndAsk(&'static str),
}

impl Action {
    const ALL: [Self; 16] = [
        Self::Type("7"),
        Self::Type("\""),
        Self::Type("["),
        Self::Type("|"),
        Self::Type("\n"),
        Self::DeleteColon,
        Self::AskNothing,
        Self::Ask("hover"),
        Self::Ask("completion"),
        Self::Ask("definition"),
        Self::Ask("references"),
        Self::Ask("documentHighlight"),
        Self::Ask("codeAction"),
        Self::TypeAndAsk("hover"),
        Self::TypeAndAsk("completion"),
        Self::TypeAndAsk("documentHighlight"),
    ];

    fn name(self) -> String {
        match self {
            Self::Type(text) => format!("{text:?}"),
            Self::DeleteColon => "no colon".to_owned(),
            Self::Ask(method) => method.to_owned(),
            Self::AskNothing => "(nothing)".to_owned(),
            Self::TypeAndAsk(method) => format!("\"7\", {method}"),
        }
    }

    fn is_edit(self) -> bool {
        matches!(self, Self::Type(_) | Self::DeleteColon)
    }
}

/// An open document with a caret in its middle, before a value with references.
struct Document {
    uri: String,
    line: u32,
    /// The first character of the value.
    value: u32,
}

/// What stands before the caret.
const FIELD: &str = "value: ";

struct Server {
    child: Child,
    stdin: ChildStdin,
    incoming: Receiver<Value>,
    folder: tempfile::TempDir,
    started: Duration,
    version: i32,
    next_id: i32,
    /// Whether the diagnostics of the last text came while something else was waited for.
    is_published: bool,
}

impl Server {
    /// Starts a server on a workspace of so many files, and waits until they are read.
    fn start(files: usize) -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("podlens.yaml"), "")?;
        for number in 0..files {
            fs::write(
                folder.path().join(format!("{number}.yaml")),
                of_team(&texts::manifest(100_000 + number), number / TEAM),
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
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(std::io::Error::other("no pipes")) };
        let (sender, incoming) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(message) = read(&mut reader) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut server = Self {
            child,
            stdin,
            incoming,
            folder,
            started: Duration::ZERO,
            version: 0,
            next_id: 0,
            is_published: false,
        };
        let capabilities = json!({
            "general": {"positionEncodings": ["utf-8"]},
            "textDocument": {"publishDiagnostics": {}, "hover": {"contentFormat": ["markdown"]}},
        });
        let root = server.uri("x");
        let root = &root[..root.len() - 2];
        server.request("initialize", json!({"rootUri": root, "capabilities": capabilities}));
        server.started = start.elapsed();
        server.notify("initialized", json!({}));
        // Diagnostics come when everything is read.
        let settings = server.uri("podlens.yaml");
        server.version += 1;
        let item = json!({"uri": settings, "languageId": "yaml", "version": server.version, "text": ""});
        server.notify("textDocument/didOpen", json!({ "textDocument": item }));
        server.published();
        Ok(server)
    }

    fn uri(&self, name: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        let system = podlens::workspace::PathStyle::CURRENT;
        podlens::workspace::path_to_uri(path.to_str().unwrap_or_default(), system).unwrap_or_default()
    }

    /// Megabytes that are resident, where the system tells.
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
        self.published();
        let caret = text[text.len() / 2..].find(&format!("{FIELD}http://$(")).map_or(0, |it| it + text.len() / 2);
        let line = text[..caret].bytes().filter(|it| *it == b'\n').count();
        let column = caret - text[..caret].rfind('\n').map_or(0, |it| it + 1) + FIELD.len();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Document { uri, line: count(line), value: count(column) }
    }

    fn close(&mut self, document: &Document) {
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": document.uri}}));
    }

    /// Does something, and undoes it. How long it took.
    fn measure(&mut self, document: &Document, action: Action) -> Duration {
        let Document { uri, line, value } = document;
        let at = |character: u32| json!({"line": line, "character": character});
        let (start, end, text) = match action {
            Action::Type(text) => (*value, *value, text),
            Action::DeleteColon => (value - 2, value - 1, ""),
            Action::Ask(method) => return self.ask(document, method, 0, Instant::now()),
            Action::AskNothing => {
                let begin = Instant::now();
                let nowhere = json!({"line": 0, "character": 0});
                self.request("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": nowhere}));
                return begin.elapsed();
            }
            Action::TypeAndAsk(method) => {
                let begin = Instant::now();
                self.edit(uri, json!({"start": at(*value), "end": at(*value)}), "7");
                let took = self.ask(document, method, 1, begin);
                self.published();
                self.change(uri, json!({"start": at(*value), "end": at(value + 1)}), "");
                return took;
            }
        };
        let begin = Instant::now();
        self.change(uri, json!({"start": at(start), "end": at(end)}), text);
        let took = begin.elapsed();
        // Back: what was typed goes, what was deleted comes again.
        let undone = match (action, text) {
            (Action::DeleteColon, _) => (json!({"start": at(start), "end": at(start)}), ":"),
            (_, "\n") => (json!({"start": at(start), "end": {"line": line + 1, "character": 0}}), ""),
            _ => (json!({"start": at(start), "end": at(start + 1)}), ""),
        };
        self.change(uri, undone.0, undone.1);
        took
    }

    /// Asks something at the reference behind the caret, which may have moved by some characters. How long it took since
    /// a moment.
    fn ask(&mut self, document: &Document, method: &str, moved: u32, since: Instant) -> Duration {
        let here = json!({"line": document.line, "character": document.value + 9 + moved});
        let params = json!({
            "textDocument": {"uri": document.uri},
            "position": here,
            "range": {"start": here, "end": here},
            // Triggered by hand, with no findings, the declaration included: whichever is asked for.
            "context": {"triggerKind": 1, "diagnostics": [], "includeDeclaration": true},
        });
        let answer = self.request(&format!("textDocument/{method}"), params);
        let took = since.elapsed();
        assert!(!answer.is_null(), "{method} has something to say");
        took
    }

    /// Edits, and waits for the diagnostics of that text.
    fn change(&mut self, uri: &str, range: Value, text: &str) {
        self.edit(uri, range, text);
        self.published();
    }

    fn edit(&mut self, uri: &str, range: Value, text: &str) {
        self.version += 1;
        let document = json!({"uri": uri, "version": self.version});
        let params = json!({"textDocument": document, "contentChanges": [{"range": range, "text": text}]});
        self.notify("textDocument/didChange", params);
    }

    /// Waits for the diagnostics of the last text.
    fn published(&mut self) {
        let version = self.version;
        if std::mem::take(&mut self.is_published) {
            return;
        }
        self.wait(|it| is_published(it, version));
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
        written.and_then(|()| self.stdin.flush()).unwrap_or_else(|error| panic!("the server reads no more: {error}"));
    }

    fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.incoming.recv_timeout(Duration::from_secs(120)) {
                Ok(message) if fits(&message) => return message,
                Ok(message) => self.is_published |= is_published(&message, self.version),
                Err(error) => panic!("the server says nothing more: {error}"),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a message has the diagnostics of a version.
fn is_published(message: &Value, version: i32) -> bool {
    message["method"] == "textDocument/publishDiagnostics" && message["params"]["version"] == version
}

fn read(reader: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some((_, value)) => length = value.parse().ok()?,
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// The best of several rounds.
fn best(rounds: usize, mut run: impl FnMut()) -> Duration {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}
