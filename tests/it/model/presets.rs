//! Random pods and PodPresets give the same pod after admission as a plain reference written from
//! `docs/spec/presets.md`.
//!
//! The reference works on JSON and shares no code with the program. The test compares the presets with their conflicts,
//! the environment of every container, and the rendered object.

mod case;
mod reference;

use std::collections::BTreeMap;
use std::sync::Arc;

use podlens::build;
use podlens::ide::Renderer;
use podlens::ide::{ENVIRONMENT_SCHEMA, EnvironmentView, EnvironmentViewer};
use podlens::resolve::Resolver;
use podlens::workspace::{File, Workspace};
use serde_json::{Value as Json, json};
use yaml_rust2::{Yaml, YamlLoader};

use super::case::Random;
use super::spelling::{self, Node};
use super::{list, text};
use crate::command::{directory, run};
use case::Case;
use reference::Expected;

#[test]
fn pods_after_admission_are_those_of_the_reference() {
    let mut seen = Seen::default();
    for seed in 0..u64::from(crate::cases(600, 10_000)) {
        let (case, manifests, settings) = written(seed);
        let mut workspace = Workspace::default();
        workspace.set_disk("podlens.yaml", File::read("podlens.yaml", &settings));
        workspace.set_disk("all.yaml", File::read("all.yaml", &manifests));
        let snapshot = workspace.snapshot();
        let shared: Arc<str> = manifests.as_str().into();
        let text = |_: &str| Some(Arc::clone(&shared));
        let resolver = Resolver::new(&snapshot, None);
        let (path, file) = snapshot.entry("all.yaml").expect("the file is there");
        let objects: Vec<_> = build::objects(&snapshot, path, file).filter(|it| it.is_workload()).collect();
        let viewer = EnvironmentViewer {
            snapshot: &snapshot,
            resolver: &resolver,
            path: &|path| path.to_owned(),
            text: &text,
            all: true,
        };
        let view = EnvironmentView {
            schema: ENVIRONMENT_SCHEMA,
            workloads: objects.iter().filter_map(|it| viewer.workload(*it, |_| true)).collect(),
        };
        let view = serde_json::to_value(view).expect("a view is JSON");
        let renderer = Renderer { resolver: &resolver, text: &text };
        let documents: Vec<String> = objects.iter().filter_map(|it| renderer.document(*it)).collect();
        compare(&case, &view, &documents.join("---\n"), &manifests, &format!("seed {seed}\n{settings}"));
        seen.count(&case);
    }
    seen.check();
}

#[test]
fn the_program_prints_the_same() {
    for seed in 0..u64::from(crate::cases(15, 300)) {
        let (case, manifests, settings) = written(seed);
        let place = directory(&[("podlens.yaml", settings.as_bytes()), ("all.yaml", manifests.as_bytes())]);
        let (code, view, stderr) = run(place.path(), &["env", "--format", "json"], "");
        assert_eq!(code, 0, "seed {seed}: {stderr}\n{manifests}");
        let (code, rendered, stderr) = run(place.path(), &["render"], "");
        assert_eq!(code, 0, "seed {seed}: {stderr}\n{manifests}");
        let view = serde_json::from_str(&view).expect("podlens prints JSON");
        compare(&case, &view, &rendered, &manifests, &format!("seed {seed}\n{settings}"));
    }
}

fn written(seed: u64) -> (Case, String, String) {
    let mut random = Random::new(seed);
    let case = Case::random(&mut random);
    let objects: Vec<Node> = case.objects().iter().map(node).collect();
    let manifests = spelling::write(&objects, &mut random);
    let release = case.release.map_or(String::new(), |it| format!("kubernetes: \"{it}\"\n"));
    (case.clone(), manifests, format!("{release}proposals: {}\n", case.proposals))
}

fn node(json: &Json) -> Node {
    match json {
        Json::Object(all) => Node::Data(all.iter().map(|(key, value)| (key.clone(), node(value))).collect()),
        Json::Array(all) => Node::List(all.iter().map(node).collect()),
        Json::String(text) => Node::Str(text.clone()),
        Json::Bool(it) => Node::Bool(*it),
        Json::Number(it) => Node::Int(it.as_i64().expect("a small number")),
        Json::Null => panic!("nothing is null in a case"),
    }
}

