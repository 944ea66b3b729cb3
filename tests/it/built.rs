//! Templates are the objects that processing makes of them: environments, findings and places agree. So do the
//! combinations of templates, presets, env files and service links.

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

use crate::findings::{Files, lint};
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
    const TEXTS: [&str; 18] = [
        "$(P)",
        "$(Q)-${NAME}",
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

/// The names of the variables of containers, and of presets, which seldom conflict with them.
const NAMES: [&str; 6] = ["A", "B", "C", "'${KEY}'", "'${KEY}_X'", "D"];
const PRESET_NAMES: [[&str; 3]; 2] = [["P", "'P${KEY}'", "D"], ["Q", "'Q${KEY}'", "D"]];

/// What is combined in one case. Each part is there or not.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    /// A preset in the template.
    preset_inside: bool,
    /// A preset, and a pod, in a file beside the template.
    preset_beside: bool,
    /// An init container that writes an env file, and variables that read it.
    env_file: bool,
    /// Services in `envFrom`.
    links: bool,
    /// `serviceDependencies`.
    dependencies: bool,
}

impl Parts {
    /// Every choice of two or three of the five parts, one after the other.
    fn numbered(seed: u64) -> Self {
        let chosen: Vec<u8> = (0..1 << 5).filter(|it: &u8| matches!(it.count_ones(), 2 | 3)).collect();
        let bits = chosen[usize::try_from(seed).expect("a small number") % chosen.len()];
        let has = |bit: u8| bits & 1 << bit != 0;
        Self { preset_inside: has(0), preset_beside: has(1), env_file: has(2), links: has(3), dependencies: has(4) }
    }

    /// Whether a text occurs in the template: a file beside it has no parameters.
    const PLAIN: [(&str, &str); 2] = [("${NAME}", "web"), ("${KEY}", "A")];
}

/// A `valueFrom` of an env file, mostly of one that is written.
fn file_key(random: &mut Random) -> String {
    let key = ["A", "'${KEY}'", "B", "missing"][random.below(4)];
    let path = ["app.env", "'${NAME}.env'", "other.env"][random.below(3)];
    let volume = ["env", "env", "'${NAME}'", "none"][random.below(4)];
    let optional = ["", ", optional: true"][random.below(2)];
    format!("{{fileKeyRef: {{volumeName: {volume}, path: {path}, key: {key}{optional}}}}}")
}

/// An entry of `env`: it refers to other entries, to keys, to files or to parameters.
fn entry(random: &mut Random, parts: Parts, name: &str, out: &mut String, indent: &str) {
    let _ = match random.below(5) {
        0 => {
            let key = ["A", "'${KEY}'", "missing"][random.below(3)];
            writeln!(
                out,
                "{indent}- {{name: {name}, valueFrom: {{configMapKeyRef: {{name: '${{NAME}}-config', key: {key}}}}}}}"
            )
        }
        1 if parts.env_file => writeln!(out, "{indent}- {{name: {name}, valueFrom: {}}}", file_key(random)),
        _ => writeln!(out, "{indent}- {{name: {name}, value: {}}}", text(random)),
    };
}

/// `envFrom`, with a link to a service.
fn sources(random: &mut Random, parts: Parts) -> String {
    let map = "{configMapRef: {name: '${NAME}-config'}}";
    let link = ["{service: {name: '${NAME}'}}", "{service: {name: web}, prefix: '${KEY}_'}", "{service: {name: gone}}"];
    match random.below(3) {
        0 if parts.links => format!("[{map}, {}]", link[random.below(3)]),
        1 if parts.links => format!("[{}]", link[random.below(3)]),
        _ => format!("[{map}]"),
    }
}

/// A container.
fn container(random: &mut Random, parts: Parts, out: &mut String, indent: &str) {
    let _ = writeln!(out, "{indent}- name: main\n{indent}  image: i\n{indent}  env:");
    for _ in 0..1 + random.below(5) {
        let name = NAMES[random.below(NAMES.len())];
        entry(random, parts, name, out, &format!("{indent}  "));
    }
    if random.below(2) == 0 {
        let _ = writeln!(out, "{indent}  envFrom: {}", sources(random, parts));
    }
    let _ = writeln!(out, "{indent}  args: [{}, {}]", text(random), text(random));
}

