//! Templates are the objects that processing makes of them: environments, findings and places agree.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use podlens::build::{self, ObjectList, ProcessOptions, ProvenanceFiles, process_template, select_template};
use podlens::ide::EnvironmentViewer;
use podlens::resolve::Resolver;
use podlens::rules;
use podlens::syntax;
use podlens::workspace::{File, Workspace};
use serde_json::Value as Json;
use yaml_rust2::{Yaml, YamlLoader};

use crate::findings::lint;
use crate::model::case::Random;

/// Names and values of parameters. Each value is used as a name, a key, a port and a text.
const VALUES: [(&str, &str); 7] = [
    ("NAME", "web"),
    ("PORT", "8080"),
    ("KEY", "A"),
    ("REF", "$(A)"),
    ("NESTED", "${NAME}"),
    ("FLAG", "true"),
    ("EMPTY", ""),
];

/// A scalar that may refer to parameters and variables.
fn text(random: &mut Random) -> String {
    const TEXTS: [&str; 16] = [
        "plain",
        "${NAME}",
        "x-${NAME}-y",
        "$(A)",
        "$(B)/${NAME}",
        "${REF}",
        "$$(A)",
        "${NESTED}-${NAME}",
        "$(${KEY})",
        "${UNDECLARED}",
        "$(C)",
        "${PORT}",
        "http://$(A):${PORT}",
        "${FLAG}",
        "${EMPTY}",
        "$(WEB_SERVICE_HOST)",
    ];
    format!("'{}'", TEXTS[random.below(TEXTS.len())])
}

fn name(random: &mut Random) -> &'static str {
    const NAMES: [&str; 6] = ["A", "B", "C", "'${KEY}'", "'${KEY}_X'", "D"];
    NAMES[random.below(NAMES.len())]
}

/// A container: its entries refer to each other, to keys and to parameters.
fn container(random: &mut Random, out: &mut String, indent: &str) {
    let _ = writeln!(out, "{indent}- name: main\n{indent}  image: i\n{indent}  env:");
    for _ in 0..1 + random.below(5) {
        let name = name(random);
        match random.below(4) {
            0 => {
                let key = ["A", "'${KEY}'", "missing"][random.below(3)];
                let _ = writeln!(
                    out,
                    "{indent}  - {{name: {name}, valueFrom: {{configMapKeyRef: {{name: '${{NAME}}-config', key: {key}}}}}}}"
                );
            }
            _ => {
                let _ = writeln!(out, "{indent}  - {{name: {name}, value: {}}}", text(random));
            }
        }
    }
    if random.below(2) == 0 {
        let _ = writeln!(out, "{indent}  envFrom: [{{configMapRef: {{name: '${{NAME}}-config'}}}}]");
    }
    let _ = writeln!(out, "{indent}  args: [{}, {}]", text(random), text(random));
}

/// A template whose parameters all have values.
fn template(random: &mut Random) -> String {
    let mut out = String::from("apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\n");
    if random.below(2) == 0 {
        out += "labels: {app: '${NAME}', fixed: x}\n";
    }
    out += "parameters:\n";
    for (name, value) in VALUES {
        let _ = writeln!(out, "- {{name: {name}, value: '{value}'}}");
    }
    out += "objects:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: '${NAME}-config'}\n  data:\n";
    let _ = writeln!(out, "    A: {}\n    '${{KEY}}_Y': {}", text(random), text(random));
    out += "- apiVersion: v1\n  kind: Service\n  metadata: {name: '${NAME}'}\n  spec: {clusterIP: 10.0.0.1, ports: [{port: '${{PORT}}'}]}\n";
    if random.below(2) == 0 {
        out += "- apiVersion: settings.k8s.io/v1alpha1\n  kind: PodPreset\n  metadata: {name: preset}\n  spec:\n    selector: {matchLabels: {role: '${NAME}'}}\n";
        let _ = writeln!(out, "    env: [{{name: {}, value: {}}}]", name(random), text(random));
    }
    out += "- apiVersion: v1\n  kind: Pod\n  metadata: {name: '${NAME}-pod', labels: {role: web}}\n  spec:\n    containers:\n";
    container(random, &mut out, "    ");
    out += "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: '${NAME}'}\n  spec:\n    replicas: ${{PORT}}\n    template:\n      metadata: {labels: {role: '${NAME}'}}\n      spec:\n        containers:\n";
    container(random, &mut out, "        ");
    out
}

/// The objects that processing makes of a template, as a List.
fn processed(template: &str) -> String {
    let tree = syntax::parse(template);
    let selected = select_template(&tree).expect("a template");
    let processed = process_template(&selected, &ProcessOptions::default(), &mut |_| 0);
    assert!(processed.errors.is_empty(), "{:?}\n{template}", processed.errors);
    serde_json::to_string_pretty(&ObjectList::of(&processed.objects)).expect("JSON")
}

const SETTINGS: &str = "kubernetes: '1.19'\n";

/// The environments of a file, without the places of values.
fn environments(file: &str, source: &str) -> Json {
    let mut workspace = Workspace::default();
    workspace.set_disk("podlens.yaml", File::read("podlens.yaml", SETTINGS));
    workspace.set_disk(file, File::read(file, source));
    let snapshot = workspace.snapshot();
    let text: Arc<str> = source.into();
    let resolver = Resolver::new(&snapshot, None);
    let viewer = EnvironmentViewer {
        snapshot: &snapshot,
        resolver: &resolver,
        path: &|path| path.to_owned(),
        text: &|_| Some(Arc::clone(&text)),
        all: true,
    };
    let (path, facts) = snapshot.entry(file).expect("the file");
    let objects = build::objects(&snapshot, path, facts).filter(|it| it.is_workload());
    let views: Vec<_> = objects.filter_map(|it| viewer.workload(it, |_| true)).collect();
    without_places(serde_json::to_value(views).expect("JSON"))
}

