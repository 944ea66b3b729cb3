//! Templates: the output and errors of `podlens process`, and parameters in containers.

use std::fmt::Write as _;

use podlens::build::{ProcessOptions, process_template, select_template};
use podlens::syntax::parse;
use proptest::prelude::*;

use crate::command::{directory, project, run};
use crate::fixture::suites_in;

#[test]
fn the_same_seed_gives_the_same_values() {
    let file = "fixtures/templates/mongodb-openshift.yaml";
    let once = |seed: &[&str]| run(project(), &[&["process", file], seed].concat(), "").1;
    assert_eq!(once(&["--seed", "7"]), once(&["--seed", "7"]));
    assert_ne!(once(&["--seed", "7"]), once(&["--seed", "8"]));
    assert_ne!(once(&[]), once(&[]));
    let (code, _, err) = run(project(), &["process", file, "--seed", "7"], "");
    assert_eq!(code, 0);
    let never = "MONGODB_USER (never `Z`, `9`), MONGODB_PASSWORD (never `z`, `Z`, `9`)";
    assert_eq!(
        err,
        format!("podlens: the last character of a range is never generated (use --no-exact to include it): {never}\n")
    );
    assert_eq!(run(project(), &["process", file, "--seed", "7", "--no-exact"], "").2, "");
    let (_, out, _) = run(project(), &["process", file, "--from", "MONGODB_USER=x[9-9]{3}", "--no-exact"], "");
    assert!(out.contains("\"x999\""), "{out}");
}

/// What `process` prints has no errors in `lint` if the template has none, whatever the types of its parameters are.
#[test]
fn processed_objects_have_no_errors() {
    let suites = suites_in("designs").into_iter().filter(|(name, _)| name == "templates");
    let mut count = 0;
    for case in suites.flat_map(|(_, suite)| suite.cases) {
        for file in case.files().filter(|it| it.text.contains("kind: Template\n")) {
            let place = directory(&[("podlens.yaml", b"proposals: true\n"), ("template.yaml", file.text.as_bytes())]);
            let errors = || {
                let (_, found, _) = run(place.path(), &["lint", "-o", "json"], "");
                let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
                found["summary"]["errors"].as_u64()
            };
            if errors() != Some(0) {
                continue;
            }
            let (code, out, _) = run(place.path(), &["process", "-", "--seed", "1", "-o", "yaml"], &file.text);
            assert_eq!(code, 0, "{}", case.title);
            std::fs::write(place.path().join("template.yaml"), &out).expect("written");
            assert_eq!(errors(), Some(0), "{}\n{out}", case.title);
            count += 1;
        }
    }
    assert!(count >= 10, "{count} templates");
}

#[test]
fn parameters_are_a_table() {
    let (code, out, _) = run(project(), &["process", "fixtures/templates/mongodb.json", "--parameters"], "");
    assert_eq!(code, 0);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 6, "{out}");
    let words: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(words, ["NAME", "DESCRIPTION", "TYPE", "REQUIRED", "GENERATOR", "VALUE"]);
    assert!(
        lines[2].starts_with("MONGODB_USER ") && lines[2].ends_with("  string  yes       expression  user[A-Z0-9]{3}"),
        "{out}"
    );
}

const SMALL: &str = "apiVersion: template.openshift.io/v1
kind: Template
objects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: '${NAME}'}, data: {port: '${PORT}'}}
parameters:
- {name: NAME, required: true}
- {name: PORT, value: '80'}
";

