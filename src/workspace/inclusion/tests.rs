//! What the entries of small projects refer to, in both directions, and after edits.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use crate::text::Span;
use crate::workspace::{Document, File, IncludeTarget, Inclusion, Snapshot, Workspace};

fn workspace(files: &[(&str, &str)]) -> Workspace {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, File::read(path, text));
    }
    workspace
}

fn shown(inclusion: &Inclusion) -> String {
    let target = match &inclusion.target {
        IncludeTarget::File(file) => format!("file {file}"),
        IncludeTarget::Kustomization(file) => format!("kustomization {file}"),
        IncludeTarget::Chart(file) => format!("chart {file}"),
        IncludeTarget::Unread(path) => format!("unread {path}"),
        IncludeTarget::Missing(path) => format!("missing {path}"),
        IncludeTarget::PlainDirectory(path) => format!("directory {path}"),
        IncludeTarget::Outside(text) => format!("outside {text}"),
        IncludeTarget::Remote(text) => format!("remote {text}"),
        IncludeTarget::Unknown(reason) => format!("unknown: {reason}"),
    };
    format!("{} {} => {target}", inclusion.kind.noun(), inclusion.text)
}

fn includes(snapshot: &Snapshot, file: &str) -> Vec<String> {
    snapshot.inclusions(&file.into()).iter().map(shown).collect()
}