fn without_places(value: Json) -> Json {
    match value {
        Json::Object(map) => {
            let kept = map.into_iter().filter(|(key, _)| !matches!(key.as_str(), "file" | "line" | "column" | "view"));
            let mut kept: serde_json::Map<_, _> = kept.map(|(key, value)| (key, without_places(value))).collect();
            // They are in the order of the text, and JSON has sorted keys.
            if let Some(Json::Array(unresolved)) = kept.get_mut("unresolved") {
                unresolved.sort_by_key(Json::to_string);
            }
            Json::Object(kept)
        }
        Json::Array(items) => Json::Array(items.into_iter().map(without_places).collect()),
        other => other,
    }
}

/// The findings about built objects: how often each rule reports each name.
fn findings(file: &str, source: &str) -> BTreeMap<(String, String), usize> {
    let mut found = BTreeMap::new();
    let files = [("podlens.yaml", SETTINGS), (file, source)];
    for finding in lint(&files.map(|(path, text)| (path.to_owned(), text.to_owned())).into()) {
        let rule = rules::find_rule(finding.rule).expect("a rule");
        if rule.looks_at_built_objects() {
            assert!(source.is_char_boundary(finding.location.span.end), "{finding:?}");
            *found.entry((finding.rule.to_owned(), finding.name)).or_default() += 1;
        }
    }
    found
}

#[test]
fn a_template_has_the_environments_and_findings_of_its_objects() {
    for seed in 0..u64::from(crate::cases(300, 5_000)) {
        let template = template(&mut Random::new(seed));
        let objects = processed(&template);
        let (own, expected) = (environments("all.yaml", &template), environments("all.json", &objects));
        let [own, expected] = [own, expected].map(|it| serde_json::to_string_pretty(&it).expect("JSON"));
        let difference = similar::TextDiff::from_lines(&expected, &own);
        assert!(own == expected, "seed {seed}\n{}\n{template}\n{objects}", difference.unified_diff());
        let (own, expected) = (findings("all.yaml", &template), findings("all.json", &objects));
        assert_eq!(own, expected, "seed {seed}\n{template}\n{objects}");
    }
}

/// The values of the parameters of a template, read by another YAML reader.
fn parameter_values(template: &str) -> BTreeMap<String, String> {
    let documents = YamlLoader::load_from_str(template).expect("YAML");
    let list = documents[0]["parameters"].as_vec().expect("a list").clone();
    let text = |it: &Yaml| it.as_str().expect("a string").to_owned();
    list.iter().map(|it| (text(&it["name"]), text(&it["value"]))).collect()
}

/// Every scalar of a JSON value, by path.
fn scalars(value: &Json, path: String, all: &mut BTreeMap<String, String>) {
    match value {
        Json::Object(map) => {
            for (key, value) in map {
                scalars(value, if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, all);
            }
        }
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| scalars(item, format!("{path}[{at}]"), all));
        }
        Json::String(text) => drop(all.insert(path, text.clone())),
        Json::Null => {}
        other => drop(all.insert(path, other.to_string())),
    }
}

#[test]
fn every_scalar_has_its_pieces_and_their_places() {
    for seed in 0..u64::from(crate::cases(100, 2_000)) {
        let source = template(&mut Random::new(seed));
        let values = parameter_values(&source);
        let mut workspace = Workspace::default();
        workspace.set_disk("t.yaml", File::read("t.yaml", &source));
        let snapshot = workspace.snapshot();
        let text: Arc<str> = source.as_str().into();
        let files = ProvenanceFiles { text: &|_| Some(Arc::clone(&text)), path: &|path| path.to_owned() };
        let lines: Vec<&str> = source.lines().collect();
        let (path, facts) = snapshot.entry("t.yaml").expect("the file");
        let processed: Json = serde_json::from_str(&processed(&source)).expect("JSON");
        let objects: Vec<_> = build::objects(&snapshot, path, facts).filter(|it| it.tree().is_some()).collect();
        assert_eq!(objects.len(), processed["items"].as_array().expect("items").len());
        for (object, json) in objects.into_iter().zip(processed["items"].as_array().expect("items")) {
            let mut expected = BTreeMap::new();
            scalars(json, String::new(), &mut expected);
            let fields = build::fields(object, object.tree().expect("a tree"), &files);
            let found: BTreeMap<String, String> = fields
                .iter()
                .map(|it| (it.path.clone(), it.pieces.iter().map(|it| it.text.as_str()).collect()))
                .collect();
            assert_eq!(found, expected, "seed {seed}\n{source}");
            for piece in fields.iter().flat_map(|it| &it.pieces) {
                let (line, column) = (piece.line.expect("a line") as usize, piece.column.expect("a column") as usize);
                let rest: String = lines[line - 1].chars().skip(column - 1).collect();
                let rest = rest.trim_start_matches('\'');
                match piece.by {
                    "parameter" => {
                        assert!(values.values().any(|it| *it == piece.text), "{piece:?}");
                        assert!(rest.starts_with(&piece.text), "seed {seed}: {piece:?} at {rest}\n{source}");
                    }
                    "source" | "label" => {
                        assert!(rest.starts_with(&piece.text), "seed {seed}: {piece:?} at {rest}\n{source}");
                    }
                    other => panic!("{other}: {piece:?}"),
                }
            }
        }
    }
}
