//! `podlens lint`, `explain` and `completions`: options, exit codes, output.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{directory, project, run};
use crate::manifest::pod_for_commands;
use crate::metadata::cargo_metadata;

const LINT: [&str; 3] = ["lint", "--select", "undefined-variable,forward-reference,unused-suppression,self-reference"];

/// A pod with a reference that nothing defines, and one that is declared too late.
const POD: &str = pod_for_commands!(
    "        - {name: B, value: $(C)}
        - {name: C, value: c}
"
);

fn clean() -> String {
    POD.replace("$(NOPE)", "x").replace("$(C)", "x")
}

/// Lints with only the rules that these tests are about.
fn lint(place: &Path, arguments: &[&str], stdin: &str) -> (i32, String, String) {
    run(place, &[&LINT, arguments].concat(), stdin)
}

fn findings(text: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    value["findings"].as_array().expect("a list").clone()
}

#[test]
fn sarif_follows_its_schema() {
    let metadata = cargo_metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let shipped = packages.iter().find(|it| it["name"] == "serde-sarif").expect("serde-sarif is locked");
    let manifest = Path::new(shipped["manifest_path"].as_str().expect("a path"));
    let schema = fs::read_to_string(manifest.with_file_name("src/schema.json")).expect("it ships the schema");
    let mut schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    // These patterns of the published schema are invalid regular expressions: they have an extra `]`.
    for part in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][part]["properties"]["language"];
        assert!(
            language.as_object_mut().and_then(|it| it.remove("pattern")).is_some(),
            "the schema was fixed: remove this workaround"
        );
    }
    let validator = jsonschema::draft7::new(&schema).expect("the schema is one");
    let place = directory(&[("bad.yaml", b"\xff"), ("podlens.yaml", b"nope: 1\n"), ("a b,ü.yaml", POD.as_bytes())]);
    for (directory, path) in [(project(), "fixtures/shop-broken"), (project(), "fixtures/shop"), (place.path(), ".")] {
        let (_, text, _) = run(directory, &["lint", "--format", "sarif", path], "");
        let log: Value = serde_json::from_str(&text).expect("JSON");
        let errors: Vec<String> =
            validator.iter_errors(&log).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(errors.is_empty(), "{path}: {errors:#?}");
        for result in log["runs"][0]["results"].as_array().expect("results") {
            let rules = &log["runs"][0]["tool"]["driver"]["rules"];
            let index = result["ruleIndex"].as_u64().map(|it| usize::try_from(it).expect("small"));
            assert!(index.is_none_or(|it| rules[it]["id"] == result["ruleId"]), "{result}");
        }
    }
    let (_, text, _) = run(place.path(), &["lint", "--format", "sarif"], "");
    assert!(text.contains("\"a%20b%2C%C3%BC.yaml\"") && text.contains("not UTF-8"), "{text}");
}

