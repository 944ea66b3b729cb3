//! Changes and look-ups on small workspaces.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn workspace(files: &[(&str, &str)]) -> Workspace {
    let mut workspace = Workspace::default();
    for (path, text) in files {
        workspace.set_disk(path, File::read(path, text));
    }
    workspace
}

fn config_map(name: &str, rest: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}{rest}}}\ndata: {{A: a}}\n")
}

/// The files of some matches: `file`, or `file+` if there may be more keys.
fn files(found: &[ObjectMatch<'_>]) -> Vec<String> {
    found.iter().map(|it| format!("{}{}", it.file, if it.may_have_more_keys { "+" } else { "" })).collect()
}

fn look_up(snapshot: &Snapshot, file: &str, namespace: Option<&str>) -> Vec<String> {
    files(&snapshot.config_maps("app", LookupSite { file, namespace }))
}

#[test]
fn the_longest_common_directory_wins() {
    let app = config_map("app", "");
    let snapshot = workspace(&[
        ("app.yaml", &app),
        ("a/app.yaml", &app),
        ("a/x/one.yaml", &app),
        ("a/x/two.yaml", &app),
        ("ab/app.yaml", &app),
    ])
    .snapshot();
    for (file, expected) in [
        ("pod.yaml", vec!["a/app.yaml", "a/x/one.yaml", "a/x/two.yaml", "ab/app.yaml", "app.yaml"]),
        ("a/pod.yaml", vec!["a/app.yaml", "a/x/one.yaml", "a/x/two.yaml"]),
        ("a/x/pod.yaml", vec!["a/x/one.yaml", "a/x/two.yaml"]),
        ("a/y/pod.yaml", vec!["a/app.yaml", "a/x/one.yaml", "a/x/two.yaml"]),
        ("ab/c/d/pod.yaml", vec!["ab/app.yaml"]),
    ] {
        assert_eq!(look_up(&snapshot, file, None), expected, "{file}");
    }
}

#[test]
fn namespaces_are_equal_or_unset() {
    let snapshot = workspace(&[
        ("one.yaml", &config_map("app", ", namespace: one")),
        ("two.yaml", &config_map("app", ", namespace: two")),
        ("none.yaml", &config_map("app", "")),
        ("other.yaml", &config_map("other", "")),
    ])
    .snapshot();
    assert_eq!(look_up(&snapshot, "p.yaml", None), ["none.yaml", "one.yaml", "two.yaml"]);
    assert_eq!(look_up(&snapshot, "p.yaml", Some("one")), ["none.yaml", "one.yaml"]);
    assert_eq!(look_up(&snapshot, "p.yaml", Some("x")), ["none.yaml"]);
}

#[test]
fn additions_elsewhere_mean_more_keys() {
    let app = config_map("app", "");
    let merge = "configMapGenerator: [{name: app, behavior: merge, literals: [B=b]}]";
    let mut workspace = workspace(&[("base/app.yaml", &app), ("over/kustomization.yaml", merge)]);
    assert_eq!(look_up(&workspace.snapshot(), "base/pod.yaml", None), ["base/app.yaml+"]);
    assert_eq!(look_up(&workspace.snapshot(), "over/pod.yaml", None), ["over/kustomization.yaml+"]);
    workspace.remove_disk("over/kustomization.yaml");
    assert_eq!(look_up(&workspace.snapshot(), "base/pod.yaml", None), ["base/app.yaml"]);

    // A patch file is an ordinary file until a Kustomization names it, in any order of changes.
    workspace.set_disk("over/app/patch.yaml", File::read("over/app/patch.yaml", &app));
    assert_eq!(look_up(&workspace.snapshot(), "base/pod.yaml", None), ["base/app.yaml"]);
    let patches = "resources: [../base]\npatches: [{path: ./app/patch.yaml}]";
    workspace.set_disk("over/kustomization.yaml", File::read("over/kustomization.yaml", patches));
    let snapshot = workspace.snapshot();
    assert_eq!(look_up(&snapshot, "base/pod.yaml", None), ["base/app.yaml+"]);
    assert!(snapshot.is_patch("over/app/patch.yaml") && !snapshot.is_patch("base/app.yaml"));
    workspace.set_editor("over/kustomization.yaml", File::read("over/kustomization.yaml", "resources: [../base]"));
    assert_eq!(look_up(&workspace.snapshot(), "base/pod.yaml", None), ["base/app.yaml"]);
}

#[test]
fn the_nearest_services_of_each_name_are_found() {
    let service = |name: &str, rest: &str| format!("apiVersion: v1\nkind: Service\nmetadata: {{name: {name}{rest}}}\n");
    let snapshot = workspace(&[
        ("a/web.yaml", &service("web", "")),
        ("b/web.yaml", &service("web", "")),
        ("b/db.yaml", &service("db", "")),
        ("b/far.yaml", &service("far", ", namespace: far")),
        ("b/knative.yaml", "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: kn}"),
        ("podlens.yaml", "externals: {services: {mail: [25]}}"),
    ])
    .snapshot();
    let of = |file, namespace| files(&snapshot.services(LookupSite { file, namespace }));
    assert_eq!(of("a/pod.yaml", None), ["b/db.yaml", "b/far.yaml", "a/web.yaml", "podlens.yaml"]);
    assert_eq!(of("pod.yaml", Some("x")), ["b/db.yaml", "a/web.yaml", "b/web.yaml", "podlens.yaml"]);
}

#[test]
fn a_sealed_secret_is_found_by_the_name_of_its_secret() {
    let sealed = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: s}\nspec: {template: {metadata: {name: t}}}";
    let snapshot = workspace(&[("s.yaml", sealed)]).snapshot();
    let from = LookupSite { file: "pod.yaml", namespace: None };
    assert_eq!(files(&snapshot.secrets("t", from)), ["s.yaml+"]);
    assert!(snapshot.secrets("s", from).is_empty());
    assert!(snapshot.config_maps("t", from).is_empty());
}

