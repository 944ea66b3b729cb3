//! Random pods give the same environment as a plain reference written from `docs/spec/kubernetes.md`.
//!
//! The reference shares no code with the program: it uses maps and strings, and `None` for values that are not fully
//! known. The manifests are written in several YAML styles, so that parsing is tested too.

pub(crate) mod case;
mod presets;
mod reference;
mod spelling;

use std::process::Command;
use std::sync::Arc;

use podlens::build;
use podlens::ide::{ENVIRONMENT_SCHEMA, EnvironmentView, EnvironmentViewer};
use podlens::resolve::Resolver;
use podlens::workspace::{File, Workspace};
use serde_json::Value as Json;

use case::{Case, Random};
use reference::Expected;

#[test]
fn environments_are_those_of_the_reference() {
    for seed in 0..u64::from(crate::cases(300, 20_000)) {
        let (case, manifests, settings) = written(seed);
        let mut workspace = Workspace::default();
        workspace.set_disk("podlens.yaml", File::read("podlens.yaml", &settings));
        workspace.set_disk("all.yaml", File::read("all.yaml", &manifests));
        let snapshot = workspace.snapshot();
        let text: Arc<str> = manifests.as_str().into();
        let resolver = Resolver::new(&snapshot, None);
        let viewer = EnvironmentViewer {
            snapshot: &snapshot,
            resolver: &resolver,
            path: &|path| path.to_owned(),
            text: &|_| Some(Arc::clone(&text)),
            all: true,
        };
        let (path, file) = snapshot.entry("all.yaml").expect("the file is there");
        let objects = build::objects(&snapshot, path, file).filter(|it| it.is_workload());
        let workloads = objects.filter_map(|it| viewer.workload(it, |_| true)).collect();
        let json =
            serde_json::to_value(EnvironmentView { schema: ENVIRONMENT_SCHEMA, workloads }).expect("a view is JSON");
        compare(&case, &json, &manifests, seed);
    }
}

#[test]
fn the_program_prints_the_same() {
    for seed in 0..u64::from(crate::cases(20, 400)) {
        let (case, manifests, settings) = written(seed);
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("podlens.yaml"), settings).expect("written");
        std::fs::write(directory.path().join("all.yaml"), &manifests).expect("written");
        let output = Command::new(env!("CARGO_BIN_EXE_podlens"))
            .args(["env", "--all", "--format", "json"])
            .current_dir(directory.path())
            .output()
            .expect("podlens starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "seed {seed}: {stderr}\n{manifests}");
        let json = serde_json::from_slice(&output.stdout).expect("podlens prints JSON");
        compare(&case, &json, &manifests, seed);
    }
}

fn written(seed: u64) -> (Case, String, String) {
    let mut random = Random::new(seed);
    let case = Case::random(&mut random);
    let manifests = spelling::write(&case.objects(), &mut random);
    let release = case.release.map_or(String::new(), |it| format!("kubernetes: \"{it}\"\n"));
    (case, manifests, format!("{release}secrets: {{show: true}}\n"))
}

fn compare(case: &Case, json: &Json, manifests: &str, seed: u64) {
    let expected = Expected::of(case);
    // The first container is the init container.
    let container = &json["workloads"][0]["containers"][1];
    let said = Expected {
        env: list(container, "env")
            .iter()
            .map(|it| {
                let hides = list(it, "hides").iter().map(|it| text(it, "kind")).collect();
                (text(it, "name"), (known(it), text(&it["source"], "kind"), hides))
            })
            .collect(),
        command: list(container, "command").iter().chain(list(container, "args")).map(known).collect(),
        probe: list(container, "probes").iter().flat_map(|it| list(it, "command")).map(known).collect(),
        sub_paths: list(container, "subPaths").iter().map(known).collect(),
        unresolved: {
            let mut all: Vec<_> =
                list(container, "unresolved").iter().map(|it| (text(it, "name"), text(it, "why"))).collect();
            all.sort();
            all
        },
        refused: {
            let refused = |it: &&Json| it["why"] == "refusedSource";
            let mut all: Vec<String> =
                list(container, "failures").iter().filter(refused).map(|it| text(it, "name")).collect();
            all.sort();
            all
        },
    };
    assert_eq!(said, expected, "seed {seed} (left is podlens):\n{manifests}");
}

/// A value that is known in full, secrets included.
fn known(it: &Json) -> Option<String> {
    let state = text(it, "state");
    let value = it["value"].as_str().map(str::to_owned);
    assert_eq!(value.is_none(), it.get("alternatives").is_some(), "only candidates that differ have no value: {it}");
    // A value with a secret and an unknown part has the state `secret`.
    value.filter(|it| state == "known" || (state == "secret" && !it.contains('<')))
}

fn list<'j>(json: &'j Json, key: &str) -> &'j [Json] {
    json[key].as_array().map_or(&[], Vec::as_slice)
}

fn text(json: &Json, key: &str) -> String {
    json[key].as_str().unwrap_or_else(|| panic!("{key} is a text in {json}")).to_owned()
}
