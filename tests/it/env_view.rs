//! The JSON of `podlens env`: `podlens/env/v2`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::command::{directory, run};

fn view(text: &str, arguments: &[&str]) -> Value {
    let place = directory(&[("all.yaml", text.as_bytes())]);
    let (code, out, err) = run(place.path(), &[&["env", "-o", "json", "all.yaml"], arguments].concat(), "");
    assert_eq!((code, err.as_str()), (0, ""), "{text}");
    serde_json::from_str(&out).expect("podlens prints JSON")
}

fn table(text: &str) -> String {
    let place = directory(&[("all.yaml", text.as_bytes())]);
    run(place.path(), &["env", "all.yaml"], "").1
}

fn names(container: &Value) -> Vec<&str> {
    container["env"].as_array().expect("a list").iter().filter_map(|it| it["name"].as_str()).collect()
}

const SERVICES: &str = "---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: db}, spec: {ports: [{port: 5432}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: peers}, spec: {clusterIP: None, ports: [{port: 1}]}}
";

fn pod(spec: &str, fields: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n{spec}  containers:\n    - name: main\n      \
         image: app\n{fields}"
    )
}

#[test]
fn variables_of_services_are_shown_on_request() {
    let text = pod("", "      env:\n        - {name: DB_SERVICE_PORT, value: '1'}\n") + SERVICES;
    let short = view(&text, &[]);
    assert_eq!(short["schema"], "podlens/env/v2");
    let workload = &short["workloads"][0];
    assert_eq!(workload["services"], json!(["db", "kubernetes", "web"]));
    assert_eq!(workload["view"], Value::Null);
    assert!(workload.as_object().expect("an object").contains_key("view"));
    assert_eq!(names(&workload["containers"][0]), ["DB_SERVICE_PORT"]);
    assert_eq!(workload["containers"][0]["env"][0]["hides"][0]["object"], "db");
    let all = view(&text, &["--all"]);
    let container = &all["workloads"][0]["containers"][0];
    assert!(names(container).contains(&"WEB_SERVICE_HOST") && names(container).contains(&"KUBERNETES_PORT"), "{all}");
    let table = table(&text);
    assert!(table.ends_with("\n\n  services: db, kubernetes, web\n") && !table.contains("WEB_SERVICE"), "{table}");
    // Without links only the service of the API server is left.
    let text = pod("  enableServiceLinks: false\n", "") + SERVICES;
    assert_eq!(view(&text, &[])["workloads"][0]["services"], json!(["kubernetes"]));
}

#[test]
fn a_reference_says_why_it_is_not_expanded() {
    let fields = "      args: [$(WEB_SERVICE_HOST), $(GHOST_SERVICE_HOST), $(PEERS_SERVICE_HOST), $(NOPE)]
      livenessProbe: {exec: {command: [check, $(K), $(WEB_SERVICE_HOST), $(NOPE)]}}
      envFrom: [{configMapRef: {name: c}}]
      env:
        - {name: A, value: $(B)$(A)}
        - {name: B, value: x}
";
    let map = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {K: v}}\n";
    let whys = |links: &str| {
        let view = view(&(pod(links, fields) + map + SERVICES), &[]);
        let all = view["workloads"][0]["containers"][0]["unresolved"].as_array().expect("a list").clone();
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        all.iter().map(|it| format!("{} {}", text(&it["name"]), text(&it["why"]))).collect::<Vec<_>>()
    };
    let off = [
        "WEB_SERVICE_HOST linksOff",
        "GHOST_SERVICE_HOST linksOff",
        "PEERS_SERVICE_HOST undefined",
        "NOPE undefined",
        "K probe",
        "WEB_SERVICE_HOST undefined",
        "NOPE undefined",
        "B forward",
        "A self",
    ];
    assert_eq!(whys("  enableServiceLinks: false\n"), off);
    let on = ["PEERS_SERVICE_HOST undefined", "NOPE undefined", "K probe", "WEB_SERVICE_HOST probe"];
    assert_eq!(whys("")[..4], on);
}

#[test]
fn sources_with_unknown_keys_are_listed() {
    let fields = "      envFrom:
        - {configMapRef: {name: shop-conifg}}
        - {prefix: S_, secretRef: {name: sealed}}
        - {configMapRef: {name: known}}
";
    let others = "---
{apiVersion: v1, kind: ConfigMap, metadata: {name: known}, data: {K: v}}
---
{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: sealed}, spec: {encryptedData: {PASSWORD: x}}}
";
    let text = pod("", fields) + others;
    let view = view(&text, &[]);
    let expected = json!([
        {"kind": "configMap", "object": "shop-conifg", "prefix": "", "why": "not in these files"},
        {"kind": "secret", "object": "sealed", "prefix": "S_", "why": "comes from a SealedSecret, may have more keys"},
    ]);
    assert_eq!(view["workloads"][0]["containers"][0]["opaque"], expected);
    let table = table(&text);
    for line in [
        "    ? configMap shop-conifg may add variables: not in these files\n",
        "    ? secret sealed may add variables S_*: comes from a SealedSecret, may have more keys\n",
    ] {
        assert!(table.contains(line), "{table}");
    }
}