fn included_by(snapshot: &Snapshot, file: &str) -> Vec<String> {
    snapshot.included_by(file).iter().map(|it| format!("{}: {}", it.from, shown(it))).collect()
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";

/// Every field of a kustomization that names a file.
const EVERY_FIELD: &str = "\
resources: [pod.yaml, ../base, ./gone.yaml, ../../up, https://example.org/a.yaml, github.com/a/b//c?ref=1, ../plain]
Bases: [../base]
components: [../part]
crds: [crd.json]
configurations: [names.yaml]
generators: [builtin.yaml, \"kind: G\\napiVersion: builtin\\n\", \"kind: H\\napiVersion: x/v1\\n\"]
transformers: [program.yaml]
validators: [gone/]
patchesStrategicMerge: [patch.yaml, \"kind: Pod\\nmetadata: {name: p}\\n\"]
patches: [{path: patch.yaml}, {patch: '- op: x'}]
patchesJson6902: [{path: patch.json, target: {kind: Pod, name: p}}]
replacements: [{path: replace.yaml}, {source: {kind: Pod}}]
openapi: {path: schema.json}
configMapGenerator:
- {name: a, files: [a.yaml, b=b.yaml, conf/c.ini], envs: [a.env], env: b.env, literals: [x=y.yaml]}
secretGenerator:
- {name: s, envs: [/etc/s.env]}
helmGlobals: {chartHome: ../charts}
helmCharts:
- {name: shop, valuesFile: values-shop.yaml, additionalValuesFiles: [more.yaml]}
- {name: redis, repo: https://charts.example.org, version: 1.2.3}
helmChartInflationGenerator:
- {chartName: old, chartHome: ../charts, values: old.yaml}
";

const FILES: &[(&str, &str)] = &[
    ("app/kustomization.yaml", EVERY_FIELD),
    ("app/pod.yaml", POD),
    ("app/builtin.yaml", "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\n"),
    ("app/program.yaml", "apiVersion: example.org/v1\nkind: Run\nmetadata: {name: x}\n"),
    ("app/patch.yaml", POD),
    ("app/a.env", "A=1\n"),
    ("base/kustomization.yml", "resources: [pod.yaml]\n"),
    ("base/pod.yaml", POD),
    ("part/Kustomization", "kind: Component\n"),
    ("plain/pod.yaml", POD),
    ("charts/shop/Chart.yaml", "apiVersion: v2\nname: shop\n"),
    ("charts/redis-1.2.3/redis/Chart.yaml", "apiVersion: v2\nname: redis\n"),
];

#[test]
fn every_field_of_a_kustomization_is_read() {
    let mut workspace = workspace(FILES);
    workspace.set_unread(BTreeSet::from(["app/conf/c.ini".into()]));
    let snapshot = workspace.snapshot();
    assert_eq!(
        includes(&snapshot, "app/kustomization.yaml"),
        [
            "resource pod.yaml => file app/pod.yaml",
            "resource ../base => kustomization base/kustomization.yml",
            "resource ./gone.yaml => missing app/gone.yaml",
            "resource ../../up => outside ../../up",
            "resource https://example.org/a.yaml => remote https://example.org/a.yaml",
            "resource github.com/a/b//c?ref=1 => remote github.com/a/b//c?ref=1",
            "resource ../plain => directory plain",
            "base ../base => kustomization base/kustomization.yml",
            "component ../part => kustomization part/Kustomization",
            "schema of a custom resource crd.json => missing app/crd.json",
            "configuration names.yaml => missing app/names.yaml",
            "generator builtin.yaml => file app/builtin.yaml",
            "generator H => unknown: it runs a program, which podlens does not do",
            "transformer program.yaml => file app/program.yaml",
            "validator gone/ => missing app/gone",
            "patch patch.yaml => file app/patch.yaml",
            "patch patch.yaml => file app/patch.yaml",
            "patch patch.json => missing app/patch.json",
            "replacement replace.yaml => missing app/replace.yaml",
            "OpenAPI schema schema.json => missing app/schema.json",
            "file of a generator a.yaml => missing app/a.yaml",
            "file of a generator b.yaml => missing app/b.yaml",
            "file of a generator conf/c.ini => unread app/conf/c.ini",
            "env file of a generator a.env => file app/a.env",
            "env file of a generator b.env => missing app/b.env",
            "env file of a generator /etc/s.env => outside /etc/s.env",
            "chart shop => chart charts/shop/Chart.yaml",
            "values file values-shop.yaml => missing app/values-shop.yaml",
            "values file more.yaml => missing app/more.yaml",
            "chart redis => chart charts/redis-1.2.3/redis/Chart.yaml",
            "chart old => missing charts/old",
            "values file old.yaml => missing app/old.yaml",
        ]
    );
    assert!(snapshot.configures_builtin_plugins("app/builtin.yaml"));
    assert!(!snapshot.configures_builtin_plugins("app/program.yaml"));
}

#[test]
fn the_written_text_has_a_span() {
    let snapshot = workspace(FILES).snapshot();
    let spans = snapshot.inclusions(&"app/kustomization.yaml".into());
    let text = |span: Option<Span>| &EVERY_FIELD[span.expect("a span").range()];
    assert_eq!(text(spans[1].span), "../base");
    assert_eq!(text(spans[21].span), "b=b.yaml");
    assert_eq!(text(spans[26].span), "shop");
}

#[test]
fn inclusions_are_found_from_both_ends() {
    let snapshot = workspace(FILES).snapshot();
    assert_eq!(
        included_by(&snapshot, "base/kustomization.yml"),
        [
            "app/kustomization.yaml: resource ../base => kustomization base/kustomization.yml",
            "app/kustomization.yaml: base ../base => kustomization base/kustomization.yml",
        ]
    );
    assert_eq!(
        included_by(&snapshot, "base/pod.yaml"),
        ["base/kustomization.yml: resource pod.yaml => file base/pod.yaml"]
    );
    assert_eq!(
        included_by(&snapshot, "charts/shop/Chart.yaml"),
        ["app/kustomization.yaml: chart shop => chart charts/shop/Chart.yaml"]
    );
    assert_eq!(included_by(&snapshot, "plain/pod.yaml"), [""; 0]);
}

#[test]
fn a_chart_includes_files_by_their_place() {
    let chart = "apiVersion: v2\nname: shop\ndependencies:\n- {name: sub}\n- {name: common, repository: file://../common}\n\
                 - {name: redis, repository: oci://example.org}\n- {name: gone}\n";
    let mut workspace = workspace(&[
        ("shop/Chart.yaml", chart),
        ("shop/values.yaml", "a: 1\n"),
        ("shop/values-prod.yaml", "a: 1\n"),
        ("shop/templates/a.yaml", POD),
        ("shop/crds/b.yaml", POD),
        ("shop/charts/sub/Chart.yaml", "name: sub\ntype: library\n"),
        ("shop/charts/sub/templates/c.yaml", POD),
        ("shop/requirements.yaml", "dependencies: [{name: old, repository: '@stable'}]\n"),
        ("common/Chart.yaml", "name: common\n"),
    ]);
    workspace.set_unread(BTreeSet::from(["shop/templates/_helpers.tpl".into()]));
    let snapshot = workspace.snapshot();
    assert_eq!(
        includes(&snapshot, "shop/Chart.yaml"),
        [
            "dependency sub => chart shop/charts/sub/Chart.yaml",
            "dependency common => chart common/Chart.yaml",
            "dependency redis => remote oci://example.org",
            "dependency gone => missing shop/charts/gone",
            "values file values.yaml => file shop/values.yaml",
            "file of the chart requirements.yaml => file shop/requirements.yaml",
            "file of the chart crds/b.yaml => file shop/crds/b.yaml",
            "file of the chart templates/a.yaml => file shop/templates/a.yaml",
            "file of the chart templates/_helpers.tpl => unread shop/templates/_helpers.tpl",
            "subchart charts/sub => chart shop/charts/sub/Chart.yaml",
        ]
    );
    assert_eq!(includes(&snapshot, "shop/requirements.yaml"), ["dependency old => remote @stable"]);
    let by = |file: &str| -> Vec<String> {
        snapshot.included_by(file).iter().map(|it| format!("{} {}", it.from, it.kind.noun())).collect()
    };
    assert_eq!(by("shop/templates/a.yaml"), ["shop/Chart.yaml file of the chart"]);
    assert_eq!(by("shop/charts/sub/templates/c.yaml"), ["shop/charts/sub/Chart.yaml file of the chart"]);
    assert_eq!(by("shop/charts/sub/Chart.yaml"), ["shop/Chart.yaml dependency", "shop/Chart.yaml subchart"]);
    assert_eq!(by("shop/values.yaml"), ["shop/Chart.yaml values file"]);
    assert_eq!(by("shop/values-prod.yaml"), [""; 0]);
}

#[test]
fn delivery_objects_name_paths_of_the_repository() {
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec:\n  sources:\n\
                       \x20 - {path: charts/web, helm: {valueFiles: [values-eu.yaml, /shared.yaml, $ref/eu/web.yaml]}}\n\
                       \x20 - {repoURL: x, ref: ref}\n";
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {path: ./apps}\n\
                ---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web}\n\
                spec: {chart: {spec: {chart: ./charts/web, valuesFiles: [./charts/web/values.yaml]}}}\n\
                ---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: redis}\n\
                spec: {chart: {spec: {chart: redis}}}\n\
                ---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: b}\n\
                spec: {path: ./apps, sourceRef: {kind: OCIRepository, name: b}}\n";
    let mut workspace = workspace(&[
        ("repo/argo/web.yaml", application),
        // Flux objects often have the name of the file of a kustomization.
        ("repo/flux/kustomization.yaml", flux),
        ("repo/charts/web/Chart.yaml", "name: web\n"),
        ("repo/charts/web/values-eu.yaml", "a: 1\n"),
        ("repo/eu/web.yaml", "a: 1\n"),
        ("repo/shared.yaml", "a: 1\n"),
        ("repo/apps/kustomization.yaml", "resources: []\n"),
        ("other/a.yaml", POD),
    ]);
    workspace.set_roots(["repo/".into(), "other/".into()]);
    let snapshot = workspace.snapshot();
    assert_eq!(
        includes(&snapshot, "repo/argo/web.yaml"),
        [
            "deployed path charts/web => chart repo/charts/web/Chart.yaml",
            "values file values-eu.yaml => file repo/charts/web/values-eu.yaml",
            "values file /shared.yaml => file repo/shared.yaml",
            "values file $ref/eu/web.yaml => file repo/eu/web.yaml",
        ]
    );
    assert_eq!(
        includes(&snapshot, "repo/flux/kustomization.yaml"),
        [
            "deployed path ./apps => kustomization repo/apps/kustomization.yaml",
            "deployed path ./charts/web => chart repo/charts/web/Chart.yaml",
            "values file ./charts/web/values.yaml => missing repo/charts/web/values.yaml",
        ]
    );
    assert_eq!(
        included_by(&snapshot, "repo/shared.yaml"),
        ["repo/argo/web.yaml: values file /shared.yaml => file repo/shared.yaml"]
    );
    assert_eq!(snapshot.included_by("repo/charts/web/Chart.yaml").len(), 2);
}

#[test]
fn settings_and_templates_include_parameter_files() {
    let template = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\nobjects: []\nparameters: [{name: A}]\n";
    let snapshot = workspace(&[
        ("shop/podlens.yaml", "views: [{name: eu, path: t.yaml, params: eu.params, values: [v.yaml, ../w.yaml]}]\n"),
        ("shop/t.yaml", template),
        ("shop/eu.params", "A=1\n"),
        ("shop/v.yaml", "a: 1\n"),
        ("w.yaml", "a: 1\n"),
    ])
    .snapshot();
    assert_eq!(
        includes(&snapshot, "shop/podlens.yaml"),
        [
            "path of the view t.yaml => file shop/t.yaml",
            "values file v.yaml => file shop/v.yaml",
            "values file ../w.yaml => file w.yaml",
            "parameter file eu.params => file shop/eu.params",
        ]
    );
    assert_eq!(
        included_by(&snapshot, "shop/eu.params"),
        [
            "shop/podlens.yaml: parameter file eu.params => file shop/eu.params",
            "shop/t.yaml: parameter file eu.params => file shop/eu.params",
        ]
    );
    assert_eq!(snapshot.parameter_files(&"shop/t.yaml".into()).len(), 1);
}

#[test]
fn restricted_files_follow_the_settings() {
    let files = [
        ("base/pod.yaml", POD),
        ("app/kustomization.yaml", "resources: [../base/pod.yaml, own.yaml]\n"),
        ("app/own.yaml", POD),
    ];
    let refused = |workspace: &Workspace| -> Vec<String> {
        let snapshot = workspace.snapshot();
        let all = snapshot.inclusions(&"app/kustomization.yaml".into()).into_iter();
        all.filter(|it| snapshot.is_refused_by_load_restrictor("app/kustomization.yaml", it))
            .map(|it| it.text.to_string())
            .collect()
    };
    let mut workspace = workspace(&files);
    assert_eq!(refused(&workspace), ["../base/pod.yaml"]);
    workspace.set_disk("podlens.yaml", File::read("podlens.yaml", "kustomize: {loadRestrictor: none}\n"));
    assert_eq!(refused(&workspace), [""; 0]);
}

#[test]
fn an_alias_bomb_is_limited() {
    let mut text = String::from("a0: &a0 [x.yaml, x.yaml, x.yaml, x.yaml, x.yaml, x.yaml, x.yaml, x.yaml]\n");
    let list = vec!["*g"; 2000].join(", ");
    text += &format!("g0: &g {{files: [{}]}}\nconfigMapGenerator: [{list}]\n", vec!["x.yaml"; 2000].join(", "));
    let snapshot = workspace(&[("kustomization.yaml", &text)]).snapshot();
    assert!(snapshot.inclusions(&"kustomization.yaml".into()).len() <= text.len() + 1000);
}

/// The texts of a file in the property below, and its names.
const TEXTS: &[&str] = &[
    "resources: [../base, pod.yaml]\n",
    "resources: [../app]\nconfigMapGenerator: [{name: a, files: [pod.yaml]}]\n",
    "kind: Component\n",
    "apiVersion: v2\nname: a\ndependencies: [{name: b, repository: file://../base}]\n",
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {path: base}}\n",
    POD,
    "",
];
const NAMES: &[&str] = &[
    "base/kustomization.yaml",
    "base/kustomization.yml",
    "base/Chart.yaml",
    "base/pod.yaml",
    "app/kustomization.yaml",
    "app/pod.yaml",
];

