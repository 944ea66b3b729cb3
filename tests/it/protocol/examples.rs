//! The examples of a design over the protocol: the editor shows the same as the commands print.
//!
//! For every case of a document in `fixtures/designs`, and of the suites of rules about the designs: the findings of every
//! file, the environment of every container, the preview of every workload, the value of every variable on hover, and the
//! reason why a reference is not expanded.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::fixture::position;
use super::{Client, Fixture};
use crate::built::combination;
use crate::command::run;
use crate::fixture::suites_in;

const UTF16: Encoding = Encoding::Utf16;

/// The numbers of compared items.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) examples: usize,
    pub(super) findings: usize,
    pub(super) containers: usize,
    pub(super) hovers: usize,
    pub(super) unresolved: usize,
}

/// Compares every case of a suite in `fixtures/designs`.
pub(super) fn check(name: &str) -> Compared {
    check_suite("designs", name)
}

/// Compares every case of a suite that has files.
fn check_suite(folder: &str, name: &str) -> Compared {
    let mut compared = Compared::default();
    let suites = suites_in(folder).into_iter().filter(|(suite, _)| suite == name);
    let cases = suites.flat_map(|(_, suite)| suite.cases).filter(|case| case.files().next().is_some());
    for case in cases {
        let text: String = case.files().map(|file| format!("#- {}\n{}", file.path, file.text)).collect();
        compare(case.title.clone(), Fixture::new(&text), &mut compared);
    }
    compared
}

/// Compares the answers for a folder with the output of the commands.
pub(super) fn compare(title: String, fixture: Fixture, compared: &mut Compared) {
    let client = Client::modern(&fixture, UTF16);
    let mut example = Example { title, fixture, client };
    compared.examples += 1;
    compared.findings += example.findings();
    compared.containers += example.workloads();
    compared.hovers += example.hovers();
    compared.unresolved += example.unresolved();
    assert_eq!(example.client.shut_down(), Some(0));
}

/// The corrections in `env`.
#[test]
fn further_environments_equal_the_commands() {
    let compared = check_suite("commands", "env");
    assert!(compared.examples >= 5 && compared.containers >= 5, "{compared:?}");
}

/// The suites of rules about the designs; the first ones if tests are to be quick.
#[test]
fn the_cases_of_rules_equal_the_commands() {
    const SUITES: [&str; 18] = [
        "malformed-reference",
        "collapsed-dollar",
        "self-reference",
        "shadowed-source",
        "service-variable-collision",
        "headless-service-variable",
        "missing-service",
        "invalid-service-link",
        "service-links-off",
        "invalid-preset",
        "preset-conflict",
        "invalid-generator",
        "dead-parameter",
        "empty-template",
        "undefined-parameter",
        "string-substitution",
        "env-file-content",
        "env-file-unproduced",
    ];
    let most = crate::cases(4, 18) as usize;
    for suite in SUITES.into_iter().take(most) {
        let compared = check_suite("rules", suite);
        assert!(compared.examples > 0 && compared.findings > 0, "{suite}: {compared:?}");
    }
}

/// Templates with presets, env files and links, two and three at a time.
#[test]
fn combinations_equal_the_commands() {
    let mut compared = Compared::default();
    for seed in 0..u64::from(crate::cases(20, 200)) {
        let (title, files) = combination(seed);
        let text: String = files.iter().map(|(path, text)| format!("#- {path}\n{text}")).collect();
        compare(title, Fixture::new(&text), &mut compared);
    }
    assert!(compared.findings >= 20 && compared.hovers >= 20 && compared.unresolved >= 20, "{compared:?}");
}

