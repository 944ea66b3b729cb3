//! Looking a variable up on demand gives what the whole environment has, in random workspaces.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use podlens::build;
use podlens::k8s::VariableScope;
use podlens::resolve::{Lookup, Resolver};
use podlens::workspace::{File, Snapshot, Workspace};

use crate::model::case::Random;

/// Names of services: some have equal variables, since their prefixes begin alike.
const SERVICES: &[&str] = &["foo", "foo-service", "foo-service-port", "web", "web-port", "kubernetes", "my_db"];
const NAMESPACES: &[&str] = &["", "", "one", "two", "default"];
const DIRECTORIES: &[&str] = &["", "app/", "app/web/", "app/db/", "other/"];
const KEYS: &[&str] = &["A", "B", "WEB_PORT", "FOO_SERVICE_HOST", "a.b"];
/// Names that containers ask for.
const ASKED: &[&str] = &[
    "A",
    "B",
    "P_A",
    "a.b",
    "FOO_SERVICE_HOST",
    "FOO_SERVICE_PORT",
    "FOO_SERVICE_SERVICE_HOST",
    "FOO_SERVICE_PORT_HTTP",
    "FOO_SERVICE_PORT_80_TCP",
    "FOO_PORT",
    "FOO_PORT_80_TCP_ADDR",
    "WEB_PORT",
    "WEB_PORT_PORT",
    "WEB_PORT_80_SCTP_PORT",
    "MY_DB_SERVICE_HOST",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_PORT_443_TCP",
    "NOT_HERE_SERVICE_HOST",
    "NOT_HERE",
];

fn pick(random: &mut Random, all: &[&'static str]) -> &'static str {
    all[random.below(all.len())]
}

fn one_in(random: &mut Random, count: usize) -> bool {
    random.below(count) == 0
}

fn metadata(random: &mut Random, name: &str) -> String {
    match pick(random, NAMESPACES) {
        "" => format!("metadata: {{name: {name}}}\n"),
        namespace => format!("metadata: {{name: {name}, namespace: {namespace}}}\n"),
    }
}

fn service(random: &mut Random) -> String {
    let name = pick(random, SERVICES);
    let mut text = format!("apiVersion: v1\nkind: Service\n{}spec:\n", metadata(random, name));
    match random.below(4) {
        0 => text.push_str("  clusterIP: None\n"),
        1 => text.push_str("  clusterIP: 10.0.0.7\n"),
        _ => {}
    }
    let protocol = pick(random, &["TCP", "SCTP", "UDP"]);
    let _ = write!(text, "  ports:\n  - {{name: http, port: {}, protocol: {protocol}}}\n", 80 + random.below(2));
    if one_in(random, 3) {
        text.push_str("  - {name: other, port: 443}\n");
    }
    text
}

fn data(random: &mut Random, kind: &str) -> String {
    let name = pick(random, &["c", "d"]);
    let field = if kind == "Secret" { "stringData" } else { "data" };
    let mut text = format!("apiVersion: v1\nkind: {kind}\n{}{field}:\n", metadata(random, name));
    for key in KEYS.iter().filter(|_| !one_in(random, 2)).collect::<Vec<_>>() {
        let _ = writeln!(text, "  {key}: value-{}", random.below(3));
    }
    // More keys than are compared one by one.
    for number in 0..if one_in(random, 3) { 40 } else { 0 } {
        let _ = writeln!(text, "  K{number}: more");
    }
    text
}

fn pod(random: &mut Random) -> String {
    let mut text = format!("apiVersion: v1\nkind: Pod\n{}spec:\n", metadata(random, "p"));
    if one_in(random, 5) {
        text.push_str("  enableServiceLinks: false\n");
    }
    text.push_str("  containers:\n  - name: c\n    image: i\n");
    if !one_in(random, 3) {
        text.push_str("    envFrom:\n");
        for _ in 0..=random.below(3) {
            let kind = pick(random, &["configMapRef", "secretRef"]);
            let prefix = if one_in(random, 3) { "prefix: P_, " } else { "" };
            let _ = writeln!(text, "    - {{{prefix}{kind}: {{name: {}, optional: true}}}}", pick(random, &["c", "d"]));
        }
    }
    text.push_str("    env:\n    - {name: FIRST, value: x}\n");
    for _ in 0..random.below(4) {
        let _ = writeln!(text, "    - {{name: {}, value: '$({})'}}", pick(random, ASKED), pick(random, ASKED));
    }
    text
}

fn workspace(random: &mut Random) -> (Workspace, BTreeMap<String, String>) {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for number in 0..6 + random.below(10) {
        let text = match random.below(6) {
            0 | 1 => service(random),
            2 => data(random, "ConfigMap"),
            3 => data(random, "Secret"),
            _ => pod(random),
        };
        files.insert(format!("{}{number}.yaml", pick(random, DIRECTORIES)), text);
    }
    let mut workspace = Workspace::default();
    for (path, text) in &files {
        workspace.set_disk(path.as_str(), File::read(path, text));
    }
    (workspace, files)
}

fn check(snapshot: &Snapshot, seed: u64, files: &BTreeMap<String, String>) -> usize {
    let resolver = Resolver::new(snapshot, None);
    let mut bound = 0;
    for (path, file) in snapshot.files() {
        for container in build::objects(snapshot, path, file).flat_map(build::BuiltObject::containers) {
            let whole = resolver.environment(container);
            let all: BTreeMap<Arc<str>, String> =
                whole.bindings().into_iter().map(|it| (Arc::clone(&it.name), format!("{it:?}"))).collect();
            // A new environment, which has computed nothing yet.
            let asked = resolver.environment(container);
            for name in ASKED.iter().copied().chain(all.keys().map(|it| &**it)) {
                let found = match asked.lookup(VariableScope::All, name) {
                    Lookup::Bound(it) => Some(format!("{it:?}")),
                    _ => None,
                };
                assert_eq!(found.as_ref(), all.get(name), "seed {seed}, {name} in {path}\n{files:#?}");
                bound += usize::from(found.is_some());
            }
        }
    }
    bound
}

#[test]
fn lookups_give_what_the_whole_environment_has() {
    let mut bound = 0;
    for seed in 0..u64::from(crate::cases(300, 10_000)) {
        let (workspace, files) = workspace(&mut Random::new(seed));
        bound += check(&workspace.snapshot(), seed, &files);
    }
    assert!(bound > 1_000, "too few variables: {bound}");
}