#[test]
fn a_run_without_findings_says_what_was_checked() {
    let place = directory(&[
        ("pod.yaml", b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n"),
        ("values.yaml", b"a: 1\n"),
        ("comments.yaml", b"# nothing\n# here\n"),
        ("empty.yaml", b""),
    ]);
    for (path, code, expected_out, expected_err) in [
        ("pod.yaml", 0, "No findings. 1 file, 1 document\n", ""),
        ("values.yaml", 0, "No findings. 1 file, no Kubernetes objects\n", ""),
        ("comments.yaml", 3, "", "podlens: comments.yaml holds no documents\n"),
        ("empty.yaml", 3, "", "podlens: empty.yaml is empty\n"),
        ("-", 3, "", "podlens: stdin is empty\n"),
    ] {
        let (exit, out, err) = lint(place.path(), &[path], "");
        assert_eq!((exit, out.as_str(), err.as_str()), (code, expected_out, expected_err), "{path}");
    }
}

#[test]
fn exit_codes_show_the_result() {
    let fine = clean();
    let place = directory(&[
        ("bad/pod.yaml", POD.as_bytes()),
        ("good/pod.yaml", fine.as_bytes()),
        ("none/notes.txt", b"hello"),
        ("latin/a.yaml", b"a: \xff\n"),
        ("latin/pod.yaml", POD.as_bytes()),
    ]);
    for (arguments, code, said) in [
        (&["good"][..], 0, ""),
        (&["bad"], 1, ""),
        (&["bad", "--exit-zero"], 0, ""),
        (&["bad", "--ignore", "undefined-variable,forward-reference"], 0, ""),
        (&["bad", "--ignore", "forward-reference", "--min-level", "error"], 0, ""),
        (&["bad", "--level", "forward-reference=info", "--level", "undefined-variable=hint"], 0, ""),
        (&["bad", "--level", "forward-reference=off,undefined-variable=info", "--min-level", "info"], 1, ""),
        (&["none"], 3, "no manifests found"),
        (&["gone"], 3, "gone: no such file or directory"),
        (&["good", "gone"], 3, "gone: no such file or directory"),
        (&["latin"], 2, "latin/a.yaml:1:4: not UTF-8"),
        (&["latin", "--exit-zero"], 2, "latin/a.yaml:1:4: not UTF-8"),
        (&["-"], 3, "stdin is empty"),
        (&["good", "--ignore", "forward-referense"], 2, "did you mean `forward-reference`?"),
        (&["good", "--level", "forward-reference=loud"], 2, "`loud` is not a level"),
        (&["good", "--format", "json", "--format", "full"], 2, "two formats on stdout"),
        (&["good", "--unsafe-fixes"], 2, "--fix"),
        (&["-", "--fix"], 2, "--fix does not work with stdin"),
        (&["good", "--output", "none/gone/x.txt"], 2, "cannot be written"),
    ] {
        let (exit, out, err) = lint(place.path(), arguments, "");
        assert_eq!(exit, code, "{arguments:?}\n{out}\n{err}");
        assert!(err.contains(said) && (!said.is_empty() || err.is_empty()), "{arguments:?}: {err}");
    }
    let (_, out, _) = lint(place.path(), &["latin", "--format", "concise"], "");
    assert!(out.contains("latin/pod.yaml:9:30: warning[undefined-variable]"), "{out}");
}

#[test]
fn statistics_count_what_was_looked_at() {
    let place = directory(&[
        ("app/web.yaml", POD.as_bytes()),
        ("app/two.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nother: text\n"),
        ("other/config.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"),
    ]);
    let (code, findings, statistics) = lint(place.path(), &["--statistics", "app"], "");
    let (_, without, nothing) = lint(place.path(), &["app"], "");
    assert_eq!((code, nothing.as_str()), (1, ""));
    assert_eq!(findings, without, "the report is the same");
    let (counts, times) = statistics.split_once("Time in ms\n").expect("times");
    let counts: Vec<_> = counts.lines().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = "Looked at, files 2, other files 2, documents 3, objects 2, containers 1, references 2, \
                    Found, findings 2, undefined-variable 1, forward-reference 1";
    assert_eq!(counts.join(", "), expected);
    let names: Vec<_> = times.lines().filter_map(|it| it.split_whitespace().next()).collect();
    assert_eq!(names, ["walk", "read", "index", "check", "write", "total"]);
}

#[test]
fn a_rule_that_is_off_can_be_selected() {
    let place = directory(&[("podlens.yaml", b"rules: {undefined-variable: off}\n"), ("pod.yaml", POD.as_bytes())]);
    let (_, out, _) = run(place.path(), &["lint", "--format", "concise", "--quiet"], "");
    assert!(!out.contains("undefined-variable"), "{out}");
    let selected = ["lint", "--format", "concise", "--quiet", "--select", "undefined-variable"];
    let (code, out, _) = run(place.path(), &selected, "");
    assert_eq!((code, out.lines().count()), (1, 1), "{out}");
}

#[test]
fn broken_settings_are_findings_and_the_rest_is_checked() {
    let settings = b"kubernetes: banana\nrules:\n  forward-referense: off\n";
    let place = directory(&[("podlens.yaml", settings), ("pod.yaml", POD.as_bytes())]);
    let (code, out, err) = lint(place.path(), &["--format", "concise", "--exit-zero"], "");
    assert_eq!((code, err.as_str()), (2, ""), "{out}");
    assert!(out.contains("podlens.yaml:1:13: error[invalid-settings]"), "{out}");
    assert!(
        out.contains("podlens.yaml:3:3: error[invalid-settings] there is no rule `forward-referense` (did"),
        "{out}"
    );
    assert!(out.contains("pod.yaml:10:28: error[forward-reference]"), "{out}");
    // Settings in a directory above are used, and their errors have positions.
    fs::create_dir(place.path().join("deep")).expect("created");
    fs::write(place.path().join("deep/pod.yaml"), POD).expect("written");
    let (code, out, _) = lint(&place.path().join("deep"), &["--format", "concise", "--root", "."], "");
    assert_eq!(code, 2);
    assert!(out.contains("../podlens.yaml:3:3: error[invalid-settings]"), "{out}");
}

#[test]
fn each_format_has_its_own_output_file() {
    let place = directory(&[("pod.yaml", POD.as_bytes())]);
    let arguments =
        ["--format", "concise", "--format", "json", "--output", "out.txt", "-o", "sarif", "--output", "s.sarif"];
    let (code, out, err) = lint(place.path(), &arguments, "");
    assert_eq!((code, err.as_str()), (1, ""));
    assert!(out.starts_with("pod.yaml:9:30: warning[undefined-variable]"), "{out}");
    let read = |name: &str| fs::read_to_string(place.path().join(name)).expect("written");
    assert_eq!(findings(&read("out.txt")).len(), 2, "{}", read("out.txt"));
    assert!(read("s.sarif").contains("\"version\": \"2.1.0\""));
    let (_, out, _) = lint(place.path(), &["--output", "x.json", "--format", "json"], "");
    assert_eq!((out.as_str(), findings(&read("x.json")).len()), ("", 2), "{}", read("x.json"));
}

#[test]
fn a_baseline_hides_known_findings_also_after_lines_move() {
    let place = directory(&[("pod.yaml", POD.as_bytes())]);
    let (code, out, err) = lint(place.path(), &["--write-baseline", "base.txt"], "");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", "podlens: 2 findings written to base.txt\n"));
    let known = ["--baseline", "base.txt", "--format", "concise", "--quiet"];
    assert_eq!(lint(place.path(), &known, ""), (0, String::new(), String::new()));
    // Lines move, entries are inserted before, and one new finding appears.
    let more = "env:\n        # One more.\n        - {name: Z, value: $(NEW)}\n        - {name: Y, value: y}\n";
    let moved = format!("# A comment.\n\n{}", POD.replace("env:\n", more));
    fs::write(place.path().join("pod.yaml"), &moved).expect("written");
    let (code, out, _) = lint(place.path(), &known, "");
    assert_eq!((code, out.lines().count()), (1, 1), "{out}");
    assert!(out.contains("$(NEW)"), "{out}");
    // A second finding like a known one is new.
    fs::write(place.path().join("pod.yaml"), POD.replace("é $(NOPE)", "é $(NOPE) $(NOPE)")).expect("written");
    let (_, out, _) = lint(place.path(), &known, "");
    assert_eq!(out.lines().count(), 1, "{out}");
    // Another name is another finding.
    fs::write(place.path().join("pod.yaml"), POD.replace("$(NOPE)", "$(NOPES)")).expect("written");
    assert!(lint(place.path(), &known, "").1.contains("NOPES"));
    // It does not matter where the command runs.
    fs::write(place.path().join("pod.yaml"), POD).expect("written");
    fs::create_dir(place.path().join("deep")).expect("created");
    let from_below = ["..", "--baseline", "../base.txt", "--quiet"];
    assert_eq!(lint(&place.path().join("deep"), &from_below, "").0, 0);
}

#[test]
fn an_invalid_baseline_is_reported_and_hides_nothing() {
    for (text, said) in [
        ("{\"schema\": \"podlens/baseline/v9\", \"findings\": []}", "a baseline of another version"),
        ("{\"schema\": \"podlens/baseline/v1\", \"findings\": []}", "a baseline of another version"),
        ("{\"schema\": \"podlens/baseline/v2\", \"findings\": [1]}", "malformed baseline"),
        ("{}", "not a baseline"),
        ("rubbish", "not a baseline"),
    ] {
        let place = directory(&[("pod.yaml", POD.as_bytes()), ("base.txt", text.as_bytes())]);
        let (code, out, err) = lint(place.path(), &["--baseline", "base.txt", "--format", "concise"], "");
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(said) && err.contains("--write-baseline"), "{err}");
        assert!(out.contains("undefined-variable") && out.contains("forward-reference"), "{out}");
    }
    let place = directory(&[("pod.yaml", POD.as_bytes())]);
    let (code, out, err) = lint(place.path(), &["--baseline", "gone.txt", "--format", "concise"], "");
    assert_eq!((code, out.lines().count()), (3, 3), "{err}");
}

