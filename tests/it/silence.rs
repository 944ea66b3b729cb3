//! Mistakes in templates are found, and skipping irrelevant documents changes no finding. Files of other tools without
//! findings are in `fixtures/silence`.

use podlens::diagnostic::Diagnostic;
use podlens::workspace::File;
use proptest::prelude::*;

use crate::findings::{Files, lint_with};
use crate::fixture::{broken_manifests, suites_in};
use crate::fixtures::manifests;

/// The findings of all rules in some files, each as `file: rule: message [text]`.
fn findings(files: &Files, read: fn(&str, &str) -> File) -> Vec<String> {
    let shown = |it: &Diagnostic| {
        let text = files[&*it.location.file].get(it.location.span.range()).unwrap_or_default();
        format!("{}: {}: {} [{text}]", it.location.file, it.rule, it.message)
    };
    lint_with(files, read, None).iter().map(shown).collect()
}

/// All projects in the fixtures.
fn projects() -> Vec<Files> {
    let cases = suites_in("silence").into_iter().flat_map(|(_, suite)| suite.cases);
    let mut all: Vec<Files> =
        cases.map(|case| case.files().map(|file| (file.path.clone(), file.text.clone())).collect()).collect();
    all.extend(["shop", "shop-broken", "shop-legacy", "lint/app", "templates"].map(manifests));
    all.push(broken_manifests().into_iter().collect());
    all
}

#[test]
fn mistakes_in_a_helm_template_are_found() {
    let template = "{{- if .Values.on }}\napiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Release.Name }}}\nspec:\n  \
                    containers:\n    - name: ü{{ .Values.ü }}\n      image: {{ .Values.image }}\n      env:\n        \
                    - {name: HOST, value: {{ .Values.host }}}\n      args:\n        - é {{ .x }} $(HSOT)\n        \
                    - $(HOST)\n      resources:\n        {{- toYaml .Values.resources | nindent 8 }}\n{{- end }}\n";
    let files = Files::from([("t.yaml".to_owned(), template.to_owned())]);
    assert_eq!(
        findings(&files, File::read),
        ["t.yaml: undefined-variable: `$(HSOT)` is not expanded: nothing defines `HSOT` [$(HSOT)]"]
    );
}

#[test]
fn text_like_that_of_other_tools_is_checked_in_pods() {
    let pod = |more: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n    - name: a\n      image: a\n{more}"
        )
    };
    for (text, count) in [
        (pod("      args: [$(NOTHING)]\n"), 1),
        (pod("      command: [serve, -c, $(NOTHING)]\n"), 1),
        (pod("      args: [\"{{x}} $(NOTHING)\"]\n"), 1),
        (pod("      envFrom: [{configMapRef: {name: gone}}]\n      args: [$(NOTHING)]\n"), 0),
        (pod("      env: [{name: A, value: $(B)}, {name: B, value: b}]\n"), 1),
    ] {
        let found = findings(&Files::from([("pod.yaml".to_owned(), text.clone())]), File::read);
        let found: Vec<_> = found.iter().filter(|it| it.contains("undefined") || it.contains("forward")).collect();
        assert_eq!(found.len(), count, "{text}\n{found:?}");
    }
}

/// The findings without syntax errors, which skipping may hide in irrelevant documents.
fn without_syntax(found: Vec<String>) -> Vec<String> {
    found.into_iter().filter(|it| !it.contains(": syntax-error: ") && !it.contains(": duplicate-key: ")).collect()
}

fn assert_skipping_changes_nothing(files: &Files) {
    let read = without_syntax(findings(files, File::read));
    let whole = without_syntax(findings(files, File::read_whole));
    assert_eq!(read, whole);
    for (path, text) in files {
        let (read, whole) = (File::read(path, text), File::read_whole(path, text));
        assert_eq!(read.document_count, whole.document_count, "{path}\n{text}");
    }
}

#[test]
fn skipping_changes_no_finding_in_the_fixtures() {
    for files in projects() {
        assert_skipping_changes_nothing(&files);
    }
}

/// A document in one of the usual styles.
fn document() -> impl Strategy<Value = String> {
    let kinds = prop::sample::select(vec![
        "v1/Pod",
        "apps/v1/Deployment",
        "v1/ConfigMap",
        "v1/Secret",
        "v1/Service",
        "v1/ServiceAccount",
        "rbac.authorization.k8s.io/v1/Role",
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
        "tekton.dev/v1/Task",
        "example.org/v1/Widget",
        "kustomize.config.k8s.io/v1beta1/Kustomization",
        "v1/List",
        "v1/PodList",
        "/",
    ]);
    let bodies = prop::sample::select(vec![
        "spec: {containers: [{name: a, image: a, args: [$(A)]}]}",
        "spec: {template: {spec: {containers: [{name: a, image: a, env: [{name: X, value: $(A)}, {name: A, value: b}]}]}}}",
        "spec:\n  containers:\n    - name: a\n      image: a\n      envFrom: [{configMapRef: {name: m}}]\n      args: [$(A)]",
        "spec: {pod: {\"contai\\u006eers\": [{name: a, image: a, args: [$(A)]}]}}",
        "data: {A: \"1\"}",
        "data:\n  x: |\n    kind: Role\n    apiVersion: v1",
        "items: [{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: a, args: [$(A)]}]}}]",
        "configMapGenerator: [{name: m, literals: [A=1]}]",
        "rules: []",
        "# podlens: ignore[undefined-variable]\nrules: []",
        "spec: [",
    ]);
    let heads = prop::sample::select(vec![0, 1, 2, 3, 4, 5]);
    (kinds, bodies, heads).prop_map(|(identity, body, head)| {
        let (version, kind) = identity.rsplit_once('/').unwrap_or_default();
        let metadata = "metadata: {name: m}";
        match head {
            0 => format!("apiVersion: {version}\nkind: {kind}\n{metadata}\n{body}\n"),
            1 => format!("{metadata}\n{body}\nkind: {kind}\napiVersion: {version}\n"),
            2 => format!("# a comment\n\"apiVersion\": '{version}'\nkind: \"{kind}\" # it is\n{metadata}\n{body}\n"),
            3 => format!("kind: {kind}\n{metadata}\n{body}\n"),
            4 => format!("apiVersion:   {version}  # it is\r\nkind: {kind}\r\n{metadata}\r\n{body}\r\n"),
            _ => format!("{body}\n"),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(200, 5000), failure_persistence: None, ..Default::default() })]

    #[test]
    fn skipping_changes_no_finding(files in prop::collection::vec(prop::collection::vec(document(), 1..4), 1..4)) {
        let named = files.iter().enumerate().map(|(at, documents)| (format!("{at}.yaml"), documents.join("---\n")));
        assert_skipping_changes_nothing(&named.collect());
    }
}