#[test]
fn values_come_from_flags_and_files() {
    let place = directory(&[
        ("t.yaml", SMALL.as_bytes()),
        ("a.params", b"# first\nNAME=web # a comment\nexport PORT: '8080'\n"),
        ("b.params", b"PORT=1\nNAME=b\nNAME=c\n"),
        ("broken.params", b"NAME=web\npassword hunter2\n"),
        ("digit.params", b"NAME=web\n1A=x\n"),
        ("unknown.params", b"# first\nNAME=web\n\nPROT=80\nexport OTHER: 1\n"),
    ]);
    let ran = |arguments: &[&str]| run(place.path(), &[&["process", "t.yaml"], arguments].concat(), "");
    let (code, out, err) = ran(&["--param-file", "a.params"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("\"port\": \"8080\"") && out.contains("\"name\": \"web\""), "{out}");
    let (_, out, err) = ran(&["--param-file", "b.params", "--param-file", "a.params", "-p", "PORT=7"]);
    assert!(out.contains("\"port\": \"7\"") && out.contains("\"name\": \"c\""), "{out}");
    let expected = [
        "b.params: `PORT` already has a value, so this one is ignored",
        "a.params: `NAME` already has a value, so this one is ignored",
        "a.params: `PORT` already has a value, so this one is ignored",
    ];
    assert_eq!(err.lines().map(|it| it.trim_start_matches("podlens: ")).collect::<Vec<_>>(), expected);
    let (code, out, err) = ran(&["--param-file", "broken.params"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(err, "podlens: broken.params:2: expected `NAME=VALUE` or `NAME: VALUE`\n");
    // All names that the template does not have are reported, with their lines.
    let (code, out, err) = ran(&["--param-file", "unknown.params", "-p", "LAST=1"]);
    assert_eq!((code, out.as_str()), (1, ""));
    let expected = "podlens: t.yaml: the template has no parameter `LAST`\n\
                    podlens: unknown.params:5: the template has no parameter `OTHER`\n\
                    podlens: unknown.params:4: the template has no parameter `PROT`; did you mean `PORT`?\n";
    assert_eq!(err, expected);
    assert_eq!(ran(&["--param-file", "unknown.params", "--ignore-unknown-parameters"]).0, 0);
    // T10.3: names that are not valid for a variable are refused, even if unknown ones are ignored.
    let reason = "`oc process` refuses a name that is not valid for a variable, such as one that starts with a digit";
    let (code, out, err) = ran(&["-p", "NAME=a", "-p", "1A=x"]);
    assert_eq!((code, out.as_str(), err.as_str()), (1, "", format!("podlens: --param 1A: {reason}\n").as_str()));
    let (code, out, err) = ran(&["--param-file", "digit.params", "--ignore-unknown-parameters"]);
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (1, "", format!("podlens: digit.params:2: `1A`: {reason}\n").as_str())
    );
    let (code, out, _) = run(place.path(), &["process", "-", "-p", "NAME=a=b,c", "-l", "x=1,y=2"], SMALL);
    assert_eq!(code, 0);
    assert!(out.contains("\"name\": \"a=b,c\"") && out.contains("\"y\": \"2\""), "{out}");
}

#[test]
fn all_errors_are_reported_and_nothing_is_printed() {
    let place = directory(&[
        ("t.yaml", SMALL.as_bytes()),
        ("pod.yaml", b"apiVersion: v1\nkind: Pod\n"),
        ("number.yaml", SMALL.replace("'80'", "80").as_bytes()),
        ("broken.yaml", b"kind: Template\napiVersion: v1\nobjects: [{\n"),
        ("loop.yaml", b"kind: Template\napiVersion: v1\nobjects: [{kind: X, a: &a {b: *a}}]\n"),
        ("two.yaml", format!("{SMALL}---\nkind: Pod\napiVersion: v1\n").as_bytes()),
    ]);
    let refused = |arguments: &[&str]| {
        let (code, out, err) = run(place.path(), &[&["process"], arguments].concat(), "");
        assert_eq!(out, "", "{arguments:?}");
        (code, err.replace("podlens: ", ""))
    };
    let (code, err) = refused(&["t.yaml", "-p", "NAEM=x", "-p", "OTHER=y"]);
    let expected = "t.yaml: the template has no parameter `NAEM`; did you mean `NAME`?\n\
                    t.yaml: the template has no parameter `OTHER`\n\
                    t.yaml:6:10: parameter `NAME` is required and has no value\n";
    assert_eq!((code, err.as_str()), (1, expected));
    assert_eq!(refused(&["pod.yaml"]), (1, "pod.yaml:1:1: this is not a Template but a `Pod`\n".into()));
    assert_eq!(
        refused(&["number.yaml", "-p", "NAME=a"]).1,
        "number.yaml:7:23: parameter `PORT`: `value` must be a string\n"
    );
    assert_eq!(refused(&["loop.yaml"]).1, "loop.yaml:3:11: objects[0]: too large after expanding its YAML aliases\n");
    assert_eq!(refused(&["broken.yaml"]).0, 1);
    assert_eq!(refused(&["nowhere.yaml"]).0, 3);
    assert_eq!(refused(&["t.yaml", "-p", "NAME"]).0, 2);
    assert_eq!(
        refused(&["t.yaml", "-p", "NAME=1", "-p", "NAME=2"]),
        (2, "--param is given more than once for NAME\n".into())
    );
    assert_eq!(refused(&["t.yaml", "--parameters", "-o", "yaml"]).0, 2);
    assert_eq!(refused(&["t.yaml", "-o", "xml"]).0, 2);
    assert_eq!(refused(&["t.yaml", "--ask"]), (2, "--ask needs a terminal\n".into()));
    let (code, out, _) =
        run(place.path(), &["process", "t.yaml", "-p", "NAME=a", "-p", "OTHER=y", "--ignore-unknown-parameters"], "");
    assert!(code == 0 && out.contains("\"a\""), "{out}");
    let (code, _, err) = run(place.path(), &["process", "two.yaml", "-p", "NAME=a"], "");
    assert_eq!(
        (code, err.as_str()),
        (0, "podlens: two.yaml: only the first document is processed; 1 more are ignored\n")
    );
}

#[test]
fn ten_thousand_parameters_are_processed() {
    let mut text = String::from("apiVersion: v1\nkind: Template\nobjects:\n- kind: X\n  data:\n");
    for at in 0..10_000 {
        let _ = writeln!(text, "    k{at}: ${{P{at}}}");
    }
    text.push_str("parameters:\n");
    for at in 0..10_000 {
        let _ = writeln!(text, "- {{name: P{at}, required: true}}");
    }
    let tree = parse(&text);
    let selected = select_template(&tree).expect("a template");
    let outcome = process_template(&selected, &ProcessOptions::default(), &mut |_| 0);
    let problems: Vec<String> = outcome.errors.iter().map(|it| format!("{it:?}")).collect();
    let is_reported = |at: &usize| problems.get(*at).is_some_and(|it| it.contains(&format!("P{at}")));
    assert_eq!((0..10_000).find(|at| !is_reported(at)), None, "the first parameter without a problem");
    assert_eq!(problems.get(10_000), None, "one problem for each parameter");
    assert!(outcome.objects.is_empty(), "{:?}", outcome.objects);
    let values = (0..10_000).map(|at| (format!("P{at}"), format!("v{at}"))).collect();
    let outcome = process_template(&selected, &ProcessOptions { values, ..ProcessOptions::default() }, &mut |_| 0);
    assert_eq!(outcome.errors, []);
    let out = serde_json::to_string(&outcome.objects).expect("JSON");
    assert!(out.contains(r#""k9999":"v9999""#));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::cases(64, 2000)))]

    /// Every parameter is used once; its value is exactly at this position.
    #[test]
    fn every_value_is_where_its_reference_was(
        places in prop::collection::vec((0_usize..5, "[a-z ]{0,3}", "[a-z ]{0,3}"), 1..20),
        seed in any::<u64>(),
    ) {
        let value = |at: usize| format!("<{seed:x}-{at}>");
        let mut objects = String::new();
        let mut expected = Vec::new();
        for (at, (shape, before, after)) in places.iter().enumerate() {
            let (written, found) = (format!("{before}${{P{at}}}{after}"), format!("{before}{}{after}", value(at)));
            let (object, pointer, key) = match shape {
                0 => (format!("v: '{written}'"), "/v".to_owned(), None),
                1 => (format!("v: [0, {{w: \"{written}\"}}]"), "/v/1/w".to_owned(), None),
                2 => (format!("v: {{'{written}': 1}}"), "/v".to_owned(), Some(found.clone())),
                3 => (format!("metadata: {{name: '{written}', labels: {{a: b}}}}"), "/metadata/name".to_owned(), None),
                _ => (format!("v: '${{{{P{at}}}}}'"), "/v".to_owned(), None),
            };
            let found = if *shape == 4 { value(at) } else { found };
            let _ = writeln!(objects, "- {{apiVersion: v1, kind: X, {object}}}");
            expected.push((pointer, key, found));
        }
        let parameters: String = (0..places.len()).fold(String::new(), |mut all, at| {
            let _ = writeln!(all, "- {{name: P{at}, value: '{}'}}", value(at));
            all
        });
        let text = format!("apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n{objects}parameters:\n{parameters}");
        let tree = parse(&text);
        let outcome = process_template(&select_template(&tree).expect("a template"), &ProcessOptions::default(), &mut |_| 0);
        prop_assert_eq!(&outcome.errors, &[]);
        let out = serde_json::to_string(&outcome.objects).expect("JSON");
        let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        for (at, (pointer, key, found)) in expected.into_iter().enumerate() {
            prop_assert_eq!(out.matches(&value(at)).count(), 1, "{} in {}", at, out);
            let place = json[at].pointer(&pointer);
            match key {
                Some(key) => prop_assert!(place.is_some_and(|it| it.get(&key).is_some()), "{} in {}", key, out),
                None => prop_assert_eq!(place.and_then(|it| it.as_str()), Some(found.as_str())),
            }
        }
    }
}

#[test]
fn a_pod_in_a_template_gets_its_parameters() {
    let text = "apiVersion: template.openshift.io/v1
kind: Template
objects:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: '${NAME}-settings', namespace: elsewhere}
  data: {LEVEL: '${LEVEL}', COLOUR: blue}
- apiVersion: v1
  kind: Service
  metadata: {name: '${NAME}-db'}
  spec: {clusterIP: 10.0.0.1, ports: [{port: 5432}]}
- apiVersion: v1
  kind: Service
  metadata: {name: '${NAME}-web'}
  spec: {clusterIP: '${IP}', ports: [{port: '${{PORT}}'}, {port: '${{OPEN}}', name: open}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: '${NAME}'}
  spec:
    containers:
    - name: main
      image: web
      envFrom: [{configMapRef: {name: '${NAME}-settings'}}]
      env:
      - {name: '${PREFIX}_URL', value: 'http://$(SHOP_DB_SERVICE_HOST):${PORT}/${PATH_}'}
      - {name: PASSWORD, value: '${PASSWORD}'}
      - {name: COPY, value: '$(${PREFIX}_URL)${CHAIN}'}
      - {name: OPEN, value: 'x${OPEN}'}
      - {name: SHADE, valueFrom: {configMapKeyRef: {name: '${NAME}-settings', key: '${KEY}'}}}
      args: ['--port=${PORT}', '$(${PREFIX}_URL)', '$(SHOP_WEB_PORT_8080_TCP) $(SHOP_WEB_SERVICE_PORT_OPEN)']
parameters:
- {name: NAME, value: shop}
- {name: PREFIX, value: APP}
- {name: PORT, value: '8080'}
- {name: PATH_, value: ''}
- {name: PASSWORD, generate: expression, from: '[a-z]{8}'}
- {name: OPEN}
- {name: LEVEL, value: debug}
- {name: IP, value: 10.0.0.2}
- {name: KEY, value: COLOUR}
- {name: CHAIN, value: '$(SHADE)!'}
";
    let place = directory(&[("t.yaml", text.as_bytes())]);
    let (code, out, err) = run(place.path(), &["env", "t.yaml", "--format", "json"], "");
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let container = &json["workloads"][0]["containers"][0];
    let shown: Vec<String> = container["env"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|it| it["source"]["kind"] != "service")
        .map(|it| {
            format!(
                "{}={} {}",
                it["name"].as_str().unwrap_or("?"),
                it["value"].as_str().unwrap_or("?"),
                it["state"].as_str().unwrap_or("?")
            )
        })
        .collect();
    let expected = [
        "APP_URL=http://10.0.0.1:8080/ known",
        "COLOUR=blue known",
        "COPY=http://10.0.0.1:8080/$(SHADE)! known",
        "LEVEL=debug known",
        "OPEN=x<parameter OPEN, not set> partial",
        "PASSWORD=<parameter PASSWORD, generated> unknown",
        "SHADE=blue known",
    ];
    assert_eq!(shown, expected);
    assert_eq!(container["args"][0]["value"], "--port=8080");
    assert_eq!(container["args"][1]["value"], "http://10.0.0.1:8080/");
    // A port from a parameter with a value is known, one from a parameter without a value is not.
    assert_eq!(container["args"][2]["value"], "tcp://10.0.0.2:8080 <port of shop-web>");
}