#[test]
fn fixes_are_shown_and_applied() {
    let comment = "  # podlens: ignore[self-reference] gone\n";
    let text = clean().replace("spec:\n", &format!("spec:\n{comment}")).replace('\n', "\r\n");
    let place = directory(&[("pod.yaml", text.as_bytes()), ("other.yaml", clean().as_bytes())]);
    let path = place.path().join("pod.yaml");
    let arguments = ["--select", "unused-suppression,self-reference"];
    let (code, out, err) = lint(place.path(), &[&arguments[..], &["--diff"]].concat(), "");
    assert_eq!((code, err.as_str()), (1, "podlens: 1 finding would be fixed\n"));
    let expected = "--- a/pod.yaml\n+++ b/pod.yaml\n@@ -2,7 +2,6 @@\n kind: Pod\r\n metadata: {name: web}\r\n spec:\r\n\
                    -  # podlens: ignore[self-reference] gone\r\n   containers:\r\n     - name: main\r\n       image: app\r\n";
    assert_eq!(out, expected);
    assert_eq!(fs::read_to_string(&path).expect("readable"), text, "--diff writes nothing");
    let (code, out, err) = lint(place.path(), &[&arguments[..], &["--fix"]].concat(), "");
    assert_eq!((code, err.as_str()), (0, "podlens: 1 finding fixed\n"), "{out}");
    assert_eq!(fs::read_to_string(&path).expect("readable"), clean().replace('\n', "\r\n"));
    let (code, out, err) = lint(place.path(), &[&arguments[..], &["--diff"]].concat(), "");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
}