struct Example {
    title: String,
    fixture: Fixture,
    client: Client,
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Example {
    /// The output of a command in the folder, as JSON.
    fn printed(&self, arguments: &[&str]) -> Value {
        let (_, out, errors) = run(&self.fixture.path(""), arguments, "");
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{}: {error}\n{out}{errors}", self.title))
    }

    /// The files in the order of the commands.
    fn files(&self) -> Vec<String> {
        let mut all: Vec<String> = self.fixture.files.iter().map(|(name, _)| name.clone()).collect();
        all.sort();
        all
    }

    fn findings(&mut self) -> usize {
        let printed = self.printed(&["lint", "--format", "json"]);
        let mut count = 0;
        for name in self.files() {
            let text = self.fixture.text(&name).to_owned();
            let place = |range: &Value, end: &str| {
                let offset = range[end]["offset"].as_u64().and_then(|it| usize::try_from(it).ok());
                position(&text, offset.expect("an offset"), UTF16)
            };
            let mut expected: Vec<Value> = list(&printed["findings"])
                .iter()
                .filter(|it| it["file"] == *name)
                .map(|it| {
                    let level = ["error", "warning", "info", "hint"].iter().position(|level| it["level"] == *level);
                    let related: Vec<&Value> = list(&it["related"]).iter().map(|it| &it["message"]).collect();
                    let message = match it["help"].as_str() {
                        Some(help) => format!("{}\n{help}", it["message"].as_str().unwrap_or_default()),
                        None => it["message"].as_str().unwrap_or_default().to_owned(),
                    };
                    json!({
                        "code": it["rule"], "severity": level.map(|it| it + 1), "message": message,
                        "range": {"start": place(&it["range"], "start"), "end": place(&it["range"], "end")},
                        "related": related,
                    })
                })
                .collect();
            let answer = self.client.pull(&self.fixture.uri(&name));
            let mut actual: Vec<Value> = list(&answer["items"])
                .iter()
                .map(|it| {
                    let related: Vec<&Value> =
                        list(&it["relatedInformation"]).iter().map(|it| &it["message"]).collect();
                    json!({
                        "code": it["code"], "severity": it["severity"], "message": it["message"],
                        "range": it["range"], "related": related,
                    })
                })
                .collect();
            for all in [&mut expected, &mut actual] {
                all.sort_by_key(Value::to_string);
            }
            assert_eq!(actual, expected, "{}: {name}", self.title);
            count += actual.len();
        }
        count
    }

    /// Environments and previews.
    fn workloads(&mut self) -> usize {
        let printed = self.printed(&["env", "--all", "--format", "json"]);
        let (_, rendered, _) = run(&self.fixture.path(""), &["render"], "");
        let mut documents = rendered.split("---\n# Source: ").skip(1);
        let mut count = 0;
        for name in self.files() {
            let uri = self.fixture.uri(&name);
            let document = json!({ "uri": uri });
            let lenses = self.client.request("textDocument/codeLens", json!({ "textDocument": document }));
            let mut places = list(&lenses).iter().filter(|it| it["data"]["kind"] == "environment");
            for lens in list(&lenses) {
                let lens = self.client.request("codeLens/resolve", lens.clone());
                assert!(lens["command"]["title"].is_string(), "{}: {lens}", self.title);
            }
            for workload in list(&printed["workloads"]).iter().filter(|it| it["file"] == *name) {
                for container in list(&workload["containers"]) {
                    let at = &places.next().expect("a lens above every container")["range"]["start"];
                    let asked = json!({"textDocument": document, "position": at});
                    let view = self.client.request("podlens/environment", asked);
                    let mut expected = workload.clone();
                    expected["containers"] = json!([container]);
                    let expected = json!({"schema": printed["schema"], "workloads": [expected]});
                    assert_eq!(view, expected, "{}: {name}", self.title);
                    count += 1;
                }
                // A Helm template is not rendered.
                if name.contains("/templates/") || self.fixture.text(&name).contains("{{- ") {
                    continue;
                }
                let line = workload["line"].as_u64().expect("a line") - 1;
                // An object of a template is indented.
                let written = usize::try_from(line).ok().and_then(|line| self.fixture.text(&name).lines().nth(line));
                let column = written.and_then(|it| it.find(char::is_alphabetic)).unwrap_or(0);
                let at = json!({"line": line, "character": column});
                let asked = json!({"textDocument": document, "position": at, "kind": "render"});
                let preview = self.client.request("podlens/preview", asked);
                let expected = documents
                    .next()
                    .and_then(|it| it.split_once('\n'))
                    .unwrap_or_else(|| panic!("{}: a document a workload", self.title));
                assert_eq!(expected.0, name, "{}", self.title);
                assert_eq!(preview["text"].as_str().expect("a text"), expected.1, "{}: {name}", self.title);
            }
        }
        assert_eq!(documents.next(), None, "{}", self.title);
        count
    }

    /// Every reference that is not expanded: the hover has the same reason, and the lens the same number.
    fn unresolved(&mut self) -> usize {
        let printed = self.printed(&["env", "--format", "json"]);
        let mut count = 0;
        for workload in list(&printed["workloads"]) {
            for container in list(&workload["containers"]) {
                for it in list(&container["unresolved"]) {
                    self.unresolved_reference(it);
                    count += 1;
                }
            }
            self.lenses(workload);
        }
        count
    }

    fn unresolved_reference(&mut self, it: &Value) {
        let number = |key: &str| it[key].as_u64().expect("a number");
        let (file, name) = (it["file"].as_str().expect("a file"), it["name"].as_str().expect("a name"));
        let at = json!({"line": number("line") - 1, "character": number("column") + 1});
        let written = usize::try_from(number("line") - 1).ok().and_then(|it| self.fixture.text(file).lines().nth(it));
        let rest = written.and_then(|it| it.get(usize::try_from(number("column") - 1).ok()?..));
        if !rest.is_some_and(|it| it.starts_with(&format!("$({name}"))) {
            // It is in the value of a parameter: the hover there is about the parameter.
            return;
        }
        let asked = json!({"textDocument": {"uri": self.fixture.uri(file)}, "position": at});
        let hover = self.client.request("textDocument/hover", asked);
        let text = hover["contents"]["value"].as_str().unwrap_or_default();
        let words: &[&str] = match it["why"].as_str().expect("a reason") {
            "forward" => &["declared later", "after all entries"],
            "self" => &["itself"],
            "probe" => &["exec probe"],
            "linksOff" => &["service links are off", "services it links", "with the prefix"],
            _ => &["nothing defines", "no cluster IP", "it is optional"],
        };
        assert!(words.iter().any(|it| text.contains(it)), "{}: $({name}), {it}\n{text}", self.title);
    }

    /// The lenses of a workload's containers.
    fn lenses(&mut self, workload: &Value) {
        let file = workload["file"].as_str().expect("a file");
        let asked = json!({"textDocument": {"uri": self.fixture.uri(file)}});
        let mut titles = Vec::new();
        for lens in list(&self.client.request("textDocument/codeLens", asked)) {
            let resolved = self.client.request("codeLens/resolve", lens.clone());
            titles.extend(resolved["command"]["title"].as_str().map(str::to_owned));
        }
        for container in list(&workload["containers"]) {
            let expected = match list(&container["unresolved"]).len() {
                0 => continue,
                1 => "· 1 unresolved reference".to_owned(),
                number => format!("· {number} unresolved references"),
            };
            let ends = if list(&container["failures"]).is_empty() { expected } else { expected + " · does not start" };
            assert!(titles.iter().any(|it| it.ends_with(&ends)), "{}: {ends} in {titles:?}", self.title);
        }
    }

    /// Every variable that has a value and an entry in a file.
    fn hovers(&mut self) -> usize {
        let printed = self.printed(&["env", "--format", "json"]);
        let containers = list(&printed["workloads"]).iter().flat_map(|it| list(&it["containers"]));
        let mut count = 0;
        for variable in containers.flat_map(|it| list(&it["env"])) {
            let source = &variable["source"];
            let (Some(name), Some(value), Some(file), Some(line)) = (
                variable["name"].as_str(),
                variable["value"].as_str(),
                source["file"].as_str(),
                source["line"].as_u64().and_then(|it| u32::try_from(it).ok()),
            ) else {
                continue;
            };
            if !matches!(source["kind"].as_str(), Some("env" | "preset")) {
                continue;
            }
            let text = self.fixture.text(file);
            let written = text.lines().nth(line as usize - 1).expect("a line");
            // Other words of the line may contain the name.
            let declared = ["name: ", "name: \"", "name: '", "\"name\": \""].map(|key| format!("{key}{name}"));
            let ends = |at: usize| !written[at..].starts_with(|it: char| it.is_alphanumeric() || "_.-".contains(it));
            let column = declared.iter().find_map(|text| {
                let mut found = written.match_indices(text.as_str()).map(|(at, _)| at + text.len());
                found.find(|end| ends(*end)).map(|end| end - name.len())
            });
            let Some(column) = column else {
                assert!(written.contains('$'), "{name} is in {written}, unless a parameter makes it");
                continue;
            };
            let at = json!({"line": line - 1, "character": column + 1});
            let asked = json!({"textDocument": {"uri": self.fixture.uri(file)}, "position": at});
            let hover = self.client.request("textDocument/hover", asked);
            let text = hover["contents"]["value"].as_str().unwrap_or_default();
            assert!(text.contains(name) && text.contains(value), "{}: {name}={value}\n{text}", self.title);
            count += 1;
        }
        count
    }
}