#[test]
fn the_editor_has_precedence_over_the_disk() {
    let mut workspace = workspace(&[("a.yaml", &config_map("app", ""))]);
    let before = workspace.snapshot();
    workspace.set_editor("a.yaml", File::read("a.yaml", &config_map("other", "")));
    assert!(look_up(&workspace.snapshot(), "p.yaml", None).is_empty());
    workspace.set_disk("a.yaml", File::read("a.yaml", &config_map("third", "")));
    assert_eq!(workspace.snapshot().config_maps("other", LookupSite { file: "p.yaml", namespace: None }).len(), 1);
    workspace.close_editor("a.yaml");
    assert_eq!(workspace.snapshot().config_maps("third", LookupSite { file: "p.yaml", namespace: None }).len(), 1);
    workspace.remove_disk("a.yaml");
    assert_eq!(workspace.snapshot().files().map(|(path, _)| path.to_string()).collect::<Vec<_>>(), [""; 0]);
    // The old snapshot has not changed.
    assert_eq!(look_up(&before, "p.yaml", None), ["a.yaml"]);
}

#[test]
fn excluded_files_define_nothing() {
    let app = config_map("app", "");
    let mut workspace =
        workspace(&[("a/vendor/app.yaml", &app), ("vendor/app.yaml", &app), ("a/podlens.yaml", "exclude: [vendor]")]);
    assert_eq!(look_up(&workspace.snapshot(), "p.yaml", None), ["vendor/app.yaml"]);
    assert!(workspace.snapshot().is_excluded("a/vendor/app.yaml"));
    workspace.set_editor("a/podlens.yaml", File::read("a/podlens.yaml", ""));
    assert_eq!(look_up(&workspace.snapshot(), "p.yaml", None), ["a/vendor/app.yaml", "vendor/app.yaml"]);
    workspace.set_disk("podlens.yaml", File::read("podlens.yaml", "exclude: [/vendor]"));
    assert_eq!(look_up(&workspace.snapshot(), "p.yaml", None), ["a/vendor/app.yaml"]);
}

