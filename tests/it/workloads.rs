//! Every row of the table of workload kinds works in all code that uses the table, so a new kind cannot be half
//! supported.

use std::fs;
use std::path::Path;

use podlens::build::{self, BuiltObject, SelectorMatch};
use podlens::k8s::{
    ContainerRole, Controller, Indexing, ObjectData, PodPreset, VariableScope, WORKLOAD_KINDS, WorkloadKind,
    may_hold_objects, read_objects,
};
use podlens::resolve::{Lookup, Resolver};
use podlens::syntax::parse;
use podlens::workspace::{File, Snapshot, Workspace};

/// An object of a kind with one pod spec, of an indexed Job where the kind makes Jobs.
fn manifest(workload: &WorkloadKind, api_version: &str, pod_spec: &str) -> String {
    let container = "{name: main, image: i, env: [{name: A, value: a}]}";
    let mut inner = format!("{{containers: [{container}]}}");
    let keys: Vec<&str> = pod_spec.split('.').collect();
    for (depth, key) in keys.iter().enumerate().rev() {
        // The mapping around the template has `completionMode`.
        let is_holder = depth + 2 == keys.len() && workload.indexing != Indexing::Never;
        let mode = if is_holder { ", completionMode: Indexed" } else { "" };
        inner = match key.strip_suffix("[*]") {
            Some(list) => format!("{{{list}: [{inner}]{mode}}}"),
            None => format!("{{{key}: {inner}{mode}}}"),
        };
    }
    let fields = inner.strip_prefix('{').and_then(|it| it.strip_suffix('}')).expect("a mapping");
    let (key, value) = fields.split_once(": ").expect("one entry");
    format!("apiVersion: {api_version}\nkind: {}\nmetadata: {{name: it}}\n{key}: {value}\n", workload.kind)
}

fn api_version(workload: &WorkloadKind) -> String {
    if workload.group.is_empty() { "v1".to_owned() } else { format!("{}/v1", workload.group) }
}

fn snapshot(files: &[(&str, &str)]) -> Snapshot {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, File::read(path, text));
    }
    workspace.snapshot()
}

/// Every row with every path of a pod spec.
fn rows() -> impl Iterator<Item = (&'static WorkloadKind, &'static str, String)> {
    WORKLOAD_KINDS.iter().flat_map(|workload| {
        let text = |path: &str| manifest(workload, &api_version(workload), path);
        workload.pod_specs.iter().map(move |path| (workload, *path, text(path)))
    })
}

#[test]
fn a_document_of_each_kind_is_parsed() {
    for (workload, _, text) in rows() {
        // Also if the text has no container yet.
        let head: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
        assert!(may_hold_objects(&head), "{}", workload.kind);
    }
}

#[test]
fn pods_are_read_at_each_path() {
    for (workload, path, text) in rows() {
        let objects = read_objects(&parse(&text));
        assert_eq!(objects.len(), 1, "{text}");
        let [pod] = &objects[0].model.pods[..] else { panic!("one pod in {text}") };
        assert_eq!(pod.path, path.replace("[*]", "[0]"));
        assert_eq!(pod.controller, Controller::Known(workload), "{text}");
        assert_eq!(pod.is_indexed, workload.indexing != Indexing::Never, "{text}");
        assert_eq!(pod.default_service_links, workload.default_service_links, "{text}");
        assert!(matches!(objects[0].model.data, ObjectData::None), "{text}");
    }
}

#[test]
fn a_kind_is_known_before_its_group_is_typed() {
    for (workload, path, _) in rows() {
        let objects = read_objects(&parse(&manifest(workload, "v1", path)));
        let known = matches!(&objects[0].model.pods[..], [pod] if !pod.controller.is_unknown());
        assert_eq!(known, !workload.requires_group, "{}", workload.kind);
    }
}