#[test]
fn stdin_can_have_a_file_name() {
    let place = directory(&[("map.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {NOPE: x}\n")]);
    let helm = format!("---\n# Source: chart/templates/web.yaml\n{POD}---\n# Source: chart/templates/b.yaml\n{POD}");
    let (code, out, _) = lint(place.path(), &["-", "--format", "concise", "--quiet"], &helm);
    assert_eq!(code, 1);
    let places: Vec<&str> = out.lines().filter_map(|line| line.split(": ").next()).collect();
    let expected = ["b.yaml:11:30", "b.yaml:12:28", "web.yaml:11:30", "web.yaml:12:28"];
    assert_eq!(places, expected.map(|it| format!("chart/templates/{it}")), "{out}");
    // Stdin with the name of a file replaces the file, and uses its settings and the files next to it.
    let pod = POD.replace("env:", "envFrom: [{configMapRef: {name: c}}]\n      env:");
    fs::create_dir(place.path().join("deep")).expect("created");
    fs::write(place.path().join("pod.yaml"), POD).expect("written");
    for arguments in [&["--stdin-filename", "../pod.yaml"][..], &["-", "--stdin-filename", "../pod.yaml"]] {
        let all = [&["--format", "concise", "--quiet"][..], arguments].concat();
        let (_, out, _) = lint(&place.path().join("deep"), &all, &pod);
        assert_eq!(out.lines().count(), 1, "{out}");
        assert!(out.starts_with("../pod.yaml:11:28: error[forward-reference]"), "{out}");
    }
}