#[test]
fn the_nearest_settings_apply() {
    let snapshot =
        workspace(&[("podlens.yaml", "kubernetes: '1.30'"), ("a/b/podlens.yaml", "proposals: true")]).snapshot();
    assert_eq!(snapshot.settings("x.yaml").kubernetes, KubernetesVersion::minor(30));
    assert_eq!(snapshot.settings("a/x.yaml").kubernetes, KubernetesVersion::minor(30));
    assert_eq!(snapshot.settings("a/b/c/x.yaml").kubernetes, KubernetesVersion::NEWEST);
    assert!(snapshot.settings("a/b/x.yaml").proposals);
    assert!(!snapshot.settings("a/bc/x.yaml").proposals);
}

#[test]
fn keys_that_are_not_set_come_from_the_base() {
    let mut workspace = workspace(&[
        ("podlens.yaml", "kubernetes: '1.30'\nrules: {missing-key: hint}\nsecrets: {show: false}\n"),
        ("a/podlens.yaml", "externals: {configMaps: [own]}\nexclude: [x.yaml]\n"),
    ]);
    let base = "kubernetes: '1.33'\nproposals: true\nsecrets: {show: true}\nexclude: [/y.yaml]\n\
                rules: {missing-key: error, missing-object: info}\nexternals: {configMaps: [far], secrets: [far]}\n\
                overrides: [{files: ['*.yaml'], rules: {missing-key: off}}]\n";
    workspace.set_base(Some(Settings::parse(base)));
    let check = |snapshot: &Snapshot| {
        let (root, inner) = (snapshot.settings("y.yaml"), snapshot.settings("a/y.yaml"));
        assert_eq!((root.kubernetes, inner.kubernetes), (KubernetesVersion::minor(30), KubernetesVersion::minor(33)));
        assert_eq!((root.proposals, root.show_secrets, inner.show_secrets), (true, false, true));
        assert_eq!(
            root.level("missing-key", "y.yaml"),
            Some(LintLevel::Hint),
            "has precedence over the overrides of the base"
        );
        assert_eq!(root.level("missing-object", "y.yaml"), Some(LintLevel::Info));
        assert_eq!(inner.level("missing-key", "a/y.yaml"), Some(LintLevel::Off));
        assert!(snapshot.is_excluded("y.yaml"), "its globs are relative to the root");
        assert!(snapshot.is_excluded("a/x.yaml") && !snapshot.is_excluded("a/y.yaml"));
        let from = |file| LookupSite { file, namespace: None };
        assert_eq!(files(&snapshot.config_maps("own", from("a/y.yaml"))), ["a/podlens.yaml+"]);
        assert!(snapshot.config_maps("far", from("a/y.yaml")).is_empty());
        assert_eq!(files(&snapshot.secrets("far", from("a/y.yaml"))), ["+"]);
        assert_eq!(files(&snapshot.config_maps("far", from("y.yaml"))), ["+"]);
    };
    check(&workspace.snapshot());
    // In any order of changes.
    let text = "externals: {configMaps: [own]}\nexclude: [x.yaml]\n# changed\n";
    workspace.set_editor("a/podlens.yaml", File::read("a/podlens.yaml", text));
    check(&workspace.snapshot());
    workspace.set_base(None);
    let snapshot = workspace.snapshot();
    assert!(!snapshot.is_excluded("y.yaml") && !snapshot.settings("a/y.yaml").show_secrets);
    assert_eq!(snapshot.settings("a/y.yaml").level("missing-key", "a/y.yaml"), None);
}

#[test]
fn externals_are_further_matches() {
    let snapshot = workspace(&[
        ("podlens.yaml", "externals: {configMaps: {app: [B, C], any: ['*'], none: []}, secrets: [s]}"),
        ("app.yaml", &config_map("app", "")),
    ])
    .snapshot();
    let from = LookupSite { file: "p.yaml", namespace: Some("x") };
    assert_eq!(files(&snapshot.config_maps("app", from)), ["app.yaml", "podlens.yaml"]);
    assert_eq!(files(&snapshot.config_maps("any", from)), ["podlens.yaml+"]);
    assert_eq!(files(&snapshot.config_maps("none", from)), ["podlens.yaml"]);
    assert_eq!(files(&snapshot.secrets("s", from)), ["podlens.yaml+"]);
    assert!(snapshot.secrets("app", from).is_empty());
}