fn compare(case: &Case, view: &Json, rendered: &str, manifests: &str, about: &str) {
    let expected = Expected::of(case);
    let workload = &view["workloads"][0];
    let outcome = |it: &Json| {
        let mut all: Vec<(String, String, String)> = list(it, "conflicts")
            .iter()
            .map(|it| (text(it, "kind"), text(it, "name"), it["container"].as_str().unwrap_or_default().to_owned()))
            .collect();
        all.sort();
        all.dedup();
        (it["applied"].as_bool().expect("a bool"), all)
    };
    let presets: BTreeMap<String, _> =
        list(workload, "presets").iter().map(|it| (text(it, "name"), outcome(it))).collect();
    assert_eq!(presets, expected.presets, "{about} (left is what podlens says):\n{manifests}");
    // If the result depends on the order of the presets, the values are not known and not compared.
    if expected.is_open {
        return;
    }
    let containers = list(workload, "containers");
    assert_eq!(containers.len(), expected.containers.len(), "{about}\n{manifests}");
    for (said, expected) in containers.iter().zip(&expected.containers) {
        let name = text(said, "name");
        assert_eq!(said["role"], expected.role, "{about}\n{manifests}");
        let env: BTreeMap<String, (String, String)> = list(said, "env")
            .iter()
            .filter(|it| !text(it, "name").starts_with("KUBERNETES_"))
            .map(|it| {
                assert_eq!(it["state"], "known", "{about}: {it}\n{manifests}");
                let source = &it["source"];
                let object = if source["kind"] == "preset" { text(source, "object") } else { String::new() };
                (text(it, "name"), (text(it, "value"), format!("{} {object}", text(source, "kind"))))
            })
            .collect();
        assert_eq!(env, expected.env, "{about}: container {name} (left is what podlens says):\n{manifests}");
        let args: Vec<String> = list(said, "args").iter().map(|it| text(it, "value")).collect();
        assert_eq!(args, expected.args, "{about}: container {name}\n{manifests}");
        let mut stays: Vec<(String, String)> =
            list(said, "unresolved").iter().map(|it| (text(it, "name"), text(it, "why"))).collect();
        stays.sort();
        assert_eq!(stays, expected.unresolved, "{about}: container {name} (left is what podlens says):\n{manifests}");
    }
    let documents = YamlLoader::load_from_str(rendered).unwrap_or_else(|error| panic!("{about}: {error}\n{rendered}"));
    let [document] = documents.as_slice() else { panic!("{about}: one document\n{rendered}") };
    let rendered = read(document);
    assert_eq!(rendered, expected.object, "{about} (left is what podlens renders):\n{manifests}");
}

/// The result of another YAML parser.
fn read(yaml: &Yaml) -> Json {
    match yaml {
        Yaml::Hash(all) => Json::Object(
            all.iter().map(|(key, value)| (key.as_str().expect("a key").to_owned(), read(value))).collect(),
        ),
        Yaml::Array(all) => all.iter().map(read).collect(),
        Yaml::String(text) => text.clone().into(),
        Yaml::Integer(number) => (*number).into(),
        Yaml::Boolean(it) => (*it).into(),
        other => panic!("{other:?} is in no case"),
    }
}

/// How often each situation was generated: a situation that never occurs is not tested.
#[derive(Default)]
struct Seen(BTreeMap<&'static str, usize>);

impl Seen {
    fn count(&mut self, case: &Case) {
        let expected = Expected::of(case);
        let mut add = |what: &'static str, is_it: bool| *self.0.entry(what).or_default() += usize::from(is_it);
        let presets = || expected.presets.values();
        add("a preset is applied", presets().any(|(applied, _)| *applied));
        add("several presets are applied", presets().filter(|(applied, _)| *applied).count() > 1);
        for kind in ["env", "volume", "mountName", "mountPath", "envFrom"] {
            add(kind, presets().any(|(_, all)| all.iter().any(|(it, ..)| it == kind)));
        }
        let released = !case.proposals;
        add("envFrom is lost", released && presets().any(|(it, all)| *it && all.iter().any(|it| it.0 == "envFrom")));
        add("some are applied and some are not", {
            presets().any(|(it, _)| *it) && presets().any(|(it, _)| !*it) && released
        });
        add("none fits", case.presets.len() > 1 && expected.presets.is_empty());
    }

    fn check(&self) {
        for (what, times) in &self.0 {
            assert!(*times >= 3, "{what}: {times} times");
        }
    }
}

/// A list of a mapping, or nothing.
fn items<'j>(json: &'j Json, key: &str) -> &'j [Json] {
    json[key].as_array().map_or(&[], Vec::as_slice)
}

/// A mapping with one more entry.
fn with(mut json: Json, key: &str, value: impl Into<Json>) -> Json {
    json[key] = value.into();
    json
}

fn object(api_version: &str, kind: &str, metadata: Json, rest: Json) -> Json {
    let mut all = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
    if let (Some(all), Json::Object(rest)) = (all.as_object_mut(), rest) {
        all.extend(rest);
    }
    all
}