/// The fields of a pod spec.
fn pod_spec(random: &mut Random, parts: Parts, out: &mut String, indent: &str) {
    if parts.dependencies {
        let name = ["'${NAME}'", "web", "gone"][random.below(3)];
        let _ = writeln!(out, "{indent}serviceDependencies: [{{name: {name}}}]");
    }
    if parts.env_file {
        let line = ["A=a", "A=${NAME}", "B=$A", "A=$(B)"][random.below(4)];
        let path = ["app.env", "${NAME}.env"][random.below(2)];
        let _ = writeln!(
            out,
            "{indent}volumes: [{{name: env, emptyDir: {{}}}}]\n{indent}initContainers:\n{indent}- name: writer\n{indent}  \
             image: i\n{indent}  command: [sh, -c, 'echo {line} > /env/{path}']\n{indent}  volumeMounts: [{{name: env, \
             mountPath: /env}}]"
        );
    }
    let _ = writeln!(out, "{indent}containers:");
    container(random, parts, out, indent);
}

/// A preset: the one inside the template or the one beside it.
fn preset(random: &mut Random, parts: Parts, is_beside: bool, out: &mut String, indent: &str) {
    let name = if is_beside { "beside" } else { "inside" };
    let _ = writeln!(
        out,
        "{indent}apiVersion: settings.k8s.io/v1alpha1\n{indent}kind: PodPreset\n{indent}metadata: {{name: {name}}}\n\
         {indent}spec:\n{indent}  selector: {{matchLabels: {{role: '${{NAME}}'}}}}\n{indent}  env:"
    );
    let [first, rest @ ..] = PRESET_NAMES[usize::from(is_beside)];
    entry(random, parts, first, out, &format!("{indent}  "));
    for name in rest.into_iter().filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
        entry(random, parts, name, out, &format!("{indent}  "));
    }
    if random.below(2) == 0 {
        let _ = writeln!(out, "{indent}  envFrom: {}", sources(random, parts));
    }
    if random.below(6) == 0 {
        let path = ["", ", mountPath: '/${NAME}'"][random.below(2)];
        let _ = writeln!(
            out,
            "{indent}  volumes: [{{name: v, emptyDir: {{}}}}]\n{indent}  volumeMounts: [{{name: v{path}}}]"
        );
    }
}

/// A file beside the template: a preset, and a pod that gets the preset of the template. It has no parameters.
fn beside(random: &mut Random, parts: Parts) -> String {
    let mut out = String::new();
    if parts.preset_beside {
        preset(random, parts, true, &mut out, "");
        out += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: beside, labels: {role: web}}\nspec:\n";
        pod_spec(random, parts, &mut out, "  ");
    }
    Parts::PLAIN.iter().fold(out, |out, (reference, value)| out.replace(reference, value))
}

/// A template whose parameters all have values.
fn template(random: &mut Random, parts: Parts) -> String {
    let mut out = template_of_openshift(random, parts);
    // The proposed dialect has `$(P)` too, and types.
    if random.below(2) == 0 {
        out = out.replacen("template.openshift.io/v1", "v1", 1);
        out = out.replace("name: PORT, value", "name: PORT, type: int, value");
        // The values of parameters have no parameters: what is in them is left as it is.
        let (head, objects) = out.split_once("objects:").expect("objects");
        let objects = objects.replace("${NAME}", "$(NAME)").replace("replicas: ${{PORT}}", "replicas: $(PORT)");
        out = format!("{head}objects:{objects}");
    }
    out
}