#[test]
fn projects_do_not_see_each_other() {
    let app = config_map("app", "");
    let mut workspace = workspace(&[("one/app.yaml", &app), ("two/x.yaml", &config_map("x", ""))]);
    assert_eq!(look_up(&workspace.snapshot(), "two/pod.yaml", None), ["one/app.yaml"]);
    workspace.set_roots(["one/".into(), "two/".into()]);
    assert!(look_up(&workspace.snapshot(), "two/pod.yaml", None).is_empty());
    assert_eq!(look_up(&workspace.snapshot(), "one/sub/pod.yaml", None), ["one/app.yaml"]);
}

/// Everything that a workspace answers, to compare it with one that is built from its last state.
fn answers(snapshot: &Snapshot) -> Vec<String> {
    let mut answers = Vec::new();
    for file in ["p.yaml", "a/p.yaml", "b/p.yaml"] {
        for namespace in [None, Some("n")] {
            let from = LookupSite { file, namespace };
            for name in ["app", "m"] {
                answers.push(format!("{file} {name} {:?}", files(&snapshot.config_maps(name, from))));
                answers.push(format!("{file} {name} {:?}", files(&snapshot.secrets(name, from))));
            }
            answers.push(format!("{file} {:?}", files(&snapshot.services(from))));
        }
    }
    answers
}

proptest! {
    #[test]
    fn single_changes_give_the_same_as_a_fresh_workspace(
        changes in proptest::collection::vec((0..PATHS.len(), 0..TEXTS.len() + 1, any::<bool>()), 1..40)
    ) {
        let mut changed = Workspace::default();
        let mut last: BTreeMap<&str, [Option<&str>; 2]> = BTreeMap::new();
        for (path, text, is_editor) in changes {
            let path = PATHS[path];
            let text = TEXTS.get(text).copied();
            last.entry(path).or_default()[usize::from(is_editor)] = text;
            match (text.map(|text| File::read(path, text)), is_editor) {
                (Some(file), true) => changed.set_editor(path, file),
                (Some(file), false) => changed.set_disk(path, file),
                (None, true) => changed.close_editor(path),
                (None, false) => changed.remove_disk(path),
            }
        }
        let last: Vec<_> = last.into_iter().filter_map(|(path, [disk, editor])| Some((path, editor.or(disk)?))).collect();
        prop_assert_eq!(answers(&changed.snapshot()), answers(&workspace(&last).snapshot()));
    }
}

const PATHS: &[&str] = &[
    "a/kustomization.yaml",
    "a/x.yaml",
    "b/x.yaml",
    "b/y.yaml",
    "kustomization.yaml",
    "podlens.yaml",
    "b/podlens.yaml",
];

const TEXTS: &[&str] = &[
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: n}\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: app, namespace: o}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: m}\n",
    "configMapGenerator: [{name: app, behavior: merge}, {name: m}]",
    "resources: []\npatches: [{path: x.yaml}, {path: b/x.yaml}]",
    "resources: []\npatches: [{path: a/x.yaml}, {path: x.yaml}]",
    "exclude: [x.yaml]\nexternals: {configMaps: [m]}",
    "exclude: [b]",
];