#[test]
fn what_keeps_a_container_from_starting_is_listed() {
    let spec = "  volumes: [{name: v, emptyDir: {}}]
  initContainers:
    - name: write
      image: app
      command: [sh, -c, 'echo \"not valid\" > /v/b.env']
      volumeMounts: [{name: v, mountPath: /v}]
";
    let fields = "      volumeMounts:
        - {name: v, mountPath: /data, subPathExpr: $(EMPTY)}
      env:
        - {name: KEY, valueFrom: {configMapKeyRef: {name: c, key: nope}}}
        - {name: FILE, valueFrom: {fileKeyRef: {volumeName: v, path: a.env, key: K}}}
        - {name: BAD, valueFrom: {fileKeyRef: {volumeName: v, path: b.env, key: K}}}
        - {name: FIELD, valueFrom: {fieldRef: {fieldPath: metadata.nmae}}}
        - {name: EMPTY, value: ''}
        - {name: OPTIONAL, valueFrom: {configMapKeyRef: {name: c, key: nope, optional: true}}}
        - {name: ELSEWHERE, valueFrom: {configMapKeyRef: {name: other, key: nope}}}
        - {name: KEY, value: replaced}
";
    let map = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {K: v}}\n";
    let text = pod(spec, fields) + map;
    let view = view(&text, &[]);
    let containers = view["workloads"][0]["containers"].as_array().expect("a list");
    assert_eq!(containers[0]["failures"], json!([]));
    let failure =
        |name: &str, why: &str, line: u32| json!({"name": name, "why": why, "file": "all.yaml", "line": line});
    // The kubelet reads an entry also where a later one replaces its value.
    let expected = json!([
        failure("KEY", "missingKey", 17),
        failure("FILE", "missingFile", 18),
        failure("BAD", "unreadableFile", 19),
        failure("FIELD", "refusedSource", 20),
        failure("EMPTY", "emptySubPath", 15),
    ]);
    assert_eq!(containers[1]["failures"], expected);
    let table = table(&text);
    for line in [
        "    ! KEY keeps the container from starting: its key does not exist  all.yaml:17:18\n",
        "    ! FILE keeps the container from starting: nothing writes its env file before the container starts  all.yaml:18:18\n",
        "    ! BAD keeps the container from starting: its env file cannot be read  all.yaml:19:18\n",
        "    ! FIELD keeps the container from starting: the API server refuses it (`metadata.nmae` is not a field that a variable can refer to)  all.yaml:20:18\n",
        "    ! $(EMPTY) keeps the container from starting: it is empty  all.yaml:15:52\n",
    ] {
        assert!(table.contains(line), "{line}{table}");
    }
}

/// Another tool may fill a ConfigMap without keys, and the value of a key may come from another object of the same name.
#[test]
fn a_key_that_may_exist_is_not_a_failure() {
    let fields = "      env:\n        - {name: KEY, valueFrom: {configMapKeyRef: {name: c, key: nope}}}\n";
    let map = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n";
    let view = view(&(pod("", fields) + map), &[]);
    assert_eq!(view["workloads"][0]["containers"][0]["failures"], json!([]));
}

#[test]
fn the_length_of_a_secret_is_not_shown() {
    let secret =
        "---\n{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {PASSWORD: correct horse battery}}\n";
    let fields = "      envFrom: [{secretRef: {name: s}}]
      args: [--password=$(PASSWORD)]
      env: [{name: URL, value: 'x:$(PASSWORD)@y'}]
";
    let text = pod("", fields) + secret;
    let place = directory(&[("all.yaml", text.as_bytes())]);
    for arguments in
        [&["env"][..], &["env", "-o", "json"], &["env", "-o", "dotenv"], &["render"], &["render", "--diff"]]
    {
        let (_, out, err) = run(place.path(), arguments, "");
        assert!(!out.contains("21") && !out.contains("bytes") && !out.contains("horse") && err.is_empty(), "{out}");
    }
    let (_, out, _) = run(place.path(), &["env"], "");
    assert!(out.contains("PASSWORD  •••  ") && out.contains("x:<secret s/PASSWORD>@y"), "{out}");
}

/// The base of a patch may have what the patch lacks, and the output of a Helm action is not known.
#[test]
fn a_patch_or_a_helm_template_may_lack_a_part() {
    let patch = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: main
          env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: a.env, key: K}}}]
          volumeMounts: [{name: v, mountPath: /v, subPathExpr: $(NAME)}]
";
    let chart = "apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: main
      image: app
      volumeMounts: [{name: v, mountPath: /v, subPathExpr: $(NAME)}]
      {{- with .Values.env }}
      env: {{ toYaml . | nindent 8 }}
      {{- end }}
