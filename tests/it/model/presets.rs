//! Random pods and PodPresets give the same pod after admission as a plain reference written from
//! `docs/spec/presets.md`.
//!
//! The reference works on JSON and shares no code with the program. The test compares the presets with their conflicts,
//! the environment of every container, and the rendered object.

mod case;
mod reference;

use std::collections::{BTreeMap, BTreeSet};
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
    let is_refused = |it: &&Json| it.get("refused").is_some();
    let refused: Vec<String> = list(workload, "presets").iter().filter(is_refused).map(|it| text(it, "name")).collect();
    for preset in case.presets.iter().map(|it| text(&it["metadata"], "name")) {
        let is_expected = reference::refused(case, &preset).is_none_or(|it| it == refused.contains(&preset));
        assert!(is_expected, "{about}: preset {preset}, refused {refused:?}\n{manifests}");
    }
    let presets: BTreeMap<String, _> = list(workload, "presets")
        .iter()
        .filter(|it| !is_refused(it))
        .map(|it| (text(it, "name"), outcome(it)))
        .collect();
    assert_eq!(presets, expected.presets, "{about} (left is what podlens says):\n{manifests}");
    // If the result depends on the order of the presets, the values are not known and not compared.
    if expected.is_open {
        return;
    }
    let containers = list(workload, "containers");
    assert_eq!(containers.len(), expected.containers.len(), "{about}\n{manifests}");
    let orders = &expected.orders;
    let depends_on_order = orders.iter().any(|it| *it != expected.containers);
    for (at, (said, expected)) in containers.iter().zip(&expected.containers).enumerate() {
        let name = text(said, "name");
        assert_eq!(said["role"], expected.role, "{about}\n{manifests}");
        // A3: a value that depends on the order is one of several.
        let values = |name: &str| -> BTreeSet<&str> {
            orders.iter().filter_map(|it| it[at].env.get(name)).map(|(value, _)| value.as_str()).collect()
        };
        for it in list(said, "env").iter().filter(|it| values(&text(it, "name")).len() > 1) {
            assert_ne!(it["state"], "known", "{about}: {it}\n{manifests}");
            let alternatives: BTreeSet<&str> =
                items(it, "alternatives").iter().filter_map(|it| it["value"].as_str()).collect();
            // A value of the container itself has an unknown part.
            let is_own = it["source"]["kind"] == "env";
            assert!(is_own || alternatives == values(&text(it, "name")), "{about}: {it}\n{manifests}");
        }
        let is_fixed = |name: &str| values(name).len() < 2;
        let env: BTreeMap<String, (String, String)> = list(said, "env")
            .iter()
            .filter(|it| !text(it, "name").starts_with("KUBERNETES_") && is_fixed(&text(it, "name")))
            .map(|it| {
                assert_eq!(it["state"], "known", "{about}: {it}\n{manifests}");
                let source = &it["source"];
                let object = if source["kind"] == "preset" { text(source, "object") } else { String::new() };
                (text(it, "name"), (text(it, "value"), format!("{} {object}", text(source, "kind"))))
            })
            .collect();
        let mut fixed = expected.env.clone();
        fixed.retain(|name, _| is_fixed(name));
        assert_eq!(env, fixed, "{about}: container {name} (left is what podlens says):\n{manifests}");
        if depends_on_order {
            continue;
        }
        let args: Vec<String> = list(said, "args").iter().map(|it| text(it, "value")).collect();
        assert_eq!(args, expected.args, "{about}: container {name}\n{manifests}");
        let mut stays: Vec<(String, String)> =
            list(said, "unresolved").iter().map(|it| (text(it, "name"), text(it, "why"))).collect();
        stays.sort();
        assert_eq!(stays, expected.unresolved, "{about}: container {name} (left is what podlens says):\n{manifests}");
    }
    if depends_on_order {
        return;
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
        add("the order decides", expected.orders.iter().any(|it| *it != expected.containers));
        let names = || case.presets.iter().map(|it| text(&it["metadata"], "name"));
        add("a preset is refused", names().any(|it| reference::refused(case, &it) == Some(true)));
        let webhook = |it: &Json| it["apiVersion"] == case::WEBHOOK;
        let outcome = |it: &Json| expected.presets.get(&text(&it["metadata"], "name"));
        let applied =
            || case.presets.iter().filter(|it| webhook(it)).filter_map(outcome).filter(|(applied, _)| *applied);
        add("the webhook applies a preset", applied().any(|(_, all)| all.is_empty()));
        add("the webhook empties a list", applied().any(|(_, all)| !all.is_empty()));
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