#[test]
fn hooks_are_containers_of_the_pod() {
    for workload in WORKLOAD_KINDS {
        for hook in workload.hooks {
            let mut inner = format!("{{{}: [{{name: H, value: h}}]}}", hook.env);
            for key in hook.path.split('.').rev() {
                inner = format!("{{{key}: {inner}}}");
            }
            let fields = inner.strip_prefix("{spec: ").and_then(|it| it.strip_suffix('}')).expect("under spec");
            let text = format!("apiVersion: {}\nkind: {}\nspec: {fields}\n", api_version(workload), workload.kind);
            let objects = read_objects(&parse(&text));
            let container = &objects[0].model.pods[0].containers[0];
            assert_eq!((&*container.path, container.role), (hook.path, ContainerRole::Hook), "{text}");
            assert_eq!(container.env.len(), 1, "{text}");
        }
    }
}

#[test]
fn injected_variables_are_defined() {
    for (workload, _, text) in rows() {
        let snapshot = snapshot(&[("it.yaml", &text)]);
        let resolver = Resolver::new(&snapshot, None);
        let container = only_object(&snapshot, "it.yaml").containers().next().expect("a container");
        let environment = resolver.environment(container);
        for variable in workload.injected {
            let is_bound = |site| matches!(environment.lookup(site, variable.name), Lookup::Bound(_));
            assert!(is_bound(VariableScope::All), "{} of {text}", variable.name);
            assert_eq!(is_bound(VariableScope::EarlierEntries(0)), variable.is_first, "{} in {text}", variable.name);
        }
    }
}

#[test]
fn added_labels_are_selected_and_have_values() {
    for (workload, _, text) in rows() {
        for label in workload.added_labels.iter().chain(workload.default_labels) {
            let preset = format!(
                "apiVersion: settings.k8s.io/v1alpha1\nkind: PodPreset\nmetadata: {{name: preset}}\n\
                 spec: {{selector: {{matchExpressions: [{{key: {label}, operator: Exists}}]}}}}\n"
            );
            let snapshot = snapshot(&[("it.yaml", &text), ("preset.yaml", &preset)]);
            let resolver = Resolver::new(&snapshot, Some("1.19".parse().expect("a release")));
            let container = only_object(&snapshot, "it.yaml").containers().next().expect("a container");
            let fit = resolver.selector_match(container.in_pod(), preset_of(&snapshot));
            let expected =
                if workload.added_labels.contains(label) { SelectorMatch::Yes } else { SelectorMatch::Maybe };
            assert_eq!(fit, expected, "{label} of {}", workload.kind);
            let path = format!("metadata.labels['{label}']");
            let value = resolver.field_value(container, &path);
            assert_eq!(value.known(), None, "{label} of {} is set later", workload.kind);
        }
    }
}

#[test]
fn the_specification_names_each_kind_and_path() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/spec/kubernetes.md");
    let text = fs::read_to_string(path).expect("the specification");
    let section = text.split("## Kinds with a pod spec").nth(1).expect("the section on kinds");
    for (workload, path, _) in rows() {
        assert!(section.contains(workload.kind), "{} is not in docs/spec/kubernetes.md", workload.kind);
        assert!(section.contains(&format!("`{path}`")), "{path} is not in docs/spec/kubernetes.md");
        for hook in workload.hooks {
            let holder = hook.path.split('.').nth(2).expect("the parameters of a strategy");
            assert!(section.contains(holder), "{holder} is not in docs/spec/kubernetes.md");
        }
    }
}

fn only_object<'s>(snapshot: &'s Snapshot, file: &str) -> BuiltObject<'s> {
    let (path, file) = snapshot.entry(file).expect("the file");
    let mut objects = build::objects(snapshot, path, file);
    let object = objects.next().expect("an object");
    assert!(objects.next().is_none(), "one object");
    object
}

fn preset_of(snapshot: &Snapshot) -> &PodPreset {
    match &only_object(snapshot, "preset.yaml").model.data {
        ObjectData::Preset(preset) => preset,
        other => panic!("a preset, not {other:?}"),
    }
}