#[test]
fn output_does_not_depend_on_threads_or_order() {
    let files: Vec<(String, String)> =
        (0..40).map(|at| (format!("d{}/f{at}.yaml", at % 7), POD.replace("NOPE", &format!("N{}", at % 5)))).collect();
    let all: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let place = directory(&all);
    let mut outputs = BTreeMap::new();
    for threads in ["1", "2", "8"] {
        for paths in
            [&["d0", "d1", "d2", "d3", "d4", "d5", "d6"][..], &["d6", "d3", "d5", "d0", "d1", "d4", "d2", "d2"]]
        {
            let output = Command::new(env!("CARGO_BIN_EXE_podlens"))
                .args(LINT)
                .args(["--format", "json"])
                .args(paths)
                .current_dir(place.path())
                .env("RAYON_NUM_THREADS", threads)
                .output()
                .expect("podlens starts");
            let text = String::from_utf8(output.stdout).expect("podlens prints UTF-8");
            outputs.insert(text, format!("{threads} threads, {paths:?}"));
        }
    }
    let (text, first) = outputs.pop_first().expect("an output");
    assert!(outputs.is_empty(), "{first} prints {text}; others differ: {outputs:#?}");
    let all = findings(&text);
    // Two findings in each file.
    let expected: BTreeSet<(&str, &str)> = files
        .iter()
        .flat_map(|(path, _)| ["forward-reference", "undefined-variable"].map(|rule| (path.as_str(), rule)))
        .collect();
    let text_of = |finding: &'static str, it: &Value| it[finding].as_str().unwrap_or_default().to_owned();
    let found: BTreeSet<(String, String)> = all.iter().map(|it| (text_of("file", it), text_of("rule", it))).collect();
    let found: BTreeSet<(&str, &str)> = found.iter().map(|(file, rule)| (file.as_str(), rule.as_str())).collect();
    assert_eq!(expected.difference(&found).collect::<Vec<_>>(), Vec::<&(&str, &str)>::new(), "these are missing");
    let mut fingerprints: BTreeMap<String, &Value> = BTreeMap::new();
    for finding in &all {
        if let Some(other) = fingerprints.insert(text_of("fingerprint", finding), finding) {
            panic!("two findings have the same fingerprint: {other:#} and {finding:#}");
        }
    }
}

#[test]
fn watch_reports_changes() {
    let place = directory(&[("pod.yaml", clean().as_bytes())]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_podlens"))
        .args(LINT)
        .args(["--watch", "--format", "concise", "--quiet"])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("podlens starts");
    let (sender, lines) = mpsc::channel();
    let streams: [Box<dyn Read + Send>; 2] =
        [Box::new(child.stdout.take().expect("stdout")), Box::new(child.stderr.take().expect("stderr"))];
    for stream in streams {
        let sender = sender.clone();
        thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
    }
    let wait_for = |said: &str| {
        let mut seen = Vec::new();
        while let Ok(line) = lines.recv_timeout(Duration::from_secs(30)) {
            if line.contains(said) {
                return;
            }
            seen.push(line);
        }
        panic!("no {said:?} in {seen:?}");
    };
    wait_for("watching for changes");
    fs::write(place.path().join("notes.txt"), "not a manifest").expect("written");
    fs::write(place.path().join("pod.yaml"), POD).expect("written");
    wait_for("pod.yaml changed");
    wait_for("error[forward-reference]");
    for name in ["app.env", "dev.params", "podlens.yaml"] {
        fs::write(place.path().join(name), "").expect("written");
        wait_for(&format!("{name} changed"));
        wait_for("error[forward-reference]");
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn positions_are_exact_in_every_unit() {
    let place = directory(&[("pod.yaml", POD.as_bytes())]);
    let (_, out, _) = lint(place.path(), &["--format", "json"], "");
    let found = &findings(&out)[0];
    let start = POD.find("$(NOPE)").expect("there");
    assert_eq!(found["range"]["start"], serde_json::json!({"line": 9, "column": 30, "offset": start}));
    assert_eq!(found["range"]["end"], serde_json::json!({"line": 9, "column": 37, "offset": start + 7}));
    assert_eq!(found["path"], "spec.containers[0].env[0].value");
    assert_eq!(found["object"], "Pod/web");
    let (_, out, _) = lint(place.path(), &["--format", "rdjson"], "");
    let value: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(value["diagnostics"][0]["location"]["range"]["start"]["column"], 31, "in bytes");
}

#[test]
fn colours_are_only_for_terminals() {
    let place = directory(&[("pod.yaml", POD.as_bytes())]);
    for format in ["full", "concise"] {
        let (_, out, _) = lint(place.path(), &["--format", format], "");
        assert!(!out.contains('\u{1b}'), "{out}");
        let (_, out, _) = lint(place.path(), &["--format", format, "--color", "always"], "");
        assert!(out.contains('\u{1b}'), "{out}");
    }
    let (_, out, _) = lint(place.path(), &["--format", "json", "--color", "always"], "");
    assert!(!out.contains('\u{1b}'), "{out}");
}

#[test]
fn rules_are_explained() {
    let (code, table, _) = run(project(), &["explain"], "");
    assert_eq!(code, 0);
    assert!(table.contains("forward-reference") && table.contains("  error  "), "{table}");
    for rule in podlens::rules::RULES {
        let (code, out, _) = run(project(), &["explain", rule.name], "");
        assert_eq!(code, 0);
        assert!(out.starts_with(&format!("# {} (", rule.name)) && out.contains("\n## Why it matters\n"), "{out}");
        assert!(table.contains(rule.summary()), "{}", rule.name);
    }
    let (code, out, err) = run(project(), &["explain", "forward_reference"], "");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("did you mean `forward-reference`?"), "{err}");
}

#[test]
fn shells_complete_commands_and_rules() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, out, err) = run(project(), &["completions", shell], "");
        assert_eq!((code, err.as_str()), (0, ""), "{shell}");
        assert!(out.contains("podlens") && out.contains("write-baseline"), "{shell}");
    }
    assert_eq!(run(project(), &["completions", "cmd"], "").0, 2);
}