";
    let place = directory(&[
        ("kustomization.yaml", b"patches: [{path: patch.yaml}]\n"),
        ("patch.yaml", patch.as_bytes()),
        ("chart/Chart.yaml", b"apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("chart/templates/web.yaml", chart.as_bytes()),
    ]);
    let (_, out, err) = run(place.path(), &["env", "-o", "json"], "");
    let view: Value = serde_json::from_str(&out).expect("podlens prints JSON");
    let workloads = view["workloads"].as_array().expect("a list");
    assert_eq!(workloads.len(), 2, "{out}{err}");
    for workload in workloads {
        assert_eq!(workload["containers"][0]["failures"], json!([]), "{workload}");
    }
}

/// `env` lists a reference exactly where a rule reports one, whatever is between the parentheses and whoever reads it.
#[test]
fn references_are_listed_where_rules_report_them() {
    const RULES: [&str; 8] = [
        "undefined-variable",
        "forward-reference",
        "self-reference",
        "malformed-reference",
        "command-substitution-outside-shell",
        "probe-literal-only",
        "service-links-off",
        "headless-service-variable",
    ];
    const STARTS: [&str; 13] =
        ["", "NAME", "MAP", "LATER", "NOPE", "x", "é", "date", "params", "#", "#NAME", "./x", " "];
    const ENDS: [&str; 24] = [
        "", " ", "[0]", "|x", "=b", ":-y", ": y", ":y z", "%x", "'x'", "(x", "$(NAME", "$$x", "\n", " a b", "/x", "@",
        "*", "?", "{x}", " \"a b\"", ".x", "${x}", "{{ x }}",
    ];
    let texts = STARTS.iter().flat_map(|start| ENDS.iter().map(move |end| format!("a $({start}{end}) b")));
    let texts: Vec<String> = texts.map(|it| serde_json::to_string(&it).expect("a text")).collect();
    let list = |from: usize| {
        let entries =
            texts.iter().enumerate().map(|(at, it)| format!("        - {{name: E{}, value: {it}}}\n", at + from));
        entries.collect::<String>()
    };
    let items = || texts.iter().map(|it| format!("        - {it}\n")).collect::<String>();
    let names = "        - {name: NAME, value: v}\n";
    let later = "        - {name: LATER, value: v}\n";
    let from = "      envFrom: [{configMapRef: {name: c}}]\n";
    let map = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {MAP: v}}\n";
    let script = |text: &str| format!("      command: [sh, -c, {text}]\n");
    let fields = [
        format!("      env:\n{names}{}{later}", list(0)),
        // E1 and what it refers to become parts of a script.
        format!("      env:\n{names}{}{later}{}", list(0), script("\"$(E1) $(E30)\"")),
        format!("      env:\n{names}{}{later}{}", list(0), script("'eval \"$E1\"'")),
        format!("      env:\n{names}{later}      command: [serve]\n      args:\n{}", items()),
        format!("      env:\n{names}{later}      args:\n{}", items()),
        format!("      env:\n{names}{later}      command: [python]\n      args:\n{}", items()),
        format!("      env:\n{names}{later}{from}      livenessProbe:\n       exec:\n        command:\n{}", items()),
        format!("      env:\n{names}{later}{}      args:\n{}", script("x"), items()),
    ];
    let mut listed_in_all = 0;
    for fields in fields {
        let text = pod("", &fields) + map;
        let position = |it: &Value| (it["line"].as_u64(), it["column"].as_u64());
        let view = view(&text, &[]);
        let listed: BTreeSet<_> = view["workloads"][0]["containers"][0]["unresolved"]
            .as_array()
            .expect("a list")
            .iter()
            .map(position)
            .collect();
        let place = directory(&[("all.yaml", text.as_bytes())]);
        let (_, out, _) = run(place.path(), &["lint", "-o", "json", "all.yaml"], "");
        let report: Value = serde_json::from_str(&out).expect("podlens prints JSON");
        let findings = report["findings"].as_array().expect("a list").iter();
        let reported: BTreeSet<_> = findings
            .filter(|it| RULES.contains(&it["rule"].as_str().expect("a rule")))
            .map(|it| position(&it["range"]["start"]))
            .collect();
        let line =
            |at: &(Option<u64>, Option<u64>)| text.lines().nth(at.0.map_or(0, |it| it as usize - 1)).map(str::trim);
        let silent: Vec<_> = listed.difference(&reported).map(line).collect();
        let hidden: Vec<_> = reported.difference(&listed).map(line).collect();
        assert!(silent.is_empty() && hidden.is_empty(), "not reported: {silent:#?}\nnot listed: {hidden:#?}");
        listed_in_all += listed.len();
    }
    assert!(listed_in_all > 500, "only {listed_in_all}");
}
