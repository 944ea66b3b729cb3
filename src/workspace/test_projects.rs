//! Small projects and random edits, for property tests of incremental code.
//!
//! In tests, trees are split and containers cached from about a hundred bytes on, so small files test the same code as
//! large ones.

use std::path::Path;

use crate::fixture::{broken_manifests, suites_in};
use crate::syntax::Random;
use crate::text::{Buffer, Span};

/// A project: paths and texts.
pub(crate) type Project = Vec<(String, String)>;

/// The projects of the fixtures, and one with large objects.
pub(crate) fn projects() -> Vec<Project> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut all = vec![large()];
    for folder in ["shop", "shop-broken", "shop-legacy"] {
        let mut project = Vec::new();
        read(&fixtures.join(folder), "", &mut project);
        assert!(!project.is_empty(), "{folder} has no files");
        all.push(project);
    }
    let is_yaml = |(path, _): &(String, String)| path.ends_with(".yaml");
    for (name, suite) in suites_in("silence") {
        if ["kustomize", "helm", "openshift"].contains(&&*name) {
            let files = suite.cases.iter().flat_map(|case| case.files());
            all.push(files.map(|file| (file.path.clone(), file.text.clone())).filter(is_yaml).collect());
        }
    }
    all.push(broken_manifests().into_iter().filter(is_yaml).collect());
    all.push(directories());
    all
}

/// The cases about which files belong together, each in a directory of its own.
fn directories() -> Project {
    let mut project = Vec::new();
    for (name, suite) in suites_in("rules").into_iter().chain(suites_in("silence")) {
        if !["missing-key", "shadowed-source", "unresolved-sub-path", "applications"].contains(&&*name) {
            continue;
        }
        for (number, case) in suite.cases.iter().enumerate().filter(|(_, it)| it.files().count() > 2) {
            project.extend(case.files().map(|file| (format!("{name}-{number}/{}", file.path), file.text.clone())));
        }
    }
    project
}

#[expect(clippy::disallowed_methods, reason = "fixtures are the input of a test")]
fn read(folder: &Path, prefix: &str, project: &mut Project) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).expect("a folder").filter_map(Result::ok).collect();
    entries.sort_by_key(|it| it.file_name());
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match std::fs::read_to_string(entry.path()) {
            Ok(text) if name.ends_with(".yaml") => project.push((name, text)),
            Ok(_) => {}
            Err(_) => read(&entry.path(), &format!("{name}/"), project),
        }
    }
}