/// All inclusions, found from both ends.
fn everything(snapshot: &Snapshot) -> Vec<String> {
    let mut all = Vec::new();
    for name in NAMES {
        all.extend(includes(snapshot, name));
        all.extend(included_by(snapshot, name));
    }
    all
}

proptest! {
    #[test]
    fn updates_give_the_same_as_reading_everything(
        steps in prop::collection::vec((0..NAMES.len(), 0..TEXTS.len(), 0..4), 1..12)
    ) {
        let mut workspace = Workspace::default();
        let mut files: std::collections::BTreeMap<&str, &str> = std::collections::BTreeMap::new();
        for (name, text, how) in steps {
            let (name, text) = (NAMES[name], TEXTS[text]);
            match how {
                0 => {
                    workspace.remove_disk(name);
                    files.remove(name);
                }
                _ => {
                    workspace.set_disk(name, File::read(name, text));
                    files.insert(name, text);
                }
            }
        }
        let mut fresh = Workspace::default();
        files.iter().for_each(|(name, text)| fresh.set_disk(name, File::read(name, text)));
        prop_assert_eq!(everything(&workspace.snapshot()), everything(&fresh.snapshot()));
    }

    #[test]
    fn an_edited_document_includes_the_same_as_its_text(
        text in prop::sample::select(TEXTS),
        name in prop::sample::select(NAMES),
        edits in prop::collection::vec((0..400_usize, 0..20_usize, prop::sample::select(TEXTS)), 0..4)
    ) {
        let mut document = Document::new(name, text, 1);
        for (start, length, new) in edits {
            let len = document.buffer().len();
            let start = start % (len + 1);
            document.edit(Span::new(start, (start + length).min(len)), &new[..new.len().min(length * 4)]);
        }
        let whole = document.parsed_text().text.shared();
        let edited: Option<Arc<_>> = document.file().includes.clone();
        prop_assert_eq!(edited, File::read_whole(name, &whole).includes, "{}", whole);
    }
}
