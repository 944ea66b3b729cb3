//! Which views small projects have.

use super::*;
use crate::workspace::{File, Workspace};

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";

fn snapshot(files: &[(&str, &str)]) -> Snapshot {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, File::read(path, text));
    }
    workspace.snapshot()
}

/// Each view as `name kind: files`, and below it what is unknown.
fn shown(files: &[(&str, &str)]) -> Vec<String> {
    let mut lines = Vec::new();
    for view in views(&snapshot(files)) {
        lines.push(format!("{} {}: {}", view.name, view.kind.name(), view.files.join(" ")));
        lines.extend(view.unknown.iter().map(|it| format!("? {}:{} {}: {}", it.file, it.line, it.what, it.why)));
    }
    lines
}

#[test]
fn views_are_what_nothing_else_includes() {
    let files = [
        ("app/overlays/dev/kustomization.yaml", "resources: [../../base]\ncomponents: [../../part]\n"),
        ("app/overlays/prod/kustomization.yaml", "resources: [../../base]\nhelmCharts: [{name: db}]\n"),
        ("app/overlays/prod/charts/db/Chart.yaml", "name: db\n"),
        ("app/base/kustomization.yaml", "resources: [pod.yaml]\n"),
        ("app/base/pod.yaml", POD),
        ("app/part/kustomization.yaml", "kind: Component\npatches: [{path: patch.yaml}]\n"),
        ("app/part/patch.yaml", POD),
        ("lib/Chart.yaml", "name: lib\ntype: library\n"),
        ("alone/pod.yaml", POD),
    ];
    assert_eq!(
        shown(&files),
        [
            "app/overlays/dev kustomization: app/base/kustomization.yaml app/base/pod.yaml \
             app/overlays/dev/kustomization.yaml app/part/kustomization.yaml app/part/patch.yaml",
            "app/overlays/prod kustomization: app/base/kustomization.yaml app/base/pod.yaml \
             app/overlays/prod/charts/db/Chart.yaml app/overlays/prod/kustomization.yaml",
        ]
    );
}

#[test]
fn excluded_kustomizations_are_no_views_but_can_be_included() {
    let files = [
        ("podlens.yaml", "exclude: [vendor]\n"),
        ("vendor/a/kustomization.yaml", "resources: [../b]\n"),
        ("vendor/b/kustomization.yaml", "namePrefix: b-\n"),
        ("kustomization.yaml", "resources: [vendor/b]\n"),
    ];
    assert_eq!(shown(&files), [". kustomization: kustomization.yaml vendor/b/kustomization.yaml"]);
}

#[test]
fn kustomizations_that_include_each_other_have_a_view() {
    let files = [
        ("a/kustomization.yaml", "resources: [../b]\n"),
        ("b/kustomization.yaml", "resources: [../a]\n"),
        ("c/kustomization.yaml", "resources: [../c]\n"),
    ];
    assert_eq!(
        shown(&files),
        [
            "a kustomization: a/kustomization.yaml b/kustomization.yaml",
            "? b/kustomization.yaml:1 resource `../a`: it includes itself",
            "c kustomization: c/kustomization.yaml",
            "? c/kustomization.yaml:1 resource `../c`: it includes itself",
        ]
    );
}

#[test]
fn templates_have_unknown_parameters() {
    let template = |name: &str, rest: &str| {
        format!("apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: {name}}}\nobjects: []\n{rest}")
    };
    let parameters = "parameters:\n- {name: A, value: a}\n- {name: B, generate: expression, from: x}\n\
                      - {name: C, required: true}\n- {name: D}\n";
    let one = template("one", parameters);
    let two = format!("{}---\n{}", template("x", ""), template("y", ""));
    let settings = "views:\n- {name: eu, path: one.yaml, params: eu.params, set: {D: d}}\n- {name: us, path: one.yaml, params: us.params}\n";
    let files = [("one.yaml", &*one), ("two.yaml", &two), ("podlens.yaml", settings), ("eu.params", "B=b\nC=c\n")];
    assert_eq!(
        shown(&files),
        [
            "eu template: eu.params one.yaml",
            "one.yaml template: one.yaml",
            "? one.yaml:7 parameter `B`: it is generated",
            "? one.yaml:8 parameter `C`: it is required and has no value",
            "? one.yaml:9 parameter `D`: it has no value",
            "two.yaml#x template: two.yaml",
            "two.yaml#y template: two.yaml",
            "us template: one.yaml",
            "? one.yaml:7 parameter `B`: it is generated",
            "? one.yaml:8 parameter `C`: it is required and has no value",
            "? one.yaml:9 parameter `D`: it has no value",
            "? podlens.yaml:3 parameter file `us.params`: it does not exist",
        ]
    );
}