#[test]
fn all_settings_are_read() {
    let settings = Settings::read(
        "shop/podlens.yaml",
        "
kubernetes: 1.30
proposals: yes
rules: {forward-reference: warning, missing-object: off, undefined-variable: error}
exclude: [vendor/**, '*.gen.yaml']
externals:
  variables: ['ACME_*']
  services: {db: [{name: pg, port: 5432}], web: [80, 443], queue: null}
unknown: always
secrets: {show: true}
overrides:
- files: [legacy]
  rules: {forward-reference: 'off'}
- files: ['legacy/*.yml']
  rules: {forward-reference: hint}
",
    );
    assert_eq!(settings.errors, []);
    assert_eq!(settings.kubernetes, KubernetesVersion::minor(30));
    assert!(settings.proposals && settings.show_secrets);
    assert_eq!(settings.unknown, UnknownPolicy::Always);
    assert!(settings.excludes("shop/vendor/a.yaml") && settings.excludes("shop/x/a.gen.yaml"));
    assert!(!settings.excludes("shop/a.yaml"));
    assert!(settings.is_external_variable("ACME_HOST") && !settings.is_external_variable("HOST"));
    assert_eq!(settings.externals.services.len(), 3, "{:?}", settings.externals.services);
    for (rule, file, level) in [
        ("forward-reference", "shop/a.yaml", Some(LintLevel::Warning)),
        ("forward-reference", "shop/legacy/a.yaml", Some(LintLevel::Off)),
        ("forward-reference", "shop/legacy/a.yml", Some(LintLevel::Hint)),
        ("undefined-variable", "shop/legacy/a.yml", Some(LintLevel::Error)),
        ("missing-object", "shop/a.yaml", Some(LintLevel::Off)),
        ("self-reference", "shop/a.yaml", None),
    ] {
        assert_eq!(settings.level(rule, file), level, "{rule} {file}");
    }
}

#[test]
fn errors_in_settings_have_spans_and_advice() {
    for (text, place, message) in [
        ("kubernets: '1.30'", "kubernets", "unknown key `kubernets` (did you mean `kubernetes`?)"),
        ("colour: red", "colour", "unknown key `colour`; expected one of kubernetes"),
        ("kubernetes: latest", "latest", "expected a Kubernetes release"),
        ("proposals: maybe", "maybe", "expected true or false"),
        ("rules: {a: waning}", "waning", "expected one of error, warning, info, hint, off (did you mean `warning`?)"),
        ("rules: [a]", "[a]", "expected a mapping of rules to levels"),
        ("rules: {a: }", "a", "expected a level"),
        ("exclude: vendor", "vendor", "expected a list of globs"),
        ("exclude: ['a[']", "'a['", "invalid glob"),
        ("externals: {configMap: {}}", "configMap", "unknown key `configMap` (did you mean `configMaps`?)"),
        ("externals: {configMaps: {a: b}}", "b", "expected a list of keys"),
        ("externals: {services: {a: [http]}}", "http", "expected a port"),
        ("unknown: sometimes", "sometimes", "expected one of auto, always, never"),
        ("secrets: {shown: true}", "shown", "unknown key `shown` (did you mean `show`?)"),
        ("overrides: [{rules: {}}]", "{rules: {}}", "this override has no `files`"),
        ("- a", "- a", "expected the settings to be a mapping"),
        ("{}\n---\nproposals: true", "proposals: true", "a settings file has one document"),
    ] {
        let errors = Settings::parse(text).errors;
        let [error] = &errors[..] else { panic!("{text}: {errors:?}") };
        assert_eq!(&text[error.span.range()], place, "{text}");
        assert!(error.message.starts_with(message), "{text}: {}", error.message);
    }
    assert_eq!(Settings::parse("").errors, []);
    assert_eq!(Settings::parse("# nothing\nrules:\n").errors, []);
}

#[test]
fn a_chart_file_makes_templates() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: \"{{ .Values.name }}\"}\nspec: {containers: [{name: a, image: a}]}\n";
    let mut workspace = Workspace::default();
    workspace.set_disk("app/templates/pod.yaml", File::read("app/templates/pod.yaml", pod));
    let is_helm = |workspace: &Workspace| {
        workspace.snapshot().file("app/templates/pod.yaml").expect("it is there").is_helm_template()
    };
    assert!(!is_helm(&workspace), "it is plain YAML and not in a chart");
    workspace.set_disk("app/Chart.yaml", File::read("app/Chart.yaml", "apiVersion: v2\nname: app\n"));
    assert!(is_helm(&workspace));
    workspace.remove_disk("app/Chart.yaml");
    assert!(!is_helm(&workspace));
}

#[test]
fn text_that_parses_only_when_masked_is_a_template() {
    let helm = "{{- if .Values.on }}\napiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - image: {{ .Values.image }}\n{{- end }}\n";
    let file = File::read("pod.yaml", helm);
    assert!(file.is_helm_template() && file.errors.is_empty() && file.objects.len() == 1);
    let argo =
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - image: \"{{inputs.image}}\"\n      args: [\"{{x}}\"\n";
    let file = File::read("pod.yaml", argo);
    assert!(!file.is_helm_template() && !file.errors.is_empty(), "an error next to an action in a string is reported");
}

/// Which dependencies are no longer current after a change.
#[test]
fn dependencies_are_current_until_one_changes() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n";
    let app = |rest: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: app}}\ndata: {{{rest}}}\n");
    let mut workspace =
        workspace(&[("app.yaml", &app("A: a")), ("pod.yaml", pod), ("other.yaml", &config_map("other", ""))]);
    type Read<'l> = &'l dyn Fn(&Snapshot);
    let record = |workspace: &Workspace, read: Read<'_>| {
        let snapshot = workspace.snapshot().recording_dependencies();
        read(&snapshot);
        snapshot.take_dependencies()
    };
    let from = LookupSite { file: "pod.yaml", namespace: None };
    let kinds: [(&str, Read<'_>); 6] = [
        ("nothing", &|_| {}),
        ("app", &|it| drop(it.config_maps("app", from))),
        ("absent", &|it| drop(it.config_maps("absent", from))),
        ("names", &|it| drop(it.config_map_names(from))),
        ("services", &|it| drop(it.services(from))),
        ("pod.yaml", &|it| it.depend_on_file(&"pod.yaml".into())),
    ];
    let mut stale = |change: &dyn Fn(&mut Workspace)| -> String {
        let dependencies: Vec<_> = kinds.iter().map(|(name, it)| (name, record(&workspace, it))).collect();
        change(&mut workspace);
        let snapshot = workspace.snapshot();
        let stale: Vec<_> =
            dependencies.iter().filter(|(_, it)| !snapshot.is_current(it)).map(|(name, _)| **name).collect();
        stale.join(" ")
    };
    assert_eq!(stale(&|_| {}), "");
    let edit =
        |path: &'static str, text: String| move |it: &mut Workspace| it.set_editor(path, File::read(path, &text));
    // A comment moves the object without changing it.
    assert_eq!(stale(&edit("app.yaml", format!("# moved\n{}", app("A: a")))), "");
    assert_eq!(stale(&edit("app.yaml", app("A: b"))), "app names");
    assert_eq!(stale(&edit("other.yaml", config_map("another", ""))), "names");
    assert_eq!(stale(&edit("absent.yaml", config_map("absent", ""))), "absent names");
    assert_eq!(stale(&edit("pod.yaml", pod.replace("name: c", "name: d"))), "pod.yaml");
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n";
    assert_eq!(stale(&edit("service.yaml", service.into())), "services");
    assert_eq!(stale(&|it| it.close_editor("absent.yaml")), "absent names");
    // What decides which files belong together.
    assert_eq!(stale(&edit("far/pod.yaml", pod.into())), "app absent names");
    assert_eq!(stale(&edit("far/pod.yaml", pod.replace("name: c", "name: d"))), "");
    assert_eq!(stale(&edit("kustomization.yaml", "resources: [app.yaml]\n".into())), "app absent names");
    assert_eq!(stale(&edit("kustomization.yaml", "# moved\nresources: [app.yaml]\n".into())), "");
    assert_eq!(stale(&|it| it.add_directories_with_other_files(["src/".into()])), "app absent names");
    assert_eq!(stale(&|it| it.add_directories_with_other_files(["src/".into()])), "");
    assert_eq!(stale(&edit("podlens.yaml", "proposals: true\n".into())), "nothing app absent names services pod.yaml");
}

#[test]
fn moved_objects_are_found_at_their_new_position() {
    let mut workspace = workspace(&[("a/app.yaml", &config_map("app", ""))]);
    let before = workspace.snapshot();
    workspace.set_editor("a/app.yaml", File::read("a/app.yaml", &format!("# moved\n{}", config_map("app", ""))));
    let from = LookupSite { file: "a/pod.yaml", namespace: None };
    let offset = |snapshot: &Snapshot| snapshot.config_maps("app", from)[0].object.offset;
    assert_eq!((offset(&before), offset(&workspace.snapshot())), (0, 8));
}