/// Reports are stored in the logs of CI.
#[test]
fn excerpts_do_not_show_secrets() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  A: hunter2\n  A: hunter2\n\
         ---\napiVersion: v1\nkind: Secret\nmetadata: {name: t}\nstringData:\n  B: [hunter2\n";
    let place = directory(&[("s.yaml", secret.as_bytes())]);
    let (code, out, err) = run(place.path(), &["lint"], "");
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("duplicate-key") && out.contains("syntax-error") && !out.contains("hunter2"), "{out}");
    fs::write(place.path().join("podlens.yaml"), "secrets: {show: true}\n").expect("written");
    assert!(run(place.path(), &["lint"], "").1.contains("A: hunter2"));
    // The length is hidden too, and the column is that in the file.
    let secret = |value: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{A: {value}, A: {value}, B: b}}\n")
    };
    let shown = |value: &str| {
        let place = directory(&[("s.yaml", secret(value).as_bytes())]);
        run(place.path(), &["lint"], "").1
    };
    let (long, short) = (shown("hunter2hunter2"), shown("x"));
    assert!(long.contains("--> s.yaml:4:33\n") && short.contains("--> s.yaml:4:20\n"), "{long}{short}");
    let without_place =
        |text: &str| text.lines().filter(|it| !it.contains("-->")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_place(&long), without_place(&short));
}

/// A file is read once, not once per finding.
#[test]
fn many_findings_in_a_large_file_take_little_more_time() {
    let variable = |number: usize| format!("        - {{name: A{number}, value: $(NOPE)}}\n");
    let text = POD.to_owned() + &(0..400).map(variable).collect::<String>() + &"# a long comment\n".repeat(250_000);
    let place = directory(&[("podlens.yaml", b""), ("pod.yaml", text.as_bytes())]);
    let took = |format: &str| {
        let start = Instant::now();
        let (code, out, _) = lint(place.path(), &["--format", format], "");
        assert!(code == 1 && out.contains("NOPE"), "{out}");
        start.elapsed()
    };
    // The machine may be busy.
    let ratio = |_| took("full").as_secs_f64() / took("concise").as_secs_f64();
    let best = (0..4).map(ratio).fold(f64::MAX, f64::min);
    assert!(best < 4.0, "with excerpts it takes {best:.1} times as long");
}