#[test]
fn settings_name_and_add_views() {
    let settings = "views:\n- {name: root, path: .}\n- {name: prod, path: overlays/prod}\n- {name: base, path: base/kustomization.yaml}\n\
                    - {name: eu, path: 'charts/*', values: [eu.yaml, us.yaml]}\n- {name: nothing, path: 'overlays/x*'}\n";
    let files = [
        ("shop/podlens.yaml", settings),
        ("shop/kustomization.yaml", "namePrefix: a-\n"),
        ("shop/overlays/prod/kustomization.yaml", "resources: [../../base]\n"),
        ("shop/base/kustomization.yaml", "namePrefix: b-\n"),
        ("shop/charts/web/Chart.yaml", "name: web\n"),
        ("shop/charts/db/Chart.yaml", "name: db\n"),
        ("shop/eu.yaml", "a: 1\n"),
        ("overlays/prod/kustomization.yaml", "namePrefix: c-\n"),
    ];
    let names: Vec<String> = shown(&files).into_iter().filter(|it| !it.starts_with('?')).collect();
    assert_eq!(
        names,
        [
            "base kustomization: shop/base/kustomization.yaml",
            "overlays/prod kustomization: overlays/prod/kustomization.yaml",
            "prod kustomization: shop/base/kustomization.yaml shop/overlays/prod/kustomization.yaml",
            "root kustomization: shop/kustomization.yaml",
            "shop/charts/db chart: shop/charts/db/Chart.yaml",
            "shop/charts/db#eu chart: shop/charts/db/Chart.yaml shop/eu.yaml",
            "shop/charts/web chart: shop/charts/web/Chart.yaml",
            "shop/charts/web#eu chart: shop/charts/web/Chart.yaml shop/eu.yaml",
        ]
    );
    let unmatched = unmatched_views(&snapshot(&files));
    assert_eq!(unmatched.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["nothing"]);
    let inputs = views(&snapshot(&files)).into_iter().find(|it| it.name == "shop/charts/db#eu").map(|it| it.inputs);
    assert_eq!(inputs.map(|it| it.values), Some(vec!["shop/eu.yaml".into()]));
}

#[test]
fn argo_cd_and_flux_name_views() {
    let application = |name: &str, source: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec: {{source: {{{source}}}}}\n"
        )
    };
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: db}\n\
                   spec:\n  chart: {spec: {chart: ./charts/web}}\n  valuesFrom: [{kind: Secret, name: s}]\n";
    let eu = application("web", "path: charts/web, helm: {valueFiles: [eu.yaml]}");
    let us = application("web", "path: charts/web, helm: {valueFiles: [us.yaml]}");
    let app = application("app", "path: app");
    let other = application("other", "path: in/another/repository");
    let files = [
        ("argo/eu.yaml", &*eu),
        ("argo/us.yaml", &us),
        ("argo/app.yaml", &app),
        ("argo/other.yaml", &other),
        ("flux/db.yaml", release),
        ("charts/web/Chart.yaml", "name: web\n"),
        ("charts/web/eu.yaml", "a: 1\n"),
        ("app/kustomization.yaml", "namePrefix: a-\n"),
    ];
    assert_eq!(
        shown(&files),
        [
            "app kustomization: app/kustomization.yaml",
            "charts/web chart: charts/web/Chart.yaml",
            "charts/web#web chart: argo/eu.yaml charts/web/Chart.yaml charts/web/eu.yaml",
            "charts/web#web#2 chart: argo/us.yaml charts/web/Chart.yaml",
            "? argo/us.yaml:4 values file `us.yaml`: it does not exist",
            "db chart: charts/web/Chart.yaml flux/db.yaml",
            "? flux/db.yaml:6 `valuesFrom`: objects in the cluster have the values",
        ]
    );
}

#[test]
fn a_line_that_kustomize_refuses_is_unknown() {
    let files = [
        (
            "a/kustomization.yaml",
            "resources:\n- ../b/kustomization.yaml\n- ../part\n- ../x.yaml\ncomponents:\n- ../b\n",
        ),
        ("b/kustomization.yaml", "namePrefix: b-\n"),
        ("b/kustomization.yml", "namePrefix: b-\n"),
        ("part/kustomization.yaml", "kind: Component\nnamePrefix: p-\n"),
        ("empty/kustomization.yaml", "# nothing\n"),
        ("x.yaml", POD),
    ];
    let restricted = "kustomize refuses files outside of the directory of the kustomization; \
                      set `kustomize.loadRestrictor` to `none` if the build allows them";
    assert_eq!(
        shown(&files)[1..],
        [
            format!("? a/kustomization.yaml:2 resource `../b/kustomization.yaml`: {restricted}"),
            "? a/kustomization.yaml:2 resource `../b/kustomization.yaml`: kustomize takes the directory of a kustomization, not its file".into(),
            "? a/kustomization.yaml:3 resource `../part`: kustomize refuses a Component here; list it in `components`".into(),
            format!("? a/kustomization.yaml:4 resource `../x.yaml`: {restricted}"),
            "? a/kustomization.yaml:6 component `../b`: kustomize refuses it: it is not of the kind Component".into(),
            "empty kustomization: empty/kustomization.yaml".into(),
            "? empty/kustomization.yaml:1 kustomization: kustomize refuses it because it is empty".into(),
        ]
    );
}