/// A List, a Template, a Pod with many containers, a file with several documents, JSON, and the objects they refer to.
fn large() -> Project {
    let container = |number: usize, pad: &str| {
        format!(
            "{pad}- name: c{number}\n{pad}  image: web:{number}\n{pad}  args: [\"--url=$(URL)\", $(NOPE), $(S{number}_SERVICE_HOST)]\n\
             {pad}  envFrom:\n{pad}  - configMapRef: {{name: app{}}}\n{pad}  env:\n{pad}  - name: URL\n{pad}    value: http://$(HOST):$(PORT)/\n\
             {pad}  - name: HOST\n{pad}    value: \"h{number}\"\n{pad}  - {{name: K, valueFrom: {{configMapKeyRef: {{name: app1, key: B}}}}}}\n\
             {pad}  - {{name: R, valueFrom: {{resourceFieldRef: {{containerName: c1, resource: limits.cpu}}}}}}\n\
             {pad}  resources: {{limits: {{cpu: \"{number}\"}}}}\n",
            number % 3
        )
    };
    let pod = |name: &str, count: usize, pad: &str| {
        let inner = format!("{pad}    ");
        let containers: String = (0..count).map(|it| container(it, &inner)).collect();
        format!(
            "apiVersion: v1\n{pad}kind: Pod\n{pad}metadata: {{name: {name}}}\n{pad}spec:\n{pad}    containers:\n{containers}{pad}    volumes:\n{pad}    - {{name: v, emptyDir: {{}}}}\n"
        )
    };
    let config = |name: &str, pad: &str| {
        format!(
            "apiVersion: v1\n{pad}kind: ConfigMap\n{pad}metadata: {{name: {name}}}\n{pad}data:\n{pad}  A: a\n{pad}  PORT: \"80\"\n{pad}  bad.key: x\n"
        )
    };
    let service = |name: &str, pad: &str| {
        format!(
            "apiVersion: v1\n{pad}kind: Service\n{pad}metadata: {{name: {name}}}\n{pad}spec:\n{pad}  ports:\n{pad}  - port: 80\n"
        )
    };
    let items = |pad: &str| {
        let mut text = String::new();
        for number in 0..4 {
            for object in [
                pod(&format!("p{number}"), 2, "  "),
                config(&format!("app{number}"), "  "),
                service(&format!("s{number}"), "  "),
            ] {
                text += &format!("{pad}- {}", object.replace("\n", &format!("\n{pad}")).trim_end_matches(' '));
            }
        }
        text
    };
    let documents =
        [pod("d", 3, ""), config("app0", ""), service("s1", ""), pod("e", 1, ""), config("app1", "")].join("---\n");
    let template = format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: t}}\nobjects:\n{}parameters:\n- name: NOPE\n  value: x\n- name: P\n  value: y\n",
        items("")
    );
    vec![
        ("app/documents.yaml".into(), documents),
        ("app/giant.yaml".into(), pod("giant", 8, "").replace("kind: Pod", "kind: Pod # podlens: ignore[missing-key]")),
        ("app/list.yaml".into(), format!("apiVersion: v1\nkind: List\nitems:\n{}", items(""))),
        ("app/template.yaml".into(), template),
        ("app/one.json.yaml".into(), "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"j\"},\n \"spec\": {\"containers\": [\n  {\"name\": \"a\", \"image\": \"a\", \"args\": [\"$(X)\"],\n   \"env\": [{\"name\": \"A\", \"value\": \"$(B)\"}, {\"name\": \"B\", \"value\": \"b\"}]},\n  {\"name\": \"b\", \"image\": \"b\", \"args\": [\"$(X)\"],\n   \"env\": [{\"name\": \"A\", \"value\": \"$(B)\"}, {\"name\": \"B\", \"value\": \"b\"}]}\n ]}}\n".into()),
        ("podlens.yaml".into(), "rules: {missing-object: info}\nunknown: always\n".into()),
    ]
}

const TYPED: &[&str] = &[
    "1",
    "x",
    "\"",
    "'",
    "[",
    "{",
    "|",
    ":",
    "\n",
    " ",
    "  ",
    "- ",
    "#",
    "$(X)",
    "$(HOST)",
    "$(",
    ")",
    "$$",
    "${P}",
    "{{",
    "{{ .x }}",
    "é",
    "*a",
    "&a ",
    "---\n",
    "  - name: Z\n",
    "# podlens: ignore[undefined-variable] why\n",
    "A: a\n",
    "app1",
    "{%",
    "\r\n",
    "<<: *a\n",
];

/// Makes a random edit as a user would: types, deletes, pastes, removes or repeats lines.
pub(crate) fn edit(random: &mut Random, buffer: &Buffer) -> (Span, String) {
    let len = buffer.len();
    let at = random.below(len + 1);
    let line = |at: usize| buffer.slice(Span::new(0, at)).rfind('\n').map_or(0, |end| end + 1);
    match random.below(10) {
        0..=3 => (Span::new(at, at), random.pick(TYPED).to_owned()),
        4..=5 => (Span::new(at, (at + 1 + random.below(3)).min(len)), String::new()),
        6 => (Span::new(line(at), line((at + random.below(120)).min(len))), String::new()),
        7 => {
            let from = line(random.below(len + 1));
            let text = buffer.slice(Span::new(from, line((from + random.below(300)).min(len)).max(from)));
            (Span::new(line(at), line(at)), text.into_owned())
        }
        8 => (Span::new(line(at), line(at)), random.pick(&[" ", "  ", "\n", "# "]).to_owned()),
        _ => (Span::new(at, (at + random.below(40)).min(len)), random.pick(TYPED).to_owned()),
    }
}