/// A template of the released dialect.
fn template_of_openshift(random: &mut Random, parts: Parts) -> String {
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
    if parts.preset_inside {
        let mut inside = String::new();
        preset(random, parts, false, &mut inside, "  ");
        out += &inside.replacen("  ", "- ", 1);
    }
    out += "- apiVersion: v1\n  kind: Pod\n  metadata: {name: '${NAME}-pod', labels: {role: web}}\n  spec:\n";
    pod_spec(random, parts, &mut out, "    ");
    out += "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: '${NAME}'}\n  spec:\n    replicas: ${{PORT}}\n    template:\n      metadata: {labels: {role: '${NAME}'}}\n      spec:\n";
    pod_spec(random, parts, &mut out, "        ");
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

/// The files of a case: settings, the template or its objects, and the file beside it.
fn files(settings: &str, file: &str, source: &str, beside: &str) -> Files {
    let all = [("podlens.yaml", settings), (file, source), ("beside.yaml", beside)];
    all.map(|(path, text)| (path.to_owned(), text.to_owned())).into()
}

/// The environments of all workloads, without the places of values.
fn environments(files: &Files) -> Json {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, File::read(path, text));
    }
    let snapshot = workspace.snapshot();
    let texts: BTreeMap<&str, Arc<str>> = files.iter().map(|(path, text)| (&**path, text.as_str().into())).collect();
    let resolver = Resolver::new(&snapshot, None);
    let viewer = EnvironmentViewer {
        snapshot: &snapshot,
        resolver: &resolver,
        path: &|path| path.to_owned(),
        text: &|path| texts.get(path).map(Arc::clone),
        all: true,
    };
    let mut views = Vec::new();
    for (path, facts) in snapshot.files() {
        let objects = build::objects(&snapshot, path, facts).filter(|it| it.is_workload());
        views.extend(objects.filter_map(|it| viewer.workload(it, |_| true)));
    }
    views.sort_by_key(|it| it.name.clone());
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
fn findings(files: &Files) -> BTreeMap<(String, String), usize> {
    let mut found = BTreeMap::new();
    for finding in lint(files) {
        let rule = rules::find_rule(finding.rule).expect("a rule");
        if rule.looks_at_built_objects() {
            let text = &files[&*finding.location.file];
            assert!(text.is_char_boundary(finding.location.span.end), "{finding:?}");
            *found.entry((finding.rule.to_owned(), finding.name)).or_default() += 1;
        }
    }
    found
}

/// The settings under which the designs are compared.
const SETTINGS: [&str; 4] = ["kubernetes: '1.19'\n", "kubernetes: '1.34'\n", "{}\n", "proposals: true\n"];

/// A template and a file beside it in which two or three designs meet.
struct Combination {
    about: String,
    settings: &'static str,
    template: String,
    beside: String,
}

impl Combination {
    fn numbered(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let parts = Parts::numbered(seed);
        let settings = SETTINGS[random.below(SETTINGS.len())];
        let template = template(&mut random, parts);
        let beside = beside(&mut random, parts);
        Self { about: format!("seed {seed}, {parts:?}, {settings}"), settings, template, beside }
    }
}

/// What a case is about, and its files.
pub(crate) fn combination(seed: u64) -> (String, Files) {
    let Combination { about, settings, template, beside } = Combination::numbered(seed);
    (about, files(settings, "all.yaml", &template, &beside))
}

#[test]
fn a_template_has_the_environments_and_findings_of_its_objects() {
    // How often two situations occur together: a pair that never does is not tested.
    const SITUATIONS: [&str; 5] =
        ["\"kind\": \"envFile\"", "\"applied\": true", "\"refused\"", "\"alternatives\"", "\"object\": \"web\""];
    let pairs = SITUATIONS.iter().enumerate().flat_map(|(at, one)| SITUATIONS[at..].iter().map(move |it| (*one, *it)));
    // A pod has two presets: if one is refused, their order does not matter.
    let pairs = pairs.filter(|pair| *pair != ("\"refused\"", "\"alternatives\""));
    let mut seen: Vec<_> = pairs.map(|pair| (pair, 0)).collect();
    for seed in 0..u64::from(crate::cases(300, 5_000)) {
        let Combination { about, settings, template, beside } = Combination::numbered(seed);
        let objects = processed(&template);
        let [own, expected] = [("all.yaml", &template), ("all.json", &objects)].map(|(file, source)| {
            let files = files(settings, file, source, &beside);
            let environments = serde_json::to_string_pretty(&environments(&files)).expect("JSON");
            (environments, findings(&files))
        });
        let difference = similar::TextDiff::from_lines(&expected.0, &own.0);
        assert!(own.0 == expected.0, "{about}\n{}\n{template}\n{beside}\n{objects}", difference.unified_diff());
        assert_eq!(own.1, expected.1, "{about}\n{template}\n{beside}\n{objects}");
        seen.iter_mut()
            .for_each(|((one, other), times)| *times += usize::from(own.0.contains(*one) && own.0.contains(*other)));
    }
    assert!(seen.iter().all(|(_, times)| *times > 0), "{seen:?}");
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
        let mut random = Random::new(seed);
        let parts = Parts::numbered(seed);
        let source = template(&mut random, parts);
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
